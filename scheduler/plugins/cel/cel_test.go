package cel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/celcost"
	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/plugins/argument"
)

func args(t testing.TB, v any) runtime.Object {
	t.Helper()
	raw, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeYAML}
}

func newFilter(t testing.TB, a FilterArguments) *Filter {
	t.Helper()
	p, err := NewFilter(t.Context(), args(t, a), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*Filter)
}

func newScore(t testing.TB, a ScoreArguments) *Score {
	t.Helper()
	p, err := NewScore(t.Context(), args(t, a), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*Score)
}

var resourcesOfNode = map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "110", "example.com/gpu": "2"}

func aNode(pods ...*v1.Pod) fwk.NodeInfo {
	return on(st.MakeNode().Name("n1").Label("zone", "a").Label("version", "1.30.2").Label("ip", "10.1.2.3").
		Capacity(resourcesOfNode).Taints([]v1.Taint{{Key: "dedicated", Value: "ml", Effect: v1.TaintEffectNoSchedule}}).Obj(), pods...)
}

func on(node *v1.Node, pods ...*v1.Pod) fwk.NodeInfo {
	info := framework.NewNodeInfo(pods...)
	info.SetNode(node)
	return info
}

func aPod() *v1.Pod {
	return st.MakePod().Namespace("shop").Name("web").UID("u1").Label("app", "web").Label("zone", "a").Priority(7).
		Toleration("dedicated").Req(map[v1.ResourceName]string{"cpu": "500m", "memory": "1Gi", "example.com/gpu": "1"}).Obj()
}

func neighbour(name, cpu string) *v1.Pod {
	return st.MakePod().Namespace("shop").Name(name).UID(name).Label("app", "db").Req(map[v1.ResourceName]string{"cpu": cpu}).Node("n1").Obj()
}

// TestExpressions checks what the package comment promises.
func TestExpressions(t *testing.T) {
	node := aNode(neighbour("db-1", "1"), neighbour("db-2", "500m"))
	for _, expression := range []string{
		// The objects.
		`pod.metadata.name == 'web' && pod.metadata.namespace == 'shop' && node.metadata.name == 'n1'`,
		`node.metadata.labels['zone'] == pod.metadata.labels['zone']`,
		`node.metadata.labels.zone == 'a'`,
		`pod.spec.priority == 7`,
		`pod.spec.containers.all(c, c.resources.requests['cpu'] == '500m')`,
		`pod.spec.containers[0].resources.requests.cpu == '500m'`,
		`node.spec.taints.exists(t, pod.spec.tolerations.exists(x, x.key == t.key))`,
		`node.spec.taints.map(t, t.effect) == ['NoSchedule']`,
		`pod.status.phase == '' && size(pod.spec.volumes) == 0 && !pod.spec.hostNetwork`,
		`!has(pod.spec.affinity) && has(pod.spec.priority) && has(pod.metadata.labels) && !has(pod.metadata.annotations)`,
		`!has(pod.metadata.deletionTimestamp)`,
		`pod.spec == pod.spec && pod.spec.containers[0] == pod.spec.containers[0]`,
		`[pod].all(p, p.metadata.name == 'web' && has(p.spec.priority))`,
		// Keys and fields that may be missing.
		`node.metadata.labels[?'rack'].orValue('none') == 'none'`,
		`pod.spec.?affinity.?nodeAffinity.hasValue() == false`,
		`!('rack' in node.metadata.labels)`,
		// Amounts as numbers.
		`podRequest.cpu == 0.5 && podRequest.memory == 1073741824.0 && podRequest.pods == 1.0 && podRequest.extended['example.com/gpu'] == 1.0`,
		`nodeRequested.cpu == 1.5 && nodeRequested.pods == 2.0`,
		`nodeAllocatable.cpu == 4.0 && nodeAllocatable.memory == 8589934592.0 && nodeAllocatable.pods == 110.0`,
		`nodeRequested.extended[?'example.com/gpu'].orValue(0.0) + podRequest.extended['example.com/gpu'] <= nodeAllocatable.extended['example.com/gpu']`,
		// The pods of the node.
		`podsOnNode.filter(p, p.metadata.labels['app'] == 'db').size() == 2`,
		`podsOnNode.exists_one(p, p.metadata.name == 'db-1')`,
		`podsOnNode.all(pod, pod.spec.nodeName == node.metadata.name)`,
		// The libraries.
		`quantity(node.status.allocatable['memory']).isGreaterThan(quantity('4Gi'))`,
		`quantity(pod.spec.containers[0].resources.requests['cpu']).asApproximateFloat() == 0.5`,
		`semver(node.metadata.labels['version']).isGreaterThan(semver('1.29.0'))`,
		`ip(node.metadata.labels['ip']).family() == 4 && cidr('10.0.0.0/8').containsIP(node.metadata.labels['ip'])`,
		`node.metadata.name.find('[0-9]+') == '1'`,
		`url('https://example.com/x').getHost() == 'example.com'`,
		`!format.dns1123Label().validate(pod.metadata.name).hasValue()`,
		`[3, 1, 2].max() == 3 && [1, 2].isSorted() && sets.contains([1, 2], [1])`,
		`node.metadata.labels['zone'].upperAscii() == 'A' && 'a,b'.split(',').join('-') == 'a-b'`,
		`math.greatest(nodeRequested.cpu, 3.0) == 3.0 && math.round(2.5) == 3.0`,
		`cel.bind(free, nodeAllocatable.cpu - nodeRequested.cpu, free >= podRequest.cpu && free > 1.0)`,
		`pod.metadata.labels.all(k, v, k != v)`,
	} {
		if status := newFilter(t, FilterArguments{Expression: expression}).Filter(t.Context(), nil, aPod(), node); !status.IsSuccess() {
			t.Errorf("%s: %v", expression, status)
		}
	}
}

