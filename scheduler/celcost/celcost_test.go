package celcost

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"

	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
)

var language = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(ext.Strings(), ext.Math(), ext.Lists(), ext.Sets(), ext.Bindings(), cel.Variable("x", types.DynType))
})

func compile(t testing.TB, text string) cel.Program {
	t.Helper()
	env, err := language()
	if err != nil {
		t.Fatal(err)
	}
	ast, issues := Compile(env, text)
	if issues.Err() != nil {
		return nil
	}
	charged, err := charging(env)
	if err != nil {
		t.Fatal(err)
	}
	p, err := env.Program(ast, cel.InterruptCheckFrequency(256), charged)
	if err != nil {
		return nil // such as a call without an implementation
	}
	return p
}

// TestValues: what is charged has the value that CEL gives it.
func TestValues(t *testing.T) {
	for text, want := range map[string]any{
		"'a' + 'b'": "ab", "size([1] + [2, 3] + [])": int64(3), "([1] + [2])[1]": int64(2), "[1, 2].map(i, i * 2) == [2, 4]": true,
		"'aXbX'.replace('X', '--', 1)": "a--bX", "['a', 'b'].join(', ')": "a, b", "'a,b'.split(',') == ['a', 'b']": true,
		"'%s has %.2f'.format(['a', 1.5])": "a has 1.50", "lists.range(3) == [0, 1, 2]": true, "[1, 1, 2].distinct() == [1, 2]": true,
		"{'a': 1}['a'] == 1 && 'a' in {'a': 1} && 2 in [1, 2]": true, "'abc'.matches('^a.c$')": true, "[[1], [2, 3]].flatten() == [1, 2, 3]": true,
		"[3, 1].sort() == [1, 3]": true, "true || [1][5] == 0": true, "math.greatest(1, 2) == 2 && -(-1) == 1 && !false": true,
		"sets.contains([1, 2], [2])": true, "x.a.b": "deep", "has(x.a) ? size(x.a) : 0": int64(1), "timestamp('2026-01-02T00:00:00Z').getFullYear()": int64(2026),
		"cel.bind(a, [1, 2], a + a) == [1, 2, 1, 2]": true, "string(1) + string(true)": "1true", "[1, 2, 3].filter(i, i > 1).exists_one(i, i == 2)": true,
	} {
		p := compile(t, text)
		if p == nil {
			t.Errorf("%s does not compile", text)
			continue
		}
		got, err := Eval(context.Background(), p, map[string]any{"x": map[string]any{"a": map[string]any{"b": "deep"}}})
		if err != nil || got.Value() != want {
			t.Errorf("%s is %v (%v), want %v", text, got, err, want)
		}
	}
}

