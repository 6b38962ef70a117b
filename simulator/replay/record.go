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
)

// Source is the cluster that is recorded. It is only read. Methods are called from
// several goroutines.
type Source interface {
	// List returns all objects of a kind, and the version from which to watch. A
	// kind that the cluster does not have is a NotFound error.
	List(ctx context.Context, kind Kind) (items []*unstructured.Unstructured, version string, err error)
	// Watch sends what changes after version, with bookmarks.
	Watch(ctx context.Context, kind Kind, version string) (watch.Interface, error)
}

// RecorderOptions say what to record.
type RecorderOptions struct {
	Source Source
	Out    io.Writer
	// Header is written but for its version, its start and its kinds. A zero Kinds
	// means RecordedKinds.
	Header Header
	// Redact changes objects in place before they are written. nil: they are
	// written as they are.
	Redact func(*unstructured.Unstructured)
	// Clock is the real one by default.
	Clock clock.WithTicker
	// Note is called with what a person should know while it records. It may be nil.
	Note func(message string)
}

// Recorded sums a recording up.
type Recorded struct {
	Objects, Changes int
	Bytes            int64
	Duration         time.Duration
	Gaps             int
	// Missing are kinds that the source does not have or does not show.
	Missing []string
}

// flushEvery is how much of a recording a recorder that is killed may lose.
const flushEvery = 2 * time.Second

// The pauses before a source that is away is asked again.
const (
	retryFirst = time.Second
	retryMost  = 30 * time.Second
)

// Record records until ctx is done, and then ends the recording in order. It
// fails when nodes or pods cannot be listed at the beginning, or when Out cannot be
// written. Later the source may go away and come back: what was missed is in the
// recording as a gap, followed by what was different then.
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
	writer, err := NewWriter(o.Out, o.Header)
	if err != nil {
		return Recorded{}, err
	}
	r := &recorder{RecorderOptions: o, writer: writer, uids: map[key]string{}, failed: make(chan error, 1)}
	err = r.run(ctx)
	r.sum.Changes, r.sum.Bytes = writer.Changes(), writer.Bytes()
	r.sum.Duration = o.Clock.Now().Sub(o.Header.Start)
	return r.sum, err
}

// recorder is one under way.
type recorder struct {
	RecorderOptions

	mu     sync.Mutex
	writer *Writer
	// uids tell an object from an earlier one of the same name.
	uids map[key]string
	// away counts the kinds whose source does not answer.
	away int
	// marked: the recording has the gap that is being closed.
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
		default:
			r.sum.Missing = append(r.sum.Missing, kind.Resource)
		}
	}
	// From here on the file says that it records: it was empty before.
	if err := errors.Join(r.mark(Begun, ""), r.flush()); err != nil {
		return err
	}
	r.Note(fmt.Sprintf("recording: %d objects to begin with", r.sum.Objects))

	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	for kind, version := range versions {
		watching.Go(func() { r.follow(ctx, kind, version) })
	}
	ticker := r.Clock.NewTicker(flushEvery)
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

// list writes what is different from what the recording has of a kind. It calls
// answered before it writes.
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
		// Those that wait are tried by priority and by how long they wait.
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

// set writes an object, and returns the name that it has in the recording.
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

// shape makes of an object what is recorded of it, and returns its name.
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
	pause, away := retryFirst, false
	for ctx.Err() == nil {
		err := r.watch(ctx, kind, &version, func() {
			r.back(&away)
			pause = retryFirst
		})
		if ctx.Err() != nil {
			return
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			version = "" // it has to be listed again
			continue
		}
		if err == nil {
			continue // watches end now and then
		}
		r.gone(&away, kind, err)
		select {
		case <-ctx.Done():
			return
		case <-r.Clock.After(pause):
		}
		pause = min(2*pause, retryMost)
	}
}

// gone notes that the source does not answer for a kind.
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

// back notes that it answers again.
func (r *recorder) back(away *bool) {
	if !*away {
		return
	}
	*away = false
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.marked {
		// The first kind that answers: what it tells has happened in the gap.
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

// watch lists, when there is no version, and watches until the watch ends. It
// calls answered when the source has answered.
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
