package forward

import (
	"container/heap"
	"time"

	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

type what int

const (
	arrive what = iota
	end
	release
	review
)

// entry is something that will happen.
type entry struct {
	at time.Time
	// order breaks ties: what was planned first happens first.
	order    int
	do       what
	key      types.NamespacedName
	workload *kueue.Workload // for arrive
	turn     int             // for end
}

// agenda holds what will happen, the earliest first.
type agenda struct {
	entries []entry
	planned int
}

func (r *Run) plan(at time.Time, e entry) {
	e.at, e.order = at, r.agenda.planned
	r.agenda.planned++
	heap.Push(&r.agenda, e)
}

func (a *agenda) next() entry { return heap.Pop(a).(entry) }

var _ heap.Interface = (*agenda)(nil)

func (a *agenda) Len() int { return len(a.entries) }

func (a *agenda) Less(i, j int) bool {
	if c := a.entries[i].at.Compare(a.entries[j].at); c != 0 {
		return c < 0
	}
	return a.entries[i].order < a.entries[j].order
}

func (a *agenda) Swap(i, j int) { a.entries[i], a.entries[j] = a.entries[j], a.entries[i] }

func (a *agenda) Push(e any) { a.entries = append(a.entries, e.(entry)) }

func (a *agenda) Pop() any {
	last := len(a.entries) - 1
	e := a.entries[last]
	a.entries[last] = entry{}
	a.entries = a.entries[:last]
	return e
}
