// Package pluginfact lets a plugin attach facts of its own to the scheduling cycle in
// which it runs: what it counted, what it compared, why it decided as it did.
// They are shown with the cycle, and written to the pod's annotations.
//
// Under a scheduler that is not recorded, Record and RecordNode do nothing, so
// that a plugin may call them wherever it runs. It may import nothing but the
// scheduling framework.
package pluginfact

import (
	"cmp"
	"slices"
	"sync"

	fwk "k8s.io/kube-scheduler/framework"
)

// What a cycle holds at most, over all plugins. A fact that finds no room is
// dropped and counted.
const (
	MaxFacts = 1024
	MaxBytes = 64 << 10
)

// Fact is one thing that a plugin says about a cycle.
type Fact struct {
	Plugin string
	// Node is what the fact is about; empty when it is about the pod.
	Node       string
	Key, Value string
}

// Record attaches a fact about the pod to the cycle that state belongs to. A
// later one of the same plugin and key takes the place of the earlier.
//
// It may be called wherever a plugin has the state of the cycle, from any number
// of goroutines. On a clone of the state it counts only while the scheduler
// searches for nodes, which it may do on a clone to which the pods are added that
// are nominated to a node; a node that passes is then tried without them, and what
// the plugin says there takes the place of what it said before. Other clones are
// for trying what would be, as in the dry runs of preemption, and what is true
// there is not a fact of the cycle.
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
		log.record(id{plugin, node, key}, value)
	case branch:
		if log.of.searching() {
			log.of.record(id{plugin, node, key}, value)
		}
	}
}

const stateKey fwk.StateKey = "kube-scheduler-simulator/facts"

// Log gathers the facts of one cycle.
type Log struct {
	searching func() bool

	mu      sync.Mutex
	facts   map[id]string
	bytes   int
	dropped int
}

type id struct{ plugin, node, key string }

// Attach puts a new log into state. It is for the recorder, at the begin of a
// cycle. searching says whether the scheduler searches for nodes at the moment; it
// is called by many workers at once.
func Attach(state fwk.CycleState, searching func() bool) *Log {
	log := &Log{searching: searching}
	state.Write(stateKey, log)
	return log
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

// Facts returns what was recorded so far, by plugin, node and key, and how many
// facts found no room. A nil log has none.
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
