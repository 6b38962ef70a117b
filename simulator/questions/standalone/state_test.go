package standalone

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// written is a cluster as people write it and as exports have it.
const written = `
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "4"}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: shop
  annotations: {kube-scheduler-simulator.sigs.k8s.io/owner: '{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web"}'}
spec:
  nodeName: a
  priorityClassName: high
  containers: [{name: web, image: web, resources: {limits: {cpu: "1"}}}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: v1
kind: Pod
metadata: {generateName: batch-, namespace: shop}
spec: {containers: [{name: web, image: web}]}
---
apiVersion: v1
kind: Pod
metadata: {name: done, namespace: shop}
spec: {nodeName: a, containers: [{name: web, image: web}]}
status: {phase: Succeeded}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  claimRef: {namespace: shop, name: data}
  hostPath: {path: /data}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: free}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  hostPath: {path: /data}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu, namespace: shop}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
status:
  reservedFor: [{resource: pods, name: web-1}, {resource: pods, name: gone}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: bad, namespace: shop}
spec: {containers: [{name: web}]}
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: train, namespace: shop}
spec: {minMember: 3}
status: {phase: Scheduling}
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: wrong, namespace: shop}
spec: {minMember: -3}
---
apiVersion: v1
kind: Pod
metadata: {name: [}
`

