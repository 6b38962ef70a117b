package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Source is the cluster that is recorded. It is only read. Methods are called concurrently.
type Source interface {
	// List returns all objects of a kind, and the version from which to watch. For a kind that
	// the cluster does not have it returns a NotFound error.
	List(ctx context.Context, kind Kind) (items []*unstructured.Unstructured, version string, err error)
	// Watch sends the changes after version, and bookmarks.
	Watch(ctx context.Context, kind Kind, version string) (watch.Interface, error)
}

// RecorderOptions say what to record.
type RecorderOptions struct {
	Source Source
	Out    io.Writer
	// Header describes the recording. Record sets its version and start, and its kinds if they
	// are nil, to RecordedKinds.
	Header Header
	// Redact changes objects in place before they are written. nil: objects are written
	// unchanged.
	Redact func(*unstructured.Unstructured)
	// Clock is the real one by default.
	Clock clock.WithTicker
	// Note is called with messages for people during the recording. It may be nil.
	Note func(message string)
}

// Recorded summarizes a recording.
type Recorded struct {
	Objects, Changes int
	Bytes            int64
	Duration         time.Duration
	Gaps             int
	// Missing are the kinds that the source does not have or does not permit to read, except for
	// custom ones that it does not have.
	Missing []string
}

// flushInterval is how much of a recording is lost at most when the recorder is killed.
const flushInterval = 2 * time.Second

// The delays between attempts to reach a source that does not answer.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// Record records until ctx is done, and then completes the recording. It fails when nodes or pods
// cannot be listed at the start, or when Out cannot be written. Later the source may become
// unreachable for a while: the recording then has a gap, followed by the changes that were found
// after it.
func Record(ctx context.Context, o RecorderOptions) (Recorded, error) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Header.Kinds == nil {
		o.Header.Kinds = RecordedKinds()
	}
	o.Header.Start = o.Clock.Now()
	writer := NewWriter(o.Out, o.Header)
	r := &recorder{RecorderOptions: o, writer: writer, uids: map[key]string{}, failed: make(chan error, 1)}
	err := r.run(ctx)
	r.sum.Changes, r.sum.Bytes = writer.Changes(), writer.Bytes()
	r.sum.Duration = o.Clock.Now().Sub(o.Header.Start)
	return r.sum, err
}

// recorder is a recording in progress.
type recorder struct {
	RecorderOptions

	mu     sync.Mutex
	writer *Writer
	// uids distinguish an object from an earlier one of the same name.
	uids map[key]string
	// away counts the kinds for which the source does not answer.
	away int
	// marked: the recording has a mark for the gap that is ending.
	marked bool
	sum    Recorded

	failed chan error
}

func (r *recorder) run(ctx context.Context) error {
	versions := map[Kind]string{}
	for _, kind := range r.Header.Kinds {
		version, err := r.list(ctx, kind, func() {})
		switch {
		case ctx.Err() != nil:
			return r.end()
		case err == nil:
			versions[kind] = version
		case kind == nodeKind || kind == podKind || !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err):
			return fmt.Errorf("listing the source's %s: %w", kind.Resource, err)
		case apierrors.IsNotFound(err) && objects.KindOf(kind.GVK().GroupKind()).Uses&(objects.Custom|objects.Gated) != 0:
			// A cluster need not serve them.
		default:
			r.sum.Missing = append(r.sum.Missing, kind.Resource)
		}
	}
	// The file was empty so far; from here on it shows that the recording is under way.
	if err := errors.Join(r.mark(Begun, ""), r.flush()); err != nil {
		return err
	}
	r.Note(fmt.Sprintf("recording: %d objects to begin with", r.sum.Objects))

	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	for kind, version := range versions {
		watching.Go(func() { r.follow(ctx, kind, version) })
	}
	ticker := r.Clock.NewTicker(flushInterval)
	defer ticker.Stop()
	var err error
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case err = <-r.failed:
		case <-ticker.C():
			err = r.flush()
		}
	}
	cancel()
	watching.Wait()
	return errors.Join(err, r.end())
}

func (r *recorder) end() error {
	if err := r.mark(End, ""); err != nil {
		return err
	}
	return r.flush()
}

func (r *recorder) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writer.Flush()
}

func (r *recorder) mark(verb Verb, text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writer.Mark(r.Clock.Now(), verb, text)
}

