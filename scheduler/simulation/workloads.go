package simulation

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/robfig/cron/v3"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"
	hashutil "k8s.io/kubernetes/pkg/util/hash"
	"k8s.io/utils/ptr"
)

// workloads does the work of the workload controllers, as far as scheduling can see: it creates,
// replaces and deletes pods.
//
// Kubernetes draws the last part of a pod's name at random. Here the owner numbers its pods.
type workloads struct {
	*control
	// numbers counts the pods that each owner has had.
	numbers map[types.UID]int64
	timers  map[ref]*timer
	// adopting are the owners that have adopted what they found.
	adopting map[types.UID]bool
}

func newWorkloads(c *control) workloads {
	return workloads{c, map[types.UID]int64{}, map[ref]*timer{}, map[types.UID]bool{}}
}

// reconcile makes the pods of a workload what they should be. o is nil if it is gone.
func (w *workloads) reconcile(r ref, o object) error {
	if o == nil || o.GetDeletionTimestamp() != nil {
		w.timers[r].stop()
		delete(w.timers, r)
		return nil
	}
	if !w.adopting[o.GetUID()] {
		w.adopting[o.GetUID()] = true
		if err := w.adopt(r.gvk, o); err != nil {
			return err
		}
	}
	switch o := o.(type) {
	case *appsv1.Deployment:
		return w.deployment(o)
	case *appsv1.ReplicaSet:
		return w.replicaSet(o)
	case *appsv1.StatefulSet:
		return w.statefulSet(o)
	case *appsv1.DaemonSet:
		return w.daemonSet(o)
	case *batchv1.Job:
		return w.job(r, o)
	case *batchv1.CronJob:
		return w.cronJob(r, o)
	}
	return nil
}

// adopt makes a new workload the controller of what it selects and nothing controls yet, as
// Kubernetes' controllers do. So a cluster that another one exported, in which objects come before
// their owners, keeps its pods. Objects that come later than the workload stay as they are.
func (w *workloads) adopt(gvk schema.GroupVersionKind, o object) error {
	var labelSelector *metav1.LabelSelector
	of := podKind
	switch o := o.(type) {
	case *appsv1.Deployment:
		labelSelector, of = o.Spec.Selector, replicaSetKind
	case *appsv1.ReplicaSet:
		labelSelector = o.Spec.Selector
	case *appsv1.StatefulSet:
		labelSelector = o.Spec.Selector
	case *appsv1.DaemonSet:
		labelSelector = o.Spec.Selector
	case *batchv1.Job:
		labelSelector = o.Spec.Selector
	}
	selector, err := metav1.LabelSelectorAsSelector(labelSelector) // of nil, it selects nothing
	if err != nil || selector.Empty() {
		return nil // no API server takes such a workload
	}
	for _, orphan := range w.list(of) {
		if orphan.GetNamespace() != o.GetNamespace() || orphan.GetDeletionTimestamp() != nil || metav1.GetControllerOfNoCopy(orphan) != nil ||
			!selector.Matches(labels.Set(orphan.GetLabels())) {
			continue
		}
		adopted := orphan.DeepCopyObject().(object)
		adopted.SetOwnerReferences(append(adopted.GetOwnerReferences(), *metav1.NewControllerRef(o, gvk)))
		if err := w.put(of, adopted); err != nil {
			return err
		}
	}
	return nil
}

func (w *workloads) wake(r ref, after time.Duration) {
	w.timers[r].stop()
	w.timers[r] = w.timeline.after(after, false, func() {
		delete(w.timers, r)
		w.look(r)
	})
}

func newPod(template *v1.PodTemplateSpec, namespace string, owner *metav1.OwnerReference) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Labels: cloneMap(template.Labels), Annotations: cloneMap(template.Annotations),
			Finalizers: slices.Clone(template.Finalizers), OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Spec: *template.Spec.DeepCopy(),
	}
}

func cloneMap(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for key, value := range m {
		out[key] = value
	}
	return out
}

