package fit_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

// leaving makes a pod one that is terminating, and gone by the end of a year that no test sees.
func leaving(p *st.PodWrapper, by time.Time) *v1.Pod {
	p.DeletionTimestamp = &metav1.Time{Time: by}
	return p.Obj()
}

var (
	soon  = time.Date(2999, 5, 1, 14, 3, 0, 0, time.UTC)
	later = soon.Add(time.Hour)
)

// A pod that fits once pods that are terminating are gone needs no change, whatever they hold.
func TestWaitsForWhatLeaves(t *testing.T) {
	port := func(p *st.PodWrapper) *st.PodWrapper {
		p.HostPort(8080)
		p.Spec.Containers[len(p.Spec.Containers)-1].Ports[0].ContainerPort = 80
		return p
	}
	rwop := func(p *st.PodWrapper) *st.PodWrapper { return p.PVC("data") }
	claim := []runtime.Object{
		st.MakePersistentVolume().Name("data").AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}).StorageClassName("s").Obj(),
		&v1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data", UID: "data", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
			Spec:       v1.PersistentVolumeClaimSpec{VolumeName: "data", StorageClassName: ptr.To("s"), AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}},
			Status:     v1.PersistentVolumeClaimStatus{Phase: v1.ClaimBound},
		},
		st.MakeStorageClass().Name("s").Provisioner("kubernetes.io/no-provisioner").Obj(),
	}
	volume := func(name string) []runtime.Object {
		pv := st.MakePersistentVolume().Name(name).AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}).StorageClassName("s").Obj()
		pv.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: "disk.example.com", VolumeHandle: name}
		bound := claim[1].(*v1.PersistentVolumeClaim).DeepCopy()
		bound.Name, bound.UID, bound.Spec.VolumeName, bound.Spec.AccessModes = name, types.UID(name), name, pv.Spec.AccessModes
		return []runtime.Object{pv, bound}
	}
	attached := slices.Concat(volume("old"), volume("new"), []runtime.Object{
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "disk.example.com"}},
		&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
			{Name: "disk.example.com", NodeID: "n1", Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](1)}},
		}}},
		&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "old-on-n1"}, Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "disk.example.com", NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To("old")},
		}},
	})
	const waits = "wait: Nothing to change: it fits when default/old, which is terminating, is gone, at the latest at 14:03:00 UTC. → n1"
	for _, test := range []struct {
		name  string
		pod   *v1.Pod
		state []runtime.Object
		want  string
		until *time.Time
	}{
		{name: "resources", pod: pending("3").Obj(), state: []runtime.Object{leaving(on("n1", "old", "3", 10), soon)}, want: waits, until: &soon},
		{name: "the one that is gone first", pod: pending("2").Obj(), state: []runtime.Object{leaving(on("n1", "old", "2", 10), soon), leaving(on("n1", "older", "2", 10), later)}, want: waits, until: &soon},
		{
			name: "both", pod: pending("4").Obj(), state: []runtime.Object{leaving(on("n1", "old", "2", 10), soon), leaving(on("n1", "older", "2", 10), later)},
			want: "wait: Nothing to change: it fits when default/old, default/older, which are terminating, are gone, at the latest at 15:03:00 UTC. → n1", until: &later,
		},
		{
			name: "nobody can tell when", pod: pending("3").Obj(), state: []runtime.Object{leaving(on("n1", "old", "3", 10), time.Unix(0, 0))},
			want: "wait: Nothing to change: it fits when default/old, which is terminating, is gone. → n1",
		},
		{name: "a host port", pod: port(pending("1")).Obj(), state: []runtime.Object{leaving(port(on("n1", "old", "1", 10)), soon)}, want: waits, until: &soon},
		{
			name: "anti-affinity", pod: pending("1").PodAntiAffinityIn("app", v1.LabelHostname, []string{"old"}, st.PodAntiAffinityWithRequiredReq).Obj(),
			state: []runtime.Object{leaving(on("n1", "old", "1", 10), soon)}, want: waits, until: &soon,
		},
		{
			name: "the anti-affinity of the other", pod: pending("1").Obj(),
			state: []runtime.Object{leaving(on("n1", "old", "1", 10).PodAntiAffinityIn("app", v1.LabelHostname, []string{"web"}, st.PodAntiAffinityWithRequiredReq), soon)}, want: waits, until: &soon,
		},
		{name: "a claim of one pod", pod: rwop(pending("1")).Obj(), state: append([]runtime.Object{leaving(rwop(on("n1", "old", "1", 10)), soon)}, claim...), want: waits, until: &soon},
		{
			name: "a volume that no pod uses and that is attached still", pod: pending("1").PVC("new").Obj(), state: attached,
			want: "wait: Nothing to change: it fits when the volume old is detached from n1. → n1",
		},
		{
			name: "a volume that is attached still when its pod is gone", pod: pending("1").PVC("new").Obj(), state: append([]runtime.Object{leaving(on("n1", "old", "1", 10).PVC("old"), soon)}, attached...),
			want: "wait: Nothing to change: it fits when default/old, which is terminating, is gone, and the volume old is detached from n1. → n1",
		},
		{
			name: "the scheduler itself", pod: pending("3").Obj(), state: []runtime.Object{on("n1", "low", "3", 0).Obj()},
			want: "wait: Nothing to change: when the scheduler tries the pod, it makes room and evicts other pods. → ",
		},
		{
			name: "a nominated pod that shares the room", pod: pending("1").Obj(), want: waits, until: &soon,
			state: []runtime.Object{
				leaving(on("n1", "old", "3", 0), soon),
				st.MakePod().Namespace("default").Name("high").UID("high").SchedulerName(v1.DefaultSchedulerName).Priority(1000).Req(map[v1.ResourceName]string{"cpu": "3"}).NominatedNodeName("n1").Obj(),
			},
		},
		{
			name: "a nominated pod that goes elsewhere", pod: pending("3").NodeSelector(map[string]string{v1.LabelHostname: "n1"}).Obj(),
			want: "wait: Nothing to change: it fits when default/high, which is nominated to n1, is placed. → n1",
			state: []runtime.Object{
				node("n2").Capacity(map[v1.ResourceName]string{"cpu": "32", "memory": "32Gi"}).Obj(),
				st.MakePod().Namespace("default").Name("high").UID("high").SchedulerName(v1.DefaultSchedulerName).Priority(1000).Req(map[v1.ResourceName]string{"cpu": "8"}).NominatedNodeName("n1").Obj(),
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), append(test.state, test.pod, node("n1").Obj()))
			got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Suggestions) == 0 || summary(got)[0] != test.want {
				t.Fatalf("%q, want %s", summary(got), test.want)
			}
			first := got.Suggestions[0]
			if len(first.Changes)+len(first.Hypothesis) > 0 || len(first.For) == 0 || (first.Until == nil) != (test.until == nil) || test.until != nil && !first.Until.Time.Equal(*test.until) {
				t.Errorf("%+v", first)
			}
			for _, s := range got.Suggestions[1:] {
				if first.Until != nil && (s.Kind == fit.KindAddNode || s.Kind == fit.KindEvict) {
					t.Errorf("who only waits is told: %s", s.Text)
				}
			}
		})
	}
}

