package capacityscheduling

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/result"
)

// The outcomes of a row.
const (
	passes    = ""
	overMax   = "more than Max"
	overTotal = "total ElasticQuota used is more than min"
)

// twoQuotas are q1 and q2, each with min cpu 4 and max cpu 6.
var twoQuotas = []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=4", "cpu=6"), quotaOf("q2", "cpu=4", "cpu=6")}

// budget allows no disruption of the pods of an app.
func budget(namespace, app string, disrupted ...string) *policy.PodDisruptionBudget {
	b := &policy.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	b.Status.DisruptedPods = map[string]metav1.Time{}
	for _, name := range disrupted {
		b.Status.DisruptedPods[name] = metav1.Time{}
	}
	return b
}

// allBudgets selects nothing, because its selector is empty.
func emptyBudget(namespace string) *policy.PodDisruptionBudget {
	return &policy.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "empty"},
		Spec:       policy.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}},
	}
}

// The dry run leaves out the nominated pod, with which the namespace stays above its max.
func TestVictimsThatAreNotEnoughAreAFact(t *testing.T) {
	for nominated, want := range map[string]int{"q1/n nominated=n2 cpu=3": 1, "q2/n nominated=n2 cpu=1 priority=-1": 0} {
		pod := podOf(t, "q1/x cpu=2")
		pods := []*v1.Pod{podOf(t, "q1/a on=n1 cpu=4 priority=-1"), podOf(t, nominated), pod}
		s := newStage(t, []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=1", "cpu=4"), quotaOf("q2", "cpu=8", "cpu=8")}, []string{"n1 cpu=8", "n2 cpu=8"}, pods)
		state := framework.NewCycleState()
		log := pluginfact.Attach(state, func() bool { return true })
		_, status, _ := s.framework.RunPreFilterPlugins(t.Context(), state, pod)
		statuses := framework.NewDefaultNodeToStatus()
		statuses.SetAbsentNodesStatus(status)
		s.framework.RunPostFilterPlugins(t.Context(), state, pod, statuses)
		facts, _ := log.Facts()
		got := 0
		for _, f := range facts {
			if f.Key == result.QuotaStays && f.Node == "n1" {
				got++
			}
		}
		if got != want || len(s.evicted) != 1 {
			t.Errorf("%s: %d facts and %d victims, want %d and 1", nominated, got, len(s.evicted), want)
		}
	}
}

// TestRules has a row for each rule and example of the plugin that this one is compatible
// with. Unless a row says otherwise, the cluster is the node n1 with 8 cpu.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		name   string
		quotas []*v1alpha1.ElasticQuota
		nodes  []string
		pods   []string
		budget []runtime.Object
		// asks is the pod of the cycle. It is one of pods if it is nominated.
		asks string
		// preFilter is a part of PreFilter's message.
		preFilter string
		// postFilter is a part of PostFilter's message. For a pod that preempts it is
		// the node.
		postFilter string
		victims    []string
	}{
		// PreFilter.
		{
			name: "a namespace without a quota is free", quotas: twoQuotas,
			pods: []string{"q1/a on=n1 cpu=6", "plain/p on=n1 cpu=1"}, asks: "plain/x cpu=1", preFilter: passes,
		},
		{
			name: "pods without a quota count nowhere", quotas: twoQuotas, nodes: []string{"n1 cpu=32"},
			pods: []string{"plain/p on=n1 cpu=20"}, asks: "q1/a cpu=6", preFilter: passes,
		},
		{
			name: "up to the max and the sum of the mins is allowed", quotas: twoQuotas,
			pods: []string{"q1/a on=n1 cpu=2", "q2/b on=n1 cpu=2"}, asks: "q1/x cpu=4", preFilter: passes,
		},
		{
			name: "1: above the max; pods of the same priority are no victims", quotas: twoQuotas,
			pods: []string{"q1/a1 on=n1 cpu=2", "q1/a2 on=n1 cpu=2", "q1/a3 on=n1 cpu=2"}, asks: "q1/a4 cpu=2",
			preFilter: overMax, postFilter: "No victims found on node n1 for preemptor pod a4",
		},
		{
			name: "the message names the namespace", quotas: []*v1alpha1.ElasticQuota{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "q1", Name: "other"}, Spec: v1alpha1.ElasticQuotaSpec{Max: amountsIn("cpu=1")},
			}},
			asks: "q1/a cpu=2", preFilter: "Pod q1/a is rejected in PreFilter because ElasticQuota q1 is more than Max", postFilter: "No victims found",
		},
		{
			name: "a max that omits memory limits it to 0", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=6 memory=6Gi", "cpu=6")},
			asks: "q1/a cpu=1 memory=1Gi", preFilter: overMax, postFilter: "No victims found",
		},
		{
			name: "4: a max of gpu alone limits cpu to 0", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=6", "example.com/gpu=4")},
			asks: "q1/a cpu=1", preFilter: overMax, postFilter: "No victims found",
		},
		{
			name: "an empty max limits all three to 0", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=6 memory=6Gi ephemeral-storage=6Gi", "")},
			asks: "q1/a ephemeral-storage=1", preFilter: overMax, postFilter: "No victims found",
		},
		{
			name: "5: without a max, the sum of the mins is the limit", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=6", "-")},
			asks: "q1/a cpu=1 memory=1Gi", preFilter: overTotal, postFilter: "No victims found",
		},
		{
			name: "5: for other resources too", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=6", "-")}, nodes: []string{"n1 cpu=8 example.com/gpu=4"},
			asks: "q1/a cpu=1 example.com/gpu=1", preFilter: overTotal, postFilter: "No victims found",
		},
		{
			name: "6: a resource that is absent from the max is unlimited", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=6 example.com/gpu=5", "cpu=6")},
			nodes: []string{"n1 cpu=8 example.com/gpu=8"}, asks: "q1/a cpu=1 example.com/gpu=1", preFilter: passes,
		},
		{
			name: "hugepages are such a resource", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=6 hugepages-2Mi=4Mi", "cpu=6 hugepages-2Mi=2Mi")},
			nodes: []string{"n1 cpu=8 hugepages-2Mi=8Mi"}, asks: "q1/a cpu=1 hugepages-2Mi=4Mi", preFilter: overMax, postFilter: "No victims found",
		},
		{
			name: "a limit of pods has no effect", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=6", "cpu=6 pods=0")},
			pods: []string{"q1/a on=n1 cpu=1"}, asks: "q1/b cpu=1", preFilter: passes,
		},
		{
			name: "a max that shrank blocks even a pod without requests", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8", "cpu=2")},
			pods: []string{"q1/a on=n1 cpu=4"}, asks: "q1/b", preFilter: overMax, postFilter: "No victims found",
		},
		{
			name:   "a max that shrank for a resource that the pod does not ask for does not",
			quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8 example.com/gpu=4", "cpu=8 example.com/gpu=1")}, nodes: []string{"n1 cpu=8 example.com/gpu=8"},
			pods: []string{"q1/a on=n1 cpu=1 example.com/gpu=2"}, asks: "q1/b cpu=1", preFilter: passes,
		},
		{
			name: "7: a resource in use that no quota has in its min blocks every quota", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=4", "-"), quotaOf("q2", "cpu=4", "-")},
			nodes: []string{"n1 cpu=8 example.com/gpu=2"}, pods: []string{"q2/g on=n1 cpu=1 example.com/gpu=1"}, asks: "q1/a cpu=1",
			preFilter: overTotal, postFilter: "n1", victims: []string{"q2/g"},
		},
		{
			name: "15: the request is the largest init container and the overhead", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8", "cpu=6")},
			asks: "q1/a cpu=1 second.cpu=1 init.cpu=5 overhead.cpu=2", preFilter: overMax, postFilter: "No victims found",
		},
		{
			name: "15: or the sum of the containers", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8", "cpu=6")},
			asks: "q1/a cpu=3 second.cpu=3 init.cpu=5", preFilter: passes,
		},
		{
			name: "a sidecar counts as an init container", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8", "cpu=6")},
			asks: "q1/a cpu=4 sidecar.cpu=3", preFilter: passes,
		},
		{
			name: "resources of the pod as a whole do not count", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8", "cpu=6")},
			asks: "q1/a cpu=1 level.cpu=7", preFilter: passes,
		},
		{
			name: "nominated pods of the same namespace and priority count", quotas: twoQuotas,
			pods: []string{"q1/n nominated=n1 cpu=4"}, asks: "q1/a cpu=4", preFilter: overMax, postFilter: "No victims found",
		},
		{
			name: "less important ones do not", quotas: twoQuotas,
			pods: []string{"q1/n nominated=n1 cpu=4 priority=-1"}, asks: "q1/a cpu=4", preFilter: passes,
		},
		{
			name: "nor does the pod itself", quotas: twoQuotas,
			pods: []string{"q1/a nominated=n1 cpu=4"}, asks: "q1/a nominated=n1 cpu=4", preFilter: passes,
		},
		{
			name: "nominated pods of a quota that is within its min count in the sum", quotas: twoQuotas, nodes: []string{"n1 cpu=32"},
			pods: []string{"q2/b on=n1 cpu=4", "q2/n nominated=n1 cpu=2 priority=-1"}, asks: "q1/a cpu=3", preFilter: overTotal, postFilter: "No victims found",
		},
		{
			name: "those of a quota above its min do not", quotas: twoQuotas, nodes: []string{"n1 cpu=32"},
			pods: []string{"q2/b on=n1 cpu=5", "q2/n nominated=n1 cpu=2"}, asks: "q1/a cpu=3", preFilter: passes,
		},
		{
			name: "those without a quota do not", quotas: twoQuotas, nodes: []string{"n1 cpu=32"},
			pods: []string{"plain/n nominated=n1 cpu=20"}, asks: "q1/a cpu=3", preFilter: passes,
		},
		{
			name: "terminating pods count", quotas: twoQuotas,
			pods: []string{"q1/a on=n1 cpu=4 deleted"}, asks: "q1/b cpu=4", preFilter: overMax, postFilter: "No victims found",
		},
		{
			name: "min over max: the max is the limit", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8", "cpu=2")},
			asks: "q1/a cpu=3", preFilter: overMax, postFilter: "No victims found",
		},
		{
			name: "a negative max lets nothing pass", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8", "cpu=-1")},
			asks: "q1/a", preFilter: overMax, postFilter: "No victims found",
		},
		{
			name: "huge mins do not overflow", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "memory=9223372036854775807", "-"), quotaOf("q2", "memory=9223372036854775807", "-")},
			asks: "q1/a memory=1Gi", preFilter: passes,
		},

		// Who may be evicted.
		{
			name: "2: a pod that its own min covers takes from a borrower", quotas: twoQuotas,
			pods: []string{"q1/a1 on=n1 cpu=2 start=1", "q1/a2 on=n1 cpu=2 start=2", "q1/a3 on=n1 cpu=2 start=3", "q2/b1 on=n1 cpu=2"}, asks: "q2/b2 cpu=2",
			preFilter: overTotal, postFilter: "n1", victims: []string{"q1/a3"},
		},
		{
			name: "3: priority does not protect a borrower", quotas: twoQuotas,
			pods: []string{"q1/a1 on=n1 cpu=2 priority=1000", "q1/a2 on=n1 cpu=2 priority=1000", "q1/a3 on=n1 cpu=2 priority=500", "q2/b1 on=n1 cpu=2"}, asks: "q2/b2 cpu=2",
			preFilter: overTotal, postFilter: "n1", victims: []string{"q1/a3"},
		},
		{
			name: "8: above its own min, a pod takes less important ones of its namespace", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=2", "cpu=4"), quotaOf("q2", "cpu=6", "cpu=8")},
			pods: []string{"q1/a1 on=n1 cpu=2 priority=10", "q1/a2 on=n1 cpu=2 priority=5"}, asks: "q1/a3 cpu=2 priority=100",
			preFilter: overMax, postFilter: "n1", victims: []string{"q1/a2"},
		},
		{
			name: "8: not those of the same priority", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=2", "cpu=4"), quotaOf("q2", "cpu=6", "cpu=8")},
			pods: []string{"q1/a1 on=n1 cpu=2 priority=100", "q1/a2 on=n1 cpu=2 priority=100"}, asks: "q1/a3 cpu=2 priority=100",
			preFilter: overMax, postFilter: "No victims found",
		},
		{
			name: "9: above its own min and alone, a pod waits", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=0", "cpu=2"), quotaOf("q2", "cpu=0", "cpu=2"), quotaOf("q3", "cpu=1", "cpu=2")},
			pods: []string{"q1/a on=n1 cpu=1"}, asks: "q2/b cpu=1 priority=1000000", preFilter: overTotal, postFilter: "No victims found",
		},
		{
			name: "10: one node cannot give enough", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=0", "cpu=2"), quotaOf("q2", "cpu=2", "cpu=2")}, nodes: []string{"n1 cpu=8", "n2 cpu=8"},
			pods: []string{"q1/a1 on=n1 cpu=1", "q1/a2 on=n2 cpu=1"}, asks: "q2/b cpu=2", preFilter: overTotal, postFilter: "2 global quota max exceeded",
		},
		{
			name: "11: a namespace gives only while it is above its min", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=4", "cpu=8"), quotaOf("q2", "cpu=4", "cpu=8")},
			pods: []string{"q1/a1 on=n1 cpu=3 priority=0", "q1/a2 on=n1 cpu=4 priority=10"}, asks: "q2/b cpu=4",
			preFilter: overTotal, postFilter: "n1", victims: []string{"q1/a1"},
		},
		{
			name: "11: the last pod may take it below", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=4", "cpu=8"), quotaOf("q2", "cpu=4", "cpu=8")},
			pods: []string{"q1/a on=n1 cpu=6"}, asks: "q2/b cpu=4", preFilter: overTotal, postFilter: "n1", victims: []string{"q1/a"},
		},
		{
			name:   "12: of those taken out, the most important are put back",
			quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=2", "cpu=8"), quotaOf("q2", "cpu=2", "cpu=8"), quotaOf("q3", "cpu=4", "cpu=8")},
			pods: []string{
				"q1/a1 on=n1 cpu=2 priority=50", "q1/a2 on=n1 cpu=2 priority=40", "q2/b1 on=n1 cpu=2 priority=30", "q2/b2 on=n1 cpu=2 priority=20",
			},
			asks: "q3/c cpu=2", preFilter: overTotal, postFilter: "n1", victims: []string{"q2/b2"},
		},
		{
			name: "13: a pod with a quota takes no plain pods", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8", "cpu=8")},
			pods: []string{"plain/p1 on=n1 cpu=4", "plain/p2 on=n1 cpu=4"}, asks: "q1/a cpu=4 priority=1000", preFilter: passes, postFilter: "No victims found",
		},
		{
			name: "13: a plain pod takes no pods with a quota", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8", "cpu=8")},
			pods: []string{"q1/a on=n1 cpu=4", "plain/p on=n1 cpu=4"}, asks: "plain/x cpu=4 priority=10", preFilter: passes, postFilter: "n1", victims: []string{"plain/p"},
		},
		{
			name: "a plain pod takes plain pods of other namespaces, if they are less important", quotas: twoQuotas,
			pods: []string{"one/p on=n1 cpu=4 priority=10", "two/p on=n1 cpu=4"}, asks: "three/x cpu=4 priority=10", preFilter: passes, postFilter: "n1", victims: []string{"two/p"},
		},
		{
			name: "a pod that its min covers takes none of its own namespace", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=8", "cpu=8")}, nodes: []string{"n1 cpu=4"},
			pods: []string{"q1/a on=n1 cpu=4"}, asks: "q1/b cpu=4 priority=100", preFilter: passes, postFilter: "No victims found",
		},
		{
			name: "the later of two equally important pods goes", quotas: twoQuotas,
			pods: []string{"q1/a1 on=n1 cpu=3 start=9", "q1/a2 on=n1 cpu=3 start=5"}, asks: "q2/b cpu=4",
			preFilter: overTotal, postFilter: "n1", victims: []string{"q1/a1"},
		},

		// Filters, budgets and the choice of the node.
		{
			name: "the filters must pass without the victims", quotas: twoQuotas, nodes: []string{"n1 cpu=8", "n2 cpu=1"},
			pods: []string{"q1/a on=n2 cpu=6"}, asks: "q2/b cpu=4", preFilter: overTotal, postFilter: "1 Insufficient cpu, 1 No victims found on node n1",
		},
		{
			name: "14: a pod whose budget is spent is put back first", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=2", "cpu=4"), quotaOf("q2", "cpu=6", "cpu=8")}, nodes: []string{"n1 cpu=4"},
			pods: []string{"q1/a1 on=n1 cpu=2 priority=10 app=db", "q1/a2 on=n1 cpu=2 priority=20"}, budget: []runtime.Object{budget("q1", "db")},
			asks: "q1/a3 cpu=2 priority=100", preFilter: overMax, postFilter: "n1", victims: []string{"q1/a2"},
		},
		{
			name: "a budget of another namespace says nothing", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=2", "cpu=4"), quotaOf("q2", "cpu=6", "cpu=8")}, nodes: []string{"n1 cpu=4"},
			pods: []string{"q1/a1 on=n1 cpu=2 priority=10 app=db", "q1/a2 on=n1 cpu=2 priority=20"}, budget: []runtime.Object{budget("q2", "db"), emptyBudget("q1")},
			asks: "q1/a3 cpu=2 priority=100", preFilter: overMax, postFilter: "n1", victims: []string{"q1/a1"},
		},
		{
			name: "a pod that is disrupted already does not violate its budget", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=2", "cpu=4"), quotaOf("q2", "cpu=6", "cpu=8")}, nodes: []string{"n1 cpu=4"},
			pods: []string{"q1/a1 on=n1 cpu=2 priority=10 app=db", "q1/a2 on=n1 cpu=2 priority=20"}, budget: []runtime.Object{budget("q1", "db", "a1")},
			asks: "q1/a3 cpu=2 priority=100", preFilter: overMax, postFilter: "n1", victims: []string{"q1/a1"},
		},
		{
			name: "the node with the fewest violations", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=0", "cpu=8"), quotaOf("q2", "cpu=8", "cpu=8")}, nodes: []string{"n1 cpu=4", "n2 cpu=4"},
			pods: []string{"q1/a1 on=n1 cpu=4 app=db", "q1/a2 on=n2 cpu=4 priority=100"}, budget: []runtime.Object{budget("q1", "db")},
			asks: "q2/b cpu=4", preFilter: overTotal, postFilter: "n2", victims: []string{"q1/a2"},
		},
		{
			name: "then the least important victims", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=0", "cpu=8"), quotaOf("q2", "cpu=8", "cpu=8")}, nodes: []string{"n1 cpu=4", "n2 cpu=4"},
			pods: []string{"q1/a1 on=n1 cpu=4 priority=10", "q1/a2 on=n2 cpu=4 priority=5"}, asks: "q2/b cpu=4",
			preFilter: overTotal, postFilter: "n2", victims: []string{"q1/a2"},
		},
		{
			name: "then the fewest", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=0", "cpu=8"), quotaOf("q2", "cpu=8", "cpu=8")}, nodes: []string{"n1 cpu=4", "n2 cpu=4"},
			pods: []string{"q1/a1 on=n1 cpu=2 start=1", "q1/a2 on=n1 cpu=2 start=1", "q1/a3 on=n2 cpu=4 start=1"}, asks: "q2/b cpu=4",
			preFilter: overTotal, postFilter: "n2", victims: []string{"q1/a3"},
		},
		{
			name: "a node that has room for the pod without victims is an error", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=4", "cpu=8"), quotaOf("q2", "cpu=4", "cpu=8")},
			nodes: []string{"n1 cpu=8"}, pods: []string{"q1/a1 on=n1 cpu=3 priority=10", "q1/a2 on=n1 cpu=3 priority=1", "q2/b1 on=n1 cpu=1"}, asks: "q2/b2 nominated=n1 cpu=2",
			preFilter: overTotal, postFilter: "n1", victims: []string{"q1/a2"},
		},
		{
			name: "a victim because of the quotas alone does not count as a violation", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=0", "cpu=8"), quotaOf("q2", "cpu=8", "cpu=8")},
			nodes: []string{"n1 cpu=16", "n2 cpu=16"}, pods: []string{"q1/a1 on=n1 cpu=4 app=db", "q1/a2 on=n2 cpu=4 priority=100"}, budget: []runtime.Object{budget("q1", "db")},
			asks: "q2/b cpu=4", preFilter: overTotal, postFilter: "n1", victims: []string{"q1/a1"},
		},
		{
			name: "a victim because of both is taken out twice, which drops the node", quotas: []*v1alpha1.ElasticQuota{quotaOf("q1", "cpu=0", "cpu=8"), quotaOf("q2", "cpu=4", "cpu=8"), quotaOf("q3", "cpu=0", "cpu=8")},
			nodes: []string{"n1 cpu=4", "n2 cpu=1"}, pods: []string{"q1/a on=n1 cpu=4", "q3/n nominated=n2 cpu=4"}, asks: "q2/b cpu=4",
			preFilter: overTotal, postFilter: "no corresponding pod a in pods of node n1",
		},

		// Who may not preempt.
		{
			name: "policy Never", quotas: twoQuotas, pods: []string{"q1/a on=n1 cpu=6"}, asks: "q2/b cpu=4 policy=Never",
			preFilter: overTotal, postFilter: "not eligible due to preemptionPolicy=Never.",
		},
		{
			name: "victims of its own are still terminating", quotas: twoQuotas,
			pods: []string{"q1/a on=n1 cpu=6 deleted", "q2/b nominated=n1 cpu=4"}, asks: "q2/b nominated=n1 cpu=4",
			preFilter: overTotal, postFilter: "not eligible due to a terminating pod on the nominated node.",
		},
		{
			name: "less important pods of its namespace are", quotas: twoQuotas,
			pods: []string{"q1/a1 on=n1 cpu=6 deleted", "q1/a2 nominated=n1 cpu=4 priority=1"}, asks: "q1/a2 nominated=n1 cpu=4 priority=1",
			preFilter: overMax, postFilter: "not eligible due to a terminating pod on the nominated node.",
		},
		{
			name: "plain pods that are less important are", quotas: twoQuotas,
			pods: []string{"plain/p on=n1 cpu=6 deleted", "plain/x nominated=n1 cpu=4 priority=1"}, asks: "plain/x nominated=n1 cpu=4 priority=1",
			preFilter: passes, postFilter: "not eligible due to a terminating pod on the nominated node.",
		},
		{
			name: "a terminating pod that does not make room for it does not matter", quotas: twoQuotas,
			pods: []string{"plain/p on=n1 cpu=1 deleted", "q1/a on=n1 cpu=6", "q2/b nominated=n1 cpu=4"}, asks: "q2/b nominated=n1 cpu=4",
			preFilter: overTotal, postFilter: "n1", victims: []string{"q1/a"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.nodes == nil {
				c.nodes = []string{"n1 cpu=8"}
			}
			var pods []*v1.Pod
			for _, text := range c.pods {
				pods = append(pods, podOf(t, text))
			}
			pod := podOf(t, c.asks)
			if !slices.ContainsFunc(pods, func(p *v1.Pod) bool { return p.UID == pod.UID }) {
				pods = append(pods, pod)
			}
			got := newStage(t, c.quotas, c.nodes, pods, c.budget...).try(t, pod)
			if !strings.Contains(got.preFilter, c.preFilter) || (got.preFilter == "") != (c.preFilter == "") {
				t.Errorf("PreFilter says %q, want %q", got.preFilter, c.preFilter)
			}
			if diff := cmp.Diff(c.victims, got.victims); diff != "" {
				t.Errorf("victims: %s", diff)
			}
			switch {
			case len(c.victims) > 0 && got.nominated != c.postFilter:
				t.Errorf("PostFilter nominates %q and says %q", got.nominated, got.postFilter)
			case !strings.Contains(got.postFilter, c.postFilter) || (got.postFilter == "") != (c.postFilter == ""):
				t.Errorf("PostFilter says %q, want %q", got.postFilter, c.postFilter)
			}
		})
	}
}
