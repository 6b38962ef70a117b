package systemtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// batchKinds are the kinds of the batch systems that the testdata has an object of: all that need a definition or a feature gate, except for
// groups of groups, whose gate is another one.
func batchKinds() []objects.Kind {
	return slices.DeleteFunc(objects.Kinds(objects.Exported), func(k objects.Kind) bool {
		return k.Uses&(objects.Custom|objects.Gated) == 0 || k.Kind == "CompositePodGroup"
	})
}

// batchGates are those by which the API server has Kubernetes' own groups.
var batchGates = []string{"--crds", "all", "--feature-gates", "GenericWorkload=true"}

// held returns what users wrote of the objects of the batch systems, and of the pods.
func held(ctx context.Context, t *testing.T, p *program) map[string]string {
	t.Helper()
	client, err := dynamic.NewForConfig(p.config)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, k := range append(batchKinds(), objects.KindOf(objects.Pod)) {
		list, err := client.Resource(schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource}).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", k.GroupKind(), err)
			continue
		}
		for _, o := range list.Items {
			out[k.GroupKind().String()+" "+strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")] = authored(&o)
		}
	}
	return out
}

// authored is the part of an object that its author writes. Of a pod, that is its node and its groups.
func authored(o *unstructured.Unstructured) string {
	if o.GetKind() == "Pod" {
		node, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName")
		scheduler, _, _ := unstructured.NestedString(o.Object, "spec", "schedulerName")
		group, _, _ := unstructured.NestedString(o.Object, "spec", "schedulingGroup", "podGroupName")
		return fmt.Sprint(scheduler, " on ", node, ", groups ", group, o.GetAnnotations()["scheduling.k8s.io/group-name"], o.GetLabels()["scheduling.x-k8s.io/pod-group"])
	}
	fields := map[string]any{}
	for name, value := range o.Object {
		if name != "metadata" && name != "status" && name != "apiVersion" && name != "kind" {
			fields[name] = value
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestEveryKindOfBatchSystemsMoves: exports, imports, resets, mirrors, recordings and replays know every kind of the batch systems, and
// redaction gives an object and those that name it the same new name.
func TestEveryKindOfBatchSystemsMoves(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	h := passing(t)
	p := start(t, h, slices.Concat(batchGates, []string{"--import", "testdata/batch.yaml"})...)
	var want map[string]string
	eventually(t, "all objects are there", func() error {
		want = held(t.Context(), t, p)
		for _, k := range batchKinds() {
			if !slices.ContainsFunc(keys(want), func(key string) bool { return strings.HasPrefix(key, k.GroupKind().String()+" ") }) {
				return fmt.Errorf("there is no %s in %q", k.GroupKind(), keys(want))
			}
		}
		if pods := len(want) - len(batchKinds()); pods != 3 {
			return fmt.Errorf("%d pods in %q", pods, keys(want))
		}
		return nil
	})
	same := func(what string, p *program) {
		t.Helper()
		eventually(t, what+" brings all of it", func() error {
			if diff := cmp.Diff(want, held(t.Context(), t, p)); diff != "" {
				return errors.New(diff)
			}
			return nil
		})
	}

	mirror := start(t, passing(t), slices.Concat(batchGates, []string{"--sync-kubeconfig", p.kubeconfig})...)
	same("a mirror", mirror)
	mirror.stop(t)

	recording := filepath.Join(h.tmp, "batch.rec")
	record(t, p, recording)
	replayed := startAs(t, passing(t), func(args []string) *exec.Cmd {
		return exec.Command(clustertest.Program(), append([]string{"replay", recording}, args...)...)
	}, batchGates...)
	same("a replay", replayed)
	replayed.stop(t)

	export := p.read(t, "/api/v1/export")
	namesStayTogether(t, p.read(t, "/api/v1/export?redact=true"))

	if a, err := p.request(http.MethodPut, "/api/v1/reset", http.NoBody, nil); err != nil || a.status != http.StatusOK {
		t.Fatalf("%v %d %s", err, a.status, a.body)
	}
	if left := held(t.Context(), t, p); len(left) > 0 {
		t.Errorf("a reset leaves %q", keys(left))
	}
	if a, err := p.request(http.MethodPost, "/api/v1/import", bytes.NewReader(export), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }); err != nil || a.status != http.StatusOK {
		t.Fatalf("%v %d %s", err, a.status, a.body)
	}
	same("an import", p)
}

func keys(m map[string]string) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// startAs is start with another command.
func startAs(t *testing.T, h home, command func(args []string) *exec.Cmd, flags ...string) *program {
	t.Helper()
	p := launchAs(t, h, command, flags...)
	if err := p.waitReady(); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	return p
}

// record records a program as it is.
func record(t *testing.T, p *program, path string) {
	t.Helper()
	startRecorder(t, p, path)()
}

func (p *program) read(t *testing.T, path string) []byte {
	t.Helper()
	a, err := p.request(http.MethodGet, path, nil, nil)
	if err != nil || a.status != http.StatusOK {
		t.Fatalf("%s: %v %d", path, err, a.status)
	}
	return a.body
}

// namesStayTogether checks a redacted export: no name of a user is left, and whatever names an object names one that is there.
func namesStayTogether(t *testing.T, export []byte) {
	t.Helper()
	if at := bytes.Index(export, []byte("hush")); at >= 0 {
		t.Errorf("a redacted export has %q", export[max(0, at-100):min(len(export), at+60)])
	}
	var list struct{ Items []map[string]any }
	if err := yaml.Unmarshal(export, &list); err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for _, o := range list.Items {
		u := unstructured.Unstructured{Object: o}
		kind := u.GroupVersionKind().GroupKind().String()
		names[kind] = append(names[kind], u.GetName())
	}
	for _, k := range batchKinds() {
		if len(names[k.GroupKind().String()]) != 1 {
			t.Errorf("a redacted export has %q of the kind %s", names[k.GroupKind().String()], k.GroupKind())
		}
	}
	checked := 0
	for _, ref := range []struct {
		of, to string
		path   []string
	}{
		{"NodeResourceTopology.topology.node.k8s.io", "Node", []string{"metadata", "name"}},
		{"PodGroup.scheduling.incubator.k8s.io", "Queue.scheduling.incubator.k8s.io", []string{"spec", "queue"}},
		{"PodGroup.scheduling.sigs.dev", "Queue.scheduling.sigs.dev", []string{"spec", "queue"}},
		{"PodGroup.scheduling.volcano.sh", "Queue.scheduling.volcano.sh", []string{"spec", "queue"}},
		{"ResourceFlavor.kueue.x-k8s.io", "Topology.kueue.x-k8s.io", []string{"spec", "topologyName"}},
		{"ClusterQueue.kueue.x-k8s.io", "Cohort.kueue.x-k8s.io", []string{"spec", "cohortName"}},
		{"LocalQueue.kueue.x-k8s.io", "ClusterQueue.kueue.x-k8s.io", []string{"spec", "clusterQueue"}},
		{"Workload.kueue.x-k8s.io", "LocalQueue.kueue.x-k8s.io", []string{"spec", "queueName"}},
		{"PodGroup.scheduling.k8s.io", "Workload.scheduling.k8s.io", []string{"spec", "workloadRef", "workloadName"}},
		{"Pod", "PodGroup.scheduling.volcano.sh", []string{"metadata", "annotations", "scheduling.k8s.io/group-name"}},
		{"Pod", "PodGroup.scheduling.x-k8s.io", []string{"metadata", "labels", "scheduling.x-k8s.io/pod-group"}},
		{"Pod", "PodGroup.scheduling.k8s.io", []string{"spec", "schedulingGroup", "podGroupName"}},
	} {
		for _, o := range list.Items {
			u := unstructured.Unstructured{Object: o}
			name, found, _ := unstructured.NestedString(o, ref.path...)
			if u.GroupVersionKind().GroupKind().String() != ref.of || !found {
				continue
			}
			checked++
			if !slices.Contains(names[ref.to], name) {
				t.Errorf("%s names %q by %v, but the %s is %q", ref.of, name, ref.path, ref.to, names[ref.to])
			}
		}
	}
	if checked != 12 {
		t.Errorf("%d references were checked, want 12", checked)
	}
}
