package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"kube-scheduler-simulator/scheduler/customresource"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

func numberOf(text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// jobKind is a kind of jobs that the controllers bring together with workloads.
type jobKind struct {
	schema.GroupVersionKind
	resource schema.GroupVersionResource
	by       controller
	informer cache.SharedIndexInformer
	keys     queue
}

// jobSets and appWrappers are the resources of kinds of jobs whose definition a cluster may lack.
var (
	jobSets     = jobset.SchemeGroupVersion.WithResource("jobsets")
	appWrappers = appwrapper.GroupVersion.WithResource("appwrappers")
)

// jobKinds are Kubernetes' own Jobs, and those of served that we know.
func (e *engaged) jobKinds(served func(schema.GroupVersionResource) bool) []*jobKind {
	kinds := []*jobKind{{
		jobs.Batch{}.Kind(), batchv1.SchemeGroupVersion.WithResource("jobs"), jobController, e.opts.Informers.Batch().V1().Jobs().Informer(), newQueue(),
	}}
	if served(jobSets) {
		kinds = append(kinds, &jobKind{jobs.Set{}.Kind(), jobSets, jobSetController, customresource.NewInformer[jobset.JobSet](e.custom.Resource(jobSets)), newQueue()})
	}
	if served(appWrappers) {
		kinds = append(kinds, &jobKind{jobs.Wrapper{}.Kind(), appWrappers, appWrapperController, customresource.NewInformer[appwrapper.AppWrapper](e.custom.Resource(appWrappers)), newQueue()})
	}
	return kinds
}

// kindOf returns a kind of jobs; nil if it is none.
func (e *engaged) kindOf(kind schema.GroupVersionKind) *jobKind {
	for _, k := range e.kinds {
		if k.GroupVersionKind == kind {
			return k
		}
	}
	return nil
}

// jobOf returns the job that owns a workload; nil if none does or it has gone.
func (e *engaged) jobOf(w *kueue.Workload) jobs.Job {
	for _, owner := range w.OwnerReferences {
		if k := e.kindOf(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)); k != nil {
			if job := k.job(types.NamespacedName{Namespace: w.Namespace, Name: owner.Name}); job != nil && job.Object().GetUID() == owner.UID {
				return job
			}
		}
	}
	return nil
}

// above returns the job that is an object's owner, for jobs.ManagedAbove.
func (e *engaged) above(namespace string, owner *metav1.OwnerReference) (o metav1.Object, admitted bool) {
	if k := e.kindOf(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)); k != nil {
		if job := k.job(types.NamespacedName{Namespace: namespace, Name: owner.Name}); job != nil {
			return job.Object(), true
		}
	}
	return nil, false
}

// job returns the job of a key; nil if there is none.
func (k *jobKind) job(key types.NamespacedName) jobs.Job {
	o, exists, err := k.informer.GetIndexer().GetByKey(key.String())
	if err != nil || !exists {
		return nil
	}
	return jobs.JobOf(o)
}

