package fanout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"kube-scheduler-simulator/simulator/command/runner"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Bounds and defaults of a sweep in a cluster.
const (
	// MaxShares bounds the shares, and so the ConfigMaps.
	MaxShares = 1000
	// sharesPerPod is into how many shares the work of each parallel pod is cut, so that the last ones do not wait long.
	sharesPerPod = 4
	// patience is how long the API server may be out of reach while the client waits.
	patience = 5 * time.Minute
	// settling is how long a Job may be without its input before it counts as left behind by a client that ended.
	settling = 30 * time.Second
)

// Options say how a sweep runs in a cluster.
type Options struct {
	runner.SweepOptions
	// Client and Metadata reach the cluster. They are required.
	Client   kubernetes.Interface
	Metadata metadata.Interface
	// Namespace gets the Job and its ConfigMaps, and has the ServiceAccount of its pods.
	Namespace, ServiceAccount string
	// Image has this program as its entry point. It is required to make a Job, and not to find one.
	Image string
	// EngineFlags choose the engine in the pods.
	EngineFlags []string
	// Parallelism is how many pods run at the same time. Shares is into how many shares the runs are cut; 0 chooses. Retries is how often a
	// share is tried again. Options.Workers is how many runs go at the same time in one pod.
	Parallelism, Shares, Retries int
	Requests                     v1.ResourceList
	// CleanUp removes the Job and its ConfigMaps when all outcomes are here.
	CleanUp bool
	// Interval is the pause between two looks at the Job.
	Interval time.Duration
	// Notes gets a line about what happens in the cluster now and then. It is required.
	Notes io.Writer
}

type client struct {
	Options
	sweep *scenario.Sweep
	state *runner.State
	name  string

	// fetched are the versions of the results whose outcomes the state holds.
	fetched map[types.UID]string
	// noted is the last line on Notes.
	noted string
}

func newClient(ctx context.Context, file string, o Options) (*client, error) {
	l, err := runner.LoadSweep(ctx, file, o.Options)
	if err != nil {
		return nil, err
	}
	return &client{Options: o, sweep: l, name: jobName(l), fetched: map[types.UID]string{}}, nil
}

// Sweep runs a sweep file in the cluster. It finds the Job of an earlier call for the same files and seeds, makes one if there is
// none, and returns when all outcomes are in the state file and reported. The Job goes on if ctx ends before.
func Sweep(ctx context.Context, file string, o Options) error {
	c, err := newClient(ctx, file, o)
	if err != nil {
		return err
	}
	if c.state, err = runner.OpenState(c.sweep, file, o.SweepOptions); err != nil {
		return err
	}
	defer c.state.Close()
	if err := c.complete(ctx); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted with %d of %d runs here; the Job %s goes on in the cluster, and the same command comes back to it", c.state.Len(), c.sweep.Runs(), c.at())
		}
		return err
	}
	if err := runner.Report(c.sweep, c.state, o.SweepOptions); err != nil {
		return err
	}
	if o.CleanUp {
		return c.remove(ctx)
	}
	return nil
}

// Abandon removes the Job of a sweep and all that belongs to it.
func Abandon(ctx context.Context, file string, o Options) error {
	c, err := newClient(ctx, file, o)
	if err != nil {
		return err
	}
	_, err = c.job(ctx)
	if apierrors.IsNotFound(err) {
		c.note("there is no Job %s", c.at())
	} else if err != nil {
		return c.refused("looking for the Job", err)
	}
	return c.remove(ctx)
}

func (c *client) at() string { return c.Namespace + "/" + c.name }

// note writes a line, unless it is the one that it wrote last.
func (c *client) note(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); line != c.noted {
		c.noted = line
		fmt.Fprintln(c.Notes, line)
	}
}

// complete returns when the state holds all runs.
func (c *client) complete(ctx context.Context) error {
	for {
		missing := c.state.Missing(c.sweep)
		if len(missing) == 0 {
			return nil
		}
		job, err := c.findOrMake(ctx, missing)
		if err != nil {
			return err
		}
		found := isFinished(job) != nil
		if job, err = c.follow(ctx, job); err != nil {
			return err
		}
		left := c.state.Missing(c.sweep)
		finished := isFinished(job)
		switch {
		case len(left) == 0:
			return nil
		case finished.Type == batchv1.JobFailed && !found:
			return c.failure(ctx, job, finished, len(left))
		case finished.Type == batchv1.JobComplete && len(left) == len(missing) && !found:
			return fmt.Errorf("the Job %s has ended, and the outcomes of %d runs are not there; --abandon removes the Job", c.at(), len(left))
		}
		// The Job has failed before, or it did only what another client lacked. What it has done is here.
		c.note("the Job %s has ended without %d runs; another one does them", c.at(), len(left))
		if err := c.remove(ctx); err != nil {
			return err
		}
	}
}

