package fit

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// objects are workloads by kind and name.
type objects map[string]runtime.Object

func (o objects) Get(_ context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	if found := o[gvk.Kind+" "+namespace+"/"+name]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("no %s %s", gvk.Kind, name)
}

func ownedBy(apiVersion, kind, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "1", Controller: ptr.To(true)}}
}

// A change of a pod that its API forbids goes where the pod comes from.
func TestChangesOfPods(t *testing.T) {
	template := v1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web", "controller-uid": "1", "job-name": "web"}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "con0", Image: "web:1", Resources: asks("cpu", "4", "memory", "1Gi").Resources}, {Name: "log", Image: "log:1"}}},
	}
	meta := metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "9", ResourceVersion: "7", Labels: map[string]string{"team": "a"}}
	of := func(owner []metav1.OwnerReference) *v1.Pod {
		p := st.MakePod().Namespace("default").Name("web-1").UID("1").Label("app", "web").Annotation("note", "kept").
			Annotation("kube-scheduler-simulator.sigs.k8s.io/selected-node", "n1").Obj()
		p.OwnerReferences, p.Spec, p.Status.Phase = owner, *template.Spec.DeepCopy(), v1.PodPending
		p.ResourceVersion = "3"
		return p
	}
	known := objects{
		"ReplicaSet default/web-7f":         &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-7f", OwnerReferences: ownedBy("apps/v1", "Deployment", "web")}, Spec: appsv1.ReplicaSetSpec{Template: template}},
		"Deployment default/web":            &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Template: template}},
		"ReplicaSet default/lost":           &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "lost", OwnerReferences: ownedBy("apps/v1", "Deployment", "gone")}, Spec: appsv1.ReplicaSetSpec{Template: template}},
		"ReplicaSet default/web":            &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Template: template}},
		"StatefulSet default/web":           &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Template: template}},
		"DaemonSet default/web":             &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Template: template}},
		"DaemonSet default/manual":          &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Template: template, UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}}},
		"Job default/web":                   &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: template, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"controller-uid": "1"}}}, Status: batchv1.JobStatus{Active: 1}},
		"ReplicationController default/web": &v1.ReplicationController{ObjectMeta: meta, Spec: v1.ReplicationControllerSpec{Template: &template}},
	}
	cut := cureResources(of(nil), nil, whatif.Obstacle{Comparison: &result.Comparison{Resources: []result.ResourceComparison{{Name: "cpu", Requested: 4000, Allocatable: 3000}}}})[0][0]
	toleration := cureTaints(st.MakePod().Obj(), st.MakeNode().Name("n1").Taints([]v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoSchedule}}).Obj(), whatif.Obstacle{})[0][0]
	const patch = `{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"con0"},{"name":"log"}],"containers":[{"name":"con0","resources":{"requests":{"cpu":"3"}}}]}}}}`

	for _, test := range []struct {
		name     string
		owner    []metav1.OwnerReference
		remedies []remedy
		want     []string
		says     string
	}{
		{name: "no workload", remedies: []remedy{cut}, want: []string{"delete Pod web-1", "apply Pod web-1 cpu 3"}, says: "web-1 is deleted and created again."},
		{name: "a toleration", remedies: []remedy{toleration}, want: []string{`patch Pod web-1 {"spec":{"tolerations":[{"effect":"NoSchedule","key":"gpu","operator":"Exists"}]}}`}},
		{
			name: "a toleration of a workload's pod", owner: ownedBy("apps/v1", "ReplicaSet", "web-7f"), remedies: []remedy{toleration},
			want: []string{`patch Deployment web {"spec":{"template":{"spec":{"tolerations":[{"effect":"NoSchedule","key":"gpu","operator":"Exists"}]}}}}`}, says: "Deployment web replaces web-1 by a new pod.",
		},
		{
			name: "a toleration of a Job's pod", owner: ownedBy("batch/v1", "Job", "web"), remedies: []remedy{toleration},
			want: []string{`patch Pod web-1 {"spec":{"tolerations":[{"effect":"NoSchedule","key":"gpu","operator":"Exists"}]}}`},
		},
		{name: "a Deployment", owner: ownedBy("apps/v1", "ReplicaSet", "web-7f"), remedies: []remedy{cut}, want: []string{"patch Deployment web " + patch}, says: "Deployment web replaces web-1 by a new pod."},
		{
			name: "a Deployment that is not to be had", owner: ownedBy("apps/v1", "ReplicaSet", "lost"), remedies: []remedy{cut},
			want: []string{"delete Pod web-1", "apply Pod web-1 cpu 3"}, says: "web-1 is deleted and created again.",
		},
		{name: "an owner without a template", owner: ownedBy("batch.example/v1", "Flow", "web"), remedies: []remedy{cut}, want: []string{"delete Pod web-1", "apply Pod web-1 cpu 3"}, says: "web-1 is deleted and created again."},
		{name: "a ReplicaSet", owner: ownedBy("apps/v1", "ReplicaSet", "web"), remedies: []remedy{cut}, want: []string{"patch ReplicaSet web " + patch, "delete Pod web-1"}, says: "ReplicaSet web replaces web-1 by a new pod."},
		{name: "a StatefulSet", owner: ownedBy("apps/v1", "StatefulSet", "web"), remedies: []remedy{cut}, want: []string{"patch StatefulSet web " + patch, "delete Pod web-1"}, says: "StatefulSet web replaces web-1 by a new pod."},
		{name: "a DaemonSet", owner: ownedBy("apps/v1", "DaemonSet", "web"), remedies: []remedy{cut}, want: []string{"patch DaemonSet web " + patch}, says: "DaemonSet web replaces web-1 by a new pod."},
		{name: "a DaemonSet that updates on delete", owner: ownedBy("apps/v1", "DaemonSet", "manual"), remedies: []remedy{cut}, want: []string{"patch DaemonSet manual " + patch, "delete Pod web-1"}, says: "DaemonSet manual replaces web-1 by a new pod."},
		{name: "a ReplicationController", owner: ownedBy("v1", "ReplicationController", "web"), remedies: []remedy{cut}, want: []string{"patch ReplicationController web " + patch, "delete Pod web-1"}, says: "ReplicationController web replaces web-1 by a new pod."},
		{
			name: "a Job", owner: ownedBy("batch/v1", "Job", "web"), remedies: []remedy{cut}, want: []string{"delete Job web", "delete Pod web-1", "apply Job web cpu 3"},
			says: "Job web is deleted and created again, and makes a new pod for web-1.",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := of(test.owner)
			before := pod.DeepCopy()
			w := writer{pod: pod, exists: true}
			w.workload, _ = workloadOf(t.Context(), pod, nil, known)
			got, err := w.write(test.remedies, st.MakeNode().Name("n1").Obj())
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, c := range got.real {
				texts = append(texts, changeText(t, c))
			}
			if diff := cmp.Diff(test.want, texts); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.says, (explain.Statement{Operands: got.manner}).String()); diff != "" {
				t.Error(diff)
			}
			for _, c := range got.hypothetical {
				if text := changeText(t, c); text != changeText(t, got.hypothetical[0]) && text != "apply Pod web-1 cpu 3" && text != "apply Pod web-1 cpu 4" {
					t.Errorf("the engine is asked to %s", text)
				}
			}
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Error("the pod itself changed", diff)
			}
		})
	}
}