// reconcileJob brings a job of a queue and its workload together, in the order of Kueue's job controllers.
func (e *engaged) reconcileJob(ctx context.Context, k *jobKind, key types.NamespacedName) error {
	job := k.job(key)
	if job == nil || job.Object().GetDeletionTimestamp() != nil {
		return nil
	}
	o := job.Object()
	queue := o.GetLabels()[controllerconstants.QueueLabel]
	if queue == "" || jobs.ManagedAbove(o, e.above) {
		return nil
	}
	w, err := e.workloadOf(ctx, job)
	if err != nil {
		return err
	}
	elastic := e.elastic(job)
	if w != nil && w.DeletionTimestamp == nil && !elastic { // Kueue gives an elastic job's next workload its class
		if err := e.followLabel(ctx, w, o); err != nil {
			return err
		}
	}
	message, success, finished := job.Finished()
	switch {
	case w != nil && (is(w, kueue.WorkloadFinished) || w.DeletionTimestamp != nil):
		return nil
	case finished && w != nil:
		return e.finish(ctx, w, o, success, message)
	case finished:
		return nil
	case w == nil:
		return e.createForJob(ctx, job)
	}
	at := types.NamespacedName{Namespace: key.Namespace, Name: w.Name}
	sets := jobs.Adjusted(surroundings{e}, key.Namespace, job.PodSets())
	suspended := job.Suspended()
	// While it has quota, a job that may start with fewer pods has as many as were admitted, also when it has just been suspended.
	counts := !elastic && (!job.Vary() || suspended && !is(w, kueue.WorkloadQuotaReserved))
	if !jobs.Matches(sets, w.Spec.PodSets, counts) {
		return e.rebuild(ctx, job, w, sets)
	}
	latest := w // what an elastic job waits for gets what its pods give back, as in Kueue 0.17.0
	if elastic {
		own, err := e.slicesOf(job)
		if err != nil {
			return err
		}
		if len(own) > 0 { // the label may name a workload that the job does not own
			latest = own[len(own)-1]
		}
	}
	if err := e.reclaim(ctx, latest, job.Reclaimable()); err != nil {
		return err
	}
	if evicted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted); evicted != nil && evicted.Status == metav1.ConditionTrue && is(w, kueue.WorkloadQuotaReserved) {
		if stopped, err := e.stopped(ctx, job, w, evicted.Message); err != nil || !stopped {
			return err
		}
		return e.release(ctx, at)
	}
	ready := job.Ready()
	if elastic {
		ready = readySlice(o.(*batchv1.Job), w)
	}
	if err := e.ready(ctx, w, !suspended && ready); err != nil {
		return err
	}
	switch {
	case !suspended && elastic && is(w, kueue.WorkloadAdmitted):
		return e.letThrough(ctx, job, w)
	case !suspended && elastic: // its pods wait at their gate, and those that run may be about to have this workload's quota
		return nil
	case !suspended && !is(w, kueue.WorkloadAdmitted):
		return e.stopJob(ctx, job, w, "Not admitted by cluster queue")
	case suspended && is(w, kueue.WorkloadAdmitted):
		return e.startJob(ctx, job, w)
	case suspended && string(w.Spec.QueueName) != queue && !is(w, kueue.WorkloadQuotaReserved):
		_, _, err := e.change(ctx, at, func(w *kueue.Workload) {
			w.Spec.QueueName = kueue.LocalQueueName(queue)
		})
		return err
	}
	return nil
}

// workloadOf returns the workload of a job: the one that a label names, or the one that it owns, whatever another Kueue may have
// called it. A job that owns several would hold its quota several times, so all but one go, and one with quota stays. It returns nil if
// there is none.
func (e *engaged) workloadOf(ctx context.Context, job jobs.Job) (*kueue.Workload, error) {
	at := types.NamespacedName{Namespace: job.Object().GetNamespace(), Name: jobs.WorkloadName(job)}
	if job.Object().GetLabels()[controllerconstants.PrebuiltWorkloadLabel] != "" {
		return cached[kueue.Workload](e.workloads, at), nil
	}
	if e.elastic(job) {
		return e.sliceOf(ctx, job)
	}
	owned, err := e.workloads.GetIndexer().ByIndex(byOwner, string(job.Object().GetUID()))
	if err != nil {
		return nil, err
	}
	rank := func(w *kueue.Workload) int {
		switch {
		case w.DeletionTimestamp != nil:
			return 0
		case is(w, kueue.WorkloadQuotaReserved):
			return 3
		case w.Name == at.Name:
			return 2
		}
		return 1
	}
	var stays *kueue.Workload
	for _, o := range owned {
		if w := o.(*kueue.Workload); stays == nil || cmp.Or(cmp.Compare(rank(w), rank(stays)), strings.Compare(stays.Name, w.Name)) > 0 {
			stays = w
		}
	}
	for _, o := range owned {
		if w := o.(*kueue.Workload); w != stays {
			if err := e.remove(ctx, w); err != nil {
				return nil, err
			}
		}
	}
	return stays, nil
}

func (e *engaged) createForJob(ctx context.Context, job jobs.Job) error {
	if !jobs.Idle(job) {
		return e.stopJob(ctx, job, nil, "Missing Workload; unable to restore pod templates")
	}
	if e.elastic(job) {
		return e.createSlice(ctx, job, nil)
	}
	w, err := jobs.NewWorkload(surroundings{e}, jobs.WorkloadName(job), job.Object(), job.PodSets())
	if err != nil {
		return err
	}
	return e.createOwned(ctx, job, w)
}

