package descheduler

import (
	stdcmp "cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	core "k8s.io/client-go/testing"
	"sigs.k8s.io/descheduler/cmd/descheduler/app/options"
	"sigs.k8s.io/descheduler/pkg/api"
	upstream "sigs.k8s.io/descheduler/pkg/descheduler"
	"sigs.k8s.io/descheduler/pkg/features"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"

	"kube-scheduler-simulator/simulator/host/quiet"
)

// TestMain silences the descheduler's log.
func TestMain(m *testing.M) {
	if err := quiet.Klog(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestRegistry: a new version of the descheduler may have more plugins, or other functions for them. Then re-read its setupplugins.go.
func TestRegistry(t *testing.T) {
	theirs := pluginregistry.NewRegistry()
	upstream.RegisterDefaultPlugins(theirs)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(theirs)), slices.Sorted(maps.Keys(registry()))); diff != "" {
		t.Fatalf("plugins (-the descheduler's +ours):\n%s", diff)
	}
	for name, of := range theirs {
		if diff := cmp.Diff(of.PluginArgInstance, registry()[name].PluginArgInstance); diff != "" {
			t.Errorf("%s has other arguments:\n%s", name, diff)
		}
		for _, point := range []extensionPoint{atDeschedule, atBalance, atFilter} {
			if point.fits(of.PluginType) != point.fits(registry()[name].PluginType) {
				t.Errorf("%s is a plugin of %s in one of them", name, point.field)
			}
		}
	}
}

// TestPolicy: a policy that is read here is the one that the descheduler loads, with its defaults.
func TestPolicy(t *testing.T) {
	for name, text := range map[string]string{
		"defaults": `
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig: [{name: RemoveDuplicates}, {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 60}}, {name: RemoveFailedPods}]
  plugins: {balance: {enabled: [RemoveDuplicates]}, deschedule: {enabled: [PodLifeTime, RemoveFailedPods]}}
`,
		"two profiles": `
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
nodeSelector: pool=a
maxNoOfPodsToEvictPerNode: 2
gracePeriodSeconds: 5
profiles:
- name: low
  pluginConfig:
  - {name: DefaultEvictor, args: {nodeFit: true, minReplicas: 2, priorityThreshold: {value: 1000}}}
  - {name: LowNodeUtilization, args: {thresholds: {cpu: 20, memory: 20}, targetThresholds: {cpu: 50, memory: 50}}}
  plugins: {balance: {enabled: [LowNodeUtilization]}}
- name: spread
  pluginConfig: [{name: RemovePodsViolatingTopologySpreadConstraint, args: {constraints: [DoNotSchedule, ScheduleAnyway]}}]
  plugins: {balance: {enabled: [RemovePodsViolatingTopologySpreadConstraint]}, filter: {enabled: [DefaultEvictor]}}
`,
	} {
		t.Run(name, func(t *testing.T) {
			ours, err := Read(t.Context(), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			policy, err := ours.forCluster(t.Context(), client{view: &view{}})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "policy.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			theirs, err := upstream.LoadPolicyConfig(file, fake.NewClientset(), registry())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(theirs, policy, cmp.AllowUnexported(api.DeschedulerPolicy{})); diff != "" {
				t.Errorf("(-the descheduler's +ours):\n%s", diff)
			}
		})
	}
}

// still is a cluster on which nothing happens: evicted pods stay.
type still struct {
	nodes   []*v1.Node
	pods    []*v1.Pod
	others  map[string][]runtime.Object
	evicted map[string]int
}

func (s *still) Now() time.Time    { return time.Now() }
func (s *still) Nodes() []*v1.Node { return s.nodes }
func (s *still) Pods() []*v1.Pod   { return s.pods }
func (s *still) List(_ context.Context, gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	return s.others[gvk.Kind], nil
}

func (s *still) Evict(_ context.Context, pod *v1.Pod, _ Asked) (Refusal, error) {
	s.evicted[place(pod)]++
	return Refusal{}, nil
}

