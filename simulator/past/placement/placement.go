// Package placement compares the nodes of imported pods with those that they had where they come from.
//
// It may import scheduler/explain, scheduler/result, simulator/cluster/objects,
// simulator/past/clusterdiff and simulator/past/replay.
package placement

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/past/clusterdiff"
	"kube-scheduler-simulator/simulator/past/replay"
)

// Results are the scheduler's results. Methods are safe for concurrent use.
type Results interface {
	// NextAttempt returns the number of the next attempt of a pod, from 1.
	NextAttempt(uid types.UID) int
	// Get returns nil when there is no such attempt.
	Get(uid types.UID, attempt int) (*result.Cycle, error)
}

// Options of a Comparer. All are required.
type Options struct {
	// State returns the nodes and pods of the cluster, which the Comparer only reads.
	State   func(ctx context.Context) ([]*v1.Node, []*v1.Pod, error)
	Results Results
}

// Comparer compares. Methods are safe for concurrent use.
type Comparer struct {
	opts Options

	mu sync.Mutex
	// causes are known for the attempts that were read so far.
	causes map[types.UID]known
}

type known struct {
	attempt int
	node    string
	Cause
}

// New returns a Comparer.
func New(opts Options) *Comparer { return &Comparer{opts: opts, causes: map[types.UID]known{}} }

// Cause is why pods are elsewhere: the kind of the statement that says it, and its plugin.
type Cause struct {
	Kind explain.Kind `json:"kind"`
	// Plugin is empty when the statement has none.
	Plugin string `json:"plugin,omitempty"`
}

// CauseCount counts the pods that are elsewhere, or nowhere, for one cause.
type CauseCount struct {
	Cause
	Count int `json:"count"`
}

// Comparison is a page of the pods that an import left to the scheduler, and the counts of all.
type Comparison struct {
	replay.Comparison
	// Causes have the most frequent one first. Their counts add up to Explained.
	Causes []CauseCount `json:"causes"`
	// Explained counts the pods, of those that are different or pending, whose cause is known so
	// far: what has not been read yet is left to later requests.
	Explained int `json:"explained"`
}

// Query selects pods. Zero fields select all.
type Query struct {
	replay.ComparisonQuery
	Cause Cause
}

// readFor bounds how long a comparison reads cycles to learn causes.
const readFor = 250 * time.Millisecond

// Compare compares the cluster as it is now.
func (c *Comparer) Compare(ctx context.Context, q Query) (Comparison, error) {
	nodes, pods, err := c.opts.State(ctx)
	if err != nil {
		return Comparison{}, err
	}
	exists := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		exists[n.Name] = true
	}
	pods = imported(pods)
	out := Comparison{Comparison: replay.Comparison{Items: []replay.Decision{}}, Causes: []CauseCount{}}
	selected, err := c.count(ctx, pods, exists, q, &out)
	if err != nil {
		return Comparison{}, err
	}
	from, err := q.From()
	if err != nil {
		return Comparison{}, err
	}
	page := selected[min(from, len(selected)):]
	if limit := cmp.Or(q.Limit, replay.DefaultLimit); len(page) > limit {
		page, out.Continue = page[:limit], fmt.Sprint(from+limit)
	}
	for _, pod := range page {
		d, err := c.decision(pod, exists)
		if err != nil {
			return Comparison{}, err
		}
		out.Items = append(out.Items, d)
	}
	return out, nil
}

