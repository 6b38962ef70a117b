package timeline

import (
	"testing"
	"time"
)

// TestALateChangeIsNotTheRequests: on a busy machine the time line hears of a controller's change after a user's request
// for the same object has begun. The step then showed that change, and not what the user did.
func TestALateChangeIsNotTheRequests(t *testing.T) {
	begun := time.Now()
	web := Written{Group: "apps", Resource: "deployments", Namespace: "default", Name: "web", After: 8}
	var r recents
	r.note(change{moment: 1, at: begun.Add(time.Millisecond), revision: 7, key: "deployments/default/web"})
	if c, came := r.of(web, begun); came {
		t.Errorf("the change of the request is %+v", c)
	}
	r.note(change{moment: 2, at: begun.Add(2 * time.Millisecond), revision: 9, key: "deployments/default/web"})
	if c, came := r.of(web, begun); !came || c.moment != 2 {
		t.Errorf("the change of the request is %+v, %t", c, came)
	}
	// Without revisions only the time tells.
	web.After = 0
	if c, came := r.of(web, begun); !came || c.moment != 1 {
		t.Errorf("without a revision, the change of the request is %+v, %t", c, came)
	}
	if _, came := r.of(web, begun.Add(time.Second)); came {
		t.Error("a change before the request is its own")
	}
}
