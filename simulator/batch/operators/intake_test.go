package operators

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/ptr"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) (o map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestDefaults(t *testing.T) {
	set := object(t, "{spec: {network: {enableDNSHostnames: false}, replicatedJobs: [{name: a, template: {spec: {template: {spec: {restartPolicy: Never}}}}}], failurePolicy: {rules: [{action: FailJobSet}]}}}")
	defaultJobSet(set)
	if diff := cmp.Diff(object(t, `{spec: {network: {enableDNSHostnames: false, publishNotReadyAddresses: true}, successPolicy: {operator: All}, startupPolicy: {startupPolicyOrder: AnyOrder},
  failurePolicy: {rules: [{action: FailJobSet, name: failurePolicyRule0}]},
  replicatedJobs: [{name: a, template: {spec: {completionMode: Indexed, template: {spec: {restartPolicy: Never}}}}}]}}`), set); diff != "" {
		t.Error(diff)
	}
	wrong := object(t, "{spec: {network: 5, replicatedJobs: yes}}")
	defaultJobSet(wrong) // the schema refuses it, before or after
	leaders := object(t, "{spec: {leaderWorkerTemplate: {restartPolicy: None}}}")
	defaultLeaderWorkerSet(leaders)
	if policy := leaders["spec"].(map[string]any)["leaderWorkerTemplate"].(map[string]any)["restartPolicy"]; policy != "None" {
		t.Errorf("the policy %v replaces None", policy)
	}
}

// TestMembers: the pods of a LeaderWorkerSet know their group, their place in it, and where they go.
func TestMembers(t *testing.T) {
	member := func(name string, labels, annotations map[string]string) *core.Pod {
		labels[lws.SetNameLabelKey], annotations[lws.SizeAnnotationKey] = "serve", "5"
		return &core.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels, Annotations: annotations}}
	}
	leader := member("serve-3", map[string]string{lws.WorkerIndexLabelKey: "0"}, map[string]string{lws.ExclusiveKeyAnnotationKey: "rack", lws.SubGroupSizeAnnotationKey: "2"})
	worker := member("serve-3-4", map[string]string{lws.GroupIndexLabelKey: "3"}, map[string]string{lws.SubGroupSizeAnnotationKey: "2", lws.LeaderPodNameAnnotationKey: "serve-3"})
	for _, pod := range []*core.Pod{leader, worker} {
		if err := admitMember(pod); err != nil {
			t.Fatal(err)
		}
	}
	if leader.Labels[lws.GroupIndexLabelKey] != "3" || leader.Labels[lws.SubGroupIndexLabelKey] != "0" || worker.Labels[lws.WorkerIndexLabelKey] != "4" || worker.Labels[lws.SubGroupIndexLabelKey] != "1" {
		t.Errorf("leader %v, worker %v", leader.Labels, worker.Labels)
	}
	apart := leader.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if len(apart) != 1 || apart[0].TopologyKey != "rack" || leader.Labels[lws.GroupUniqueHashLabelKey] == "" {
		t.Errorf("the group has no rack of its own: %+v", apart)
	}
	if worker.Spec.Affinity != nil {
		t.Error("a worker follows by its selector, not by affinity")
	}
	if err := admitMember(&core.Pod{ObjectMeta: metav1.ObjectMeta{Name: "odd", Annotations: map[string]string{lws.SizeAnnotationKey: "5"}}}); err == nil {
		t.Error("a name without an ordinal is taken")
	}
}

// TestExclusive: the first pod of a job chooses the domain, and the others are refused until they can follow.
func TestExclusive(t *testing.T) {
	owner := []metav1.OwnerReference{{Kind: "Job", UID: "job", Controller: ptr.To(true)}}
	labels := func(index string) map[string]string {
		return map[string]string{jobset.JobKey: "key", batchv1.JobCompletionIndexAnnotation: index}
	}
	pod := func(index string) *core.Pod {
		return &core.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p-" + index, Labels: labels(index), OwnerReferences: owner, Annotations: map[string]string{jobset.ExclusiveKey: "rack", batchv1.JobCompletionIndexAnnotation: index}},
			Spec:       core.PodSpec{Priority: ptr.To[int32](7)},
		}
	}
	leader := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "leader", Labels: labels("0"), OwnerReferences: owner}}
	client := fake.NewClientset(leader, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"rack": "r1"}}})
	i := &intake{client: client}
	first := pod("0")
	if err := i.admitExclusive(t.Context(), first); err != nil || first.Spec.Affinity.PodAntiAffinity == nil {
		t.Errorf("the first: %v, %+v", err, first.Spec.Affinity)
	}
	if err := i.admitExclusive(t.Context(), pod("1")); err == nil {
		t.Error("a pod comes before the first has a node")
	}
	leader.Spec.NodeName = "n"
	if _, err := client.CoreV1().Pods("default").Update(t.Context(), leader, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	follower := pod("1")
	if err := i.admitExclusive(t.Context(), follower); err != nil || follower.Spec.NodeSelector["rack"] != "r1" {
		t.Errorf("the follower: %v, %v", err, follower.Spec.NodeSelector)
	}
}
