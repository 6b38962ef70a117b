package admission

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestReasonsHold makes random queues, lets cycles decide, and for each reason that the ledger or the list of pending workloads
// gives performs the experiment that could refute it, on a copy. A kind of reason without an experiment fails by name.
func TestReasonsHold(t *testing.T) {
	worlds := 2000
	if testing.Short() {
		worlds = 150
	}
	tried, moments := map[Kind]int{}, map[Kind]int{}
	for seed := range worlds {
		j := &judge{T: t, seed: uint64(seed), tried: tried, moments: moments}
		j.play()
		if t.Failed() {
			return
		}
	}
	for _, kind := range Kinds() {
		if _, theirs := kind.(Reported); theirs {
			continue // another Kueue says that
		}
		t.Logf("%s: %d, %d experiments not made alone", KindOf(kind), tried[KindOf(kind)], moments[KindOf(kind)])
		if experiments[KindOf(kind)] == nil {
			t.Errorf("no experiment can refute %s", KindOf(kind))
		} else if tried[KindOf(kind)] == 0 && unreached[KindOf(kind)] == "" {
			t.Errorf("no world of this test made the reason %s", KindOf(kind))
		}
	}
}

// unreached are the kinds that no random world makes, and why.
var unreached = map[Kind]string{
	"LocalQueueInactive":     "nothing gives it: a workload of an inactive ClusterQueue says which",
	"FlavorMissing":          "a ClusterQueue that names a missing flavor is inactive, so no cycle tries it",
	"NoFlavors":              "its parts are tried, each where it stands",
	"OutsideLimitRange":      "the worlds have no LimitRange; facts.txt has one",
	"TopologyRequestInvalid": "a request that contradicts itself is refused when it is written; topology.txt has one",
}

// judge plays one random world and refutes what is said in it.
type judge struct {
	*testing.T
	seed  uint64
	tried map[Kind]int
	// moments counts experiments that could not be made alone.
	moments map[Kind]int
	lines   []string
}

// statement is a reason where it was given.
type statement struct {
	Reason
	// before is the State of which it speaks, and now when.
	before *State
	now    time.Time
	key    types.NamespacedName
	// podSet and flavor are those of a trial; "" for what is said of the whole workload.
	podSet, flavor string
	earlier        map[v1.ResourceName]int64
	head           *Head
	others         []Head
}

func (j *judge) refuted(s statement, format string, args ...any) {
	j.Helper()
	j.Errorf("seed %d: %s %s/%s: %q of %s is refuted: %s\n%s", j.seed, s.key.Name, s.podSet, s.flavor, s.String(), s.Kind(), fmt.Sprintf(format, args...), strings.Join(j.lines, "\n"))
}

// Kind is that of the operands.
func (s statement) Kind() Kind { return KindOf(s.Operands) }