var attacks = map[string]string{
	"replaces":             strings.Repeat("['"+strings.Repeat("a", 100)+"'].map(x, x", 1) + strings.Repeat(".replace('a', '"+strings.Repeat("a", 100)+"')", 5) + ")",
	"many replaces":        "lists.range(10000).map(i, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'))",
	"a range":              "lists.range(2000000000)",
	"ranges in ranges":     "lists.range(5000).map(i, lists.range(5000))",
	"texts that double":    "'a'" + strings.Repeat("+'a'", 10) + " != '' ? [1].map(i, 'aaaaaaaaaa')" + strings.Repeat(".map(t, t + t)", 18) + " : []",
	"lists that double":    "[[1]]" + strings.Repeat(".map(t, t + t)", 18),
	"empty lists":          "[[]]" + strings.Repeat(".map(t, t + t)", 18) + "[0].size()",
	"lists in lists":       "[1]" + strings.Repeat(".map(t, [t, t])", 9),
	"lists in lists, same": "[1]" + strings.Repeat(".map(t, [t, t])", 9) + " == dyn([2])",
	"a long number":        "'%.999' + '999999f' == '' ? [''] : ['%.99' + '9999999f'].map(f, f.format([1.0]))",
	"a join":               "lists.range(500000).map(i, 'a').join('" + strings.Repeat("b", 100) + "')",
	"a format":             "'%s'.format([lists.range(1000000)])",
	"distinct":             "lists.range(500000).distinct().size()",
	"sets":                 "sets.equivalent(lists.range(300000), lists.range(300000).reverse())",
	"searching":            "['a'].map(t, t" + strings.Repeat(".replace('a', 'aaaaaaaaaa')", 5) + ")[0].indexOf('" + strings.Repeat("a", 5000) + "b')",
	"splitting":            "['a'].map(t, t" + strings.Repeat(".replace('a', 'aaaaaaaaaa')", 5) + ").map(t, t.split(''))" + strings.Repeat(".map(l, l + l)", 16),
	"a pattern":            "'a'.matches('" + strings.Repeat("(a{1000})", 100) + "')",
	"patterns in a loop":   "lists.range(100000).exists(i, 'a'.matches('" + strings.Repeat("a{1000}", 35) + "' + string(i)))",
	"patterns on a text":   "[" + strings.Repeat("'a',", 100) + "'a'].exists(i, ['a'].map(t, t" + strings.Repeat(".replace('a', 'aaaaaaaaaa')", 5) + ")[0].matches('(a*)*" + strings.Repeat("a?", 100) + "b'))",
	"comparing long lists": "lists.range(900000).map(i, i) in [lists.range(900000).map(i, i)]",
	"loops":                "lists.range(3000).all(i, lists.range(3000).all(j, lists.range(3000).all(k, i + j + k >= 0)))",
	"sorting":              "lists.range(900000).reverse().sort().size()",
	"maps in maps":         "[{'a': 1}]" + strings.Repeat(".map(m, {'a': m, 'b': m})", 9),
}

// TestAttacks: what is small and would take much ends soon, and in little memory.
func TestAttacks(t *testing.T) {
	for name, text := range attacks {
		t.Run(name, func(t *testing.T) {
			if p := compile(t, text); p == nil {
				t.Fatal("it does not compile")
			}
			took, grown := bombs.Growth(func() {
				value, err := Eval(context.Background(), compile(t, text), map[string]any{"x": 1})
				if err != nil && !IsLimit(err) {
					t.Error(err)
				}
				if err == nil {
					t.Logf("it is a %T", value)
				}
			})
			t.Logf("%s: %s of processor time, %d MB", name, took, grown>>20)
			if took > bombs.Slowdown*time.Second || grown > bombs.Slowdown*(64<<20) {
				t.Errorf("%s of processor time, %d MB", took, grown>>20)
			}
		})
	}
}

// TestFunctionsWithoutAPrice cannot be called.
func TestFunctionsWithoutAPrice(t *testing.T) {
	env, err := language()
	if err != nil {
		t.Fatal(err)
	}
	if unpriced := Unpriced(env); len(unpriced) > 0 {
		t.Errorf("%v have no price", unpriced)
	}
	if env, err = env.Extend(cel.Function("grow", cel.Overload("grow_text", []*cel.Type{cel.StringType}, cel.StringType, cel.UnaryBinding(func(v ref.Val) ref.Val { return v })))); err != nil {
		t.Fatal(err)
	}
	ast, issues := Compile(env, "grow('a')")
	charged, err := charging(env)
	if issues.Err() != nil || err != nil {
		t.Fatal(issues.Err(), err)
	}
	if _, err := env.Program(ast, charged); err == nil || !strings.Contains(err.Error(), "grow") {
		t.Errorf("it can be called: %v", err)
	}
}

// TestEnd: an evaluation ends with its context.
func TestEnd(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("the client has gone")
	cancel(gone)
	if _, err := Eval(ctx, compile(t, "1 + 1"), map[string]any{}); !errors.Is(err, gone) {
		t.Error(err)
	}
	ctx, stop := context.WithTimeoutCause(context.Background(), time.Millisecond, gone)
	defer stop()
	if _, err := Eval(ctx, compile(t, attacks["loops"]), map[string]any{}); !errors.Is(err, gone) && !IsLimit(err) {
		t.Error(err)
	}
}