// findOrMake returns the Job of the sweep, which runs or has ended.
func (c *client) findOrMake(ctx context.Context, missing []int) (*batchv1.Job, error) {
	for {
		job, err := c.job(ctx)
		switch {
		case apierrors.IsNotFound(err):
			if job, err = c.make(ctx, missing); !apierrors.IsAlreadyExists(err) {
				return job, err
			}
			continue // another client was faster
		case err != nil:
			return nil, c.refused("looking for the Job", err)
		case job.Annotations[annotationDigest] != c.sweep.Digest:
			return nil, fmt.Errorf("the Job %s is not that of this sweep; rename the sweep, or remove the Job", c.at())
		case c.Image != "" && isFinished(job) == nil && job.Spec.Template.Spec.Containers[0].Image != c.Image:
			return nil, fmt.Errorf("the Job %s of this sweep runs the image %s already; remove it with --abandon, or leave out --image to go on with it", c.at(), job.Spec.Template.Spec.Containers[0].Image)
		case job.Spec.Suspend == nil || !*job.Spec.Suspend:
			c.note("the Job %s of this sweep exists; going on with it", c.at())
			return job, nil
		case job.Status.StartTime != nil || job.Status.CompletedIndexes != "":
			c.note("the Job %s was suspended; resuming it", c.at())
			return c.unsuspend(ctx, job)
		case time.Since(job.CreationTimestamp.Time) > settling:
			c.note("an earlier command left the Job %s before it began; creating it again", c.at())
			if err := c.remove(ctx); err != nil {
				return nil, err
			}
		default:
			c.note("another client is making the Job %s", c.at())
			if err := c.pause(ctx); err != nil {
				return nil, err
			}
		}
	}
}

func (c *client) job(ctx context.Context) (*batchv1.Job, error) {
	return c.Client.BatchV1().Jobs(c.Namespace).Get(ctx, c.name, metav1.GetOptions{})
}

// make makes the Job, and then its input, which it owns. Until then it is suspended.
func (c *client) make(ctx context.Context, missing []int) (*batchv1.Job, error) {
	if c.Image == "" {
		return nil, &runner.FileError{Err: fmt.Errorf("there is no Job %s yet: --image says which image its pods run", c.at())}
	}
	if err := c.checkServiceAccount(ctx); err != nil {
		return nil, err
	}
	shares := c.Shares
	if shares == 0 {
		shares = min(len(missing), c.Parallelism*sharesPerPod, MaxShares)
	}
	shares = min(shares, len(missing))
	chunks, err := newBundle(c.sweep, missing, shares).pack()
	if err != nil {
		return nil, &runner.FileError{Err: err}
	}
	job, err := c.Client.BatchV1().Jobs(c.Namespace).Create(ctx, newJob(c.name, c.sweep.Digest, len(missing), shares, len(chunks), c.Options), metav1.CreateOptions{})
	if err != nil {
		return nil, c.refused("making the Job", err)
	}
	for i, chunk := range chunks {
		if err := c.makeInput(ctx, owner{job.Name, job.UID}, i, chunk); err != nil {
			return nil, c.refused("making the ConfigMaps with the files of the sweep", errors.Join(err, c.remove(context.WithoutCancel(ctx))))
		}
	}
	if job, err = c.unsuspend(ctx, job); err != nil {
		return nil, err
	}
	c.note("the Job %s does %d runs in %d shares, %d at the same time", c.at(), len(missing), shares, *job.Spec.Parallelism)
	return job, nil
}

// checkServiceAccount finds out early what would only show in the events of the Job. A user who may not read ServiceAccounts goes on without.
func (c *client) checkServiceAccount(ctx context.Context) error {
	_, err := c.Client.CoreV1().ServiceAccounts(c.Namespace).Get(ctx, c.ServiceAccount, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the namespace %s has no ServiceAccount %s for the pods; kubectl apply -n %[1]s -k simulator/deploy/sweep makes it", c.Namespace, c.ServiceAccount)
	case err != nil && !apierrors.IsForbidden(err):
		return c.refused("looking for the ServiceAccount", err)
	}
	return nil
}

