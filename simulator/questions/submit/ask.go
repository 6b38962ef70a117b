package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/forward"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

const (
	// DefaultRuns and MaxRuns bound Question.Runs.
	DefaultRuns = 200
	MaxRuns     = 2000
	// runsTime and changesTime bound the runs, and the search for changes, of a question.
	runsTime    = 3 * time.Second
	changesTime = 5 * time.Second
)

// asking is a question while it is answered.
type asking struct {
	cluster Cluster
	q       Question
	reading *reading
	from    *surroundings
	now     time.Time
	// state is nil without queues. present is the run of what happens now, in which evicted workloads do not stop.
	state   *admission.State
	present *forward.Run
	// heads are the latest heads of the workloads, reserved those that got quota now, and evicts who is evicted now, and by
	// whom.
	heads map[types.NamespacedName]*admission.Head
	// said are all refusals of each: a later cycle may begin at a later flavor.
	said     map[types.NamespacedName][]refusal
	reserved map[types.NamespacedName]bool
	evicts   map[types.NamespacedName][]*admission.Victim
	// changes are made before nodes are asked, and placed are the pods of earlier jobs.
	changes []hypothesis.Change
	placed  why.Placed
	pods    []*v1.Pod
	// nodeLabels are by the node's name.
	nodeLabels map[string]map[string]string
	answers    *Answers
	jobs       []*job
	// late arrives in the runs only, after the time later; nil for nothing. seen is how far all runs go at least.
	late *kueue.Workload
	seen time.Duration
}

// job is a subject with what was found.
type job struct {
	*subject
	answer *Answer
	keys   []types.NamespacedName
	// before is the state before the job came, and placed what earlier jobs had placed then, for changes.
	before *admission.State
	placed why.Placed
	stops  types.NamespacedName
	starts []time.Time
	// placeable says that empty queues would let it in.
	placeable bool

	// runVictims counts the runs in which each was evicted for the job.
	runVictims map[types.NamespacedName]int
	// watched is nil if the job does not wait.
	watched *watched
	// others are changes that others would make.
	others []suggest.Suggestion
}

// Ask answers a question. Errors about the question are a *hypothesis.Refused or a *whatif.NotFoundError.
func Ask(ctx context.Context, c Cluster, q Question) (*Answers, error) {
	begun := time.Now()
	if q.Runs < 0 || q.Runs > MaxRuns {
		return nil, refuse("runs: want a number from 1 to %d", MaxRuns)
	}
	q.Runs = cmp.Or(q.Runs, DefaultRuns)
	read, err := read(ctx, q)
	if err != nil {
		return nil, err
	}
	g := c.Grounds()
	a := &asking{
		cluster: c, q: q, reading: read, now: begun.UTC(),
		answers: &Answers{
			APIVersion: APIVersion, Kind: ListKind, Items: []Answer{}, NotJudged: append([]why.NotJudged{}, g.Missing...),
			Judged: Judged{Cluster: g.Cluster, Scheduler: g.Version, At: metav1.NewTime(begun.UTC().Truncate(time.Second)), Note: "A feasibility check, not a reservation: nothing was created."},
		},
	}
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	for i, s := range read.subjects {
		if err := a.one(ctx, i, s); err != nil {
			return nil, err
		}
	}
	a.forward(ctx)
	if !q.NoChanges {
		a.suggest(ctx)
		a.elsewhere(ctx)
	}
	for _, j := range a.jobs {
		a.finish(j)
	}
	a.summary()
	a.answers.Judged.Seconds = time.Since(begun).Seconds()
	return a.answers, nil
}

// prepare reads what the questions have in common.
func (a *asking) prepare(ctx context.Context) error {
	state, configured, err := a.cluster.Queues(ctx)
	switch {
	case errors.Is(err, ErrNoQueues):
	case err != nil:
		return err
	default:
		a.state, a.answers.Judged.Kueue, a.answers.Judged.Configuration = state, admission.Follows, configured
		for _, note := range configured.notes {
			a.unjudged(note.What, note.Text)
		}
	}
	a.from = surroundingsOf(ctx, a.cluster, a.reading.beside)
	a.pods = listed[*v1.Pod](ctx, a.cluster, v1.SchemeGroupVersion.WithKind("Pod"), nil)
	a.answers.Judged.Pods = len(a.pods)
	a.nodeLabels = map[string]map[string]string{}
	for _, node := range listed[*v1.Node](ctx, a.cluster, v1.SchemeGroupVersion.WithKind("Node"), nil) {
		a.nodeLabels[node.Name] = node.Labels
	}
	a.answers.Judged.Nodes = len(a.nodeLabels)
	for _, u := range a.reading.beside {
		gk := u.GroupVersionKind().GroupKind()
		if a.state != nil {
			if followed, err := Follow(a.state, u, a.now); err != nil {
				return refuse("%s %s: %v", u.GetKind(), u.GetName(), err)
			} else if followed && gk.Group == kueue.GroupVersion.Group {
				continue
			}
		}
		if gk.Kind == "PodGroup" {
			continue // what it says is asked for with its pods
		}
		if k := objects.KindOf(gk); k.Uses&objects.Recorded == 0 || gk.Group == kueue.GroupVersion.Group {
			a.unjudged(u.GetKind()+" "+u.GetName(), "It is in the file, and does not count: neither the queues nor the scheduler read it.")
			continue
		}
		change, err := asChange(u.Object)
		if err != nil {
			return err
		}
		a.changes = append(a.changes, change)
	}
	if a.state == nil {
		return nil
	}
	return a.begin(ctx, a.state)
}

