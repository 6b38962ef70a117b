package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/judge/original"
)

// admissions follows which workloads have quota.
type admissions struct {
	mu sync.Mutex
	// times has how often each workload got quota, and holds which of them have it.
	times map[types.UID]int
	holds map[types.UID]bool
	most  int
}

func (a *admissions) see(obj any, gone bool) {
	if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	w := obj.(*kueue.Workload)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch has := !gone && meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadQuotaReserved); {
	case !has:
		delete(a.holds, w.UID)
	case !a.holds[w.UID]:
		a.holds[w.UID] = true
		a.times[w.UID]++
	}
	a.most = max(a.most, len(a.holds))
}

// until waits until some number of workloads have had quota, and so many have it now.
func (a *admissions) until(ctx context.Context, t *testing.T, ever, now int) {
	t.Helper()
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.times) >= ever && len(a.holds) >= now, nil
	})
	if err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		t.Fatalf("%d workloads have had quota, not %d, and %d have it, not %d: %v", len(a.times), ever, len(a.holds), now, err)
	}
}

// TestTheOriginalDies: Kueue dies halfway, the simulator's own queues go on when its webhooks are gone, and Kueue comes back. Nothing is
// admitted twice, and never more than the quota.
func TestTheOriginalDies(t *testing.T) {
	version, program, dir := built(t)
	ctx := t.Context()
	c, err := startCluster(ctx, dir, *simulator, "dies", "on", nil)
	var manager *original.Process
	t.Cleanup(func() {
		manager.Stop()
		c.stop()
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := &admissions{times: map[types.UID]int{}, holds: map[types.UID]bool{}}
	informer, err := c.cache.GetInformer(ctx, &kueue.Workload{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { seen.see(o, false) }, UpdateFunc: func(_, o any) { seen.see(o, false) }, DeleteFunc: func(o any) { seen.see(o, true) },
	}); err != nil {
		t.Fatal(err)
	}
	start := func() {
		t.Helper()
		manager, err = version.Start(ctx, c.client, program, dir, c.kubeconfig(), configuration(false)+"integrations: {frameworks: [batch/job]}\n", func([]byte) {})
		if err != nil {
			t.Fatal(err)
		}
		c.says(ctx, t, "foreign")
	}
	create := func(kind, name, content string) error {
		o := object(kind, name, parse("%s", content))
		if kind == "LocalQueue" || kind == "Job" {
			o.SetNamespace("default")
		}
		return c.client.Create(ctx, o)
	}
	job := func(n int) error {
		return create("Job", fmt.Sprint("job-", n), `{metadata: {labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true, template: {metadata: {annotations: {kube-scheduler-simulator.sigs.k8s.io/run-duration: 1h}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}`)
	}

	start()
	for _, err := range []error{
		create("Node", "node", `{status: {allocatable: {cpu: 20, memory: 20Gi, pods: 20}}}`),
		create("ResourceFlavor", "f", `{}`),
		create("ClusterQueue", "q", `{spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]}}`),
		create("LocalQueue", "q", `{spec: {clusterQueue: q}}`),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 9 {
		if err := job(n); err != nil {
			t.Fatal(err)
		}
	}
	seen.until(ctx, t, 1, 1)
	manager.Kill() // with some admitted, and some workloads not yet made
	err = job(9)
	if err == nil || !strings.Contains(err.Error(), "webhook") {
		t.Errorf("while Kueue is dead, a job is refused with %v, which names no webhook", err)
	}
	c.says(ctx, t, "foreign")

	if err := version.Forget(ctx, c.client); err != nil {
		t.Fatal(err)
	}
	c.says(ctx, t, "on")
	seen.until(ctx, t, 4, 4)
	// end deletes jobs that run.
	end := func(n int) {
		t.Helper()
		var all kueue.WorkloadList
		if err := c.client.List(ctx, &all); err != nil {
			t.Fatal(err)
		}
		for _, w := range all.Items {
			if n == 0 || !meta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadAdmitted) {
				continue
			}
			job := object("Job", w.OwnerReferences[0].Name, parse("metadata: {namespace: default}"))
			if err := c.client.Delete(ctx, job, client.PropagationPolicy("Background")); apierrors.IsNotFound(err) {
				continue // its workload goes, too
			} else if err != nil {
				t.Fatal(err)
			}
			n--
		}
	}
	end(2)
	seen.until(ctx, t, 6, 4)

	start()
	end(2)
	seen.until(ctx, t, 8, 4)
	seen.mu.Lock()
	defer seen.mu.Unlock()
	if seen.most > 4 {
		t.Errorf("%d workloads had quota at the same time, and there is quota for 4", seen.most)
	}
	for uid, n := range seen.times {
		if n > 1 {
			t.Errorf("the workload %s got quota %d times", uid, n)
		}
	}
}

// says waits until the simulator says whose queues decide.
func (c *cluster) says(ctx context.Context, t *testing.T, want string) {
	t.Helper()
	var got string
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		response, err := http.Get(c.url + "/api/v1/kueue")
		if err != nil {
			return false, err
		}
		defer response.Body.Close()
		var answer map[string]any
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			return false, err
		}
		got, _ = answer["state"].(string)
		return got == want, nil
	})
	if err != nil {
		t.Fatalf("the simulator says %q of its queues, not %q: %v", got, want, err)
	}
}
