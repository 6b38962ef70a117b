package deschedule_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/standalone"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// ranked leaves no ties: each pod prefers the nodes in an order of its own.
const ranked = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {score: {disabled: [{name: "*"}], enabled: [{name: NodeAffinity, weight: 1}]}}
`

// randomCase is a cluster that has grown since its pods were placed, and a policy.
type randomCase struct {
	// before are created first, and after them, when the pods have nodes, the others.
	before, after []string
	q             deschedule.Question
}

const annotations = "kube-scheduler-simulator.sigs.k8s.io/"

func newCase(seed uint64) randomCase {
	random := rand.New(rand.NewPCG(seed, 11))
	var c randomCase
	nodes := 3 + random.IntN(3)
	for i := range nodes {
		taint := ""
		if random.IntN(5) == 0 {
			taint = ", spec: {taints: [{key: gone, effect: PreferNoSchedule}]}"
		}
		made := fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {kubernetes.io/hostname: n%[1]d, topology.kubernetes.io/zone: z%d}}%s, status: {allocatable: {cpu: "4", memory: 16Gi, pods: "20"}, conditions: [{type: Ready, status: "True"}]}}`, i, i%2, taint)
		if i < 1+nodes/3 {
			c.before = append(c.before, made)
		} else {
			c.after = append(c.after, made)
		}
	}
	for i := range 2 + random.IntN(3) {
		app := fmt.Sprintf("a%d", i)
		var prefers []string
		for rank, n := range random.Perm(nodes) {
			prefers = append(prefers, fmt.Sprintf("{weight: %d, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n%d]}]}}", 10*(rank+1), n))
		}
		times := []string{fmt.Sprintf("%sstartup-duration: %ds", annotations, random.IntN(13))}
		if random.IntN(2) == 0 {
			times = append(times, fmt.Sprintf("%sshutdown-duration: %ds", annotations, 1+random.IntN(9)))
		}
		more := ""
		switch random.IntN(4) {
		case 0:
			more = fmt.Sprintf(", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: %s}}}]", app)
		case 1:
			more = ", volumes: [{name: v, emptyDir: {}}]"
		}
		template := fmt.Sprintf(`{metadata: {labels: {app: %s}, annotations: {%s}}, spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [%s]}}%s, containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: %q, memory: %s}}}]}}`,
			app, strings.Join(times, ", "), strings.Join(prefers, ", "), more, []string{"300m", "500m", "1"}[random.IntN(3)], []string{"512Mi", "1Gi", "3Gi"}[random.IntN(3)])
		replicas := 2 + random.IntN(4)
		if random.IntN(3) > 0 {
			c.before = append(c.before, fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: %d, selector: {matchLabels: {app: %[1]s}}, template: %[3]s}}", app, replicas, template))
		} else {
			c.before = append(c.before, fmt.Sprintf("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: %s}, spec: {serviceName: %[1]s, podManagementPolicy: %[2]s, replicas: %[3]d, selector: {matchLabels: {app: %[1]s}}, template: %[4]s}}",
				app, []string{"Parallel", "OrderedReady"}[random.IntN(2)], replicas, template))
		}
		if random.IntN(2) == 0 {
			c.before = append(c.before, fmt.Sprintf("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s}, spec: {selector: {matchLabels: {app: %[1]s}}, %[2]s}}",
				app, []string{"maxUnavailable: 1", "minAvailable: 50%", "maxUnavailable: 0"}[random.IntN(3)]))
		}
	}
	all := []string{
		"balance: RemoveDuplicates", "balance: LowNodeUtilization {thresholds: {cpu: 30, memory: 60}, targetThresholds: {cpu: 50, memory: 70}}", "balance: HighNodeUtilization {thresholds: {cpu: 30}}",
		"balance: RemovePodsViolatingTopologySpreadConstraint {constraints: [ScheduleAnyway]}", "deschedule: PodLifeTime {maxPodLifeTimeSeconds: 90}",
		"deschedule: RemovePodsViolatingNodeTaints {includePreferNoSchedule: true}",
	}
	var enabled []string
	for _, i := range random.Perm(len(all))[:1+random.IntN(3)] {
		enabled = append(enabled, all[i])
	}
	if random.IntN(2) == 0 {
		enabled = append(enabled, "filter: DefaultEvictor {nodeFit: true, podProtections: {defaultDisabled: [PodsWithLocalStorage]}}")
	}
	limit := []string{"", "", "maxNoOfPodsToEvictTotal: 3", "maxNoOfPodsToEvictPerNode: 1", "maxNoOfPodsToEvictPerNamespace: 2"}[random.IntN(5)]
	c.q = deschedule.Question{Policy: policy(limit, enabled...)}
	return c
}

