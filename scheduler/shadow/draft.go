package shadow

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Draft is a judgement of a configuration that runs nowhere.
type Draft struct {
	// State is the newest pod's.
	State whatif.State `json:"state"`
	Judgement
	// Complete is false when time ran out.
	Complete bool `json:"complete"`
}

// Drafts judges the drafts of a configuration that a user is editing, one at a time. It keeps the
// decisions that it asked for until the state changes. So a judgement that ran out of time continues
// where it stopped, and drafts that differ only in the weights of Score plugins share decisions:
// Drafts then adds up the totals again. That is exact, because a weight changes neither which nodes
// are feasible nor how a plugin scores them. Any goroutine may call its methods.
type Drafts struct {
	engine *whatif.Engine
	// turn is held by the judgement that is being made. Its owner owns the rest.
	turn chan struct{}
	// kept is ordered, the latest one first.
	kept []*decided
	// idle fires when no draft has come for a while.
	idle *time.Timer
}

const (
	// maxKept is how many configurations keep their decisions: the running one and two drafts.
	maxKept = 3
	// keepFor is how long they keep them after the last draft.
	keepFor = 5 * time.Minute
)

// decided are decisions of one configuration about one state.
type decided struct {
	// configuration was asked. rest and weights are what config.Unweighed makes of it.
	configuration, rest *schedulerconfig.KubeSchedulerConfiguration
	weights             map[string]map[string]int64
	// moment is nil if the decisions are about several states.
	moment *whatif.Moment
	of     map[types.UID]*outcome
}

// outcome is what one configuration decides about a pod.
type outcome struct {
	// cycle has what a comparison reads. It is nil if the pod, or one with its UID, does not exist.
	cycle *result.Cycle
	state whatif.State
	// foreign: no profile decides about the pod.
	foreign bool
}

// NewDrafts returns a judge of drafts, which asks the engine.
func NewDrafts(engine *whatif.Engine) *Drafts {
	return &Drafts{engine: engine, turn: make(chan struct{}, 1)}
}

