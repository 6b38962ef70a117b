package virtualnode

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestADisruptionBudgetRefusesEviction(t *testing.T) {
	ns := namespace(t, shared)
	pool(t, shared, ns, 1)
	apply(t, shared, ns, `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: shop}
spec:
  minAvailable: 2
  selector: {matchLabels: {app: shop}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      nodeSelector: {pool: %s}
      containers:
      - {name: web, image: example.com/shop}
`)
	clustertest.Eventually(t, "the budget knows two healthy pods", func(ctx context.Context) (bool, error) {
		budget, err := shared.client.PolicyV1().PodDisruptionBudgets(ns).Get(ctx, "shop", metav1.GetOptions{})
		return err == nil && budget.Status.CurrentHealthy == 2 && budget.Status.DisruptionsAllowed == 0, err
	})
	found, err := podsOf(t.Context(), shared, ns)
	if err != nil {
		t.Fatal(err)
	}
	for name := range found {
		err := shared.client.PolicyV1().Evictions(ns).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}})
		if !apierrors.IsTooManyRequests(err) {
			t.Errorf("eviction of %s: %v", name, err)
		}
	}
}

// evicting is a Deployment with two pods that tolerate a failed node for a second.
const evicting = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      nodeSelector: {pool: %s}
      terminationGracePeriodSeconds: 1
      tolerations:
      - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 1}
      - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 1}
      containers:
      - {name: web, image: example.com/shop}
`

func TestPodsLeaveANodeThatIsNotReady(t *testing.T) {
	clustertest.Slow(t)
	ns := namespace(t, shared)
	pool(t, shared, ns, 3)
	apply(t, shared, ns, evicting)
	failed := nodeOfARunningPod(t, ns)
	annotate(t, shared, failed, objects.AnnotationFailure, objects.FailureNotReady)
	hasTaint(t, failed, corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	clustertest.Eventually(t, "two pods run elsewhere, and no others are left", func(ctx context.Context) (bool, error) {
		found, err := podsOf(ctx, shared, ns)
		for _, pod := range found {
			if pod.Spec.NodeName == failed || pod.Status.Phase != corev1.PodRunning {
				return false, err
			}
		}
		return len(found) == 2, err
	})

	annotate(t, shared, failed, objects.AnnotationFailure, "")
	clustertest.Eventually(t, "the node is Ready again, without a taint", func(ctx context.Context) (bool, error) {
		node, err := shared.client.CoreV1().Nodes().Get(ctx, failed, metav1.GetOptions{})
		return err == nil && readyCondition(node).Status == corev1.ConditionTrue && len(node.Spec.Taints) == 0, err
	})
}

func TestPodsOfAnUnreachableNodeStayUntilItIsBack(t *testing.T) {
	clustertest.Slow(t)
	ns := namespace(t, shared)
	pool(t, shared, ns, 3)
	apply(t, shared, ns, evicting)
	failed := nodeOfARunningPod(t, ns)
	annotate(t, shared, failed, objects.AnnotationFailure, objects.FailureUnreachable)
	hasTaint(t, failed, corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	clustertest.Eventually(t, "the failed node's pods are not ready and being deleted, and two others run", func(ctx context.Context) (bool, error) {
		found, err := podsOf(ctx, shared, ns)
		there, elsewhere := 0, 0
		for _, pod := range found {
			switch {
			case pod.Spec.NodeName == failed && pod.DeletionTimestamp != nil && !isReady(pod):
				there++
			case pod.Spec.NodeName != failed && isReady(pod):
				elsewhere++
			}
		}
		return there > 0 && elsewhere == 2 && there+elsewhere == len(found), err
	})
	annotate(t, shared, failed, objects.AnnotationFailure, "")
	clustertest.Eventually(t, "they are gone", func(ctx context.Context) (bool, error) {
		found, err := podsOf(ctx, shared, ns)
		return len(found) == 2, err
	})
}

func TestAPodThatToleratesAFailureIsReadyAgainAfterwards(t *testing.T) {
	ns := namespace(t, shared)
	node := pool(t, shared, ns, 1)[0]
	spec := podSpec(ns)
	spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	pods := shared.client.CoreV1().Pods(ns)
	if _, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "patient"}, Spec: spec}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ready := func(want bool) {
		t.Helper()
		clustertest.Eventually(t, fmt.Sprintf("ready is %v", want), func(ctx context.Context) (bool, error) {
			pod, err := pods.Get(ctx, "patient", metav1.GetOptions{})
			return err == nil && pod.Status.Phase == corev1.PodRunning && isReady(pod) == want, err
		})
	}
	ready(true)
	annotate(t, shared, node, objects.AnnotationFailure, objects.FailureUnreachable)
	ready(false)
	annotate(t, shared, node, objects.AnnotationFailure, "")
	ready(true)
}

func TestAnUnknownFailureIsSaid(t *testing.T) {
	node := pool(t, shared, "odd", 1)[0]
	annotate(t, shared, node, objects.AnnotationFailure, "on fire")
	hasEvent(t, "default", node, "InvalidFailure")
}

func TestACordonedNodeIsTainted(t *testing.T) {
	node := pool(t, shared, "cordoned", 1)[0]
	_, err := shared.client.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hasTaint(t, node, corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
}

func nodeOfARunningPod(t *testing.T, ns string) (node string) {
	t.Helper()
	clustertest.Eventually(t, "two pods run", func(ctx context.Context) (bool, error) {
		found, err := podsOf(ctx, shared, ns)
		running := 0
		for _, pod := range found {
			if pod.Status.Phase == corev1.PodRunning {
				running++
				node = pod.Spec.NodeName
			}
		}
		return running == 2, err
	})
	return node
}

func hasTaint(t *testing.T, node, key string, effect corev1.TaintEffect) {
	t.Helper()
	clustertest.Eventually(t, node+" is tainted "+key, func(ctx context.Context) (bool, error) {
		got, err := shared.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, taint := range got.Spec.Taints {
			if taint.Key == key && taint.Effect == effect {
				return true, nil
			}
		}
		return false, nil
	})
}

// TestRollingUpdateWhileNodesFail: nodes become unreachable and are drained while 200 replicas are
// replaced. Voluntary evictions never exceed the budget, and in the end every replica is new and
// ready.
func TestRollingUpdateWhileNodesFail(t *testing.T) {
	clustertest.Slow(t) // it takes half a minute
	ns := namespace(t, shared)
	// Within a zone, Kubernetes evicts the pods of one failed node every ten seconds.
	// The first and the third failing node are in one zone.
	made := 0
	nodes := pool(t, shared, ns, 50, func(n *corev1.Node) {
		n.Labels[corev1.LabelTopologyZone] = fmt.Sprintf("%s-%d", ns, made%2)
		made++
	})
	apply(t, shared, ns, `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: shop}
