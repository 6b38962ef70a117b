package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const (
	whatifPath = "/api/v1/whatif"
	shadowPath = "/api/v1/shadow"
)

// asked is the answer to a hypothesis.
type asked struct {
	State struct {
		Nodes, Pods     int
		ResourceVersion string
	}
	Decisions []*result.Cycle
}

// ask asks a question in YAML.
func (s *running) ask(t *testing.T, question string) asked {
	t.Helper()
	code, answer := s.send(t, http.MethodPost, whatifPath, question)
	if code != http.StatusOK {
		t.Fatalf("%d: %s\n%s", code, answer, question)
	}
	var out asked
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatal(err)
	}
	for _, c := range out.Decisions {
		if !c.Hypothetical {
			t.Errorf("the decision about %s is not marked as hypothetical", c.Pod.Name)
		}
	}
	return out
}

// nodes has the selected node of each decision, or its outcome.
func (a asked) nodes() []string {
	var out []string
	for _, c := range a.Decisions {
		if c.SelectedNode != "" {
			out = append(out, c.SelectedNode)
		} else {
			out = append(out, string(c.Outcome))
		}
	}
	return out
}

// known waits until the scheduler, and so the engine, knows the pool's nodes. Tests make these before everything else.
func known(t *testing.T, s *running, ns string, p *v1.Pod) {
	t.Helper()
	probe := p.DeepCopy()
	probe.Name = "probe"
	create(t, s, ns, probe, result.Scheduled)
	if err := s.client.CoreV1().Pods(ns).Delete(t.Context(), probe.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "the probe has gone", func(ctx context.Context) (bool, error) {
		pods, err := s.client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0, err
	})
}