// begin lets the queues settle.
func (a *asking) begin(ctx context.Context, state *admission.State) error {
	a.state, a.heads, a.reserved = state, map[types.NamespacedName]*admission.Head{}, map[types.NamespacedName]bool{}
	a.evicts, a.said = map[types.NamespacedName][]*admission.Victim{}, map[types.NamespacedName][]refusal{}
	a.present = forward.New(forward.Options{
		State: a.state, Begin: a.now, Stopping: forward.Never,
		Cycle: func(r *admission.Record) {
			for i := range r.Heads {
				h := &r.Heads[i]
				key := h.Workload.Key()
				a.heads[key] = h
				if r := (refusal{h.Condition, h.Reason}); h.Outcome == admission.Refused && !slices.ContainsFunc(a.said[key], r.repeats) {
					a.said[key] = append(a.said[key], r)
				}
			}
		},
		Told: func(e forward.Event) bool {
			switch {
			case e.What == forward.Reserved:
				a.reserved[types.NamespacedName{Namespace: e.Workload.Namespace, Name: e.Workload.Name}] = true
			case e.What == forward.Evicted && e.Head != nil:
				by := e.Head.Workload.Key()
				at := slices.IndexFunc(e.Head.Victims, func(v admission.Victim) bool {
					return v.Workload.Name == e.Workload.Name && v.Workload.Namespace == e.Workload.Namespace
				})
				a.evicts[by] = append(a.evicts[by], &e.Head.Victims[at])
			}
			return true
		},
	})
	return a.settle(ctx)
}

// refusal is what one cycle said of a workload.
type refusal struct {
	tier   string
	reason admission.Reason
}

func (r refusal) repeats(other refusal) bool { return r.reason.String() == other.reason.String() }

// says reports whether a reason is among others.
func says(reasons []admission.Reason, one admission.Reason) bool {
	return slices.ContainsFunc(reasons, func(r admission.Reason) bool { return r.String() == one.String() })
}

func (a *asking) settle(ctx context.Context) error {
	err := a.present.Settle(ctx)
	if errors.Is(err, forward.ErrUnsettled) {
		a.unjudged("the queues", "They do not settle: workloads evict each other again and again.")
		return nil
	}
	return err
}

func (a *asking) unjudged(what, text string) {
	note := why.NotJudged{What: what, Text: text}
	if !slices.Contains(a.answers.NotJudged, note) {
		a.answers.NotJudged = append(a.answers.NotJudged, note)
	}
}

// one asks about the i-th job, beside those before it.
func (a *asking) one(ctx context.Context, i int, s *subject) error {
	j := &job{subject: s, runVictims: map[types.NamespacedName]int{}, answer: &Answer{
		APIVersion: APIVersion, Kind: Kind, Subject: Subject{Kind: s.kind, Namespace: s.namespace, Name: s.name, Queue: s.queue, Requests: map[string]string{}, Gang: s.gang},
		Tiers: []Tier{}, Preempts: []Victim{}, Elsewhere: []Elsewhere{}, Changes: []Change{}, Influences: []Change{}, Start: Start{RestsOn: []Durations{}},
	}}
	a.jobs = append(a.jobs, j)
	j.placed = a.placed.Clone()
	if a.state != nil {
		j.before = a.state.Clone()
	}
	if s.queue == "" && a.state != nil && (s.kind == "Job" || s.kind == "Pod") {
		fallback := string(controllerconstants.DefaultLocalQueueName)
		if a.state.LocalQueue(types.NamespacedName{Namespace: s.namespace, Name: fallback}) != nil {
			s.queue, j.answer.Subject.Queue = fallback, fallback
		}
	}
	if s.queue != "" && a.state == nil {
		a.unjudged("the queue "+s.queue, "The cluster has no Kueue, so nothing reads the label "+queueLabel+": the job starts at once.")
		s.queue = ""
	}
	if err := a.gang(ctx, j); err != nil {
		return err
	}
	total := v1.ResourceList{}
	for n, w := range s.work {
		w.Owner.Namespace = s.namespace
		if s.queue != "" {
			labels := map[string]string{}
			for key, value := range w.Owner.Labels {
				labels[key] = value
			}
			labels[queueLabel] = s.queue
			w.Owner.Labels = labels
		}
		name := w.Workload
		if n > 0 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		made, err := jobs.NewWorkload(a.from, name, &w.Owner, w.PodSets)
		if err != nil {
			return refuse("%s: %v", title(s), err)
		}
		s.work[n].PodSets = made.Spec.PodSets
		for k := range made.Spec.PodSets {
			set := &made.Spec.PodSets[k]
			j.answer.Subject.Pods += int(set.Count)
			addRequests(total, set)
		}
		if made.Spec.Priority != nil {
			j.answer.Subject.Priority = *made.Spec.Priority
		}
		made.UID = types.UID(fmt.Sprintf("submitted-%04d-%04d", i, n))
		made.CreationTimestamp = metav1.NewTime(a.now.Add(time.Duration(i)*time.Millisecond + time.Duration(n)*time.Microsecond))
		made.OwnerReferences = []metav1.OwnerReference{{Kind: s.kind, Name: s.name}}
		if s.queue != "" {
			j.keys = append(j.keys, types.NamespacedName{Namespace: made.Namespace, Name: made.Name})
			a.present.Arrive(made, a.now)
		}
	}
	for name, amount := range total {
		j.answer.Subject.Requests[string(name)] = amount.String()
	}
	if s.queue != "" {
		quotas := a.state.Quotas()
		if err := a.settle(ctx); err != nil {
			return err
		}
		a.quota(j, quotas)
	}
	if err := a.nodes(ctx, j); err != nil {
		return err
	}
	if s.queue != "" {
		a.inReach(ctx, j)
	}
	return nil
}