// workloads reads owners from the state.
type workloads []runtime.Object

func (w workloads) Get(_ context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	for _, o := range w {
		m := o.(metav1.Object)
		if o.GetObjectKind().GroupVersionKind() == gvk && m.GetNamespace() == namespace && m.GetName() == name {
			return o, nil
		}
	}
	return nil, fmt.Errorf("no %s %s", gvk.Kind, name)
}

// deployed returns a Deployment with its pods: one on each of the nodes, and the others pending.
func deployed(replicas int, spec v1.PodSpec, nodes ...string) (workloads, []runtime.Object) {
	labels := map[string]string{"app": "web"}
	template := v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec}
	d := &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "d"},
		Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(replicas)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
	}
	rs := &appsv1.ReplicaSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "r", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}},
	}
	var pods []runtime.Object
	for i := range replicas {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: fmt.Sprint("web-", i), UID: types.UID(fmt.Sprint("web-", i)), GenerateName: "web-", Labels: map[string]string{"app": "web", appsv1.DefaultDeploymentUniqueLabelKey: "1"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		}, Spec: *spec.DeepCopy(), Status: v1.PodStatus{Phase: v1.PodPending}}
		if i < len(nodes) {
			p.Spec.NodeName, p.Status.Phase = nodes[i], v1.PodRunning
		}
		pods = append(pods, p)
	}
	return workloads{d, rs}, pods
}

