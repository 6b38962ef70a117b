package systemtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/testing/clustertest"
	"kube-scheduler-simulator/simulator/testing/kubectltest"
)

var (
	kueueWorkloads = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"}
	requests       = schema.GroupVersionResource{Group: "autoscaling.x-k8s.io", Version: "v1", Resource: "provisioningrequests"}
	appWrappers    = schema.GroupVersionResource{Group: "workload.codeflare.dev", Version: "v1beta2", Resource: "appwrappers"}
)

// kueue is a program with queues, and kubectl.
type kueue struct {
	*program
	kubectltest.Kubectl
	custom dynamic.Interface
}

func startKueue(t *testing.T, h home, flags ...string) *kueue {
	t.Helper()
	p := start(t, h, flags...)
	custom, err := dynamic.NewForConfig(p.config)
	if err != nil {
		t.Fatal(err)
	}
	return &kueue{p, kubectltest.Kubectl{Kubeconfig: p.kubeconfig, Namespace: "default"}, custom}
}

// apply applies a file of manifests as it is.
func (k *kueue) apply(t *testing.T, name string) {
	t.Helper()
	k.Must(t, "apply", "-f", filepath.Join("testdata", "kueue", name))
}

// workload returns the workload that the owner has; nil if it has none.
func (k *kueue) workload(t *testing.T, owner string) (*unstructured.Unstructured, error) {
	all, err := k.custom.Resource(kueueWorkloads).Namespace("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range all.Items {
		if slices.ContainsFunc(all.Items[i].GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.Name == owner }) {
			return &all.Items[i], nil
		}
	}
	return nil, fmt.Errorf("%s has no workload", owner)
}

// has waits until a condition of the owner's workload has a status and a reason.
func (k *kueue) has(t *testing.T, owner, kind, status, reason string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the workload of %s is %s=%s", owner, kind, status), func() error {
		w, err := k.workload(t, owner)
		if err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(w.Object, "status", "conditions")
		for _, c := range conditions {
			if c := c.(map[string]any); c["type"] == kind && c["status"] == status && (reason == "" || c["reason"] == reason) {
				return nil
			}
		}
		return errors.Join(err, fmt.Errorf("it has %v", conditions))
	})
}

// runs waits until pods with that name, or with that prefix and a dash, run, and returns their nodes.
func (k *kueue) runs(t *testing.T, name string, count int) (nodes []string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d pods of %s have nodes", count, name), func() error {
		pods, err := k.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		nodes = nil
		for _, pod := range pods.Items {
			if (pod.Name == name || strings.HasPrefix(pod.Name, name+"-")) && pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil {
				nodes = append(nodes, pod.Spec.NodeName)
			}
		}
		if len(nodes) < count {
			return fmt.Errorf("%d have", len(nodes))
		}
		return nil
	})
	return nodes
}

// suspended waits until a job is suspended, or is not.
func (k *kueue) suspended(t *testing.T, name string, want bool) {
	t.Helper()
	eventually(t, fmt.Sprintf("job %s is suspended: %v", name, want), func() error {
		job, err := k.client.BatchV1().Jobs("default").Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && (ptr.Deref(job.Spec.Suspend, false) != want || want && job.Status.Active > 0) {
			err = fmt.Errorf("suspend is %v, %d pods are active", ptr.Deref(job.Spec.Suspend, false), job.Status.Active)
		}
		return err
	})
}

