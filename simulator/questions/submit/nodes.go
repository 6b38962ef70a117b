package submit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

const (
	// mostEmptied bounds the pods that are taken away to see whether a pod would ever fit.
	mostEmptied = 500
	// mostNodeChanges bounds Nodes.Changes.
	mostNodeChanges = 3
)

// batch are pods of a job that are alike.
type batch struct {
	pod   *v1.Pod
	count int
}

// placing is the question where the pods of a job go.
type placing struct {
	asking  *asking
	job     *job
	placed  why.Placed
	changes []hypothesis.Change
	out     Nodes
	// failed is the question about the first pod that finds no node.
	failed *why.Question
}

// nodes fills in the half of the scheduler.
func (a *asking) nodes(ctx context.Context, j *job) error {
	var gone []types.NamespacedName
	var given *kueue.Workload
	if j.queue != "" {
		given = a.given(ctx, j)
		j.placeable = given != nil
		for _, v := range j.answer.Preempts {
			gone = append(gone, types.NamespacedName{Namespace: v.Namespace, Name: v.Name})
		}
	}
	p, err := a.place(ctx, j, given, gone)
	if err != nil {
		return err
	}
	j.answer.Nodes = p.out
	if p.out.Fit < p.out.Needs {
		if err := p.explain(ctx); err != nil {
			return err
		}
		j.answer.Nodes = p.out
	}
	if j.queue == "" || j.answer.Quota.Admitted {
		a.placed = p.placed
	}
	if given != nil {
		a.topology(j, given)
	}
	return nil
}

// place asks for the pods of a job, one after the other. given is what admission gives them, nil for nothing; gone are
// workloads whose pods have left.
func (a *asking) place(ctx context.Context, j *job, given *kueue.Workload, gone []types.NamespacedName) (*placing, error) {
	p := &placing{asking: a, job: j, placed: a.placed.Clone(), changes: slices.Clone(a.changes), out: Nodes{
		On: []string{}, Reasons: []why.Reason{}, Changes: []hypothesis.Suggestion{}, Flavored: given != nil,
	}}
	for _, pod := range a.pods {
		owner := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Annotations[kueue.WorkloadAnnotation]}
		if runs(pod) && slices.Contains(gone, owner) {
			p.changes = append(p.changes, deletion(pod))
		}
	}
	batches, err := p.batches(given)
	if err != nil {
		return nil, err
	}
	for _, b := range batches {
		p.out.Pods += b.count
		if err := p.ask(ctx, b); err != nil {
			return nil, err
		}
	}
	p.out.Needs = p.out.Pods
	if g := j.subject.gang; g != nil && g.Needs > 0 {
		p.out.Needs = min(g.Needs, p.out.Pods)
		if j.subject.native && p.out.Fit >= p.out.Needs && len(batches) == 1 {
			if err := p.whole(ctx, batches[0]); err != nil {
				return nil, err
			}
		}
	}
	p.out.Text = p.text()
	return p, nil
}

// runs reports whether a pod takes room on a node: the scheduler does not know those that have ended.
func runs(pod *v1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed
}

func deletion(pod *v1.Pod) hypothesis.Change {
	return hypothesis.Change{Delete: &hypothesis.Target{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}}
}

// batches are the pods as they are created: with what their flavors and their places in a topology give them.
func (p *placing) batches(given *kueue.Workload) ([]batch, error) {
	var out []batch
	var infos []jobs.Info
	if given != nil {
		var err error
		if infos, err = jobs.Infos(given, p.asking.state.Flavor); err != nil {
			return nil, err
		}
	}
	add := func(pod *v1.Pod, count int) {
		text, _ := json.Marshal(pod) // plain data
		at := slices.IndexFunc(out, func(b batch) bool {
			other, _ := json.Marshal(b.pod)
			return string(other) == string(text)
		})
		if at >= 0 {
			out[at].count += count
		} else if count > 0 {
			out = append(out, batch{pod, count})
		}
	}
	for _, w := range p.job.work {
		for i := range w.PodSets {
			set := &w.PodSets[i]
			pod := podOf(p.job.subject, set, p.job.name)
			if i >= len(infos) {
				add(pod, int(set.Count))
				continue
			}
			if err := infos[i].Inject(&pod.ObjectMeta, &pod.Spec); err != nil {
				p.asking.unjudged(title(p.job.subject), fmt.Sprintf("What the flavor gives its pods contradicts what they say, so that they would not start: %v.", err))
				return out, nil
			}
			delete(pod.Labels, queueLabel) // nobody gates them again
			pod.Spec.SchedulingGates = nil
			assignment := given.Status.Admission.PodSetAssignments[i].TopologyAssignment
			if assignment == nil {
				add(pod, int(infos[i].Count))
				continue
			}
			for _, domain := range admission.Domains(assignment) {
				there := pod.DeepCopy()
				if there.Spec.NodeSelector == nil {
					there.Spec.NodeSelector = map[string]string{}
				}
				for k, level := range assignment.Levels {
					there.Spec.NodeSelector[level] = domain.Values[k]
				}
				add(there, int(domain.Pods))
			}
		}
	}
	return out, nil
}