// An answer names the controllers that may undo what it suggests.
func TestAnswersNameControllers(t *testing.T) {
	known, pods := deployed(2, pending("3").Obj().Spec, "n1")
	rollout := &metav1.ObjectMeta{Name: "web", UID: "rollout"}
	known[1].(*appsv1.ReplicaSet).OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(rollout, schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"})}
	state := append(pods, node("n1").Obj())
	got, err := fit.Ask(t.Context(), livetest.Engine(t, livetest.Configuration(t, plainConfiguration), state), fit.Question{PodRef: &types.NamespacedName{Namespace: "default", Name: "web-1"}, Workloads: known})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Rollout.argoproj.io"}, got.ControllersNotAsked); diff != "" {
		t.Error(diff, summary(got))
	}
}

// A StatefulSet that is scaled down loses its last pods, whether they run or not.
func TestStatefulSetsLoseTheirLastPods(t *testing.T) {
	for _, test := range []struct {
		name    string
		running []int
		want    string
	}{
		{"the last one waits", []int{0, 1}, "Scale StatefulSet web from 3 to 2 replicas."},
		{"one in between waits", []int{0, 2}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "s"}, Spec: appsv1.StatefulSetSpec{
				Replicas: ptr.To[int32](3), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: pending("2").Obj().Spec},
			}}
			state := []runtime.Object{set, node("n1").Obj()}
			var asked types.NamespacedName
			for i := range 3 {
				p := pending("2").Name(fmt.Sprint("web-", i)).UID(fmt.Sprint("web-", i)).Obj()
				p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
				if slices.Contains(test.running, i) {
					p.Spec.NodeName = "n1"
				} else {
					asked = types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
				}
				state = append(state, p)
			}
			got, err := fit.Ask(t.Context(), livetest.Engine(t, livetest.Configuration(t, plainConfiguration), state), fit.Question{PodRef: &asked})
			if err != nil {
				t.Fatal(err)
			}
			scales := ""
			for _, s := range got.Suggestions {
				if explain.KindOf(s.Steps[0].Operands) == explain.KindOf(explain.ScaleDown{}) {
					scales = s.Text
				}
			}
			if scales != test.want {
				t.Errorf("%q, want %q", scales, test.want)
			}
		})
	}
}

