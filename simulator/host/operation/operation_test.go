package operation

import (
	"context"
	"errors"
	"testing"
)

// TestOneOperationAtATime: a second operation is refused while one runs. Nothing else prevents
// two concurrent imports.
func TestOneOperationAtATime(t *testing.T) {
	all := &Turns{Changed: func() {}}
	_, first, err := all.Begin(t.Context(), Import, "")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = all.Begin(t.Context(), Import, "")
	if busy, ok := errors.AsType[*Busy](err); !ok || busy.With != Import {
		t.Errorf("a second import: %v", err)
	}
	first.End()
	if _, next, err := all.Begin(context.Background(), Reset, ""); err != nil {
		t.Error("after it:", err)
	} else {
		next.End()
	}
}