// Judge asks where pods would go under a draft and under the running configuration, the items'
// live side. It judges each pod on the present state, as if that pod alone were not placed. So the
// answer says what the draft would change now; it does not repeat past decisions.
//
// summaries are those of earlier decisions, newest first. Judge judges a pod once, for its newest
// decision, leaves out pods that no longer exist, and begins no decision when the time is over.
// The errors are those of whatif.Engine.Ask about configurations, and ctx's.
func (d *Drafts) Judge(ctx context.Context, draft, running *schedulerconfig.KubeSchedulerConfiguration, summaries []result.Summary, within time.Duration) (*Draft, error) {
	select {
	case d.turn <- struct{}{}:
		defer d.end()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	over, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	live, liveWeights, err := d.find(ctx, running)
	if err != nil {
		return nil, err
	}
	drafted, draftWeights, err := d.find(ctx, draft)
	if err != nil {
		return nil, err
	}
	out := &Draft{Complete: true, Judgement: Judgement{Items: []Item{}}}
	seen := map[types.UID]bool{}
	for i := range summaries {
		s := &summaries[i]
		if seen[s.Pod.UID] {
			continue
		}
		seen[s.Pod.UID] = true
		before, err := d.decide(ctx, over, live, s.Pod)
		if err != nil {
			return nil, err
		}
		if before != nil && (before.cycle == nil || before.foreign) {
			continue
		}
		after, err := d.decide(ctx, over, drafted, s.Pod)
		if err != nil {
			return nil, err
		}
		if before == nil || after == nil {
			out.Complete = false
			break
		}
		if after.cycle == nil { // the pod has gone since
			continue
		}
		if out.Judged == 0 {
			out.State = after.state
		}
		side := newSide(before.cycle)
		l, a := side.weighed(liveWeights), side
		if after != before {
			a = newSide(after.cycle)
		}
		a = a.weighed(draftWeights)
		out.add(Item{
			Pod: l.Pod, Owner: s.Owner, Attempt: s.Attempt, Time: s.StartTime, Profile: l.Profile,
			Comparison: compare(l, a),
		})
	}
	return out, nil
}

// end lets the next judgement begin.
func (d *Drafts) end() {
	if d.idle != nil {
		d.idle.Stop()
	}
	d.idle = time.AfterFunc(keepFor, d.forget)
	<-d.turn
}

// forget drops the decisions, unless a judgement is being made.
func (d *Drafts) forget() {
	select {
	case d.turn <- struct{}{}:
		d.kept = nil
		<-d.turn
	default:
	}
}

// find returns the decisions of a configuration, without those about an earlier state, and with
// the weights that the configuration gives.
func (d *Drafts) find(ctx context.Context, c *schedulerconfig.KubeSchedulerConfiguration) (*decided, map[string]map[string]int64, error) {
	rest, weights := config.Unweighed(c)
	at := slices.IndexFunc(d.kept, func(k *decided) bool {
		return scoresAll(k.weights, weights) && equality.Semantic.DeepEqual(k.rest, rest)
	})
	k := &decided{configuration: c.DeepCopy(), rest: rest, weights: weights}
	if at >= 0 {
		k = d.kept[at]
		d.kept = slices.Delete(d.kept, at, at+1)
	}
	var moment *whatif.Moment
	err := d.engine.Try(ctx, k.configuration, func(_ context.Context, t *whatif.Trial) error {
		moment = t.Moment()
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if k.moment != moment {
		k.moment, k.of = moment, map[types.UID]*outcome{}
	}
	d.kept = slices.Insert(d.kept, 0, k)
	d.kept = d.kept[:min(len(d.kept), maxKept)]
	return k, weights, nil
}

// scoresAll reports whether every plugin of wanted scores under the weights, too. A profile in which
// nothing scores is like no other: the scheduler then takes the first node that fits.
func scoresAll(weights, wanted map[string]map[string]int64) bool {
	for profile, plugins := range wanted {
		if (len(plugins) == 0) != (len(weights[profile]) == 0) {
			return false
		}
		for plugin := range plugins {
			if _, scores := weights[profile][plugin]; !scores {
				return false
			}
		}
	}
	return len(weights) == len(wanted)
}

// decide returns what the configuration decides about a pod; nil if that is not known and the time
// is over.
func (d *Drafts) decide(ctx, over context.Context, k *decided, pod result.Pod) (*outcome, error) {
	if known := k.of[pod.UID]; known != nil {
		return known, nil
	}
	if over.Err() != nil {
		return nil, ctx.Err()
	}
	var answer *whatif.Answer
	err := d.engine.Try(ctx, k.configuration, func(ctx context.Context, t *whatif.Trial) (err error) {
		if t.Moment() != k.moment {
			k.moment = nil // the next judgement starts over
		}
		answer, err = t.Answer(ctx, whatif.Question{PodRef: &types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}})
		return err
	})
	made := &outcome{}
	if unknown, ok := errors.AsType[*whatif.ProfileError](err); ok {
		made = &outcome{cycle: &result.Cycle{Summary: result.Summary{Pod: pod, Message: unknown.Error()}}, foreign: true}
	} else if _, ok := errors.AsType[*whatif.NotFoundError](err); !ok {
		if err != nil {
			return nil, err
		}
		if cycle := answer.Decisions[0]; cycle.Pod.UID == pod.UID {
			made = &outcome{cycle: essence(cycle), state: answer.State}
		}
	}
	k.of[pod.UID] = made
	return made, nil
}

// essence returns what a comparison reads, so that the rest need not be kept.
func essence(c *result.Cycle) *result.Cycle {
	out := &result.Cycle{Summary: c.Summary, PreFilter: c.PreFilter}
	if f := c.Filter; f != nil {
		out.Filter = &result.Filter{Plugins: f.Plugins, Nodes: f.Nodes, Verdicts: f.Verdicts, VerdictOf: f.VerdictOf}
	}
	if s := c.Score; s != nil {
		out.Score = &result.Score{Plugins: s.Plugins, Nodes: s.Nodes, Normalized: s.Normalized, Weighted: s.Weighted, Totals: s.Totals}
	}
	return out
}

// weighed returns the side with the totals, and the choice, that the weights of its profile give.
func (s *side) weighed(weights map[string]map[string]int64) *side {
	of, known := weights[s.Profile]
	if s.Score == nil || !known {
		return s
	}
	score := &result.Score{Nodes: s.Score.Nodes}
	totals := make([]int64, score.Nodes.Len())
	for column, plugin := range s.Score.Plugins {
		weight, scores := of[plugin.Name]
		if !scores {
			continue
		}
		weighted := make([]int64, len(totals))
		for i := range totals {
			weighted[i] = s.Score.Normalized[column].At(i) * weight
			totals[i] += weighted[i]
		}
		score.Plugins = append(score.Plugins, result.ScorePlugin{Name: plugin.Name, Weight: weight})
		score.Weighted = append(score.Weighted, result.NewColumn(weighted))
	}
	out, cycle := *s, *s.Cycle
	out.Cycle, cycle.Score = &cycle, score
	// A hypothetical decision asks no extender, and takes the first of the best by name.
	chosen, most := "", int64(0)
	for i, node := range score.Nodes.All() {
		if chosen == "" || totals[i] > most || totals[i] == most && node < chosen {
			chosen, most = node, totals[i]
		}
	}
	cycle.SelectedNode, score.Totals = chosen, result.NewColumn(totals)
	return &out
}