func asYAML(t *testing.T, name string, o any) string {
	t.Helper()
	data, err := yaml.Marshal(map[string]any{name: o})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestHypothesesComeTrue: what the what-if says of several copies happens when the pods are created, one by one.
func TestHypothesesComeTrue(t *testing.T) {
	ns := namespace(t, shared)
	for _, cpu := range []string{"2", "3", "5"} {
		createNode(t, shared, "true", cpu)
	}
	p := pod("web", "true", "1")
	p.Namespace = ns
	known(t, shared, ns, p)
	answer := shared.ask(t, asYAML(t, "pod", p)+"copies: 11\n")
	var real []string
	for i := range answer.Decisions {
		p := pod(fmt.Sprintf("web-%d", i), "true", "1")
		outcome := result.Scheduled
		if i == 10 {
			outcome = result.Unschedulable
		}
		_, c := create(t, shared, ns, p, outcome)
		hypothetical := answer.Decisions[i]
		switch {
		case c.SelectedNode == "":
			real = append(real, string(c.Outcome))
		case hypothetical.Score != nil && slices.Contains(hypothetical.Score.Tied(), c.SelectedNode):
			real = append(real, hypothetical.SelectedNode) // chance decided
			if c.SelectedNode != hypothetical.SelectedNode {
				t.Skipf("a tie went the other way after %d copies, so the states differ", i)
			}
		default:
			real = append(real, c.SelectedNode)
		}
	}
	if diff := cmp.Diff(real, answer.nodes()); diff != "" {
		t.Error(diff)
	}
}

// TestHypothesesAboutEveryKind: a change of any kind of object that the scheduler reads has its effect.
func TestHypothesesAboutEveryKind(t *testing.T) {
	ns := namespace(t, shared)
	tainted := createNode(t, shared, "kinds", "8", v1.Taint{Key: "team", Value: "x", Effect: v1.TaintEffectNoSchedule})
	open := createNode(t, shared, "kinds", "4")
	p := pod("web", "kinds", "1")
	p.Namespace = ns
	known(t, shared, ns, p)
	running, _ := create(t, shared, ns, pod("running", "kinds", "3500m"), result.Scheduled)

	with := func(change func(*v1.Pod)) string {
		other := p.DeepCopy()
		change(other)
		return asYAML(t, "pod", other)
	}
	web := with(func(*v1.Pod) {})
	claim := with(func(p *v1.Pod) {
		p.Spec.Containers[0].Resources = v1.ResourceRequirements{}
		p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	device := with(func(p *v1.Pod) {
		p.Spec.Containers[0].Resources = v1.ResourceRequirements{Claims: []v1.ResourceClaim{{Name: "gpu"}}}
		name := "gpu"
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
	})
	besideTeam := with(func(p *v1.Pod) {
		p.Spec.Containers[0].Resources = v1.ResourceRequirements{}
		p.Labels = map[string]string{"app": "web"}
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			TopologyKey: "pool", LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "x"}},
		}}}}
	})
	urgent := with(func(p *v1.Pod) {
		p.Spec.PriorityClassName = "urgent-" + ns
		p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("2")}
	})

	for name, test := range map[string]struct {
		question string
		want     []string
		// nominated is the node on which preemption would make room.
		nominated string
	}{
		"nothing":             {question: web, want: []string{"unschedulable"}},
		"a taint removed":     {question: web + fmt.Sprintf("changes: [{patch: {apiVersion: v1, kind: Node, name: %s, patch: {spec: {taints: null}}}}]", tainted), want: []string{tainted}},
		"a pod deleted":       {question: web + fmt.Sprintf("changes: [{delete: {apiVersion: v1, kind: Pod, namespace: %s, name: running}}]", ns), want: []string{open}},
		"a larger node":       {question: web + fmt.Sprintf("changes: [{patch: {apiVersion: v1, kind: Node, name: %s, patch: {status: {allocatable: {cpu: 6}}}}}]", open), want: []string{open}},
		"three more nodes":    {question: web + "copies: 4\nchanges: [{count: 3, apply: {apiVersion: v1, kind: Node, metadata: {name: more, labels: {pool: kinds}}, status: {allocatable: {cpu: 1, memory: 1Gi, pods: 5}}}}]", want: []string{"more-1", "more-2", "more-3", "unschedulable"}},
		"a node deleted":      {question: with(func(p *v1.Pod) { p.Spec.Containers[0].Resources = v1.ResourceRequirements{} }) + fmt.Sprintf("changes: [{delete: {apiVersion: v1, kind: Node, name: %s}}]", open), want: []string{"unschedulable"}},
		"a claim that is not": {question: claim, want: []string{"unschedulable"}},
		"a volume and its claim": {question: claim + fmt.Sprintf(`changes:
- apply: {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: late-%[1]s}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}
- apply: {apiVersion: v1, kind: PersistentVolume, metadata: {name: v-%[1]s}, spec: {storageClassName: late-%[1]s, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], local: {path: /x}, nodeAffinity: {required: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [%[2]s]}]}]}}}}
- apply: {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: %[1]s}, spec: {storageClassName: late-%[1]s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
`, ns, open), want: []string{open}},
		"a device and its claim": {question: device + fmt.Sprintf(`changes:
- apply: {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu-%[1]s}, spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}}
- apply: {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: slice-%[1]s}, spec: {driver: gpu.example.com, nodeName: %[2]s, pool: {name: %[2]s, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}
- apply: {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: gpu, namespace: %[1]s}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu-%[1]s}}]}}}
`, ns, open), want: []string{open}},
		"labels of a namespace": {question: besideTeam + fmt.Sprintf("changes: [{patch: {apiVersion: v1, kind: Namespace, name: %s, patch: {metadata: {labels: {team: x}}}}}]", ns), want: []string{"unschedulable"}},
		"no such labels":        {question: besideTeam, want: []string{open}},
		"a priority class": {
			question: urgent + fmt.Sprintf("changes: [{apply: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent-%s}, value: 1000}}]", ns),
			want:     []string{"unschedulable"}, nominated: open,
		},
		"a pod in a new namespace": {
			question: strings.Replace(with(func(p *v1.Pod) { p.Spec.Containers[0].Resources = v1.ResourceRequirements{} }), "namespace: "+ns, "namespace: new-"+ns, 1) +
				fmt.Sprintf("changes: [{apply: {apiVersion: v1, kind: Namespace, metadata: {name: new-%s}}}]", ns),
			want: []string{open},
		},
		"a pod that runs": {question: fmt.Sprintf("podRef: {namespace: %s, name: running}", ns), want: []string{open}},
	} {
		t.Run(name, func(t *testing.T) {
			answer := shared.ask(t, test.question)
			if diff := cmp.Diff(test.want, answer.nodes()); diff != "" {
				t.Errorf("%s\n%s", diff, answer.Decisions[0].Message)
			}
			if got := answer.Decisions[0].NominatedNode; got != test.nominated {
				t.Errorf("it is nominated to %q, want %q", got, test.nominated)
			}
		})
	}
	if where(t, ns, running.Name) != open {
		t.Error("a hypothesis has moved a pod")
	}
}

