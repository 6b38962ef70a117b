package fit_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

func node(name string) *st.NodeWrapper {
	return st.MakeNode().Name(name).Label(v1.LabelHostname, name).Capacity(map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "10"})
}

func pending(cpu string) *st.PodWrapper {
	return st.MakePod().Namespace("default").Name("web").UID("web").SchedulerName(v1.DefaultSchedulerName).Priority(10).Label("app", "web").
		Req(map[v1.ResourceName]string{"cpu": cpu})
}

func on(node, name, cpu string, priority int32) *st.PodWrapper {
	return st.MakePod().Namespace("default").Name(name).UID(name).SchedulerName(v1.DefaultSchedulerName).Node(node).Label("app", name).Priority(priority).
		Req(map[v1.ResourceName]string{"cpu": cpu})
}

var web = types.NamespacedName{Namespace: "default", Name: "web"}

// summary renders an answer for a person to review.
func summary(a *fit.Answer) []string {
	out := []string{}
	if a.Fits {
		out = append(out, "fits")
	}
	for _, s := range a.Suggestions {
		out = append(out, string(s.Kind)+": "+s.Text+" → "+strings.Join(s.Nodes, ", "))
	}
	for _, i := range a.Incurable {
		title := "incurable: "
		if i.Guarded {
			title = "guarded: "
		}
		out = append(out, title+i.Plugin+": "+i.Reason+" on "+strings.Join(i.Nodes, ", "))
	}
	for _, l := range a.LeftOut {
		out = append(out, l.String())
	}
	return out
}

