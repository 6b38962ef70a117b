package storedform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/cluster/storedform"
)

func decode(t *testing.T, document string) runtime.Object {
	t.Helper()
	o, err := tryDecode(t, document)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func tryDecode(t *testing.T, document string) (runtime.Object, error) {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return storedform.DecodeStrictly(data)
}

// cluster is what the tests' admission knows of.
const cluster = `
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000, preemptionPolicy: Never}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: usual}, value: 10, globalDefault: true}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: vm}, handler: vm, overhead: {podFixed: {cpu: 250m}}, scheduling: {nodeSelector: {vm: "yes"}, tolerations: [{key: vm, operator: Exists}]}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: limits, namespace: limited}, spec: {limits: [{type: Container, defaultRequest: {cpu: 100m}, default: {cpu: 500m}, max: {cpu: "2"}}]}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: fast.example.com}
`

func newAdmission(t *testing.T) *storedform.Admission {
	t.Helper()
	a, err := storedform.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range strings.Split(cluster, "\n---\n") {
		o, err := a.Create(t.Context(), decode(t, document))
		if err != nil {
			t.Fatal(err)
		}
		a.Know(o)
	}
	return a
}

func TestPodsAreAdmitted(t *testing.T) {
	const containers = `containers: [{name: web, image: web}]`
	for _, tc := range []struct {
		name, pod string
		pick      func(*corev1.Pod) any
		want      any
	}{
		{
			"a limit becomes a request", `{containers: [{name: web, image: web, resources: {limits: {cpu: "1"}}}]}`,
			func(p *corev1.Pod) any { return p.Spec.Containers[0].Resources.Requests.Cpu().String() }, "1",
		},
		{"a scheduler by default", `{` + containers + `}`, func(p *corev1.Pod) any { return p.Spec.SchedulerName }, "default-scheduler"},
		{"the default priority class", `{` + containers + `}`, func(p *corev1.Pod) any { return *p.Spec.Priority }, int32(10)},
		{"a priority class", `{priorityClassName: high, ` + containers + `}`, func(p *corev1.Pod) any { return *p.Spec.Priority }, int32(1000)},
		{"its preemption policy", `{priorityClassName: high, ` + containers + `}`, func(p *corev1.Pod) any { return *p.Spec.PreemptionPolicy }, corev1.PreemptNever},
		{"a class of every cluster", `{priorityClassName: system-node-critical, ` + containers + `}`, func(p *corev1.Pod) any { return *p.Spec.Priority }, int32(2000001000)},
		{"a runtime class's overhead", `{runtimeClassName: vm, ` + containers + `}`, func(p *corev1.Pod) any { return p.Spec.Overhead.Cpu().String() }, "250m"},
		{"a runtime class's selector", `{runtimeClassName: vm, ` + containers + `}`, func(p *corev1.Pod) any { return p.Spec.NodeSelector }, map[string]string{"vm": "yes"}},
		{"tolerations of every pod", `{` + containers + `}`, func(p *corev1.Pod) any { return len(p.Spec.Tolerations) }, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, err := newAdmission(t).Create(t.Context(), decode(t, `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: `+tc.pod+`}`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, tc.pick(o.(*corev1.Pod))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLimitsOfANamespaceApply(t *testing.T) {
	o, err := newAdmission(t).Create(t.Context(), decode(t, `{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: limited}, spec: {containers: [{name: web, image: web}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := o.(*corev1.Pod).Spec.Containers[0].Resources.Requests.Cpu().String(); got != "100m" {
		t.Errorf("it requests %s of CPU", got)
	}
}

func TestClaimsGetTheDefaultClass(t *testing.T) {
	o, err := newAdmission(t).Create(t.Context(), decode(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := *o.(*corev1.PersistentVolumeClaim).Spec.StorageClassName; got != "fast" {
		t.Errorf("its class is %s", got)
	}
}

// Every refusal is the API server's, with the path of the field.
func TestRefusals(t *testing.T) {
	for _, tc := range []struct{ name, document, want string }{
		{"a field that does not exist", `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: web, image: web, imgae: x}]}}`, `unknown field "spec.containers[0].imgae"`},
		{"a value of another type", `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: 1, image: web}]}}`, `spec.containers.name of type string`},
		{"a missing field", `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: web}]}}`, `Pod "web" is invalid: spec.containers[0].image: Required value`},
		{"a class that does not exist", `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {priorityClassName: none, containers: [{name: web, image: web}]}}`, `no PriorityClass with name none was found`},
		{"a runtime class that does not exist", `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {runtimeClassName: none, containers: [{name: web, image: web}]}}`, `RuntimeClass "none" not found`},
		{"more than the limit", `{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: limited}, spec: {containers: [{name: web, image: web, resources: {limits: {cpu: "3"}}}]}}`, `maximum cpu usage per Container is 2, but limit is 3`},
		{"a taint without an effect", `{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {taints: [{key: x}]}}`, `taints[0].effect: Required value`},
		{"a negative amount", `{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: "-1"}}}`, `must be greater than or equal to 0`},
		{"a second default class", `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: other}, value: 5, globalDefault: true}`, `Only one default can exist`},
		{"a kind that no scheduler reads", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`, `the scheduler does not read objects of the kind ConfigMap in v1`},
		{"a kind that does not exist", `{apiVersion: v1, kind: Pid, metadata: {name: a}}`, `the scheduler does not read objects of the kind Pid in v1`},
		{"a claim for devices without a request", `{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a}, spec: {devices: {requests: [{name: r}]}}}`, `spec.devices.requests[0]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, err := tryDecode(t, tc.document)
			if err == nil {
				_, err = newAdmission(t).Create(t.Context(), o)
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestAReplacedDefaultClassIsForgotten(t *testing.T) {
	a := newAdmission(t)
	a.Forget(decode(t, `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: usual}, value: 10, globalDefault: true}`))
	if _, err := a.Create(t.Context(), decode(t, `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: other}, value: 5, globalDefault: true}`)); err != nil {
		t.Error(err)
	}
}

func TestTheStatusStays(t *testing.T) {
	o, err := newAdmission(t).Create(t.Context(), decode(t, `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: a, containers: [{name: web, image: web}]}, status: {phase: Running}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := o.(*corev1.Pod).Status.Phase; got != corev1.PodRunning {
		t.Errorf("the phase is %s", got)
	}
}

