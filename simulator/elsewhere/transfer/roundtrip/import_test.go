package roundtrip

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest/manifesttest"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestKubectlAppliesExports: kubectl alone can apply an export, and controllers adopt its pods.
func TestKubectlAppliesExports(t *testing.T) {
	fill(t, shared)
	for _, format := range []transfer.Format{transfer.YAML, transfer.JSON} {
		t.Run(string(format), func(t *testing.T) {
			other := another(t)
			file := t.TempDir() + "/export." + string(format)
			if err := os.WriteFile(file, []byte(export(t, shared, transfer.ExportOptions{Format: format})), 0o600); err != nil {
				t.Fatal(err)
			}
			// As in any cluster, custom resources can be created once their definition is served.
			if _, err := other.kubectl.Run("apply", "-f", file); err == nil {
				t.Log("the custom resources were served at once")
			}
			clustertest.Eventually(t, "the definition is served", func(context.Context) (bool, error) {
				_, err := other.kubectl.Run("get", "racks.example.com", "-A")
				return err == nil, nil
			})
			other.kubectl.Must(t, "apply", "-f", file)
			adopted(t, other)
			if diff := cmp.Diff(names(t, shared), names(t, other)); diff != "" {
				t.Error("pods:", diff)
			}
		})
	}
}

func names(t *testing.T, c *cluster) []string {
	t.Helper()
	var found []string
	for _, line := range placement(t, c) {
		name, _, _ := strings.Cut(line, ",")
		found = append(found, name)
	}
	return found
}

// TestImportingTwice: a second import leaves existing objects alone.
func TestImportingTwice(t *testing.T) {
	fill(t, shared)
	before := placement(t, shared)
	report := importText(t, shared, export(t, shared, transfer.ExportOptions{}), transfer.ImportOptions{})
	if report.Unchanged != report.Read || report.Created+report.Updated != 0 {
		t.Errorf("of %d objects %d are unchanged, %d created, %d updated", report.Read, report.Unchanged, report.Created, report.Updated)
		for _, k := range report.Kinds {
			t.Logf("%+v", k)
		}
	}
	if diff := cmp.Diff(before, placement(t, shared)); diff != "" {
		t.Error(diff)
	}
}