// place is all that tells apart the pods of these tests that are of different kinds.
func place(p *v1.Pod) string { return p.Labels["app"] + " on " + p.Spec.NodeName }

// TestDecisions runs the descheduler itself on a fake API server, where evicted pods stay, too: as many pods of each app are
// evicted from each node. Pods of an app are alike, because which of them goes is up to chance there.
func TestDecisions(t *testing.T) {
	made := func(random *rand.Rand) (*still, []runtime.Object) {
		s := &still{others: map[string][]runtime.Object{}, evicted: map[string]int{}}
		var all []runtime.Object
		other := func(kind string, o runtime.Object) { s.others[kind], all = append(s.others[kind], o), append(all, o) }
		for i, name := range []string{"default", "closed"} {
			other("Namespace", &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"open": fmt.Sprint(i == 0)}}})
		}
		other("PriorityClass", &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000})
		other("PodDisruptionBudget", &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a0"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a0"}}}})
		for i := range 5 {
			n := &v1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{v1.LabelHostname: fmt.Sprintf("n%d", i), v1.LabelTopologyZone: fmt.Sprintf("z%d", i%2)}},
				Status: v1.NodeStatus{
					Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("8"), v1.ResourceMemory: resource.MustParse("32Gi"), v1.ResourcePods: resource.MustParse("30")},
					Conditions:  []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
				},
			}
			if i == 1 && random.IntN(2) == 0 {
				n.Spec.Taints = []v1.Taint{{Key: "gone", Effect: v1.TaintEffectNoSchedule}}
			}
			if i == 2 && random.IntN(3) == 0 {
				n.Spec.Unschedulable = true
			}
			s.nodes, all = append(s.nodes, n), append(all, n)
		}
		for a := range 4 {
			priority := []int32{0, 0, 0, 1000}[random.IntN(4)]
			local := random.IntN(4) == 0
			age, restarts := time.Duration(random.IntN(4))*time.Hour, int32(random.IntN(3)*100)
			spread := random.IntN(2) == 0
			namespace := []string{"default", "default", "closed"}[random.IntN(3)]
			for i := range 2 + random.IntN(8) {
				p := &v1.Pod{
					ObjectMeta: metav1.ObjectMeta{
						Namespace: namespace, Name: fmt.Sprintf("a%d-%d", a, i), UID: types.UID(fmt.Sprintf("u%d-%d", a, i)), Labels: map[string]string{"app": fmt.Sprintf("a%d", a)},
						CreationTimestamp: metav1.NewTime(time.Now().Add(-age - time.Minute)),
						OwnerReferences:   []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("a%d", a), UID: types.UID(fmt.Sprintf("r%d", a)), Controller: new(true)}},
					},
					Spec: v1.PodSpec{
						NodeName: fmt.Sprintf("n%d", random.IntN(3)), Priority: &priority,
						Containers: []v1.Container{{Name: "c", Image: "i", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("500m"), v1.ResourceMemory: resource.MustParse("1Gi")}}}},
					},
					Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: []v1.ContainerStatus{{Name: "c", RestartCount: restarts}}},
				}
				if local {
					p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
				}
				if spread {
					p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}}
				}
				s.pods, all = append(s.pods, p), append(all, p)
			}
		}
		slices.SortFunc(s.pods, comparePods)
		return s, all
	}
	plugins := map[string]string{
		"RemoveDuplicates": "balance", "RemovePodsViolatingNodeTaints": "deschedule", "RemovePodsHavingTooManyRestarts": "deschedule", "PodLifeTime": "deschedule",
		"RemovePodsViolatingTopologySpreadConstraint": "balance", "LowNodeUtilization": "balance", "HighNodeUtilization": "balance",
	}
	args := map[string]string{"RemovePodsHavingTooManyRestarts": "{podRestartThreshold: 100}", "PodLifeTime": "{maxPodLifeTimeSeconds: 4000}", "LowNodeUtilization": "{thresholds: {cpu: 20}, targetThresholds: {cpu: 45}}", "HighNodeUtilization": "{thresholds: {cpu: 25}}"}
	evictors := []string{
		"{}", "{nodeFit: true}", "{minReplicas: 4}", "{priorityThreshold: {name: high}}", "{ignorePodsWithoutPDB: true}", "{evictLocalStoragePods: true}", "{minPodAge: 90m}",
		"{namespaceLabelSelector: {matchLabels: {open: \"true\"}}}", "{labelSelector: {matchLabels: {app: a1}}}",
	}
	total := map[string]int{}
	for seed := range uint64(20) {
		for _, name := range slices.Sorted(maps.Keys(plugins)) {
			random := rand.New(rand.NewPCG(seed, 3))
			ours, objects := made(random)
			text := fmt.Sprintf("apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles:\n- name: p\n  pluginConfig: [{name: DefaultEvictor, args: %s}, {name: %s, args: %s}]\n  plugins: {%s: {enabled: [%[2]s]}}\n",
				evictors[random.IntN(len(evictors))], name, stdcmp.Or(args[name], "{}"), plugins[name])
			policy, err := Read(t.Context(), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := policy.Run(t.Context(), ours); err != nil {
				t.Fatal(err)
			}
			theirs, same := runUpstream(t, text, objects), ours.evicted
			// Of pods of one priority, also the app is up to chance, or the node of the zone.
			switch {
			case strings.HasSuffix(name, "NodeUtilization"):
				theirs, same = folded(theirs, func(_, node string) string { return node }), folded(same, func(_, node string) string { return node })
			case name == "RemovePodsViolatingTopologySpreadConstraint":
				zone := func(app, node string) string {
					return app + map[bool]string{true: " in z1", false: " in z0"}[node == "n1"]
				}
				theirs, same = folded(theirs, zone), folded(same, zone)
			}
			if diff := cmp.Diff(theirs, same); diff != "" {
				t.Fatalf("seed %d (-the descheduler +ours):\n%s\n%s", seed, diff, text)
			}
			for _, n := range theirs {
				total[name] += n
			}
		}
	}
	t.Log(total)
	for name := range plugins {
		if total[name] == 0 {
			t.Errorf("%s evicts no pod", name)
		}
	}
}