func changeText(t *testing.T, c whatif.Change) string {
	switch {
	case c.Delete != nil:
		return fmt.Sprintf("delete %s %s", c.Delete.GVK.Kind, c.Delete.Name)
	case c.Patch != nil:
		return fmt.Sprintf("patch %s %s %s", c.Patch.GVK.Kind, c.Patch.Name, c.Patch.Patch)
	}
	var spec v1.PodSpec
	switch o := c.Apply.(type) {
	case *v1.Pod:
		spec = o.Spec
		if o.UID != "" || o.ResourceVersion != "" || o.Status.Phase != "" || !cmp.Equal(o.Annotations, map[string]string{"note": "kept"}) {
			t.Errorf("the pod keeps what the API server gave it: %+v", o.ObjectMeta)
		}
	case *batchv1.Job:
		spec = o.Spec.Template.Spec
		if o.UID != "" || o.Status.Active != 0 || o.Spec.Selector != nil || !cmp.Equal(o.Spec.Template.Labels, map[string]string{"app": "web"}) {
			t.Errorf("the job keeps what the API server gave it: %+v %+v", o.ObjectMeta, o.Spec)
		}
	}
	gvk := c.Apply.GetObjectKind().GroupVersionKind()
	return fmt.Sprintf("apply %s %s cpu %s", gvk.Kind, c.Apply.(metav1.Object).GetName(), spec.Containers[0].Resources.Requests.Cpu())
}

// The API server merges matchLabelKeys into the selectors of a new pod, and refuses a pod that comes with them.
func TestMergedSelectors(t *testing.T) {
	merged := func() *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}, MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "rev", Operator: metav1.LabelSelectorOpIn, Values: []string{"7"}}, {Key: "rev", Operator: metav1.LabelSelectorOpExists},
		}}
	}
	pod := st.MakePod().Namespace("default").Name("web").Label("rev", "7").Obj()
	pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{TopologyKey: "zone", LabelSelector: merged(), MatchLabelKeys: []string{"rev"}}}
	pod.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
		{TopologyKey: "zone", LabelSelector: merged(), MatchLabelKeys: []string{"rev"}},
	}}}
	w := writer{pod: pod, exists: true}
	got, err := w.write([]remedy{{pod: func(s *v1.PodSpec) { s.NodeSelector = nil }}}, st.MakeNode().Obj())
	if err != nil {
		t.Fatal(err)
	}
	apply, hypothesis := got.real[1].Apply.(*v1.Pod), got.hypothetical[1].Apply.(*v1.Pod)
	want := merged()
	want.MatchExpressions = want.MatchExpressions[1:]
	for _, selector := range []*metav1.LabelSelector{
		apply.Spec.TopologySpreadConstraints[0].LabelSelector, apply.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector,
	} {
		if diff := cmp.Diff(want, selector); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(merged(), hypothesis.Spec.TopologySpreadConstraints[0].LabelSelector); diff != "" {
		t.Error(diff)
	}
}