// play runs a random world.
func (j *judge) play() {
	r := rand.New(rand.NewPCG(j.seed, 7))
	w := newWorld(j.T)
	do := func(format string, args ...any) {
		line := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
		j.lines = append(j.lines, line)
		w.do(line)
	}
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	some := func(odds int, text string) string {
		if r.IntN(odds) == 0 {
			return text
		}
		return ""
	}
	do("settings %s %s %s %s", some(3, "fair"), some(4, "ready=10m block"), some(3, "elastic"), some(6, "devices=gpu.example.com:gpu extended"))
	shares := r.IntN(3) == 0
	if shares {
		w.settings.AdmissionFairSharing = sharingOf(j.T, []string{"10m", "5m"})
		j.lines = append(j.lines, "# shares by usage: 10m, 5m")
		w.reset(w.settings)
	}
	do("template two gpu.example.com=2")
	do("template chosen gpu.example.com=selected")
	topology := r.IntN(3) == 0
	if topology {
		do("topology rows row hostname")
		for n := range 2 + r.IntN(4) {
			do("node n%d %d row=r%d pool=a", n, 1+r.IntN(4), n%2)
		}
		do("flavor a label pool=a topology rows")
	} else {
		do("flavor a label pool=a %s", some(3, "taint dedicated=ml"))
	}
	do("flavor b label pool=b %s %s", some(3, "taint spot=yes"), some(6, "toleration spot=yes"))
	if r.IntN(2) == 0 {
		do("cohort top %s", some(3, "a:2"))
	}
	queues := []string{"q1", "q2", "q3"}[:1+r.IntN(3)]
	cohort := pick("", "co=mid", "co=top")
	if cohort == "co=mid" {
		do("cohort mid parent=top")
	}
	for _, q := range queues {
		limits := ""
		if cohort != "" {
			limits = some(3, fmt.Sprintf("/+%d", r.IntN(4))) + some(4, fmt.Sprintf("/-%d", r.IntN(2)))
		}
		reclaim := pick("Never", "LowerPriority", "Any")
		bwc := ""
		if reclaim != "Never" && cohort != "" {
			bwc = some(4, "bwc=LowerPriority")
		}
		least := 1
		if topology {
			least = 8
		}
		flavors := fmt.Sprintf("a:%d%s b:%d", least+r.IntN(6), limits, r.IntN(5))
		if r.IntN(2) == 0 {
			flavors = fmt.Sprintf("a:%d%s", least+r.IntN(6), limits)
		}
		do("cq %s %s %s within=%s reclaim=%s %s whenCanBorrow=%s whenCanPreempt=%s %s %s %s %s", q, cohort, some(3, "StrictFIFO"), pick("Never", "LowerPriority", "LowerOrNewerEqualPriority"), reclaim, bwc,
			pick("MayStopSearch", "TryNextFlavor"), pick("MayStopSearch", "TryNextFlavor"), some(12, "stop=Hold"), some(12, "selector=team:ml"), some(6, "check=budget"), flavors)
	}
	locals := slices.Clone(queues)
	if shares {
		for _, q := range queues {
			shared := w.state.clusterQueues[q].DeepCopy()
			shared.Spec.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
			w.state.SetClusterQueue(shared)
			j.lines = append(j.lines, fmt.Sprintf("# %s shares by usage", q))
			do("localqueue %s-b %s %s %s", q, q, some(2, "weight="+pick("0", "500m", "3")), some(2, "used=cpu:"+pick("1", "2", "9")))
			locals = append(locals, q+"-b")
		}
	}
	if r.IntN(8) == 0 {
		do("cq broken missing:4")
		queues, locals = append(queues, "broken"), append(locals, "broken")
	}
	do("admissioncheck budget")
	if cohort != "" && len(queues) > 1 && r.IntN(2) == 0 {
		do("held big %s %d @%d on a", queues[len(queues)-1], 4+r.IntN(10), r.IntN(2))
	}
	asks := func() string {
		if !topology {
			return some(25, "required=row")
		}
		return some(2, pick("required=row", "required=row", "required=hostname", "preferred=row", "required=zone", "unconstrained"))
	}
	names := 0
	for range 6 + r.IntN(14) {
		for r.IntN(2) == 0 { // several at once compete in one cycle
			names++
			do("wl w%d %s %s @%d %s", names, pick(locals...), pick("1", "2", "3", "4", "2x2", "6"), r.IntN(4), asks())
		}
		switch n := r.IntN(10); {
		case n < 6:
			names++
			request := pick("1", "2", "3", "4", "6", "9", "2x1", "3x2", "4x1>=2", "cpu=1,gpu=1", "driver:1 workers:2x1")
			do("wl w%d %s %s @%d %s %s %s %s %s %s %s", names, pick(append(locals, append(locals, pick("q1", "nowhere"))...)...), request, r.IntN(3),
				some(4, "selector=pool="+pick("a", "b", "c")), some(4, "tolerate="+pick("dedicated=ml", "spot=yes")), some(20, "gated=somebody"), some(10, "namespace=other"), some(25, "limit=1")+" "+some(8, pick("claims=two", "claims=chosen", "claims=none", "claim=mine")),
				asks(), some(20, "slice=row:2"))
		case n < 7 && w.settings.ElasticJobs:
			var grow []*kueue.Workload
			for _, o := range w.objects {
				if w.state.Holds(w.key(o.Name)) && o.Namespace == "ns" && len(o.Spec.PodSets) == 1 {
					grow = append(grow, o)
				}
			}
			slices.SortFunc(grow, func(a, b *kueue.Workload) int { return strings.Compare(a.Name, b.Name) })
			if len(grow) > 0 {
				o := grow[r.IntN(len(grow))]
				names++
				do("wl w%d %s %dx%d @%d replaces=%s", names, o.Spec.QueueName, o.Spec.PodSets[0].Count+int32(r.IntN(3)), 1+r.IntN(2), r.IntN(4), o.Name)
			}
		case n < 7 && names > 0:
			name := fmt.Sprint("w", 1+r.IntN(names))
			switch w.state.workloads[w.key(name)].place {
			case reserved:
				do("%s %s", pick("finish", "ready", "ready", "deactivate"), name)
			default:
				do("%s %s", pick("deactivate", "activate", "activate"), name)
				status := metav1.ConditionFalse
				if r.IntN(3) == 0 {
					status = metav1.ConditionTrue
				}
				j.lines = append(j.lines, fmt.Sprintf("# %s waits for pods: %s", name, status))
				w.update(name, func(o *kueue.Workload) { w.condition(o, WaitingForReplacementPods, status, "PodsFailed") })
			}
		case n < 8 && names > 0:
			name := fmt.Sprint("w", 1+r.IntN(names))
			do("check %s budget %s 60", name, pick("Ready", "Retry", "Rejected"))
			do("review")
		case n < 9:
			do("wait %s", pick("1s", "30s", "15m"))
			do("sample")
			do("review")
		default:
			do("settle")
			q := w.state.clusterQueues[queues[0]].DeepCopy()
			q.Spec.StopPolicy = ptr.To(kueue.StopPolicy(pick("None", "None", "HoldAndDrain")))
			j.lines = append(j.lines, fmt.Sprintf("# %s is %s", q.Name, *q.Spec.StopPolicy))
			w.state.SetClusterQueue(q)
		}
		if len(w.objects) > 0 && r.IntN(10) == 0 {
			q := queues[r.IntN(len(queues))]
			do("localqueue %s %s %s", q, pick(q, q, "gone"), some(2, "Hold"))
		}
		for range 1 + r.IntN(2) {
			before := w.state.Clone()
			j.lines = append(j.lines, "cycle")
			count := len(w.records)
			w.cycle()
			if len(w.records) > count {
				j.ledger(w.records[count], before, w.now)
			}
			j.pending(w.state, w.now)
			if j.Failed() {
				return
			}
		}
	}
}