func (w *workloads) number(owner types.UID) string {
	w.numbers[owner]++
	return suffix(w.numbers[owner])
}

// active returns the pods of an owner that have not ended and are not being deleted.
func (w *workloads) active(owner types.UID) []*v1.Pod {
	return slices.DeleteFunc(ownedBy[*v1.Pod](w.cluster, owner, podKind), func(pod *v1.Pod) bool {
		return ended(pod) || pod.DeletionTimestamp != nil
	})
}

func (w *workloads) deletePod(pod *v1.Pod) error {
	return w.remove(refOf(podKind, pod), metav1.DeleteOptions{})
}

// byWorth sorts pods as ReplicaSets delete them: first those without a node, not running, not
// ready, and the latest.
func byWorth(a, b *v1.Pod) int {
	rank := func(pod *v1.Pod) int {
		switch {
		case pod.Spec.NodeName == "":
			return 0
		case pod.Status.Phase != v1.PodRunning:
			return 1
		case !isReady(pod):
			return 2
		}
		return 3
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.UID, a.UID))
}

func (w *workloads) replicaSet(set *appsv1.ReplicaSet) error {
	pods := w.active(set.UID)
	want := int(ptr.Deref(set.Spec.Replicas, 1))
	if len(pods) > want {
		slices.SortFunc(pods, byWorth)
		for _, pod := range pods[:len(pods)-want] {
			if err := w.deletePod(pod); err != nil {
				return err
			}
		}
	}
	owner := metav1.NewControllerRef(set, replicaSetKind)
	for range want - len(pods) {
		pod := newPod(&set.Spec.Template, set.Namespace, owner)
		pod.GenerateName = set.Name + "-"
		pod.Name = set.Name + "-" + w.number(set.UID)
		if _, err := w.create(pod); err != nil {
			return err
		}
	}
	ready := int32(0)
	for _, pod := range pods[:min(len(pods), want)] {
		if isReady(pod) {
			ready++
		}
	}
	if status := set.Status; status.Replicas != int32(want) || status.ReadyReplicas != ready || status.ObservedGeneration != set.Generation {
		after := *set
		after.Status.Replicas, after.Status.ReadyReplicas, after.Status.AvailableReplicas = int32(want), ready, ready
		after.Status.ObservedGeneration = set.Generation
		return w.put(replicaSetKind, &after)
	}
	return nil
}

// hashOf is Kubernetes' ComputeHash of a template.
func hashOf(template *v1.PodTemplateSpec) string {
	h := fnv.New32a()
	hashutil.DeepHashObject(h, *template)
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

// deployment creates the present template's ReplicaSet, and moves replicas to it within the
// strategy's limits.
func (w *workloads) deployment(d *appsv1.Deployment) error {
	want := ptr.Deref(d.Spec.Replicas, 1)
	var present *appsv1.ReplicaSet
	var old []*appsv1.ReplicaSet
	for _, set := range ownedBy[*appsv1.ReplicaSet](w.cluster, d.UID, replicaSetKind) {
		if present == nil && isOf(set, d) {
			present = set
		} else if ptr.Deref(set.Spec.Replicas, 0) > 0 || len(w.active(set.UID)) > 0 {
			old = append(old, set)
		}
	}
	if present == nil {
		replicas := want
		if len(old) > 0 {
			replicas = 0
		}
		_, err := w.create(replicaSetOf(d, hashOf(&d.Spec.Template), replicas))
		return err // its creation leads here again
	}
	if d.Spec.Paused {
		return nil
	}
	if len(old) == 0 {
		return w.resize(present, want)
	}
	return w.roll(d, present, old, want)
}

// isOf reports whether a ReplicaSet has the present template of its Deployment, as Kubernetes'
// EqualIgnoreHash does.
func isOf(set *appsv1.ReplicaSet, d *appsv1.Deployment) bool {
	template := set.Spec.Template
	template.Labels = cloneMap(template.Labels)
	delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return equality.Semantic.DeepEqual(template, d.Spec.Template)
}

func replicaSetOf(d *appsv1.Deployment, hash string, replicas int32) *appsv1.ReplicaSet {
	const key = appsv1.DefaultDeploymentUniqueLabelKey
	template := *d.Spec.Template.DeepCopy()
	template.Labels = cloneMap(template.Labels)
	template.Labels[key] = hash
	selector := metav1.CloneSelectorAndAddLabel(d.Spec.Selector, key, hash)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: d.Name + "-" + hash, Namespace: d.Namespace, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, deploymentKind)},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: selector, Template: template, MinReadySeconds: d.Spec.MinReadySeconds},
	}
}

