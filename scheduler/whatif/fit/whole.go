package fit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

const (
	// mostPods is how many pods a workload may have for a change of its template to be tried for all of them.
	mostPods = 64
	// maxPlacements is how many pods are placed for one question to try rollouts.
	maxPlacements = 2000
)

// siblingsOf returns the other pods that the topmost controller of a pod has made.
func siblingsOf(ctx context.Context, pod *v1.Pod, w *workload, pods []*v1.Pod, known ...Workloads) []*v1.Pod {
	own := metav1.GetControllerOfNoCopy(pod)
	if own == nil {
		return nil
	}
	revisions := map[string]bool{}
	// A Deployment has a ReplicaSet for each version of its template.
	revision := func(name string) bool {
		if w == nil || w.gvk.Kind == own.Kind {
			return false
		}
		if is, tried := revisions[name]; tried {
			return is
		}
		object, _ := get(ctx, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), pod.Namespace, name, known).(*appsv1.ReplicaSet)
		if object != nil {
			owner := metav1.GetControllerOfNoCopy(object)
			revisions[name] = owner != nil && owner.Kind == w.gvk.Kind && owner.Name == w.name
		}
		return revisions[name]
	}
	var out []*v1.Pod
	for _, p := range pods {
		of := metav1.GetControllerOfNoCopy(p)
		if p.UID == pod.UID || p.Namespace != pod.Namespace || of == nil || of.Kind != own.Kind {
			continue
		}
		if of.Name == own.Name && of.UID == own.UID || w != nil && w.selects(p) && revision(of.Name) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, byPriority)
	return out
}

// selects reports whether the pod is one that a Deployment may have made.
func (w *workload) selects(p *v1.Pod) bool {
	d, ok := w.object.(*appsv1.Deployment)
	if !ok {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(p.Labels))
}

// sibling reports whether the pod's own controller has made another pod.
func (s *search) sibling(p *v1.Pod) bool {
	return slices.ContainsFunc(s.siblings, func(o *v1.Pod) bool { return o.UID == p.UID })
}

// rollout plays in the trial what controllers do when the template of a workload changes.
type rollout struct {
	*search
	// relaxed returns a pod as the new template makes it.
	relaxed func(*v1.Pod) *v1.Pod
	// made counts the new pods, of which waiting have no node.
	made    int
	waiting []*v1.Pod
}

// whole reports whether all pods of the workload find a node when its template changes: those that run are replaced, and those that wait
// find one, too. before is the state without the changes, to which it returns.
func (s *search) whole(ctx context.Context, c candidate, before whatif.Mark, w *written) (bool, error) {
	if !w.template || whatif.GroupName(s.pod) != "" {
		return true, nil
	}
	if len(s.siblings) >= mostPods || s.writer.workload.replicas() > mostPods || s.placements <= 0 {
		s.omitOnce(explain.RolloutNotTried{Pods: mostPods})
		return true, nil
	}
	s.trial.Rollback(before)
	mark := s.trial.Mark()
	defer s.trial.Rollback(mark)
	if err := s.trial.Apply(w.hypothetical[:w.others]...); err != nil {
		return false, err
	}
	r := &rollout{search: s, relaxed: func(p *v1.Pod) *v1.Pod {
		p = fresh(p)
		relax(&p.Spec, c.remedies)
		return p
	}}
	return r.play(ctx)
}

