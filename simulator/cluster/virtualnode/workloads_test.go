package virtualnode

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestDeploymentRollsOutAndScales(t *testing.T) {
	ns := namespace(t, shared)
	pool(t, shared, ns, 2)
	apply(t, shared, ns, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      nodeSelector: {pool: %s}
      terminationGracePeriodSeconds: 1
      containers:
      - {name: web, image: "example.com/shop:1"}
`)
	deployments := shared.client.AppsV1().Deployments(ns)
	rolledOut := func(replicas int32) {
		t.Helper()
		clustertest.Eventually(t, "the deployment is rolled out", func(ctx context.Context) (bool, error) {
			d, err := deployments.Get(ctx, "shop", metav1.GetOptions{})
			s := d.Status
			return err == nil && s.ObservedGeneration == d.Generation && s.Replicas == replicas &&
				s.UpdatedReplicas == replicas && s.AvailableReplicas == replicas, err
		})
	}
	rolledOut(3)
	for _, patch := range []string{
		`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"example.com/shop:2"}]}}}}`,
		`{"spec":{"replicas":5}}`,
	} {
		if _, err := deployments.Patch(t.Context(), "shop", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	rolledOut(5)
	clustertest.Eventually(t, "only new pods are left", func(ctx context.Context) (bool, error) {
		found, err := podsOf(ctx, shared, ns)
		for _, pod := range found {
			if pod.Spec.Containers[0].Image != "example.com/shop:2" {
				return false, err
			}
		}
		return len(found) == 5, err
	})
}

func TestStatefulSetStartsInOrderWithItsClaims(t *testing.T) {
	ns := namespace(t, shared)
	pool(t, shared, ns, 2)
	apply(t, shared, ns, `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: %s-fast}
provisioner: csi.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 3
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      nodeSelector: {pool: %s}
      containers:
      - name: db
        image: example.com/db
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      storageClassName: %s-fast
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 1Gi}}
`)
	clustertest.Eventually(t, "all three are ready", func(ctx context.Context) (bool, error) {
		s, err := shared.client.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		return err == nil && s.Status.ReadyReplicas == 3, err
	})
	found, err := podsOf(t.Context(), shared, ns)
	if err != nil {
		t.Fatal(err)
	}
	started := func(name string) metav1.Time { return found[name].CreationTimestamp }
	if one, two := started("db-1"), started("db-2"); two.Before(&one) {
		t.Errorf("db-2 is of %v, db-1 of %v", two, one)
	}
	for _, name := range []string{"data-db-0", "data-db-1", "data-db-2"} {
		claim, err := shared.client.CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || claim.Status.Phase != corev1.ClaimBound {
			t.Errorf("claim %s: %v, %v", name, claim.Status.Phase, err)
		}
	}
}

func TestDaemonSetRunsOnEveryNode(t *testing.T) {
	ns := namespace(t, shared)
	nodes := pool(t, shared, ns, 2)
	apply(t, shared, ns, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      nodeSelector: {pool: %s}
      containers:
      - {name: agent, image: example.com/agent}
`)
	nodes = append(nodes, pool(t, shared, ns, 1)...)
	slices.Sort(nodes)
	var on []string
	clustertest.Eventually(t, "the agent runs three times", func(ctx context.Context) (bool, error) {
		found, err := podsOf(ctx, shared, ns)
		on = nil
		for _, pod := range found {
			if pod.Status.Phase == corev1.PodRunning {
				on = append(on, pod.Spec.NodeName)
			}
		}
		return len(on) == 3, err
	})
	slices.Sort(on)
	if diff := cmp.Diff(nodes, on); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestIndexedJobCompletes(t *testing.T) {
	ns := namespace(t, shared)
	pool(t, shared, ns, 1)
	apply(t, shared, ns, `
apiVersion: batch/v1
kind: Job
metadata: {name: render}
spec:
  completions: 4
  parallelism: 2
  completionMode: Indexed
  backoffLimitPerIndex: 0
  template:
    metadata:
      annotations:
        kube-scheduler-simulator.sigs.k8s.io/run-duration: 100ms
        kube-scheduler-simulator.sigs.k8s.io/exit-code: "2=42"
    spec:
      restartPolicy: Never
      nodeSelector: {pool: %s}
      containers:
      - {name: render, image: example.com/render}
`)
	job := finishedJob(t, ns, "render")
	got := []any{job.Status.Succeeded, job.Status.CompletedIndexes, *job.Status.FailedIndexes}
	if diff := cmp.Diff([]any{int32(3), "0,1,3", "2"}, got); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
}

