package systemtest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

var (
	kueueWorkloadCount = flag.Int("kueue-workloads", 2000, "`number` of workloads of TestKueueThroughput")
	leastAdmissions    = flag.Float64("kueue-rate", 0, "`admissions` per second that TestKueueThroughput demands, on a quiet machine; 0 only reports them")
	kueueKills         = flag.Int("kueue-kills", 4, "how `often` TestKueueSurvivesKills ends the program")
)

const (
	// kueueQueues is the number of ClusterQueues of TestKueueThroughput, in cohorts of five.
	kueueQueues = 30
	// kueueClients is how many requests a test sends at the same time.
	kueueClients = 8
)

// TestKueueThroughput creates workloads in 30 ClusterQueues that hold them, and then lets the queues admit. Each workload ends as soon as
// it is admitted: the test plays the jobs, as Kueue's own measurement does. All of them are admitted, however busy the machine is. To
// measure, run it alone with -kueue-workloads 15000 -kueue-rate 100; for that load Kueue publishes about 43 per second.
func TestKueueThroughput(t *testing.T) {
	clustertest.Slow(t)
	count := *kueueWorkloadCount
	k := startKueue(t, passing(t), "--kueue")
	k.make(t, "resourceflavors", "", `{"kind":"ResourceFlavor","metadata":{"name":"f"}}`)
	for i := range kueueQueues {
		k.make(t, "clusterqueues", "", fmt.Sprintf(`{"kind":"ClusterQueue","metadata":{"name":"q%d"},"spec":{"cohortName":"c%d","namespaceSelector":{},"stopPolicy":"Hold",
			"preemption":{"withinClusterQueue":"LowerPriority","reclaimWithinCohort":"Any"},
			"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"20","borrowingLimit":"100"}]}]}]}}`, i, i/5))
		k.make(t, "localqueues", "default", fmt.Sprintf(`{"kind":"LocalQueue","metadata":{"name":"q%d"},"spec":{"clusterQueue":"q%d"}}`, i, i))
	}
	ended := k.endAdmitted(t, count)
	begin := time.Now()
	inParallel(t, kueueClients, count, func(i int) error {
		size := []string{"1", "1", "1", "5", "20"}[i%5]
		return k.create("workloads", "default", fmt.Sprintf(`{"kind":"Workload","metadata":{"name":"w%d"},"spec":{"queueName":"q%d","priority":%d,"podSets":[{"name":"main","count":1,
			"template":{"spec":{"containers":[{"name":"c","image":"registry.example.com/work:1","resources":{"requests":{"cpu":%q}}}]}}}]}}`, i, i%kueueQueues, i%3, size))
	})
	created := time.Since(begin)
	begin = time.Now()
	inParallel(t, kueueClients, kueueQueues, func(i int) error {
		_, err := k.custom.Resource(kueueWorkloads.GroupVersion().WithResource("clusterqueues")).
			Patch(t.Context(), fmt.Sprintf("q%d", i), types.MergePatchType, []byte(`{"spec":{"stopPolicy":"None"}}`), metav1.PatchOptions{})
		return err
	})
	select {
	case <-ended:
	case <-time.After(patience + clustertest.Scale(time.Duration(count)*time.Second/10)):
		t.Fatal("not all workloads have ended")
	}
	took := time.Since(begin)
	rate := float64(count) / took.Seconds()
	t.Logf("%d workloads were created in %v, and all were admitted and ended in another %v: %.0f per second", count, created, took, rate)
	if rate < *leastAdmissions {
		t.Errorf("%.0f admissions per second; %.0f are demanded", rate, *leastAdmissions)
	}
}

// create creates an object of Kueue's from JSON without an apiVersion.
func (k *kueue) create(resource, namespace, text string) error {
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &o.Object); err != nil {
		return err
	}
	o.SetAPIVersion(kueueWorkloads.GroupVersion().String())
	_, err := k.custom.Resource(kueueWorkloads.GroupVersion().WithResource(resource)).Namespace(namespace).Create(context.Background(), o, metav1.CreateOptions{})
	return err
}

func (k *kueue) make(t *testing.T, resource, namespace, text string) {
	t.Helper()
	if err := k.create(resource, namespace, text); err != nil {
		t.Fatal(err)
	}
}

// condition returns a condition of a workload; nil if it has none.
func condition(w *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(w.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == kind {
			return c
		}
	}
	return nil
}

func holds(w *unstructured.Unstructured, kind string) bool {
	c := condition(w, kind)
	return c != nil && c["status"] == "True"
}