// TestBudgetsInHypotheses: preemption spares a pod that a hypothetical budget protects, if another one will do.
func TestBudgetsInHypotheses(t *testing.T) {
	ns := namespace(t, shared)
	first, second := createNode(t, shared, "budget", "2"), createNode(t, shared, "budget", "2")
	p := pod("urgent", "budget", "2")
	p.Namespace, p.Spec.PriorityClassName = ns, "system-cluster-critical"
	known(t, shared, ns, pod("x", "budget", "1"))
	for _, name := range []string{"one", "two"} {
		victim := pod(name, "budget", "2")
		victim.Labels = map[string]string{"app": name}
		create(t, shared, ns, victim, result.Scheduled)
	}
	spared := where(t, ns, "one")
	victims := map[string]string{"one": first + second}
	victims["two"] = strings.Replace(first+second, spared, "", 1)
	for protected, other := range map[string]string{"one": "two", "two": "one"} {
		answer := shared.ask(t, asYAML(t, "pod", p)+fmt.Sprintf("changes: [{apply: {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: %s}, spec: {maxUnavailable: 0, selector: {matchLabels: {app: %s}}}}}]", ns, protected))
		if got, want := answer.Decisions[0].NominatedNode, where(t, ns, other); got != want {
			t.Errorf("with a budget for %s: it is nominated to %q, want %q", protected, got, want)
		}
	}
}

// TestHypothesesWriteNothing: every object that a question names is as it was before.
func TestHypothesesWriteNothing(t *testing.T) {
	ns := namespace(t, shared)
	node := createNode(t, shared, "nothing", "2")
	p := pod("web", "nothing", "1")
	p.Namespace = ns
	known(t, shared, ns, p)
	waiting, _ := create(t, shared, ns, pod("waiting", "nothing", "3"), result.Unschedulable)
	versions := func() map[string]string {
		out := map[string]string{}
		pods, err := shared.client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods.Items {
			out[p.Name] = string(p.UID) + " " + p.Spec.NodeName
		}
		n, err := shared.client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out[node] = n.ResourceVersion
		nodes, err := shared.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "pool=nothing"})
		if err != nil {
			t.Fatal(err)
		}
		out["nodes"] = fmt.Sprint(len(nodes.Items))
		events, err := shared.client.CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=web"})
		if err != nil {
			t.Fatal(err)
		}
		out["events"] = fmt.Sprint(len(events.Items))
		return out
	}
	before := versions()
	changes := fmt.Sprintf(`changes:
- patch: {apiVersion: v1, kind: Node, name: %s, patch: {spec: {unschedulable: true}, metadata: {labels: {a: b}}}}
- apply: {apiVersion: v1, kind: Node, metadata: {name: nothing-more, labels: {pool: nothing}}, status: {allocatable: {cpu: 9, memory: 9Gi, pods: 9}}}
- delete: {apiVersion: v1, kind: Pod, namespace: %s, name: waiting}
`, node, ns)
	if got := shared.ask(t, asYAML(t, "pod", p)+changes+"copies: 3\n").nodes(); got[0] != "nothing-more" {
		t.Fatalf("the copies go to %v", got)
	}
	for path, question := range map[string]string{
		whatifPath + "/fit":      asYAML(t, "podRef", map[string]string{"namespace": ns, "name": waiting.Name}),
		whatifPath + "/capacity": asYAML(t, "pod", p) + changes + fmt.Sprintf("nodesNeeded: {like: %s, for: 30}\n", node),
	} {
		if code, answer := shared.send(t, http.MethodPost, path, question); code != http.StatusOK {
			t.Errorf("%s: %d: %s", path, code, answer)
		}
	}
	if diff := cmp.Diff(before, versions()); diff != "" {
		t.Error(diff)
	}
}