// ledger refutes what a cycle said.
func (j *judge) ledger(record *Record, before *State, now time.Time) {
	for i := range record.Heads {
		h := &record.Heads[i]
		key := h.Workload.Key()
		base := statement{before: before, now: now, key: key, head: h, others: record.Heads}
		for _, p := range h.PodSets {
			for _, g := range p.Groups {
				for _, f := range g.Flavors {
					for _, reason := range f.Reasons {
						s := base
						s.Reason, s.podSet, s.flavor, s.earlier = reason, p.Name, f.Flavor, earlierOf(f)
						j.try(s)
					}
				}
			}
			if !p.Reason.IsZero() {
				s := base
				s.Reason, s.podSet = p.Reason, p.Name
				j.try(s)
			}
		}
		if !h.Reason.IsZero() {
			s := base
			s.Reason = h.Reason
			j.try(s)
		}
		for _, set := range partsOf(h.Reason) {
			for _, reason := range set.Reasons {
				switch reason.Operands.(type) {
				case TopologyShort, TopologyRequestInvalid: // no trial has them: topologies are filled once flavors are found
					s := base
					s.Reason, s.podSet = reason, set.PodSet
					j.try(s)
				}
			}
		}
	}
}

// partsOf are the reasons by pod set.
func partsOf(r Reason) []PodSetReasons {
	switch o := r.Operands.(type) {
	case NoFlavors:
		return o.PodSets
	case PreemptionPending:
		return o.PodSets
	}
	return nil
}

func earlierOf(f FlavorTrial) map[v1.ResourceName]int64 {
	earlier := map[v1.ResourceName]int64{}
	for _, r := range f.Resources {
		earlier[r.Resource] = r.Earlier
	}
	return earlier
}

// pending refutes what is said of those that wait, in queues and outside of them.
func (j *judge) pending(state *State, now time.Time) {
	for name := range state.queues {
		for _, p := range state.Pending(name, now) {
			switch p.Reason.Operands.(type) {
			case BackedOff, NotRequeued, NotTried, BehindHead, UsedMore, EqualRefused, LocalQueueStopped, ClusterQueueStopped, ClusterQueueInactive, LocalQueueInactive:
				j.try(statement{Reason: p.Reason, before: state.Clone(), now: now, key: p.Workload.Key()})
			}
		}
	}
	for key, w := range state.workloads {
		if w.place == outside && !w.waits.IsZero() {
			j.try(statement{Reason: w.waits, before: state.Clone(), now: now, key: key})
		}
	}
}

func (j *judge) try(s statement) {
	j.tried[s.Kind()]++
	if experiment := experiments[s.Kind()]; experiment != nil {
		experiment(j, s)
	}
}

// alone returns a copy in which nobody else waits, and the search for flavors of the workload begins anew.
func (s statement) alone() *State {
	c := s.before.Clone()
	for key, w := range s.before.workloads {
		if key != s.key && w.place != reserved {
			c.DeleteWorkload(key)
		}
	}
	return c
}

// again tries the workload in a State, and returns what is said of it then; nil if no cycle tries it.
func (s statement) again(c *State) *Head {
	if w := c.workloads[s.key]; w != nil {
		w.progress = progress{}
		if w.place == parked {
			c.flushQueue(w.queue)
		}
	}
	record := c.Cycle(s.now)
	if record == nil {
		return nil
	}
	for i := range record.Heads {
		if record.Heads[i].Workload.Key() == s.key {
			return &record.Heads[i]
		}
	}
	return nil
}