func readWritten(t *testing.T, content string) (*state, *reading) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := readFile(t.Context(), file, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := newState(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

func names(s *state) []string {
	var out []string
	for _, o := range s.list() {
		k, _ := keyOf(o)
		out = append(out, k.String())
	}
	return out
}

func TestAFileIsReadAsAnImportReadsIt(t *testing.T) {
	s, r := readWritten(t, written)
	wantNames := []string{
		"Namespace default", "Namespace shop", "PriorityClass high", "StorageClass standard",
		"PersistentVolume disk", "PersistentVolume free", "PersistentVolumeClaim shop/data", "Node a", "PodGroup shop/train", "ResourceClaim shop/gpu",
		"Pod shop/batch-4", "Pod shop/web-1",
	}
	if diff := cmp.Diff(wantNames, names(s)); diff != "" {
		t.Error(diff)
	}
	wantNotes := []string{
		"cluster.yaml, document 14: line 85: not YAML: did not find expected node content",
		`cluster.yaml, document 13: left out: PodGroup.scheduling.x-k8s.io "wrong" is invalid: spec.minMember: Invalid value: -3: spec.minMember in body should be greater than or equal to 1`,
		`cluster.yaml, document 11: left out: Pod "bad" is invalid: spec.containers[0].image: Required value`,
	}
	if diff := cmp.Diff(wantNotes, r.notes); diff != "" {
		t.Error(diff)
	}

	pod := s.objects[key{objects.Pod, "shop", "web-1"}].(*corev1.Pod)
	node := s.objects[key{objects.Node, "", "a"}].(*corev1.Node)
	claim := s.objects[key{objects.PersistentVolumeClaim, "shop", "data"}].(*corev1.PersistentVolumeClaim)
	disk := s.objects[key{objects.PersistentVolume, "", "disk"}].(*corev1.PersistentVolume)
	free := s.objects[key{objects.PersistentVolume, "", "free"}].(*corev1.PersistentVolume)
	devices := s.objects[key{objects.ResourceClaim, "shop", "gpu"}].(*resourcev1.ResourceClaim)
	group := s.objects[key{schema.GroupKind{Group: "scheduling.x-k8s.io", Kind: "PodGroup"}, "shop", "train"}].(*unstructured.Unstructured)
	for _, check := range []struct {
		what      string
		got, want any
	}{
		{"the priority", *pod.Spec.Priority, int32(1000)},
		{"the owner", pod.OwnerReferences[0].Kind + "/" + pod.OwnerReferences[0].Name, "ReplicaSet/web"},
		{"the host name", node.Labels[corev1.LabelHostname], "a"},
		{"the number of pods", node.Status.Allocatable.Pods().String(), "110"},
		{"the claim's class", *claim.Spec.StorageClassName, "standard"},
		{"the claim's volume", claim.Spec.VolumeName, "disk"},
		{"the bound volume", disk.Status.Phase, corev1.VolumeBound},
		{"its claim", disk.Spec.ClaimRef.UID, claim.UID},
		{"the free volume", free.Status.Phase, corev1.VolumeAvailable},
		{"the reservations", len(devices.Status.ReservedFor), 1},
		{"the reservation", devices.Status.ReservedFor[0].UID, pod.UID},
		{"the group's phase", group.Object["status"], map[string]any{"phase": "Scheduling"}},
	} {
		if diff := cmp.Diff(check.want, check.got); diff != "" {
			t.Errorf("%s: %s", check.what, diff)
		}
	}
}

// What kubectl get prints was stored by an API server, and is taken as it is.
func TestWhatAServerHasStoredStays(t *testing.T) {
	s, r := readWritten(t, `{"apiVersion": "v1", "kind": "List", "items": [
		{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "1"}, "spec": {"priority": 7, "priorityClassName": "gone", "containers": [{"name": "web", "image": "web"}]}}
	]}`)
	pod := s.objects[key{objects.Pod, "shop", "web"}].(*corev1.Pod)
	if len(r.notes) > 0 || *pod.Spec.Priority != 7 || pod.UID != "1" {
		t.Errorf("the pod has UID %s and the priority %d; the notes are %q", pod.UID, *pod.Spec.Priority, r.notes)
	}
}

func TestChanges(t *testing.T) {
	const nodeKind, podKind = `{"apiVersion":"v1","kind":"Node","name":"a"`, `{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web-1"`
	const groupKind = `{"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup","namespace":"shop","name":"train"`
	for _, tc := range []struct{ name, change, want string }{
		{"a new node", `{"apply":{"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}}}`, "apply Node b"},
		{"copies of a node", `{"apply":{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}},"count":3}`, "apply Node a"},
		{"a change of a node", `{"apply":{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","labels":{"x":"y"}}}}`, "apply Node a cpu=4 x=y"},
		{"a patch", `{"patch":` + nodeKind + `,"patch":{"spec":{"unschedulable":true}}}}`, "apply Node a cpu=4 cordoned"},
		{"a JSON patch", `{"patch":` + nodeKind + `,"patch":[{"op":"add","path":"/metadata/labels/x","value":"z"}]}}`, "apply Node a cpu=4 x=z"},
		{"an immutable field", `{"patch":` + podKind + `,"patch":{"spec":{"priorityClassName":"system-node-critical"}}}}`, "pod updates may not change fields"},
		{"a custom resource", `{"apply":{"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup","metadata":{"name":"other"},"spec":{"minMember":2}}}`, "apply PodGroup default/other minMember=2"},
		{"a patch of one", `{"patch":` + groupKind + `,"patch":{"spec":{"minMember":5}}}}`, "apply PodGroup shop/train minMember=5"},
		{"a field that it does not have", `{"patch":` + groupKind + `,"patch":{"spec":{"minMembers":5}}}}`, `unknown field "spec.minMembers"`},
		{"a value that it does not allow", `{"patch":` + groupKind + `,"patch":{"spec":{"minMember":-1}}}}`, "should be greater than or equal to 1"},
		{"a version that it does not have", `{"apply":{"apiVersion":"scheduling.x-k8s.io/v1","kind":"PodGroup","metadata":{"name":"other"}}}`, "the scheduler reads PodGroup of scheduling.x-k8s.io/v1alpha1, not of scheduling.x-k8s.io/v1"},
		{"a deletion", `{"delete":` + podKind + `}}`, "delete shop/web-1"},
		{"no such object", `{"patch":{"apiVersion":"v1","kind":"Node","name":"c","patch":{}}}`, `the state has no Node "c"`},
		{"a patch that is wrong", `{"patch":` + nodeKind + `,"patch":{"spec":{"unschedulable":3}}}}`, "json: cannot unmarshal"},
		{"a field that does not exist", `{"patch":` + nodeKind + `,"patch":{"spec":{"unscheduleable":true}}}}`, `unknown field "spec.unscheduleable"`},
		{"an invalid value", `{"patch":` + nodeKind + `,"patch":{"spec":{"taints":[{"key":"x","effect":"No"}]}}}}`, `Unsupported value: "No"`},
		{"another name", `{"patch":` + nodeKind + `,"patch":{"metadata":{"name":"b"}}}}`, "a patch cannot change"},
		{"a kind that does not matter", `{"apply":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}}`, "the scheduler does not read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := readWritten(t, written)
			var change hypothesis.Change
			if err := json.Unmarshal([]byte(tc.change), &change); err != nil {
				t.Fatal(err)
			}
			got, err := s.Change(t.Context(), "change", change)
			said := ""
			switch {
			case err != nil:
				said = err.Error()
			case got.Delete != nil:
				said = "delete " + got.Delete.Namespace + "/" + got.Delete.Name
			default:
				k, _ := keyOf(got.Apply)
				said = "apply " + k.String()
				switch o := got.Apply.(type) {
				case *unstructured.Unstructured:
					least, _, _ := unstructured.NestedInt64(o.Object, "spec", "minMember")
					said += fmt.Sprintf(" minMember=%d", least)
				case *corev1.Node:
					if _, sized := o.Status.Allocatable[corev1.ResourceCPU]; sized && change.Count == nil && k.name == "a" {
						said += " cpu=" + o.Status.Allocatable.Cpu().String()
					}
					if x := o.Labels["x"]; x != "" {
						said += " x=" + x
					}
					if o.Spec.Unschedulable {
						said += " cordoned"
					}
				}
			}
			if err == nil && said != tc.want || !strings.Contains(said, tc.want) {
				t.Errorf("got %s\nwant %s", said, tc.want)
			}
		})
	}
}

func TestLaterChangesSeeEarlierOnes(t *testing.T) {
	s, _ := readWritten(t, written)
	for _, document := range []string{
		`{"apply":{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"new"},"value":77}}`,
		`{"apply":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","namespace":"shop"},"spec":{"priorityClassName":"new","containers":[{"name":"a","image":"b"}]}}}`,
	} {
		var change hypothesis.Change
		if err := json.Unmarshal([]byte(document), &change); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Change(t.Context(), "change", change); err != nil {
			t.Fatal(err)
		}
	}
	if got := *s.objects[key{objects.Pod, "shop", "x"}].(*corev1.Pod).Spec.Priority; got != 77 {
		t.Errorf("the priority is %d", got)
	}
}

func TestTimesOfARecording(t *testing.T) {
	const file = "../../past/replay/testdata/format1.recording"
	r, end, err := readRecording(t.Context(), file, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.objects) == 0 {
		t.Error("it has no objects")
	}
	for _, tc := range []struct{ at, want string }{
		{end.UTC().Format(time.RFC3339), ""},
		{"0s", ""},
		{"1000h", "does not hold 1000h"},
		{"yesterday", "neither a time such as"},
	} {
		_, _, err := readRecording(t.Context(), file, tc.at)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("at %s: %v, want %q", tc.at, err, tc.want)
		}
	}
}

