package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/cluster/descheduler"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

// deschedule runs the descheduler's own plugins on the cluster, and evicts what they say as drain does.
type deschedule struct {
	Policy   policySource `yaml:"policy" doc:"The name of a file with a DeschedulerPolicy of descheduler/v1alpha2, or the policy itself."`
	Rounds   *int         `yaml:"rounds" doc:"How often the descheduler runs; 1 by default."`
	Interval *Duration    `yaml:"interval" doc:"How much of the cluster's time passes between two rounds; 5m by default."`

	place  *yaml.Node
	at     string
	policy *descheduler.Policy
}

const (
	maxRounds       = 1000
	defaultInterval = 5 * time.Minute
)

// policySource is the name of a file, or a policy.
type policySource struct {
	name   string
	place  *yaml.Node
	at     string
	inline []byte
}

func (p *policySource) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	p.place, p.at = n, at
	switch {
	case n.Kind == yaml.ScalarNode && n.Value != "":
		p.name = n.Value
	case n.Kind == yaml.MappingNode:
		var b bytes.Buffer
		if err := yaml.NewEncoder(&b).Encode(n); err != nil {
			d.Add(n, at, "%s", err)
			return
		}
		p.name, p.inline = fmt.Sprintf("line %d", n.Line), b.Bytes()
	default:
		d.Add(n, at, "want the name of a file, or a DeschedulerPolicy, not %s", yamlsource.Describe(n))
	}
}

func (d *deschedule) Decode(from *decoder.Decoder, n *yaml.Node, at string) {
	d.place, d.at = n, at
	from.Mapping(n, d, at)
}

func (d *deschedule) check(l *loader) {
	if d.Rounds != nil && (*d.Rounds < 1 || *d.Rounds > maxRounds) {
		l.Add(decoder.Locate(d.place, "rounds"), yamlsource.Child(d.at, "rounds"), "want a number from 1 to %d", maxRounds)
	}
	if d.Policy.place == nil {
		l.Add(d.place, d.at, "want a policy: the name of a file, or a DeschedulerPolicy")
		return
	}
	text, file := d.Policy.inline, l.File
	if text == nil {
		file = d.Policy.name
		if text = l.read(d.Policy.place, d.Policy.name); text == nil {
			return
		}
	}
	policy, err := descheduler.Read(l.Ctx, text)
	if wrong, is := errors.AsType[yamlsource.Errors](err); is {
		for _, m := range wrong {
			if m.File = file; d.Policy.inline != nil {
				m.Field = strings.TrimSuffix(d.Policy.at+"."+m.Field, ".")
				m.Line += d.Policy.place.Line - 1
			}
			l.List = append(l.List, m)
		}
		return
	}
	if err != nil {
		l.Add(d.Policy.place, d.Policy.at, "%s: %s", d.Policy.name, err)
		return
	}
	if policy.GracePeriodSeconds() != nil {
		l.Add(d.Policy.place, d.Policy.at, "%s: gracePeriodSeconds: in a scenario, a pod goes as its own terminationGracePeriodSeconds says; leave it out", d.Policy.name)
	}
	d.policy = policy
}

func (d *deschedule) describe() string { return d.Policy.name }

func (d *deschedule) run(r *run) (string, error) {
	rounds, interval := 1, defaultInterval
	if d.Rounds != nil {
		rounds = *d.Rounds
	}
	if d.Interval != nil {
		interval = d.Interval.Duration
	}
	evicted, refused := 0, 0
	var skipped, failed []string
	for i := range rounds {
		if i > 0 {
			if err := r.advance(interval); err != nil {
				return "", err
			}
		}
		c := &descheduled{r: r}
		if err := c.refresh(); err != nil {
			return "", err
		}
		report, err := d.policy.Run(r.ctx, c)
		if err != nil {
			return "", err
		}
		evicted, refused = evicted+c.evicted, refused+len(report.Refused)
		if report.Skipped != "" && !slices.Contains(skipped, report.Skipped) {
			skipped = append(skipped, report.Skipped)
		}
		for _, f := range report.Failed {
			failed = append(failed, f.Text)
		}
	}
	if len(failed) > 0 {
		return "", &UnmetError{"the descheduler failed: " + strings.Join(failed, "; ")}
	}
	said := fmt.Sprintf("%s evicted", Plural(evicted, "Pod"))
	if refused > 0 {
		said += fmt.Sprintf(", %s refused", Plural(refused, "eviction"))
	}
	if len(skipped) > 0 {
		said += ": " + strings.Join(skipped, "; ")
	}
	return said, nil
}

// descheduled is the cluster of a run as the descheduler sees it.
type descheduled struct {
	r       *run
	nodes   []*v1.Node
	pods    []*v1.Pod
	evicted int
}

var _ descheduler.Cluster = (*descheduled)(nil)

func (c *descheduled) refresh() (err error) {
	c.nodes, c.pods, err = c.r.cluster.State(c.r.ctx)
	return err
}

func (c *descheduled) Now() time.Time    { return c.r.cluster.Now() }
func (c *descheduled) Nodes() []*v1.Node { return c.nodes }
func (c *descheduled) Pods() []*v1.Pod   { return c.pods }

func (c *descheduled) List(ctx context.Context, gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	list, err := c.r.cluster.List(ctx, gvk)
	if err != nil {
		return nil, err
	}
	out := make([]runtime.Object, len(list))
	for i, o := range list {
		if u, untyped := o.(*unstructured.Unstructured); untyped {
			if o, err = scheme.Scheme.New(gvk); err == nil {
				err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o)
			}
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", gvk.Kind, u.GetName(), err)
			}
		}
		out[i] = o
	}
	return out, nil
}

// Evict returns when the replacement has been scheduled, or has found no node.
func (c *descheduled) Evict(_ context.Context, pod *v1.Pod, _ descheduler.Asked) (descheduler.Refusal, error) {
	by, never, err := evictUnless(c.r, pod)
	if err != nil || by != "" || never != "" {
		return descheduler.Refusal{Budget: by, Never: never}, err
	}
	c.evicted++
	return descheduler.Refusal{}, c.refresh()
}