// imported returns the pods that an import left to the scheduler, by name.
func imported(pods []*v1.Pod) []*v1.Pod {
	pods = slices.DeleteFunc(slices.Clone(pods), func(p *v1.Pod) bool { return nodeBefore(p) == "" })
	slices.SortFunc(pods, func(a, b *v1.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return pods
}

func nodeBefore(pod *v1.Pod) string { return pod.Annotations[objects.AnnotationImportedNode] }

func outcomeOf(pod *v1.Pod) replay.Outcome {
	switch pod.Spec.NodeName {
	case "":
		return replay.Pending
	case nodeBefore(pod):
		return replay.Matching
	}
	return replay.Different
}

// count fills in the counts of all pods, and returns those that the query selects.
func (c *Comparer) count(ctx context.Context, pods []*v1.Pod, exists map[string]bool, q Query, out *Comparison) ([]*v1.Pod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	causes, byCause := make(map[types.UID]known, len(c.causes)), map[Cause]int{}
	var selected []*v1.Pod
	for until, i := time.Now().Add(readFor), 0; i < len(pods); i++ {
		pod, outcome := pods[i], outcomeOf(pods[i])
		out.Compared++
		switch outcome {
		case replay.Matching:
			out.Matching++
		case replay.Different:
			out.Different++
		case replay.Pending:
			out.Pending++
		}
		cause, isKnown := c.causes[pod.UID], false
		if outcome != replay.Matching {
			if !exists[nodeBefore(pod)] {
				out.NodesMissing++
			}
			attempt := c.opts.Results.NextAttempt(pod.UID) - 1
			isKnown = cause.Kind != "" && cause.attempt == attempt && cause.node == pod.Spec.NodeName
			if !isKnown && time.Now().Before(until) {
				d, err := c.decision(pod, exists)
				if err != nil {
					return nil, err
				}
				cause, isKnown = known{d.Attempt, d.SimulatedNode, causeOf(d.Reason.Operands)}, true
			}
		}
		if isKnown {
			causes[pod.UID] = cause
			byCause[cause.Cause]++
			out.Explained++
			if outcome == replay.Different && cause.Kind == explain.KindOf(explain.SameTotal{}) {
				out.Tied++
			}
		}
		if (q.Outcome == "" || q.Outcome == outcome) && (q.Cause == Cause{} || isKnown && q.Cause == cause.Cause) {
			selected = append(selected, pod)
		}
	}
	c.causes = causes // without the pods that are gone
	for cause, n := range byCause {
		out.Causes = append(out.Causes, CauseCount{cause, n})
	}
	slices.SortFunc(out.Causes, func(a, b CauseCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Plugin, b.Plugin))
	})
	return selected, ctx.Err()
}

func causeOf(o explain.Operands) Cause {
	cause := Cause{Kind: explain.KindOf(o)}
	switch o := o.(type) {
	case explain.NodeRejected:
		cause.Plugin = o.Plugin
	case explain.OtherTotal:
		cause.Plugin = o.Plugin
	}
	return cause
}

// decision compares a pod, with what the latest attempt says.
func (c *Comparer) decision(pod *v1.Pod, exists map[string]bool) (replay.Decision, error) {
	d := replay.Decision{
		Pod:  result.Pod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Time: pod.CreationTimestamp.Time, Outcome: outcomeOf(pod),
		RecordedNode: nodeBefore(pod), SimulatedNode: pod.Spec.NodeName,
		Attempt: c.opts.Results.NextAttempt(pod.UID) - 1,
	}
	var cycle *result.Cycle
	var message string
	if d.RecordedNodeEvaluated = d.Outcome == replay.Matching; !d.RecordedNodeEvaluated && d.Attempt > 0 {
		var err error
		if cycle, err = c.opts.Results.Get(pod.UID, d.Attempt); err != nil {
			return d, fmt.Errorf("reading the result of %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		if cycle != nil {
			message = cycle.Message
		}
	}
	d.Explain(cycle, !exists[d.RecordedNode], message)
	return d, nil
}

// Sides compares the cluster as it is now with the cluster in which each pod has the node that it
// had where it comes from.
func (c *Comparer) Sides(ctx context.Context) (clusterdiff.Comparison, error) {
	nodes, pods, err := c.opts.State(ctx)
	if err != nil {
		return clusterdiff.Comparison{}, err
	}
	var before, now clusterdiff.State
	for _, n := range nodes {
		before.Nodes = append(before.Nodes, *n)
	}
	now.Nodes = before.Nodes
	for _, pod := range pods {
		now.Pods = append(now.Pods, *pod)
		there := *pod
		if node := nodeBefore(pod); node != "" {
			there.Spec.NodeName = node
		}
		before.Pods = append(before.Pods, there)
	}
	return clusterdiff.Compare(before, now), nil
}
