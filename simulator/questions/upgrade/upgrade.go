// Package upgrade compares the decisions of two versions of Kubernetes' scheduler, pod by pod, and says why they differ.
//
// Both versions decide in the same state. A pod that is placed is placed in both on the node that the older version chose. What
// differs is data: which plugin's verdicts or scores, and which feature gate or default. The random choice among nodes of an equal
// total is no difference: the sets of best nodes are compared.
//
// A cause is proven, or it says that it is not: the newer version's decision must become the older one's if one plugin answers as the older
// version's did, and a gate is named only if the decision becomes the older one's with that gate as the older version has it.
//
// It imports package versions, which runs the schedulers, and package feed, in whose form it takes the state of a moment. Where a state comes
// from is its caller's affair.
package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/scheduler/versions/wire"
)

// Step is a change of the state, or a decision. Exactly one field is set, not counting Place.
type Step struct {
	// Set is an object as encoding/json writes it, with its apiVersion and kind.
	Set    any
	Delete *wire.Reference
	// Allocate and Release are as in wire.Request.
	Allocate any
	Release  string
	// Decide is a pod, as Set. With Place, it is placed on the node that the older version chooses, if it chooses one.
	Decide []byte
	Place  bool
}

// Source yields the steps. Compare calls it several times, each time for the same steps. An error of do ends it, and is returned.
type Source func(ctx context.Context, do func(Step) error) error

// Class says how two decisions about a pod relate.
type Class string

const (
	// Same: both versions choose among the same nodes, or reject the pod for the same reasons.
	Same Class = "same"
	// Tie: the versions choose among different nodes of the best total, but share at least one.
	Tie Class = "tie"
	// Moved: the versions share no best node.
	Moved Class = "moved"
	// Lost: the pod fits in the older version only. Gained: in the newer one only.
	Lost   Class = "lost"
	Gained Class = "gained"
	// Reason: the pod fits in neither, for other reasons, or preemption nominates another node or evicts other pods.
	Reason Class = "reason"
)

// Classes lists all, in the order of a report.
func Classes() []Class { return []Class{Same, Tie, Moved, Lost, Gained, Reason} }

// Options say what to compare.
type Options struct {
	// From and To are minor versions; see versions.Minors. From may be the later one.
	From, To string
	// Configuration is a KubeSchedulerConfiguration; each version's default if it is empty.
	Configuration string
	// FromGates and ToGates set feature gates of one version.
	FromGates, ToGates map[string]bool
	// ToEmulates is an older minor version whose gates To has, as Kubernetes emulates it; empty for its own.
	ToEmulates string
	// Dir has the schedulers; by default the directory of this program.
	Dir string
	// Progress is called after each decision of the first pass, and then before the gates of each cause are looked for. It may be nil.
	Progress func(Progress)
	// decided is called in tests with each pair of decisions.
	decided func(before, after *wire.Decision)
	// start replaces versions.Start in tests.
	start func(context.Context, versions.Options) (*versions.Scheduler, error)
}

// Progress is how far a comparison is.
type Progress struct {
	// Decided is the number of decisions that both versions have made, of Decisions. Compare does not know the latter.
	Decided   int `json:"decided"`
	Decisions int `json:"decisions"`
	// Explained is the number of causes whose gates are known, of Causes. They come after the decisions.
	Explained int `json:"explained"`
	Causes    int `json:"causes"`
}

// Report is the comparison.
type Report struct {
	From Version `json:"from"`
	To   Version `json:"to"`
	// Pods counts the decisions.
	Pods int `json:"pods"`
	Counts
	// OtherSchedulers counts the decisions that were not compared, because the configuration has no profile for the pod.
	OtherSchedulers int `json:"otherSchedulers,omitempty"`
	// Causes are by class, those with the most pods first.
	Causes  []Cause `json:"causes"`
	Changes Changes `json:"configuration"`
}

// Counts has the number of decisions of each class.
type Counts struct {
	Same   int `json:"same"`
	Tie    int `json:"tie"`
	Moved  int `json:"moved"`
	Lost   int `json:"lost"`
	Gained int `json:"gained"`
	Reason int `json:"reason"`
}

// Of returns where the decisions of a class are counted.
func (c *Counts) Of(class Class) *int {
	switch class {
	case Same:
		return &c.Same
	case Tie:
		return &c.Tie
	case Moved:
		return &c.Moved
	case Lost:
		return &c.Lost
	case Gained:
		return &c.Gained
	case Reason:
		return &c.Reason
	}
	panic("no such class: " + class)
}