// A change of a workload is enough for all of its pods, and for the rollout.
func TestChangesOfWorkloads(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	spec := func(cpu string) v1.PodSpec {
		p := st.MakePod().SchedulerName(v1.DefaultSchedulerName).Container("pause").Obj()
		if cpu != "" {
			p = st.MakePod().SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": cpu}).Obj()
		}
		return p.Spec
	}
	spread := spec("")
	spread.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: selector}}
	zonal := spec("")
	zonal.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
		MaxSkew: 1, MinDomains: ptr.To[int32](3), NodeTaintsPolicy: ptr.To(v1.NodeInclusionPolicyHonor), TopologyKey: "zone", WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: selector,
	}}
	apart := spec("")
	apart.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
		{TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}, MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: appsv1.DefaultDeploymentUniqueLabelKey, Operator: metav1.LabelSelectorOpIn, Values: []string{"1"}},
		}}, MatchLabelKeys: []string{appsv1.DefaultDeploymentUniqueLabelKey}},
	}}}
	tainted := []v1.Taint{{Key: "special", Effect: v1.TaintEffectNoSchedule}}
	rollsOut := func(pod string) string { return " Deployment web replaces " + pod + " by a new pod. → " }
	for _, test := range []struct {
		name     string
		spec     v1.PodSpec
		replicas int
		on       []string
		nodes    []runtime.Object
		want     []string
	}{
		{
			name: "a tainted domain", spec: spread, replicas: 6, on: []string{"n1", "n2"}, nodes: []runtime.Object{node("n1").Obj(), node("n2").Obj(), node("n3").Taints(tainted).Obj()},
			want: []string{
				"pod: Tolerate the taint special:NoSchedule." + rollsOut("web-2") + "n3",
				"pod: Set nodeTaintsPolicy to Honor in the spread over kubernetes.io/hostname." + rollsOut("web-2") + "n1, n2",
				"pod: Raise maxSkew over kubernetes.io/hostname from 1 to 3." + rollsOut("web-2") + "n1, n2",
				"pod: Only prefer the spread over kubernetes.io/hostname (ScheduleAnyway)." + rollsOut("web-2") + "n1, n2",
				"node: Remove the taint special:NoSchedule from n3. → n3",
				"addNode: Add 4 nodes like n1 (or n2): n4, n5, n6, n7. → n4, n5, n6, n7",
				"pod: Scale Deployment web from 6 to 2 replicas. → ",
			},
		},
		{
			name: "fewer domains than minDomains", spec: zonal, replicas: 4, on: []string{"n1", "n2"},
			nodes: []runtime.Object{node("n1").Label("zone", "a").Obj(), node("n2").Label("zone", "b").Obj(), node("n3").Label("zone", "c").Taints(tainted).Obj()},
			want: []string{
				"pod: Tolerate the taint special:NoSchedule." + rollsOut("web-2") + "n3",
				"pod: Lower minDomains over zone from 3 to 2." + rollsOut("web-2") + "n1, n2",
				"pod: Raise maxSkew over zone from 1 to 2." + rollsOut("web-2") + "n1, n2",
				"pod: Only prefer the spread over zone (ScheduleAnyway)." + rollsOut("web-2") + "n1, n2",
				"node: Remove the taint special:NoSchedule from n3. → n3",
				"pod: Scale Deployment web from 4 to 2 replicas. → ",
			},
		},
		{
			name: "no sibling is evicted", spec: apart, replicas: 3, on: []string{"n1", "n2"}, nodes: []runtime.Object{node("n1").Obj(), node("n2").Obj()},
			want: []string{
				"pod: Only prefer the pod anti-affinity to app=web,pod-template-hash in (1) over kubernetes.io/hostname." + rollsOut("web-2") + "n1, n2",
				"pod: Drop the pod anti-affinity to app=web,pod-template-hash in (1) over kubernetes.io/hostname." + rollsOut("web-2") + "n1, n2",
				"addNode: Add a node like n1 (or n2): n3. → n3",
				"pod: Scale Deployment web from 3 to 2 replicas. → ",
			},
		},
		{
			name: "requests that are small enough for all", spec: spec("3"), replicas: 3, on: []string{"n1"}, nodes: []runtime.Object{node("n1").Obj()},
			want: []string{
				"addNode: Add 2 nodes like n1: n2, n3. → n2, n3",
				"pod: Lower the request for cpu of the container con0 from 3 to 0.333." + rollsOut("web-1") + "n1",
				"pod: Scale Deployment web from 3 to 1 replica. → ",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			known, pods := deployed(test.replicas, test.spec, test.on...)
			engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), append(slices.Clone(test.nodes), pods...))
			pod := types.NamespacedName{Namespace: "default", Name: fmt.Sprint("web-", len(test.on))}
			got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &pod, Workloads: known})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, summary(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Of the pods that would do, the smallest goes, and what becomes of the pod that replaces it is said.
func TestEvictionsDisturbTheLeast(t *testing.T) {
	owned := func(p *st.PodWrapper) *v1.Pod {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "owner", UID: "owner", Controller: ptr.To(true)}}
		return p.Obj()
	}
	full := func(small *v1.Pod) []runtime.Object {
		return []runtime.Object{node("n1").Obj(), on("n1", "big", "3", 10).Obj(), small}
	}
	for _, test := range []struct {
		name  string
		state []runtime.Object
		want  string
	}{
		{"the smaller one", full(on("n1", "small", "1", 10).Obj()), "evict: Evict default/small to make room on n1. → n1"},
		{"whose replacement waits", full(owned(on("n1", "small", "1", 10))), "evict: Evict default/small to make room on n1. Its replacement then waits. → n1"},
		{
			"whose replacement goes elsewhere", append(full(owned(on("n1", "small", "1", 10).Toleration("special"))), node("n2").Taints([]v1.Taint{{Key: "special", Effect: v1.TaintEffectNoSchedule}}).Obj()),
			"evict: Evict default/small to make room on n1. Its replacement goes to n2. → n1",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), append(test.state, pending("1").Obj()))
			got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web, Node: "n1"})
			if err != nil {
				t.Fatal(err)
			}
			if all := summary(got); !slices.Contains(all, test.want) {
				t.Errorf("%q", all)
			}
		})
	}
}

