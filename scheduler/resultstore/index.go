package resultstore

import (
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// entry is one attempt: in memory, on disk, or both.
type entry struct {
	// sequence numbers the attempts in the order in which they were first put.
	sequence uint64
	// pod is nil once the entry was dropped; tidy removes it.
	pod     *pod
	attempt int
	outcome result.Outcome
	traits

	cycle *result.Cycle
	size  int
	state writeState

	// block is nil when the cycle is not on disk.
	block *block
	row   int
}

type writeState uint8

const (
	// written: the disk has the latest version. Entries of a store without a directory
	// also stay in this state.
	written writeState = iota
	queued
	writing
)

// pod holds a pod's kept attempts by sequence, and the latest attempt's number as long as any is
// kept.
type pod struct {
	result.Pod
	attempts []attempt
	last     int
	// namespace and owner are numbers in index.texts.
	namespace, owner uint32
}

type attempt struct {
	number   int
	sequence uint64
}

// index finds entries by age and by pod. It is not safe for concurrent use.
type index struct {
	// entries are in ascending sequence, including dropped ones.
	entries []entry
	dropped int
	pods    map[types.UID]*pod
	// texts are what queries select by; refusalLists are lists of refusals.
	texts, refusalLists interned
	// bytes estimates the memory of the index, without cycles.
	bytes int64
}

const (
	entryBytes = 176
	podBytes   = 256
)

func newIndex() index {
	return index{pods: map[types.UID]*pod{}, texts: newInterned(), refusalLists: newInterned()}
}

func (x *index) len() int { return len(x.entries) - x.dropped }

// The pointer is valid until the index changes.
func (x *index) find(sequence uint64) *entry {
	i := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].sequence >= sequence })
	if i == len(x.entries) || x.entries[i].sequence != sequence || x.entries[i].pod == nil {
		return nil
	}
	return &x.entries[i]
}

func (x *index) get(uid types.UID, number int) *entry {
	p := x.pods[uid]
	if p == nil || number > p.last {
		return nil
	}
	for i := len(p.attempts) - 1; i >= 0; i-- {
		if p.attempts[i].number == number {
			return x.find(p.attempts[i].sequence)
		}
	}
	return nil
}

// add appends an entry; sequence must be greater than all earlier ones.
func (x *index) add(sequence uint64, of result.Pod, number int) *entry {
	p := x.pods[of.UID]
	if p == nil {
		x.bytes -= x.internedBytes()
		p = &pod{Pod: of, namespace: x.texts.hold(of.Namespace)}
		x.bytes += x.internedBytes()
		p.Namespace = x.texts.text(p.namespace)
		x.pods[of.UID] = p
		x.bytes += podBytes + int64(len(of.Name)+len(of.UID))
	}
	p.attempts = append(p.attempts, attempt{number: number, sequence: sequence})
	p.last = max(p.last, number)
	x.bytes += entryBytes
	x.entries = append(x.entries, entry{sequence: sequence, pod: p, attempt: number})
	return &x.entries[len(x.entries)-1]
}

func (x *index) drop(e *entry) {
	p, sequence := e.pod, e.sequence
	x.undescribe(e)
	p.attempts = slices.DeleteFunc(p.attempts, func(a attempt) bool { return a.sequence == sequence })
	if len(p.attempts) == 0 {
		delete(x.pods, p.UID)
		x.bytes -= podBytes + int64(len(p.Name)+len(p.UID)) + x.internedBytes()
		x.texts.release(p.namespace)
		x.texts.release(p.owner)
		x.bytes += x.internedBytes()
	}
	x.bytes -= entryBytes
	*e = entry{sequence: sequence}
	x.dropped++
	x.tidy()
}

// tidy removes dropped entries: always at the front, and elsewhere when they are more
// than half of all.
func (x *index) tidy() {
	for len(x.entries) > 0 && x.entries[0].pod == nil {
		x.entries = x.entries[1:]
		x.dropped--
	}
	if x.dropped > len(x.entries)/2 {
		kept := make([]entry, 0, len(x.entries)-x.dropped)
		for _, e := range x.entries {
			if e.pod != nil {
				kept = append(kept, e)
			}
		}
		x.entries, x.dropped = kept, 0
	}
}

func (x *index) oldest() *entry {
	if len(x.entries) == 0 {
		return nil
	}
	return &x.entries[0]
}

// newestFirst yields the entries of a pod, without a UID of all pods, that are older than before; 0
// means no bound.
func (x *index) newestFirst(uid types.UID, before uint64) func(yield func(*entry) bool) {
	return func(yield func(*entry) bool) {
		if uid != "" {
			x.podNewestFirst(x.pods[uid], before, yield)
			return
		}
		for i := len(x.entries) - 1; i >= 0; i-- {
			e := &x.entries[i]
			if e.pod == nil || before != 0 && e.sequence >= before {
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

func (x *index) podNewestFirst(p *pod, before uint64, yield func(*entry) bool) {
	if p == nil {
		return
	}
	for i := len(p.attempts) - 1; i >= 0; i-- {
		sequence := p.attempts[i].sequence
		if before != 0 && sequence >= before {
			continue
		}
		if !yield(x.find(sequence)) {
			return
		}
	}
}
