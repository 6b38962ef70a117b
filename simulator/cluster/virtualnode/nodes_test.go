package virtualnode

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestANodeTurnsReadyWithWhatItsAuthorLeftOut(t *testing.T) {
	name := pool(t, shared, "plain", 1)[0]
	var got *corev1.Node
	clustertest.Eventually(t, "the node is Ready and not tainted", func(ctx context.Context) (bool, error) {
		var err error
		got, err = shared.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ready := readyCondition(got)
		return ready != nil && ready.Status == corev1.ConditionTrue && len(got.Spec.Taints) == 0, nil
	})
	want := map[string]string{
		"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi",
		"hostname": name, "os": "linux", "arch": "amd64", "info": "linux/amd64",
	}
	size := got.Status.Capacity
	have := map[string]string{
		"cpu": size.Cpu().String(), "memory": size.Memory().String(), "pods": size.Pods().String(), "ephemeral-storage": size.StorageEphemeral().String(),
		"hostname": got.Labels[corev1.LabelHostname], "os": got.Labels[corev1.LabelOSStable], "arch": got.Labels[corev1.LabelArchStable],
		"info": got.Status.NodeInfo.OperatingSystem + "/" + got.Status.NodeInfo.Architecture,
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got.Status.Capacity, got.Status.Allocatable); diff != "" {
		t.Errorf("(-capacity +allocatable):\n%s", diff)
	}
}

func TestSizeOfANode(t *testing.T) {
	list := func(pairs ...string) corev1.ResourceList {
		made := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			made[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return made
	}
	tests := []struct {
		name                          string
		capacity, allocatable         corev1.ResourceList
		wantCapacity, wantAllocatable corev1.ResourceList
	}{
		{
			name:            "nothing said",
			wantCapacity:    list("cpu", "8", "memory", "32Gi", "ephemeral-storage", "100Gi", "pods", "110"),
			wantAllocatable: list("cpu", "8", "memory", "32Gi", "ephemeral-storage", "100Gi", "pods", "110"),
		},
		{
			name:            "capacity from allocatable",
			allocatable:     list("cpu", "2", "memory", "4Gi", "pods", "10", "example.com/gpu", "1"),
			wantCapacity:    list("cpu", "2", "memory", "4Gi", "pods", "10", "ephemeral-storage", "100Gi", "example.com/gpu", "1"),
			wantAllocatable: list("cpu", "2", "memory", "4Gi", "pods", "10", "ephemeral-storage", "100Gi", "example.com/gpu", "1"),
		},
		{
			name:            "both said",
			capacity:        list("cpu", "4", "pods", "250"),
			allocatable:     list("cpu", "3"),
			wantCapacity:    list("cpu", "4", "pods", "250", "ephemeral-storage", "100Gi"),
			wantAllocatable: list("cpu", "3", "pods", "250", "ephemeral-storage", "100Gi"),
		},
		{
			name:            "a node that takes no pods",
			allocatable:     list("cpu", "4", "pods", "0"),
			wantCapacity:    list("cpu", "4", "pods", "0", "ephemeral-storage", "100Gi"),
			wantAllocatable: list("cpu", "4", "pods", "0", "ephemeral-storage", "100Gi"),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			capacity, allocatable := standin.SizeOf(&corev1.Node{Status: corev1.NodeStatus{Capacity: test.capacity, Allocatable: test.allocatable}})
			if diff := cmp.Diff(test.wantCapacity, capacity); diff != "" {
				t.Errorf("capacity (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantAllocatable, allocatable); diff != "" {
				t.Errorf("allocatable (-want +got):\n%s", diff)
			}
		})
	}
}

func TestANodeWhoseAuthorSaysItIsNotReadyStaysSo(t *testing.T) {
	// The node lifecycle controller stops tainting when it finds no node Ready. When it finds one Ready in the same pass as a new zone, it
	// resumes in the new zone, but not in the old ones that have no Ready node. So a node is Ready before the others exist.
	healthy := pool(t, shared, "healthy", 1)[0]
	clustertest.Eventually(t, healthy+" is Ready", func(ctx context.Context) (bool, error) {
		got, err := shared.client.CoreV1().Nodes().Get(ctx, healthy, metav1.GetOptions{})
		return err == nil && readyCondition(got) != nil && readyCondition(got).Status == corev1.ConditionTrue, err
	})
	name := pool(t, shared, "decided", 1, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "Mine"}}
	})[0]
	failed := pool(t, shared, "failing", 1, func(n *corev1.Node) { n.Annotations[objects.AnnotationFailure] = objects.FailureNotReady })[0]
	t.Cleanup(func() {
		if nodes, err := shared.client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{}); t.Failed() && err == nil {
			for _, node := range nodes.Items {
				t.Logf("node %s: taints %v, Ready %v", node.Name, node.Spec.Taints, readyCondition(&node))
			}
		}
	})
	for _, node := range []string{name, failed} {
		clustertest.Eventually(t, node+" is tainted", func(ctx context.Context) (bool, error) {
			got, err := shared.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
			if err != nil || readyCondition(got) == nil {
				return false, err
			}
			if readyCondition(got).Status == corev1.ConditionTrue {
				t.Errorf("%s has turned Ready", node)
			}
			for _, taint := range got.Spec.Taints {
				if taint.Key == corev1.TaintNodeNotReady && taint.Effect == corev1.TaintEffectNoExecute {
					return true, nil
				}
			}
			return false, nil
		})
	}
}

// TestANodeIsRegisteredWithItsHostName: otherwise a pod that is scheduled before the node is Ready would not count it as a domain.
func TestANodeIsRegisteredWithItsHostName(t *testing.T) {
	for _, test := range []struct {
		name         string
		labels, want map[string]string
	}{
		{"n", nil, map[string]string{corev1.LabelHostname: "n"}},
		{"n", map[string]string{"pool": "a"}, map[string]string{"pool": "a", corev1.LabelHostname: "n"}},
		{"n", map[string]string{corev1.LabelHostname: "other"}, map[string]string{corev1.LabelHostname: "other"}},
		{"", nil, nil}, // the API server has yet to generate the name
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: test.name, Labels: test.labels}}
		if c := new(Nodes).Register(node); c != nil {
			t.Errorf("%q gets the condition %v", test.name, c)
		}
		if diff := cmp.Diff(test.want, node.Labels); diff != "" {
			t.Errorf("labels of %q (-want +got):\n%s", test.name, diff)
		}
	}
}
