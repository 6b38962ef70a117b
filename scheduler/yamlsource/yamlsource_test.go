package yamlsource

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestExplain(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       Problem
	}{
		{"a tab", "a:\n- b: c\n\td: {}\n", Problem{Line: 3, Column: 1, Tab: true}},
		{"an unknown anchor", "a: 1\nb: *c\n", Problem{Line: 2}},
		{"a bracket that does not close", "a: 1\nb: [\n", Problem{Line: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := yaml.Unmarshal([]byte(test.text), new(any))
			if err == nil {
				t.Fatal("it is YAML")
			}
			got := Explain([]byte(test.text), err)
			if got.Message == "" || strings.Contains(got.Message, "line ") {
				t.Errorf("message %q of %v", got.Message, err)
			}
			got.Message = ""
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	bomb := "a0: &a0 " + strings.Repeat("x", 100) + "\n"
	for i := range 4 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	bounds := Bounds{Size: 1 << 16, Depth: 20, Items: 20}
	for _, test := range []struct {
		name, text string
		want       Excess
	}{
		{"within the bounds", "a: &a [1, 2]\nb: [*a, *a]\n", ""},
		{"aliases that grow", bomb, TooLarge},
		{"an alias of itself", "a: &a [*a]\n", Recursive},
		{"deep", strings.Repeat("[", 21) + strings.Repeat("]", 21), TooDeep},
		{"deep by an alias", "a: &a " + strings.Repeat("[", 12) + strings.Repeat("]", 12) + "\nb: " + strings.Repeat("[", 8) + "*a" + strings.Repeat("]", 8), TooDeep},
		{"many items", "[" + strings.Repeat("1,", 20) + "1]", TooManyItems},
	} {
		t.Run(test.name, func(t *testing.T) {
			var root yaml.Node
			if err := yaml.Unmarshal([]byte(test.text), &root); err != nil {
				t.Fatal(err)
			}
			if at, got := bounds.Check(&root); got != test.want || (at == nil) != (test.want == "") {
				t.Errorf("%q at %v, want %q", got, at, test.want)
			}
		})
	}
}

func TestRest(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want Problem
	}{
		"one document":           {"a: 1\n", Problem{}},
		"comments after it":      {"a: 1\n---\n# b: 2\n", Problem{}},
		"nothing":                {"", Problem{}},
		"a second document":      {"a: 1\n---\nb: 2\n", Problem{Line: 3, Column: 1, Message: "a second document begins here; want one"}},
		"one after an empty one": {"a: 1\n---\n---\nb: 2\n", Problem{Line: 4, Column: 1, Message: "a second document begins here; want one"}},
		"JSON after JSON":        {"{} {}", Problem{Line: 1, Message: "did not find expected <document start>"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, found := Rest([]byte(test.text))
			if diff := cmp.Diff(test.want, got); diff != "" || found != (test.want != Problem{}) {
				t.Errorf("found: %t (-want +got):\n%s", found, diff)
			}
		})
	}
}