// TestKueueAdmitsAJob is the short path: a job that is suspended, admitted, scheduled, and told in the
// ledger; and after a kill, the admission is still there, and the quota comes back when the job has gone.
func TestKueueAdmitsAJob(t *testing.T) {
	h := newHome(t)
	k := startKueue(t, h, "--kueue")
	k.apply(t, "single.yaml")
	k.has(t, "first", "Admitted", "True", "Admitted")
	for _, node := range k.runs(t, "first", 3) {
		if node != "single-1" {
			t.Errorf("a pod is on %s, which the flavor does not have", node)
		}
	}
	var page struct {
		Items []struct {
			Heads []struct {
				Outcome    string
				LocalQueue string `json:"localQueue"`
			}
		}
	}
	if err := k.get("/api/v1/admissions?clusterQueue=single&outcome=Reserved", &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != 1 || page.Items[0].Heads[0].LocalQueue != "single" {
		t.Errorf("the ledger has %+v", page)
	}
	k.followsOlder(t)

	k.kill()
	k = startKueue(t, h)
	k.has(t, "first", "Admitted", "True", "Admitted")
	k.suspended(t, "first", false)
	k.Must(t, "delete", "job", "first")
	eventually(t, "the quota is back", func() error {
		out, err := k.Run("get", "clusterqueue", "single", "-o", "jsonpath={.status.reservingWorkloads}/{.status.flavorsReservation[0].resources[0].total}")
		if err == nil && out != "0/0" && out != "/0" {
			err = errors.New(out)
		}
		return err
	})
}

// followsOlder checks that a client can list, watch and change the workload in the older version, which has no watch cache.
func (k *kueue) followsOlder(t *testing.T) {
	t.Helper()
	older := kueueWorkloads.GroupResource().WithVersion("v1beta1")
	informer := dynamicinformer.NewDynamicSharedInformerFactory(k.custom, 0).ForResource(older).Informer()
	var following sync.WaitGroup
	defer following.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	following.Go(func() { informer.RunWithContext(ctx) })
	has := func(labels int) func() error {
		return func() error {
			list := informer.GetStore().List()
			if len(list) != 1 || list[0].(*unstructured.Unstructured).GetAPIVersion() != older.GroupVersion().String() {
				return fmt.Errorf("workloads: %v", list)
			}
			if got := len(list[0].(*unstructured.Unstructured).GetLabels()); got < labels {
				return fmt.Errorf("it has %d labels", got)
			}
			return nil
		}
	}
	eventually(t, "the workload in its older version", has(0))
	before := len(informer.GetStore().List()[0].(*unstructured.Unstructured).GetLabels())
	k.Must(t, "label", "workloads.v1beta1.kueue.x-k8s.io", "--all", "followed=yes")
	eventually(t, "a change of the workload in its older version", has(before+1))
}

// TestKueueExamples applies manifests of the kinds that Kueue's documentation has, unchanged, one after the
// other.
func TestKueueExamples(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	k := startKueue(t, passing(t))
	if a, err := k.request(http.MethodPut, "/api/v1/kueue", nil, nil); err != nil || a.status != http.StatusOK {
		t.Fatal(a, err)
	}

	k.apply(t, "single.yaml")
	k.runs(t, "first", 3)

	k.apply(t, "partial.yaml")
	if nodes := k.runs(t, "partial", 4); len(nodes) != 4 {
		t.Errorf("%d pods of the partial job run", len(nodes))
	}

	k.apply(t, "pods.yaml")
	for name, count := range map[string]int{"alone": 1, "group": 2, "deployment": 2, "stateful": 2} {
		k.runs(t, name, count)
	}

	k.apply(t, "cohort.yaml")
	k.runs(t, "borrower", 2)
	k.Must(t, "create", "-f", "testdata/kueue/reclaimer.yaml")
	k.has(t, "borrower", "Evicted", "True", "Preempted")
	k.suspended(t, "borrower", true)
	k.runs(t, "reclaimer", 1)
	k.has(t, "borrower", "QuotaReserved", "False", "")

	k.apply(t, "topology.yaml")
	for _, node := range k.runs(t, "together", 2) {
		if !strings.HasPrefix(node, "rack-1-") {
			t.Errorf("a pod is on %s; only rack 1 has room for both", node)
		}
	}

	k.apply(t, "check.yaml")
	k.has(t, "checked", "QuotaReserved", "True", "")
	k.suspended(t, "checked", true)
	w, err := k.workload(t, "checked")
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"namespace":"default","workload":%q,"check":"budget","state":"Ready"}`, w.GetName())
	k.mustSend(t, http.MethodPut, "/api/v1/kueue/checks", body)
	k.runs(t, "checked", 1)

	k.Must(t, "patch", "workload", w.GetName(), "--type=merge", "-p", `{"spec":{"active":false}}`)
	k.has(t, "checked", "Evicted", "True", "Deactivated")
	k.suspended(t, "checked", true)
	k.Must(t, "patch", "clusterqueue", "single", "--type=merge", "-p", `{"spec":{"stopPolicy":"HoldAndDrain"}}`)
	k.has(t, "first", "Evicted", "True", "ClusterQueueStopped")
	k.suspended(t, "first", true)
	job, err := k.client.BatchV1().Jobs("default").Get(t.Context(), "first", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the template is as it was", func() error {
		job, err = k.client.BatchV1().Jobs("default").Get(t.Context(), "first", metav1.GetOptions{})
		if err == nil && len(job.Spec.Template.Spec.NodeSelector) > 0 {
			err = fmt.Errorf("it selects %v", job.Spec.Template.Spec.NodeSelector)
		}
		return err
	})
	k.tells(t)
}

// tells checks what others read of the queue single, which is drained: the visibility API by kubectl, as kueuectl reads it,
// the metrics, and the answer to what would let its job in.
func (k *kueue) tells(t *testing.T) {
	t.Helper()
	const list = "/apis/visibility.kueue.x-k8s.io/v1beta2/"
	first, err := k.workload(t, "first")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"clusterqueues/single/pendingworkloads", "namespaces/default/localqueues/single/pendingworkloads"} {
		eventually(t, "the pending workloads of "+path, func() error {
			out, err := k.Run("get", "--raw", list+path)
			if err == nil && !(strings.Contains(out, first.GetName()) && strings.Contains(out, `"positionInClusterQueue"`) && strings.Contains(out, `"positionInLocalQueue"`)) {
				err = errors.New(out)
			}
			return err
		})
	}
	eventually(t, "the metrics", func() error {
		a, err := k.request(http.MethodGet, "/metrics", nil, nil)
		for _, name := range []string{`kueue_evicted_workloads_total{cluster_queue="single",`, `kueue_pending_workloads{cluster_queue="single",`, `kueue_admitted_workloads_total{cluster_queue="single",`} {
			if err == nil && !strings.Contains(string(a.body), name) {
				err = fmt.Errorf("there is no %s", name)
			}
		}
		return err
	})
	if fits, err := k.fits(first.GetName()); err != nil || fits {
		t.Errorf("a workload of a stopped queue fits: %v, %v", fits, err)
	}
}

// TestKueueConfiguration: the configuration of a real Kueue applies unchanged, and stays over a kill until a reset.
// What is wrong is refused, with the field.
func TestKueueConfiguration(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	h := newHome(t)
	k := startKueue(t, h, "--kueue")
	k.apply(t, "single.yaml")
	k.has(t, "first", "Admitted", "True", "Admitted")
	put := func(body string) answer {
		t.Helper()
		a, err := k.request(http.MethodPut, "/api/v1/kueue/configuration", strings.NewReader(body), func(r *http.Request) { r.Header.Set("Content-Type", "application/yaml") })
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := put("waitForPodsReady: {timeout: -1s}"); a.status != http.StatusBadRequest || !strings.Contains(string(a.body), `"field":"waitForPodsReady.timeout"`) {
		t.Errorf("a mistake: %d %s", a.status, a.body)
	}
	a := put("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmetrics: {bindAddress: 0.0.0.0}\nfairSharing: {preemptionStrategies: [LessThanInitialShare]}\n")
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	shared := func(want bool) {
		t.Helper()
		eventually(t, fmt.Sprintf("queues have shares: %v", want), func() error {
			var state struct {
				Configuration struct{ FairSharing any }
				View          *struct {
					Quotas  []struct{ Share any }
					Running []any
				}
			}
			if err := k.get("/api/v1/kueue", &state); err != nil {
				return err
			}
			if state.View == nil || len(state.View.Quotas) != 1 || len(state.View.Running) != 1 || (state.View.Quotas[0].Share != nil) != want || (state.Configuration.FairSharing != nil) != want {
				return fmt.Errorf("it is %+v", state)
			}
			return nil
		})
	}
	shared(true)
	k.kill()
	k = startKueue(t, h)
	shared(true)
	if a, err := k.request(http.MethodPut, "/api/v1/reset", nil, nil); err != nil || a.status != http.StatusOK {
		t.Fatal(a, err)
	}
	if a, err := k.request(http.MethodPut, "/api/v1/kueue", nil, nil); err != nil || a.status != http.StatusOK {
		t.Fatal(a, err)
	}
	k.apply(t, "single.yaml")
	shared(false)
}

// TestKueueRefusesMistakes: each document of the file is refused, those that webhooks would refuse, too.
func TestKueueRefusesMistakes(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	k := startKueue(t, passing(t), "--kueue")
	data, err := os.ReadFile("testdata/kueue/refused.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, document := range strings.Split(string(data), "\n---\n") {
		file := filepath.Join(t.TempDir(), fmt.Sprint(i, ".yaml"))
		if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := k.Run("create", "-f", file); err == nil || strings.Contains(err.Error(), "webhook") {
			t.Errorf("%s\nwas answered with %s %v", document, out, err)
		}
	}
}

// TestKueueBesideUs: the simulator admits nothing while Kueue itself is there, and admits again when it has gone.
func TestKueueBesideUs(t *testing.T) {
	k := startKueue(t, passing(t), "--kueue")
	k.apply(t, "single.yaml")
	k.has(t, "first", "Admitted", "True", "")
	state := func(want string) {
		t.Helper()
		eventually(t, "the queues are "+want, func() error {
			var answer struct{ State, Message string }
			if err := k.get("/api/v1/kueue", &answer); err != nil || answer.State != want {
				return errors.Join(err, fmt.Errorf("they are %+v", answer))
			}
			return nil
		})
	}
	job := func(name string, suspended bool) {
		t.Helper()
		k.Apply(t, fmt.Sprintf("{apiVersion: batch/v1, kind: Job, metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: single}}, spec: {suspend: %t, template: {spec: {restartPolicy: Never, containers: [{name: c, image: pause}]}}}}", name, suspended))
	}
	state("on")
	k.Apply(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: kueues-own}, webhooks: [
  {name: vworkload.kb.io, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore, clientConfig: {url: "https://127.0.0.1:1/validate"},
   rules: [{apiGroups: [kueue.x-k8s.io], apiVersions: [v1beta2], operations: [DELETE], resources: [workloads]}]}]}`)
	state("foreign")
	job("theirs", true)
	job("free", false)
	k.suspended(t, "free", false) // the intake stays out, too
	if _, err := k.workload(t, "theirs"); err == nil {
		t.Error("the simulator makes workloads beside Kueue itself")
	}
	k.Must(t, "delete", "validatingwebhookconfiguration", "kueues-own")
	state("on")
	k.has(t, "theirs", "Admitted", "True", "")
}

// TestKueueAdmitsJobSets: JobSets and LeaderWorkerSets run on virtual nodes by their own controllers, and a JobSet of a queue starts
// as a whole.
func TestKueueAdmitsJobSets(t *testing.T) {
	k := startKueue(t, passing(t), "--kueue", "--crds", "JobSet,LeaderWorkerSet")
	k.apply(t, "jobset.yaml")
	k.has(t, "train", "Admitted", "True", "")
	k.runs(t, "train", 3)
	k.apply(t, "jobset-behind.yaml")
	k.has(t, "behind", "QuotaReserved", "False", "WaitingForQuota")
	k.runs(t, "serve", 4)
	// There is room for one of two groups, with a leader that asks for more than its workers.
	if nodes := k.runs(t, "queued", 3); len(nodes) != 3 {
		t.Errorf("%d pods of a queue with room for 3 have nodes", len(nodes))
	}
	k.Must(t, "delete", "jobset", "train")
	k.runs(t, "behind", 3)
}

// TestKueueAdmitsAppWrappers: an AppWrapper waits for quota and runs as a whole. What is preempted loses its components, comes back
// when there is quota, and an AppWrapper whose pods have succeeded ends.
func TestKueueAdmitsAppWrappers(t *testing.T) {
	k := startKueue(t, passing(t), "--kueue", "--crds", "AppWrapper")
	k.apply(t, "appwrapper.yaml")
	k.has(t, "first", "Admitted", "True", "")
	if nodes := k.runs(t, "first", 3); !slices.Equal(slices.Compact(nodes), []string{"wrapped-1"}) {
		t.Errorf("the pods are on %v, not on the node of the flavor", nodes)
	}
	k.apply(t, "appwrapper-urgent.yaml")
	k.has(t, "first", "Evicted", "True", "Preempted")
	k.has(t, "urgent", "Finished", "True", "Succeeded")
	k.has(t, "first", "Admitted", "True", "")
	k.runs(t, "first", 3)
	if _, err := k.workload(t, "first-learn"); err == nil {
		t.Error("the job of an AppWrapper is queued by itself")
	}
	k.Must(t, "delete", "appwrapper", "first")
	eventually(t, "the components have gone", func() error {
		out, err := k.Run("get", "deployments,jobs", "-o", "name", "-l", "workload.codeflare.dev/appwrapper=first")
		if err == nil && strings.TrimSpace(out) != "" {
			err = fmt.Errorf("there are %s", out)
		}
		return err
	})
	wrong := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": map[string]any{"name": "wrong"},
		"spec": map[string]any{"components": []any{map[string]any{
			"podSets":  []any{map[string]any{"path": "template.spec.nothing"}},
			"template": map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"}},
		}}},
	}}
	_, err := k.custom.Resource(appWrappers).Namespace("default").Create(t.Context(), wrong, metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "spec.components[0].podSets[0].path") {
		t.Errorf("a path that leads nowhere is answered %v", err)
	}
}

