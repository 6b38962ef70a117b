package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// maxDrained bounds the pods of a drain. Each asks a question that holds those before it.
const maxDrained = 60

type drainQuestion struct {
	Node string `json:"node"`
}

// drained is what becomes of a pod of the node.
type drained struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Fate is a constant below.
	Fate string `json:"fate"`
	// To is where its replacement goes; empty for none.
	To string `json:"to,omitempty"`
	// WaitsFor names the PodDisruptionBudgets that hold the eviction back.
	WaitsFor []string `json:"waitsFor,omitempty"`
	// Sentence says why a replacement finds no node.
	Sentence string `json:"sentence,omitempty"`
}

// The fates of pods.
const (
	moves    = "moves"   // its replacement finds a node
	pending  = "pending" // its replacement finds none
	blocked  = "blocked" // a budget allows no eviction now
	goes     = "goes"    // nothing creates it again
	stays    = "stays"   // a DaemonSet's, or a mirror pod
	unasked  = "unasked" // more pods than the bound
	leaves   = "leaves"  // it terminates already
	isMirror = "kubernetes.io/config.mirror"
)

var previewDrain = tool[drainQuestion]{
	name:  "preview_drain",
	title: "Preview a drain",
	description: "What would happen to the pods of this node if it were drained? Use it before a node is taken out of service. " +
		"Cordons the node in a copy of the state and places a replacement for each of its pods, one after the other, the most important first: says where each goes, which finds no node, and which PodDisruptionBudgets hold evictions back. " +
		"It evicts nothing.",
	properties: map[string]*jsonschema.Schema{"node": name("Name of the node to drain.")},
	required:   []string{"node"},
	answer: func(ctx context.Context, c *call, in drainQuestion) (any, error) {
		all, err := c.drain(ctx, in.Node)
		if err != nil {
			return nil, err
		}
		of := map[string]int{}
		for _, d := range all {
			of[d.Fate]++
		}
		c.line("draining %s: %d of its %s find another node, %d stay pending, %d are blocked by a budget", in.Node, of[moves], counted(len(all), "pod"), of[pending], of[blocked])
		if n := of[goes]; n > 0 {
			c.line("%s would go for good: no controller creates them again, and kubectl drain wants --force", counted(n, "pod"))
		}
		if n := of[stays]; n > 0 {
			c.line("%s of DaemonSets and of the node itself stay", counted(n, "pod"))
		}
		if n := of[unasked]; n > 0 {
			c.line("%s were not asked about: the bound is %d", counted(n, "further pod"), maxDrained)
		}
		for _, d := range all {
			if d.Fate == moves || d.Fate == stays || d.Fate == unasked || d.Fate == leaves {
				continue
			}
			c.fate(d)
		}
		for _, d := range all {
			if d.Fate == moves || d.Fate == leaves {
				c.fate(d)
			}
		}
		c.line("asked of %s; nothing was changed; replacements were placed one after the other, and no controller ran", c.cluster.Name())
		return all, nil
	},
}

func (c *call) fate(d drained) {
	pod := d.Namespace + "/" + d.Name
	switch d.Fate {
	case moves:
		c.line("%s: replacement goes to %s", pod, d.To)
	case pending:
		c.line("%s: replacement stays pending: %s", pod, d.Sentence)
	case blocked:
		c.line("%s: blocked", pod)
	case goes:
		c.line("%s: goes for good", pod)
	case leaves:
		c.line("%s: terminates already", pod)
	}
	if len(d.WaitsFor) > 0 {
		c.line("  waits for PodDisruptionBudgets: %s", d.WaitsFor)
	}
}