func (c *client) makeInput(ctx context.Context, job owner, i int, chunk []byte) error {
	configMaps := c.Client.CoreV1().ConfigMaps(c.Namespace)
	input := &v1.ConfigMap{ObjectMeta: job.owned(inputName(job.Name, i), componentInput), BinaryData: map[string][]byte{chunkName(i): chunk}, Immutable: new(true)}
	_, err := configMaps.Create(ctx, input, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	// It belonged to a Job of the same name that was removed.
	if err := configMaps.Delete(ctx, input.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	_, err = configMaps.Create(ctx, input, metav1.CreateOptions{})
	return err
}

func (c *client) unsuspend(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	job, err := c.Client.BatchV1().Jobs(c.Namespace).Patch(ctx, job.Name, types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
	if err != nil {
		return nil, c.refused("starting the Job", err)
	}
	return job, nil
}

// remove removes the Job and what belongs to it. What is gone already is no error.
func (c *client) remove(ctx context.Context) error {
	err := c.Client.BatchV1().Jobs(c.Namespace).Delete(ctx, c.name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
	if err != nil && !apierrors.IsNotFound(err) {
		return c.refused("removing the Job", err)
	}
	// The garbage collector would remove them, too, but later than a Job of the same name may begin.
	err = c.Client.CoreV1().ConfigMaps(c.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: c.selector("")})
	if err != nil {
		return c.refused("removing the ConfigMaps of the Job", err)
	}
	return nil
}

func (c *client) selector(component string) string {
	set := labels.Set{labelSweep: c.name}
	if component != "" {
		set[labelComponent] = component
	}
	return set.String()
}

func (c *client) refused(doing string, err error) error {
	err = fmt.Errorf("%s %s: %w", doing, c.at(), err)
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; the Role simulator-sweep-client in simulator/deploy/sweep has all rights that this command needs", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%w; the credentials of the kubeconfig are not valid", err)
	}
	return err
}

// follow takes in results until the Job has ended, and returns it as it is then.
func (c *client) follow(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	watch := &watched{client: c}
	defer watch.clear()
	reached := time.Now()
	for {
		ended := isFinished(job) != nil
		err := c.gather(ctx, job, ended)
		if err == nil && ended {
			return job, nil
		}
		if err == nil {
			err = watch.look(ctx, job)
		}
		switch {
		case err == nil:
			reached = time.Now()
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !isTransient(err):
			return nil, err
		case time.Since(reached) > patience:
			return nil, fmt.Errorf("the cluster has not answered for %s; the Job goes on, and the same command comes back to it: %w", patience, err)
		default:
			c.note("waiting for the cluster: %v", err)
		}
		if err := c.pause(ctx); err != nil {
			return nil, err
		}
		switch now, err := c.job(ctx); {
		case err == nil && now.UID == job.UID:
			job = now
		case err == nil || apierrors.IsNotFound(err):
			return nil, fmt.Errorf("the Job %s was removed while it ran; %d of %d runs are here, and the same command makes a Job for the others", c.at(), c.state.Len(), c.sweep.Runs())
		case !isTransient(err):
			return nil, c.refused("looking at the Job", err)
		}
	}
}

func (c *client) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(c.Interval):
		return nil
	}
}

// gather takes the outcomes of the shares that have ended into the state, or of all shares.
func (c *client) gather(ctx context.Context, job *batchv1.Job, all bool) error {
	list, err := c.results(ctx)
	if err != nil {
		return err
	}
	complete := map[string]bool{}
	indexes, err := readRanges(job.Status.CompletedIndexes)
	if err != nil {
		return fmt.Errorf("the completed indexes of the Job %s: %w", c.at(), err)
	}
	for _, index := range indexes {
		complete[strconv.Itoa(index)] = true
	}
	of := owner{job.Name, job.UID}
	for _, found := range list.Items {
		if !of.owns(&found) || c.fetched[found.UID] == found.ResourceVersion || !all && !complete[found.Annotations[annotationIndex]] {
			continue
		}
		whole, err := c.Client.CoreV1().ConfigMaps(c.Namespace).Get(ctx, found.Name, metav1.GetOptions{})
		if err != nil {
			return c.refused("reading the outcomes of the Job", err)
		}
		outcomes, err := decodeOutcomes(whole)
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			if err := c.state.Add(o); err != nil {
				return err
			}
		}
		c.fetched[whole.UID] = whole.ResourceVersion
	}
	return nil
}

// results lists the results of the Job without their data.
func (c *client) results(ctx context.Context) (*metav1.PartialObjectMetadataList, error) {
	list, err := c.Metadata.Resource(v1.SchemeGroupVersion.WithResource("configmaps")).Namespace(c.Namespace).
		List(ctx, metav1.ListOptions{LabelSelector: c.selector(componentResult)})
	if err != nil {
		return nil, c.refused("reading the outcomes of the Job", err)
	}
	return list, nil
}

// isFinished returns the condition that says how a Job has ended; nil if it has not.
func isFinished(job *batchv1.Job) *batchv1.JobCondition {
	for i, condition := range job.Status.Conditions {
		if condition.Status == v1.ConditionTrue && (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}