// endAdmitted ends each workload that is admitted, until the test ends. The channel is closed when so many have
// ended.
func (k *kueue) endAdmitted(t *testing.T, count int) <-chan struct{} {
	t.Helper()
	all := make(chan struct{})
	var ended atomic.Int64
	admitted := make(chan *unstructured.Unstructured, count)
	end := func(w *unstructured.Unstructured) {
		conditions, _, _ := unstructured.NestedSlice(w.Object, "status", "conditions")
		conditions = append(conditions, map[string]any{"type": "Finished", "status": "True", "reason": "Succeeded", "message": "done", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)})
		data, _ := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": w.GetResourceVersion()}, "status": map[string]any{"conditions": conditions}})
		_, err := k.custom.Resource(kueueWorkloads).Namespace(w.GetNamespace()).Patch(t.Context(), w.GetName(), types.MergePatchType, data, metav1.PatchOptions{}, "status")
		switch {
		case err == nil && ended.Add(1) == int64(count):
			close(all)
		case err != nil && !apierrors.IsConflict(err) && t.Context().Err() == nil: // the watch shows the next version
			t.Error(err)
		}
	}
	informer := dynamicinformer.NewDynamicSharedInformerFactory(k.custom, 0).ForResource(kueueWorkloads).Informer()
	note := func(obj any) {
		if w, ok := obj.(*unstructured.Unstructured); ok && holds(w, "Admitted") && !holds(w, "Evicted") && !holds(w, "Finished") {
			admitted <- w
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) }}); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for range kueueClients {
		running.Go(func() {
			for w := range admitted {
				end(w)
			}
		})
	}
	running.Go(func() {
		informer.RunWithContext(t.Context())
		close(admitted)
	})
	t.Cleanup(running.Wait)
	return all
}

const borrowingQueues = `{"kind":"ClusterQueue","metadata":{"name":%q},"spec":{"cohortName":"both","namespaceSelector":{},
	"preemption":{"withinClusterQueue":"LowerPriority","reclaimWithinCohort":"Any"},
	"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"%d","borrowingLimit":"%d"}]}]}]}}`

// The quota of the queues of TestKueueSurvivesKills, in cores, and what each may borrow.
const (
	kueueNominal   = 6
	kueueBorrowing = 4
)

// jobsBetweenKills come at least.
const jobsBetweenKills = 5

// TestKueueSurvivesKills ends the program by turns in order and with SIGKILL, at random moments while jobs come,
// go, borrow and are preempted. At no time is more quota given away than there is. After each start, jobs and
// workloads agree, and the queues tell the usage that the workloads have.
func TestKueueSurvivesKills(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	h := newHome(t)
	random := rand.New(rand.NewPCG(1, 17))
	k := startKueue(t, h, "--kueue")
	k.make(t, "resourceflavors", "", `{"kind":"ResourceFlavor","metadata":{"name":"f"}}`)
	for _, name := range []string{"a", "b"} {
		k.make(t, "clusterqueues", "", fmt.Sprintf(borrowingQueues, name, kueueNominal, kueueBorrowing))
		k.make(t, "localqueues", "default", fmt.Sprintf(`{"kind":"LocalQueue","metadata":{"name":%q},"spec":{"clusterQueue":%q}}`, name, name))
	}
	if _, err := k.client.CoreV1().Nodes().Create(t.Context(), newNode("roomy"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	next := 0
	for turn := range *kueueKills {
		killed, enough := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(enough) })
		moment, wanted := upTo(random, 3*time.Second), next+jobsBetweenKills
		go func() {
			defer close(killed)
			<-time.After(moment)
			<-enough // on a busy machine they take longer
			if turn%2 == 0 {
				k.kill()
			} else {
				_ = k.cmd.Process.Signal(syscall.SIGTERM)
				<-k.exited
			}
		}()
		for ended := false; !ended; {
			k.change(t, random, &next)
			if next >= wanted {
				release()
			}
			select {
			case <-killed:
				ended = true
			default:
			}
		}
		k = startKueue(t, h)
		k.agrees(t)
	}
	all, err := k.client.BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d jobs came, %d are left", next, len(all.Items))
	for _, job := range all.Items {
		if err := k.client.BatchV1().Jobs("default").Delete(t.Context(), job.Name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all workloads have gone", func() error {
		all, err := k.workloads(t)
		if err == nil && len(all) > 0 {
			err = fmt.Errorf("%d are left", len(all))
		}
		return err
	})
	k.agrees(t)
}