func TestOlderVersionsAreConverted(t *testing.T) {
	o := decode(t, `{apiVersion: resource.k8s.io/v1beta1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}`)
	if got := o.GetObjectKind().GroupVersionKind().Version; got != "v1" {
		t.Errorf("the version is %s", got)
	}
}

// What a server has stored may have fields that this version of Kubernetes does not know.
func TestDecodeIgnoresUnknownFields(t *testing.T) {
	o, err := storedform.Decode([]byte(`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "spec": {"novel": 1}, "status": {"capacity": {"cpu": "4"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := o.(*corev1.Node).Status.Allocatable.Cpu().String(); got != "4" {
		t.Errorf("allocatable is %s of CPU", got)
	}
}

// A change is refused where an API server would refuse it, too.
func TestUpdates(t *testing.T) {
	const pod, node = `{apiVersion: v1, kind: Pod, metadata: {name: web%s}, spec: {nodeName: a, containers: [{name: web, image: web%s}]}, status: {phase: Running}}`, `{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {taints: [{key: x, effect: %s}]}, status: {allocatable: {cpu: "%s"}}}`
	for _, tc := range []struct{ name, before, after, want string }{
		{"a label", fmt.Sprintf(pod, "", ""), fmt.Sprintf(pod, ", labels: {a: b}", ""), ""},
		{"an immutable field", fmt.Sprintf(pod, "", ""), fmt.Sprintf(pod, "", ", resources: {requests: {cpu: 1}}"), "pod updates may not change fields other than"},
		{"a taint and a size", fmt.Sprintf(node, "NoSchedule", "4"), fmt.Sprintf(node, "NoExecute", "8"), ""},
		{"a taint that is wrong", fmt.Sprintf(node, "NoSchedule", "4"), fmt.Sprintf(node, "Never", "8"), `Unsupported value: "Never"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := storedform.New()
			if err != nil {
				t.Fatal(err)
			}
			before, err := a.Create(t.Context(), decode(t, tc.before))
			if err != nil {
				t.Fatal(err)
			}
			after, err := a.Update(t.Context(), decode(t, tc.after), before)
			switch {
			case tc.want != "":
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("the error is %v, want %s", err, tc.want)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if node, isNode := after.(*corev1.Node); isNode && (node.Status.Allocatable.Cpu().String() != "8" || node.Spec.Taints[0].Effect != corev1.TaintEffectNoExecute) {
				t.Errorf("it is %v", node)
			}
		})
	}
}