// Version is one side of a report.
type Version struct {
	Minor   string `json:"minor"`
	Version string `json:"version"`
	// Ignored lists what this version does not know about the objects.
	Ignored []Ignored `json:"ignored,omitempty"`
	// IgnoredFurther counts what is not listed.
	IgnoredFurther int `json:"ignoredFurther,omitempty"`
}

// Ignored is a kind that a version does not have or reads in another apiVersion only, or the field of a kind.
type Ignored struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Path       string         `json:"path,omitempty"`
	ReadAs     string         `json:"readAs,omitempty"`
	Times      int            `json:"times"`
	Example    wire.Reference `json:"example"`
}

// Cause is why pods of one class differ.
type Cause struct {
	Class Class `json:"class"`
	// Plugins differ. One alone explains the difference, unless there are several; there are none if the plugins agree.
	Plugins []string `json:"plugins,omitempty"`
	// Point is filter, score, preFilter or postFilter.
	Point string `json:"point,omitempty"`
	// Before and After are what the plugin said about the node in question, if it rejected it.
	Before *wire.Status `json:"before,omitempty"`
	After  *wire.Status `json:"after,omitempty"`
	// Proven: with the older version's answers of these plugins, the newer version's decision becomes the older one's.
	Proven bool `json:"proven"`
	// Gates are the feature gates that make the difference: all of them set as in the older version, the example's decision becomes the
	// older one's. If there are none, no gate guards it, or one that cannot be changed any more.
	Gates []string `json:"gates,omitempty"`
	// GatesNotAsked: there were more causes than MaxAsked, and gates were asked about others, which have more pods.
	GatesNotAsked bool `json:"gatesNotAsked,omitempty"`
	// Pods counts the decisions, and Example is one. The first MaxListed are Listed.
	Pods    int     `json:"pods"`
	Example Example `json:"example"`
	Listed  []Case  `json:"listed"`
}

// MaxListed bounds Cause.Listed.
const MaxListed = 100

