package plugins_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/fit"
)

var (
	groupKind    = schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"}
	quotaKind    = schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "ElasticQuota"}
	topologyKind = schema.GroupVersionKind{Group: "topology.node.k8s.io", Version: "v1alpha2", Kind: "NodeResourceTopology"}
	asked        = types.NamespacedName{Namespace: "default", Name: "asked"}
)

func custom(t *testing.T, kind schema.GroupVersionKind, namespace, name, fields string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(fields), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetGroupVersionKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func placed(name, cpu, node string) *v1.Pod {
	p := st.MakePod().Namespace("default").Name(name).UID(name).SchedulerName(v1.DefaultSchedulerName).
		Req(map[v1.ResourceName]string{"cpu": cpu, "memory": "1Gi"}).Label("scheduling.x-k8s.io/pod-group", "gang").Node(node)
	p.Obj().Spec.Containers[0].Image = "i"
	return p.Obj()
}

// guaranteed returns a pod whose containers get processors of their own.
func guaranteed(name, cpu, node string) *v1.Pod {
	p := placed(name, cpu, node)
	p.Labels = nil
	p.Spec.Containers[0].Resources.Limits = p.Spec.Containers[0].Resources.Requests
	return p
}

func sized(name, cpu string) *v1.Node {
	return st.MakeNode().Name(name).Label(v1.LabelHostname, name).Capacity(map[v1.ResourceName]string{"cpu": cpu, "memory": "64Gi", "pods": "20"}).Obj()
}

const zones = `
topologyPolicies: [SingleNUMANodeContainerLevel]
attributes: [{name: topologyManagerPolicy, value: single-numa-node}, {name: topologyManagerScope, value: container}]
zones:
- {name: node-0, type: Node, resources: [{name: cpu, capacity: "4", allocatable: "4", available: "%[1]s"}, {name: memory, capacity: 32Gi, allocatable: 32Gi, available: 32Gi}]}
- {name: node-1, type: Node, resources: [{name: cpu, capacity: "4", allocatable: "4", available: "%[1]s"}, {name: memory, capacity: 32Gi, allocatable: 32Gi, available: 32Gi}]}
`

// groupsEnabled are the plugins of a profile with Coscheduling.
const groupsEnabled = "{multiPoint: {enabled: [{name: Coscheduling}]}, queueSort: {disabled: [{name: '*'}], enabled: [{name: Coscheduling}]}}"

// question is a hypothesis about the pod asked.
type question struct {
	changes []whatif.Change
	// want is the node, or a part of the message of a pod that finds none.
	want string
}

// TestHypotheses: the plugins decide on the objects of the question, and remember nothing of one
// question in the next.
func TestHypotheses(t *testing.T) {
	group := func(fields string) *unstructured.Unstructured {
		return custom(t, groupKind, "default", "gang", "spec: {"+fields+"}")
	}
	quota := func(namespace, fields string) *unstructured.Unstructured {
		return custom(t, quotaKind, namespace, "quota", "spec: {"+fields+"}")
	}
	topology := func(available string) *unstructured.Unstructured {
		return custom(t, topologyKind, "", "a", fmt.Sprintf(zones, available))
	}
	patch := func(kind schema.GroupVersionKind, namespace, name, document string) whatif.Change {
		return whatif.Change{Patch: &whatif.Patch{ObjectRef: whatif.ObjectRef{GVK: kind, Namespace: namespace, Name: name}, Patch: []byte(document)}}
	}
	remove := func(kind schema.GroupVersionKind, namespace, name string) whatif.Change {
		return whatif.Change{Delete: &whatif.ObjectRef{GVK: kind, Namespace: namespace, Name: name}}
	}
	apply := func(o runtime.Object) whatif.Change { return whatif.Change{Apply: o} }
	podKind := v1.SchemeGroupVersion.WithKind("Pod")
	large := placed("asked", "3", "")

	for _, test := range []struct {
		name, plugins string
		state         []runtime.Object
		questions     map[string]question
		// fits is how many more like the pod have room.
		fits int
		// cure is a part of the text of a suggestion, or of what cannot be cured.
		cure string
	}{
		{
			name: "a group", plugins: groupsEnabled,
			state: []runtime.Object{sized("a", "8"), group("minMember: 3"), placed("asked", "1", ""), placed("other", "1", "a")},
			questions: map[string]question{
				"as it is":                {nil, "cannot find enough sibling pods"},
				"one more member":         {[]whatif.Change{apply(placed("third", "1", ""))}, "a"},
				"a smaller group":         {[]whatif.Change{patch(groupKind, "default", "gang", `{"spec": {"minMember": 2}}`)}, "a"},
				"a group that needs more": {[]whatif.Change{apply(group("minMember: 1, minResources: {cpu: 20}"))}, "resource gap"},
				"no group":                {[]whatif.Change{remove(groupKind, "default", "gang")}, "a"},
			},
			fits: 7, cure: "Coscheduling",
		},
		{
			name: "a group that found no place a moment ago", plugins: groupsEnabled,
			state: []runtime.Object{sized("a", "2"), group("minMember: 2, minResources: {cpu: 2}"), large, placed("other", "1", "")},
			questions: map[string]question{
				"as it is":          {nil, "Insufficient cpu"},
				"as it is, again":   {nil, "Insufficient cpu"},
				"with a large node": {[]whatif.Change{apply(sized("b", "16"))}, "b"},
				"with larger needs": {[]whatif.Change{patch(groupKind, "default", "gang", `{"spec": {"minResources": {"cpu": "10"}}}`)}, "resource gap"},
			},
			fits: 0, cure: "Lower the request for cpu",
		},
		{
			name: "a quota", plugins: "{multiPoint: {enabled: [{name: CapacityScheduling}]}}",
			state: []runtime.Object{sized("a", "16"), quota("default", "min: {cpu: 6, memory: 64Gi}, max: {cpu: 6, memory: 64Gi}"), placed("asked", "2", ""), placed("first", "2", "a"), placed("second", "3", "a")},
			questions: map[string]question{
				"as it is":           {nil, "more than Max"},
				"more for the quota": {[]whatif.Change{patch(quotaKind, "default", "quota", `{"spec": {"min": {"cpu": "8"}, "max": {"cpu": "8"}}}`)}, "a"},
				"no quota":           {[]whatif.Change{remove(quotaKind, "default", "quota")}, "a"},
				"a pod gone":         {[]whatif.Change{remove(podKind, "default", "first")}, "a"},
				"a pod on its way":   {[]whatif.Change{remove(podKind, "default", "first"), apply(placed("third", "2", "a"))}, "more than Max"},
			},
			fits: 0, cure: "Evict default/first", // which gives its part of the quota back
		},
		{
			name: "room in a quota", plugins: "{multiPoint: {enabled: [{name: CapacityScheduling}]}}",
			state:     []runtime.Object{sized("a", "16"), quota("default", "min: {cpu: 9, memory: 64Gi}, max: {cpu: 9, memory: 64Gi}"), placed("asked", "2", ""), placed("first", "2", "a")},
			questions: map[string]question{"as it is": {nil, "a"}},
			fits:      3,
		},
		{
			name: "zones", plugins: "{multiPoint: {enabled: [{name: NodeResourceTopologyMatch}]}}",
			state: []runtime.Object{sized("a", "8"), topology("2"), guaranteed("asked", "3", "")},
			questions: map[string]question{
				"as it is":      {nil, "cannot align"},
				"more in each":  {[]whatif.Change{apply(topology("4"))}, "a"},
				"no topology":   {[]whatif.Change{remove(topologyKind, "", "a")}, "a"},
				"a smaller pod": {[]whatif.Change{apply(guaranteed("asked", "2", ""))}, "a"},
			},
			fits: 0, cure: "Add a node like a", // whose zones are empty
		},
		{
			name: "a pod for which every zone is too small", plugins: "{multiPoint: {enabled: [{name: NodeResourceTopologyMatch}]}}",
			state:     []runtime.Object{sized("a", "8"), topology("4"), guaranteed("asked", "5", "")},
			questions: map[string]question{"as it is": {nil, "cannot align"}},
			fits:      0, cure: "NodeResourceTopologyMatch",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			engine := engineOf(t, test.plugins, test.state)
			for _, round := range []string{"first", "second"} {
				for name, q := range test.questions {
					answer, err := engine.Ask(t.Context(), whatif.Question{PodRef: &asked, Changes: q.changes})
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					cycle := answer.Decisions[0]
					if got := cycle.SelectedNode + cycle.Message; got != q.want && (len(q.want) == 1 || !strings.Contains(got, q.want)) {
						t.Errorf("%s, the %s time: %s: %s, want %s", name, round, cycle.Outcome, got, q.want)
					}
				}
			}
			room, err := capacity.Ask(t.Context(), engine, capacity.Question{PodRef: &asked})
			if err != nil || room.Fits != test.fits {
				t.Errorf("there is room for %+v: %v", room, err)
			}
			found, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &asked})
			if err != nil {
				t.Fatal(err)
			}
			if test.cure == "" {
				if !found.Fits {
					t.Error("it does not fit")
				}
				return
			}
			var said []string
			for _, s := range found.Suggestions {
				said = append(said, s.Text)
			}
			for _, i := range found.Incurable {
				said = append(said, i.Plugin+": "+i.Reason)
			}
			if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, test.cure) }) {
				t.Errorf("no word of %s: %s", test.cure, cmp.Diff(nil, said))
			}
		})
	}
}