// watched is a cluster in memory that notes what the descheduler does.
type watched struct {
	scenario.Cluster
	t       *testing.T
	state   []byte
	begun   time.Time
	evicted []string
	there   map[types.UID]*v1.Pod
}

// Patch: the scenario patches a node before the descheduler runs.
func (w *watched) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, kind types.PatchType, patch []byte) error {
	err := w.Cluster.Patch(ctx, gvk, namespace, name, kind, patch)
	if gvk.Kind == "Node" {
		w.note(ctx)
	}
	return err
}

func (w *watched) Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) error {
	w.evicted = append(w.evicted, fmt.Sprintf("%s at %d", name, int(w.Now().Sub(w.begun).Seconds())))
	return w.Cluster.Delete(ctx, gvk, namespace, name)
}

// note keeps the state as documents, with the times of this process.
func (w *watched) note(ctx context.Context) {
	w.begun, w.there = w.Now(), map[types.UID]*v1.Pod{}
	shift := time.Since(w.begun)
	var out bytes.Buffer
	for _, gvk := range []schema.GroupVersionKind{
		v1.SchemeGroupVersion.WithKind("Node"), appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
		policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), v1.SchemeGroupVersion.WithKind("Pod"),
	} {
		list, err := w.List(ctx, gvk)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, o := range list {
			if p, is := o.(*v1.Pod); is {
				w.there[p.UID] = p
			}
			o = o.DeepCopyObject()
			o.GetObjectKind().SetGroupVersionKind(gvk)
			if m, created := o.(metav1.Object), o.(metav1.Object).GetCreationTimestamp(); !created.IsZero() {
				m.SetCreationTimestamp(metav1.NewTime(created.Add(shift)))
			}
			document, err := json.Marshal(o)
			if err != nil {
				w.t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s\n---\n", document)
		}
	}
	w.state = out.Bytes()
}

// placed counts the pods that have come since, by owner and node; those without one are "pending".
func (w *watched) placed(t *testing.T) map[string]int {
	_, pods, err := w.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, p := range pods {
		if w.there[p.UID] == nil {
			out[metav1.GetControllerOf(p).Name+" on "+cmp.Or(p.Spec.NodeName, "pending")]++
		}
	}
	return out
}

// carryOut runs the descheduler in memory by the verb of scenarios.
func (c randomCase) carryOut(t *testing.T) *watched {
	t.Helper()
	var steps strings.Builder
	indent := func(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") }
	steps.WriteString("- configure:\n    " + indent(ranked) + "\n")
	for _, objects := range [][]string{c.before, c.after} {
		steps.WriteString("- create:\n    objects:\n    - " + strings.Join(objects, "\n    - ") + "\n- wait: settled\n- advance: 50s\n")
	}
	steps.WriteString("- patch: {kind: Node, name: n0, patch: {metadata: {labels: {noted: here}}}}\n")
	fmt.Fprintf(&steps, "- deschedule:\n    policy:\n      %s\n- wait: settled\n- advance: 30s\n", strings.ReplaceAll(strings.TrimSpace(c.q.Policy), "\n", "\n      "))
	text := "apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1\nkind: Scenario\nmetadata: {name: deschedule}\nsteps:\n" + steps.String()
	s, err := scenario.Load(t.Context(), []byte(text), scenario.Options{File: "deschedule.yaml", Parse: config.Parse})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	w := &watched{t: t}
	engine := func(ctx context.Context, o scenario.ClusterOptions) (scenario.Cluster, error) {
		var err error
		w.Cluster, err = inmemory.Engine(nil)(ctx, o)
		return w, err
	}
	kept := false
	r := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: engine, Bare: true, Kept: func(scenario.Cluster) { kept = true }})
	if r.Error != "" || !kept {
		t.Fatalf("the run failed: %s %+v\n%s", r.Error, r.Steps, text)
	}
	return w
}

