package systemtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

var loadSeed = flag.Uint64("load-seed", 1, "the seed of the random load of all schedulers at once")

// groupsOf are the PodGroups that each session scheduler reads.
var groupsOf = map[string]schema.GroupVersionResource{
	"kube-batch": {Group: "scheduling.incubator.k8s.io", Version: "v1alpha1", Resource: "podgroups"},
	"volcano":    {Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"},
}

// batch is a program with PodGroups.
type batch struct {
	*program
	custom dynamic.Interface
}

func startBatch(t *testing.T) *batch {
	t.Helper()
	p := start(t, newHome(t), "--session-scheduler")
	p.config.QPS = -1
	custom, err := dynamic.NewForConfig(p.config)
	if err != nil {
		t.Fatal(err)
	}
	b := &batch{p, custom}
	for _, groups := range groupsOf {
		eventually(t, groups.Group+" has a default queue", func() error {
			_, err := custom.Resource(groups.GroupVersion().WithResource("queues")).Get(t.Context(), "default", metav1.GetOptions{})
			return err
		})
	}
	return b
}

func (b *batch) node(t *testing.T, name, cpu string) {
	amounts := v1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110")}
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}}, Status: v1.NodeStatus{Capacity: amounts, Allocatable: amounts}}
	if _, err := b.client.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// job creates a group, for the session schedulers, and its pods of one CPU each.
func (b *batch) job(t *testing.T, scheduler, name string, pods int) {
	annotations := map[string]string{}
	if groups, ok := groupsOf[scheduler]; ok {
		annotations["scheduling.k8s.io/group-name"] = name
		g := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"minMember": int64(pods)}}}
		g.SetGroupVersionKind(groups.GroupVersion().WithKind("PodGroup"))
		g.SetName(name)
		if _, err := b.custom.Resource(groups).Namespace("default").Create(t.Context(), g, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	}
	for i := range pods {
		p := &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i), Annotations: annotations},
			Spec: v1.PodSpec{SchedulerName: scheduler, Containers: []v1.Container{{
				Name: "main", Image: "registry.example.com/main:1", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}},
			}}},
		}
		if _, err := b.client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// placed returns the nodes of the pods that have one.
func (b *batch) placed(ctx context.Context) (map[string]string, error) {
	all, err := b.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, p := range all.Items {
		if p.Spec.NodeName != "" {
			out[p.Name] = p.Spec.NodeName
		}
	}
	return out, nil
}

