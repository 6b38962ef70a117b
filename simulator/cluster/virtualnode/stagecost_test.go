package virtualnode

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"

	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// checkCost checks the bounds of what a stage evaluates once.
func checkCost(t *testing.T, what string, do func()) {
	t.Helper()
	took, grown := bombs.Growth(do)
	if took > 200*time.Millisecond || grown > 20<<20 {
		t.Logf("%.100s: %s of processor time, %d MB", what, took, grown>>20)
	}
	if took > bombs.Slowdown*time.Second || grown > bombs.Slowdown*(64<<20) {
		t.Errorf("%.3000s takes %s of processor time and %d MB", what, took, grown>>20)
	}
}

// templateFunctions are those that templates of stages may call.
func templateFunctions() gotpl.FuncMap {
	functions := maps.Clone(newRenderer(nodeTemplateFunctions()).functions)
	for _, refused := range refusedFunctions {
		for _, name := range refused.names {
			delete(functions, name)
		}
	}
	return functions
}

// large is an object with long lists and texts.
func large() map[string]any {
	var list, texts []any
	for i := range 5_000 {
		list = append(list, float64(i))
		texts = append(texts, fmt.Sprint("aaaa", i))
	}
	long := strings.Repeat(",a", 120<<10)
	return map[string]any{"a": long, "b": long, "l": list, "t": texts, "m": map[string]any{"a": long, "l": list}, "n": 7.0}
}

// evaluate evaluates an expression of a stage as kwok does, if it is not refused.
func evaluate(t *testing.T, kind, expression string, object map[string]any) {
	from := "jq: {key: " + fmt.Sprintf("%q", expression) + ", operator: Exists}"
	if kind == "cel" {
		from = "cel: {expression: " + fmt.Sprintf("%q", expression) + "}"
	}
	stages, err := decodeStages([]byte("apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: mine}\nspec:\n  resourceRef: {apiGroup: v1, kind: Pod}\n" +
		"  selector: {matchExpressions: [{" + from + "}]}\n  next: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	checkCost(t, kind+" "+expression, func() {
		stage, err := checkStage(stages[0])
		if err != nil {
			return
		}
		if all, err := lifecycle.NewLifecycle([]*internalversion.Stage{stage}); err == nil {
			_, _ = all.Match(context.Background(), &lifecycle.Event{Data: object})
		}
	})
}

// expressions that would take much.
var expressions = map[string][]string{
	"jq": {
		strings.Repeat("[.]|tostring|", 70) + ".", "[.a,.b]", `.a / "" | map(. / "") | map(map(. / ""))`, ".l - .l", ".t | contains(.)", ".l | inside(.)", ".l | .[.]", ".l | .[.[:9000]]",
		`.a | test("` + strings.Repeat("a{1000}", 100) + `")`, ".a as $x | .a | test(.)", ".t | map(test(.))", ".a + .a | . + . | . + . | . + .", ".l | map(tostring) | tostring", "[.l[] | tostring] | keys",
		".a | tonumber", ".l | all(.[]; . == .)", "[.t[] | ascii_upcase | ascii_downcase]", ".m | tostring | tostring | tostring",
	},
	"cel": {
		"self.t.map(x, self.a + self.a).size() > 0", "self.t.exists(x, x.matches(x))", "self.t.exists(x, self.a.matches('" + strings.Repeat("a{1000}", 90) + "'))",
		"self.a" + strings.Repeat(" + self.a", 90) + " == ''", "self.l.map(x, self.l).size() > 0", "self.t.map(x, x + 'a').map(x, x + 'a').size() > 0", "self.t.exists(x, x in self.t && x == 'b')",
		"self.l.exists(x, self.l == self.m.l && x < 0.0)", "self.t.exists(x, self.a == self.b && x == '')",
	},
}

