package recorder

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// nearest keeps those of a plugin's rejections that are nearest to fitting in the current cycle.
// Filter's workers offer every rejection; after the search, while the snapshot is the same, the
// scheduling goroutine compares those that were kept.
type nearest struct {
	plugin   string
	comparer Comparer

	// begun is set by the first offer of a cycle.
	begun atomic.Pointer[begun]
	// farthest is the kept rejection that gives way next; nil until the list is full. It lets a
	// worker drop a rejection that is not nearer without taking the lock.
	farthest atomic.Pointer[rejection]

	mu   sync.Mutex
	kept []rejection
}

// begun holds a cycle's Comparing, which may be nil.
type begun struct{ Comparing }

type rejection struct {
	state    fwk.CycleState
	node     fwk.NodeInfo
	name     string
	distance float64
	// nominated: state and node include nominated pods.
	nominated bool
}

func (r *rejection) compare(other *rejection) int {
	return cmp.Or(cmp.Compare(r.distance, other.distance), strings.Compare(r.name, other.name))
}

// reset requires that no plugin is running.
func (n *nearest) reset() {
	n.begun.Store(nil)
	n.farthest.Store(nil)
	clear(n.kept)
	n.kept = n.kept[:0]
}

// offer keeps a rejection if it is among the nearest so far.
func (n *nearest) offer(state fwk.CycleState, nominated bool, pod *v1.Pod, node fwk.NodeInfo, status *fwk.Status) {
	comparing := n.begin(state, pod)
	if comparing == nil {
		return
	}
	r := rejection{state: state, node: node, name: node.Node().Name, distance: comparing.Distance(state, node, status), nominated: nominated}
	if far := n.farthest.Load(); far != nil && r.compare(far) >= 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.keep(r)
}

func (n *nearest) begin(state fwk.CycleState, pod *v1.Pod) Comparing {
	if b := n.begun.Load(); b != nil {
		return b.Comparing
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if b := n.begun.Load(); b != nil {
		return b.Comparing
	}
	b := &begun{n.comparer.Begin(state, pod)}
	n.begun.Store(b)
	return b.Comparing
}

func (n *nearest) keep(r rejection) {
	// If the scheduler's first try of a nominated node fails, the search filters the node again.
	again := slices.IndexFunc(n.kept, func(k rejection) bool { return k.name == r.name })
	switch limit := n.comparer.Limit(); {
	case again >= 0:
		n.kept[again] = r
	case len(n.kept) < limit:
		n.kept = append(n.kept, r)
	default:
		far := n.farthest.Load()
		if r.compare(far) >= 0 {
			return
		}
		n.kept[slices.IndexFunc(n.kept, func(k rejection) bool { return k.name == far.name })] = r
	}
	if len(n.kept) == n.comparer.Limit() {
		far := slices.MaxFunc(n.kept, func(a, b rejection) int { return a.compare(&b) })
		n.farthest.Store(&far)
	}
}

// compare appends the comparisons of the kept rejections to out, the nearest first, and forgets the
// cycle. It traces the amounts of the first traced of them.
func (n *nearest) compare(out []result.Comparison, traced int) []result.Comparison {
	b := n.begun.Load()
	if b == nil {
		return out
	}
	defer n.reset()
	slices.SortFunc(n.kept, func(a, b rejection) int { return a.compare(&b) })
	for i := range n.kept {
		out = append(out, result.Comparison{})
		found := &out[len(out)-1]
		if !b.Compare(n.kept[i].state, n.kept[i].node, found) {
			*found = result.Comparison{}
			out = out[:len(out)-1]
			continue
		}
		found.Node, found.Plugin = n.kept[i].name, n.plugin
		if tracer, ok := b.Comparing.(Tracer); ok && i < traced {
			tracer.Trace(n.kept[i].node, found)
		}
		if n.kept[i].nominated {
			found.WithoutPods = "" // Those pods would stay.
		}
	}
	return out
}

// comparisons returns what the plugins compared in the search that just ended, in the order of the
// plugins, the nearest node first. It traces the amounts of at most traced nodes for each plugin.
func (p *profile) comparisons(traced int) []result.Comparison {
	out := p.compared[:0]
	for _, plugin := range p.filterPlugins {
		for _, n := range p.nearest {
			if n.plugin == plugin {
				out = n.compare(out, traced)
			}
		}
	}
	p.compared = out
	return taken(out)
}

// taken copies comparisons, which are large, into a slice of their exact size, and clears list for
// reuse.
func taken(list []result.Comparison) []result.Comparison {
	if len(list) == 0 {
		return nil
	}
	defer clear(list)
	return append(make([]result.Comparison, 0, len(list)), list...)
}

// forgetRejections forgets the cycle without comparing anything.
func (p *profile) forgetRejections() {
	for _, n := range p.nearest {
		n.reset()
	}
}
