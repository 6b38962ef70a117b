package upstream

import (
	"fmt"
	"maps"
	"slices"
	"time"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Kubernetes does not export the formulas of this file. Tests compare them with real runs, and the
// contract test watches their originals.

// NodesToFind returns how many feasible nodes the scheduler looks for among n.
// percentage is the percentageOfNodesToScore in force; 0 means adaptive. It follows
// numFeasibleNodesToFind.
func NodesToFind(n int, percentage int32) int {
	const atLeast, atLeastPercent = 100, 5
	if n < atLeast {
		return n
	}
	percent := int(percentage)
	if percent == 0 {
		percent = max(50-n/125, atLeastPercent)
	}
	return max(n*percent/100, atLeast)
}

// StopsAtOne reports whether the scheduler takes the first feasible node that it finds,
// because f has no score plugin and its extenders neither filter nor score. It follows
// hasScoring and hasExtenderFilters.
func StopsAtOne(f framework.Framework) bool {
	narrowsDown := func(e fwk.Extender) bool { return e.IsFilter() || e.IsPrioritizer() }
	return !f.HasScorePlugins() && !slices.ContainsFunc(f.Extenders(), narrowsDown)
}

// ExtenderScale is the factor by which the scheduler multiplies an extender's
// weighted scores. It follows prioritizeNodes.
const ExtenderScale = fwk.MaxScore / extenderv1.MaxExtenderPriority

// ExtenderOrder returns the extenders in the order in which the scheduler calls
// them: ignorable ones come last. It follows buildExtenders.
func ExtenderOrder(configured []config.Extender) []config.Extender {
	out := slices.Clone(configured)
	slices.SortStableFunc(out, func(a, b config.Extender) int {
		switch {
		case a.Ignorable == b.Ignorable:
			return 0
		case b.Ignorable:
			return -1
		}
		return 1
	})
	return out
}

// ExtenderTimeout returns how long the scheduler waits for an extender's answer. It
// follows NewHTTPExtender.
func ExtenderTimeout(e *config.Extender) time.Duration {
	if e.HTTPTimeout.Duration == 0 {
		return scheduler.DefaultExtenderTimeout
	}
	return e.HTTPTimeout.Duration
}

// HasVictims reports whether an extender's answer keeps a node as a candidate for
// preemption. It follows callExtenders of Kubernetes' preemption.
func HasVictims(victims *extenderv1.Victims) bool { return victims != nil && len(victims.Pods) > 0 }

// VictimlessNode returns the scheduler's error for an answer with a node without victims from an
// extender that is not ignorable, or nil if every node has a victim. It follows callExtenders.
func VictimlessNode(answer map[string]*extenderv1.Victims) error {
	for _, node := range slices.Sorted(maps.Keys(answer)) {
		if !HasVictims(answer[node]) {
			return fmt.Errorf("expected at least one victim pod on node %q", node)
		}
	}
	return nil
}

// SameNodes reports whether two lists of the scheduler's snapshot have the same nodes in the same
// order. The snapshot makes a new slice only when nodes come or go, so comparing addresses is
// enough. The caller must still hold the older list, so that its address is not reused. It follows
// Cache.UpdateSnapshot.
func SameNodes(a, b []fwk.NodeInfo) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