// TestStageAttacks: expressions end soon, in little memory, or are refused.
func TestStageAttacks(t *testing.T) {
	object := large()
	for kind, all := range expressions {
		for _, e := range all {
			evaluate(t, kind, e, object)
		}
	}
	for _, text := range []string{
		"{{untilStep -9223372036854775808 9223372036854775807 1}}", "{{seq -9223372036854775808 9223372036854775807}}",
		"{{range 20000}}{{regexMatch (repeat 30 `a{1000}`) `b`}}{{end}}", "{{regexMatch (repeat 2000 `a{1000}`) `b`}}",
		"{{trimAll (repeat 100000 `é`) (repeat 100000 `é`)}}",
	} {
		checkCost(t, text, func() { _, _ = newRenderer(nodeTemplateFunctions()).ToText(text, bombs.Values()) })
	}
}

// TestEachFunctionIsBounded: no function of templates takes much when a loop calls it with short and with long values.
func TestEachFunctionIsBounded(t *testing.T) {
	clustertest.Slow(t)
	functions := templateFunctions()
	for at := range len(functions) {
		for _, size := range []int{30, 1900} {
			for _, choices := range []string{"\x02\x00\x00\x00\x00\x00", "\x02\x01\x02\x01\x01\x01"} {
				text := strings.NewReplacer(".text", fmt.Sprintf("(repeat %d .text)", size), ".list", fmt.Sprintf("(until %d)", 10*size)).
					Replace(bombs.Template(functions, append([]byte{byte(at)}, choices...)))
				checkCost(t, text, func() { _, _ = newRenderer(nodeTemplateFunctions()).ToText(text, bombs.Values()) })
			}
		}
	}
}

// FuzzStages makes templates and expressions of parts that grow what they get, and fails for one that takes much.
func FuzzStages(f *testing.F) {
	for _, seed := range []string{"\x00\x03\x01\x00\x02\x01\x00", "\x01\x03\x01\x00\x02\x01\x00\x05\x06\x07\x08", "\x02\x03\x01\x00\x02\x01\x00\x05\x06\x07\x08", "\x01\x10\x11\x12\x13\x14", "\x00\x50\x51\x52\x53\x54\x55"} {
		f.Add([]byte(seed))
	}
	functions, object := templateFunctions(), large()
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) == 0 || len(choices) > 100 {
			return
		}
		switch choices[0] % 3 {
		case 0:
			text := bombs.Template(functions, choices[1:])
			checkCost(t, text, func() { _, _ = newRenderer(nodeTemplateFunctions()).ToText(text, bombs.Values()) })
		case 1:
			evaluate(t, "jq", composed(choices[1:], ".", []string{
				"X | .a", "X | .l", "X | .t", "X | .m", "X | .[]", "[X]", "[X | .[]]", "X | map(.)", "X | map(. + .)", "X + X", "X | tostring", `X / ""`, `X / ","`, "X - X", "X | contains(X)",
				"X | keys", "X | length", "X | tonumber", "X | .[X]", `X | test("a*")`, "X | test(X)", "[X | select(. == X)]", "X | all(. == X)", "X | max", "X * 2", "X == X", "-X", "X | todate", "X | [first, last]",
			}), object)
		case 2:
			evaluate(t, "cel", composed(choices[1:], "self", []string{
				"X.a", "X.l", "X.t", "X.m", "(X + X)", "(X + self.a)", "X.map(x, x)", "X.map(x, X)", "X.map(x, self.a)", "X.map(x, x + x)", "X.filter(x, x in X)", "[X, X]", "X.size()", "X.exists(x, x == X)",
				"X.matches('a*')", "X.matches(X)", "(X == X)", "{'a': X, 'b': X}", "string(X)", "X[0]", "X.contains(X)", "X.all(x, x.matches(x))",
			}), object)
		}
	})
}

// composed makes an expression of steps, each of which has the one before it in place of X.
func composed(choices []byte, begin string, steps []string) string {
	out := begin
	for _, c := range choices {
		next := strings.ReplaceAll(steps[int(c)%len(steps)], "X", out)
		if len(next) > maxExpression {
			break
		}
		out = next
	}
	return out
}