// Of two terms only the one that is in the way goes, although they differ in their namespaces only.
func TestOneOfTwoTerms(t *testing.T) {
	term := func(namespace string) v1.PodAffinityTerm {
		return v1.PodAffinityTerm{TopologyKey: v1.LabelHostname, Namespaces: []string{namespace}, LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "workload", Operator: metav1.LabelSelectorOpExists}}}}
	}
	pod := pending("1").Obj()
	pod.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term("team-y"), term("team-z")}}}
	clash := on("n1", "clash", "1", 10).Namespace("team-y").Label("workload", "two").Obj()
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{node("n1").Obj(), clash, pod})
	got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web, Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pod: Only prefer the pod anti-affinity to workload in the namespace team-y over kubernetes.io/hostname. web is deleted and created again. → n1",
		"pod: Drop the pod anti-affinity to workload in the namespace team-y over kubernetes.io/hostname. web is deleted and created again. → n1",
	}
	if diff := cmp.Diff(want, summary(got)); diff != "" {
		t.Fatal(diff)
	}
	for _, s := range got.Suggestions {
		left := s.Changes[len(s.Changes)-1].Apply.(*v1.Pod).Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		if diff := cmp.Diff([]v1.PodAffinityTerm{term("team-z")}, left); diff != "" {
			t.Error(diff)
		}
	}
}

// The container that asks for too much is named, which need not be the largest.
func TestTheContainerIsNamed(t *testing.T) {
	asks := func(cpu string) v1.ResourceRequirements {
		return v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}}
	}
	pod := pending("100m").Obj()
	pod.Spec.InitContainers = []v1.Container{
		{Name: "proxy", Image: "p", RestartPolicy: ptr.To(v1.ContainerRestartPolicyAlways), Resources: asks("100m")}, {Name: "migrate", Image: "m", Resources: asks("200m")},
	}
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{node("n1").Capacity(map[v1.ResourceName]string{"cpu": "250m", "memory": "4Gi"}).Obj(), pod})
	got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"pod: Lower the request for cpu of the init container migrate from 0.2 to 0.15. web is deleted and created again. → n1"}, summary(got)); diff != "" {
		t.Error(diff)
	}
}

// A resize that the node has not granted can be taken back.
func TestDeferredResize(t *testing.T) {
	db := on("n1", "db", "3500m", 10).Obj()
	db.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: v1.PodReasonDeferred}}
	had := v1.ResourceList{v1.ResourceCPU: resource.MustParse("2")}
	db.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "con0", AllocatedResources: had, Resources: &v1.ResourceRequirements{Requests: had}}}
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{node("n1").Obj(), db, on("n1", "other", "1", 20).Obj(), pending("500m").Obj()})
	got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web})
	if err != nil {
		t.Fatal(err)
	}
	const want = "pod: Take back the resize of default/db, which n1 has not granted: lower the request for cpu of the container con0 from 3.5 to 2. → n1"
	if all := summary(got); len(all) == 0 || all[0] != want {
		t.Fatalf("%q", all)
	}
	if patch := got.Suggestions[0].Changes[0].Patch; patch == nil || patch.Subresource != "resize" {
		t.Errorf("%+v", got.Suggestions[0].Changes)
	}
}