// drain tells the fates of a node's pods, in the order in which they were asked about.
func (c *call) drain(ctx context.Context, node string) ([]drained, error) {
	if _, err := c.cluster.Node(ctx, node); err != nil {
		return nil, err
	}
	pods, err := c.pods(ctx, "")
	if err != nil {
		return nil, err
	}
	budgets, err := list[*policyv1.PodDisruptionBudget](ctx, c.cluster, policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), "")
	if err != nil {
		return nil, err
	}
	pods = slices.DeleteFunc(pods, func(p *v1.Pod) bool { return p.Spec.NodeName != node })
	slices.SortFunc(pods, func(a, b *v1.Pod) int { return cmp.Or(cmp.Compare(priority(b), priority(a)), comparePods(a, b)) })
	changes := []hypothesis.Change{{Patch: &hypothesis.Patch{
		Target: hypothesis.Target{APIVersion: "v1", Kind: "Node", Name: node}, Patch: json.RawMessage(`{"spec":{"unschedulable":true}}`),
	}}}
	left := allowances(budgets)
	out := make([]drained, len(pods))
	asked := 0
	for i, pod := range pods {
		d := drained{Namespace: pod.Namespace, Name: pod.Name}
		d.Fate = fateOf(pod)
		if d.Fate == "" || d.Fate == goes {
			var allowed bool
			if d.WaitsFor, allowed = left.evict(pod); !allowed {
				d.Fate = blocked
			}
		}
		if d.Fate == "" && asked == maxDrained {
			d.Fate = unasked
		}
		if d.Fate == "" {
			asked++
			if err := c.replace(ctx, pod, &d, &changes); err != nil {
				return nil, fmt.Errorf("asking where a replacement of %s/%s goes: %w", pod.Namespace, pod.Name, err)
			}
		} else if d.Fate == goes || d.Fate == leaves {
			changes = append(changes, deletion(pod))
		}
		out[i] = d
	}
	return out, nil
}

func priority(p *v1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// fateOf returns the fate of a pod that no question is needed for, or an empty one.
func fateOf(pod *v1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	switch {
	case pod.Annotations[isMirror] != "" || owner != nil && owner.Kind == "DaemonSet":
		return stays
	case pod.DeletionTimestamp != nil:
		return leaves
	case owner == nil:
		return goes
	}
	return ""
}

func deletion(pod *v1.Pod) hypothesis.Change {
	return hypothesis.Change{Delete: &hypothesis.Target{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}}
}

// replace asks where a replacement of the pod goes, and adds what happens to the changes that the next
// pod is asked under.
func (c *call) replace(ctx context.Context, pod *v1.Pod, d *drained, changes *[]hypothesis.Change) error {
	a, err := c.cluster.WhatIf(ctx, hypothesis.WhatIf{Question: hypothesis.Question{
		PodRef: &hypothesis.PodName{Namespace: pod.Namespace, Name: pod.Name}, Changes: *changes,
	}})
	if err != nil {
		return err
	}
	decision := a.Decisions[0]
	*changes = append(*changes, deletion(pod))
	if decision.Outcome != result.Scheduled {
		d.Fate, d.Sentence = pending, decision.Explanation.Sentence
		return nil
	}
	d.Fate, d.To = moves, decision.SelectedNode
	replacement, err := json.Marshal(placed(pod, d.To))
	if err != nil {
		return err
	}
	*changes = append(*changes, hypothesis.Change{Apply: replacement})
	return nil
}

// placed returns a replacement of the pod, on a node.
func placed(pod *v1.Pod, node string) *v1.Pod {
	out := &v1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, Labels: pod.Labels, Annotations: pod.Annotations,
			OwnerReferences: pod.OwnerReferences,
		},
		Spec: *pod.Spec.DeepCopy(),
	}
	out.Spec.NodeName = node
	return out
}

// allowance is a PodDisruptionBudget with the evictions that it still allows.
type allowance struct {
	*policyv1.PodDisruptionBudget
	selector labels.Selector
	left     int32
}

type allowed []*allowance

func allowances(budgets []*policyv1.PodDisruptionBudget) allowed {
	var out allowed
	for _, b := range budgets {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			continue // the API server lets none pass
		}
		out = append(out, &allowance{b, selector, b.Status.DisruptionsAllowed})
	}
	return out
}

// evict takes one eviction of the pod from its budgets. waits names those that had allowed some and
// are used up: the eviction waits until an earlier replacement is ready. It is not possible if a
// budget allowed none from the beginning.
func (a allowed) evict(pod *v1.Pod) (waits []string, possible bool) {
	possible = true
	for _, b := range a {
		if b.Namespace != pod.Namespace || !b.selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		switch {
		case b.Status.DisruptionsAllowed < 1:
			waits, possible = append(waits, b.Name), false
		case b.left < 1:
			waits = append(waits, b.Name)
		default:
			b.left--
		}
	}
	return waits, possible
}