func TestMistakesAreFoundWhenTheConfigurationIsApplied(t *testing.T) {
	for _, tc := range []struct {
		name    string
		factory func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error)
		args    string
		want    []string
	}{
		{"no arguments", NewFilter, `{}`, []string{"expression: is required, for example: node.metadata.labels['disk'] == 'ssd'"}},
		{"no arguments to score", NewScore, `{}`, []string{"expression: is required, for example: 100.0 * nodeRequested.cpu / nodeAllocatable.cpu"}},
		{"an unknown argument", NewScore, `{expression: "1", normalise: true}`, []string{`normalise: unknown field "normalise", did you mean normalize?`}},
		{"an argument of the wrong kind", NewScore, `{expression: "1", normalize: sometimes}`, []string{`normalize: want true or false, not "sometimes"`}},
		{"a field that the API does not have", NewFilter, `{expression: "node.metadata.lables['x'] == 'y'"}`, []string{"expression, line 1, column 14: undefined field 'lables'"}},
		{"one in a loop, on another line", NewFilter, "{expression: \"pod.spec.containers\\n  .all(c, c.imag == '')\"}", []string{"expression, line 2, column 12: undefined field 'imag'"}},
		{"an unknown variable", NewFilter, `{expression: "nod.metadata.name == 'x'"}`, []string{"expression, line 1, column 1: undeclared reference to 'nod'; the variables are pod, node, podRequest, nodeRequested, nodeAllocatable, podsOnNode"}},
		{"two mistakes", NewFilter, `{expression: "a && b", messageExpression: "1"}`, []string{
			"expression, line 1, column 1: undeclared reference to 'a'; the variables are pod, node, podRequest, nodeRequested, nodeAllocatable, podsOnNode",
			"expression, line 1, column 6: undeclared reference to 'b'; the variables are pod, node, podRequest, nodeRequested, nodeAllocatable, podsOnNode",
			"messageExpression, line 1, column 1: the result must be a string, not int",
		}},
		{"broken syntax", NewFilter, `{expression: "node.metadata.name =="}`, []string{"expression, line 1, column 22: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"}},
		{"a filter that is a number", NewFilter, `{expression: "nodeAllocatable.cpu"}`, []string{"expression, line 1, column 1: the result must be true or false, not double"}},
		{"a score that is a condition", NewScore, `{expression: "nodeAllocatable.cpu > 1.0"}`, []string{"expression, line 1, column 1: the result must be a number, not bool"}},
		{"an expression without end", NewScore, `{expression: "` + strings.Repeat("1+", maxExpression) + `"}`, []string{"expression: is longer than 16384 bytes"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tc.factory(t.Context(), &runtime.Unknown{Raw: []byte(tc.args), ContentType: runtime.ContentTypeYAML}, nil)
			var got []string
			for _, e := range argument.All(err) {
				got = append(got, e.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%v: %s", err, diff)
			}
		})
	}
}