// TestKueueAsksAnAutoscaler: a workload with quota waits for the answer to its ProvisioningRequest, and runs with it.
func TestKueueAsksAnAutoscaler(t *testing.T) {
	k := startKueue(t, passing(t), "--kueue")
	k.apply(t, "provisioning.yaml")
	k.has(t, "asking", "QuotaReserved", "True", "")
	k.has(t, "asking", "Admitted", "False", "UnsatisfiedAdmissionChecks")
	request := ""
	eventually(t, "there is a ProvisioningRequest", func() error {
		all, err := k.custom.Resource(requests).Namespace("default").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(all.Items) != 1 {
			return errors.Join(err, errors.New("there is none"))
		}
		request = all.Items[0].GetName()
		return nil
	})
	eventually(t, "the workload says what it waits for", func() error {
		w, err := k.workload(t, "asking")
		if err != nil {
			return err
		}
		if text := fmt.Sprint(w.Object["status"]); !strings.Contains(text, "waits for an autoscaler to answer ProvisioningRequest "+request) {
			return errors.New(text)
		}
		return nil
	})
	k.Must(t, "get", "podtemplate", "ppt-"+request+"-main")
	k.Must(t, "patch", "provisioningrequest", request, "--subresource=status", "--type=merge", "-p",
		`{"status": {"conditions": [{"type": "Provisioned", "status": "True", "reason": "ByHand", "message": "here", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`)
	k.has(t, "asking", "Admitted", "True", "")
	k.runs(t, "asking", 2)
	if got := k.Must(t, "get", "job", "asking", "-o", `jsonpath={.spec.template.metadata.annotations.autoscaling\.x-k8s\.io/consume-provisioning-request}`); got != request {
		t.Errorf("the pods use the request %q, not %s", got, request)
	}
}
