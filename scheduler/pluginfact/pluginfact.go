// Package pluginfact lets a plugin attach its own facts to the scheduling cycle in
// which it runs: its counts, the values that it compared, the reason for its decision.
// Facts are shown with the cycle and written to the pod's annotations.
//
// Under a scheduler that is not recorded, Record and RecordNode do nothing, so a
// plugin may call them wherever it runs. The package may import only the scheduling
// framework.
package pluginfact

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	fwk "k8s.io/kube-scheduler/framework"
)

// Bounds of the facts in a cycle, over all plugins. A fact beyond them is dropped and
// counted.
const (
	MaxFacts = 1024
	MaxBytes = 64 << 10
)

// Fact is one statement of a plugin about a cycle.
type Fact struct {
	Plugin string
	// Node is the node that the fact is about; empty when it is about the pod.
	Node       string
	Key, Value string
}

// Record attaches a fact about the pod to the cycle that state belongs to. A later
// fact with the same plugin and key replaces an earlier one.
//
// It may be called wherever a plugin has the state of the cycle, from any number of
// goroutines. On a clone of the state it counts only during the search for nodes: the
// scheduler first filters a node with the pods that are nominated to it, on a clone,
// and then without them, and the second fact replaces the first. Other clones are for
// hypotheses, such as the dry runs of preemption, and a hypothesis is not a fact of
// the cycle.
func Record(state fwk.CycleState, plugin, key, value string) {
	RecordNode(state, plugin, "", key, value)
}

// RecordNode is Record for a fact about one node.
func RecordNode(state fwk.CycleState, plugin, node, key, value string) {
	if state == nil {
		return
	}
	data, err := state.Read(stateKey)
	if err != nil {
		return
	}
	switch log := data.(type) {
	case *Log:
		if !log.paused.Load() {
			log.record(id{plugin, node, key}, value)
		}
	case branch:
		if log.of.searching() {
			log.of.record(id{plugin, node, key}, value)
		}
	}
}

// Recorded reports whether facts of the cycle are recorded at all, so that a plugin need not gather
// costly ones in vain.
func Recorded(state fwk.CycleState) bool {
	if state == nil {
		return false
	}
	_, err := state.Read(stateKey)
	return err == nil
}

const stateKey fwk.StateKey = "kube-scheduler-simulator/facts"

// Log gathers the facts of one cycle.
type Log struct {
	searching func() bool
	paused    atomic.Bool

	mu      sync.Mutex
	facts   map[id]string
	bytes   int
	dropped int
}

type id struct{ plugin, node, key string }

// Attach puts a new log into state. The recorder calls it at the start of a cycle.
// searching reports whether the scheduler is searching for nodes; many workers call it
// at once.
func Attach(state fwk.CycleState, searching func() bool) *Log {
	log := &Log{searching: searching}
	state.Write(stateKey, log)
	return log
}

// Pause stops recording, and continues it: the scheduler also runs plugins for purposes
// other than the cycle. A nil log has nothing to pause.
func (l *Log) Pause(on bool) {
	if l != nil {
		l.paused.Store(on)
	}
}

func (l *Log) record(at id, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if earlier, ok := l.facts[at]; ok {
		l.bytes -= at.size() + len(earlier)
		delete(l.facts, at)
	}
	size := at.size() + len(value)
	if len(l.facts) == MaxFacts || l.bytes+size > MaxBytes {
		l.dropped++
		return
	}
	if l.facts == nil {
		l.facts = map[id]string{}
	}
	l.facts[at] = value
	l.bytes += size
}

func (i id) size() int { return len(i.plugin) + len(i.node) + len(i.key) }

// Facts returns the facts so far, sorted by plugin, node and key, and how many were
// dropped. A nil log has none.
func (l *Log) Facts() (facts []Fact, dropped int) {
	if l == nil {
		return nil, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for at, value := range l.facts {
		facts = append(facts, Fact{Plugin: at.plugin, Node: at.node, Key: at.key, Value: value})
	}
	slices.SortFunc(facts, func(a, b Fact) int {
		return cmp.Or(cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Key, b.Key))
	})
	return facts, l.dropped
}

var _ fwk.StateData = (*Log)(nil)

// Clone is called when the state is cloned.
func (l *Log) Clone() fwk.StateData { return branch{l} }

// branch stands for a log in a clone.
type branch struct{ of *Log }

func (b branch) Clone() fwk.StateData { return b }