// TestBadHypotheses: the API server's own words, at the place in the question.
func TestBadHypotheses(t *testing.T) {
	ns := namespace(t, shared)
	for name, test := range map[string]struct {
		path, question string
		code           int
		details        string
	}{
		"an invalid pod":     {whatifPath, fmt.Sprintf("pod: {metadata: {name: web, namespace: %s}, spec: {containers: [{name: c}]}}", ns), 422, `"field":"pod.spec.containers[0].image","message":"Required value"`},
		"an unknown kind":    {whatifPath, "podRef: {name: x}\nchanges: [{apply: {apiVersion: example.com/v1, kind: Thing, metadata: {name: x}}}]", 422, `"field":"changes[0].apply","message":"the API server has no kind Thing in example.com/v1"`},
		"a kind not read":    {whatifPath, "podRef: {name: x}\nchanges: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}]", 422, `"field":"changes[0]","message":"the scheduler does not read objects of the kind ConfigMap in v1"`},
		"an impossible pod":  {whatifPath, fmt.Sprintf("podRef: {namespace: %s, name: lost}", ns), 404, ``},
		"a node that is not": {whatifPath + "/fit", fmt.Sprintf("{node: lost, pod: {metadata: {name: web, namespace: %s}, spec: {containers: [{name: c, image: i}]}}}", ns), 404, ``},
		"a wrong document":   {whatifPath + "/capacity", "podRef: {name: x}\nconfiguration: 'kind: KubeSchedulerConfiguration'", 422, `"field":"configuration.apiVersion","line":1`},
		"a plugin that no scheduler has": {whatifPath, "podRef: {name: x}\nconfiguration: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{plugins: {score: {enabled: [{name: Mine}]}}}]}", 422,
			`"field":"configuration.profiles[0].plugins.score.enabled[0].name"`},
	} {
		t.Run(name, func(t *testing.T) {
			code, answer := shared.send(t, http.MethodPost, test.path, test.question)
			if code != test.code || !strings.Contains(string(answer), test.details) {
				t.Errorf("%d: %s", code, answer)
			}
		})
	}
}

// judged is the answer of the shadow.
type judged struct {
	Configuration           json.RawMessage
	Judged, Differ, Skipped int
	Complete                bool
	Items                   []struct {
		Pod          result.Pod
		Live, Shadow struct{ Node string }
		Verdict      string
		PartedBy     *struct{ Plugin, ExtensionPoint string }
	}
}

// of has the items of the pods of a namespace, oldest first.
func (j judged) of(ns string) []string {
	out := []string{}
	for _, i := range slices.Backward(j.Items) {
		if i.Pod.Namespace == ns {
			line := fmt.Sprintf("%s %s %s %s", i.Pod.Name, i.Verdict, i.Live.Node, i.Shadow.Node)
			if i.PartedBy != nil {
				line += " " + i.PartedBy.Plugin + " " + i.PartedBy.ExtensionPoint
			}
			out = append(out, line)
		}
	}
	return out
}

// fullest prefers the node that has the most requests already.
const fullest = header + `profiles:
- plugins: {multiPoint: {disabled: [{name: NodeResourcesBalancedAllocation}]}}
  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]
`

// allCounted waits until the shadow has judged or left out every decision since it began, and returns its judgement.
func allCounted(t *testing.T) judged {
	t.Helper()
	var got judged
	var page result.Page
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("judged %d, left out %d, %+v", got.Judged, got.Skipped, page.Items)
		}
	})
	clustertest.Eventually(t, "the shadow has counted every decision", func(context.Context) (bool, error) {
		got = judged{} // decoding would leave what the answer omits
		shared.get(t, shadowPath, &got)
		var err error
		if page, err = shared.simulator.store.List(result.Query{Since: shared.simulator.hypotheses.State().Since, Limit: 500}); err != nil {
			return false, err
		}
		made := 0
		for i := range page.Items {
			if page.Items[i].Outcome != result.Error {
				made++
			}
		}
		return made == got.Judged+got.Skipped, nil
	})
	return got
}