func (w *workloads) resize(set *appsv1.ReplicaSet, replicas int32) error {
	if ptr.Deref(set.Spec.Replicas, 1) == replicas {
		return nil
	}
	after := *set
	after.Spec.Replicas = &replicas
	after.Generation++
	return w.put(replicaSetKind, &after)
}

func (w *workloads) roll(d *appsv1.Deployment, present *appsv1.ReplicaSet, old []*appsv1.ReplicaSet, want int32) error {
	surge, unavailable := int32(0), want
	if d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		surge, unavailable = limits(d, want)
	}
	total, ready, before := ptr.Deref(present.Spec.Replicas, 1), present.Status.ReadyReplicas, int32(0)
	for _, set := range old {
		before += ptr.Deref(set.Spec.Replicas, 0)
		ready += set.Status.ReadyReplicas
		if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && len(ownedBy[*v1.Pod](w.cluster, set.UID, podKind)) > 0 {
			if err := w.resize(set, 0); err != nil {
				return err
			}
			before = max(before, 1) // wait until its pods are gone
		}
	}
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && before > 0 {
		return nil
	}
	total += before
	if room := min(want+surge-total, want-ptr.Deref(present.Spec.Replicas, 1)); room > 0 {
		return w.resize(present, ptr.Deref(present.Spec.Replicas, 1)+room)
	}
	spare := total - (want - unavailable) - (ptr.Deref(present.Spec.Replicas, 1) - present.Status.ReadyReplicas)
	for _, set := range old {
		has := ptr.Deref(set.Spec.Replicas, 0)
		// Replicas that are not ready can always go.
		goes := min(has, max(spare, has-set.Status.ReadyReplicas))
		if goes <= 0 {
			continue
		}
		spare -= goes
		if err := w.resize(set, has-goes); err != nil {
			return err
		}
	}
	return nil
}

func limits(d *appsv1.Deployment, want int32) (surge, unavailable int32) {
	u := d.Spec.Strategy.RollingUpdate
	if u == nil {
		return 0, 1
	}
	up, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(u.MaxSurge, intstr.FromInt32(0)), int(want), true)
	if err != nil {
		up = 0
	}
	down, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(u.MaxUnavailable, intstr.FromInt32(0)), int(want), false)
	if err != nil || up == 0 && down == 0 {
		down = 1
	}
	return int32(up), int32(down)
}

func (w *workloads) statefulSet(set *appsv1.StatefulSet) error {
	want := int(ptr.Deref(set.Spec.Replicas, 1))
	start := 0
	if set.Spec.Ordinals != nil {
		start = int(set.Spec.Ordinals.Start)
	}
	inOrder := set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	for i := start; i < start+want; i++ {
		name := set.Name + "-" + strconv.Itoa(i)
		pod, exists := find[*v1.Pod](w.cluster, podKind, set.Namespace, name)
		if exists && ended(pod) && metav1.IsControlledBy(pod, set) {
			if err := w.deletePod(pod); err != nil {
				return err
			}
			exists = false
		}
		if !exists {
			if err := w.createOrdinal(set, name, i); err != nil {
				return err
			}
		}
		if inOrder && (!exists || !isReady(pod) || pod.DeletionTimestamp != nil) {
			return nil
		}
	}
	return w.condemn(set, start, want, inOrder)
}

