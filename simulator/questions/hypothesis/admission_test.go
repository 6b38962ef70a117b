package hypothesis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/host/quiet"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// The cluster of all tests. It has the objects of cluster.yaml, and no test changes it.
var (
	shared *controlplane.ControlPlane
	client kubernetes.Interface
)

func TestMain(m *testing.M) {
	if err := quiet.Klog(); err != nil {
		panic(err)
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "hypothesis-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		ctx, cancel := context.WithTimeout(context.Background(), clustertest.Timeout)
		defer cancel()
		shared = controlplane.New(controlplane.Options{DataDir: dir, VirtualNodes: true})
		if err := shared.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if client, err = kubernetes.NewForConfig(shared.ClientConfig()); err == nil {
			err = populate(ctx)
		}
		code := 1
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		} else {
			code = m.Run()
		}
		if err := shared.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}())
}

// populate makes three nodes, the pods old, which has no node, and placed, and a namespace with limits. The node small has room
// for two CPUs, large for four and a taint, and node-1 for nothing.
func populate(ctx context.Context) error {
	pod := func(name, node string) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PodSpec{NodeName: node, Containers: []v1.Container{{Name: "c", Image: "i"}}}}
	}
	var err error
	for _, n := range []*v1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}, node("small", "2"), node("large", "4", v1.Taint{Key: "team", Value: "x", Effect: v1.TaintEffectNoSchedule})} {
		_, failed := client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{})
		err = errors.Join(err, failed)
	}
	for _, p := range []*v1.Pod{pod("old", ""), pod("placed", "node-1")} {
		_, failed := client.CoreV1().Pods("default").Create(ctx, p, metav1.CreateOptions{})
		err = errors.Join(err, failed)
	}
	_, failed := client.CoreV1().Namespaces().Create(ctx, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "limited"}}, metav1.CreateOptions{})
	err = errors.Join(err, failed)
	limits := &v1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: v1.LimitRangeSpec{Limits: []v1.LimitRangeItem{{
		Type: v1.LimitTypeContainer, DefaultRequest: quantities("cpu", "250m"), Max: quantities("cpu", "2"), Default: quantities("cpu", "1"),
	}}}}
	_, failed = client.CoreV1().LimitRanges("limited").Create(ctx, limits, metav1.CreateOptions{})
	return errors.Join(err, failed)
}

// ask reads a question in YAML and admits it.
func ask(t testing.TB, question string) (*admitted, error) {
	t.Helper()
	desk, err := New(Options{ClientConfig: shared.ClientConfig(), Parse: config.Parse})
	if err != nil {
		t.Fatal(err)
	}
	var q Question
	if err := yaml.Unmarshal([]byte(question), &q); err != nil {
		t.Fatal(err)
	}
	return desk.admit(t.Context(), q)
}