// leaves counts the other pods of the workload that wait, or are still to be made, and find no node when a change does not reach its template.
// before is the state without the changes.
func (s *search) leaves(ctx context.Context, pod *v1.Pod, before whatif.Mark, w written) (int, error) {
	if w.template || s.writer.workload == nil || whatif.GroupName(s.pod) != "" || newnode.OfDaemonSet(s.pod) {
		return 0, nil
	}
	if len(s.siblings) >= mostPods || s.writer.workload.replicas() > mostPods || s.placements <= 0 {
		s.omitOnce(explain.RolloutNotTried{Pods: mostPods})
		return 0, nil
	}
	s.trial.Rollback(before)
	defer s.trial.Rollback(before)
	if err := s.trial.Apply(append(slices.Clone(w.hypothetical), w.siblings...)...); err != nil {
		return 0, err
	}
	r := &rollout{search: s, relaxed: fresh, waiting: []*v1.Pod{pod}}
	missing := s.writer.workload.replicas() - 1
	for _, p := range s.siblings {
		if p.DeletionTimestamp != nil || r.gone(p) {
			continue
		}
		if missing--; p.Spec.NodeName == "" {
			p, err := s.trial.Pod(p.Namespace, p.Name)
			if err != nil {
				return 0, err
			}
			r.waiting = append(r.waiting, p)
		}
	}
	if !slices.ContainsFunc(s.pod.Spec.Volumes, func(v v1.Volume) bool { return v.PersistentVolumeClaim != nil }) {
		if err := r.make(ctx, max(missing, 0)); err != nil {
			return 0, err
		}
	}
	if len(r.waiting) == 1 {
		return 0, nil
	}
	_, err := r.place(ctx)
	return len(r.waiting), err
}

func (r *rollout) play(ctx context.Context) (bool, error) {
	var running, pending []*v1.Pod
	for _, p := range append(slices.Clone(r.siblings), r.pod) {
		switch {
		case p.DeletionTimestamp != nil || r.gone(p):
		case p.Spec.NodeName != "":
			running = append(running, p)
		default:
			pending = append(pending, p)
		}
	}
	switch object := r.writer.workload.object.(type) {
	case *appsv1.Deployment:
		if object.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
			return r.anew(ctx, append(running, pending...), r.writer.workload.replicas())
		}
		return r.deployment(ctx, object, running, pending)
	case *appsv1.StatefulSet:
		return r.oneByOne(ctx, running, pending)
	case *appsv1.DaemonSet:
		return r.oneByOne(ctx, running, []*v1.Pod{r.pod})
	case *batchv1.Job:
		return r.anew(ctx, append(running, pending...), r.writer.workload.replicas())
	default:
		return r.anew(ctx, pending, len(pending))
	}
}

// gone reports whether an earlier change deletes the pod.
func (r *rollout) gone(p *v1.Pod) bool {
	_, err := r.trial.Get(podKind, p.Namespace, p.Name)
	return err != nil
}

// anew deletes pods, and makes so many new ones.
func (r *rollout) anew(ctx context.Context, old []*v1.Pod, count int) (bool, error) {
	if err := r.remove(old...); err != nil {
		return false, err
	}
	if err := r.make(ctx, max(count, 1)); err != nil {
		return false, err
	}
	_, err := r.place(ctx)
	return len(r.waiting) == 0, err
}

// oneByOne replaces each pod by one of the same name: first those that wait, and then those that run, the last one first.
func (r *rollout) oneByOne(ctx context.Context, running, pending []*v1.Pod) (bool, error) {
	slices.SortFunc(pending, byOrdinal)
	slices.SortFunc(running, func(a, b *v1.Pod) int { return byOrdinal(b, a) })
	for _, p := range append(pending, running...) {
		if err := r.remove(p); err != nil {
			return false, err
		}
		next, err := r.trial.New(r.relaxed(p))
		if err != nil {
			return false, err
		}
		r.waiting = append(r.waiting, next)
		if _, err := r.place(ctx); err != nil || len(r.waiting) > 0 {
			return false, err
		}
	}
	return true, nil
}

// byOrdinal is the order of the pods of a StatefulSet, whose names end with their numbers.
func byOrdinal(a, b *v1.Pod) int {
	return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
}