// list writes the differences between the source and the recording for a kind. It calls answered
// before it writes.
func (r *recorder) list(ctx context.Context, kind Kind, answered func()) (version string, err error) {
	items, version, err := r.Source.List(ctx, kind)
	if err != nil {
		return "", err
	}
	answered()
	r.mu.Lock()
	defer r.mu.Unlock()
	there := map[[2]string]bool{}
	if kind == podKind {
		// The scheduling queue orders pending pods by priority and waiting time.
		slices.SortStableFunc(items, func(a, b *unstructured.Unstructured) int {
			return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time)
		})
	}
	now := r.Clock.Now()
	for _, item := range items {
		name, err := r.set(now, kind, item)
		if err != nil {
			return "", err
		}
		there[name] = true
		r.sum.Objects++
	}
	for _, known := range r.writer.Known(kind) {
		if !there[known] {
			if err := r.delete(now, kind, known); err != nil {
				return "", err
			}
		}
	}
	return version, nil
}

// set writes an object, and returns its name in the recording.
func (r *recorder) set(now time.Time, kind Kind, object *unstructured.Unstructured) (name [2]string, err error) {
	uid := string(object.GetUID())
	name = r.shape(kind, object)
	id := key{r.writer.kinds[kind], name[0], name[1]}
	if before := r.uids[id]; before != "" && before != uid {
		if err := r.writer.Delete(now, kind, name[0], name[1]); err != nil {
			return name, err
		}
	}
	r.uids[id] = uid
	_, err = r.writer.Set(now, kind, name[0], name[1], object.Object)
	return name, err
}

// shape reduces an object to the recorded fields, and returns its name.
func (r *recorder) shape(kind Kind, object *unstructured.Unstructured) (name [2]string) {
	reduce(kind, object.Object)
	object.SetGroupVersionKind(kind.GVK())
	if r.Redact != nil {
		r.Redact(object)
	}
	delete(object.Object, "apiVersion")
	delete(object.Object, "kind")
	return [2]string{object.GetNamespace(), object.GetName()}
}

func (r *recorder) delete(now time.Time, kind Kind, name [2]string) error {
	delete(r.uids, key{r.writer.kinds[kind], name[0], name[1]})
	return r.writer.Delete(now, kind, name[0], name[1])
}

// follow watches a kind from a version on until ctx is done.
func (r *recorder) follow(ctx context.Context, kind Kind, version string) {
	pause, away := firstRetry, false
	for ctx.Err() == nil {
		err := r.watch(ctx, kind, &version, func() {
			r.back(&away)
			pause = firstRetry
		})
		if ctx.Err() != nil {
			return
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			version = "" // list again
			continue
		}
		if err == nil {
			continue // API servers end watches regularly
		}
		r.gone(&away, kind, err)
		select {
		case <-ctx.Done():
			return
		case <-r.Clock.After(pause):
		}
		pause = min(2*pause, lastRetry)
	}
}

// gone records that the source does not answer for a kind.
func (r *recorder) gone(away *bool, kind Kind, err error) {
	if *away {
		return
	}
	*away = true
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away++; r.away == 1 {
		r.Note(fmt.Sprintf("the source does not answer (%s: %v), trying again", kind.Resource, err))
	}
}

// back records that the source answers again for a kind.
func (r *recorder) back(away *bool) {
	if !*away {
		return
	}
	*away = false
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.marked {
		// This is the first kind that answers; its changes happened during the gap.
		r.marked = true
		r.sum.Gaps++
		if err := r.writer.Mark(r.Clock.Now(), Gap, "the source did not answer"); err != nil {
			r.fail(err)
		}
	}
	if r.away--; r.away == 0 {
		r.marked = false
		r.Note("the source answers again")
	}
}

func (r *recorder) fail(err error) {
	select {
	case r.failed <- err:
	default:
	}
}

// watch lists the kind if there is no version, and then watches it until the watch ends. It calls
// answered when the source has answered.
func (r *recorder) watch(ctx context.Context, kind Kind, version *string, answered func()) error {
	if *version == "" {
		listed, err := r.list(ctx, kind, answered)
		if err != nil {
			return err
		}
		*version = listed
	}
	w, err := r.Source.Watch(ctx, kind, *version)
	if err != nil {
		return err
	}
	defer w.Stop()
	answered()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-w.ResultChan():
			if !ok {
				return nil
			}
			if event.Type == watch.Error {
				return apierrors.FromObject(event.Object)
			}
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				return fmt.Errorf("the source sent a %T", event.Object)
			}
			*version = object.GetResourceVersion()
			if err := r.event(kind, event.Type, object); err != nil {
				r.fail(err)
				return err
			}
		}
	}
}

func (r *recorder) event(kind Kind, what watch.EventType, object *unstructured.Unstructured) error {
	if what == watch.Bookmark {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Clock.Now()
	if what == watch.Deleted {
		return r.delete(now, kind, r.shape(kind, object))
	}
	_, err := r.set(now, kind, object)
	return err
}
