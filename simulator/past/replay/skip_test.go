package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
)

// After skipping, a reader is in the same state as one that has read every change: it has the same
// objects, and the same next changes.
func TestSkippingIsReadingAtOnce(t *testing.T) {
	f := newFile(t)
	f.set(0, podKind, "default", "old", `{"spec":{"nodeName":"n1"}}`)
	f.set(0, nodeKind, "", "n1", `{"status":{"allocatable":{"cpu":"4"}}}`)
	f.mark(0, Begun)
	f.set(1, podKind, "default", "web", `{"metadata":{"labels":{"a":"1","b":"2"}}}`)
	f.flush()
	f.set(2, podKind, "default", "web", `{"metadata":{"labels":{"a":"1"}},"spec":{"nodeName":"n1"}}`)
	f.gone(2, podKind, "default", "old")
	f.mark(3, Gap)
	f.gone(4, podKind, "default", "web")
	f.set(5, podKind, "default", "web", `{"spec":{"nodeName":"n2"}}`)
	f.mark(6, End)
	r := f.recording()
	for _, to := range []time.Time{at(-1), at(0), at(1), at(2), at(3), at(4), at(5), at(9)} {
		skipping, reading := r.Read(), r.Read()
		got, err := skipping.Skip(t.Context(), to)
		if err != nil {
			t.Fatal(err)
		}
		want := Skipped{}
		there := map[[3]string]map[string]any{}
		for {
			if next, err := reading.Peek(); errors.Is(err, io.EOF) || next.After(to) {
				break
			}
			c, err := reading.Next()
			if err != nil {
				t.Fatal(err)
			}
			want.Changes++
			name := [3]string{c.Kind.Kind, c.Namespace, c.Name}
			switch c.Verb {
			case Begun:
				want.Begun = true
			case Gap:
				want.Gap = c.Time
			case Delete:
				delete(there, name)
			case Set:
				there[name] = c.Object
			}
		}
		for _, name := range [][3]string{{"Node", "", "n1"}, {"Pod", "default", "old"}, {"Pod", "default", "web"}} {
			kind := nodeKind
			if name[0] == "Pod" {
				kind = podKind
			}
			if object := there[name]; object != nil {
				want.There = append(want.There, Change{Time: to, Verb: Set, Kind: kind, Namespace: name[1], Name: name[2], Object: object})
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("to %s (-read +skipped):\n%s", to.Sub(tuesday), diff)
		}
		for end := false; !end; {
			wanted, readErr := reading.Next()
			skipped, err := skipping.Next()
			if diff := cmp.Diff(wanted, skipped); diff != "" || !errors.Is(err, readErr) {
				t.Errorf("after %s: %v\n%s", to.Sub(tuesday), err, diff)
			}
			end = readErr != nil
		}
	}
}

// TestReadingEndsWithItsContext: a client that leaves ends the reading of a recording in the middle.
func TestReadingEndsWithItsContext(t *testing.T) {
	f := newFile(t)
	const pods = 20
	var earlier strings.Builder
	for i := range pods {
		f.set(0, podKind, "default", fmt.Sprint("p", i), `{}`)
		fmt.Fprintf(&earlier, `{"time":"2026-01-01T00:00:00Z","event":"Add","resource":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d"}}}`+"\n", i)
	}
	r := f.recording()
	for what, read := range map[string]func(context.Context) error{
		"skipping": func(ctx context.Context) error {
			_, err := r.Read().Skip(ctx, r.End)
			return err
		},
		"staging": func(ctx context.Context) error {
			_, err := r.Staged(ctx)
			return err
		},
		"staging a record file": func(ctx context.Context) error {
			_, err := StageEarlier(ctx, []byte(earlier.String()))
			return err
		},
	} {
		t.Run(what, func(t *testing.T) { bombs.EndsInTheMiddle(t, pods, read) })
	}
}