// TestTheShadow: a second configuration judges each decision, and a draft is judged on the pods of the latest.
func TestTheShadow(t *testing.T) {
	clustertest.Slow(t)
	ns := namespace(t, shared)
	small, large := createNode(t, shared, "shadow", "4"), createNode(t, shared, "shadow", "8")
	known(t, shared, ns, pod("x", "shadow", "1"))
	body, err := json.Marshal(map[string]string{"configuration": fullest})
	if err != nil {
		t.Fatal(err)
	}
	if code, answer := shared.send(t, http.MethodPut, shadowPath, string(body)); code != http.StatusOK || !strings.Contains(string(answer), "MostAllocated") {
		t.Fatalf("%d: %s", code, answer)
	}
	t.Cleanup(func() {
		if err := shared.simulator.hypotheses.Clear(); err != nil {
			t.Error(err)
		}
	})
	for i := range 2 {
		create(t, shared, ns, pod(fmt.Sprintf("web-%d", i), "shadow", "1"), result.Scheduled)
	}
	got := allCounted(t)
	want := []string{
		fmt.Sprintf("web-0 elsewhere %s %s NodeResourcesFit score", large, small),
		fmt.Sprintf("web-1 same %[1]s %[1]s", large), // beside web-0
	}
	if diff := cmp.Diff(want, got.of(ns)); diff != "" {
		t.Error(diff)
	}

	// Each pod alone, where the others are now: web-1 beside web-0 on the large node would now be at least as well off there.
	code, answer := shared.send(t, http.MethodPost, shadowPath, string(body[:len(body)-1])+`,"last":2}`)
	var draft judged
	if err := json.Unmarshal(answer, &draft); err != nil || code != http.StatusOK {
		t.Fatalf("%d, %v: %s", code, err, answer)
	}
	if !draft.Complete || draft.Judged != 2 || len(draft.of(ns)) != 2 {
		t.Errorf("the draft's answer is %s", answer)
	}

	// The shadow follows whichever scheduler runs. It leaves out decisions until it knows the new one's state.
	apply(t, shared, fullest)
	for i := 2; len(got.of(ns)) == len(want); i++ {
		create(t, shared, ns, pod(fmt.Sprintf("small-%d", i), "shadow", "10m"), result.Scheduled)
		got = allCounted(t)
	}
	for _, line := range got.of(ns)[len(want):] {
		if !strings.Contains(line, " same ") {
			t.Errorf("both have the same configuration: %s", line)
		}
	}

	if code, answer := shared.send(t, http.MethodDelete, shadowPath, ""); code != http.StatusNoContent {
		t.Errorf("%d: %s", code, answer)
	}
	got = judged{}
	shared.get(t, shadowPath, &got)
	if string(got.Configuration) != "null" || got.Judged != 0 {
		t.Errorf("after the removal: %+v", got)
	}
}

// TestTheShadowStays: a restart continues with the shadow, and a reset removes it.
func TestTheShadowStays(t *testing.T) {
	clustertest.Slow(t)
	options := DefaultOptions()
	options.DataDir, options.NoVirtualNodes = t.TempDir(), true
	first := launch(t, options)
	body, err := json.Marshal(map[string]string{"configuration": fullest})
	if err != nil {
		t.Fatal(err)
	}
	if code, answer := first.send(t, http.MethodPut, shadowPath, string(body)); code != http.StatusOK {
		t.Fatalf("%d: %s", code, answer)
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	second := launch(t, options)
	var got judged
	second.get(t, shadowPath, &got)
	if !strings.Contains(string(got.Configuration), "MostAllocated") {
		t.Errorf("after a restart: %s", got.Configuration)
	}
	second.reset(t)
	second.get(t, shadowPath, &got)
	if string(got.Configuration) != "null" {
		t.Errorf("after a reset: %s", got.Configuration)
	}
	if _, err := os.Stat(filepath.Join(options.DataDir, "shadow-configuration.yaml")); !os.IsNotExist(err) {
		t.Errorf("the file of the shadow: %v", err)
	}
	// The state follows the reset.
	if answer := second.ask(t, "pod: {metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}"); answer.State.Nodes != 0 || answer.nodes()[0] != "unschedulable" {
		t.Errorf("after a reset: %+v", answer.State)
	}
}

// TestAPausedSchedulerAnswersNoHypotheses: nobody knows the state then.
func TestAPausedSchedulerAnswersNoHypotheses(t *testing.T) {
	s := &hypotheses{simulator: shared.simulator}
	if err := s.ready(); err != nil {
		t.Errorf("while it runs: %v", err)
	}
}