// deployment plays a rolling update, as the Deployment's controller does it: new pods come while old ones go, those first that wait.
func (r *rollout) deployment(ctx context.Context, d *appsv1.Deployment, running, pending []*v1.Pod) (bool, error) {
	replicas := r.writer.workload.replicas()
	surge, unavailable := bounds(d, replicas)
	for {
		progress := false
		if more := min(replicas+surge-len(running)-len(pending)-r.made, replicas-r.made); more > 0 {
			if err := r.make(ctx, more); err != nil {
				return false, err
			}
			progress = true
		}
		placed, err := r.place(ctx)
		if err != nil {
			return false, err
		}
		progress = progress || placed > 0
		if len(running)+len(pending) == 0 && r.made == replicas && len(r.waiting) == 0 {
			return true, nil
		}
		spare := len(running) + len(pending) + r.made - (replicas - unavailable) - len(r.waiting)
		if n := min(spare, len(pending)); n > 0 {
			if err := r.remove(pending[:n]...); err != nil {
				return false, err
			}
			pending, progress = pending[n:], true
		}
		available := len(running) + r.made - len(r.waiting)
		if n := min(available-(replicas-unavailable), len(running)); n > 0 && spare > 0 {
			crowdedLast(running)
			if err := r.remove(running[len(running)-n:]...); err != nil {
				return false, err
			}
			running, progress = running[:len(running)-n], true
		}
		if !progress || r.placements <= 0 {
			return false, nil
		}
	}
}

