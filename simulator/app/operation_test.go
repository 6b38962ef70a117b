package app

import (
	"context"
	"errors"
	"testing"

	"kube-scheduler-simulator/simulator/server"
)

// TestOneOperationAtATime: a second operation is refused while one runs. Nothing else prevents
// two concurrent imports.
func TestOneOperationAtATime(t *testing.T) {
	all := &operations{changed: func() {}}
	_, first, err := all.begin(t.Context(), server.OperationImport, "")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = all.begin(t.Context(), server.OperationImport, "")
	if busy, ok := errors.AsType[*server.Busy](err); !ok || busy.With != server.OperationImport {
		t.Errorf("a second import: %v", err)
	}
	first.End()
	if _, next, err := all.begin(context.Background(), server.OperationReset, ""); err != nil {
		t.Error("after it:", err)
	} else {
		next.End()
	}
}
