package deschedule

import (
	"context"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	resourcehelper "k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/cluster/descheduler"
	"kube-scheduler-simulator/simulator/questions/disruption"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Ask answers a question. Errors about the question are a *hypothesis.Refused.
func Ask(ctx context.Context, c Cluster, q Question) (*Answer, error) {
	begun := time.Now()
	policy, err := q.complete(ctx)
	if err != nil {
		return nil, err
	}
	w, err := disruption.Read(ctx, c)
	if err != nil {
		return nil, err
	}
	if f, has := c.(Finisher); has {
		w.Add(f.Finished()...)
	}
	g := c.Grounds()
	a := &Answer{
		APIVersion: APIVersion, Kind: Kind, Rounds: []Round{}, Evictions: []Eviction{}, Refused: []Refused{}, Protected: []Protected{}, DryRun: []DryRunEviction{},
		Nodes: []Node{}, NotJudged: append([]why.NotJudged{}, g.Missing...),
		Judged: Judged{
			Cluster: g.Cluster, Scheduler: g.Version, Descheduler: descheduler.Version, Plugins: policy.Enabled(), At: metav1.NewTime(begun.UTC().Truncate(time.Second)),
			Nodes: len(w.Nodes), Pods: len(w.Pods), IntervalSeconds: q.IntervalSeconds, StartSeconds: q.StartSeconds, StopSeconds: q.StopSeconds,
			Note: "A preview in virtual time: nothing was evicted.",
		},
	}
	for _, text := range policy.Ignored {
		a.NotJudged = append(a.NotJudged, why.NotJudged{What: "policy", Text: text})
	}
	err = c.Try(ctx, func(ctx context.Context, t *whatif.Trial) error {
		p := &play{
			Play: disruption.New(w, t, disruption.Assumed{StartSeconds: q.StartSeconds, StopSeconds: q.StopSeconds}), begun: t.Now(), cluster: c, world: w, answer: a, policy: policy,
		}
		dry := &dryRun{play: p, pods: slices.Clone(w.Pods), answer: a}
		if _, err := policy.Run(ctx, dry); err != nil {
			return err
		}
		for i := range q.Rounds {
			p.Then(i*q.IntervalSeconds, p.round)
		}
		if err := p.Run(ctx); err != nil {
			return err
		}
		p.conclude()
		return nil
	})
	if err != nil {
		return nil, refusedPolicy(err)
	}
	a.Judged.Seconds = time.Since(begun).Seconds()
	return a, nil
}

// play is the rounds of a descheduler while they are played. It is the cluster that the descheduler runs on.
type play struct {
	*disruption.Play
	begun   time.Time
	cluster Cluster
	world   *disruption.World
	answer  *Answer
	policy  *descheduler.Policy
	made    []*made
	// chance are the plugins that chose by chance.
	chance []string
}

var _ descheduler.Cluster = (*play)(nil)

// made is an eviction of the descheduler.
type made struct {
	*disruption.Eviction
	round int
	asked descheduler.Asked
}

// Now implements descheduler.Cluster.
func (p *play) Now() time.Time { return p.begun.Add(time.Duration(p.Play.Now()) * time.Second) }

// Nodes implements descheduler.Cluster.
func (p *play) Nodes() []*v1.Node { return p.world.Nodes }

// List implements descheduler.Cluster.
func (p *play) List(ctx context.Context, gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	return p.cluster.List(ctx, gvk, metav1.NamespaceAll)
}

// Evict implements descheduler.Cluster. The replacement is scheduled before it returns.
func (p *play) Evict(ctx context.Context, pod *v1.Pod, asked descheduler.Asked) (descheduler.Refusal, error) {
	target := p.Pod(pod.Namespace, pod.Name)
	if target == nil {
		return descheduler.Refusal{Never: "The pod has gone."}, nil
	}
	if target.Leaving() {
		return descheduler.Refusal{}, nil
	}
	e := p.Ask(target.Pod)
	by, never := p.Refusal(target)
	if by != "" {
		p.Wait(e, by)
	}
	if by != "" || never != "" {
		return descheduler.Refusal{Budget: by, Never: never}, nil
	}
	target.Grace = asked.GracePeriodSeconds
	p.made = append(p.made, &made{e, len(p.answer.Rounds), asked})
	if err := p.Remove(ctx, target, e, func() {}); err != nil {
		return descheduler.Refusal{}, err
	}
	return descheduler.Refusal{}, p.Settle(ctx)
}

// round runs the descheduler once.
func (p *play) round(ctx context.Context) error {
	a := p.answer
	a.Rounds = append(a.Rounds, Round{At: p.Play.Now()})
	number, before := len(a.Rounds), len(p.made)
	report, err := p.policy.Run(ctx, p)
	if err != nil {
		return err
	}
	r := &a.Rounds[number-1]
	r.Evicted, r.Skipped = len(p.made)-before, report.Skipped
	for _, f := range report.Failed {
		r.Failed = append(r.Failed, strings.TrimPrefix(f.Profile+": "+f.Text, ": "))
	}
	for _, one := range report.Refused {
		a.Refused = append(a.Refused, Refused{number, one.Profile, one.Plugin, one.Pod.Namespace, one.Pod.Name, one.Pod.Spec.NodeName, one.By, one.Text})
	}
	for _, plugin := range report.Chance {
		if !slices.Contains(p.chance, plugin) {
			p.chance = append(p.chance, plugin)
		}
	}
	if number == 1 {
		a.Protected = protected(report.Protected)
	}
	return nil
}

// protected groups pods by why they are kept; the most first.
func protected(all []descheduler.Protected) []Protected {
	out := []Protected{}
	for _, one := range all {
		for _, text := range one.Reasons {
			at := slices.IndexFunc(out, func(p Protected) bool { return p.Text == text })
			if at < 0 {
				at, out = len(out), append(out, Protected{Text: text})
			}
			if out[at].Count++; len(out[at].Pods) < maxProtected {
				out[at].Pods = append(out[at].Pods, one.Pod.Namespace+"/"+one.Pod.Name)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y Protected) int { return y.Count - x.Count })
	return out
}

// dryRun is the cluster on which the descheduler's own dry run runs: a pod that is evicted goes, and nothing else happens.
type dryRun struct {
	*play
	pods   []*v1.Pod
	answer *Answer
}

var _ descheduler.Cluster = (*dryRun)(nil)

// Pods implements descheduler.Cluster.
func (d *dryRun) Pods() []*v1.Pod { return d.pods }

// Evict implements descheduler.Cluster.
func (d *dryRun) Evict(_ context.Context, pod *v1.Pod, asked descheduler.Asked) (descheduler.Refusal, error) {
	d.pods = slices.DeleteFunc(slices.Clone(d.pods), func(p *v1.Pod) bool { return p == pod })
	d.answer.DryRun = append(d.answer.DryRun, DryRunEviction{Profile: asked.Profile, Plugin: asked.Plugin, Namespace: pod.Namespace, Name: pod.Name, Node: pod.Spec.NodeName})
	return descheduler.Refusal{}, nil
}

// conclude fills in the answer when nothing happens any more.
func (p *play) conclude() {
	a := p.answer
	s := &a.Summary
	var asked []*disruption.Eviction
	for _, m := range p.made {
		asked = append(asked, m.Eviction)
	}
	outcome := p.Conclude(asked)
	for _, m := range p.made {
		a.Evictions = append(a.Evictions, Eviction{m.round, m.asked.Profile, m.asked.Plugin, m.asked.Reason, *m.Eviction})
	}
	for _, e := range outcome.Preempted {
		round := 0
		for i, r := range a.Rounds {
			if r.At <= e.Asked {
				round = i + 1
			}
		}
		a.Evictions = append(a.Evictions, Eviction{Round: round, Eviction: *e})
	}
	s.Evicted, s.Preempted, s.Refused, s.DryRun = len(p.made), len(outcome.Preempted), len(a.Refused), len(a.DryRun)
	for _, e := range a.Evictions {
		switch {
		case e.Fate == disruption.Pending:
			s.Pending++
		case e.Fate == disruption.Gone:
			s.Gone++
		case e.Fate == disruption.Ended:
			s.Ended++
		case e.To == e.Node:
			s.Back++
		default:
			s.Moved++
		}
		if e.Ready != nil {
			s.Seconds = max(s.Seconds, *e.Ready)
		}
	}
	s.Settles = a.Rounds[len(a.Rounds)-1].Evicted == 0
	p.compare()
	p.compareNodes()
	a.Budgets = outcome.Budgets
	if outcome.NotJudged != nil {
		a.NotJudged = append(a.NotJudged, *outcome.NotJudged)
	}
	for _, plugin := range p.chance {
		a.NotJudged = append(a.NotJudged, why.NotJudged{What: "chance", Text: plugin + " chooses by chance among domains of one size, so a run may evict other pods: this is the first of its choices by name."})
	}
	a.Sentence = a.sentence()
}

// compare compares the first round with the dry run.
func (p *play) compare() {
	a := p.answer
	first := map[string]bool{}
	for _, m := range p.made {
		if m.round == 1 {
			first[m.Namespace+"/"+m.Name] = true
		}
	}
	missed := len(first)
	for i := range a.DryRun {
		one := &a.DryRun[i]
		if one.Made = first[one.Namespace+"/"+one.Name]; one.Made {
			missed--
		} else {
			a.Summary.Differs++
		}
	}
	a.Summary.Differs += missed
}

// compareNodes says what the nodes were, and are.
func (p *play) compareNodes() {
	before, after := byNode(p.world.Pods), byNode(p.Pods())
	emptied := map[string]bool{}
	for _, n := range p.world.Nodes {
		p.answer.Nodes = append(p.answer.Nodes, Node{n.Name, useOf(n, before[n.Name]), useOf(n, after[n.Name])})
		if emptied[n.Name] = !isEmpty(before[n.Name]) && isEmpty(after[n.Name]); emptied[n.Name] {
			p.answer.Summary.Emptied++
		}
	}
	p.answer.Cost = p.world.Cost(func(name string) bool { return emptied[name] })
}

// byNode has the pods that hold room.
func byNode(pods []*v1.Pod) map[string][]*v1.Pod {
	out := map[string][]*v1.Pod{}
	for _, p := range pods {
		if p.Spec.NodeName != "" && !podutil.IsPodTerminal(p) {
			out[p.Spec.NodeName] = append(out[p.Spec.NodeName], p)
		}
	}
	return out
}

func isEmpty(pods []*v1.Pod) bool {
	return !slices.ContainsFunc(pods, func(p *v1.Pod) bool {
		owner := metav1.GetControllerOf(p)
		return owner == nil || owner.Kind != "DaemonSet"
	})
}

func useOf(n *v1.Node, pods []*v1.Pod) Use {
	u := Use{Pods: len(pods)}
	percent := func(name v1.ResourceName) *float64 {
		total := n.Status.Allocatable[name]
		if total.IsZero() {
			return nil
		}
		asked := total.DeepCopy()
		asked.Sub(total)
		for _, p := range pods {
			asked.Add(resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{})[name])
		}
		return new(100 * asked.AsApproximateFloat64() / total.AsApproximateFloat64())
	}
	u.CPU, u.Memory = percent(v1.ResourceCPU), percent(v1.ResourceMemory)
	return u
}
