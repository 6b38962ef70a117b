package argument

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
)

type arguments struct {
	Label string `json:"label"`
	Limit int    `json:"limit"`
	On    bool   `json:"on"`
	Rules []struct {
		Name string `json:"name"`
	} `json:"rules"`
}

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name, contentType, text string
		want                    []string
	}{
		{"nothing", runtime.ContentTypeJSON, "", nil},
		{"JSON", runtime.ContentTypeJSON, `{"label":"app","limit":3}`, nil},
		{"YAML", runtime.ContentTypeYAML, "label: app\nlimit: 3\n", nil},
		{"an unknown field", runtime.ContentTypeJSON, `{"lable":"app"}`, []string{`lable: unknown field "lable", did you mean label?`}},
		{"unknown fields inside", runtime.ContentTypeJSON, `{"rules":[{"nmae":"a"},{"x":1}]}`, []string{`rules[0].nmae: unknown field "nmae", did you mean name?`, `rules[1].x: unknown field "x"; the fields are name`}},
		{"a repeated field", runtime.ContentTypeJSON, `{"limit":1,"limit":2}`, []string{`limit: duplicate field "limit"; the first is on line 1`}},
		{"a string for a number", runtime.ContentTypeJSON, `{"limit":"many"}`, []string{`limit: want a whole number, not "many"`}},
		{"a number for a boolean", runtime.ContentTypeJSON, `{"on":1}`, []string{"on: want true or false, not 1"}},
		{"an object for a list", runtime.ContentTypeJSON, `{"rules":{}}`, []string{"rules: want a list, not a mapping"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := Decode(&runtime.Unknown{Raw: []byte(tc.text), ContentType: tc.contentType}, &arguments{})
			var got []string
			for _, e := range All(err) {
				got = append(got, e.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%v: %s", err, diff)
			}
		})
	}
}

func TestNoArgumentsKeepTheDefaults(t *testing.T) {
	got := arguments{Label: "app"}
	if err := Decode(nil, &got); err != nil || got.Label != "app" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAllFindsWrappedAndJoinedErrors(t *testing.T) {
	a, b := &Error{Field: "a", Message: "x"}, &Error{Field: "b", Line: 1, Column: 4, Message: "y"}
	err := fmt.Errorf("initializing plugin: %w", errors.Join(a, errors.New("other"), fmt.Errorf("again: %w", b)))
	if diff := cmp.Diff([]*Error{a, b}, All(err)); diff != "" {
		t.Error(diff)
	}
	if got, want := b.Error(), "b, line 1, column 4: y"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