// alone returns a pod without its gang, whose members are counted one by one.
func alone(pod *v1.Pod) *v1.Pod {
	pod = pod.DeepCopy()
	pod.Spec.SchedulingGroup = nil
	delete(pod.Labels, coschedulingLabel)
	return pod
}

func (p *placing) question(pod *v1.Pod, count int) (why.Question, error) {
	document, err := json.Marshal(pod)
	q := why.Question{Question: hypothesis.Question{Pod: document, Changes: slices.Clone(p.changes)}, Replicas: min(count, hypothesis.MaxCopies), Kind: p.job.kind, NoChanges: true}
	p.placed.Before(&q)
	return q, err
}

func (p *placing) ask(ctx context.Context, b batch) error {
	q, err := p.question(alone(b.pod), b.count)
	if err != nil {
		return err
	}
	if b.count > hypothesis.MaxCopies {
		p.asking.unjudged(title(p.job.subject), fmt.Sprintf("Of %d pods, %d were asked about.", b.count, hypothesis.MaxCopies))
	}
	answer, err := why.Ask(ctx, p.asking.cluster, q)
	if err != nil {
		return refusedJob(p.job.subject, err)
	}
	for _, n := range answer.NotJudged {
		if n.What != string(whatif.OfControllers) { // Kueue, which is asked
			p.asking.unjudged(n.What, n.Text)
		}
	}
	p.out.Fit += len(answer.Nodes)
	p.out.On = append(p.out.On, answer.Nodes...)
	if len(answer.Nodes) < q.Replicas && p.failed == nil {
		p.failed = &q
		p.refusedBy(answer)
	}
	return p.placed.Add(q, answer)
}

// refusedBy fills in why a pod finds no node.
func (p *placing) refusedBy(answer *why.Answer) {
	p.out.Reasons, p.out.Sentence = answer.Reasons, because(answer)
	if len(answer.Nearest) > 0 {
		p.out.Nearest = &answer.Nearest[0]
	}
}

// mostBecause bounds the reasons in a sentence.
const mostBecause = 3

// noNodes is why no pod finds a node in a cluster without any.
const noNodes = "there is no node"

// because says why a pod finds no node: the plugins' own reasons, and what the nearest node lacks.
func because(a *why.Answer) string {
	var texts []string
	for _, r := range a.Reasons[:min(len(a.Reasons), mostBecause)] {
		texts = append(texts, fmt.Sprintf("%s: %s (%s)", why.Plural(r.Count, "node"), r.Text, r.Plugin))
	}
	if len(texts) == 0 {
		return noNodes
	}
	out := strings.Join(texts, ", ")
	if len(a.Nearest) > 0 && len(a.Nearest[0].Lacks) > 0 {
		var lacks []string
		for _, l := range a.Nearest[0].Lacks {
			if l.Amount > 0 {
				lacks = append(lacks, why.Amount(l)+" "+l.Resource)
			}
		}
		if len(lacks) > 0 {
			out += fmt.Sprintf("; %s is nearest and lacks %s", a.Nearest[0].Node, strings.Join(lacks, ", "))
		}
	}
	return out
}

// refusedJob says which job a refusal is about.
func refusedJob(s *subject, err error) error {
	if refused, ok := err.(*hypothesis.Refused); ok { // nobody wraps it
		named := *refused
		named.Message = title(s) + ": " + refused.Message
		return &named
	}
	return err
}

// whole asks the scheduler for the gang as one, which may have demands on the places of all together.
func (p *placing) whole(ctx context.Context, b batch) error {
	if whatif.GroupName(b.pod) == "" {
		p.asking.unjudged("the gang", "The scheduler does not read Kubernetes' own PodGroups without its feature gate GenericWorkload, so the pods are placed one by one, and no demand of the group on their places is judged.")
		return nil
	}
	q, err := p.question(b.pod, b.count)
	if err != nil {
		return err
	}
	// Without those that were counted one by one.
	q.Changes = slices.Clone(p.changes)
	if g := p.asking.reading.groups[groupKey(nativeGroup, p.job.namespace, p.job.subject.gang.Name)]; g != nil {
		change, err := asChange(g.Object)
		if err != nil {
			return err
		}
		q.Changes = append(q.Changes, change)
	}
	p.asking.placed.Before(&q)
	answer, err := why.Ask(ctx, p.asking.cluster, q)
	if err != nil {
		return refusedJob(p.job.subject, err)
	}
	if len(answer.Nodes) < p.out.Needs {
		p.out.Fit, p.out.On = len(answer.Nodes), append([]string{}, answer.Nodes...)
		p.refusedBy(answer)
		p.failed = &q
		return nil
	}
	p.out.On = answer.Nodes
	return nil
}