// TestRoomForGroups: a group has room for as many members as run when they are created for real:
// for none that wait for others.
func TestRoomForGroups(t *testing.T) {
	for name, test := range map[string]struct {
		enabled     string
		least, busy int
		fits        int
		group       *capacity.Group
		needed      int // nodes for 12 more
	}{
		"two groups":        {groupsEnabled, 3, 0, 7, &capacity.Group{Name: "gang", Minimum: 3, Places: 7}, 1},
		"a group that runs": {groupsEnabled, 3, 3, 4, &capacity.Group{Name: "gang", Minimum: 3, Bound: 3, Places: 4}, 2},
		"too little room":   {groupsEnabled, 9, 0, 0, &capacity.Group{Name: "gang", Minimum: 9, Places: 7}, 1},
		"without a plugin":  {"{}", 9, 0, 7, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			state := []runtime.Object{sized("a", "7"), custom(t, groupKind, "default", "gang", fmt.Sprintf("spec: {minMember: %d}", test.least))}
			for i := range test.busy {
				state = append(state, placed(fmt.Sprint("busy-", i), "1", "a"))
			}
			answer, err := capacity.Ask(t.Context(), engineOf(t, test.enabled, state), capacity.Question{
				Pod: placed("asked", "1", ""), NodesNeeded: &capacity.NodesNeeded{Like: "a", For: 12},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.group, answer.Group, cmpopts.IgnoreUnexported(capacity.Group{})); diff != "" || answer.Fits != test.fits || !answer.Complete {
				t.Errorf("%d fit: -want +got:\n%s", answer.Fits, diff)
			}
			if len(answer.Stopped) != 1 || answer.Stopped[0].Reason != "Insufficient cpu" {
				t.Errorf("the next one is stopped by %v", answer.Stopped)
			}
			if n := answer.NodesNeeded; !n.Enough || n.Nodes != test.needed {
				t.Errorf("for 12 more it needs %+v", n)
			}
		})
	}
}