// FuzzCost makes expressions of parts that grow what they get, and fails for one that takes much.
func FuzzCost(f *testing.F) {
	seeds := []string{"\x00\x01\x02\x03", "\x05\x05\x05\x05\x05\x05\x05\x05", "\x0a\x03\x0a\x03\x0a\x03", "\x10\x11\x12\x13\x14", "\x02\x02\x08\x08\x0c\x0c\x0c"}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 60 {
			return
		}
		text := made(choices)
		p := compile(t, text)
		if p == nil {
			return
		}
		took, grown := bombs.Growth(func() { _, _ = Eval(context.Background(), p, map[string]any{"x": "x"}) })
		if took > bombs.Slowdown*time.Second || grown > bombs.Slowdown*(64<<20) {
			t.Errorf("%s takes %s of processor time and %d MB", text, took, grown>>20)
		}
	})
}

// made makes an expression: a text, a list of texts, a number, or a list of numbers that further steps change.
func made(choices []byte) string {
	const (
		aText = iota
		texts
		number
		any
	)
	text, is := "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", aText
	for _, c := range choices {
		switch is {
		case aText:
			step := []struct {
				format string
				is     int
			}{
				{"X.replace('a', 'aaaaaaaaaa')", aText}, {"X.replace('', 'ab')", aText}, {"(X + X)", aText}, {"X.split('')", texts}, {"X.split('a')", texts},
				{"[X, X]", texts}, {"X.reverse()", aText}, {"X.upperAscii().lowerAscii()", aText}, {"'%s%s'.format([X, X])", aText}, {"strings.quote(X)", aText},
				{"X.size()", number}, {"X.indexOf('aab')", number}, {"[X].map(s, s + s)[0]", aText}, {"[X].map(s, [s, s])", any}, {"[{'k': X}].map(m, {'l': m, 'r': m})", any},
			}[int(c)%15]
			text, is = strings.ReplaceAll(step.format, "X", text), step.is
		case texts:
			step := []struct {
				format string
				is     int
			}{
				{"X.join('aaaaaa')", aText}, {"X.map(s, s + s)", texts}, {"X.map(s, s.replace('a', 'aaa'))", texts}, {"(X + X)", texts}, {"X.distinct()", texts},
				{"X.sort()", texts}, {"X.map(s, X)", any}, {"X.reverse()", texts}, {"X.size()", number}, {"X[0]", aText}, {"X.map(s, [s, s])", any},
				{"[X].map(l, l + l)[0]", texts}, {"X.filter(s, s in X)", texts}, {"[sets.contains(X, X), sets.equivalent(X, X)]", any}, {"X.map(s, s.matches(s))", any}, {"X.map(s, s.matches('(a?){999}'))", any},
			}[int(c)%16]
			text, is = strings.ReplaceAll(step.format, "X", text), step.is
		case number:
			step := []struct {
				format string
				is     int
			}{
				{"lists.range(X)", any}, {"lists.range(X * 1000)", any}, {"(X * X)", number}, {"string(X)", aText}, {"'%d'.format([X])", aText}, {"[string(X)]", texts},
			}[int(c)%6]
			text, is = strings.ReplaceAll(step.format, "X", text), step.is
		case any:
			step := []string{
				"X.map(v, [v, v])", "X.map(v, X)", "(X + X)", "X.flatten()", "[X].map(l, l + l)[0]", "X.map(v, {'a': v, 'b': v})", "[X == X]", "X.filter(v, v in X)",
				"X.distinct()", "X.reverse()", "['%s'.format([X])]", "[X, X]", "X.map(v, v)",
			}[int(c)%13]
			text = strings.ReplaceAll(step, "X", text)
		}
		if len(text) > 8<<10 {
			break
		}
	}
	return text
}