func TestAnswers(t *testing.T) {
	const withPicky = plainConfiguration + "profiles:\n- schedulerName: default-scheduler\n  plugins: {multiPoint: {enabled: [{name: Picky}]}}\n"
	const withAddedAffinity = plainConfiguration + `profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeAffinity
    args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [a]}]}]}}}
`
	dedicated := v1.Taint{Key: "dedicated", Value: "batch", Effect: v1.TaintEffectNoSchedule}
	zone := func(n *st.NodeWrapper, zone string) *v1.Node { return n.Label(v1.LabelTopologyZone, zone).Obj() }
	owned := func(p *st.PodWrapper, kind string) *v1.Pod {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "owner", UID: "owner", Controller: ptr.To(true)}}
		return p.Obj()
	}
	apart := func(p *v1.Pod, apps ...string) *v1.Pod {
		terms := []v1.PodAffinityTerm{}
		for _, app := range apps {
			terms = append(terms, v1.PodAffinityTerm{TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}})
		}
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		return p
	}
	nodeNames := func(p *v1.Pod, names ...string) *v1.Pod {
		var fields []v1.NodeSelectorRequirement
		for _, name := range names {
			fields = append(fields, v1.NodeSelectorRequirement{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{name}})
		}
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: fields}}}}}
		return p
	}
	beside := func(p *v1.Pod, keysAndApps ...string) *v1.Pod {
		p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{}}
		terms := &p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		for i := 0; i < len(keysAndApps); i += 2 {
			*terms = append(*terms, v1.PodAffinityTerm{TopologyKey: keysAndApps[i], LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": keysAndApps[i+1]}}})
		}
		return p
	}
	inZone := func(name, zone string) []runtime.Object {
		pv := st.MakePersistentVolume().Name(name).StorageClassName("local").Capacity(nil).NodeAffinityIn(v1.LabelTopologyZone, []string{zone}).Obj()
		pvc := st.MakePersistentVolumeClaim().Namespace("default").Name(name).VolumeName(name).StorageClassName(ptr.To("local")).
			Annotation("pv.kubernetes.io/bind-completed", "yes").Obj()
		pvc.UID = types.UID(name)
		pv.Spec.ClaimRef = &v1.ObjectReference{Namespace: "default", Name: name, UID: types.UID(name)}
		return []runtime.Object{pv, pvc, st.MakeStorageClass().Name("local").Provisioner("kubernetes.io/no-provisioner").VolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).Obj()}
	}
	for _, test := range []struct {
		name          string
		configuration string
		pod           *v1.Pod
		target        string
		state         []runtime.Object
		want          []string
	}{
		{name: "a pod that fits", pod: pending("1").Obj(), state: []runtime.Object{node("n1").Obj()}, want: []string{"fits"}},
		{
			name: "no nodes", pod: pending("1").Obj(),
			want: []string{"The cluster has no nodes: none can change, and there is none that a new one could be like."},
		},
		{
			name: "a pod that no node is large enough for", pod: pending("100").Obj(), state: []runtime.Object{node("n1").Obj()},
			want: []string{"pod: Lower the request for cpu of the container con0 from 100 to 4. web is deleted and created again. → n1"},
		},
		{
			name: "a pod that is nominated for the node with the most room", pod: pending("5").Obj(),
			state: []runtime.Object{
				node("n1").Obj(), on("n1", "one", "1", 10).Obj(), node("n2").Obj(), on("n2", "most", "3900m", 10).Obj(),
				on("", "soon", "1200m", 10).NominatedNodeName("n1").Obj(),
			},
			want: []string{"pod: Lower the request for cpu of the container con0 from 5 to 1.8. web is deleted and created again. → n1"},
		},
		{
			name: "a taint, on one of two nodes of a kind", pod: pending("1").Obj(),
			state: []runtime.Object{node("n1").Taints([]v1.Taint{dedicated}).Obj(), node("n2").Taints([]v1.Taint{dedicated}).Obj()},
			want: []string{
				"pod: Tolerate the taint dedicated=batch:NoSchedule. → n1, n2",
				"node: Remove the taint dedicated=batch:NoSchedule from n1 (or n2). → n1",
			},
		},
		{
			name: "two taints are one step each way", pod: pending("1").Obj(),
			state: []runtime.Object{node("n1").Taints([]v1.Taint{dedicated, {Key: "gpu", Effect: v1.TaintEffectNoExecute}}).Obj()},
			want: []string{
				"pod: Tolerate the taints dedicated=batch:NoSchedule, gpu:NoExecute. → n1",
				"node: Remove the taints dedicated=batch:NoSchedule, gpu:NoExecute from n1. → n1",
			},
		},
		{
			name: "a cordon", pod: pending("1").Obj(), state: []runtime.Object{node("n1").Unschedulable(true).Obj()},
			want: []string{"node: Uncordon n1. → n1", "addNode: Add a node like n1: n2. → n2"},
		},
		{
			name: "two changes, when no single one helps", pod: pending("3").NodeSelector(map[string]string{"disk": "ssd"}).Obj(),
			state: []runtime.Object{node("n1").Obj(), on("n1", "a", "1500m", 20).Obj()},
			want: []string{
				"pod: No longer require disk In ssd of the node. Lower the request for cpu of the container con0 from 3 to 2.5. web is deleted and created again. → n1",
				"node: Lower the request for cpu of the container con0 from 3 to 2.5. On n1: set the label disk=ssd. web is deleted and created again. → n1",
			},
		},
		{
			name: "a little less, rather than an eviction", pod: pending("2").PreemptionPolicy(v1.PreemptNever).Obj(), state: []runtime.Object{node("n1").Obj(), on("n1", "low", "2500m", 0).Obj()},
			want: []string{
				"pod: Lower the request for cpu of the container con0 from 2 to 1.5. web is deleted and created again. → n1",
				"addNode: Add a node like n1: n2. → n2",
			},
		},
		{
			name: "an eviction, rather than much less", pod: pending("2").PreemptionPolicy(v1.PreemptNever).Obj(),
			state: []runtime.Object{node("n1").Obj(), on("n1", "low", "2", 0).Obj(), on("n1", "lower", "1500m", -5).Obj()},
			want: []string{
				"addNode: Add a node like n1: n2. → n2",
				"evict: Evict default/lower to make room on n1. → n1",
				"pod: Lower the request for cpu of the container con0 from 2 to 0.5. web is deleted and created again. → n1",
			},
		},
		{
			name: "a budget protects", pod: pending("2").PreemptionPolicy(v1.PreemptNever).Obj(), target: "n1",
			state: []runtime.Object{node("n1").Obj(), on("n1", "low", "3500m", 0).Obj(), st.MakePDB().Namespace("default").Name("b").MatchLabel("app", "low").DisruptionsAllowed(0).Obj()},
			want:  []string{"pod: Lower the request for cpu of the container con0 from 2 to 0.5. web is deleted and created again. → n1"},
		},
		{
			name: "on one node only", pod: pending("1").Obj(), target: "n2",
			state: []runtime.Object{node("n1").Obj(), node("n2").Taints([]v1.Taint{dedicated}).Obj(), on("n2", "a", "1", 0).Obj()},
			want: []string{
				"pod: Tolerate the taint dedicated=batch:NoSchedule. → n1, n2",
				"node: Remove the taint dedicated=batch:NoSchedule from n2. → n1, n2",
			},
		},
		{
			name: "another pod's anti-affinity", pod: pending("1").PreemptionPolicy(v1.PreemptNever).Obj(), target: "n1",
			state: []runtime.Object{node("n1").Obj(), on("n1", "loner", "1", 0).PodAntiAffinityIn("app", v1.LabelHostname, []string{"web"}, st.PodAntiAffinityWithRequiredReq).Obj()},
			want:  []string{"evict: Evict default/loner to make room on n1. → n1"},
		},
		{
			name: "another pod's anti-affinity, of a higher priority", pod: pending("1").Obj(), target: "n1",
			state: []runtime.Object{node("n1").Obj(), on("n1", "loner", "1", 50).PodAntiAffinityIn("app", v1.LabelHostname, []string{"web"}, st.PodAntiAffinityWithRequiredReq).Obj()},
			want:  []string{"guarded: InterPodAffinity: node(s) didn't satisfy existing pods anti-affinity rules on n1"},
		},
		{
			name: "one after the other comes to light", pod: pending("1").PreemptionPolicy(v1.PreemptNever).Obj(), target: "n1",
			state: []runtime.Object{
				node("n1").Obj(),
				on("n1", "a", "1", 0).PodAntiAffinityIn("app", v1.LabelHostname, []string{"web"}, st.PodAntiAffinityWithRequiredReq).Obj(),
				on("n1", "b", "1", 0).PodAntiAffinityIn("app", v1.LabelHostname, []string{"web"}, st.PodAntiAffinityWithRequiredReq).Obj(),
			},
			want: []string{"evict: Evict default/a, default/b to make room on n1. → n1"},
		},
		{
			name: "affinity and anti-affinity of the pod", target: "n1",
			pod: pending("1").PodAffinityIn("app", v1.LabelHostname, []string{"cache"}, st.PodAffinityWithRequiredReq).
				PodAntiAffinityIn("app", v1.LabelHostname, []string{"a"}, st.PodAntiAffinityWithRequiredReq).Obj(),
			state: []runtime.Object{node("n1").Obj(), on("n1", "a", "1", 0).Obj()},
			want: []string{
				"pod: Only prefer the pod affinity to app in (cache) over kubernetes.io/hostname. Only prefer the pod anti-affinity to app in (a) over kubernetes.io/hostname. web is deleted and created again. → n1",
			},
		},
		{
			name: "a spread", pod: pending("1").PreemptionPolicy(v1.PreemptNever).SpreadConstraint(1, v1.LabelTopologyZone, v1.DoNotSchedule, st.MakeLabelSelector().Label("app", "web").Obj(), nil, nil, nil, nil).Obj(),
			state: []runtime.Object{zone(node("n1"), "a"), zone(node("n2").Unschedulable(true), "b"), on("n1", "w1", "1", 0).Label("app", "web").Obj()},
			want: []string{
				"pod: Raise maxSkew over topology.kubernetes.io/zone from 1 to 2. web is deleted and created again. → n1",
				"pod: Only prefer the spread over topology.kubernetes.io/zone (ScheduleAnyway). web is deleted and created again. → n1",
				"node: Uncordon n2. → n2",
				"addNode: Add a node like n2: n3. → n3",
			},
		},
		{
			name: "a gate, and nothing else", pod: pending("1").SchedulingGates([]string{"quota"}).Obj(), state: []runtime.Object{node("n1").Obj()},
			want: []string{"pod: Remove the scheduling gate quota. → n1"},
		},
		{
			name: "a gate and a taint change in place", pod: pending("1").SchedulingGates([]string{"quota"}).Obj(), target: "n1",
			state: []runtime.Object{node("n1").Taints([]v1.Taint{dedicated}).Obj()},
			want: []string{
				"pod: Remove the scheduling gate quota. Tolerate the taint dedicated=batch:NoSchedule. → n1",
				"node: Remove the scheduling gate quota. Remove the taint dedicated=batch:NoSchedule from n1. → n1",
			},
		},
		{
			name: "a volume of another zone", pod: pending("1").PVC("data").Obj(), state: append(inZone("data", "a"), zone(node("n1"), "b")),
			want: []string{"incurable: VolumeBinding: node(s) didn't match PersistentVolume's node affinity on n1"},
		},
		{
			name: "a volume of a zone that is full", pod: pending("3").PVC("data").PreemptionPolicy(v1.PreemptNever).Obj(),
			state: append(inZone("data", "a"), zone(node("n1"), "b"), zone(node("n2"), "a"), on("n2", "a", "4", 50).Obj()),
			want: []string{
				"addNode: Add a node like n2: n3. → n3",
				"pod: Drop the request for 3 cpu of the container con0. web is deleted and created again. → n2",
				"incurable: VolumeBinding: node(s) didn't match PersistentVolume's node affinity on n1",
			},
		},
		{
			name: "a claim that does not exist", pod: pending("1").PVC("data").Obj(), state: []runtime.Object{node("n1").Obj(), node("n2").Obj()},
			want: []string{
				`incurable: NodeVolumeLimits: looking up PVC default/data: persistentvolumeclaim "data" not found on n1, n2`,
				`incurable: VolumeBinding: persistentvolumeclaim "data" not found on n1, n2`,
				`incurable: VolumeRestrictions: persistentvolumeclaim "data" not found on n1, n2`,
				`incurable: VolumeZone: persistentvolumeclaim "data" not found on n1, n2`,
			},
		},
		{
			name: "a plugin that nobody knows", configuration: withPicky, pod: pending("1").Label("app", "b").Obj(),
			state: []runtime.Object{node("n1").Label("disk", "ssd").Obj()},
			want:  []string{"incurable: Picky: solid state is too good for it on n1"},
		},
		{
			name: "a plugin that nobody knows, and a node that it likes", configuration: withPicky, pod: pending("1").Label("app", "b").Obj(),
			state: []runtime.Object{node("n1").Label("disk", "ssd").Obj(), node("n2").Label("disk", "hdd").Obj(), on("n2", "a", "4", 50).Obj()},
			want: []string{
				"addNode: Add a node like n2: n3. → n3",
				"pod: Drop the request for 1 cpu of the container con0. web is deleted and created again. → n2",
				"incurable: Picky: solid state is too good for it on n1",
			},
		},
		{
			name: "the scheduler's own affinity", configuration: withAddedAffinity, pod: pending("1").Obj(), state: []runtime.Object{node("n1").Obj()},
			want: []string{"node: On n1: set the label pool=a. → n1"},
		},
		{
			name: "too many pods of others", pod: pending("1").Obj(), target: "n1",
			state: []runtime.Object{st.MakeNode().Name("n1").Capacity(map[v1.ResourceName]string{"cpu": "4", "pods": "1"}).Obj(), on("n1", "a", "4", 50).Obj()},
			want:  []string{"guarded: NodeResourcesFit: Too many pods on n1"},
		},
		{
			name: "a change that is not enough without an eviction", pod: apart(pending("1").Obj(), "calm"), target: "n1",
			state: []runtime.Object{
				node("n1").Obj(), on("n1", "calm", "1", 50).Obj(),
				on("n1", "hostile", "1", 0).PodAntiAffinityIn("app", v1.LabelHostname, []string{"web"}, st.PodAntiAffinityWithRequiredReq).Obj(),
			},
			want: []string{"evict: Only prefer the pod anti-affinity to app=calm over kubernetes.io/hostname. Evict default/hostile to make room on n1. web is deleted and created again. → n1"},
		},
		{
			name: "one of two terms is enough on another node than where both are", pod: beside(pending("1").Obj(), v1.LabelHostname, "db", "zone", "web"),
			state: []runtime.Object{node("n1").Obj(), node("n2").Label("zone", "a").Obj()},
			want: []string{
				"pod: Only prefer the pod affinity to app=db over kubernetes.io/hostname. web is deleted and created again. → n2",
				"pod: Drop the pod affinity to app=db over kubernetes.io/hostname. web is deleted and created again. → n2",
			},
		},
		{
			name: "more of the same than another node needs", pod: apart(pending("1").Obj(), "a", "b"),
			state: []runtime.Object{node("n1").Obj(), node("n2").Obj(), on("n1", "a", "1", 50).Obj(), on("n2", "a2", "1", 50).Label("app", "a").Obj(), on("n2", "b", "1", 50).Obj()},
			want: []string{
				"pod: Only prefer the pod anti-affinity to app=a over kubernetes.io/hostname. web is deleted and created again. → n1",
				"pod: Drop the pod anti-affinity to app=a over kubernetes.io/hostname. web is deleted and created again. → n1",
				"addNode: Add a node like n1 (or n2): n3. → n3",
			},
		},
		{
			name: "as much as the node asks for that a combination comes to",
			pod:  apart(pending("4").PreemptionPolicy(v1.PreemptNever).Req(map[v1.ResourceName]string{"memory": "1Gi"}).Obj(), "y"),
			state: []runtime.Object{
				node("n1").Obj(), node("n2").Capacity(map[v1.ResourceName]string{"cpu": "2", "memory": "512Mi", "pods": "10"}).Obj(),
				on("n1", "y1", "100m", 100).Label("app", "y").Obj(), on("n2", "y2", "0", 100).Label("app", "y").Obj(),
			},
			want: []string{
				"pod: Lower the request for cpu of the container con0 from 4 to 3.9. Only prefer the pod anti-affinity to app=y over kubernetes.io/hostname. web is deleted and created again. → n1",
				"addNode: Add a node like n1: n3. → n3",
			},
		},
		{
			name: "one of two nodes that a pod asks for at once", pod: nodeNames(pending("1").Obj(), "n1", "n2"), state: []runtime.Object{node("n1").Obj(), node("n2").Obj()},
			want: []string{"pod: No longer require metadata.name In n2 of the node. web is deleted and created again. → n1"},
		},
		{
			name: "the pods of DaemonSets count on a new node", pod: pending("4").PreemptionPolicy(v1.PreemptNever).Obj(),
			state: []runtime.Object{node("n1").Obj(), owned(on("n1", "agent", "1", 100), "DaemonSet")},
			want:  []string{"pod: Lower the request for cpu of the container con0 from 4 to 3. web is deleted and created again. → n1"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.configuration == "" {
				test.configuration = plainConfiguration
			}
			engine := livetest.Engine(t, livetest.Configuration(t, test.configuration), append(test.state, test.pod))
			got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web, Node: test.target})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, summary(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The answer does not depend on the order of the objects, and asking changes nothing.
func TestAnswersAreRepeatable(t *testing.T) {
	configuration := livetest.Configuration(t, plainConfiguration)
	state := crowded(60)
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"resources", "constraints", "hopeless"} {
		engine := livetest.Engine(t, configuration, state)
		first, err := fit.Ask(t.Context(), engine, fit.Question{Pod: question(name)})
		if err != nil {
			t.Fatal(err)
		}
		again, err := fit.Ask(t.Context(), engine, fit.Question{Pod: question(name)})
		if err != nil {
			t.Fatal(err)
		}
		shuffled := slices.Clone(state)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		elsewhere, err := fit.Ask(t.Context(), livetest.Engine(t, configuration, shuffled), fit.Question{Pod: question(name)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(summary(first), summary(again)); diff != "" {
			t.Errorf("%s, again:\n%s", name, diff)
		}
		if diff := cmp.Diff(summary(first), summary(elsewhere)); diff != "" {
			t.Errorf("%s, shuffled:\n%s", name, diff)
		}
	}
}

// A pod that does not exist is created with its change.
func TestHypotheticalPods(t *testing.T) {
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{node("n1").Obj()})
	answer, err := fit.Ask(t.Context(), engine, fit.Question{Pod: pending("5").Obj()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"pod: Lower the request for cpu of the container con0 from 5 to 4. → n1"}, summary(answer)); diff != "" {
		t.Fatal(diff)
	}
	changes := answer.Suggestions[0].Changes
	if len(changes) != 1 || changes[0].Apply == nil {
		t.Fatalf("%+v", changes)
	}
	pod := changes[0].Apply.(*v1.Pod)
	if got := pod.Spec.Containers[0].Resources.Requests.Cpu().String(); pod.Name != "web" || got != "4" || pod.UID != "" || pod.ResourceVersion != "" {
		t.Errorf("%s asks for %s: %+v", pod.Name, got, pod.ObjectMeta)
	}
}

// Hypothetical changes come before the suggestions.
func TestAnswersAfterChanges(t *testing.T) {
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{node("n1").Obj(), pending("5").Obj()})
	q := fit.Question{PodRef: &web, Changes: []whatif.Change{{Apply: node("n2").Capacity(map[v1.ResourceName]string{"cpu": "6"}).Obj()}}}
	answer, err := fit.Ask(t.Context(), engine, q)
	if err != nil || !answer.Fits {
		t.Errorf("fits: %v, %v", answer, err)
	}
}

func TestLimits(t *testing.T) {
	dedicated := v1.Taint{Key: "dedicated", Effect: v1.TaintEffectNoSchedule}
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{node("n1").Taints([]v1.Taint{dedicated}).Obj(), pending("1").Obj()})
	answer, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pod: Tolerate the taint dedicated:NoSchedule. → n1", "Not tried: 1 further change of the pod or of a node."}
	if diff := cmp.Diff(want, summary(answer)); diff != "" || answer.Complete {
		t.Error(answer.Complete, diff)
	}
}

func TestErrors(t *testing.T) {
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{node("n1").Obj(), pending("1").Obj()})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	missing := types.NamespacedName{Namespace: "default", Name: "missing"}
	for _, test := range []struct {
		name string
		ctx  context.Context
		q    fit.Question
		want string
	}{
		{name: "a pod that does not exist", ctx: t.Context(), q: fit.Question{PodRef: &missing}, want: `the state has no Pod "default/missing"`},
		{name: "a node that does not exist", ctx: t.Context(), q: fit.Question{PodRef: &web, Node: "n9"}, want: `the state has no Node "n9"`},
		{name: "no pod", ctx: t.Context(), want: "want exactly one of pod and podRef"},
		{name: "a profile that does not exist", ctx: t.Context(), q: fit.Question{PodRef: &web, Profile: "other"}, want: `the configuration has no profile "other"; it has ["default-scheduler"]`},
		{name: "a client that has left", ctx: cancelled, q: fit.Question{PodRef: &web}, want: context.Canceled.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := fit.Ask(test.ctx, engine, test.q)
			if err == nil || err.Error() != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	var notFound *whatif.NotFoundError
	if _, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web, Node: "n9"}); !errors.As(err, &notFound) {
		t.Errorf("%T", err)
	}
}