// TestCopiesSeeEachOther: copies of a member count as its siblings.
func TestCopiesSeeEachOther(t *testing.T) {
	engine := engineOf(t, groupsEnabled,
		[]runtime.Object{sized("a", "7"), custom(t, groupKind, "default", "gang", "spec: {minMember: 3}")})
	for copies, want := range map[int]string{1: "", 2: ",", 3: "a,a,a"} {
		answer, err := engine.Ask(t.Context(), whatif.Question{Pod: placed("asked", "1", ""), Copies: copies})
		if err != nil {
			t.Fatal(err)
		}
		var nodes []string
		for _, c := range answer.Decisions {
			nodes = append(nodes, c.SelectedNode)
		}
		if got := strings.Join(nodes, ","); got != want {
			t.Errorf("%d copies are on %q, want %q", copies, got, want)
		}
	}
}

func engineOf(t *testing.T, enabled string, state []runtime.Object) *whatif.Engine {
	t.Helper()
	c, err := config.Parse([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: " + enabled + "}]"))
	if err != nil {
		t.Fatal(err)
	}
	engine := whatif.New(whatif.Options{
		Source: whatif.Objects(state), OutOfTree: plugins.Registry(),
		Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return c.Internal },
	})
	t.Cleanup(engine.Stop)
	return engine
}