func TestPodFailurePolicyEndsAJob(t *testing.T) {
	ns := namespace(t, shared)
	pool(t, shared, ns, 1)
	apply(t, shared, ns, `
apiVersion: batch/v1
kind: Job
metadata: {name: wrong}
spec:
  backoffLimit: 6
  podFailurePolicy:
    rules:
    - action: FailJob
      onExitCodes: {containerName: main, operator: In, values: [42]}
  template:
    metadata:
      annotations:
        kube-scheduler-simulator.sigs.k8s.io/run-duration: 100ms
        kube-scheduler-simulator.sigs.k8s.io/exit-code: "42"
    spec:
      restartPolicy: Never
      nodeSelector: {pool: %s}
      containers:
      - {name: main, image: example.com/main}
`)
	job := finishedJob(t, ns, "wrong")
	reasons := []string{}
	for _, condition := range job.Status.Conditions {
		if condition.Type == batchv1.JobFailed {
			reasons = append(reasons, condition.Reason)
		}
	}
	if diff := cmp.Diff([]string{batchv1.JobReasonPodFailurePolicy}, reasons); diff != "" {
		t.Errorf("failed because (-want +got):\n%s", diff)
	}
}

func TestContainersStartAgainOnFailure(t *testing.T) {
	ns := namespace(t, shared)
	pool(t, shared, ns, 1)
	apply(t, shared, ns, `
apiVersion: v1
kind: Pod
metadata:
  name: flaky
  annotations:
    kube-scheduler-simulator.sigs.k8s.io/run-duration: 100ms
    kube-scheduler-simulator.sigs.k8s.io/exit-code: "1"
spec:
  restartPolicy: OnFailure
  nodeSelector: {pool: %s}
  containers:
  - {name: main, image: example.com/main}
`)
	clustertest.Eventually(t, "it has started again twice", func(ctx context.Context) (bool, error) {
		pod, err := shared.client.CoreV1().Pods(ns).Get(ctx, "flaky", metav1.GetOptions{})
		return err == nil && len(pod.Status.ContainerStatuses) == 1 && pod.Status.ContainerStatuses[0].RestartCount >= 2 &&
			pod.Status.Phase == corev1.PodRunning, err
	})
}

func finishedJob(t *testing.T, ns, name string) (job *batchv1.Job) {
	t.Helper()
	clustertest.Eventually(t, "the job has finished", func(ctx context.Context) (bool, error) {
		var err error
		job, err = shared.client.BatchV1().Jobs(ns).Get(ctx, name, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
		}), err
	})
	return job
}

// A CronJob starts its first Job at the next full minute. The test does not wait for it: the
// controller's event about a Job that it did not create proves sooner that it runs.
func TestCronJobControllerRuns(t *testing.T) {
	ns := namespace(t, shared)
	apply(t, shared, ns, `
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - {name: main, image: example.com/main}
`)
	cron, err := shared.client.BatchV1().CronJobs(ns).Get(t.Context(), "nightly", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	suspend := true
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "by-hand", OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(cron, batchv1.SchemeGroupVersion.WithKind("CronJob")),
		}},
		Spec: *cron.Spec.JobTemplate.Spec.DeepCopy(),
	}
	job.Spec.Suspend = &suspend
	if _, err := shared.client.BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	hasEvent(t, ns, "nightly", "UnexpectedJob")
}

func hasEvent(t *testing.T, ns, name, reason string) {
	t.Helper()
	selector := fields.Set{"involvedObject.name": name, "reason": reason}.AsSelector().String()
	clustertest.Eventually(t, name+" has the event "+reason, func(ctx context.Context) (bool, error) {
		list, err := shared.client.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: selector})
		return err == nil && len(list.Items) > 0, err
	})
}
