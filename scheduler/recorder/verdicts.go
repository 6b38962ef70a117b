package recorder

import fwk "k8s.io/kube-scheduler/framework"

// verdict is what Filter came to for a node.
type verdict uint8

const (
	notEvaluated verdict = iota
	passed
	// considered nodes passed and went on to an extender or to scoring, or were
	// selected.
	considered
	rejected
)

// verdicts has one slot per node of the snapshot. A worker of Filter writes to
// the slot of its node and to no other. Most nodes of most cycles pass: for them
// there is nothing that the garbage collector would have to look at.
type verdicts struct {
	of []verdict
	// rejections are there for the rejected.
	rejections []*fwk.Status
}

func (v *verdicts) note(node int32, status *fwk.Status) {
	if status.IsSuccess() {
		v.of[node] = passed
		return
	}
	v.rejections[node] = status
	v.of[node] = rejected
}

// takeVerdicts returns cleared verdicts of n nodes.
func (r *Recorder) takeVerdicts(n int) *verdicts {
	if v, ok := r.verdicts.Get().(*verdicts); ok && cap(v.of) >= n {
		v.of, v.rejections = v.of[:n], v.rejections[:n]
		clear(v.of)
		return v
	}
	return &verdicts{of: make([]verdict, n), rejections: make([]*fwk.Status, n)}
}

// returnVerdicts takes them back for a later cycle.
func (r *Recorder) returnVerdicts(v *verdicts) {
	for i, of := range v.of {
		if of == rejected {
			v.rejections[i] = nil
		}
	}
	r.verdicts.Put(v)
}