// removePods removes the pods of a namespace at the end of the test. The pod garbage collector would
// remove pods on missing nodes at some time during other tests.
func removePods(t *testing.T, namespace string) {
	t.Cleanup(func() {
		err := shared.client.CoreV1().Pods(namespace).DeleteCollection(context.Background(), *metav1.NewDeleteOptions(0), metav1.ListOptions{})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestImportReports: an import reports the objects that failed, and imports the rest.
func TestImportReports(t *testing.T) {
	removePods(t, "reports")
	const input = `
apiVersion: v1
kind: Secret
metadata: {name: s}
---
apiVersion: v1
kind: Pod
metadata: {name: Wrong_Name, namespace: reports}
spec: {containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: good, namespace: reports}
spec: {nodeName: nowhere, priorityClassName: made, priority: 7, containers: [{name: c, image: i, typo: 1}]}
---
apiVersion: example.com/v1
kind: Missing
metadata: {name: m}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: p}
---
apiVersion: v1
	kind: Pod
`
	report, err := transfer.New(transfer.Options{Config: shared.config}).Import(t.Context(), manifest.NewSource(manifesttest.Part("f.yaml", input)), transfer.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for what, items := range map[string][]transfer.Item{"failed": report.Failed, "skipped": report.Skipped, "warning": report.Warnings} {
		for _, i := range items {
			said = append(said, fmt.Sprintf("%s: %s: %s %s: %s", what, i.Source, i.Kind, i.Name, i.Message))
		}
	}
	want := []string{
		`failed: f.yaml, document 2: Pod Wrong_Name: Pod "Wrong_Name" is invalid: metadata.name: Invalid value: "Wrong_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		"failed: f.yaml, document 4: Missing m: the API server has no kind Missing in example.com/v1; its CustomResourceDefinition may be missing, or belongs in the import, too",
		"failed: f.yaml, document 5: PodDisruptionBudget p: the API server does not serve PodDisruptionBudget in policy/v1beta1; it serves policy/v1",
		"failed: f.yaml, document 6:  : line 25: not YAML: a tab cannot indent; use spaces",
		"skipped: f.yaml, document 1: Secret s: Secrets are never imported",
		"warning: : Namespace reports: the input refers to it, but it did not exist, so it was created",
		"warning: : Node nowhere: 1 pods are bound to it, but it is neither in the input nor in the cluster: Kubernetes will delete them",
		"warning: : PriorityClass made: the input refers to it, but it did not exist, so it was created",
		`warning: f.yaml, document 3: Pod good: unknown field "spec.containers[0].typo"`,
	}
	if diff := cmp.Diff(want, sorted(said)); diff != "" {
		t.Error(diff)
	}
}

// TestClassesOfTheSameImport: admission sees a new priority class with a delay. Pods of the class are
// imported nevertheless, whether the import has the class or makes it for the pods.
func TestClassesOfTheSameImport(t *testing.T) {
	removePods(t, "default")
	for round := range 20 {
		input := strings.NewReplacer("ROUND", fmt.Sprint(round)).Replace(`
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: fresh-ROUND}, value: 5}
---
{apiVersion: v1, kind: Pod, metadata: {name: of-fresh-ROUND, namespace: default}, spec: {nodeName: nowhere, priorityClassName: fresh-ROUND, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: of-made-ROUND, namespace: default}, spec: {nodeName: nowhere, priorityClassName: made-ROUND, priority: 7, containers: [{name: c, image: i}]}}
`)
		importText(t, shared, input, transfer.ImportOptions{})
	}
}

// TestReschedule: unfinished pods are imported without their nodes, which are noted, and the scheduler gets them in
// the order of their creation.
func TestReschedule(t *testing.T) {
	fill(t, shared)
	other := another(t)
	report := importText(t, other, export(t, shared, transfer.ExportOptions{}), transfer.ImportOptions{Reschedule: true})
	before, err := podsOf(t.Context(), shared, "shop")
	if err != nil {
		t.Fatal(err)
	}
	pods, err := podsOf(t.Context(), other, "shop")
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for name, pod := range pods {
		if pod.Annotations[objects.AnnotationImportedNode] != "" {
			left++
		}
		if noted := pod.Annotations[objects.AnnotationImportedNode]; pod.Spec.NodeName == "" && noted != before[name].Spec.NodeName {
			t.Errorf("%s was on %q, and the import notes %q", name, before[name].Spec.NodeName, noted)
		}
		if isFinished := pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed; isFinished != (pod.Spec.NodeName != "") || len(pod.Spec.SchedulingGates) > 0 {
			t.Errorf("%s is %s on %q, gates %v", name, pod.Status.Phase, pod.Spec.NodeName, pod.Spec.SchedulingGates)
		}
	}
	if len(pods) != 12 || left == 0 || report.LeftToScheduler != left {
		t.Errorf("%d pods, of which %d had nodes; the report says %d", len(pods), left, report.LeftToScheduler)
	}
}

// TestEarlierSimulator imports an export of the earlier simulator, and binds claims and volumes again.
func TestEarlierSimulator(t *testing.T) {
	data, err := os.ReadFile("../testdata/earlier.json")
	if err != nil {
		t.Fatal(err)
	}
	report := importText(t, shared, string(data), transfer.ImportOptions{})
	if report.Configuration == nil {
		t.Error("no scheduler configuration was found")
	}
	claim, err := shared.client.CoreV1().PersistentVolumeClaims("earlier").Get(t.Context(), "claim", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	volume, err := shared.client.CoreV1().PersistentVolumes().Get(t.Context(), "earlier-volume", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if claim.Status.Phase != "Bound" || volume.Spec.ClaimRef.UID != claim.UID {
		t.Errorf("the claim is %s, the volume's claim has UID %s instead of %s", claim.Status.Phase, volume.Spec.ClaimRef.UID, claim.UID)
	}
	pod, err := shared.client.CoreV1().Pods("earlier").Get(t.Context(), "pod", metav1.GetOptions{})
	if err != nil || pod.Spec.NodeName != "earlier-node" {
		t.Errorf("pod: %v %v", pod.Spec.NodeName, err)
	}
}

// TestCancelling: a cancelled import keeps the objects that it created, and leaves no pod gated.
func TestCancelling(t *testing.T) {
	var input strings.Builder
	input.WriteString("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: rs, namespace: cancelled}\nspec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n")
	for i := range 300 {
		fmt.Fprintf(&input, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: pod-%d, namespace: cancelled}\nspec: {containers: [{name: c, image: i}]}\n", i)
	}
	s := transfer.New(transfer.Options{Config: shared.config})
	reached := make(chan struct{})
	var once bool
	run, err := s.Begin(manifest.NewSource(manifesttest.Part("f", input.String())), transfer.ImportOptions{Progress: func(p transfer.Progress) {
		if p.Kind == "Pod" && p.Done > 50 && !once {
			once = true
			close(reached)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	<-reached
	if !run.Cancel() {
		t.Error("it was over")
	}
	<-run.Done()
	if run.State() != transfer.Cancelled {
		t.Errorf("it is %s", run.State())
	}
	pods, err := podsOf(t.Context(), shared, "cancelled")
	if err != nil {
		t.Fatal(err)
	}
	if len(pods) < 50 || len(pods) == 300 {
		t.Errorf("%d pods", len(pods))
	}
	for name, pod := range pods {
		if len(pod.Spec.SchedulingGates) > 0 {
			t.Errorf("%s is behind %v", name, pod.Spec.SchedulingGates)
		}
	}
}

// TestImportingCollectedObjects: collected objects are imported like those of a file, and are not
// modified.
func TestImportingCollectedObjects(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "applied", "namespace": "default", "uid": "elsewhere", "creationTimestamp": time.Now().UTC().Format(time.RFC3339)},
	}}
	before := u.DeepCopy()
	report, err := transfer.New(transfer.Options{Config: shared.config}).Import(t.Context(), manifesttest.Collected(t, u), transfer.ImportOptions{})
	if err != nil || report.Created != 1 {
		t.Fatal(report, err)
	}
	if diff := cmp.Diff(before, u); diff != "" {
		t.Error(diff)
	}
}

// TestRecover releases the pods that a killed import left gated.
func TestRecover(t *testing.T) {
	importText(t, shared, "apiVersion: v1\nkind: Pod\nmetadata: {name: left, namespace: recovered}\nspec: {schedulingGates: [{name: mine.example.com/a}, {name: "+objects.GateImport+"}], containers: [{name: c, image: i}]}\n", transfer.ImportOptions{})
	if err := transfer.New(transfer.Options{Config: shared.config}).Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	pods, err := podsOf(t.Context(), shared, "recovered")
	if err != nil {
		t.Fatal(err)
	}
	if gates := pods["left"].Spec.SchedulingGates; len(gates) != 1 || gates[0].Name != "mine.example.com/a" {
		t.Errorf("gates: %v", gates)
	}
}