// TestACluster: a cluster is only read, without its secrets, and what it does not show is noted.
func TestACluster(t *testing.T) {
	answers := map[string]string{
		"/api":          `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":         `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1":       `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[` + served("Node", "nodes", false) + "," + served("Pod", "pods", true) + "," + served("LimitRange", "limitranges", true) + "," + served("Secret", "secrets", true) + `]}`,
		"/api/v1/nodes": `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","uid":"1"},"status":{"allocatable":{"cpu":"4"}}}]}`,
		"/api/v1/pods":  `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"web","namespace":"shop","uid":"2"},"spec":{"nodeName":"a","containers":[{"name":"web","image":"web"}]}}]}`,
	}
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		mu.Unlock()
		answer, known := answers[r.URL.Path]
		w.Header().Set("Content-Type", "application/json")
		if !known {
			w.WriteHeader(http.StatusForbidden)
			answer = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("{clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: production, context: {cluster: c}}], current-context: production}", server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), Options{Kubeconfig: mirror.SourceOptions{Kubeconfig: kubeconfig}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Namespace default", "Namespace shop", "Node a", "Pod shop/web"}, names(c.state)); diff != "" {
		t.Error(diff)
	}
	notes, further := c.Notes()
	if diff := cmp.Diff([]string{"LimitRange is left out: the kubeconfig does not allow listing it"}, notes); diff != "" || further != 0 {
		t.Errorf("%d further, %s", further, diff)
	}
	if c.Name() != `the cluster "production"` {
		t.Error(c.Name())
	}
	for _, request := range asked {
		if !strings.HasPrefix(request, "GET ") || strings.Contains(request, "secrets") {
			t.Errorf("the cluster was asked to %s", request)
		}
	}
}

func served(kind, resource string, namespaced bool) string {
	return fmt.Sprintf(`{"kind":%q,"name":%q,"namespaced":%t,"verbs":["get","list","watch"]}`, kind, resource, namespaced)
}

// BenchmarkReadFile reads a cluster of 1,000 nodes and 5,000 pods as an export has it.
func BenchmarkReadFile(b *testing.B) {
	var items []string
	for i := range 1000 {
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-%d","labels":{"kubernetes.io/hostname":"node-%d"}},"status":{"allocatable":{"cpu":"32","memory":"128Gi","pods":"110"}}}`, i, i))
	}
	for i := range 5000 {
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%d","namespace":"default","labels":{"app":"web"}},"spec":{"nodeName":"node-%d","containers":[{"name":"web","image":"web:1","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]},"status":{"phase":"Running"}}`, i, i%1000))
	}
	file := filepath.Join(b.TempDir(), "export.json")
	if err := os.WriteFile(file, []byte(`{"apiVersion":"v1","kind":"List","items":[`+strings.Join(items, ",")+`]}`), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := readFile(b.Context(), file, "")
		if err != nil {
			b.Fatal(err)
		}
		if s, err := newState(b.Context(), r); err != nil || len(s.objects) < 6000 || len(r.notes) > 0 {
			b.Fatal(err, r.notes)
		}
	}
}
