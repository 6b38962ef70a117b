package draft

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return u
}

// played returns the placements at the end of a run in memory, of a scenario that must be right.
func played(t *testing.T, text []byte) map[string]string {
	t.Helper()
	s, err := scenario.Load(t.Context(), text, scenario.Options{File: "draft", Parse: config.Parse, Read: func(string) ([]byte, error) { return nil, errors.New("none") }})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got := map[string]string{}
	result := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: inmemory.Engine(nil), Kept: func(c scenario.Cluster) {
		_, pods, err := c.State(context.Background())
		if err != nil {
			t.Error(err)
		}
		for _, p := range pods {
			got[p.Name] = p.Spec.NodeName
		}
		_ = c.Close()
	}})
	if result.Outcome != scenario.Passed {
		t.Fatalf("%s: %s\n%s", result.Outcome, result.Error, text)
	}
	return got
}

const (
	nodeText = `{apiVersion: v1, kind: Node, metadata: {name: %s, uid: u, resourceVersion: "3"}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}, allocatable: {cpu: "4", memory: 8Gi, pods: "9"}, conditions: [{type: Ready, status: "True"}]}}`
	podText  = `{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, uid: u-%[1]s, resourceVersion: "4"}, spec: {nodeName: "%s", restartPolicy: Always, dnsPolicy: ClusterFirst, serviceAccountName: default, serviceAccount: default, schedulerName: default-scheduler,
  tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}], containers: [{name: c, image: i, imagePullPolicy: Always, terminationMessagePath: /dev/termination-log, resources: {requests: {cpu: "%s"}}}]}, status: {phase: Pending}}`
)

// TestSteps is a transcript: what each kind of step becomes, and that a run of it works.
func TestSteps(t *testing.T) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	ref := func(kind, name string) []timeline.ObjectRef {
		return []timeline.ObjectRef{{APIVersion: "v1", Kind: kind, Namespace: map[bool]string{true: "default"}[kind == "Pod"], Name: name}}
	}
	event := func(after time.Duration, s timeline.Step, writes ...timeline.ObjectWrite) timeline.Event {
		s.Count = max(s.Count, len(s.Objects))
		return timeline.Event{Time: at.Add(after), Step: s, Writes: writes}
	}
	a, b := object(t, fmt.Sprintf(podText, "a", "", "1")), object(t, fmt.Sprintf(podText, "b", "n2", "1"))
	n1 := object(t, fmt.Sprintf(nodeText, "n1"))
	cordoned := n1.DeepCopy()
	_ = unstructured.SetNestedField(cordoned.Object, true, "spec", "unschedulable")
	tainted := cordoned.DeepCopy()
	_ = unstructured.SetNestedSlice(tainted.Object, []any{map[string]any{"key": "gpu", "effect": "NoSchedule"}, map[string]any{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}}, "spec", "taints")
	scaler := object(t, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: default}}`)
	change := timeline.Step{Kind: timeline.ChangeStep}
	as := func(verb string, objects []timeline.ObjectRef) timeline.Step {
		s := change
		s.Verb, s.Objects = verb, objects
		return s
	}
	failure := timeline.Step{Kind: timeline.FailureStep, Verb: "unreachable", Objects: ref("Node", "n2")}
	ended := event(20*time.Second, failure)
	ended.Ended = true
	configured := event(21*time.Second, timeline.Step{Kind: timeline.ConfigurationStep, Verb: "configure", Revision: 2, Summary: "a weight"})
	configured.Document = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: default-scheduler}]\n"
	h := &timeline.Happened{
		From: timeline.Point{Time: at}, To: timeline.Point{Time: at.Add(90 * time.Second)},
		Start: []*unstructured.Unstructured{object(t, fmt.Sprintf(nodeText, "n2")), b, scaler},
		Events: []timeline.Event{
			event(0, as("create", ref("Node", "n1")), timeline.ObjectWrite{After: n1}),
			event(2*time.Second, as("create", ref("Pod", "a")), timeline.ObjectWrite{After: a}),
			event(5*time.Second, as("cordon", ref("Node", "n1")), timeline.ObjectWrite{Before: n1, After: cordoned}),
			event(6*time.Second, as("taint", ref("Node", "n1")), timeline.ObjectWrite{Before: cordoned, After: tainted}),
			event(7*time.Second, as("patch", ref("Pod", "a")), timeline.ObjectWrite{Before: a, After: a}),
			event(8*time.Second, as("create", []timeline.ObjectRef{{Kind: "HorizontalPodAutoscaler", Name: "h2"}}), timeline.ObjectWrite{After: scaler}),
			event(10*time.Second, failure),
			ended,
			configured,
			event(25*time.Second, as("delete", ref("Pod", "b")), timeline.ObjectWrite{Before: b}),
		},
	}
	text, err := Steps(h)
	if err != nil {
		t.Fatal(err)
	}
	const want = `# Recorded from the time line, from 2026-05-01 10:00:00 UTC to 2026-05-01 10:01:30 UTC.
