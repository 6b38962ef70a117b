package agents

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/scheduler/shadow"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

const (
	// comparedPods is how many pods are compared unless the agent says otherwise, and maxCompared the
	// most.
	comparedPods = 50
	maxCompared  = 200
	// compareTime ends a comparison. What was compared until then is the answer.
	compareTime = 20 * time.Second
)

type comparisonQuestion struct {
	Configuration string `json:"configuration"`
	Against       string `json:"against,omitempty"`
	Namespace     string `json:"namespace,omitempty"`
	Limit         int    `json:"limit,omitempty"`
}

// comparison is the whole answer. Live is the side of against, and Shadow that of configuration.
type comparison struct {
	State     whatif.State  `json:"state"`
	Judged    int           `json:"judged"`
	NotJudged int           `json:"notJudged"`
	Verdicts  shadow.Counts `json:"verdicts"`
	Differ    []difference  `json:"differ"`
}

type difference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	shadow.Comparison
}

var compareConfigurations = tool[comparisonQuestion]{
	name:  "compare_configurations",
	title: "Compare two scheduler configurations",
	description: "Which pods would go elsewhere under another KubeSchedulerConfiguration? Use it before a configuration is changed. " +
		"Judges pods of the cluster, pending ones first and then the newest, each as if it alone were not placed, under both configurations, and names the plugin that makes the difference. " +
		"It does not say how the cluster would look after a while: run_scenario does.",
	properties: map[string]*jsonschema.Schema{
		"configuration": document("YAML of the KubeSchedulerConfiguration to judge."),
		"against":       document("YAML of the one to compare it with. Default: the one of the cluster."),
		"namespace":     name("Only pods of this namespace."),
		"limit":         number("How many pods to judge. Default: 50.", 1, maxCompared),
	},
	required: []string{"configuration"},
	answer: func(ctx context.Context, c *call, in comparisonQuestion) (any, error) {
		pods, err := c.pods(ctx, in.Namespace)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(pods, func(a, b *v1.Pod) int {
			return cmp.Or(min(len(a.Spec.NodeName), 1)-min(len(b.Spec.NodeName), 1), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), comparePods(a, b))
		})
		a, err := c.compare(ctx, pods[:min(len(pods), cmp.Or(in.Limit, comparedPods))], in)
		if err != nil {
			return nil, err
		}
		a.NotJudged += len(pods) - min(len(pods), cmp.Or(in.Limit, comparedPods))
		v := a.Verdicts
		c.line("%d of %s differ: %d would go elsewhere, %d would stay pending, %d would find a node; %d the same, %d as good",
			len(a.Differ), counted(a.Judged, "judged pod"), v.Elsewhere, v.Pending, v.Placed, v.Same, v.AsGood)
		if a.NotJudged > 0 {
			c.line("not judged: %s, because of the limit, the time, or a scheduler that is not in the configuration", counted(a.NotJudged, "pod"))
		}
		for _, d := range a.Differ {
			c.line("%s: %s, %s instead of %s", d.Namespace+"/"+d.Name, word(d.Verdict), place(c, d.Shadow.Node), place(c, d.Live.Node))
			if p := d.PartedBy; p != nil {
				c.line("  because of %s in %s %s", p.Plugin, word(p.ExtensionPoint), strings.Join(p.Reasons, "; "))
			}
		}
		c.asked(a.State)
		return a, nil
	},
}

// pods returns those that have not ended; of all namespaces if namespace is empty.
func (c *call) pods(ctx context.Context, namespace string) ([]*v1.Pod, error) {
	all, err := list[*v1.Pod](ctx, c.cluster, v1.SchemeGroupVersion.WithKind("Pod"), namespace)
	return slices.DeleteFunc(all, func(p *v1.Pod) bool { return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed }), err
}

func list[T runtime.Object](ctx context.Context, cluster Cluster, gvk schema.GroupVersionKind, namespace string) ([]T, error) {
	all, err := cluster.List(ctx, gvk, namespace)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(all))
	for _, o := range all {
		if object, ok := o.(T); ok {
			out = append(out, object)
		}
	}
	return out, nil
}

func comparePods(a, b *v1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// compare asks about each pod under both configurations.
func (c *call) compare(ctx context.Context, pods []*v1.Pod, in comparisonQuestion) (*comparison, error) {
	out := &comparison{Differ: []difference{}}
	begun := time.Now()
	for i, pod := range pods {
		if time.Since(begun) > compareTime {
			out.NotJudged += len(pods) - i
			break
		}
		live, err := c.decide(ctx, pod, in.Against)
		if err != nil {
			return nil, err
		}
		other, err := c.decide(ctx, pod, in.Configuration)
		if err != nil {
			return nil, err
		}
		if live == nil || other == nil {
			out.NotJudged++
			continue
		}
		compared := shadow.Compare(live.Decisions[0].Cycle, other.Decisions[0].Cycle)
		out.State, out.Judged = other.State, out.Judged+1
		out.Verdicts.Add(compared.Verdict)
		if compared.Differs {
			out.Differ = append(out.Differ, difference{pod.Namespace, pod.Name, compared})
		}
	}
	return out, nil
}

// decide returns nil for a pod that is not judged: it has gone, or is for another scheduler.
func (c *call) decide(ctx context.Context, pod *v1.Pod, configuration string) (*hypothesis.WhatIfAnswer, error) {
	q := hypothesis.WhatIf{Question: hypothesis.Question{PodRef: &hypothesis.PodName{Namespace: pod.Namespace, Name: pod.Name}}}
	if configuration != "" {
		q.Configuration = hypothesis.Document(configuration)
	}
	a, err := c.cluster.WhatIf(ctx, q)
	switch {
	case skips(err):
		return nil, nil
	case err != nil:
		return nil, err
	case len(a.Decisions) == 0 || a.Turn != nil:
		return nil, nil
	}
	return a, nil
}