// TestRefusals: what the API server would refuse, and what makes no sense, is refused with its message and path.
func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		question string
		want     []config.Mistake
		message  string
	}{
		"no pod": {
			question: `{}`,
			want:     []config.Mistake{{Field: "pod", Message: "want exactly one of pod and podRef"}},
		},
		"two pods": {
			question: `{pod: {spec: {}}, podRef: {name: old}}`,
			want:     []config.Mistake{{Field: "pod", Message: "want exactly one of pod and podRef"}},
		},
		"a reference without a name": {
			question: `{podRef: {namespace: default}}`,
			want:     []config.Mistake{{Field: "podRef.name", Message: "want the name of a pod"}},
		},
		"a pod without an image": {
			question: `{pod: {metadata: {name: web}, spec: {containers: [{name: c}]}}}`,
			want:     []config.Mistake{{Field: "pod.spec.containers[0].image", Message: "Required value"}},
			message:  `pod: Pod "web" is invalid: spec.containers[0].image: Required value`,
		},
		"a pod of a name that exists": {
			question: `{pod: {metadata: {name: old}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2"}, limits: {cpu: "1"}}}]}}}`,
			want:     []config.Mistake{{Field: "pod.spec.containers[0].resources.requests", Message: `Invalid value: "2": must be less than or equal to cpu limit of 1`}},
		},
		"a pod without a name": {
			question: `{pod: {spec: {containers: [{name: c, image: i}]}}}`,
			want:     []config.Mistake{{Field: "pod.metadata.name", Message: "Required value: name or generateName is required"}},
		},
		"an unknown field": {
			question: `{pod: {metadata: {name: web}, spec: {container: []}}}`,
			want:     []config.Mistake{{Field: "pod", Message: `Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.container"`}},
		},
		"a wrong type": {
			question: `{pod: {metadata: {name: web}, spec: {containers: 1}}}`,
			want:     []config.Mistake{{Field: "pod", Message: `Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field PodSpec.spec.containers of type []v1.Container`}},
		},
		"a namespace that does not exist": {
			question: `{pod: {metadata: {name: web, namespace: nowhere}, spec: {containers: [{name: c, image: i}]}}}`,
			want:     []config.Mistake{{Field: "pod", Message: `namespaces "nowhere" not found`}},
		},
		"a priority class that does not exist": {
			question: `{pod: {metadata: {name: web}, spec: {priorityClassName: top, containers: [{name: c, image: i}]}}}`,
			want:     []config.Mistake{{Field: "pod", Message: `pods "web" is forbidden: no PriorityClass with name top was found`}},
		},
		"a limit of the namespace": {
			question: `{pod: {metadata: {name: web, namespace: limited}, spec: {containers: [{name: c, image: i, resources: {limits: {cpu: "3"}}}]}}}`,
			want:     []config.Mistake{{Field: "pod", Message: `pods "web" is forbidden: maximum cpu usage per Container is 2, but limit is 3`}},
		},
		"a Deployment in place of a pod": {
			question: `{pod: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}}`,
			want:     []config.Mistake{{Field: "pod", Message: "want a Pod of version v1, not a Deployment of apps/v1"}},
		},
		"no YAML": {
			question: `{pod: "metadata:\n\tname: web"}`,
			want:     []config.Mistake{{Field: "pod", Line: 2, Column: 1, Message: "not YAML: a tab cannot indent; use spaces", Reason: yamlsource.Syntax}},
			message:  "pod: line 2: not YAML: a tab cannot indent; use spaces",
		},
		"a field twice": {
			question: `{pod: "kind: Pod\nkind: Pod"}`,
			want:     []config.Mistake{{Field: "pod", Line: 2, Column: 1, Message: `duplicate field "kind"; the first is on line 1`, Reason: yamlsource.Duplicate}},
			message:  `pod: line 2: kind: duplicate field "kind"; the first is on line 1`,
		},
		"YAML that is a list": {
			question: `{pod: "- a"}`,
			want:     []config.Mistake{{Field: "pod", Message: "want an object, with its fields"}},
		},
		"metadata of a wrong type": {
			question: `{pod: {metadata: web}}`,
			want:     []config.Mistake{{Field: "pod.metadata", Message: "want an object, with its fields"}},
		},
		"an empty change": {
			question: `{podRef: {name: old}, changes: [{}]}`,
			want:     []config.Mistake{{Field: "changes[0]", Message: "want exactly one of apply, patch and delete"}},
		},
		"two changes in one": {
			question: `{podRef: {name: old}, changes: [{apply: {}, delete: {}}]}`,
			want:     []config.Mistake{{Field: "changes[0]", Message: "want exactly one of apply, patch and delete"}},
		},
		"copies of a deletion": {
			question: `{podRef: {name: old}, changes: [{count: 2, delete: {}}]}`,
			want:     []config.Mistake{{Field: "changes[0].count", Message: "only apply has a count"}},
		},
		"too many copies": {
			question: `{podRef: {name: old}, changes: [{count: 5001, apply: {}}]}`,
			want:     []config.Mistake{{Field: "changes[0].count", Message: "want a number from 1 to 5000"}},
		},
		"an object without a kind": {
			question: `{podRef: {name: old}, changes: [{apply: {metadata: {name: x}}}]}`,
			want:     []config.Mistake{{Field: "changes[0].apply", Message: "apiVersion and kind are required"}},
		},
		"a kind that does not exist": {
			question: `{podRef: {name: old}, changes: [{apply: {apiVersion: v1, kind: Nod, metadata: {name: x}}}]}`,
			want:     []config.Mistake{{Field: "changes[0].apply", Message: "the API server has no kind Nod in v1"}},
		},
		"an invalid node": {
			question: `{podRef: {name: old}, changes: [{apply: {apiVersion: v1, kind: Node, metadata: {name: x}, spec: {taints: [{key: a, effect: Never}]}}}]}`,
			want: []config.Mistake{{Field: "changes[0].apply.metadata.taints[0].effect",
				Message: `Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`}},
		},
		"a patch of nothing": {
			question: `{podRef: {name: old}, changes: [{patch: {apiVersion: v1, kind: Node, name: node-1}}]}`,
			want:     []config.Mistake{{Field: "changes[0].patch.patch", Message: "want a strategic merge patch: an object with the fields to change"}},
		},
		"a patch of an object that does not exist": {
			question: `{podRef: {name: old}, changes: [{patch: {apiVersion: v1, kind: Node, name: m, patch: {spec: {unschedulable: true}}}}]}`,
			want:     []config.Mistake{{Field: "changes[0].patch", Message: `nodes "m" not found`}},
		},
		"an impossible patch": {
			question: `{podRef: {name: old}, changes: [{patch: {apiVersion: v1, kind: Pod, namespace: default, name: old, patch: {spec: {hostNetwork: true}}}}]}`,
			want: []config.Mistake{{Field: "changes[0].patch.spec",
				Message: "Forbidden: pod updates may not change fields other than"}},
		},
		"an impossible second patch": {
			question: `{podRef: {name: old}, changes: [
				{patch: {apiVersion: v1, kind: Pod, name: old, patch: {metadata: {labels: {a: b}}}}},
				{patch: {apiVersion: v1, kind: Pod, name: old, patch: {spec: {hostNetwork: true}}}}]}`,
			want: []config.Mistake{{Field: "changes[1].patch.spec", Message: "Forbidden: pod updates may not change fields other than"}},
		},
		"a target without a name": {
			question: `{podRef: {name: old}, changes: [{delete: {apiVersion: v1, kind: Node}}]}`,
			want:     []config.Mistake{{Field: "changes[0].delete", Message: "apiVersion, kind and name are required"}},
		},
		"a deletion of nothing": {
			question: `{podRef: {name: old}, changes: [{delete: {apiVersion: v1, kind: Node, name: m}}]}`,
			want:     []config.Mistake{{Field: "changes[0].delete", Message: `nodes "m" not found`}},
		},
		"a deletion that the API server refuses": {
			question: `{podRef: {name: old}, changes: [{delete: {apiVersion: v1, kind: Namespace, name: kube-system}}]}`,
			want:     []config.Mistake{{Field: "changes[0].delete", Message: `namespaces "kube-system" is forbidden: this namespace may not be deleted`}},
		},
		"a second deletion": {
			question: `{podRef: {name: old}, changes: [{delete: {apiVersion: v1, kind: Node, name: node-1}}, {delete: {apiVersion: v1, kind: Node, name: node-1}}]}`,
			want:     []config.Mistake{{Field: "changes[1].delete", Message: `an earlier change deletes the Node "node-1"`}},
		},
		"a patch after the deletion": {
			question: `{podRef: {name: old}, changes: [{delete: {apiVersion: v1, kind: Node, name: node-1}}, {patch: {apiVersion: v1, kind: Node, name: node-1, patch: {}}}]}`,
			want:     []config.Mistake{{Field: "changes[1].patch", Message: `an earlier change deletes the Node "node-1"`}},
		},
		"a configuration with a mistake": {
			question: `{podRef: {name: old}, configuration: "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: many"}`,
			want:     []config.Mistake{{Field: "configuration.parallelism", Line: 3, Column: 14, Message: `want a whole number of 32 bits, not "many"`}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ask(t, test.question)
			refused, ok := errors.AsType[*Refused](err)
			if !ok {
				t.Fatalf("the error is %v", err)
			}
			for i := range refused.Mistakes {
				if len(test.want) > i && strings.HasPrefix(refused.Mistakes[i].Message, test.want[i].Message) {
					refused.Mistakes[i].Message = test.want[i].Message
				}
			}
			if diff := cmp.Diff(test.want, refused.Mistakes); diff != "" {
				t.Error(diff)
			}
			if test.message != "" && refused.Message != test.message {
				t.Errorf("the message is %q", refused.Message)
			}
		})
	}
}