# Left out, because a run in memory does not have the kind: 2 HorizontalPodAutoscalers.
apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: my-steps}
cluster:
- {"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"9"}}}
- {"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","namespace":"default"},"spec":{"containers":[{"image":"i","name":"c","resources":{"requests":{"cpu":"1"}}}],"nodeName":"n2"}}
steps:
- name: create Node n1
  create:
    objects:
    - apiVersion: v1
      kind: Node
      metadata:
        name: n1
      status:
        allocatable:
          cpu: "4"
          memory: 8Gi
          pods: "9"
- advance: 2s
- name: create Pod a
  create:
    objects:
    - apiVersion: v1
      kind: Pod
      metadata:
        name: a
        namespace: default
      spec:
        containers:
        - image: i
          name: c
          resources:
            requests:
              cpu: "1"
- advance: 3s
- name: cordon Node n1
  patch:
    kind: Node
    name: n1
    patch:
      spec:
        unschedulable: true
- advance: 1s
- name: taint Node n1
  patch:
    kind: Node
    name: n1
    patch:
    - op: add
      path: /spec/taints
      value:
      - effect: NoSchedule
        key: gpu
- advance: 1s
# patch Pod a changed nothing that a scenario can change.
- advance: 1s
# create HorizontalPodAutoscaler h2 changed nothing that a scenario can change.
- advance: 2s
- name: fail Node n2
  fail:
    node: n2
- advance: 10s
- name: recover Node n2
  recover:
    node: n2
- advance: 1s
- name: 'configure the scheduler: a weight'
  configure:
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profiles:
    - schedulerName: default-scheduler
- advance: 4s
- name: delete Pod b
  delete:
    kind: Pod
    name: b
- advance: 1m5s
- wait: settled
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "n1"}, played(t, text)); diff != "" {
		t.Errorf("placements (-want +got):\n%s", diff)
	}
}

// TestDeletedPodsOfWorkloads: a run gives the pods of controllers other names.
func TestDeletedPodsOfWorkloads(t *testing.T) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	set := object(t, `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: default}, spec: {replicas: 4, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}}`)
	var writes []timeline.ObjectWrite
	for _, name := range []string{"web-x1", "web-x2"} {
		p := object(t, fmt.Sprintf(podText, name, "n1", "1"))
		p.SetGenerateName("web-")
		p.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u", Controller: ptr.To(true)}})
		writes = append(writes, timeline.ObjectWrite{Before: p})
	}
	step := func(verb string) timeline.Step { return timeline.Step{Kind: timeline.ChangeStep, Verb: verb, Count: 2} }
	text, err := Steps(&timeline.Happened{
		From: timeline.Point{Time: at}, To: timeline.Point{Time: at},
		Events: []timeline.Event{
			{Time: at, Step: step("create"), Writes: []timeline.ObjectWrite{{After: object(t, fmt.Sprintf(nodeText, "n1"))}, {After: set}}},
			{Time: at, Step: step("evict"), Writes: writes},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const of = `pods.filter(p, p.namespace == "default" && p.owner == "web" && p.node == "n1")`
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), of+".slice(0, math.least(2, "+of+".size()))") {
		t.Errorf("%s", text)
	}
	if got := played(t, text); len(got) != 4 {
		t.Errorf("%v", got)
	}
}

// TestCluster: a cluster of workloads begins with the pods that it has, and not with others.
func TestCluster(t *testing.T) {
	export := `{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"9"}}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"9"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1-a","namespace":"default","labels":{"app":"web","pod-template-hash":"1"},"annotations":{"kube-scheduler-simulator.sigs.k8s.io/owner":"{}"}},"spec":{"nodeName":"n2","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1-b","namespace":"default","labels":{"app":"web","pod-template-hash":"1"}},"spec":{"nodeName":"n2","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}},
{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-1","namespace":"default","labels":{"app":"web","pod-template-hash":"1"}},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web","pod-template-hash":"1"}},"template":{"metadata":{"labels":{"app":"web","pod-template-hash":"1"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}},
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}
]}`
	text, err := Cluster([]byte(export), time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"web-1-a": "n2", "web-1-b": "n2"}, played(t, text)); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, text)
	}
	var large strings.Builder
	large.WriteString(`{"items":[`)
	for i := range 20_000 {
		fmt.Fprintf(&large, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m%d","namespace":"default"},"data":{"a":"%040d"}},`, i, i)
	}
	_, err = Cluster([]byte(large.String()+`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}]}`), time.Now())
	if wrong, ok := errors.AsType[*TooLargeError](err); !ok || wrong.Nodes != 1 {
		t.Errorf("%v", err)
	}
	if _, err := (&Export{}).Write(make([]byte, maxExport+1)); err == nil {
		t.Error("an export has no bound")
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{6 * time.Minute: "6m", 2 * time.Hour: "2h", 65 * time.Second: "1m5s", time.Hour + 10*time.Second: "1h0m10s", 10 * time.Second: "10s", 70 * time.Minute: "1h10m"} {
		if got := duration(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