func (b *batch) send(t *testing.T, method, path, body string) answer {
	t.Helper()
	a, err := b.request(method, path, bytes.NewBufferString(body), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSchedulersSideBySide: kube-scheduler, both session schedulers and the flow scheduler share a cluster at the same time. They
// place all pods, and no pod is bound twice.
func TestSchedulersSideBySide(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	b := startBatch(t)
	for i := range 4 {
		b.node(t, fmt.Sprintf("n%d", i), "32")
	}
	schedulers := []string{"default-scheduler", "kube-batch", "volcano", "poseidon"}
	var creating sync.WaitGroup
	for _, scheduler := range schedulers {
		creating.Go(func() {
			for i := range 4 {
				b.job(t, scheduler, fmt.Sprintf("%s-%d", scheduler, i), 4)
			}
		})
	}
	creating.Wait()
	var on map[string]string
	eventually(t, "all pods have nodes", func() (err error) {
		if on, err = b.placed(t.Context()); err == nil && len(on) < 64 {
			err = fmt.Errorf("%d of 64 have", len(on))
		}
		return err
	})
	held := map[string]int{}
	for _, node := range on {
		held[node]++
	}
	for node, pods := range held {
		if pods > 32 {
			t.Errorf("%s with 32 CPUs has %d pods of 1 CPU", node, pods)
		}
	}
	events, err := b.client.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=Scheduled"})
	if err != nil {
		t.Fatal(err)
	}
	bound := map[string]int{}
	for _, e := range events.Items {
		if bound[e.InvolvedObject.Name]++; bound[e.InvolvedObject.Name] > 1 {
			t.Errorf("%s is bound twice: %s", e.InvolvedObject.Name, e.Message)
		}
	}
	for _, scheduler := range schedulers {
		var gap struct {
			Gap   int64
			Tasks []struct{ Task string }
		}
		if err := b.get("/api/v1/flow/comparison?scheduler="+scheduler, &gap); err != nil {
			t.Error(err)
		}
		if len(gap.Tasks) != 16 || gap.Gap < 0 {
			t.Errorf("%s: %d tasks, gap %d", scheduler, len(gap.Tasks), gap.Gap)
		}
	}

	// A question about a pod of each gets what its next session or round would decide. The cluster is nearly full of them.
	for _, test := range []struct{ question, want string }{
		{`{"podRef": {"name": "volcano-0-0"}}`, "volcano scheduled"},
		{`{"podRef": {"name": "kube-batch-0-0"}, "profile": "default-scheduler"}`, "default-scheduler scheduled"},
		{fmt.Sprintf(`{"pod": %s}`, b.askedPod("poseidon", "")), "poseidon scheduled"},
		{fmt.Sprintf(`{"pod": %s}`, b.askedPod("kube-batch", "none")), "kube-batch unschedulable snapshot"},
		{fmt.Sprintf(`{"pod": %s, "copies": 5, "changes": [{"apply": {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "asked", "namespace": "default"}, "spec": {"minMember": 5}}}]}`, b.askedPod("volcano", "asked")), "volcano scheduled"},
		{fmt.Sprintf(`{"pod": %s, "changes": [{"patch": {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "namespace": "default", "name": "volcano-0", "patch": {"spec": {"minMember": 9}}}}]}`, b.askedPod("volcano", "volcano-0")), "volcano unschedulable gang"},
		{fmt.Sprintf(`{"pod": %s, "changes": [{"delete": {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "namespace": "default", "name": "volcano-0"}}]}`, b.askedPod("volcano", "volcano-0")), "volcano unschedulable snapshot"},
	} {
		a := b.send(t, http.MethodPost, "/api/v1/whatif", test.question)
		var answer struct {
			Decisions []struct {
				Profile, Outcome string
				Hypothetical     bool
				Refusal          *struct{ Plugin string }
			}
			Turn *struct{ Scheduler string }
		}
		if err := json.Unmarshal(a.body, &answer); err != nil || a.status != http.StatusOK {
			t.Errorf("%s: %d %s", test.question, a.status, a.body)
			continue
		}
		for _, d := range answer.Decisions {
			got := d.Profile + " " + d.Outcome
			if d.Refusal != nil {
				got += " " + d.Refusal.Plugin
			}
			if got != test.want || !d.Hypothetical || (answer.Turn == nil) != (d.Profile == "default-scheduler") {
				t.Errorf("%s: %s, want %s; the turn is %+v", test.question, got, test.want, answer.Turn)
			}
		}
	}
	if a := b.send(t, http.MethodPost, "/api/v1/whatif/fit", `{"podRef": {"name": "volcano-0-0"}}`); a.status != http.StatusUnprocessableEntity && a.status != http.StatusBadRequest || !strings.Contains(string(a.body), "volcano decides about whole jobs in sessions") {
		t.Errorf("%d: %s", a.status, a.body)
	}

	// A configuration with a mistake is refused at its line, and the one in force stays. A valid one counts from the next session on.
	const path = "/api/v1/sessions/configuration/volcano"
	if a := b.send(t, http.MethodPut, path, "actions: allocate\ntiers:\n- plugins:\n  - name: gnag\n"); a.status < 400 || !strings.Contains(string(a.body), `"line":4`) {
		t.Errorf("%d: %s", a.status, a.body)
	}
	b.revision(t, 1)
	if a := b.send(t, http.MethodPut, path, "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n"); a.status != http.StatusOK {
		t.Errorf("%d: %s", a.status, a.body)
	}
	b.revision(t, 2)
	for i := range 4 {
		b.node(t, fmt.Sprintf("later-%d", i), "16")
	}
	b.job(t, "volcano", "later", 4)
	eventually(t, "a session of the new revision binds a job", func() error {
		on, err := b.placed(t.Context())
		if err == nil && on["later-3"] == "" {
			err = errors.New("not yet")
		}
		return err
	})
	// Its record comes after its bindings.
	eventually(t, "the record has the revision", func() error {
		var list struct {
			Items []struct {
				Number    int64
				Scheduler string
				Bound     int
			}
		}
		if err := b.get("/api/v1/sessions?kind=session", &list); err != nil {
			return err
		}
		for _, item := range list.Items {
			if item.Scheduler != "volcano" || item.Bound == 0 {
				continue
			}
			var record struct{ Revision int }
			err := b.get(fmt.Sprintf("/api/v1/sessions/%d", item.Number), &record)
			if err == nil && record.Revision != 2 {
				err = fmt.Errorf("the latest session that bound, %d, has revision %d", item.Number, record.Revision)
			}
			return err
		}
		return errors.New("no session of volcano bound a pod")
	})
}

// askedPod is a pod of one CPU that does not exist. group may be empty.
func (b *batch) askedPod(scheduler, group string) string {
	return fmt.Sprintf(`{"metadata": {"name": "asked", "namespace": "default", "annotations": {"scheduling.k8s.io/group-name": %q}}, "spec": {"schedulerName": %q, "containers": [{"name": "main", "image": "main", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}`, group, scheduler)
}

// revision checks which revision of Volcano's configuration is in force.
func (b *batch) revision(t *testing.T, want int) {
	t.Helper()
	var list struct {
		Configurations []struct {
			Rules    string
			Revision int
		}
	}
	if err := b.get("/api/v1/sessions?limit=1", &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Configurations {
		if c.Rules == "volcano" && c.Revision != want {
			t.Errorf("revision %d is in force, want %d", c.Revision, want)
		}
	}
}

// TestSchedulersUnderRandomLoad: jobs of random sizes come and go for all four schedulers, on nodes that are too few for all of them. Each pod is
// bound once, and by its own scheduler. As in a real cluster, two schedulers may take the same room at the same time, so a node may hold more than
// it has for a while. In the end all pods that are left have a node.
func TestSchedulersUnderRandomLoad(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	const nodes, cpus, waves = 4, 8, 60 // a pod takes one CPU
	b := startBatch(t)
	for i := range nodes {
		b.node(t, fmt.Sprintf("n%d", i), fmt.Sprint(cpus))
	}
	random := rand.New(rand.NewPCG(*loadSeed, 20))
	t.Logf("the seed is %d", *loadSeed)
	schedulers := []string{"default-scheduler", "kube-batch", "volcano", "poseidon"}
	var jobs []string
	members := map[string]int{}
	remove := func(at int) {
		name := jobs[at]
		jobs = slices.Delete(jobs, at, at+1)
		for i := range members[name] {
			if err := b.client.CoreV1().Pods("default").Delete(t.Context(), fmt.Sprintf("%s-%d", name, i), metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}
	}
	for wave := range waves {
		scheduler := schedulers[random.IntN(len(schedulers))]
		name := fmt.Sprintf("%s-%d", scheduler, wave)
		members[name] = 1 + random.IntN(5)
		b.job(t, scheduler, name, members[name])
		jobs = append(jobs, name)
		if len(jobs) > 12 {
			remove(random.IntN(len(jobs)))
		}
		if wave%10 == 9 {
			eventually(t, "the nodes are nearly full", func() error {
				on, err := b.placed(t.Context())
				if err == nil && len(on) < nodes*cpus/2 {
					err = fmt.Errorf("the pods on nodes hold %d of %d CPUs", len(on), nodes*cpus)
				}
				return err
			})
		}
	}
	for len(jobs) > 2 {
		remove(0)
	}
	// On a busy machine jobs are gone before a scheduler has looked at them. These stay.
	for i, scheduler := range schedulers {
		name := fmt.Sprintf("%s-%d", scheduler, waves+i)
		members[name] = 5
		b.job(t, scheduler, name, members[name])
		jobs = append(jobs, name)
	}
	left := 0
	for _, name := range jobs {
		left += members[name]
	}
	eventually(t, "all pods that are left have nodes", func() error {
		on, err := b.placed(t.Context())
		if err == nil && len(on) != left {
			err = fmt.Errorf("%d of %d have", len(on), left)
		}
		return err
	})
	eventually(t, "each scheduler has told that it bound the pods that stay", func() error {
		events, err := b.client.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=Scheduled"})
		if err != nil {
			return err
		}
		bound, by := map[types.UID]bool{}, map[string]int{}
		for _, e := range events.Items {
			if e.Regarding.Kind != "Pod" {
				continue // a session says so of a group, too
			}
			scheduler := e.Regarding.Name[:strings.LastIndex(e.Regarding.Name[:strings.LastIndex(e.Regarding.Name, "-")], "-")]
			if by[scheduler]++; e.ReportingController != scheduler || bound[e.Regarding.UID] {
				t.Errorf("%s says %q of %s, bound already: %t", e.ReportingController, e.Note, e.Regarding.Name, bound[e.Regarding.UID])
			}
			bound[e.Regarding.UID] = true
		}
		for _, scheduler := range schedulers {
			if by[scheduler] < 5 {
				return fmt.Errorf("%s has bound %d pods only", scheduler, by[scheduler])
			}
		}
		return nil
	})
}

// TestSessionThroughput: 500 jobs of 10 on 1,000 nodes are bound at 100 pods a second or more.
func TestSessionThroughput(t *testing.T) {
	clustertest.Slow(t)
	const jobs, members = 500, 10
	b := startBatch(t)
	if a := b.send(t, http.MethodPatch, "/api/v1/sessions", `{"enabled": false}`); a.status != http.StatusOK {
		t.Fatalf("%d: %s", a.status, a.body)
	}
	var creating sync.WaitGroup
	for part := range 8 {
		creating.Go(func() {
			for i := part; i < 1000; i += 8 {
				b.node(t, fmt.Sprintf("n%04d", i), "32")
			}
			for i := part; i < jobs; i += 8 {
				b.job(t, "kube-batch", fmt.Sprintf("j%04d", i), members)
			}
		})
	}
	creating.Wait()
	eventually(t, "the nodes are ready", func() error {
		nodes, err := b.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		for _, n := range nodes.Items {
			if len(n.Spec.Taints) > 0 {
				return fmt.Errorf("%s has taints", n.Name)
			}
		}
		return nil
	})
	if a := b.send(t, http.MethodPatch, "/api/v1/sessions", `{"enabled": true}`); a.status != http.StatusOK {
		t.Fatalf("%d: %s", a.status, a.body)
	}
	begin := time.Now()
	// The wait ends after two minutes, so that the test says how slow the machine is.
	bound, took := 0, time.Duration(0)
	clustertest.EventuallyWithin(t, 5*time.Minute, "all pods have nodes", func(ctx context.Context) (bool, error) {
		on, err := b.placed(ctx)
		bound, took = len(on), time.Since(begin)
		return bound == jobs*members || took > 2*time.Minute, err
	})
	rate := float64(bound) / took.Seconds()
	t.Logf("%.0f pods a second", rate)
	if rate < 100 {
		t.Errorf("%.0f pods a second, want 100", rate)
	}
}
