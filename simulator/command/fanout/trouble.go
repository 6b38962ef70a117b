package fanout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// isTransient reports whether a request may succeed when it is sent again.
func isTransient(err error) bool {
	if errors.As(err, new(*url.Error)) || errors.As(err, new(net.Error)) {
		return true
	}
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) ||
		apierrors.IsUnexpectedServerError(err)
}

// stuckLooks is how often the client sees that no pod of the Job runs before it says why, and ends.
const stuckLooks = 10

// watched follows a Job that runs, for people.
type watched struct {
	client *client
	shown  bool
	// idle counts the looks since a pod of the Job was seen to run.
	idle int
	// indexes are those that were complete at the last look.
	indexes string
}

// look shows the progress. The error says why the Job does not go on, if a person has to act.
func (w *watched) look(ctx context.Context, job *batchv1.Job) error {
	list, err := w.client.results(ctx)
	if err != nil {
		return err
	}
	total := w.client.sweep.Runs()
	mine, _ := strconv.Atoi(job.Annotations[annotationRuns]) // 0 if a user has changed it
	done := total - mine
	of := owner{job.Name, job.UID}
	for _, found := range list.Items {
		if runs, err := strconv.Atoi(found.Annotations[annotationRuns]); err == nil && of.owns(&found) {
			done += runs
		}
	}
	pods, err := w.client.pods(ctx, job)
	if err != nil {
		return err
	}
	running := 0
	for _, pod := range pods {
		if pod.Status.Phase == v1.PodRunning {
			running++
		}
	}
	if w.client.Progress != nil {
		w.shown = true
		fmt.Fprintf(w.client.Progress, "\r\x1b[K%d of %d runs, %d of %d shares, %d pods run", done, total, job.Status.Succeeded, *job.Spec.Completions, running)
		if failed := job.Status.FailedIndexes; failed != nil && *failed != "" {
			fmt.Fprintf(w.client.Progress, ", failed shares: %s", *failed)
		}
	}
	return w.stuck(ctx, job, pods, running)
}

func (w *watched) clear() {
	if w.shown {
		fmt.Fprint(w.client.Progress, "\r\x1b[K")
	}
}

// stuck returns an error when no pod runs for a while, for a reason that does not pass by itself.
func (w *watched) stuck(ctx context.Context, job *batchv1.Job, pods []v1.Pod, running int) error {
	if running > 0 || job.Status.CompletedIndexes != w.indexes {
		w.idle, w.indexes = 0, job.Status.CompletedIndexes
		return nil
	}
	w.idle++
	why, final := whyNotRunning(pods)
	if why == "" && len(pods) == 0 {
		refused, err := w.client.refusedPods(ctx, job)
		if err != nil {
			return err
		}
		why, final = refused, refused != ""
	}
	switch {
	case why == "":
		return nil
	case final && w.idle >= stuckLooks:
		return fmt.Errorf("no pod of the Job %s runs: %s; the Job stays, and the same command comes back to it; --abandon removes it", w.client.at(), why)
	}
	w.client.note("waiting: %s", why)
	return nil
}

// noImage are the reasons for which a container waits until a user acts.
var noImage = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}

// whyNotRunning says why the first pod that waits does so. final is whether only a user can change that.
func whyNotRunning(pods []v1.Pod) (why string, final bool) {
	for _, pod := range pods {
		if pod.Status.Phase != v1.PodPending {
			continue
		}
		for _, status := range pod.Status.ContainerStatuses {
			if waiting := status.State.Waiting; waiting != nil && slices.Contains(noImage, waiting.Reason) {
				return strings.TrimSuffix(fmt.Sprintf("the container of the pod %s with the image %s waits with %s: %s", pod.Name, status.Image, waiting.Reason, waiting.Message), ": "), true
			}
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == v1.PodScheduled && condition.Status == v1.ConditionFalse {
				return fmt.Sprintf("the pod %s has no node: %s", pod.Name, condition.Message), false
			}
		}
	}
	return "", false
}

// pods returns those of the Job, by name.
func (c *client) pods(ctx context.Context, job *batchv1.Job) ([]v1.Pod, error) {
	list, err := c.Client.CoreV1().Pods(c.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.Set{batchv1.ControllerUidLabel: string(job.UID)}.String()})
	if err != nil {
		return nil, c.refused("looking at the pods of the Job", err)
	}
	slices.SortFunc(list.Items, func(a, b v1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// refusedPods says why the Job controller could make no pods, by its latest event; empty if there is no such event.
func (c *client) refusedPods(ctx context.Context, job *batchv1.Job) (string, error) {
	list, err := c.Client.CoreV1().Events(c.Namespace).List(ctx, metav1.ListOptions{FieldSelector: fields.Set{"involvedObject.uid": string(job.UID), "reason": "FailedCreate"}.String()})
	switch {
	case apierrors.IsForbidden(err):
		return "", nil // the client may do without
	case err != nil:
		return "", c.refused("reading the events of the Job", err)
	case len(list.Items) == 0:
		return "", nil
	}
	latest := slices.MaxFunc(list.Items, func(a, b v1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	return latest.Message, nil
}

func (c *client) failure(ctx context.Context, job *batchv1.Job, condition *batchv1.JobCondition, missing int) error {
	failed := ""
	if job.Status.FailedIndexes != nil {
		failed = *job.Status.FailedIndexes
	}
	text := fmt.Sprintf("the Job %s has failed (%s); %d of %d runs are here", c.at(), cmp.Or(condition.Message, condition.Reason), c.state.Len(), c.sweep.Runs())
	if failed != "" {
		text = fmt.Sprintf("shares %s of the Job %s have failed, and %d of %d runs are missing", failed, c.at(), missing, c.sweep.Runs())
	}
	pods, err := c.pods(ctx, job)
	if err != nil {
		return errors.Join(errors.New(text), err)
	}
	if why := whyFailed(pods); why != "" {
		text += ": " + why
	}
	return errors.New(text + "; the same command tries these runs again")
}

// whyFailed says why the latest pod that failed did so.
func whyFailed(pods []v1.Pod) string {
	var latest *v1.ContainerStateTerminated
	var text string
	for _, pod := range pods {
		if pod.Status.Phase != v1.PodFailed {
			continue
		}
		for _, status := range pod.Status.ContainerStatuses {
			ended := status.State.Terminated
			if ended == nil || latest != nil && ended.FinishedAt.Before(&latest.FinishedAt) {
				continue
			}
			latest = ended
			text = fmt.Sprintf("the pod %s ended with exit code %d", pod.Name, ended.ExitCode)
			if ended.Reason == "OOMKilled" {
				text += ", because it took more memory than --requests gives it"
			} else if lines := strings.Split(strings.TrimSpace(ended.Message), "\n"); lines[len(lines)-1] != "" {
				text += ": " + lines[len(lines)-1]
			}
		}
		if latest == nil && pod.Status.Message != "" {
			text = fmt.Sprintf("the pod %s failed: %s", pod.Name, pod.Status.Message)
		}
	}
	return text
}