// condemn deletes the pods beyond the replicas, the last one first.
func (w *workloads) condemn(set *appsv1.StatefulSet, start, want int, inOrder bool) error {
	var beyond []int
	for _, pod := range ownedBy[*v1.Pod](w.cluster, set.UID, podKind) {
		i, err := strconv.Atoi(pod.Labels[appsv1.PodIndexLabel])
		if err == nil && (i < start || i >= start+want) {
			beyond = append(beyond, i)
		}
	}
	slices.Sort(beyond)
	for _, i := range slices.Backward(beyond) {
		pod, _ := find[*v1.Pod](w.cluster, podKind, set.Namespace, set.Name+"-"+strconv.Itoa(i))
		if pod.DeletionTimestamp == nil {
			if err := w.deletePod(pod); err != nil {
				return err
			}
		}
		if inOrder {
			return nil
		}
	}
	return nil
}

func (w *workloads) createOrdinal(set *appsv1.StatefulSet, name string, i int) error {
	pod := newPod(&set.Spec.Template, set.Namespace, metav1.NewControllerRef(set, statefulSetKind))
	pod.Name = name
	pod.Labels[appsv1.StatefulSetPodNameLabel], pod.Labels[appsv1.PodIndexLabel] = name, strconv.Itoa(i)
	pod.Spec.Hostname, pod.Spec.Subdomain = name, set.Spec.ServiceName
	for i := range set.Spec.VolumeClaimTemplates {
		template := &set.Spec.VolumeClaimTemplates[i]
		claim := template.DeepCopy()
		claim.Name, claim.Namespace = template.Name+"-"+name, set.Namespace
		if _, err := w.create(claim); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		source := v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}
		pod.Spec.Volumes = append(slices.DeleteFunc(pod.Spec.Volumes, func(v v1.Volume) bool { return v.Name == template.Name }), v1.Volume{Name: template.Name, VolumeSource: source})
	}
	_, err := w.create(pod)
	return err
}

func (w *workloads) job(r ref, job *batchv1.Job) error {
	if finished(job) {
		return w.finishedJob(r, job)
	}
	if ptr.Deref(job.Spec.Suspend, false) {
		for _, pod := range w.active(job.UID) {
			if err := w.deletePod(pod); err != nil {
				return err
			}
		}
		return nil
	}
	var succeeded, failed int32
	taken := map[int]bool{}
	done := map[int]bool{}
	active := int32(0)
	for _, pod := range ownedBy[*v1.Pod](w.cluster, job.UID, podKind) {
		index, _ := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
		switch {
		case pod.Status.Phase == v1.PodSucceeded:
			succeeded++
			done[index] = true
		case pod.Status.Phase == v1.PodFailed:
			failed++
		case pod.DeletionTimestamp == nil:
			active++
			taken[index] = true
		}
	}
	after := *job
	if after.Status.StartTime == nil {
		now := w.timeline.stamp()
		after.Status.StartTime = &now
	}
	indexed := ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
	if indexed {
		succeeded = int32(len(done))
	}
	after.Status.Active, after.Status.Succeeded, after.Status.Failed = active, succeeded, failed
	switch {
	case failed > ptr.Deref(job.Spec.BackoffLimit, 6):
		return w.endJob(&after, batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded)
	case job.Spec.Completions != nil && succeeded >= *job.Spec.Completions, job.Spec.Completions == nil && succeeded > 0 && active == 0:
		return w.endJob(&after, batchv1.JobComplete, batchv1.JobReasonCompletionsReached)
	}
	want := ptr.Deref(job.Spec.Parallelism, 1)
	if job.Spec.Completions != nil {
		want = min(want, *job.Spec.Completions-succeeded)
	} else if succeeded > 0 {
		want = active
	}
	for index := 0; active < want; index++ {
		if indexed && (taken[index] || done[index]) {
			continue
		}
		if err := w.createJobPod(job, index, indexed); err != nil {
			return err
		}
		active++
	}
	after.Status.Active = active
	if s := job.Status; s.StartTime != nil && s.Active == active && s.Succeeded == succeeded && s.Failed == failed {
		return nil
	}
	return w.put(jobKind, &after)
}

