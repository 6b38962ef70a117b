package process

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
)

// TestRequestsAreNoTroubles: a client that leaves is no trouble of a controller, although the API server reports it in the same way.
func TestRequestsAreNoTroubles(t *testing.T) {
	responsewriters.ErrorToAPIStatus(context.Canceled)
	ours.mu.Lock()
	defer ours.mu.Unlock()
	for cause := range ours.causes {
		t.Errorf("it remembers %q", cause)
	}
}

// TestTroubles: a controller that fails again and again is a warning, once for each cause, until it is over.
func TestTroubles(t *testing.T) {
	now := time.Unix(0, 0)
	told := &troubles{now: func() time.Time { return now }, causes: map[string]*trouble{}}
	pods := schema.GroupResource{Resource: "pods"}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tell := func(second int) {
		told.heard(t.Context(), apierrors.NewForbidden(pods, fmt.Sprint("p", second), errors.New("quota")), "play a stage", "kind", "Pod", "key", fmt.Sprint("default/p", second))
		told.heard(t.Context(), apierrors.NewConflict(pods, "p", errors.New("newer")), "play a stage")
		told.heard(ended, errors.New("the client has gone"), "reconcile")
	}
	for second := range 4 {
		now = time.Unix(int64(5*second), 0)
		tell(second)
	}
	if got := told.warnings(); len(got) > 0 {
		t.Errorf("after four times it warns of %q", got)
	}
	now = now.Add(5 * time.Second)
	tell(4)
	want := []string{`A controller cannot go on, and tries again (5 times so far): play a stage (kind Pod, key default/p0): pods "p0" is forbidden: quota`}
	if diff := cmp.Diff(want, told.warnings()); diff != "" {
		t.Error(diff)
	}
	now = now.Add(troubleOver + time.Second)
	if got := told.warnings(); len(got) > 0 {
		t.Errorf("when it is over it warns of %q", got)
	}
	for i := range 10 * maxTroubles {
		told.heard(t.Context(), errors.New("other"), fmt.Sprint("reconcile ", i))
	}
	if len(told.causes) > maxTroubles {
		t.Errorf("it remembers %d causes", len(told.causes))
	}
}
