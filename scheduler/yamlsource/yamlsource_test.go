package yamlsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
)

// TestMistakes: each kind has one text, and a position.
func TestMistakes(t *testing.T) {
	growing := "a0: &a0 " + strings.Repeat("x", 3) + "\n"
	for i := range 4 {
		growing += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	b := Bounds{Written: 1 << 16, Values: 1000, Size: 1 << 16, Depth: 20, Items: 20, Path: 30}
	for _, test := range []struct {
		name, text string
		want       *Mistake
	}{
		{"within the bounds", "a: &a [1, 2]\nb: [*a, *a]\n", nil},
		{"nothing", "", nil},
		{"comments after a document", "a: 1\n---\n# b: 2\n", nil},
		{"a tab", "a:\n- b: c\n\td: {}\n", &Mistake{Line: 3, Column: 1, Message: "not YAML: a tab cannot indent; use spaces", Reason: Syntax}},
		{"an unknown anchor", "a: 1\nb: *c\n", &Mistake{Line: 2, Message: "not YAML: unknown anchor 'c' referenced", Reason: Syntax}},
		{"a bracket that does not close", "a: 1\nb: [\n", &Mistake{Line: 2, Message: "not YAML: did not find expected node content", Reason: Syntax}},
		{"JSON that does not close", "{\n\"a\": 1", &Mistake{Line: 2, Column: 6, Message: "not YAML: did not find expected ',' or '}'; not JSON: unexpected end of JSON input", Reason: Syntax}},
		{"Latin 1", "a: 1\nb: \xe4\n", &Mistake{Line: 2, Message: "it is not in UTF-8", Reason: Syntax}},
		{"a second document", "a: 1\n---\nb: 2\n", &Mistake{Line: 3, Column: 1, Message: "a second document begins here; want one", Reason: SecondDocument}},
		{"one after an empty one", "a: 1\n---\n---\nb: 2\n", &Mistake{Line: 4, Column: 1, Message: "a second document begins here; want one", Reason: SecondDocument}},
		{"a field twice", "a:\n- b: 1\n  b: 2\n", &Mistake{Field: "a[0].b", Line: 3, Column: 3, Message: `duplicate field "b"; the first is on line 2`, Reason: Duplicate}},
		{"long", "a: " + strings.Repeat("x", 1<<16), &Mistake{Message: "it has 65539 bytes; the limit is 65536", Reason: TooLong}},
		{"many values", "[" + strings.Repeat("{},", 600) + "]", &Mistake{Message: "it may have more than 1000 values, the limit", Reason: TooManyValues}},
		{"aliases of a long text", "a: &a " + strings.Repeat("x", 10000) + "\nb: [" + strings.Repeat("*a,", 10) + "]", &Mistake{Line: 2, Column: 4, Message: "too large when its aliases are written out: more than 65536 bytes", Reason: TooLarge}},
		{"aliases of aliases", growing, &Mistake{Line: 4, Column: 5, Message: "too large when its aliases are written out: more than 1000 values", Reason: TooLarge}},
		{"an alias of itself", "a: &a [*a]\n", &Mistake{Line: 1, Column: 8, Message: `the anchor "a" contains itself`, Reason: Recursive}},
		{"deep", strings.Repeat("[", 21) + strings.Repeat("]", 21), &Mistake{Line: 1, Column: 21, Message: "nested deeper than 20 levels", Reason: TooDeep}},
		{"deeper than the library goes", strings.Repeat("[\n", 20_000), &Mistake{Message: "it may have more than 1000 values, the limit", Reason: TooManyValues}},
		{"deep by an alias", "a: &a " + strings.Repeat("[", 12) + strings.Repeat("]", 12) + "\nb: " + strings.Repeat("[", 8) + "*a" + strings.Repeat("]", 8), &Mistake{Line: 1, Column: 17, Message: "nested deeper than 20 levels", Reason: TooDeep}},
		{"many items", "[" + strings.Repeat("1,", 20) + "1]", &Mistake{Line: 1, Column: 1, Message: "21 items, more than the limit of 20", Reason: TooManyItems}},
		{"a long key", "a:\n  " + strings.Repeat("k", 31) + ": 1\n", &Mistake{Line: 2, Column: 3, Message: fmt.Sprintf("the key %q and those around it have more than 30 bytes, the limit", strings.Repeat("k", 31)), Reason: LongKey}},
		{"keys that are long together", "aaaaaaaaaa:\n- bbbbbbbbbb:\n    ccccccccccc: 1\n", &Mistake{Line: 3, Column: 5, Message: `the key "ccccccccccc" and those around it have more than 30 bytes, the limit`, Reason: LongKey}},
		{"keys that are long together in JSON", `{"aaaaaaaaaa": [{"x": 1, "bbbbbbbbbb": {"ccccccccccc": 1}}]}`, &Mistake{Line: 1, Column: 42, Message: `the key "ccccccccccc" and those around it have more than 30 bytes, the limit`, Reason: LongKey}},
		{"a long key in JSON", `{"a": {"` + strings.Repeat("k", 31) + `" : 1}}`, &Mistake{Line: 1, Column: 9, Message: fmt.Sprintf("the key %q and those around it have more than 30 bytes, the limit", strings.Repeat("k", 31)), Reason: LongKey}},
		{"JSON that YAML does not have", `{"a": "\/\ud83d\ude00"}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			check := b
			if json.Valid([]byte(test.text)) {
				check.Items = 0
			}
			_, got := ToJSON(context.Background(), []byte(test.text), check)
			if got == nil && test.want != nil { // of YAML alone
				_, got = Parse(context.Background(), []byte(test.text), b)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEnd: a text whose reader has gone is not read.
func TestEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, m := ToJSON(ctx, []byte("a: 1"), Bounds{}); m == nil || m.Reason != Ended {
		t.Errorf("it was read: %v", m)
	}
}

// TestBoundsOfAllDocuments: several documents together have no more than one.
func TestBoundsOfAllDocuments(t *testing.T) {
	b := Bounds{Values: 100}
	one := "a: &a [1, 2, 3, 4, 5, 6]\nb: [*a, *a, *a, *a]\n"
	if _, m := Documents(context.Background(), []byte(one+"---\n"+one), b); m != nil {
		t.Fatal(m)
	}
	if _, m := Documents(context.Background(), []byte(strings.Repeat("---\n"+one, 3)), b); m == nil || m.Reason != TooLarge {
		t.Errorf("three documents: %v", m)
	}
}

func TestToJSON(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "null",
		"# nothing":                 "null",
		"a: yes\nb: 0x10\nc: [1.0]": `{"a":true,"b":16,"c":[1]}`,
		`{"a": 1.50, "a": 2}`:       `{"a": 1.50, "a": 2}`,
		"{a: 1}":                    `{"a":1}`,
		"a: &a {x: 1}\nb: {<<: *a}": `{"a":{"x":1},"b":{"x":1}}`,
		"\ufeffa: 1":                `{"a":1}`,
	} {
		got, m := ToJSON(context.Background(), []byte(text), Object)
		if m != nil || string(got) != want {
			t.Errorf("%q: %s, %v; want %s", text, got, m, want)
		}
	}
}

// TestDecode: a text that does not fit its type has every mistake at its place, in YAML and in
// JSON.
func TestDecode(t *testing.T) {
	type inner struct {
		Name string         `json:"name"`
		Wait wrapped        `json:"wait,omitempty"`
		Raw  *json.Number   `json:"raw,omitempty"`
		Self selfDecoding   `json:"self,omitempty"`
		More map[string]int `json:"more,omitempty"`
	}
	type outer struct {
		inner
		Count *int32  `json:"count,omitempty"`
		Rules []inner `json:"rules"`
	}
	for _, test := range []struct {
		text string
		want Errors
	}{
		{"name: a\nrules: [{name: b, wait: 3s, more: {x: 1}}]\ncount: 3\n", nil},
		{`{"name": "a", "rules": null}`, nil},
		{"", nil},
		{"hello", Errors{{Line: 1, Column: 1, Message: `want a mapping with the fields count, more, name, raw, rules, self, wait, not "hello"`}}},
		{"Name: a\nruels: []\nsomething: 1\n", Errors{
			{Field: "Name", Line: 1, Column: 1, Message: `unknown field "Name", did you mean name?`, Reason: UnknownField},
			{Field: "ruels", Line: 2, Column: 1, Message: `unknown field "ruels", did you mean rules?`, Reason: UnknownField},
			{Field: "something", Line: 3, Column: 1, Message: `unknown field "something"; the fields are count, more, name, raw, rules, self, wait`, Reason: UnknownField},
		}},
		{"name: 3\ncount: 99999999999\nrules:\n- hello\n- wait: soon\n  more: [1]\n  self: x\n", Errors{
			{Field: "name", Line: 1, Column: 7, Message: "want a string, not 3"},
			{Field: "count", Line: 2, Column: 8, Message: "want a whole number of 32 bits, not 99999999999"},
			{Field: "rules[0]", Line: 4, Column: 3, Message: `want a mapping, not "hello"`},
			{Field: "rules[1].wait", Line: 5, Column: 9, Message: `want a duration such as 90s, not "soon"`},
			{Field: "rules[1].more", Line: 6, Column: 3, Message: "want a mapping, not a list"},
			{Field: "rules[1].self", Line: 7, Column: 9, Message: "want an answer"},
		}},
		{"{\n\"name\": \"a\",\n\"name\": \"b\"\n}", Errors{
			{Field: "name", Line: 3, Column: 1, Message: `duplicate field "name"; the first is on line 2`, Reason: Duplicate},
		}},
		{"a: [", Errors{{Line: 1, Message: "not YAML: did not find expected node content", Reason: Syntax}}},
	} {
		if diff := cmp.Diff(test.want, Decode(context.Background(), []byte(test.text), Object, &outer{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

type wrapped struct{ time.Duration }

func (w *wrapped) UnmarshalJSON(data []byte) (err error) {
	w.Duration, err = time.ParseDuration(strings.Trim(string(data), `"`))
	return err
}

type selfDecoding struct{}

func (*selfDecoding) UnmarshalJSON([]byte) error { return errors.New("want an answer") }

func TestLocate(t *testing.T) {
	root, m := Parse(context.Background(), []byte("a: &a\n- b: 1\n  c: {}\nd:\n  <<: [{x: 1}, {y: 2}]\ne: *a\n"), Object)
	if m != nil {
		t.Fatal(m)
	}
	type place struct{ Line, Column int }
	for path, want := range map[string]place{"a[0].b": {2, 6}, "a[0].c": {3, 3}, "a[7]": {1, 1}, "d.y": {5, 20}, "e[0].b": {2, 6}, "f": {1, 1}} {
		_, at := Locate(root, ParsePath(path), false)
		if got := (place{at.Line, at.Column}); got != want {
			t.Errorf("%s is at %v, want %v", path, got, want)
		}
	}
}

// TestMistakesGoOn: one document has several, and quotes little of it.
func TestMistakesGoOn(t *testing.T) {
	root, m := Parse(context.Background(), []byte("a: 1\na: 2\nb: "+strings.Repeat("x", 100)+"\nc: 1\n"), Object)
	if m != nil {
		t.Fatal(m)
	}
	all := Mistakes{File: "f.yaml"}
	all.Fields(root, "", []string{"a", "b"}, func(key, value *yaml.Node) {
		if key.Value == "b" {
			all.Items(value, key.Value, nil)
		}
	})
	want := []Mistake{
		{File: "f.yaml", Field: "a", Line: 2, Message: `duplicate field "a"; the first is on line 1`},
		{File: "f.yaml", Field: "b", Line: 3, Message: `want a list, not "` + strings.Repeat("x", 40) + `…"`},
		{File: "f.yaml", Field: "c", Line: 4, Message: `unknown field "c"; the fields are a, b`},
	}
	if diff := cmp.Diff(want, all.List, cmpopts.IgnoreFields(Mistake{}, "Column", "Reason")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