// Case is a pair of decisions in short.
type Case struct {
	At        int    `json:"at"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Before and After are one of the best nodes, or the node that preemption nominates; empty if there is none.
	Before string `json:"before"`
	After  string `json:"after"`
}

// nodeOf is the node of a decision for people.
func nodeOf(d *wire.Decision) string {
	switch {
	case len(d.Best) > 0:
		return d.Best[0]
	case d.Preemption != nil:
		return d.Preemption.Node
	}
	return ""
}

// MaxAsked bounds the causes whose gates are looked for.
const MaxAsked = 20

// Example is a pair of decisions about a pod.
type Example struct {
	// At is the number of the decision, from 0.
	At     int            `json:"at"`
	Pod    wire.Reference `json:"pod"`
	Before *wire.Decision `json:"before"`
	After  *wire.Decision `json:"after"`
}

// Compare decides every pod of the source with both versions. The error may be one of package versions', or the source's.
func Compare(ctx context.Context, source Source, options Options) (*Report, error) {
	if options.start == nil {
		options.start = versions.Start
	}
	c := &comparison{options: options, causes: map[string]*Cause{}, requires: map[string][]string{}, profiles: map[string]bool{}}
	ours := c.ours(source)
	if err := c.decide(ctx, ours); err != nil {
		return nil, err
	}
	c.report.OtherSchedulers = c.others
	c.report.Causes = c.sorted()
	if err := c.nameGates(ctx, ours); err != nil {
		return nil, err
	}
	return &c.report, nil
}

type comparison struct {
	options Options
	report  Report
	// causes are by what they say.
	causes map[string]*Cause
	// placed are the nodes of the decisions that were placed, in their order; empty for those that were not.
	placed []string
	// gates are those whose values differ, with the older version's value.
	gates map[string]bool
	// requires are the gates that must be on if a gate of the newer version is, and that may be switched off.
	requires map[string][]string
	// profiles are the names of the configuration's profiles.
	profiles map[string]bool
	// others counts the latest pass' decisions that no profile makes.
	others int
}

// ours leaves out the decisions that no profile makes.
func (c *comparison) ours(source Source) Source {
	return func(ctx context.Context, do func(Step) error) error {
		c.others = 0
		return source(ctx, func(s Step) error {
			if s.Decide != nil {
				var pod struct {
					Spec struct{ SchedulerName string }
				}
				if err := json.Unmarshal(s.Decide, &pod); err != nil {
					return fmt.Errorf("reading a pod: %w", err)
				}
				if !c.profiles[pod.Spec.SchedulerName] {
					c.others++
					return nil
				}
			}
			return do(s)
		})
	}
}

// pair is both versions at work.
type pair struct{ from, to *versions.Scheduler }

func (p *pair) both(do func(*versions.Scheduler) error) error {
	var group errgroup.Group
	group.Go(func() error { return do(p.from) })
	group.Go(func() error { return do(p.to) })
	return group.Wait()
}

// close ends both schedulers, those that have not finished.
func (p *pair) close() {
	for _, s := range []*versions.Scheduler{p.from, p.to} {
		if s != nil {
			s.Close()
		}
	}
}

// older starts the older version, and newer the newer one with further gates.
func (c *comparison) older(ctx context.Context) (*versions.Scheduler, error) {
	return c.begin(ctx, c.options.From, wire.Begin{Gates: c.options.FromGates})
}

func (c *comparison) newer(ctx context.Context, gates map[string]bool) (*versions.Scheduler, error) {
	all := map[string]bool{}
	maps.Copy(all, c.options.ToGates)
	maps.Copy(all, gates)
	return c.begin(ctx, c.options.To, wire.Begin{Gates: all, Emulate: c.options.ToEmulates})
}

func (c *comparison) begin(ctx context.Context, minor string, b wire.Begin) (*versions.Scheduler, error) {
	b.Configuration = c.options.Configuration
	return c.options.start(ctx, versions.Options{Minor: minor, Dir: c.options.Dir, Begin: b})
}

// decide makes all decisions, and gathers the causes.
func (c *comparison) decide(ctx context.Context, source Source) (err error) {
	var p pair
	defer p.close()
	if p.from, err = c.older(ctx); err != nil {
		return err
	}
	if p.to, err = c.newer(ctx, nil); err != nil {
		return err
	}
	for _, profile := range p.from.Started().Profiles {
		c.profiles[profile.Name] = true
	}
	c.report.Changes = changesOf(p.from.Started(), p.to.Started())
	c.gates = gatesOf(p.from.Started(), p.to.Started())
	for _, g := range p.to.Started().Gates {
		if !g.Locked && len(g.Requires) > 0 {
			c.requires[g.Name] = g.Requires
		}
	}
	err = source(ctx, func(s Step) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.Decide == nil {
			return p.both(func(v *versions.Scheduler) error { return apply(v, s) })
		}
		return c.compare(&p, s)
	})
	if err != nil {
		return c.ended(ctx, err)
	}
	if err := p.both((*versions.Scheduler).Finish); err != nil {
		return c.ended(ctx, err)
	}
	c.report.From, c.report.To = sideOf(p.from), sideOf(p.to)
	return nil
}

// ended returns ctx's error if that ended the schedulers.
func (c *comparison) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func sideOf(s *versions.Scheduler) Version {
	ignored, further := s.Ignored()
	out := Version{Minor: s.Started().Minor, Version: s.Started().Version, IgnoredFurther: further}
	for what, count := range ignored {
		out.Ignored = append(out.Ignored, Ignored{what.APIVersion, what.Kind, what.Path, what.ReadAs, count.Times, count.Example})
	}
	slices.SortFunc(out.Ignored, func(a, b Ignored) int {
		return strings.Compare(a.APIVersion+a.Kind+"\x00"+a.Path, b.APIVersion+b.Kind+"\x00"+b.Path)
	})
	return out
}

func apply(v *versions.Scheduler, s Step) error {
	switch {
	case s.Set != nil:
		return v.Set(s.Set)
	case s.Delete != nil:
		return v.Delete(*s.Delete)
	case s.Allocate != nil:
		return v.Allocate(s.Allocate)
	case s.Release != "":
		return v.Release(s.Release)
	}
	return errors.New("a step of no kind")
}

// ask asks both versions about a pod.
func (p *pair) ask(d wire.Decide) (before, after *wire.Decision, err error) {
	err = p.both(func(v *versions.Scheduler) error {
		decision, err := v.Decide(d)
		if v == p.from {
			before = decision
		} else {
			after = decision
		}
		return err
	})
	return before, after, err
}

func (c *comparison) compare(p *pair, s Step) error {
	before, after, err := p.ask(wire.Decide{Pod: s.Decide, Table: true})
	if err != nil {
		return err
	}
	full := func() error {
		// In the same state, they tell all.
		before, after, err = p.ask(wire.Decide{Pod: s.Decide, Table: true, Full: true, Every: true})
		return err
	}
	class, cause := Same, Cause{}
	switch {
	case agree(before, after):
	case scoredAlike(before.Table, after.Table):
		class, cause = byScores(before.Table, after.Table)
	default:
		if err := full(); err != nil {
			return err
		}
		if class = classOf(before, after); class != Same {
			cause = causeOf(class, before, after)
		}
	}
	*c.report.Of(class)++
	if c.options.decided != nil {
		c.options.decided(before, after)
	}
	if class != Same {
		if c.isNew(cause) && before.Scores == nil {
			if err := full(); err != nil {
				return err
			}
		}
		c.add(cause, Example{At: c.report.Pods, Pod: before.Pod, Before: before, After: after})
	}
	c.report.Pods++
	node := ""
	if s.Place && len(before.Best) > 0 {
		node = before.Best[0]
		if err := p.both(func(v *versions.Scheduler) error { _, err := v.Place(wire.Place{Node: node}); return err }); err != nil {
			return err
		}
	}
	c.placed = append(c.placed, node)
	if c.options.Progress != nil {
		c.options.Progress(Progress{Decided: c.report.Pods + c.others})
	}
	return nil
}

// agree reports whether two decisions that are not full are of class Same, as far as they tell.
func agree(a, b *wire.Decision) bool {
	if len(a.Best) > 0 || len(b.Best) > 0 {
		return a.BestDigest == b.BestDigest && a.BestCount == b.BestCount
	}
	return a.Digest == b.Digest && samePreemption(a.Preemption, b.Preemption)
}

func samePreemption(a, b *wire.Preemption) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Node == b.Node && slices.EqualFunc(a.Victims, b.Victims, func(x, y wire.Reference) bool { return x.Namespace == y.Namespace && x.Name == y.Name })
}

// classOf compares two full decisions.
func classOf(a, b *wire.Decision) Class {
	switch {
	case len(a.Best) > 0 && len(b.Best) == 0:
		return Lost
	case len(a.Best) == 0 && len(b.Best) > 0:
		return Gained
	case len(a.Best) == 0:
		if samePreemption(a.Preemption, b.Preemption) && sameReasons(a, b) {
			return Same
		}
		return Reason
	case a.BestDigest == b.BestDigest && a.BestCount == b.BestCount:
		return Same
	}
	for _, node := range a.Best {
		if slices.Contains(b.Best, node) {
			return Tie
		}
	}
	return Moved
}

// short leaves out what the scores say again.
func (e Example) short() Example {
	before, after := *e.Before, *e.After
	before.Table, after.Table = nil, nil
	e.Before, e.After = &before, &after
	return e
}

// isNew reports whether no decision has had a cause yet.
func (c *comparison) isNew(cause Cause) bool { return c.causes[cause.key()] == nil }

// add counts a decision under its cause.
func (c *comparison) add(cause Cause, example Example) {
	found := c.causes[cause.key()]
	if found == nil {
		cause.Example = example.short()
		found = &cause
		c.causes[cause.key()] = found
	}
	if found.Pods++; len(found.Listed) < MaxListed {
		found.Listed = append(found.Listed, Case{example.At, example.Pod.Namespace, example.Pod.Name, nodeOf(example.Before), nodeOf(example.After)})
	}
}

// key is the same for equal causes.
func (c *Cause) key() string {
	return fmt.Sprintf("%s|%s|%s|%t|%v|%v", c.Class, c.Point, strings.Join(c.Plugins, ","), c.Proven, valueOf(c.Before), valueOf(c.After))
}

func valueOf(s *wire.Status) wire.Status {
	if s == nil {
		return wire.Status{}
	}
	return *s
}

// sorted returns the causes by class, the most pods first.
func (c *comparison) sorted() []Cause {
	out := make([]Cause, 0, len(c.causes))
	for _, cause := range c.causes {
		out = append(out, *cause)
	}
	classes := Classes()
	slices.SortFunc(out, func(a, b Cause) int {
		if a.Class != b.Class {
			return slices.Index(classes, a.Class) - slices.Index(classes, b.Class)
		}
		if a.Pods != b.Pods {
			return b.Pods - a.Pods
		}
		return a.Example.At - b.Example.At
	})
	return out
}
