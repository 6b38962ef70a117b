package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
)

type queueQuestion struct {
	Namespace string `json:"namespace,omitempty"`
	Workload  string `json:"workload,omitempty"`
	Manifest  string `json:"manifest,omitempty"`
}

// queued is the whole answer about one workload.
type queued struct {
	Waiting *admission.Pending `json:"waiting"`
	suggest.Answer
}

var askQueue = tool[queueQuestion]{
	name:  "ask_queue",
	title: "Ask the queue",
	description: "Why does this workload of Kueue still wait, and what would let it in? Use it when the pods of a job are suspended, gated or missing. " +
		"Without workload it lists what waits, queue by queue, each with its reason. Both need a running simulator that admits workloads as Kueue does. " +
		"With manifest, ask before a job is submitted: would its queue admit it now, why not, when would it start, and would its pods find nodes? That works with any cluster.",
	properties: map[string]*jsonschema.Schema{
		"namespace": name("Namespace of the workload. Default: default for a workload, all for the list."),
		"workload":  name("Name of the Workload object, such as job-train-1a2b3. The list has the names."),
		"manifest":  document("YAML or JSON of the jobs to ask about, in the order in which they would be submitted: Jobs, Pods, Deployments, StatefulSets, JobSets, LeaderWorkerSets, AppWrappers, and the PodGroups that come with them."),
	},
	without: true,
	answer: func(ctx context.Context, c *call, in queueQuestion) (any, error) {
		if in.Manifest != "" {
			return c.beforeSubmit(ctx, in)
		}
		queues := c.server.options.Queues
		if queues == nil {
			return nil, errors.New(c.server.options.Missing)
		}
		all, off, err := queues.Waiting(ctx)
		switch {
		case err != nil:
			return nil, err
		case off != "":
			return nil, errors.New(off)
		case in.Workload == "":
			all = slices.DeleteFunc(slices.Clone(all), func(p admission.Pending) bool { return in.Namespace != "" && p.Workload.Namespace != in.Namespace })
			c.line("%s waiting", counted(len(all), "workload"))
			for _, p := range all {
				c.waiting(p)
			}
			return all, nil
		}
		name := types.NamespacedName{Namespace: in.Namespace, Name: in.Workload}
		if name.Namespace == "" {
			name.Namespace = "default"
		}
		at := slices.IndexFunc(all, func(p admission.Pending) bool { return p.Workload.Key() == name })
		if at < 0 {
			return nil, fmt.Errorf("the workload %s does not wait: it was admitted, has ended, or does not exist", name)
		}
		suggested, err := queues.Suggest(ctx, name)
		if err != nil {
			return nil, err
		}
		c.waiting(all[at])
		c.suggestions(suggested)
		return queued{&all[at], suggested}, nil
	},
}

func (c *call) waiting(p admission.Pending) {
	c.line("%s in the LocalQueue %s, position %d of its ClusterQueue, priority %d: %s",
		p.Workload.Namespace+"/"+p.Workload.Name, p.LocalQueue, p.PositionInClusterQueue+1, p.Priority, p.Reason)
	if p.RequeueAt != nil {
		c.line("  tried again at %s", word(p.RequeueAt.UTC().Format(time.RFC3339)))
	}
}

func (c *call) suggestions(a suggest.Answer) {
	if a.Admits {
		c.line("it gets quota without any change, in one of the next cycles")
	}
	for i, s := range a.Suggestions {
		c.line("change %d: it would be admitted if %s", i+1, s.String())
	}
	if !a.Admits && len(a.Suggestions) == 0 {
		c.line("no single change of it, of quota or of what runs lets it in")
	}
	if !a.Complete {
		c.line("not everything was tried")
	}
}

// beforeSubmit asks what would become of jobs.
func (c *call) beforeSubmit(ctx context.Context, in queueQuestion) (any, error) {
	if in.Workload != "" {
		return nil, errors.New("ask about either a workload that waits or a manifest")
	}
	cluster, err := c.server.options.Open(ctx)
	if err != nil {
		return nil, err
	}
	answers, err := cluster.Submit(ctx, submit.Question{Objects: []hypothesis.Document{hypothesis.Document(in.Manifest)}, Namespace: in.Namespace})
	if err != nil {
		return nil, err
	}
	if len(answers.Items) > 1 {
		c.line("%s", answers.Sentence)
	}
	for _, a := range answers.Items {
		c.line("verdict %s: %s", string(a.Verdict), a.Sentence)
		for _, change := range a.Changes {
			c.line("  change: %s; %d of %d pods find nodes", change.Text, change.Fit, change.Pods)
		}
	}
	c.unjudged(answers.NotJudged)
	c.line("%s Asked of %s.", answers.Judged.Note, cluster.Name())
	return answers, nil
}