// gang completes what a gang needs, by its PodGroup.
func (a *asking) gang(ctx context.Context, j *job) error {
	if j.subject.gang == nil {
		return nil
	}
	g := j.subject.gang
	u := a.reading.groups[groupKey(g.Group, j.namespace, g.Name)]
	if u == nil {
		version := map[string]string{nativeGroup: "v1beta1", coschedulingGroup: "v1alpha1"}[g.Group]
		o, err := a.cluster.Get(ctx, schema.GroupVersionKind{Group: g.Group, Version: version, Kind: "PodGroup"}, j.namespace, g.Name)
		if err != nil {
			return refuse("%s: its PodGroup %s/%s of %s is neither in the cluster nor among the objects", title(j.subject), j.namespace, g.Name, g.Group)
		}
		if u, err = unstructuredOf(o); err != nil {
			return err
		}
	}
	g.Needs = leastOf(u)
	return nil
}

// finish fills in what follows from all parts.
func (a *asking) finish(j *job) {
	a.verdict(j)
	j.answer.Sentence = sentence(j)
	a.answers.Items = append(a.answers.Items, *j.answer)
}

// verdict says the answer in a word.
func (a *asking) verdict(j *job) {
	out := j.answer
	switch {
	case out.Quota != nil && out.Quota.Admitted:
		out.Verdict = Admitted
	case out.Quota != nil:
		out.Verdict = Waits
		if hopeless(j) {
			out.Verdict = Never
		}
	case out.Nodes.Fit >= out.Nodes.Needs:
		out.Verdict = Admitted
	case out.Nodes.Never:
		out.Verdict = Never
	default:
		out.Verdict = Waits
	}
	if out.Quota == nil {
		out.Reason = Reason{Text: noQueueText(out), Said: []admission.Reason{}}
		out.Start.Now = out.Verdict == Admitted
	}
	out.Start.Text = startText(out)
}

func noQueueText(out *Answer) string {
	if out.Verdict == Admitted {
		return "No queue holds it back."
	}
	return found(out)
}

// hopeless reports whether only a change of the job, of the queues or of the nodes lets it in.
func hopeless(j *job) bool {
	switch j.answer.Reason.Tier {
	case "Misconfigured", "NoMatchingFlavor", "ExceedsMaxQuota", "TopologyPlacementFailed":
		return !j.placeable // a flavor that does not match says nothing of one that is full
	}
	return false
}

func (a *asking) summary() {
	s := &a.answers.Summary
	s.Asks = map[string]string{}
	total := v1.ResourceList{}
	for _, item := range a.answers.Items {
		s.Jobs++
		switch {
		case item.Starts():
			s.Starts++
		case item.Verdict == Admitted:
			s.NoNode++
		case item.Verdict == Never:
			s.Never++
		default:
			s.Waits++
		}
		for _, v := range item.Preempts {
			if v.Now {
				s.Preempted++
			}
		}
		for name, amount := range item.Subject.Requests {
			sum := total[v1.ResourceName(name)]
			sum.Add(mustParse(amount))
			total[v1.ResourceName(name)] = sum
		}
	}
	for name, amount := range total {
		s.Asks[string(name)] = amount.String()
	}
	a.answers.Sentence = a.answers.Items[0].Sentence
	if s.Jobs > 1 {
		parts := []string{fmt.Sprintf("%d would start at once", s.Starts)}
		if s.NoNode > 0 {
			parts = append(parts, fmt.Sprintf("%d would be admitted and find no nodes for all of its pods", s.NoNode))
		}
		parts = append(parts, fmt.Sprintf("%d would wait", s.Waits), fmt.Sprintf("%d would never start as written", s.Never))
		a.answers.Sentence = fmt.Sprintf("Of %d jobs, %s and %s.", s.Jobs, strings.Join(parts[:len(parts)-1], ", "), parts[len(parts)-1])
	}
}

func title(s *subject) string { return s.kind + " " + s.namespace + "/" + s.name }