// foretell asks beforehand.
func (c randomCase) foretell(t *testing.T, state []byte) *deschedule.Answer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state.yaml")
	if err := os.WriteFile(file, append(state, ranked...), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster, err := standalone.Open(t.Context(), standalone.Options{File: file, Version: "v1.37.2", Parse: func(document []byte) (*config.Configuration, error) { return config.Parse(document) }})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := cluster.Deschedule(t.Context(), c.q)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestWhatIsForetoldHappens runs random policies on random clusters by the verb of scenarios, in memory: the same evictions are made in the same
// order, and as many replacements land on each node. From the first replacement on that is evicted again, a run differs: pods of equal
// rights go by their names, and those of replacements are by chance.
func TestWhatIsForetoldHappens(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 30
	}
	by, fates, refused := map[string]int{}, map[string]int{}, map[string]int{}
	differs, again := 0, 0
	for seed := range seeds {
		c := newCase(seed)
		happened := c.carryOut(t)
		answer := c.foretell(t, happened.state)
		there := map[string]bool{}
		for _, p := range happened.there {
			there[p.Name] = true
		}
		var foretold []string
		placed := map[string]int{}
		alike := true
		for _, e := range answer.Evictions {
			_, owner, _ := strings.Cut(e.Owner, " ")
			if alike = alike && (there[e.Name] || e.Behind != ""); !alike {
				break
			}
			foretold = append(foretold, fmt.Sprintf("%s at %d", e.Name, *e.Evicted))
			if e.Behind == "" {
				placed[owner+" on "+cmp.Or(e.To, "pending")]++
			}
		}
		evicted := happened.evicted
		if !alike {
			again++
			evicted = evicted[:min(len(evicted), len(foretold))]
		}
		if diff := gocmp.Diff(foretold, evicted); diff != "" {
			t.Errorf("seed %d: the evictions (-foretold +happened):\n%s", seed, diff)
		}
		if diff := gocmp.Diff(placed, happened.placed(t)); alike && diff != "" {
			t.Errorf("seed %d: the replacements (-foretold +happened):\n%s", seed, diff)
		}
		for _, e := range answer.Evictions {
			by[e.Plugin]++
			fates[string(e.Fate)]++
		}
		for _, r := range answer.Refused {
			refused[string(r.By)]++
		}
		differs += answer.Summary.Differs
		if t.Failed() {
			t.Fatalf("seed %d:\n%s\n%s\n%s\n%s", seed, strings.Join(c.before, "\n"), strings.Join(c.after, "\n"), c.q.Policy, transcript(answer))
		}
	}
	t.Log(by, fates, refused, differs, again)
	for _, plugin := range []string{"RemoveDuplicates", "LowNodeUtilization", "HighNodeUtilization", "RemovePodsViolatingTopologySpreadConstraint", "PodLifeTime", "RemovePodsViolatingNodeTaints"} {
		if by[plugin] == 0 {
			t.Errorf("%s evicts no pod: %v", plugin, by)
		}
	}
	if fates["moves"] == 0 || refused["budget"] == 0 || refused["limit"] == 0 || differs == 0 || again == 0 {
		t.Errorf("something never happens: %v %v %d %d", fates, refused, differs, again)
	}
}
