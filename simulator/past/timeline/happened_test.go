package timeline

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// told writes events as lines.
func told(h *Happened) []string {
	var all []string
	for _, e := range h.Events {
		text := string(e.Step.Kind) + " " + e.Step.Verb
		if e.Ended {
			text += " ended"
		}
		for _, w := range e.Writes {
			switch {
			case w.Before == nil:
				text += " +" + w.After.GetName()
			case w.After == nil:
				text += " -" + w.Before.GetName()
			default:
				text += " ~" + w.After.GetName()
			}
		}
		all = append(all, text+" "+e.Document)
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// TestHappened: a step has what its user wrote, and not what controllers and the scheduler did meanwhile.
func TestHappened(t *testing.T) {
	h := newHarness(t, 1<<20)
	user := func(verb string, write func(), objects ...Written) {
		begun := h.clock.Now()
		write()
		h.Wrote(Write{Begun: begun, Verb: verb, By: "kubectl", Objects: objects})
		h.clock.Step(2 * stepPause)
	}
	ofPod := func(name string) Written { return Written{Resource: "pods", Namespace: "default", Name: name} }
	h.Configured(Configuration{Revision: 1, Document: "first", By: BySimulator})
	user("create", func() { h.put("minions/n1", stored(t, node("n1"))) }, Written{Resource: "nodes", Name: "n1"})
	user("create", func() {
		h.putPod("a", "")
		h.putPod("a", "n1") // the scheduler's
		h.putPod("controlled", "")
	}, ofPod("a"))
	middle := h.latestMoment()
	user("delete", func() {
		going := pod("a", "n1")
		going.DeletionTimestamp = ptr.To(metav1.NewTime(start))
		h.put("pods/default/a", stored(t, going))
		h.put("pods/default/a", nil) // its node's
	}, ofPod("a"))
	h.Configured(Configuration{Revision: 2, Document: "second", By: ByWeb})
	h.clock.Step(time.Second)
	imported := h.Begin(ImportStep, ByWeb)
	h.putPod("imported", "")
	imported(1, 0)
	h.clock.Step(time.Second)

	whole, err := h.Happened(t.Context(), At{}, At{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"change create +n1", "change create +a", "change delete -a", "configuration configure second", "import import +imported"}, told(whole)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if node := nodeOf(whole.Events[1].Writes[0].After); node != "" {
		t.Errorf("the pod is created on %s, which the scheduler chose later", node)
	}
	if len(whole.Start) != 0 || whole.Configuration.Document != "first" {
		t.Errorf("it begins with %d objects under %+v", len(whole.Start), whole.Configuration)
	}
	part, err := h.Happened(t.Context(), At{Moment: middle}, At{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"change delete -a", "configuration configure second", "import import +imported"}, told(part)); diff != "" || len(part.Start) != 3 {
		t.Errorf("it begins with %d objects (-want +got):\n%s", len(part.Start), diff)
	}

	reset := h.Begin(ResetStep, ByWeb)
	h.put("pods/default/imported", nil)
	reset(1, 0)
	h.clock.Step(time.Second)
	user("create", func() { h.putPod("after", "") }, ofPod("after"))
	since, err := h.Happened(t.Context(), At{}, At{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"change create +after"}, told(since)); diff != "" || !since.SinceReset {
		t.Errorf("since a reset: %t (-want +got):\n%s", since.SinceReset, diff)
	}
	if _, err := h.Happened(t.Context(), At{Moment: h.latestMoment()}, At{Moment: middle}); !errors.Is(err, ErrQuery) {
		t.Errorf("backwards: %v", err)
	}

	// A restart knows the same.
	before := told(whole)
	h.kill()
	h.open(1 << 20)
	whole, err = h.Happened(t.Context(), At{}, At{Time: part.To.Time})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, told(whole)); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
}