spec:
  minAvailable: 150
  selector: {matchLabels: {app: shop}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 200
  strategy: {rollingUpdate: {maxUnavailable: 10%, maxSurge: 10%}}
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      nodeSelector: {pool: %s}
      terminationGracePeriodSeconds: 1
      tolerations:
      - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 1}
      containers:
      - {name: web, image: "example.com/shop:1", resources: {requests: {cpu: 500m}}}
`)
	deployments := shared.client.AppsV1().Deployments(ns)
	done := func(what string) {
		t.Helper()
		defer func() {
			if t.Failed() {
				t.Log(summary(t, ns))
			}
		}()
		clustertest.EventuallyWithin(t, 3*clustertest.Timeout, what, func(ctx context.Context) (bool, error) {
			d, err := deployments.Get(ctx, "shop", metav1.GetOptions{})
			s := d.Status
			return err == nil && s.ObservedGeneration == d.Generation && s.Replicas == 200 && s.UpdatedReplicas == 200 && s.AvailableReplicas == 200, err
		})
	}
	done("200 replicas run")
	_, err := deployments.Patch(t.Context(), "shop", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"example.com/shop:2"}]}}}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes[:3] {
		annotate(t, shared, node, objects.AnnotationFailure, objects.FailureUnreachable)
	}
	for _, node := range nodes[3:6] {
		drain(t, ns, node)
	}
	done("200 new replicas run")
	for _, node := range nodes[:3] {
		annotate(t, shared, node, objects.AnnotationFailure, "")
	}
	clustertest.Eventually(t, "no old pod is left", func(ctx context.Context) (bool, error) {
		found, err := podsOf(ctx, shared, ns)
		return len(found) == 200, err
	})
}

// summary counts the namespace's pods by state, and their nodes.
func summary(t *testing.T, ns string) string {
	found, err := podsOf(context.WithoutCancel(t.Context()), shared, ns)
	if err != nil {
		return err.Error()
	}
	counts := map[string]int{}
	for _, pod := range found {
		counts[fmt.Sprintf("%s %s ready=%v deleted=%v bound=%v", pod.Spec.Containers[0].Image, pod.Status.Phase, isReady(pod), pod.DeletionTimestamp != nil, pod.Spec.NodeName != "")]++
	}
	return fmt.Sprint(counts)
}

// drain evicts the namespace's pods from a node, as kubectl drain does, and checks the budget after
// every granted eviction.
func drain(t *testing.T, ns, node string) {
	t.Helper()
	_, err := shared.client.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, node+" is drained", func(ctx context.Context) (bool, error) {
		found, err := podsOf(ctx, shared, ns)
		if err != nil {
			return false, err
		}
		left := 0
		for name, pod := range found {
			if pod.Spec.NodeName != node {
				continue
			}
			left++
			if pod.DeletionTimestamp != nil {
				continue
			}
			err := shared.client.PolicyV1().Evictions(ns).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}})
			switch {
			case err == nil:
				healthyEnough(ctx, t, ns)
			case !apierrors.IsTooManyRequests(err) && !apierrors.IsNotFound(err):
				return false, err
			}
		}
		return left == 0, nil
	})
}

// healthyEnough counts the pods itself instead of trusting the budget's status.
func healthyEnough(ctx context.Context, t *testing.T, ns string) {
	t.Helper()
	found, err := podsOf(ctx, shared, ns)
	if err != nil {
		t.Fatal(err)
	}
	healthy := 0
	for _, pod := range found {
		if pod.DeletionTimestamp == nil && isReady(pod) {
			healthy++
		}
	}
	if healthy < 150 {
		t.Errorf("after an eviction at %v %d pods are healthy; the budget wants 150", time.Now(), healthy)
	}
}
