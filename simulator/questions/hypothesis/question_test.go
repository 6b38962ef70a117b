package hypothesis

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/whatif"
)

// TestCounts: over HTTP as from the command line, a count is a number of new objects, and none is not zero.
func TestCounts(t *testing.T) {
	const apply = `{"apply": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}`
	for document, want := range map[string]int{
		apply + `}`: 0, apply + `, "count": null}`: 0, apply + `, "count": 1}`: 1, apply + `, "count": 2}`: 2, apply + `, "count": 5000}`: 5000,
		apply + `, "count": 0}`: -1, apply + `, "count": -1}`: -1, apply + `, "count": 5001}`: -1,
		`{"delete": {"apiVersion": "v1", "kind": "Node", "name": "a"}, "count": 1}`: -1,
		`{"delete": {"apiVersion": "v1", "kind": "Node", "name": "a"}}`:             0,
	} {
		var c Change
		if err := json.Unmarshal([]byte(document), &c); err != nil {
			t.Fatal(err)
		}
		err := c.check("changes[0]")
		if want < 0 {
			bad, refused := err.(*Refused)
			if !refused || bad.Mistakes[0].Field != "changes[0].count" {
				t.Errorf("%s: %v", document, err)
			}
		} else if got := ptr.Deref(c.Count, 0); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", document, got, err, want)
		}
	}
}

// refusing fails the test when it has to admit something.
type refusing struct{ t *testing.T }

func (r refusing) Change(_ context.Context, field string, _ Change) (whatif.Change, error) {
	r.t.Errorf("%s was admitted", field)
	return whatif.Change{}, nil
}

func (r refusing) Pod(_ context.Context, field string, _ Document) (*v1.Pod, error) {
	r.t.Errorf("%s was admitted", field)
	return nil, nil
}

// TestChangesOfAWrongShape: every way to admit objects refuses the same changes. Without an API server, the first of several parts was taken.
func TestChangesOfAWrongShape(t *testing.T) {
	desk, err := New(Options{Admission: func() (Admission, error) { return refusing{t}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	node := Document(`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}`)
	for name, c := range map[string]Change{
		"nothing":                    {},
		"two parts":                  {Apply: node, Delete: &Target{APIVersion: "v1", Kind: "Node", Name: "a"}},
		"a count of what is deleted": {Delete: &Target{APIVersion: "v1", Kind: "Node", Name: "a"}, Count: ptr.To(1)},
	} {
		_, err := desk.WhatIf(t.Context(), WhatIf{Question: Question{PodRef: &PodName{Name: "web"}, Changes: []Change{c}}})
		if bad, refused := err.(*Refused); !refused || !strings.HasPrefix(bad.Mistakes[0].Field, "changes[0]") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := desk.Copies(t.Context(), c); !errors.As(err, new(*Refused)) {
			t.Errorf("copies of %s: %v", name, err)
		}
	}
}