// A DaemonSet's pod gets a priority class first: the lowest one that makes room.
func TestPriorityClasses(t *testing.T) {
	class := func(name string, value int32) *schedulingv1.PriorityClass {
		return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
	}
	agent := pending("1").NodeAffinityIn("metadata.name", []string{"n1"}, st.NodeSelectorTypeMatchFields).Obj()
	agent.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "web", UID: "ds", Controller: ptr.To(true)}}
	ds := &appsv1.DaemonSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "ds"},
		Spec: appsv1.DaemonSetSpec{Template: v1.PodTemplateSpec{Spec: v1.PodSpec{Containers: agent.Spec.Containers}}},
	}
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{
		node("n1").Obj(), on("n1", "filler", "4", 10).Obj(), agent, class("low", 5), class("higher", 2000), class("high", 1000), class("system-node-critical", 2000001000),
	})
	got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web, Workloads: workloads{ds}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "evict: Give it the priority class high (1,000), for which the scheduler evicts default/filler on n1. DaemonSet web replaces web by a new pod. → n1"
	if all := summary(got); len(all) == 0 || all[0] != want {
		t.Fatalf("%q", all)
	}
}

// A pod that fits and has failed before waits for its next attempt.
func TestWaitsForTheNextAttempt(t *testing.T) {
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{node("n1").Obj(), pending("1").Obj()})
	for queue, want := range map[result.QueueName]string{
		"backoff":       "wait: Nothing to change: it fits, and the scheduler tries it again when its backoff ends, at the latest at 14:03:00 UTC. → n1",
		"unschedulable": "wait: Nothing to change: it fits, and the scheduler tries it again, at the latest at 14:03:00 UTC. → n1",
	} {
		got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web, Waiting: func(result.Pod) *result.QueueWait { return &result.QueueWait{Queue: queue, Until: &soon} }})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"fits", want}, summary(got)); diff != "" {
			t.Error(diff)
		}
	}
}

// A gang that is too small waits for its members.
func TestWaitsForMembers(t *testing.T) {
	livetest.SetGates(t, map[string]bool{"GenericWorkload": true})
	pod := pending("1").Priority(0).Obj()
	pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: ptr.To("train")}
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train", UID: "train"}}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: 3}
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{node("n1").Obj(), pod, group})
	got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web})
	if err != nil {
		t.Fatal(err)
	}
	if all := summary(got); len(all) == 0 || all[0] != "wait: Nothing to change: it fits when the pod group default/train has 2 more pods. → n1" {
		t.Errorf("%q", all)
	}
}

// A claim that is not bound yet can have a class whose volumes are where the pod may run.
func TestAnotherStorageClass(t *testing.T) {
	class := func(name, zone string) *storagev1.StorageClass {
		c := st.MakeStorageClass().Name(name).Provisioner("csi.example.com").VolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).Obj()
		c.AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: v1.LabelTopologyZone, Values: []string{zone}}}}}
		return c
	}
	claim := st.MakePersistentVolumeClaim().Namespace("default").Name("data").StorageClassName(ptr.To("a")).Resources(v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}}).Obj()
	claim.UID = "data"
	engine := livetest.Engine(t, livetest.Configuration(t, plainConfiguration), []runtime.Object{
		node("n1").Label(v1.LabelTopologyZone, "b").Obj(), class("a", "a"), class("b", "b"), claim, pending("1").PVC("data").Obj(),
	})
	got, err := fit.Ask(t.Context(), engine, fit.Question{PodRef: &web})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"pod: Create the claim data, which is not bound yet, again with the storage class b instead of a. → n1"}, summary(got)); diff != "" {
		t.Error(diff)
	}
}
