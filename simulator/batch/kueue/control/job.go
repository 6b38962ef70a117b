package control

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

func numberOf(text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// inactive reports whether a job is suspended and none of its pods is left.
func inactive(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.Suspend, false) && job.Status.Active == 0 && ptr.Deref(job.Status.Terminating, 0) == 0
}

func workloadName(job *batchv1.Job) string {
	if name := job.Labels[controllerconstants.PrebuiltWorkloadLabel]; name != "" {
		return name
	}
	return jobs.NameOf("job", job.Name, batchv1.GroupName, job.UID)
}

// jobOf returns the job that owns a workload; nil if none does or it has gone.
func (e *engaged) jobOf(w *kueue.Workload) *batchv1.Job {
	for _, owner := range w.OwnerReferences {
		job := e.cachedJob(types.NamespacedName{Namespace: w.Namespace, Name: owner.Name})
		if owner.Kind == "Job" && job != nil && job.UID == owner.UID {
			return job
		}
	}
	return nil
}

func (e *engaged) cachedJob(key types.NamespacedName) *batchv1.Job {
	return cached[batchv1.Job](e.batch, key)
}

// reconcileJob brings a job of a queue and its workload together, in the order of Kueue's job controllers.
func (e *engaged) reconcileJob(ctx context.Context, key types.NamespacedName) error {
	job := e.cachedJob(key)
	if job == nil || job.Labels[controllerconstants.QueueLabel] == "" || job.DeletionTimestamp != nil {
		return nil
	}
	at := types.NamespacedName{Namespace: job.Namespace, Name: workloadName(job)}
	w := cached[kueue.Workload](e.workloads, at)
	message, success, finished := jobs.JobFinished(job)
	switch {
	case w != nil && (is(w, kueue.WorkloadFinished) || w.DeletionTimestamp != nil):
		return nil
	case finished && w != nil:
		return e.finish(ctx, w, job, success, message)
	case finished:
		return nil
	case w == nil:
		return e.createForJob(ctx, job, at.Name)
	}
	if err := e.followLabel(ctx, w, job); err != nil {
		return err
	}
	sets := jobs.Adjusted(surroundings{e}, job.Namespace, jobs.JobPodSets(job))
	suspended := ptr.Deref(job.Spec.Suspend, false)
	if !jobs.Matches(sets, w.Spec.PodSets, suspended || job.Annotations[jobs.MinParallelism] == "") {
		return e.rebuild(ctx, job, w, sets)
	}
	if err := e.reclaim(ctx, w, jobs.JobReclaimable(job)); err != nil {
		return err
	}
	if evicted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted); evicted != nil && evicted.Status == metav1.ConditionTrue && is(w, kueue.WorkloadQuotaReserved) {
		if stopped, err := e.stopped(ctx, job, w, evicted.Message); err != nil || !stopped {
			return err
		}
		return e.release(ctx, at)
	}
	if err := e.ready(ctx, w, !suspended && jobs.JobReady(job)); err != nil {
		return err
	}
	switch {
	case !suspended && !is(w, kueue.WorkloadAdmitted):
		return e.stopJob(ctx, job, w, "Not admitted by cluster queue")
	case suspended && is(w, kueue.WorkloadAdmitted):
		return e.startJob(ctx, job, w)
	case suspended && string(w.Spec.QueueName) != job.Labels[controllerconstants.QueueLabel] && !is(w, kueue.WorkloadQuotaReserved):
		_, _, err := e.change(ctx, at, func(w *kueue.Workload) {
			w.Spec.QueueName = kueue.LocalQueueName(job.Labels[controllerconstants.QueueLabel])
		})
		return err
	}
	return nil
}

func (e *engaged) createForJob(ctx context.Context, job *batchv1.Job, name string) error {
	if !inactive(job) {
		return e.stopJob(ctx, job, nil, "Missing Workload; unable to restore pod templates")
	}
	w, err := jobs.NewWorkload(surroundings{e}, name, job.ObjectMeta, jobs.JobPodSets(job))
	if err != nil {
		return err
	}
	w.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	if err := e.create(ctx, workloadResource, w); err != nil {
		return fmt.Errorf("creating the workload of job %s/%s: %w", job.Namespace, job.Name, err)
	}
	e.recorder.Eventf(job, corev1.EventTypeNormal, "CreatedWorkload", "Created Workload: %s/%s", w.Namespace, w.Name)
	return nil
}

func (e *engaged) rebuild(ctx context.Context, job *batchv1.Job, w *kueue.Workload, sets []kueue.PodSet) error {
	at := types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
	if ptr.Deref(job.Spec.Suspend, false) && !is(w, kueue.WorkloadQuotaReserved) {
		if _, _, err := e.change(ctx, at, func(w *kueue.Workload) { w.Spec.PodSets = sets }); err != nil {
			return err
		}
		e.recorder.Eventf(job, corev1.EventTypeNormal, "UpdatedWorkload", "Updated not matching Workload for suspended job: %s", at)
		return nil
	}
	if err := e.custom.Resource(workloadResource).Namespace(w.Namespace).Delete(ctx, w.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &w.UID}}); err != nil {
		return err
	}
	e.recorder.Eventf(job, corev1.EventTypeNormal, "DeletedWorkload", "Deleted not matching Workload: %s", at)
	return e.stopJob(ctx, job, w, "No matching Workload; restoring pod templates according to existent Workload")
}

func (e *engaged) startJob(ctx context.Context, job *batchv1.Job, w *kueue.Workload) error {
	infos, err := jobs.Infos(w, e.flavor)
	started := job.DeepCopy()
	if err == nil {
		err = jobs.StartJob(started, infos[0])
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
	e.recorder.Eventf(job, corev1.EventTypeNormal, "Started", "Admitted by clusterQueue %s", w.Status.Admission.ClusterQueue)
	return nil
}

// stopJob suspends a job. w is nil if it has none.
func (e *engaged) stopJob(ctx context.Context, job *batchv1.Job, w *kueue.Workload, message string) error {
	_, err := e.stopped(ctx, job, w, message)
	return err
}

// stopped suspends a job, resets its start time, which lets it start again, and restores its template. It
// reports whether that is done and no pod of it is left.
func (e *engaged) stopped(ctx context.Context, job *batchv1.Job, w *kueue.Workload, message string) (bool, error) {
	if !ptr.Deref(job.Spec.Suspend, false) {
		suspended := job.DeepCopy()
		suspended.Spec.Suspend = ptr.To(true)
		if err := e.patchJob(ctx, job, suspended); err != nil {
			return false, err
		}
		e.recorder.Event(job, corev1.EventTypeNormal, "Stopped", message)
		return false, nil // the job controller deletes the pods
	}
	if !inactive(job) {
		return false, nil
	}
	if job.Status.StartTime != nil {
		reset := job.DeepCopy()
		reset.Status.StartTime = nil
		return false, e.patchJob(ctx, job, reset, "status")
	}
	if w == nil {
		return true, nil
	}
	restored := job.DeepCopy()
	if jobs.RestoreJob(restored, w.Spec.PodSets[0]) {
		if err := e.patchJob(ctx, job, restored); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (e *engaged) patchJob(ctx context.Context, from, to *batchv1.Job, subresources ...string) error {
	data, err := difference(from, to)
	if err != nil || data == nil {
		return err
	}
	_, err = e.client.BatchV1().Jobs(from.Namespace).Patch(ctx, from.Name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: agent}, subresources...)
	if err != nil {
		return fmt.Errorf("writing job %s/%s: %w", from.Namespace, from.Name, err)
	}
	return nil
}