// change creates a job, or deletes one. The program may end while it does.
func (k *kueue) change(t *testing.T, random *rand.Rand, next *int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if *next > 8 && random.IntN(3) == 0 {
		name := fmt.Sprint("job-", random.IntN(*next))
		_ = k.client.BatchV1().Jobs("default").Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)})
		return
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("job-", *next), Labels: map[string]string{"kueue.x-k8s.io/queue-name": []string{"a", "b"}[random.IntN(2)]}},
		Spec:       batchv1.JobSpec{Parallelism: ptr.To(1 + random.Int32N(3)), Completions: ptr.To[int32](100), Suspend: ptr.To(true)},
	}
	job.Spec.Template.Spec = newPod("c").Spec
	job.Spec.Template.Spec.RestartPolicy = v1.RestartPolicyNever
	job.Spec.Template.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(1+random.Int64N(2), resource.DecimalSI)}
	if _, err := k.client.BatchV1().Jobs("default").Create(ctx, job, metav1.CreateOptions{}); err == nil || apierrors.IsAlreadyExists(err) {
		*next++
	}
}

func (k *kueue) workloads(t *testing.T) ([]unstructured.Unstructured, error) {
	list, err := k.custom.Resource(kueueWorkloads).Namespace("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// agrees waits until the objects say the same about each job and queue.
func (k *kueue) agrees(t *testing.T) {
	t.Helper()
	eventually(t, "jobs, workloads and queues agree", func() error {
		all, err := k.workloads(t)
		if err != nil {
			return err
		}
		used := map[string]int64{}
		byJob := map[string]*unstructured.Unstructured{}
		for i := range all {
			w := &all[i]
			for _, owner := range w.GetOwnerReferences() {
				if byJob[owner.Name] != nil {
					t.Fatalf("job %s has two workloads", owner.Name)
				}
				byJob[owner.Name] = w
			}
			if holds(w, "QuotaReserved") && !holds(w, "Finished") {
				used[queueOf(w)] += coresOf(t, w)
			}
		}
		if used["a"]+used["b"] > 2*kueueNominal || max(used["a"], used["b"]) > kueueNominal+kueueBorrowing {
			t.Fatalf("the queues have given away %v", used)
		}
		list, err := k.client.BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, job := range list.Items {
			w := byJob[job.Name]
			delete(byJob, job.Name)
			if w == nil {
				return fmt.Errorf("%s has no workload", job.Name)
			}
			admitted := holds(w, "Admitted") && !holds(w, "Evicted")
			if suspended := ptr.Deref(job.Spec.Suspend, false); suspended == admitted {
				return fmt.Errorf("%s: suspended %v, admitted %v", job.Name, suspended, admitted)
			}
			if holds(w, "Evicted") && holds(w, "QuotaReserved") {
				return fmt.Errorf("%s still has the quota that it lost", job.Name)
			}
			if admitted {
				continue
			}
			if fits, err := k.fits(w.GetName()); err != nil || fits {
				return fmt.Errorf("%s waits; it fits: %v, %w", job.Name, fits, err)
			}
		}
		if len(byJob) > 0 {
			return fmt.Errorf("there are %d workloads without a job", len(byJob))
		}
		for _, name := range []string{"a", "b"} {
			queue, err := k.custom.Resource(kueueWorkloads.GroupVersion().WithResource("clusterqueues")).Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			flavors, _, _ := unstructured.NestedSlice(queue.Object, "status", "flavorsReservation")
			said := int64(0)
			for _, f := range flavors {
				for _, r := range f.(map[string]any)["resources"].([]any) {
					amount := resource.MustParse(fmt.Sprint(r.(map[string]any)["total"]))
					said += amount.Value()
				}
			}
			if said != used[name] {
				return fmt.Errorf("%s says that %d is reserved, and its workloads have %d", name, said, used[name])
			}
		}
		return nil
	})
}

// fits asks whether a workload that waits would be admitted without any change.
func (k *kueue) fits(name string) (bool, error) {
	body := fmt.Sprintf(`{"namespace":"default","workload":%q}`, name)
	a, err := k.request(http.MethodPost, "/api/v1/kueue/whatif", strings.NewReader(body), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
	if err != nil {
		return false, err
	}
	if a.status != http.StatusOK {
		return false, fmt.Errorf("%d: %s", a.status, a.body)
	}
	var would struct{ Admits bool }
	err = json.Unmarshal(a.body, &would)
	return would.Admits, err
}

func queueOf(w *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(w.Object, "status", "admission", "clusterQueue")
	return name
}

// coresOf is what a workload has reserved.
func coresOf(t *testing.T, w *unstructured.Unstructured) (cores int64) {
	t.Helper()
	sets, _, _ := unstructured.NestedSlice(w.Object, "status", "admission", "podSetAssignments")
	for _, set := range sets {
		usage, _, _ := unstructured.NestedStringMap(set.(map[string]any), "resourceUsage")
		amount, err := resource.ParseQuantity(usage["cpu"])
		if err != nil {
			t.Fatal(err)
		}
		cores += amount.Value()
	}
	return cores
}
