package drain_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/questions/drain"
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

// drainCase is a random cluster, and what is to be drained.
type drainCase struct {
	objects []string
	q       drain.Question
}

const annotations = "kube-scheduler-simulator.sigs.k8s.io/"

func newDrainCase(seed uint64) drainCase {
	random := rand.New(rand.NewPCG(seed, 7))
	var c drainCase
	nodes := 3 + random.IntN(4)
	for i := range nodes {
		c.objects = append(c.objects, fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {kubernetes.io/hostname: n%[1]d, topology.kubernetes.io/zone: z%d}}, status: {allocatable: {cpu: "4", memory: 16Gi, pods: "20"}}}`, i, i%2))
	}
	// template is a pod template of an app.
	template := func(app string) string {
		order := random.Perm(nodes)
		var prefers []string
		for rank, n := range order {
			prefers = append(prefers, fmt.Sprintf("{weight: %d, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n%d]}]}}", 10*(rank+1), n))
		}
		times := []string{fmt.Sprintf("%sstartup-duration: %ds", annotations, random.IntN(13))}
		if random.IntN(2) == 0 {
			times = append(times, fmt.Sprintf("%sshutdown-duration: %ds", annotations, 1+random.IntN(9)))
		}
		more := ""
		switch random.IntN(5) {
		case 0:
			more = fmt.Sprintf(", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: %s}}}]", app)
		case 1:
			more = ", volumes: [{name: v, emptyDir: {}}]"
		}
		return fmt.Sprintf(`{metadata: {labels: {app: %s}, annotations: {%s}}, spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [%s]}}%s, containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: %q}}}]}}`,
			app, strings.Join(times, ", "), strings.Join(prefers, ", "), more, []string{"500m", "1", "1500m"}[random.IntN(3)])
	}
	for i := range 2 + random.IntN(3) {
		app := fmt.Sprintf("a%d", i)
		replicas := 1 + random.IntN(4)
		switch random.IntN(3) {
		case 0, 1:
			c.objects = append(c.objects, fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: %d, selector: {matchLabels: {app: %[1]s}}, template: %[3]s}}", app, replicas, template(app)))
		case 2:
			c.objects = append(c.objects, fmt.Sprintf("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: %s}, spec: {serviceName: %[1]s, podManagementPolicy: %[2]s, replicas: %[3]d, selector: {matchLabels: {app: %[1]s}}, template: %[4]s}}",
				app, []string{"Parallel", "OrderedReady"}[random.IntN(2)], replicas, template(app)))
		}
		if random.IntN(3) > 0 {
			c.objects = append(c.objects, fmt.Sprintf("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s}, spec: {selector: {matchLabels: {app: %[1]s}}, %[2]s}}",
				app, []string{"maxUnavailable: 1", "minAvailable: 1", "minAvailable: 50%", "maxUnavailable: 0", "minAvailable: 2, unhealthyPodEvictionPolicy: AlwaysAllow"}[random.IntN(5)]))
		}
	}
	if random.IntN(4) == 0 {
		c.objects = append(c.objects, "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {selector: {matchLabels: {app: d}}, template: "+template("d")+"}}")
	}
	if random.IntN(5) == 0 {
		c.objects = append(c.objects, strings.Replace("{apiVersion: v1, kind: Pod, "+template("bare")[1:], "metadata: {", "metadata: {name: bare, ", 1))
	}
	c.q = drain.Question{
		IgnoreDaemonSets: true, Force: random.IntN(4) > 0, DeleteEmptyDirData: random.IntN(4) > 0, TimeoutSeconds: []int{7, 20, 60, 120}[random.IntN(4)],
	}
	for _, n := range random.Perm(nodes)[:1+random.IntN(nodes-1)] {
		c.q.Nodes = append(c.q.Nodes, fmt.Sprintf("n%d", n))
	}
	return c
}

// watched is a cluster in memory that notes what a drain does.
type watched struct {
	scenario.Cluster
	t *testing.T
	// state is what the cluster was before the first node was cordoned, as documents.
	state []byte
	begun time.Time
	// evicted are the evictions in their order, with the seconds since the beginning.
	evicted []string
	// there are the pods before the drain.
	there map[types.UID]*v1.Pod
}

func (w *watched) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string, kind types.PatchType, patch []byte) error {
	if gvk.Kind == "Node" && w.begun.IsZero() {
		w.note(ctx)
	}
	return w.Cluster.Patch(ctx, gvk, namespace, name, kind, patch)
}

func (w *watched) Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) error {
	w.evicted = append(w.evicted, fmt.Sprintf("%s at %d", name, int(w.Now().Sub(w.begun).Seconds())))
	return w.Cluster.Delete(ctx, gvk, namespace, name)
}

func (w *watched) note(ctx context.Context) {
	w.begun, w.there = w.Now(), map[types.UID]*v1.Pod{}
	w.state = documents(w.t, func(gvk schema.GroupVersionKind) ([]runtime.Object, error) { return w.List(ctx, gvk) })
	_, pods, err := w.State(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range pods {
		w.there[p.UID] = p
	}
}

// documents are the objects of a cluster that a drain depends on.
func documents(t *testing.T, list func(schema.GroupVersionKind) ([]runtime.Object, error)) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, gvk := range []schema.GroupVersionKind{
		v1.SchemeGroupVersion.WithKind("Node"), appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
		appsv1.SchemeGroupVersion.WithKind("DaemonSet"), policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), v1.SchemeGroupVersion.WithKind("Pod"),
	} {
		all, err := list(gvk)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			o = o.DeepCopyObject()
			o.GetObjectKind().SetGroupVersionKind(gvk)
			document, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s\n---\n", document)
		}
	}
	return out.Bytes()
}

// placed counts the pods that have come since the drain began, by owner and node; those without one are "pending".
func (w *watched) placed(t *testing.T) map[string]int {
	_, pods, err := w.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, p := range pods {
		if w.there[p.UID] == nil {
			out[landing(p)]++
		}
	}
	return out
}

// landing is the controller of a pod, and its node; a pod without one is "pending".
func landing(p *v1.Pod) string {
	return metav1.GetControllerOf(p).Name + " on " + cmp.Or(p.Spec.NodeName, "pending")
}

// carryOut drains a cluster in memory by the verb of scenarios.
func (c drainCase) carryOut(t *testing.T) *watched {
	t.Helper()
	indented := func(text string) string { return "    - " + text + "\n" }
	var steps strings.Builder
	steps.WriteString("- configure:\n    " + strings.ReplaceAll(strings.TrimSpace(ranked), "\n", "\n    ") + "\n- create:\n    objects:\n")
	for _, o := range c.objects {
		steps.WriteString(indented(o))
	}
	steps.WriteString("- wait: settled\n")
	names, _ := json.Marshal(c.q.Nodes)
	fmt.Fprintf(&steps, "- drain: {nodes: '%s.map(name, nodes.filter(n, n.name == name)[0])', force: %v, deleteEmptyDirData: %v, timeout: %ds}\n- wait: settled\n", names, c.q.Force, c.q.DeleteEmptyDirData, c.q.TimeoutSeconds)
	text := "apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1\nkind: Scenario\nmetadata: {name: drain}\nsteps:\n" + steps.String()
	s, err := scenario.Load(t.Context(), []byte(text), scenario.Options{File: "drain.yaml", Parse: config.Parse})
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
		t.Fatalf("the run failed: %s %+v", r.Error, r.Steps)
	}
	return w
}

// foretell asks beforehand.
func (c drainCase) foretell(t *testing.T, state []byte) *drain.Answer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state.yaml")
	if err := os.WriteFile(file, append(state, ranked...), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster, err := standalone.Open(t.Context(), standalone.Options{File: file, Version: "v1.37.2", Parse: func(document []byte) (*config.Configuration, error) { return config.Parse(document) }})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := cluster.Drain(t.Context(), c.q)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// foretold is an answer in the form of what happens.
func foretold(a *drain.Answer) (evicted []string, placed map[string]int) {
	placed = map[string]int{}
	made := slices.DeleteFunc(slices.Clone(a.Evictions), func(e drain.Eviction) bool { return e.Evicted == nil })
	slices.SortStableFunc(made, func(x, y drain.Eviction) int { return cmp.Compare(*x.Evicted, *y.Evicted) })
	for _, e := range made {
		evicted = append(evicted, fmt.Sprintf("%s at %d", e.Name, *e.Evicted))
		if _, owner, owned := strings.Cut(e.Owner, " "); owned && e.Behind == "" {
			placed[owner+" on "+cmp.Or(e.To, "pending")]++
		}
	}
	return evicted, placed
}

// TestWhatIsForetoldHappens drains random clusters by the verb of scenarios, in memory: the same pods are evicted in the same order and at
// the same second, budgets and terminations included, and the replacements land on the same nodes, or stay pending.
func TestWhatIsForetoldHappens(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 30
	}
	outcomes, fates := map[drain.NodeOutcome]int{}, map[drain.Fate]int{}
	waited := 0
	for seed := range seeds {
		c := newDrainCase(seed)
		happened := c.carryOut(t)
		answer := c.foretell(t, happened.state)
		evicted, placed := foretold(answer)
		if diff := gocmp.Diff(evicted, happened.evicted); diff != "" {
			t.Errorf("seed %d: the evictions (-foretold +happened):\n%s", seed, diff)
		}
		if diff := gocmp.Diff(placed, happened.placed(t)); diff != "" {
			t.Errorf("seed %d: the replacements (-foretold +happened):\n%s", seed, diff)
		}
		for _, n := range answer.Nodes {
			outcomes[n.Outcome]++
		}
		for _, e := range answer.Evictions {
			fates[e.Fate]++
			if e.Evicted != nil && *e.Evicted > e.Asked {
				waited++
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s\n%s", seed, strings.Join(c.objects, "\n"), transcript(answer))
		}
	}
	t.Log(outcomes, fates, waited)
	for _, o := range []drain.NodeOutcome{drain.Emptied, drain.GivenUp, drain.Refused} {
		if outcomes[o] == 0 {
			t.Errorf("no node was %s", o)
		}
	}
	if missing := slices.DeleteFunc([]drain.Fate{drain.Moves, drain.Pending, drain.Gone, drain.Blocked}, func(f drain.Fate) bool { return fates[f] > 0 }); len(missing) > 0 || waited == 0 {
		t.Errorf("no pod had the fate %v, and %d waited; %v", missing, waited, slices.Sorted(maps.Keys(fates)))
	}
}
