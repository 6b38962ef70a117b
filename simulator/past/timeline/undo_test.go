package timeline

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// TestUndoable: the consequences of an undo, for each kind of step.
func TestUndoable(t *testing.T) {
	namespace := func(name string) *v1.Namespace {
		return &v1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid-ns"}}
	}
	owned := func(p *v1.Pod, owner string) *v1.Pod {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: owner, UID: "uid-owner", Controller: ptr.To(true)}}
		return p
	}
	ofPod := func(name string) Written { return Written{Resource: "pods", Namespace: "default", Name: name} }
	for name, test := range map[string]struct {
		before func(h *harness)
		verb   string
		writes []Written
		step   func(h *harness)
		// then is what others do about it.
		then func(h *harness)
		want string
	}{
		"create, and what it owns": {
			verb: "create", writes: []Written{ofPod("owner")}, step: func(h *harness) { h.putPod("owner", "") },
			then: func(h *harness) { h.put("pods/default/child", stored(h.t, owned(pod("child", "n1"), "owner"))) },
			want: "delete Pod/owner Pod/child",
		},
		"delete": {
			before: func(h *harness) { h.putPod("a", "n1") },
			verb:   "delete", writes: []Written{ofPod("a")}, step: func(h *harness) { h.put("pods/default/a", nil) },
			want: "create Pod/a",
		},
		"change": {
			before: func(h *harness) { h.putPod("a", "n1") },
			verb:   "patch", writes: []Written{ofPod("a")}, step: func(h *harness) {
				p := pod("a", "n1")
				p.Labels = map[string]string{"x": "y"}
				h.put("pods/default/a", stored(h.t, p))
			},
			want: "change Pod/a",
		},
		"a node with its pods": {
			before: func(h *harness) {
				h.put("minions/n1", stored(h.t, node("n1")))
				h.putPod("a", "n1")
				h.putPod("elsewhere", "n2")
				h.put("pods/default/child", stored(h.t, owned(pod("child", "n1"), "owner")))
			},
			verb: "delete", writes: []Written{{Resource: "nodes", Name: "n1"}}, step: func(h *harness) { h.put("minions/n1", nil) },
			then: func(h *harness) { h.put("pods/default/a", nil); h.put("pods/default/child", nil) },
			want: "create Node/n1 Pod/a",
		},
		"a namespace": {
			before: func(h *harness) {
				h.put("namespaces/default", stored(h.t, namespace("default")))
				h.putPod("a", "n1")
			},
			verb: "delete", writes: []Written{{Resource: "namespaces", Name: "default"}}, step: func(h *harness) { h.put("namespaces/default", nil) },
			then: func(h *harness) { h.put("pods/default/a", nil) },
			want: "create Namespace/default Pod/a",
		},
		"a drain, whose requests are one action": {
			before: func(h *harness) { h.put("minions/n1", stored(h.t, node("n1"))); h.putPod("a", "n1") },
			verb:   "drain", writes: []Written{{Resource: "nodes", Name: "n1"}, ofPod("a")}, step: func(h *harness) {
				n := node("n1")
				n.Spec.Unschedulable = true
				h.put("minions/n1", stored(h.t, n))
				h.put("pods/default/a", nil)
			},
			want: "create Pod/a change Node/n1",
		},
		"what others have deleted since": {
			verb: "create", writes: []Written{ofPod("a")}, step: func(h *harness) { h.putPod("a", "") },
			then: func(h *harness) { h.put("pods/default/a", nil) },
			want: "there is nothing to take back",
		},
		"what others have changed back since": {
			before: func(h *harness) { h.putPod("a", "n1") },
			verb:   "patch", writes: []Written{ofPod("a")}, step: func(h *harness) {
				p := pod("a", "n1")
				p.Labels = map[string]string{"x": "y"}
				h.put("pods/default/a", stored(h.t, p))
			},
			then: func(h *harness) { h.putPod("a", "n1") },
			want: "there is nothing to take back",
		},
		"only the scheduler's work": {then: func(h *harness) { h.putPod("a", "n1") }, want: "there is nothing to take back"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, 1<<20)
			if test.before != nil {
				test.before(h)
			}
			if test.step != nil {
				begun := h.clock.Now()
				test.step(h)
				h.Wrote(Write{Begun: begun, Verb: test.verb, By: "kubectl", Objects: test.writes})
			}
			if test.then != nil {
				test.then(h)
			}
			undo, err := h.Undoable(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, describe(undo)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUndoPassesOverStepsWithoutEffect: the step that is offered is the last one that taking back changes anything.
func TestUndoPassesOverStepsWithoutEffect(t *testing.T) {
	h := newHarness(t, 1<<20)
	create := func(name string) {
		begun := h.clock.Now()
		h.putPod(name, "")
		h.Wrote(Write{Begun: begun, Verb: "create", By: "kubectl", Objects: []Written{{Resource: "pods", Namespace: "default", Name: name}}})
		h.clock.Step(2 * stepPause)
	}
	create("stays")
	create("goes")
	h.put("pods/default/goes", nil) // its work is done
	undo, err := h.Undoable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("delete Pod/stays", describe(undo)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTheSimulatorsOwnImportsAreNotUndone: what the program loads at its start is no step of a user.
func TestTheSimulatorsOwnImportsAreNotUndone(t *testing.T) {
	for by, want := range map[string]string{BySimulator: "there is nothing to take back", "kubectl": "delete Pod/a"} {
		h := newHarness(t, 1<<20)
		ended := h.Begin(ImportStep, by)
		h.putPod("a", "")
		ended(1, 0)
		h.clock.Step(operationPause)
		undo, err := h.Undoable(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, describe(undo)); diff != "" {
			t.Errorf("an import by %s (-want +got):\n%s", by, diff)
		}
	}
}

// describe writes an undo as a line.
func describe(u *Undo) string {
	var parts []string
	for _, list := range []struct {
		verb string
		refs []ObjectRef
	}{{"create", u.Created}, {"delete", u.Deleted}, {"change", u.Changed}} {
		for i, ref := range list.refs {
			if i == 0 {
				parts = append(parts, list.verb)
			}
			parts = append(parts, ref.Kind+"/"+ref.Name)
		}
	}
	if u.Message != "" {
		parts = append(parts, u.Message)
	}
	return strings.Join(parts, " ")
}

// TestUndoConfiguration: the earlier document is applied again, the undo is no step that a user may take back, and a step that is not the
// last one any more is refused.
func TestUndoConfiguration(t *testing.T) {
	h := newHarness(t, 1<<20)
	revision := 0
	configure := func(document string) {
		revision++
		h.Configured(Configuration{Revision: revision, Document: document, By: map[bool]string{true: BySimulator, false: "web"}[revision == 1]})
	}
	h.opts.Configure = func(_ context.Context, document []byte) error {
		configure(string(document))
		return nil
	}
	configure("first")
	configure("second")
	undo, err := h.Undoable(context.Background())
	if err != nil || undo.Configuration != 1 {
		t.Fatalf("%+v, %v; want revision 1", undo, err)
	}
	h.opts.Config = func() *rest.Config { return &rest.Config{} }
	if _, err := h.Undo(context.Background(), undo.Step.Moment+1); !errors.Is(err, ErrStale) {
		t.Errorf("another moment: %v, want ErrStale", err)
	}
	done := make(chan error)
	go func() {
		_, err := h.Undo(context.Background(), undo.Step.Moment)
		done <- err
	}()
	for !h.clock.HasWaiters() { // until it waits for the last changes
		runtime.Gosched()
	}
	h.clock.Step(operationPause)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, err := h.Moment(t.Context(), At{Time: h.clock.Now()}); err != nil || got.Configuration.Document != "first" {
		t.Errorf("the configuration is %+v, %v", got, err)
	}
	if line, err := h.Line(t.Context(), Query{}); err != nil || line.Steps[len(line.Steps)-1].Revision != 1 {
		t.Errorf("%v: the undo is the step %+v, want it to name revision 1", err, line.Steps)
	}
	if undo, err = h.Undoable(context.Background()); err != nil || undo.Step != nil {
		t.Errorf("after the undo: %+v, %v; want nothing to take back", undo, err)
	}
}