// folded counts by less than app and node. Pods are on n0, n1 and n2, of which n1 is in zone z1.
func folded(places map[string]int, key func(app, node string) string) map[string]int {
	out := map[string]int{}
	for at, n := range places {
		app, node, _ := strings.Cut(at, " on ")
		out[key(app, node)] += n
	}
	return out
}

// runUpstream counts what the descheduler evicts in one cycle.
func runUpstream(t *testing.T, text string, objects []runtime.Object) map[string]int {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := options.NewDeschedulerServer()
	if err != nil {
		t.Fatal(err)
	}
	evicted := map[string]int{}
	var mu sync.Mutex
	client := fake.NewClientset(objects...)
	pods := map[string]*v1.Pod{}
	for _, o := range objects {
		if p, is := o.(*v1.Pod); is {
			pods[p.Namespace+"/"+p.Name] = p
		}
	}
	client.PrependReactor("create", "pods", func(action core.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "eviction" {
			return false, nil, nil
		}
		e := action.(core.CreateAction).GetObject().(*policyv1.Eviction)
		mu.Lock()
		defer mu.Unlock()
		evicted[place(pods[e.Namespace+"/"+e.Name])]++
		return true, nil, nil
	})
	server.Client, server.DefaultFeatureGates = client, features.DefaultMutableFeatureGate
	policy, err := upstream.LoadPolicyConfig(file, client, registry())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := upstream.RunDeschedulerStrategies(ctx, server, policy, "v1"); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return maps.Clone(evicted)
}