func TestFailuresAreErrorsThatSayWhatToDo(t *testing.T) {
	node := aNode()
	for range 50 {
		node.AddPodInfo(mustPodInfo(t, neighbour("x", "1m")))
	}
	for _, tc := range []struct{ name, expression, want string }{
		{"a missing key", `node.metadata.labels['rack'] == 'r1'`,
			`evaluating the expression for node "n1" (line 1, column 21): no such key: rack; for a key that not every map has, write [?'rack'].orValue(...), or check 'rack' in the map first`},
		{"an absent field", `pod.spec.affinity.nodeAffinity == pod.spec.affinity.nodeAffinity`, "the field affinity is not set; check it first with has()"},
		{"too much work", `podsOnNode.all(a, podsOnNode.all(b, podsOnNode.all(c, a.metadata.name == c.metadata.name)))`, "actual cost limit exceeded: it may take 50000 steps for a node"},
		{"a division by zero", `1 / int(nodeRequested.cpu * 0.0) == 1`, "division by zero"},
		{"not a quantity", `quantity(node.metadata.labels['zone']).isInteger()`, "quantities must match the regular expression"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status := newFilter(t, FilterArguments{Expression: tc.expression}).Filter(t.Context(), nil, aPod(), node)
			if status.Code() != fwk.Error || !strings.Contains(status.Message(), tc.want) {
				t.Errorf("got %v, want an error with %q", status, tc.want)
			}
		})
	}
}

func mustPodInfo(t *testing.T, pod *v1.Pod) fwk.PodInfo {
	t.Helper()
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestARejectionGivesAReason(t *testing.T) {
	for _, tc := range []struct {
		name string
		args FilterArguments
		want *fwk.Status
	}{
		{"the expression, by default", FilterArguments{Expression: "node.metadata.name ==\n  'n2'"},
			fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) didn't satisfy the expression node.metadata.name == 'n2'")},
		{"a message", FilterArguments{Expression: "false", Message: "not today"},
			fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not today")},
		{"an expression", FilterArguments{Expression: "false", MessageExpression: "'zone ' + node.metadata.labels['zone'] + ' is closed'"},
			fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "zone a is closed")},
		{"the message where the expression fails", FilterArguments{Expression: "false", Message: "closed", MessageExpression: "node.metadata.labels['rack']"},
			fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "closed")},
		{"preemption may help when it matters which pods run there", FilterArguments{Expression: "size(podsOnNode) < 0", Message: "full"},
			fwk.NewStatus(fwk.Unschedulable, "full")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := newFilter(t, tc.args).Filter(t.Context(), nil, aPod(), aNode())
			if got.Code() != tc.want.Code() || got.Message() != tc.want.Message() {
				t.Errorf("got %v %q, want %v %q", got.Code(), got.Message(), tc.want.Code(), tc.want.Message())
			}
		})
	}
}

func TestAnInterruptedSearchIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough nodes were found"))
	node := aNode()
	for range 200 {
		node.AddPodInfo(mustPodInfo(t, neighbour("x", "1m")))
	}
	got := newFilter(t, FilterArguments{Expression: "podsOnNode.all(a, podsOnNode.exists(b, a.metadata.name == b.metadata.name))"}).Filter(ctx, nil, aPod(), node)
	if got.Code() != fwk.UnschedulableAndUnresolvable || got.Message() != "enough nodes were found" {
		t.Errorf("got %v %q", got.Code(), got.Message())
	}
}

func TestAnUpdatedNodeIsReadAsItIs(t *testing.T) {
	p := newScore(t, ScoreArguments{Expression: "int(node.metadata.labels['rank']) + size(podsOnNode)"})
	state := framework.NewCycleState()
	var got []int64
	note := func(node fwk.NodeInfo) {
		score, status := p.Score(t.Context(), state, aPod(), node)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		got = append(got, score)
	}
	first := st.MakeNode().Name("n1").UID("u").Label("rank", "10").Obj()
	first.ResourceVersion = "1"
	info := on(first)
	note(info)
	second := first.DeepCopy()
	second.Labels["rank"], second.ResourceVersion = "20", "2"
	info.SetNode(second)
	note(info)
	info.AddPodInfo(mustPodInfo(t, neighbour("db", "1")))
	note(info)
	if diff := cmp.Diff([]int64{10, 20, 21}, got); diff != "" {
		t.Error(diff)
	}
}