// trial returns the trial of the statement's flavor; nil if the search did not come to it in the same way.
func (s statement) trial(h *Head) *FlavorTrial {
	if h == nil {
		return nil
	}
	for _, p := range h.PodSets {
		if p.Name != s.podSet {
			continue
		}
		if i := slices.IndexFunc(s.head.PodSets, func(o PodSetSearch) bool { return o.Name == s.podSet }); i < 0 || s.head.PodSets[i].Count != p.Count {
			return nil // of fewer pods
		}
		for _, g := range p.Groups {
			for i := range g.Flavors {
				f := &g.Flavors[i]
				if f.Flavor != s.flavor {
					continue
				}
				for name, n := range s.earlier {
					if now, ok := earlierOf(*f)[name]; ok && now != n {
						return nil // what pod sets before it took is another
					}
				}
				return f
			}
		}
	}
	return nil
}

// change replaces the object of the workload by a changed copy.
func (s statement) change(c *State, do func(*kueue.Workload)) {
	o := c.workloads[s.key].object.DeepCopy()
	do(o)
	c.SetWorkload(o, s.now)
}

// spec changes the templates of all pod sets.
func (s statement) spec(c *State, do func(*kueue.PodSet)) {
	s.change(c, func(o *kueue.Workload) {
		for i := range o.Spec.PodSets {
			do(&o.Spec.PodSets[i])
		}
	})
}

func (s statement) queue(c *State) *kueue.ClusterQueue {
	local := c.localQueues[types.NamespacedName{Namespace: s.key.Namespace, Name: string(c.workloads[s.key].object.Spec.QueueName)}]
	return c.clusterQueues[string(local.Spec.ClusterQueue)].DeepCopy()
}

// more adds to a nominal quota of the workload's queue, in the unit of ResourceTrial.
func (s statement) more(c *State, flavor string, name v1.ResourceName, n int64) {
	q := s.queue(c)
	for i := range q.Spec.ResourceGroups {
		for k := range q.Spec.ResourceGroups[i].Flavors {
			f := &q.Spec.ResourceGroups[i].Flavors[k]
			for l := range f.Resources {
				if string(f.Name) == flavor && f.Resources[l].Name == name {
					f.Resources[l].NominalQuota.Add(quantityOf(name, n))
				}
			}
		}
	}
	c.SetClusterQueue(q)
}

func has(reasons []Reason, kind Kind, of func(Operands) bool) bool {
	return slices.ContainsFunc(reasons, func(r Reason) bool { return KindOf(r.Operands) == kind && of(r.Operands) })
}

// repeats reports whether the same is said when the workload is tried alone. It is not where a cycle looked again after
// heads before it had taken quota or victims: such a statement is of that moment, and counts apart.
func (j *judge) repeats(s statement) bool {
	f := s.trial(s.again(s.alone()))
	if f == nil || !slices.ContainsFunc(f.Reasons, func(r Reason) bool { return reflect.DeepEqual(r, s.Reason) }) {
		j.moments[s.Kind()]++
		return false
	}
	return true
}

// gone checks that a change ends what is said of a flavor. what describes the change.
func (j *judge) gone(s statement, what string, of func(Operands) bool, change func(*State)) {
	j.Helper()
	if !j.repeats(s) {
		return
	}
	c := s.alone()
	change(c)
	if f := s.trial(s.again(c)); f != nil && has(f.Reasons, s.Kind(), of) {
		j.refuted(s, "it is so with %s, too: %v", what, f.Reasons)
	}
}

// stays checks that a smaller change does not end it.
func (j *judge) stays(s statement, what string, of func(Operands) bool, change func(*State)) {
	j.Helper()
	if !j.repeats(s) {
		return
	}
	c := s.alone()
	change(c)
	if f := s.trial(s.again(c)); f != nil && !has(f.Reasons, s.Kind(), of) {
		j.refuted(s, "it is no longer so with %s: %v", what, f.Reasons)
	}
}

// ends checks that a change ends what is said of the whole workload, wherever that is said.
func (j *judge) ends(s statement, what string, change func(*State)) {
	j.Helper()
	c := s.alone()
	change(c)
	if said := s.said(c); !said.IsZero() && KindOf(said.Operands) == s.Kind() {
		j.refuted(s, "it is so after %s, too: %s", what, said)
	}
}

// said returns why the workload waits; the zero Reason if it does not.
func (s statement) said(c *State) Reason {
	if h := s.again(c); h != nil {
		return h.Reason
	}
	w := c.workloads[s.key]
	if w == nil || w.place == reserved {
		return Reason{}
	}
	for name := range c.queues {
		for _, p := range c.Pending(name, s.now) {
			if p.Workload.Key() == s.key {
				return p.Reason
			}
		}
	}
	return w.waits
}

func resourceOf(name v1.ResourceName) func(Operands) bool {
	return func(o Operands) bool {
		switch o := o.(type) {
		case ShortOfQuota:
			return o.Resource == name
		case OverCapacity:
			return o.Resource == name
		case ResourceUnavailable:
			return o.Resource == name
		}
		return true
	}
}

func anyOf(Operands) bool { return true }

var experiments map[Kind]func(*judge, statement)

