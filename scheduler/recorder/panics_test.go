package recorder

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/guard"
	"kube-scheduler-simulator/scheduler/result"
)

func TestAnErrorThatCannotBeRenderedHasAMessage(t *testing.T) {
	fit := &framework.FitError{Pod: &v1.Pod{}, NumAllNodes: 1}
	if got, want := messageOf(fwk.NewStatus(fwk.Unschedulable).WithError(fit)), "an error of type *framework.FitError that has no message"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := messageOf(fwk.AsStatus(errors.New("no"))), "no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A plugin may reject a node with such an error. Kubernetes does not render it when the pod
// fits another node.
func TestARejectionThatCannotBeRenderedHasAReason(t *testing.T) {
	_, c, _ := underWay(2)
	c.verdicts.note(0, nil)
	c.verdicts.note(1, fwk.NewStatus(fwk.Unschedulable).WithError(&framework.FitError{Pod: &v1.Pod{}}).WithPlugin("Fit"))
	f := c.search().filter
	want := []string{"an error of type *framework.FitError that has no message"}
	if diff := cmp.Diff(want, f.Verdict(1).Reasons); diff != "" {
		t.Error(diff)
	}
}

func TestPanicsAreCountedAndBounded(t *testing.T) {
	var p panics
	if !p.note(&guard.Panic{Plugin: "B", Call: "Filter", Value: "first", Stack: "main"}) {
		t.Error("the first panic of a call is not the first")
	}
	if p.note(&guard.Panic{Plugin: "B", Call: "Filter", Value: "second"}) {
		t.Error("a second panic of a call is the first")
	}
	p.note(&guard.Panic{Plugin: "A", Call: "Score", Value: "other"})
	want := []result.Panic{{Plugin: "A", Call: "Score", Value: "other", Count: 1}, {Plugin: "B", Call: "Filter", Value: "first", Stack: "main", Count: 2}}
	if diff := cmp.Diff(want, p.sorted()); diff != "" {
		t.Error(diff)
	}
	for i := range 2 * result.MaxPanics {
		p.note(&guard.Panic{Plugin: string(rune('a' + i))})
	}
	if n := len(p.sorted()); n != result.MaxPanics {
		t.Errorf("%d panics are kept", n)
	}
}