func (w *workloads) createJobPod(job *batchv1.Job, index int, indexed bool) error {
	pod := newPod(&job.Spec.Template, job.Namespace, metav1.NewControllerRef(job, jobKind))
	pod.Labels[batchv1.JobNameLabel], pod.Labels[batchv1.ControllerUidLabel] = job.Name, string(job.UID)
	pod.GenerateName = job.Name + "-"
	if indexed {
		i := strconv.Itoa(index)
		pod.Annotations[batchv1.JobCompletionIndexAnnotation], pod.Labels[batchv1.JobCompletionIndexAnnotation] = i, i
		pod.GenerateName = job.Name + "-" + i + "-"
		pod.Spec.Hostname = job.Name + "-" + i
	}
	pod.Name = pod.GenerateName + w.number(job.UID)
	_, err := w.create(pod)
	return err
}

func finished(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == v1.ConditionTrue
	})
}

func (w *workloads) endJob(job *batchv1.Job, kind batchv1.JobConditionType, reason string) error {
	for _, pod := range w.active(job.UID) {
		if err := w.deletePod(pod); err != nil {
			return err
		}
	}
	now := w.timeline.stamp()
	job.Status.Active = 0
	job.Status.Conditions = append(slices.Clone(job.Status.Conditions), batchv1.JobCondition{Type: kind, Status: v1.ConditionTrue, Reason: reason, LastProbeTime: now, LastTransitionTime: now})
	if kind == batchv1.JobComplete {
		job.Status.CompletionTime = &now
	}
	return w.put(jobKind, job)
}

// finishedJob deletes a Job when its time to live is over.
func (w *workloads) finishedJob(r ref, job *batchv1.Job) error {
	if job.Spec.TTLSecondsAfterFinished == nil {
		return nil
	}
	at := job.Status.Conditions[len(job.Status.Conditions)-1].LastTransitionTime.Add(time.Duration(*job.Spec.TTLSecondsAfterFinished) * time.Second)
	if left := at.Sub(w.timeline.Now()); left > 0 {
		w.wake(r, left)
		return nil
	}
	return w.remove(r, metav1.DeleteOptions{})
}

// cronJob creates the Job of the time that has come, and waits for the next one.
func (w *workloads) cronJob(r ref, c *batchv1.CronJob) error {
	if ptr.Deref(c.Spec.Suspend, false) {
		return nil
	}
	schedule, err := cron.ParseStandard(c.Spec.Schedule)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	zone := time.UTC
	if c.Spec.TimeZone != nil {
		if zone, err = time.LoadLocation(*c.Spec.TimeZone); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	last := c.CreationTimestamp.Time
	if c.Status.LastScheduleTime != nil {
		last = c.Status.LastScheduleTime.Time
	}
	now := w.timeline.Now()
	due := schedule.Next(last.In(zone))
	if due.After(now) {
		w.wake(r, due.Sub(now))
		return nil
	}
	for next := schedule.Next(due); !next.After(now); next = schedule.Next(due) {
		due = next
	}
	return w.startCronJob(c, due)
}

func (w *workloads) startCronJob(c *batchv1.CronJob, due time.Time) error {
	running := slices.DeleteFunc(ownedBy[*batchv1.Job](w.cluster, c.UID, jobKind), finished)
	if c.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent {
		for _, job := range running {
			if err := w.remove(refOf(jobKind, job), metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
	}
	if c.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent || len(running) == 0 {
		job := &batchv1.Job{ObjectMeta: *c.Spec.JobTemplate.ObjectMeta.DeepCopy(), Spec: *c.Spec.JobTemplate.Spec.DeepCopy()}
		job.Namespace, job.Name = c.Namespace, fmt.Sprintf("%s-%d", c.Name, due.Unix()/60)
		job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, cronJobKind)}
		if _, err := w.create(job); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	after := *c
	after.Status.LastScheduleTime = &metav1.Time{Time: due.UTC()}
	return w.put(cronJobKind, &after) // leads to cronJob again
}