func init() {
	experiments = map[Kind]func(*judge, statement){
		"ShortOfQuota": func(j *judge, s statement) {
			o := s.Operands.(ShortOfQuota)
			n := valueOf(o.Resource, resource.MustParse(o.Missing))
			if o.Overdrawn != "" {
				n += valueOf(o.Resource, resource.MustParse(o.Overdrawn))
			}
			more := func(n int64) func(*State) {
				return func(c *State) { s.more(c, o.Flavor, o.Resource, n) }
			}
			j.gone(s, o.Missing+" more", resourceOf(o.Resource), more(n))
			j.stays(s, "a hair less", resourceOf(o.Resource), more(n-1))
		},
		"OverCapacity": func(j *judge, s statement) {
			o := s.Operands.(OverCapacity)
			amount := func(text string) int64 { return valueOf(o.Resource, resource.MustParse(text)) }
			n := amount(o.Earlier) + amount(o.Requested) - amount(o.Capacity)
			more := func(n int64) func(*State) {
				return func(c *State) { s.more(c, o.Flavor, o.Resource, n) }
			}
			j.gone(s, "as much more quota as it is over", resourceOf(o.Resource), more(n))
			j.stays(s, "a hair less", resourceOf(o.Resource), more(n-1))
			j.stays(s, "nobody else", resourceOf(o.Resource), func(c *State) {
				for key, w := range s.before.workloads {
					if w.place == reserved && key != s.key {
						c.DeleteWorkload(key)
					}
				}
			})
		},
		"ResourceUnavailable": func(j *judge, s statement) {
			o := s.Operands.(ResourceUnavailable)
			j.ends(s, "quota for it", func(c *State) {
				q := s.queue(c)
				f := &q.Spec.ResourceGroups[0]
				f.CoveredResources = append(slices.Clone(f.CoveredResources), o.Resource)
				for i := range f.Flavors {
					f.Flavors[i].Resources = append(f.Flavors[i].Resources, kueue.ResourceQuota{Name: o.Resource, NominalQuota: resource.MustParse("1000")})
				}
				c.SetClusterQueue(q)
			})
			j.ends(s, "no request for it", func(c *State) {
				s.spec(c, func(p *kueue.PodSet) { delete(p.Template.Spec.Containers[0].Resources.Requests, o.Resource) })
			})
		},
		"FlavorMissing": func(j *judge, s statement) {
			o := s.Operands.(FlavorMissing)
			j.gone(s, "that flavor", anyOf, func(c *State) { c.SetFlavor(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: o.Flavor}}) })
		},
		"UntoleratedTaint": func(j *judge, s statement) {
			o := s.Operands.(UntoleratedTaint)
			of := func(other Operands) bool { return other == Operands(o) }
			j.gone(s, "a toleration", of, func(c *State) {
				s.spec(c, func(p *kueue.PodSet) {
					p.Template.Spec.Tolerations = append(p.Template.Spec.Tolerations, v1.Toleration{Key: o.Key, Value: o.Value, Effect: o.Effect})
				})
			})
			j.gone(s, "no such taint", of, func(c *State) {
				f := c.flavors[o.Flavor].DeepCopy()
				f.Spec.NodeTaints = slices.DeleteFunc(f.Spec.NodeTaints, func(t v1.Taint) bool { return t.Key == o.Key && t.Value == o.Value && t.Effect == o.Effect })
				c.SetFlavor(f)
			})
			j.stays(s, "another toleration", of, func(c *State) {
				s.spec(c, func(p *kueue.PodSet) {
					p.Template.Spec.Tolerations = append(p.Template.Spec.Tolerations, v1.Toleration{Key: o.Key + "-other", Operator: v1.TolerationOpExists})
				})
			})
		},
		"AffinityMismatch": func(j *judge, s statement) {
			j.gone(s, "no node selector and affinity", anyOf, func(c *State) {
				s.spec(c, func(p *kueue.PodSet) { p.Template.Spec.NodeSelector, p.Template.Spec.Affinity = nil, nil })
			})
			o := s.Operands.(AffinityMismatch)
			j.gone(s, "no labels of the flavor", anyOf, func(c *State) {
				f := c.flavors[o.Flavor].DeepCopy()
				f.Spec.NodeLabels, f.Spec.TopologyName = nil, nil
				c.SetFlavor(f)
			})
		},
		"OtherFlavorHeld": func(j *judge, s statement) {
			j.gone(s, "nothing to replace", anyOf, func(c *State) { s.change(c, func(o *kueue.Workload) { o.Annotations = nil }) })
			o := s.Operands.(OtherFlavorHeld)
			j.gone(s, "the other one in this flavor", anyOf, func(c *State) {
				old := c.replacedBy(c.workloads[s.key]).object.DeepCopy()
				for i := range old.Status.Admission.PodSetAssignments {
					for name := range old.Status.Admission.PodSetAssignments[i].Flavors {
						old.Status.Admission.PodSetAssignments[i].Flavors[name] = kueue.ResourceFlavorReference(o.Flavor)
					}
				}
				c.SetWorkload(old, s.now)
			})
		},
		"ClaimsUnsupported": func(j *judge, s statement) {
			j.ends(s, "no claims", func(c *State) { s.spec(c, func(p *kueue.PodSet) { p.Template.Spec.ResourceClaims = nil }) })
		},
		"DevicesUncounted": func(j *judge, s statement) {
			j.ends(s, "no claims", func(c *State) { s.spec(c, func(p *kueue.PodSet) { p.Template.Spec.ResourceClaims = nil }) })
			j.ends(s, "a template that can be counted", func(c *State) {
				for _, claim := range c.workloads[s.key].object.Spec.PodSets[0].Template.Spec.ResourceClaims {
					good := s.before.templates[types.NamespacedName{Namespace: "ns", Name: "two"}].DeepCopy()
					good.Namespace, good.Name = s.key.Namespace, *claim.ResourceClaimTemplateName
					c.SetClaimTemplate(good)
				}
			})
		},
		"TopologyUnsupported": func(j *judge, s statement) {
			j.gone(s, "no topology request", anyOf, func(c *State) { s.spec(c, func(p *kueue.PodSet) { p.TopologyRequest = nil }) })
		},
		"TopologyLevelMissing": func(j *judge, s statement) {
			j.gone(s, "a level that it has", anyOf, func(c *State) {
				s.spec(c, func(p *kueue.PodSet) {
					p.TopologyRequest = &kueue.PodSetTopologyRequest{Required: ptr.To(v1.LabelHostname)}
				})
			})
		},
		"TopologyOnly": func(j *judge, s statement) {
			j.gone(s, "a topology request", anyOf, func(c *State) {
				s.spec(c, func(p *kueue.PodSet) { p.TopologyRequest = &kueue.PodSetTopologyRequest{Unconstrained: ptr.To(true)} })
			})
		},
		"TopologyShort": func(j *judge, s statement) {
			o := s.Operands.(TopologyShort)
			short := func(change func(*State)) (Head, bool) {
				c := s.alone()
				if o.Empty {
					for key, w := range s.before.workloads {
						if w.place == reserved && key != s.key {
							c.DeleteWorkload(key)
						}
					}
				}
				change(c)
				h := s.again(c)
				if h == nil {
					return Head{}, false
				}
				return *h, slices.ContainsFunc(partsOf(h.Reason), func(set PodSetReasons) bool { return has(set.Reasons, s.Kind(), anyOf) })
			}
			if _, again := short(func(*State) {}); !again {
				j.moments[s.Kind()]++
				return
			}
			if h, again := short(func(c *State) {
				for _, f := range s.before.flavors {
					f := f.DeepCopy()
					f.Spec.TopologyName = nil
					c.SetFlavor(f)
				}
				s.spec(c, func(p *kueue.PodSet) { p.TopologyRequest = nil })
			}); again {
				j.refuted(s, "it is so without topologies, too: %s", h.Reason)
			}
			flavors := 0
			for _, g := range s.queue(s.before).Spec.ResourceGroups {
				flavors += len(g.Flavors)
			}
			if w := s.before.workloads[s.key]; o.Slices || flavors > 1 || len(w.podSets) > 1 || w.podSets[0].count != o.Wanted || w.podSets[0].minCount != nil {
				return
			}
			count := func(n int32) func(*State) {
				return func(c *State) { s.spec(c, func(p *kueue.PodSet) { p.Count = n }) }
			}
			if o.Fits > 0 {
				if h, again := short(count(o.Fits)); again {
					j.refuted(s, "%d pods do not fit, either: %s", o.Fits, h.Reason)
				}
			}
			if h, _ := short(count(o.Fits + 1)); h.Outcome == Reserved {
				j.refuted(s, "%d pods fit", o.Fits+1)
			}
		},
		"TopologyRequestInvalid": func(j *judge, s statement) {
			j.ends(s, "no topology request", func(c *State) { s.spec(c, func(p *kueue.PodSet) { p.TopologyRequest = nil }) })
		},
		"NoFlavors": func(j *judge, s statement) {
			for _, set := range s.Operands.(NoFlavors).PodSets {
				if len(set.Reasons) == 0 {
					j.refuted(s, "pod set %s has no reason", set.PodSet)
				}
			}
		},
		"PreemptionPending": func(j *judge, s statement) {
			if s.head == nil || s.head.Outcome != Preempting {
				return
			}
			o := s.Operands.(PreemptionPending)
			if o.Victims != len(s.head.Victims) {
				j.refuted(s, "it has %d victims", len(s.head.Victims))
			}
			names := func(h *Head) (out []types.NamespacedName) {
				for _, v := range h.Victims {
					out = append(out, v.Workload.Key())
				}
				return out
			}
			if h := s.again(s.alone()); h == nil || !slices.Equal(names(h), names(s.head)) {
				j.moments[s.Kind()]++ // its victims are those beside what others evict
				return
			}
			flavors := func(h *Head) (out []string) {
				for _, p := range h.PodSets {
					for _, g := range p.Groups {
						out = append(out, g.Chosen)
					}
				}
				return out
			}
			without := func(left int) *Head {
				c := s.alone()
				for i, v := range s.head.Victims {
					if i != left {
						c.DeleteWorkload(v.Workload.Key())
					}
				}
				return s.again(c)
			}
			if h := without(-1); h == nil || h.Outcome != Reserved && h.Outcome != Blocked {
				j.refuted(s, "without the victims it gets nothing, either: %+v", h)
			}
			for i := range s.head.Victims {
				// Another flavor may have become the better one, and victims may be needed to get in without borrowing.
				if h := without(i); h != nil && h.Outcome == Reserved && s.before.settings.FairSharing == nil && slices.Equal(flavors(h), flavors(s.head)) && h.Borrowing <= s.head.Borrowing {
					j.refuted(s, "it gets its quota while %s stays", s.head.Victims[i].Workload.Name)
				}
			}
		},
		"LostQuota": func(j *judge, s statement) {
			c := s.alone()
			if h := s.again(c); h == nil || h.Outcome != Reserved && h.Outcome != Preempting && h.Outcome != Blocked {
				j.refuted(s, "alone it gets none, either: %+v", h)
			}
		},
		"VictimsShared": func(j *judge, s statement) {
			if h := s.again(s.alone()); h == nil || h.Outcome != Preempting && h.Outcome != Reserved {
				j.refuted(s, "alone it evicts nobody: %+v", h)
			}
		},
		"LocalQueueMissing": func(j *judge, s statement) {
			o := s.Operands.(LocalQueueMissing)
			j.ends(s, "its creation", func(c *State) {
				c.SetLocalQueue(&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: o.Name}, Spec: kueue.LocalQueueSpec{ClusterQueue: "q1"}})
			})
		},
		"LocalQueueStopped": func(j *judge, s statement) {
			j.ends(s, "a restart", func(c *State) {
				l := c.localQueues[types.NamespacedName{Namespace: s.key.Namespace, Name: s.Operands.(LocalQueueStopped).Name}].DeepCopy()
				l.Spec.StopPolicy = nil
				c.SetLocalQueue(l)
			})
		},
		"LocalQueueInactive": func(j *judge, s statement) { j.refuted(s, "nothing says so") },
		"ClusterQueueMissing": func(j *judge, s statement) {
			o := s.Operands.(ClusterQueueMissing)
			j.ends(s, "its creation", func(c *State) {
				c.SetClusterQueue(&kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: o.Name}, Spec: kueue.ClusterQueueSpec{NamespaceSelector: &metav1.LabelSelector{}}})
			})
		},
		"ClusterQueueInactive": func(j *judge, s statement) {
			o := s.Operands.(ClusterQueueInactive)
			j.ends(s, "what it lacks is there", func(c *State) {
				for _, g := range c.clusterQueues[o.Name].Spec.ResourceGroups {
					for _, f := range g.Flavors {
						if c.flavors[string(f.Name)] == nil {
							c.SetFlavor(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: string(f.Name)}})
						}
					}
				}
				check := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "budget"}}
				meta.SetStatusCondition(&check.Status.Conditions, metav1.Condition{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active"})
				c.SetAdmissionCheck(check)
			})
		},
		"ClusterQueueStopped": func(j *judge, s statement) {
			j.ends(s, "a restart", func(c *State) {
				q := c.clusterQueues[s.Operands.(ClusterQueueStopped).Name].DeepCopy()
				q.Spec.StopPolicy = nil
				c.SetClusterQueue(q)
			})
		},
		"NamespaceMismatch": func(j *judge, s statement) {
			j.ends(s, "a selector of every namespace", func(c *State) {
				q := s.queue(c)
				q.Spec.NamespaceSelector = &metav1.LabelSelector{}
				c.SetClusterQueue(q)
			})
		},
		"RequestsAboveLimits": func(j *judge, s statement) {
			j.ends(s, "no limits", func(c *State) {
				s.spec(c, func(p *kueue.PodSet) { p.Template.Spec.Containers[0].Resources.Limits = nil })
			})
		},
		"OutsideLimitRange": func(j *judge, s statement) {
			j.ends(s, "no LimitRange", func(c *State) {
				for key := range s.before.limitRanges {
					c.DeleteLimitRange(key)
				}
			})
		},
		"ChecksFailed": func(j *judge, s statement) {
			j.ends(s, "checks that agree", func(c *State) {
				s.change(c, func(o *kueue.Workload) {
					for i := range o.Status.AdmissionChecks {
						o.Status.AdmissionChecks[i].State = kueue.CheckStateReady
					}
				})
			})
		},
		"PodsNotReady": func(j *judge, s statement) {
			o := s.Operands.(PodsNotReady)
			c := s.before.Clone()
			// The cycle that blocked has admitted workloads before it.
			for _, h := range s.others {
				if h.Workload == o.Workload {
					return
				}
			}
			ready := c.workloads[o.Workload.Key()].object.DeepCopy()
			meta.SetStatusCondition(&ready.Status.Conditions, metav1.Condition{Type: kueue.WorkloadPodsReady, Status: metav1.ConditionTrue, Reason: "Started"})
			c.SetWorkload(ready, s.now)
			if h := s.again(c); h != nil {
				if now, same := h.Reason.Operands.(PodsNotReady); same && now == o {
					j.refuted(s, "it is so when they are ready, too")
				}
			}
		},
		"Gated": func(j *judge, s statement) {
			j.ends(s, "no gate", func(c *State) { s.change(c, func(o *kueue.Workload) { o.Annotations = nil }) })
		},
		"Deactivated": func(j *judge, s statement) {
			j.ends(s, "its activation", func(c *State) { s.change(c, func(o *kueue.Workload) { o.Spec.Active = ptr.To(true) }) })
		},
		"BackedOff": func(j *judge, s statement) {
			o := s.Operands.(BackedOff)
			at := func(now time.Time) Reason {
				c := s.alone()
				for range 3 {
					decisions, _ := c.Review(s.key, now)
					for _, d := range decisions {
						c.carryOut(d, now)
					}
				}
				s := s
				s.now = now
				return s.said(c)
			}
			if said := at(o.Until.Add(time.Second)); !said.IsZero() && KindOf(said.Operands) == s.Kind() {
				j.refuted(s, "it is so after that, too")
			}
			if said := at(o.Until.Add(-time.Second)); o.Until.Add(-time.Second).After(s.now) && (said.IsZero() || KindOf(said.Operands) != s.Kind()) {
				j.refuted(s, "it is no longer so a second before: %s", said)
			}
		},
		"NotRequeued": func(j *judge, s statement) {
			j.ends(s, "the end of the eviction", func(c *State) {
				s.change(c, func(o *kueue.Workload) {
					meta.RemoveStatusCondition(&o.Status.Conditions, kueue.WorkloadEvicted)
					meta.RemoveStatusCondition(&o.Status.Conditions, kueue.WorkloadRequeued)
				})
			})
		},
		"PodsAwaited": func(j *judge, s statement) {
			j.ends(s, "the pods have come", func(c *State) {
				s.change(c, func(o *kueue.Workload) {
					meta.RemoveStatusCondition(&o.Status.Conditions, WaitingForReplacementPods)
				})
			})
		},
		"NotTried": func(j *judge, s statement) { j.ends(s, "a cycle", func(*State) {}) },
		"BehindHead": func(j *judge, s statement) {
			o := s.Operands.(BehindHead)
			j.ends(s, "the head has gone, and all others before it", func(*State) {})
			c := s.before.Clone()
			if h := s.again(c); h != nil {
				j.refuted(s, "a cycle tries it before %s", o.Head.Name)
			}
		},
		"UsedMore": func(j *judge, s statement) {
			o := s.Operands.(UsedMore)
			j.ends(s, "the head has gone, and all others before it", func(*State) {})
			if h := s.again(s.before.Clone()); h != nil {
				j.refuted(s, "a cycle tries it before %s", o.First.Name)
			}
			// With the usage of the two LocalQueues the other way round, it goes first of the two.
			c := s.before.Clone()
			for _, w := range c.workloads {
				w.penalty = nil
			}
			mine, first := c.workloads[s.key].localQueue(), c.workloads[o.First.Key()].localQueue()
			c.consumed[mine], c.consumed[first] = consumption{}, consumption{resources: thousandths{v1.ResourceCPU: 1}}
			for _, p := range c.Pending(c.workloads[s.key].queue, s.now) {
				switch p.Workload.Key() {
				case s.key:
					return
				case o.First.Key():
					j.refuted(s, "%s goes first even where its LocalQueue has used more", o.First.Name)
				}
			}
		},
		"EqualRefused": func(j *judge, s statement) {
			o := s.Operands.(EqualRefused)
			h := s.again(s.alone())
			if h == nil || h.Outcome == Reserved && KindOf(o.Reason.Operands) == "NoFlavors" {
				j.refuted(s, "tried alone it is %+v", h)
			}
		},
	}
}

// carryOut makes a decision's change in the State's own view of the object.
func (s *State) carryOut(d Decision, now time.Time) {
	object := s.workloads[d.Workload.Key()].object.DeepCopy()
	d.Apply(object, now)
	s.SetWorkload(object, now)
}