// explain says whether the pod that finds no node would ever find one, and what would help.
func (p *placing) explain(ctx context.Context) error {
	if p.failed == nil {
		return nil
	}
	var leave []hypothesis.Change
	for _, pod := range p.asking.pods {
		if owner := metav1.GetControllerOfNoCopy(pod); runs(pod) && (owner == nil || owner.Kind != "DaemonSet") {
			leave = append(leave, deletion(pod))
		}
	}
	if len(leave) <= mostEmptied {
		q := *p.failed
		q.Replicas, q.Changes = 1, append(slices.Clone(p.asking.changes), leave...)
		answer, err := why.Ask(ctx, p.asking.cluster, q)
		if err != nil {
			return refusedJob(p.job.subject, err)
		}
		p.out.Never = len(answer.Nodes) == 0
	}
	if p.asking.q.NoChanges {
		return nil
	}
	q := *p.failed
	q.NoChanges, q.Limit = false, mostNodeChanges
	answer, err := why.Ask(ctx, p.asking.cluster, q)
	if err != nil {
		return refusedJob(p.job.subject, err)
	}
	p.out.Changes = answer.Changes
	p.out.Text = p.text()
	return nil
}

func (p *placing) text() string {
	switch {
	case p.out.Fit >= p.out.Pods:
		on := slices.Clone(p.out.On)
		slices.Sort(on)
		return "Fit now, on " + explain.Names(slices.Compact(on))
	case p.job.subject.gang != nil && p.out.Fit < p.out.Needs:
		return fmt.Sprintf("%d of %d members find a node, the gang needs %d", p.out.Fit, p.out.Pods, p.out.Needs)
	case p.job.subject.gang != nil:
		return fmt.Sprintf("%d of %d members find a node, enough for the %d that the gang needs", p.out.Fit, p.out.Pods, p.out.Needs)
	case p.out.Fit == 0:
		return "No node"
	}
	return fmt.Sprintf("%d of %d pods find a node", p.out.Fit, p.out.Pods)
}

// topology fills in the table of domains, for the first pod set that has a place in one.
func (a *asking) topology(j *job, given *kueue.Workload) {
	if given.Status.Admission == nil {
		return
	}
	for _, assigned := range given.Status.Admission.PodSetAssignments {
		if assigned.TopologyAssignment == nil {
			continue
		}
		flavor := ""
		for _, f := range assigned.Flavors {
			flavor = max(flavor, string(f))
		}
		level, rooms := a.state.Room(j.keys[0], string(assigned.Name), flavor, a.now)
		if len(rooms) == 0 {
			continue
		}
		wants := 0
		if assigned.Count != nil {
			wants = int(*assigned.Count)
		}
		t := &Topology{Level: level, PodSet: string(assigned.Name), Wants: wants, Domains: []Domain{}}
		on := map[string]int{}
		if j.answer.Quota.Admitted || len(j.answer.Preempts) > 0 { // else they are the places in an empty cluster
			on = a.domainsOn(assigned.TopologyAssignment, level)
		}
		var then map[string]int
		if len(j.answer.Preempts) > 0 {
			then = a.roomThen(j, string(assigned.Name), flavor)
		}
		for _, room := range rooms {
			d := Domain{Name: strings.Join(room.Values[max(0, len(room.Values)-1):], "/"), Nodes: room.Nodes, Fit: int(room.Pods), Free: map[string]string{}, Needs: map[string]string{}}
			for name, v := range room.Free {
				d.Free[string(name)] = amount(name, v)
			}
			for name, v := range room.Each {
				d.Needs[string(name)] = amount(name, v*int64(wants))
			}
			d.Given = on[d.Name]
			if then != nil {
				d.FitThen = new(then[strings.Join(room.Values, "\x00")])
			}
			t.Domains = append(t.Domains, d)
		}
		slices.SortFunc(t.Domains, func(x, y Domain) int {
			return cmp.Or(cmp.Compare(y.Given, x.Given), cmp.Compare(y.Fit, x.Fit), cmp.Compare(x.Name, y.Name))
		})
		j.answer.Topology = t
		return
	}
}

// roomThen counts the pods of a job that fit in each domain once those that it preempts have gone.
func (a *asking) roomThen(j *job, set, flavor string) map[string]int {
	state := a.state.Clone()
	for _, v := range j.answer.Preempts {
		gone := types.NamespacedName{Namespace: v.Namespace, Name: v.Name}
		state.DeleteWorkload(gone)
		for _, pod := range a.pods {
			if pod.Namespace == gone.Namespace && pod.Annotations[kueue.WorkloadAnnotation] == gone.Name {
				state.DeletePod(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
			}
		}
	}
	_, rooms := state.Room(j.keys[0], set, flavor, a.now)
	out := map[string]int{}
	for _, room := range rooms {
		out[strings.Join(room.Values, "\x00")] = int(room.Pods)
	}
	return out
}

// domainsOn counts the pods of an assignment by their domain at a level.
func (a *asking) domainsOn(assignment *kueue.TopologyAssignment, level string) map[string]int {
	on := map[string]int{}
	at := slices.Index(assignment.Levels, level)
	for _, d := range admission.Domains(assignment) {
		name := ""
		switch {
		case at >= 0:
			name = d.Values[at]
		case len(d.Values) > 0: // the node only
			name = a.labelOf(d.Values[len(d.Values)-1], level)
		}
		on[name] += int(d.Pods)
	}
	return on
}

func (a *asking) labelOf(node, label string) string {
	return a.nodeLabels[node][label]
}
