package drain

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/questions/disruption"
)

// planTime bounds the search for the dearest nodes.
const planTime = 2 * time.Second

// emptyDearest takes the dearest nodes one after the other, and keeps each with which the whole drain still leaves no pod without a node. The
// answer is that of the last drain that did, so the plan has been played as a whole. When the time is over, the plan is what has been found.
func (q *Question) emptyDearest(ctx context.Context, c Cluster, w *disruption.World, begun time.Time) (*Answer, error) {
	candidates := byPrice(w)
	if len(candidates) == 0 {
		return nil, refuse("dearest: no node has a price; the label %s says what one costs an hour", objects.LabelPrice)
	}
	best, err := q.drained(ctx, c, w, nil, begun)
	if err != nil {
		return nil, err
	}
	var names []string
	var passed []Passed
	for _, name := range candidates {
		if len(names) == q.Dearest {
			break
		}
		if time.Since(begun) > planTime {
			best.Judged.Note += " The search ended after two seconds; there may be a better plan."
			break
		}
		a, err := q.drained(ctx, c, w, append(slices.Clone(names), name), begun)
		if err != nil {
			return nil, err
		}
		if s := a.Summary; s.Empty < s.Nodes || s.Pending > 0 || s.Gone > 0 {
			passed = append(passed, Passed{name, a.Sentence})
			continue
		}
		names, best = append(names, name), a
	}
	if best.Passed = passed; len(names) == 0 {
		best.Sentence = "No node with a price can be emptied such that every pod finds a node again."
	}
	return best, nil
}

// byPrice returns the nodes with a price, the dearest first; of those with one price, that with the fewest pods.
func byPrice(w *disruption.World) (names []string) {
	pods, prices := map[string]int{}, map[string]float64{}
	for _, p := range w.Pods {
		pods[p.Spec.NodeName]++
	}
	for _, n := range w.Nodes {
		if price, known := objects.Price(n.Labels); known {
			names, prices[n.Name] = append(names, n.Name), price
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(prices[b], prices[a]), cmp.Compare(pods[a], pods[b]), strings.Compare(a, b))
	})
	return names
}
