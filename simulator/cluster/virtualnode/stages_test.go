package virtualnode

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"

	"kube-scheduler-simulator/scheduler/standin"
	"kube-scheduler-simulator/scheduler/templatecost"
)

const goodStage = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: mine}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .status.phase, operator: In, values: [Pending]}
  next: {statusTemplate: "phase: Running"}
`

func TestLoadStages(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"one", goodStage, ""},
		{"comments and documents", "# none\n---\n" + goodStage + "---\n" + goodStage, ""},
		{"nothing", "# none\n", "there is no Stage in it"},
		{"another kind", "apiVersion: v1\nkind: Pod\n", "document 1: it is a Pod of v1"},
		{"a field that is not one", "# mine\n\n" + strings.Replace(goodStage, "selector:", "selektor:", 1), `document 1: line 8: spec.selektor: unknown field "selektor", did you mean selector?`},
		{"a field that is not one, in a list", "kind: List\napiVersion: v1\nitems:\n- " + strings.ReplaceAll(strings.Replace(goodStage, "selector:", "selektor:", 1), "\n", "\n  "), `document 1: items[0]: line 9: spec.selektor: unknown field "selektor"`},
		{"a field twice", "# mine\n" + strings.Replace(goodStage, "spec:", "kind: Stage\nspec:", 1), `document 1: line 5: kind: duplicate field "kind"; the first is on line 3`},
		{"no selector", "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: mine}\nspec:\n  resourceRef: {kind: Pod}\n", `stage "mine": it has no selector`},
		{"another resource", strings.Replace(goodStage, "kind: Pod", "kind: Job", 1), `stage "mine": it is for Job`},
		{"a function that there is not", strings.Replace(goodStage, "phase: Running", "phase: {{ Phase }}", 1), `stage "mine": the template of steps[0]: template: _:1: function "Phase" not defined`},
		{"a template that does not end", strings.Replace(goodStage, "phase: Running", "phase: {{ if .spec }}", 1), `stage "mine": the template of steps[0]: template: _:1: unexpected EOF`},
		{"the environment", strings.Replace(goodStage, "phase: Running", "phase: {{ env `HOME` }}", 1), `stage "mine": the template of steps[0]: it calls env, which reads from outside`},
		{"the environment in a branch", strings.Replace(goodStage, "phase: Running", "{{ if .x }}{{ range .y }}phase: {{ . | printf `%s` (expandenv `$HOME`) }}{{ end }}{{ end }}", 1), `it calls expandenv`},
		{"the environment in another template", strings.Replace(goodStage, "phase: Running", "{{ define `t` }}{{ with .z }}{{ else }}{{ env `HOME` }}{{ end }}{{ end }}phase: Running", 1), `it calls env`},
		{"the network", strings.Replace(goodStage, "phase: Running", "phase: {{ $a := getHostByName `example.com` }}{{ $a }}", 1), `it calls getHostByName`},
		{"a value changed in place", strings.Replace(goodStage, "phase: Running", "phase: {{ $d := dict }}{{ set $d `a` 1 }}", 1), `it calls set, which changes`},
		{"a key pair", strings.Replace(goodStage, "phase: Running", "phase: {{ genPrivateKey `rsa` }}", 1), `it calls genPrivateKey, which computes for long`},
		{"a long list", strings.Replace(goodStage, "phase: Running", "phase: {{ until 1000000000 | len }}", 1), `steps[0]: it makes a text of more than 1024 kB, the limit`},
		{"a long text", strings.Replace(goodStage, "phase: Running", "phase: {{ repeat 1000000000 `x` }}", 1), `it makes a text of more than 1024 kB`},
		{"a short list", strings.Replace(goodStage, "phase: Running", "phase: {{ until 3 | len }}{{ seq 1 2 9 }}{{ untilStep 1 9 2 }}{{ repeat 3 `x` }}{{ randAlpha 3 }}{{ randBytes 3 }}{{ indent 3 `x` }}", 1), ""},
		{"a wrong expression", strings.Replace(goodStage, ".status.phase", "'.status['", 1), `stage "mine": `},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "stages.yaml")
			if err := os.WriteFile(file, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := LoadStages(file)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v; want %q", err, test.want)
			}
		})
	}
}

// TestStagesCostLittle: what a stage evaluates is bounded, or refused before it is evaluated.
func TestStagesCostLittle(t *testing.T) {
	for name, text := range map[string]string{
		"a loop":             "{{range 1000000000}}{{end}}",
		"long lists":         "{{ until 1000000000 }}",
		"a long text":        "{{ repeat 1000000000 `x` }}",
		"a text that grows":  "{{ $x := `aaaaaaaaaa` }}{{ range 60 }}{{ $x = replace `a` $x $x }}{{ end }}",
		"one that is joined": "{{ $x := `a` }}{{ range 60 }}{{ $x = join $x (list $x $x $x) }}{{ end }}",
		"lists within lists": "{{ $x := list 1 }}{{ range 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}",
		"maps within maps":   "{{ $x := dict }}{{ range 60 }}{{ $x = dict `a` $x `b` $x }}{{ end }}{{ toPrettyJson $x }}",
		"many comparisons":   "{{ $x := untilStep 0 9000 1 }}{{ range 1000 }}{{ $y := uniq $x }}{{ end }}",
		"many copies":        "{{ $x := repeat 9000 `aaaaaaaaaa` }}{{ range 20000 }}{{ $y := upper $x }}{{ end }}",
		"patterns that grow": "{{ $x := repeat 9000 `a` }}{{ regexReplaceAll `(a*)` $x (repeat 1000 `$1`) }}",
		"a text wrapped":     "{{ wrapWith 1 (repeat 9000 `ab`) (repeat 9000 `ab `) }}",
		"an indented object": "{{ YAML (until 1000) 1000000 }}",
	} {
		var err error
		checkCost(t, name, func() { _, err = newRenderer(nodeTemplateFunctions()).ToText(text, struct{}{}) })
		if _, ok := errors.AsType[*templatecost.LimitError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	for key, want := range map[string]string{
		"[range(1000000000)]":             "range",
		"[.. | ..]":                       "recurse",
		"reduce .spec[] as $x (0; . + 1)": "reduce",
		"def f: f; f":                     "def",
		"[., .] | [., .]":                 ",",
		`"a" * 1000000000`:                "*",
		`"\(.)\(.)"`:                      "an expression within a text",
		"[.a + .a | . + . | . + . | . + . | . + .]": "at most 4 additions",
		".a[] == .b[]":                       "a pair of iterators around ==",
		"{a: ., b: .}":                       "object",
		".a as $x | $x":                      "as",
		".a" + strings.Repeat(" | .a", 1000): "at most 1024 characters",
	} {
		if err := checkJQ(key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", key, err, want)
		}
	}
	for text, fine := range map[string]bool{
		`self.status.conditions.exists(c, c.type == "Ready")`: true, "[1, 2].map(x, x + 1).filter(x, x > 2)": true,
		"[1, 2].map(x, [1, 2].map(y, x + y))": false, "[1].map(x, x).map(x, x).map(x, x)": false,
	} {
		if err := checkCEL(text); (err == nil) != fine {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAFileReplacesTheStagesOfItsKind(t *testing.T) {
	mine, err := parseStages([]byte(goodStage))
	if err != nil {
		t.Fatal(err)
	}
	all, err := mine.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	names := func(stages lifecycle.Lifecycle) (names []string) {
		for _, stage := range stages {
			names = append(names, stage.Name())
		}
		return names
	}
	if diff := cmp.Diff([][]string{{"node-ready"}, {"mine"}}, [][]string{names(all.node), names(all.pod)}); diff != "" {
		t.Errorf("stages of nodes and pods (-want +got):\n%s", diff)
	}
}

// TestStagesOfKwok: the stages that kwok ships work unchanged.
func TestStagesOfKwok(t *testing.T) {
	stages, err := parseStages([]byte(strings.Join([]string{
		nodefast.DefaultNodeInit, podfast.DefaultPodReady, podfast.DefaultPodComplete, podfast.DefaultPodDelete,
	}, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	n1 := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n"},
		Status:     corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.1"}}},
	}
	pod := &recordedPatch{object: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "u", ResourceVersion: "7"},
		Spec:       podSpec("pool"), Status: corev1.PodStatus{Phase: corev1.PodPending},
	}}
	pod.object.(*corev1.Pod).Spec.NodeName = "n1"
	play(t, "Pod", pod, stages.pod, podTemplateFunctions(func(string) *corev1.Node { return n1 }))
	node := &recordedPatch{object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2", UID: "m", ResourceVersion: "7"}}}
	play(t, "Node", node, stages.node, nodeTemplateFunctions())

	var running struct{ Status corev1.PodStatus }
	var ready struct{ Status corev1.NodeStatus }
	if err := errors.Join(json.Unmarshal(pod.patched, &running), json.Unmarshal(node.patched, &ready)); err != nil {
		t.Fatal(err)
	}
	got := []any{running.Status.Phase, running.Status.HostIP, running.Status.PodIP, readyCondition(&corev1.Node{Status: ready.Status}).Status}
	if diff := cmp.Diff([]any{corev1.PodRunning, "192.0.2.1", standin.AddressOf("u", standin.PodNetwork), corev1.ConditionTrue}, got); diff != "" {
		t.Error(diff)
	}
}

// play plays the one stage that matches.
func play(t *testing.T, kind string, on *recordedPatch, stages lifecycle.Lifecycle, functions gotpl.FuncMap) {
	t.Helper()
	if err := newPlayer(kind, 1, on, stages, functions, record.NewFakeRecorder(1)).play(t.Context(), keyOf(on.object)); err != nil {
		t.Fatal(err)
	}
}

// TestErrorsReachTheObject: what keeps a stage from being played is an event on its object, but for conflicts, after which the player
// looks again.
func TestErrorsReachTheObject(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, test := range map[string]struct {
		status  string
		refused error
		want    string
	}{
		"a template that fails": {"{{ fail `no` }}", nil, "Warning StageFailed stage mine: "},
		"a refusal":             {"phase: Running", apierrors.NewForbidden(pods, "p", errors.New("quota")), "Warning StageFailed stage mine: "},
		"a conflict":            {"phase: Running", apierrors.NewConflict(pods, "p", errors.New("newer")), ""},
		"a pod that is gone":    {"phase: Running", apierrors.NewNotFound(pods, "p"), ""},
	} {
		stages, err := parseStages([]byte(strings.Replace(goodStage, "phase: Running", test.status, 1)))
		if err != nil {
			t.Fatal(err)
		}
		on := &recordedPatch{refused: test.refused, object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", ResourceVersion: "7"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}}
		events := record.NewFakeRecorder(1)
		if err := newPlayer("Pod", 1, on, stages.pod, nil, events).play(t.Context(), "default/p"); err == nil {
			t.Errorf("%s: no error", name)
		}
		got := ""
		select {
		case got = <-events.Events:
		default:
		}
		if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: the event is %q, want %q", name, got, test.want)
		}
	}
}

// recordedPatch is a target with one object. It records the last patch, and refuses it with an error, if there is one.
type recordedPatch struct {
	object  object
	patched []byte
	refused error
}

func (r *recordedPatch) get(string) (object, error) { return r.object, nil }
func (r *recordedPatch) latest(object) time.Time    { return time.Time{} }
func (r *recordedPatch) patch(_ context.Context, _ object, _ types.PatchType, data []byte, _ ...string) (object, error) {
	r.patched = data
	return r.object, r.refused
}
func (r *recordedPatch) remove(context.Context, object) error { return nil }

func TestPatchesAreForOneVersion(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u", ResourceVersion: "7"}}
	tests := []struct{ name, kind, patch, want string }{
		{"a merge patch", "application/strategic-merge-patch+json", `{"status":{"phase":"Running"}}`, `{"metadata":{"resourceVersion":"7","uid":"u"},"status":{"phase":"Running"}}`},
		{"one of metadata", "application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":{"labels":{"a":"b"},"resourceVersion":"7","uid":"u"}}`},
		{"one that says nothing", "application/merge-patch+json", `{"metadata":{"labels":{}}}`, ""},
		{"a JSON patch", "application/json-patch+json", `[{"op":"remove","path":"/metadata/finalizers"}]`, `[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"remove","path":"/metadata/finalizers"}]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := onVersion([]byte(test.patch), types.PatchType(test.kind), pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStageOfAPodThatIsDeleted(t *testing.T) {
	stages, err := (&Stages{}).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name       string
		grace      int64
		finalizers []string
		phase      corev1.PodPhase
		want       string
	}{
		{name: "within its grace period", grace: 30, phase: corev1.PodRunning, want: "pod-delete"},
		{name: "held by a finalizer", grace: 30, finalizers: []string{"example.com/hold"}, phase: corev1.PodRunning, want: "pod-stop"},
		{name: "stopped", grace: 30, finalizers: []string{"example.com/hold"}, phase: corev1.PodFailed, want: "pod-delete"},
		{name: "only a finalizer is left", finalizers: []string{"example.com/hold"}, phase: corev1.PodFailed, want: ""},
		{name: "its deletion was cut off", phase: corev1.PodRunning, want: "pod-delete-again"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: time.Now()}, DeletionGracePeriodSeconds: &test.grace, Finalizers: test.finalizers},
				Status:     corev1.PodStatus{Phase: test.phase},
			}
			stage, err := stages.pod.Match(t.Context(), &lifecycle.Event{Data: pod})
			got := ""
			if stage != nil {
				got = stage.Name()
			}
			if err != nil || got != test.want {
				t.Errorf("stage %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// BenchmarkPlay measures making one pod Running, without the request.
func BenchmarkPlay(b *testing.B) {
	stages, err := (&Stages{}).withDefaults()
	if err != nil {
		b.Fatal(err)
	}
	pods := &onePod{pod: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "u", ResourceVersion: "7"},
		Spec:       podSpec("pool"),
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}}
	player := newPlayer("Pod", 1, pods, stages.pod, podFunctions(time.Now), record.NewFakeRecorder(1))
	b.ReportAllocs()
	for b.Loop() {
		player.forget("default/p")
		if err := player.play(b.Context(), "default/p"); err != nil {
			b.Fatal(err)
		}
	}
	if pods.patches == 0 {
		b.Error("nothing was written")
	}
}

// onePod is a target with one pod that never changes.
type onePod struct {
	pod     *corev1.Pod
	patches int
}

var _ target = (*onePod)(nil)

func (o *onePod) get(string) (object, error) { return o.pod, nil }
func (o *onePod) latest(object) time.Time    { return time.Time{} }
func (o *onePod) patch(context.Context, object, types.PatchType, []byte, ...string) (object, error) {
	o.patches++
	return o.pod, nil
}
func (o *onePod) remove(context.Context, object) error { return nil }
