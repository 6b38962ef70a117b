package recorder

import fwk "k8s.io/kube-scheduler/framework"

type verdict uint8

const (
	notEvaluated verdict = iota
	passed
	// considered nodes passed and went on to an extender or to scoring, or were
	// selected.
	considered
	rejected
)

// verdicts has one slot per node of the snapshot. A worker of Filter writes only to the slot of its
// node. Most nodes of most cycles pass, and hold no pointer for the garbage collector to follow.
type verdicts struct {
	of []verdict
	// rejections holds the status of each rejected node.
	rejections []*fwk.Status
	// also holds each node's further rejections; nil unless the cycle is hypothetical.
	also [][]*fwk.Status
	// last are the indexes of the nodes that went on most recently, in the scheduler's
	// order.
	last []int32
}

func (v *verdicts) note(node int32, status *fwk.Status) {
	if status.IsSuccess() {
		v.of[node] = passed
		return
	}
	v.rejections[node] = status
	v.of[node] = rejected
}

func (r *Recorder) takeVerdicts(n int) *verdicts {
	if v, ok := r.verdicts.Get().(*verdicts); ok && cap(v.of) >= n {
		v.of, v.rejections = v.of[:n], v.rejections[:n]
		if r.hypothetical {
			v.also = v.also[:n]
		}
		clear(v.of)
		v.last = v.last[:0]
		return v
	}
	v := &verdicts{of: make([]verdict, n), rejections: make([]*fwk.Status, n)}
	if r.hypothetical {
		v.also = make([][]*fwk.Status, n)
	}
	return v
}

func (r *Recorder) returnVerdicts(v *verdicts) {
	if cap(v.of) == 0 {
		return
	}
	for i, of := range v.of {
		if of == rejected {
			v.rejections[i] = nil
		}
	}
	clear(v.also)
	r.verdicts.Put(v)
}