// bounds returns how many pods there may be too many, and too few, during a rolling update.
func bounds(d *appsv1.Deployment, replicas int) (surge, unavailable int) {
	quarter := intstr.FromString("25%")
	update := ptr.Deref(d.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
	// An error means that the field is no number; the API server refuses that.
	surge, _ = intstr.GetScaledValueFromIntOrPercent(cmp.Or(update.MaxSurge, &quarter), replicas, true)
	unavailable, _ = intstr.GetScaledValueFromIntOrPercent(cmp.Or(update.MaxUnavailable, &quarter), replicas, false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

// crowdedLast moves those pods to the end that share their node with the most others: a ReplicaSet deletes them first.
func crowdedLast(pods []*v1.Pod) {
	on := map[string]int{}
	for _, p := range pods {
		on[p.Spec.NodeName]++
	}
	slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return cmp.Compare(on[a.Spec.NodeName], on[b.Spec.NodeName]) })
}

func (r *rollout) remove(pods ...*v1.Pod) error {
	for _, p := range pods {
		if err := r.trial.Apply(whatif.Change{Delete: podRef(p)}); err != nil {
			return err
		}
	}
	return nil
}

// make makes pods of the new template. A Deployment labels them with its hash, which its constraints may count by.
func (r *rollout) make(ctx context.Context, count int) error {
	for range count {
		p := r.relaxed(r.pod)
		p.GenerateName, p.Name = r.writer.workload.name+"-", ""
		relabel(p, appsv1.DefaultDeploymentUniqueLabelKey, "new")
		next, err := r.trial.New(p)
		if err != nil {
			return err
		}
		if err := r.trial.Add(ctx, next); err != nil {
			return err
		}
		r.waiting = append(r.waiting, next)
		r.made++
	}
	return nil
}

// relabel changes a label of the pod, if it has it, with what the API server has merged of it into the pod's selectors.
func relabel(p *v1.Pod, key, value string) {
	old, ok := p.Labels[key]
	if !ok {
		return
	}
	p.Labels = maps.Clone(p.Labels)
	p.Labels[key] = value
	eachSelector(&p.Spec, func(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator) {
		for i := range selector.MatchExpressions {
			if e := &selector.MatchExpressions[i]; e.Key == key && e.Operator == operator && slices.Contains(keys, key) && slices.Equal(e.Values, []string{old}) {
				e.Values = []string{value}
			}
		}
	})
}

// place places those of the waiting pods that find a node, and counts them.
func (r *rollout) place(ctx context.Context) (int, error) {
	var left []*v1.Pod
	for _, p := range r.waiting {
		if r.placements--; r.placements < 0 {
			left = append(left, p)
			continue
		}
		node, err := r.trial.Choose(ctx, p, r.profile)
		if err != nil {
			return 0, err
		}
		if node == "" {
			left = append(left, p)
			continue
		}
		if err := r.trial.Place(ctx, p, r.profile, node); err != nil {
			return 0, err
		}
	}
	placed := len(r.waiting) - len(left)
	r.waiting = left
	return placed, nil
}

// larger returns the smallest suggestion that does for all pods of the workload what a candidate does for one. It is nil if none does.
func (s *search) larger(ctx context.Context, c candidate) (*offer, error) {
	at := -1
	for i, r := range c.remedies {
		if r.scale != nil {
			if at >= 0 {
				return nil, nil
			}
			at = i
		}
	}
	if at < 0 {
		return nil, nil
	}
	with := func(step int64) (*offer, error) {
		next := candidate{c.node, slices.Clone(c.remedies)}
		next.remedies[at] = c.remedies[at].scale.to(step)
		_, o, err := s.ask(ctx, next, true)
		if o != nil && o.left > 0 {
			return nil, err
		}
		return o, err
	}
	few, enough := c.remedies[at].scale.step, c.remedies[at].scale.most
	best, err := with(enough)
	if err != nil || best == nil {
		return nil, err
	}
	for few+1 < enough {
		if s.placements <= 0 || s.checks <= 0 { // Whether less does is not known.
			s.omitOnce(explain.ChangesNotTried{Changes: 1})
			return nil, nil
		}
		half := (few + enough) / 2
		o, err := with(half)
		if err != nil {
			return nil, err
		}
		if o == nil {
			few = half
		} else {
			best, enough = o, half
		}
	}
	return best, nil
}

// scaleDown offers that the workload asks for no more pods than run.
func (s *search) scaleDown() error {
	w := s.writer.workload
	if w == nil || s.full() || s.target != "" {
		return nil
	}
	running, owners := 0, map[string]bool{}
	runs := func(p *v1.Pod) bool { return p.Spec.NodeName != "" && p.DeletionTimestamp == nil }
	for _, p := range s.siblings {
		if runs(p) {
			running++
			owners[metav1.GetControllerOfNoCopy(p).Name] = true
		}
	}
	if _, ordered := w.object.(*appsv1.StatefulSet); ordered {
		// Its last pods go, and not those that wait.
		all := slices.SortedFunc(slices.Values(append(slices.Clone(s.siblings), s.pod)), byOrdinal)
		if slices.IndexFunc(all, func(p *v1.Pod) bool { return !runs(p) }) != running {
			return nil
		}
	}
	from := w.replicas()
	changed := w.object.DeepCopyObject()
	if running == 0 || running >= from || len(owners) > 1 || !owners[metav1.GetControllerOfNoCopy(s.pod).Name] || !setReplicas(changed, int32(running)) {
		return nil
	}
	patch, err := patchOf(w.object, changed, changed)
	if err != nil {
		return err
	}
	change := whatif.Change{Patch: &whatif.Patch{ObjectRef: whatif.ObjectRef{GVK: w.gvk, Namespace: s.pod.Namespace, Name: w.name}, Patch: patch}}
	says := explain.ScaleDown{WorkloadKind: w.gvk.Kind, Name: w.name, From: from, To: running}
	r := remedy{says: says, shape: "scaleDown", disturbance: ofReplicas}
	s.found = append(s.found, offer{candidate: candidate{remedies: []remedy{r}}, Suggestion: Suggestion{
		Kind: KindPod, Text: explain.Statement{Operands: says}.String(), Advice: explain.Advice{Steps: []explain.Statement{{Operands: says}}},
		Changes: []whatif.Change{change}, Hypothesis: []whatif.Change{{Delete: podRef(s.pod)}}, Nodes: []string{},
	}})
	return nil
}