// createOwned creates a workload of a job.
func (e *engaged) createOwned(ctx context.Context, job jobs.Job, w *kueue.Workload) error {
	w.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job.Object(), job.Kind())}
	if err := e.create(ctx, workloadResource, w); err != nil {
		return fmt.Errorf("creating the workload of %s %s/%s: %w", job.Kind().Kind, w.Namespace, job.Object().GetName(), err)
	}
	e.recorder.Eventf(job.Object(), corev1.EventTypeNormal, "CreatedWorkload", "Created Workload: %s/%s", w.Namespace, w.Name)
	return nil
}

func (e *engaged) rebuild(ctx context.Context, job jobs.Job, w *kueue.Workload, sets []kueue.PodSet) error {
	at := types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
	if job.Suspended() && !is(w, kueue.WorkloadQuotaReserved) {
		if _, _, err := e.change(ctx, at, func(w *kueue.Workload) { w.Spec.PodSets = sets }); err != nil {
			return err
		}
		e.recorder.Eventf(job.Object(), corev1.EventTypeNormal, "UpdatedWorkload", "Updated not matching Workload for suspended job: %s", at)
		return nil
	}
	// The workload has what the job's templates were, so it goes last.
	if done, err := e.stopped(ctx, job, w, "No matching Workload; restoring pod templates according to existent Workload"); err != nil || !done {
		return err
	}
	if err := e.custom.Resource(workloadResource).Namespace(w.Namespace).Delete(ctx, w.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &w.UID}}); err != nil {
		return err
	}
	e.recorder.Eventf(job.Object(), corev1.EventTypeNormal, "DeletedWorkload", "Deleted not matching Workload: %s", at)
	return nil
}

func (e *engaged) startJob(ctx context.Context, job jobs.Job, w *kueue.Workload) error {
	infos, err := jobs.Infos(w, e.flavor)
	started := job.Copy()
	if err == nil {
		err = started.Start(infos)
	}
	if errors.Is(err, jobs.ErrConflict) {
		_, _, err = e.change(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, func(w *kueue.Workload) {
			e.set(w, kueue.WorkloadFinished, metav1.ConditionTrue, "FailedToStart", err.Error())
		}, "status")
		return err
	}
	if err != nil {
		return err
	}
	if err := e.patchJob(ctx, job, started); err != nil {
		return err
	}
	e.recorder.Eventf(job.Object(), corev1.EventTypeNormal, "Started", "Admitted by clusterQueue %s", w.Status.Admission.ClusterQueue)
	return nil
}

// stopJob suspends a job. w is nil if it has none.
func (e *engaged) stopJob(ctx context.Context, job jobs.Job, w *kueue.Workload, message string) error {
	_, err := e.stopped(ctx, job, w, message)
	return err
}

// stopped suspends a job, resets its start time, which lets it start again, and restores its template. It
// reports whether that is done and no pod of it is left.
func (e *engaged) stopped(ctx context.Context, job jobs.Job, w *kueue.Workload, message string) (bool, error) {
	if !job.Suspended() {
		suspended := job.Copy()
		suspended.Suspend()
		if err := e.patchJob(ctx, job, suspended); err != nil {
			return false, err
		}
		e.recorder.Event(job.Object(), corev1.EventTypeNormal, "Stopped", message)
		return false, nil // the job controller deletes the pods
	}
	if !jobs.Idle(job) {
		return false, nil
	}
	if reset := job.Copy(); reset.Rewind() {
		return false, e.patchJob(ctx, job, reset, "status")
	}
	if w == nil {
		return true, nil
	}
	if restored := job.Copy(); restored.Restore(w.Spec.PodSets) {
		return false, e.patchJob(ctx, job, restored)
	}
	return true, nil
}

func (e *engaged) patchJob(ctx context.Context, from, to jobs.Job, subresources ...string) error {
	data, err := difference(from.Object(), to.Object())
	if err != nil || data == nil {
		return err
	}
	o := from.Object()
	if _, ours := o.(*batchv1.Job); ours {
		_, err = e.client.BatchV1().Jobs(o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: agent}, subresources...)
	} else {
		k := e.kindOf(from.Kind())
		_, err = e.custom.Resource(k.resource).Namespace(o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: agent}, subresources...)
	}
	if err != nil {
		return fmt.Errorf("writing %s %s/%s: %w", from.Kind().Kind, o.GetNamespace(), o.GetName(), err)
	}
	return nil
}
