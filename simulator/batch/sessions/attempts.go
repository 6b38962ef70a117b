package sessions

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// Attempts numbers the attempts of the pods of a scheduler that judges all of them over and over
// again. A pod has a new attempt only when something about it has changed.
type Attempts map[types.UID]string

// maxAttempts bounds the pods whose latest attempt is remembered.
const maxAttempts = 50_000

// Put gives the sink a cycle with its number, unless the pod's latest one says the same.
func (a Attempts) Put(sink Sink, c *result.Cycle) {
	said := fmt.Sprint(c.Outcome, c.SelectedNode, c.NominatedNode, c.Message)
	if c.Refusal != nil {
		said += fmt.Sprint(*c.Refusal)
	}
	if a[c.Pod.UID] == said {
		return
	}
	if len(a) >= maxAttempts {
		clear(a)
	}
	a[c.Pod.UID] = said
	c.Attempt = sink.NextAttempt(c.Pod.UID)
	sink.Put(c)
}