func TestScore(t *testing.T) {
	for _, tc := range []struct {
		name    string
		args    ScoreArguments
		want    int64
		failure string
		facts   []pluginfact.Fact
	}{
		{"a whole number is the score", ScoreArguments{Expression: "42"}, 42, "", nil},
		{"a fraction is rounded, and a fact", ScoreArguments{Expression: "100.0 / 3.0"}, 33, "", []pluginfact.Fact{{Plugin: ScoreName, Node: "n1", Key: "value", Value: "33.3333"}}},
		{"to be normalized, thousandths count", ScoreArguments{Expression: "-0.25", Normalize: true}, -250, "", []pluginfact.Fact{{Plugin: ScoreName, Node: "n1", Key: "value", Value: "-0.25"}}},
		{"too large", ScoreArguments{Expression: "250"}, 0, `scoring node "n1": the expression gives 250, and a score is from 0 to 100: scale it, or set normalize: true`, nil},
		{"too small", ScoreArguments{Expression: "-0.5"}, 0, "the expression gives -0.5, and a score is from 0 to 100", nil},
		{"not a number", ScoreArguments{Expression: "nodeRequested.cpu / nodeRequested.cpu"}, 0, "the expression gives NaN, as a division by zero does", nil},
		{"too large even to normalize", ScoreArguments{Expression: "1e300", Normalize: true}, 0, "too large: divide it", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state := framework.NewCycleState()
			log := pluginfact.Attach(state, func() bool { return true })
			got, status := newScore(t, tc.args).Score(t.Context(), state, aPod(), aNode())
			if got != tc.want || (tc.failure == "") != status.IsSuccess() || !strings.Contains(status.Message(), tc.failure) {
				t.Errorf("got %d, %v", got, status)
			}
			facts, _ := log.Facts()
			if diff := cmp.Diff(tc.facts, facts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNormalize(t *testing.T) {
	if newScore(t, ScoreArguments{Expression: "1"}).ScoreExtensions() != nil {
		t.Error("there are score extensions without normalize")
	}
	extensions := newScore(t, ScoreArguments{Expression: "1", Normalize: true}).ScoreExtensions()
	for _, tc := range []struct{ in, want []int64 }{
		{[]int64{-250, 0, 750}, []int64{0, 25, 100}},
		{[]int64{5, 5}, []int64{100, 100}},
		{nil, nil},
	} {
		var scores fwk.NodeScoreList
		for i, s := range tc.in {
			scores = append(scores, fwk.NodeScore{Name: fmt.Sprint(i), Score: s})
		}
		if status := extensions.NormalizeScore(t.Context(), nil, nil, scores); !status.IsSuccess() {
			t.Fatal(status)
		}
		var got []int64
		for _, s := range scores {
			got = append(got, s.Score)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestPodsAreSignedByWhatIsRead(t *testing.T) {
	for _, tc := range []struct {
		expression string
		want       []string // nil: not signed
	}{
		{"node.metadata.name == 'n1'", []string{}},
		{"pod.metadata.labels['app'] == 'web'", []string{"CEL:pod.metadata.labels"}},
		{"pod.metadata.?labels[?'app'].orValue('') == 'web'", []string{"CEL:pod.metadata.labels"}},
		{"has(pod.spec.affinity.nodeAffinity)", []string{"CEL:pod.spec.affinity.nodeAffinity"}},
		{"pod.spec.containers.all(c, c.image != '')", []string{"CEL:pod.spec.containers"}},
		{"podRequest.cpu < 1.0", []string{"CEL:podRequest"}},
		{"podsOnNode.all(p, p.metadata.name != '')", []string{}},
		{"pod.metadata.name == 'web'", nil},
		{"[pod].all(p, p.metadata.name == 'web')", nil},
		{"pod.status.phase == ''", nil},
		{"pod.metadata.labels['app'] == pod.metadata.name", nil},
		{"pod.metadata.name == pod.metadata.labels['app']", nil},
	} {
		fragments, status := newFilter(t, FilterArguments{Expression: tc.expression}).SignPod(t.Context(), aPod())
		if status.IsSuccess() != (tc.want != nil) {
			t.Errorf("%s: %v", tc.expression, status)
		}
		got := make([]string, 0)
		for _, f := range fragments {
			got = append(got, f.Key)
		}
		if tc.want != nil && !cmp.Equal(tc.want, got) {
			t.Errorf("%s: %v", tc.expression, cmp.Diff(tc.want, got))
		}
	}
}

func TestSignaturesDifferWithWhatIsRead(t *testing.T) {
	p := newFilter(t, FilterArguments{Expression: "pod.metadata.labels['app'] == 'web'"})
	value := func(pod *v1.Pod) any {
		fragments, _ := p.SignPod(t.Context(), pod)
		return fragments[0].Value
	}
	same, other := aPod(), aPod()
	same.Name, same.UID, same.Annotations = "web-2", "u2", map[string]string{"x": "y"}
	other.Labels["app"] = "db"
	if !cmp.Equal(value(aPod()), value(same)) || cmp.Equal(value(aPod()), value(other)) {
		t.Error("the labels alone must count")
	}
}

func TestEvents(t *testing.T) {
	labels := func(expression string) (out []string) {
		events, err := newFilter(t, FilterArguments{Expression: expression}).EventsToRegister(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			out = append(out, string(e.Event.Resource))
		}
		return out
	}
	if diff := cmp.Diff([]string{"Node", "TargetPod"}, labels("node.spec.unschedulable")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Node", "TargetPod", "AssignedPod"}, labels("size(podsOnNode) < 3")); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkFilter(b *testing.B) {
	var pods []*v1.Pod
	for i := range 30 {
		pods = append(pods, neighbour(fmt.Sprint("db-", i), "10m"))
	}
	node, pod := aNode(pods...), aPod()
	for _, tc := range []struct{ name, expression string }{
		{"constant", "true"},
		{"label", "node.metadata.labels['zone'] == pod.metadata.labels['zone']"},
		{"taints", "node.spec.taints.all(t, pod.spec.tolerations.exists(x, x.key == t.key))"},
		{"quantity", "quantity(node.status.allocatable['memory']).isGreaterThan(quantity('4Gi'))"},
		{"resources", "nodeRequested.cpu + podRequest.cpu <= nodeAllocatable.cpu"},
		{"30 pods", "podsOnNode.all(p, p.metadata.labels['app'] != 'web')"},
	} {
		p := newFilter(b, FilterArguments{Expression: tc.expression})
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if status := p.Filter(b.Context(), nil, pod, node); !status.IsSuccess() {
					b.Fatal(status)
				}
			}
		})
	}
	costly := newFilter(b, FilterArguments{Expression: "podsOnNode.all(a, podsOnNode.all(b, podsOnNode.all(c, podsOnNode.all(d, a.metadata.name != 'x'))))"})
	b.Run("up to the cost limit", func(b *testing.B) {
		for range b.N {
			if status := costly.Filter(b.Context(), nil, pod, node); status.Code() != fwk.Error {
				b.Fatal(status)
			}
		}
	})
}

func BenchmarkScore(b *testing.B) {
	node, pod, state := aNode(neighbour("db", "1")), aPod(), framework.NewCycleState()
	pluginfact.Attach(state, func() bool { return true })
	for _, tc := range []struct {
		name string
		args ScoreArguments
	}{
		{"label", ScoreArguments{Expression: "node.metadata.labels['zone'] == pod.metadata.labels['zone'] ? 100 : 0"}},
		{"resources, with a fact", ScoreArguments{Expression: "nodeRequested.cpu / nodeAllocatable.cpu", Normalize: true}},
	} {
		p := newScore(b, tc.args)
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, status := p.Score(b.Context(), state, pod, node); !status.IsSuccess() {
					b.Fatal(status)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	a := args(b, FilterArguments{Expression: "node.metadata.labels['zone'] == pod.metadata.labels['zone']"})
	for range b.N {
		if _, err := NewFilter(b.Context(), a, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFunctionsWithoutAPrice: all functions can be called but those of authorization, for which
// there is no variable.
func TestFunctionsWithoutAPrice(t *testing.T) {
	l, err := newLanguage()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"allowed", "check", "error", "errored", "fieldSelector", "group", "labelSelector", "name", "namespace", "path", "reason", "resource", "serviceAccount", "subresource"}
	if got := celcost.Unpriced(l.env); !slices.Equal(got, want) {
		t.Errorf("%v have no price, want %v", got, want)
	}
}
