package drain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/cluster/eviction"
	"kube-scheduler-simulator/simulator/questions/disruption"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

const (
	// MaxNodes bounds the nodes of a question.
	MaxNodes = 200
	// DefaultStart and DefaultStop are Question.StartSeconds and Question.StopSeconds.
	DefaultStart = 10
	DefaultStop  = 1
	// retry is after how many seconds kubectl asks again for an eviction that a budget refuses.
	retry = 5
	// mostSeconds bounds all times of a question.
	mostSeconds = 24 * 60 * 60
)

// Question asks what kubectl drain would do. The fields that kubectl has flags for have its meaning and its defaults.
type Question struct {
	// Nodes are drained in this order. Selector names nodes by their labels instead, by name.
	Nodes    []string `json:"nodes,omitempty"`
	Selector string   `json:"selector,omitempty"`
	// Dearest, in place of nodes, asks which nodes to drain to save the most: up to so many, of which all become empty and every pod finds
	// a node again.
	Dearest int `json:"dearest,omitempty"`
	// PodSelector leaves the other pods where they are.
	PodSelector        string `json:"podSelector,omitempty"`
	IgnoreDaemonSets   bool   `json:"ignoreDaemonSets,omitempty"`
	DeleteEmptyDirData bool   `json:"deleteEmptyDirData,omitempty"`
	Force              bool   `json:"force,omitempty"`
	// TimeoutSeconds is how long to try a node; 0 means for ever.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`
	// AtOnce is how many nodes are drained at a time; 0 means 1, as kubectl does.
	AtOnce int `json:"atOnce,omitempty"`
	// StartSeconds is how long a pod takes from its node to being ready, and StopSeconds how long an evicted one takes to go; 0 means
	// DefaultStart and DefaultStop. A pod whose annotations tell a virtual node something else takes that long.
	StartSeconds int `json:"startSeconds,omitempty"`
	StopSeconds  int `json:"stopSeconds,omitempty"`
}

// Cluster is a cluster that is asked. Nothing that it does changes the cluster. Methods are safe for concurrent use.
type Cluster interface {
	why.Cluster
	Try(ctx context.Context, do func(context.Context, *whatif.Trial) error) error
}

func refuse(format string, args ...any) error {
	return &hypothesis.Refused{Message: fmt.Sprintf(format, args...)}
}

func (q *Question) rules() eviction.Rules {
	return eviction.Rules{Force: q.Force, IgnoreDaemonSets: q.IgnoreDaemonSets, DeleteEmptyDirData: q.DeleteEmptyDirData, PodSelector: q.PodSelector}
}

func (q *Question) complete() error {
	q.StartSeconds, q.StopSeconds, q.AtOnce = cmp.Or(q.StartSeconds, DefaultStart), cmp.Or(q.StopSeconds, DefaultStop), cmp.Or(q.AtOnce, 1)
	for name, seconds := range map[string]int{"timeoutSeconds": q.TimeoutSeconds, "startSeconds": q.StartSeconds, "stopSeconds": q.StopSeconds} {
		if seconds < 0 || seconds > mostSeconds {
			return refuse("%s: want a number from 0 to %d", name, mostSeconds)
		}
	}
	if q.AtOnce < 1 {
		return refuse("atOnce: want at least 1")
	}
	if q.Dearest < 0 || q.Dearest > MaxNodes {
		return refuse("dearest: want a number from 1 to %d", MaxNodes)
	}
	given := 0
	for _, is := range []bool{len(q.Nodes) > 0, q.Selector != "", q.Dearest > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return refuse("nodes: want one of nodes, a selector and a number of the dearest")
	}
	if _, err := labels.Parse(q.PodSelector); err != nil {
		return refuse("podSelector: %v", err)
	}
	return nil
}

// chosen returns the names of the nodes to drain, in order.
func (q *Question) chosen(w *disruption.World) (names []string, err error) {
	there := map[string]bool{}
	for _, n := range w.Nodes {
		there[n.Name] = true
	}
	if q.Selector != "" {
		selector, err := labels.Parse(q.Selector)
		if err != nil {
			return nil, refuse("selector: %v", err)
		}
		for _, n := range w.Nodes {
			if selector.Matches(labels.Set(n.Labels)) {
				names = append(names, n.Name)
			}
		}
		if len(names) == 0 {
			return nil, refuse("selector: no node has %s", q.Selector)
		}
	} else {
		names = slices.Clone(q.Nodes)
	}
	for i, name := range names {
		if !there[name] {
			return nil, refuse("nodes: there is no node %s", name)
		}
		if slices.Contains(names[:i], name) {
			return nil, refuse("nodes: %s is named twice", name)
		}
	}
	if len(names) > MaxNodes {
		return nil, refuse("nodes: %d are too many; ask about %d at most", len(names), MaxNodes)
	}
	return names, nil
}