// TestAdmitted: objects are as the cluster would hold them, whatever an earlier change does.
func TestAdmitted(t *testing.T) {
	for name, test := range map[string]struct{ question, want string }{
		"defaults and limits": {
			question: `{pod: {metadata: {name: web, namespace: limited}, spec: {containers: [{name: c, image: i}]}}}`,
			want:     "pod limited/web cpu 250m priority 0",
		},
		"a pod of a name that exists": {
			question: `{pod: {metadata: {name: placed, uid: u, resourceVersion: "1"}, spec: {nodeName: node-1, containers: [{name: c, image: i}]}}}`,
			want:     "pod default/placed priority 0",
		},
		"YAML in a string": {
			question: `{pod: "metadata: {name: web}\nspec: {containers: [{name: c, image: i}]}"}`,
			want:     "pod default/web priority 0",
		},
		"a reference": {
			question: `{podRef: {name: old}}`,
			want:     "podRef default/old",
		},
		"a new namespace and a pod there": {
			question: `{pod: {metadata: {name: web, namespace: team}, spec: {containers: [{name: c, image: i}]}}, changes: [
				{apply: {apiVersion: v1, kind: Namespace, metadata: {name: team, labels: {a: b}}}},
				{apply: {apiVersion: v1, kind: Pod, metadata: {name: other, namespace: team}, spec: {containers: [{name: c, image: i}]}}}]}`,
			want: "apply Namespace team\napply Pod team/other\npod team/web priority 0",
		},
		"a new priority class and a pod of it": {
			question: `{pod: {metadata: {name: web}, spec: {priorityClassName: top, containers: [{name: c, image: i}]}}, changes: [
				{apply: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: top}, value: 7, preemptionPolicy: Never}}]}`,
			want: "apply PriorityClass top\npod default/web priority 7 Never",
		},
		"a pod deleted and created otherwise": {
			question: `{podRef: {name: old}, changes: [
				{delete: {apiVersion: v1, kind: Pod, name: old}},
				{apply: {apiVersion: v1, kind: Pod, metadata: {name: old}, spec: {hostNetwork: true, containers: [{name: c, image: i}]}}},
				{patch: {apiVersion: v1, kind: Pod, name: old, patch: {metadata: {labels: {a: b}}}}}]}`,
			want: "delete Pod default/old\napply Pod default/old\napply Pod default/old labels a=b\npodRef default/old",
		},
		"a new node, without the taint of new nodes": {
			question: `{podRef: {name: old}, changes: [{count: 3, apply: {apiVersion: v1, kind: Node, metadata: {name: extra}, spec: {taints: [{key: a, effect: NoSchedule}]}, status: {allocatable: {cpu: "4"}}}}]}`,
			want:     "apply Node extra × 3 taints a cpu 4\npodRef default/old",
		},
		"copies of a node that exists": {
			question: `{podRef: {name: old}, changes: [{count: 2, apply: {apiVersion: v1, kind: Node, metadata: {name: node-1}}}]}`,
			want:     "apply Node node-1 × 2\npodRef default/old",
		},
		"a node patched twice, with its status": {
			question: `{podRef: {name: old}, changes: [
				{patch: {apiVersion: v1, kind: Node, name: node-1, patch: {spec: {taints: [{key: a, effect: NoSchedule}]}, status: {allocatable: {cpu: "2"}}}}},
				{patch: {apiVersion: v1, kind: Node, name: node-1, patch: {spec: {taints: null}, metadata: {labels: {a: b}}}}}]}`,
			want: "apply Node node-1 taints a cpu 2\napply Node node-1 labels a=b cpu 2\npodRef default/old",
		},
		"an existing node applied": {
			question: `{podRef: {name: old}, changes: [{apply: {apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {a: b}}, status: {allocatable: {cpu: "2"}}}}]}`,
			want:     "apply Node node-1 labels a=b cpu 2\npodRef default/old",
		},
		"a new volume is available": {
			question: `{podRef: {name: old}, changes: [{apply: {apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}}}]}`,
			want:     "apply PersistentVolume v Available\npodRef default/old",
		},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := ask(t, test.question)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, summary(t, q)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// summary is one line per change, and one for the pod.
func summary(t *testing.T, q *admitted) string {
	t.Helper()
	var lines []string
	for _, c := range q.changes {
		if c.Delete != nil {
			lines = append(lines, "delete "+c.Delete.GVK.Kind+" "+strings.TrimPrefix(c.Delete.Namespace+"/"+c.Delete.Name, "/"))
			continue
		}
		m, err := meta.Accessor(c.Apply)
		if err != nil {
			t.Fatal(err)
		}
		line := "apply " + c.Apply.GetObjectKind().GroupVersionKind().Kind + " " + strings.TrimPrefix(m.GetNamespace()+"/"+m.GetName(), "/")
		if c.Count > 1 {
			line += fmt.Sprintf(" × %d", c.Count)
		}
		if label, ok := m.GetLabels()["a"]; ok && m.GetNamespace()+m.GetName() != "team" {
			line += " labels a=" + label
		}
		switch o := c.Apply.(type) {
		case *v1.Node:
			var keys []string
			for _, taint := range o.Spec.Taints {
				// A controller taints the node that exists.
				if o.Name != "node-1" || taint.Key == "a" {
					keys = append(keys, taint.Key)
				}
			}
			if keys != nil {
				line += " taints " + strings.Join(keys, ",")
			}
			if cpu := o.Status.Allocatable.Cpu(); !cpu.IsZero() {
				line += " cpu " + cpu.String()
			}
		case *v1.PersistentVolume:
			line += " " + string(o.Status.Phase)
		}
		lines = append(lines, line)
	}
	if q.podRef != nil {
		return strings.Join(append(lines, "podRef "+q.podRef.String()), "\n")
	}
	line := "pod " + q.pod.Namespace + "/" + q.pod.Name
	if cpu := q.pod.Spec.Containers[0].Resources.Requests.Cpu(); !cpu.IsZero() {
		line += " cpu " + cpu.String()
	}
	line += fmt.Sprintf(" priority %d", *q.pod.Spec.Priority)
	if *q.pod.Spec.PreemptionPolicy == v1.PreemptNever {
		line += " Never"
	}
	if q.pod.Spec.NodeName != "" {
		line += " on " + q.pod.Spec.NodeName
	}
	return strings.Join(append(lines, line), "\n")
}

// TestNothingIsWritten: questions leave every object of the cluster as it was.
func TestNothingIsWritten(t *testing.T) {
	versions := func() map[string]string {
		out := map[string]string{}
		pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods.Items {
			out["pod "+p.Namespace+"/"+p.Name] = p.ResourceVersion
		}
		namespaces, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range namespaces.Items {
			out["namespace "+n.Name] = string(n.UID)
		}
		return out
	}
	before := versions()
	if _, err := ask(t, `{pod: {metadata: {name: web, namespace: team}, spec: {containers: [{name: c, image: i}]}}, changes: [
		{apply: {apiVersion: v1, kind: Namespace, metadata: {name: team}}},
		{patch: {apiVersion: v1, kind: Pod, name: old, patch: {metadata: {labels: {a: b}}}}},
		{patch: {apiVersion: v1, kind: Pod, name: placed, patch: {status: {message: gone}}}},
		{apply: {apiVersion: v1, kind: Pod, metadata: {name: placed, labels: {c: d}}}},
		{delete: {apiVersion: v1, kind: Pod, name: old}}]}`); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, versions()); diff != "" {
		t.Error(diff)
	}
}

func node(name, cpu string, taints ...v1.Taint) *v1.Node {
	has := quantities(v1.ResourceCPU, cpu)
	has[v1.ResourceMemory], has[v1.ResourcePods] = resource.MustParse("8Gi"), resource.MustParse("10")
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}}, Spec: v1.NodeSpec{Taints: taints}, Status: v1.NodeStatus{Capacity: has, Allocatable: has}}
}

func BenchmarkAdmitPod(b *testing.B) {
	for b.Loop() {
		if _, err := ask(b, `{pod: {metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}}`); err != nil {
			b.Fatal(err)
		}
	}
}

func quantities(resourceName v1.ResourceName, quantity string) v1.ResourceList {
	return v1.ResourceList{resourceName: resource.MustParse(quantity)}
}
