package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// importWorkers is how many objects are written at the same time.
const importWorkers = 16

// Import reads src and creates or updates its objects in the cluster. The report lists the objects
// that the API server refused and the places that Import could not read. The error is an
// *InputError when it could read nothing, ErrNotOurs, ctx's, or that of an API server that stopped
// answering. With the last two there may be a report of the objects that it had imported by then;
// they stay.
func (cluster *Cluster) Import(ctx context.Context, src manifest.Source, opts ImportOptions) (*Report, error) {
	opts, err := opts.check(cluster)
	if err != nil {
		return nil, err
	}
	i := cluster.newImporter(opts)
	i.meter.begin(Reading, 0)
	if err := i.read(ctx, src); err != nil {
		return nil, err
	}
	err = i.apply(ctx)
	return i.rec.finish(cluster.opts.now()), err
}

// key names an object in a cluster, whatever its version.
type key struct {
	schema.GroupKind
	namespace, name string
}

func keyOf(o *manifest.Object) key { return key{o.GVK.GroupKind(), o.Namespace, o.Name} }

type importer struct {
	cluster *Cluster
	opts    ImportOptions
	client  *client
	rec     *recorder
	meter   *meter

	objects []*manifest.Object
	// held is the size of objects, and maxHeld its bound.
	held, maxHeld int64
	index         map[key]*manifest.Object
	// configurations are the scheduler configurations of the input.
	configurations []configurationIn

	pods *podPlan
	// cancel ends the import when the API server has gone.
	cancel context.CancelCauseFunc

	mu sync.Mutex
	// uids has the UIDs of the cluster's objects that were looked up; empty for an object that does
	// not exist.
	uids map[key]string
	// links are objects that wait for their owners, or for the pods that they name.
	links []link
	// ready: makeReady has run.
	ready bool
	// CustomResourceDefinitions define these kinds.
	custom map[schema.GroupKind]bool
}

type configurationIn struct {
	source   string
	document []byte
}

func (cluster *Cluster) newImporter(opts ImportOptions) *importer {
	return &importer{
		cluster: cluster, opts: opts, rec: newRecorder(opts.Mode, opts.Reschedule, cluster.opts.now()),
		meter: &meter{now: cluster.opts.now, tell: opts.Progress},
		index: map[key]*manifest.Object{}, uids: map[key]string{}, custom: map[schema.GroupKind]bool{},
	}
}

// read reads the whole source before the import writes, because objects that pods need may come
// after them.
func (i *importer) read(ctx context.Context, src manifest.Source) error {
	i.maxHeld = src.MaxHeld()
	err := manifest.Read(ctx, src, manifest.Content{
		Object: i.add,
		Configuration: func(source string, document []byte) {
			i.configurations = append(i.configurations, configurationIn{source, document})
		},
		Unreadable: i.rec.unreadable,
		Ignored:    i.rec.ignored,
	})
	if tooMuch, ok := errors.AsType[*manifest.LimitError](err); ok {
		return &InputError{Message: tooMuch.Message}
	}
	if err != nil {
		return err
	}
	if len(i.objects) > 0 || len(i.configurations) > 0 || i.rec.report.Read > 0 {
		return nil
	}
	items := i.rec.report.Failed
	if len(items) == 0 {
		items = i.rec.report.Skipped
	}
	message := "nothing to import was found: no Kubernetes objects and no scheduler configuration"
	if failed := i.rec.report.Failed; len(failed) > 0 {
		message = "nothing could be imported: " + failed[0].Message
		if failed[0].Source != "" {
			message = fmt.Sprintf("nothing could be imported: %s: %s", failed[0].Source, failed[0].Message)
		}
		if more := i.rec.report.FailedTotal - 1; more > 0 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
	}
	return &InputError{Message: message + ". " + manifest.Formats, Items: items}
}

// add keeps an object that was read, unless imports refuse it.
func (i *importer) add(o *manifest.Object) error {
	i.rec.read(1)
	if i.rec.report.Read%100 == 0 {
		i.meter.step(100)
	}
	if why := leftOut(o); why != "" {
		i.rec.count(o, skipped, why)
		return nil
	}
	if o.Namespace == "" && objects.KindOf(o.GVK.GroupKind()).Namespaced {
		o.Namespace = "default"
	}
	if i.held += int64(len(o.JSON)); i.held > i.maxHeld {
		return manifest.HeldError(i.maxHeld)
	}
	k := keyOf(o)
	if before := i.index[k]; before != nil && o.Name != "" && !o.Generated {
		i.rec.count(before, skipped, "it appears again later in the input; the later one is imported")
		before.JSON = nil
	}
	i.index[k] = o
	i.objects = append(i.objects, o)
	return nil
}

// leftOut returns why an import leaves an object out; empty if it does not.
func leftOut(o *manifest.Object) string {
	if why := objects.KindOf(o.GVK.GroupKind()).Refused; why != "" {
		return why
	}
	switch {
	case o.Deleting:
		return "it was being deleted"
	case o.Virtual:
		return "virtual nodes publish it again"
	case o.Local:
		return "every API server has its own"
	case (o.GVK.Kind == "Service" || o.GVK.Kind == "ConfigMap") && objects.IsBuiltIn(o.GVK.GroupKind(), cmp.Or(o.Namespace, "default"), o.Name):
		return "every cluster has its own"
	}
	return ""
}

func (i *importer) apply(ctx context.Context) error {
	ctx, i.cancel = context.WithCancelCause(ctx)
	defer i.cancel(nil)
	if i.opts.Mode == Replace {
		i.meter.begin(Clearing, 0)
		deleted, err := i.cluster.opts.Clear(ctx)
		i.rec.report.Deleted = deleted
		if err != nil {
			return fmt.Errorf("emptying the cluster: %w", err)
		}
	}
	var err error
	if i.client, err = newClient(i.cluster.opts.Config); err != nil {
		return err
	}
	if err := i.client.discover(); err != nil {
		return err
	}
	i.objects = slices.DeleteFunc(i.objects, func(o *manifest.Object) bool { return o.JSON == nil })
	i.pods = i.planPods()
	i.rec.report.Lacks = i.lacks(i.alreadyThere(ctx))
	i.meter.begin(Applying, len(i.objects))
	if i.pods.gated {
		i.meter.expect(len(i.pods.waiting))
	}
	err = errors.Join(i.applyRanks(ctx), i.finish(ctx))
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (i *importer) applyRanks(ctx context.Context) error {
	ranks := map[objects.Rank][]*manifest.Object{}
	for _, o := range i.objects {
		rank := objects.RankOf(o.GVK.GroupKind())
		ranks[rank] = append(ranks[rank], o)
	}
	for rank := objects.RankDefinition; rank <= objects.LastRank; rank++ {
		if err := i.applyRank(ctx, rank, ranks[rank]); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (i *importer) applyRank(ctx context.Context, rank objects.Rank, all []*manifest.Object) error {
	switch rank {
	case objects.RankDefinition:
		i.putAll(ctx, all)
		if err := i.learnDefinitions(ctx, all); err != nil {
			return err
		}
		return i.define(ctx)
	case objects.RankNamespace:
		i.putAll(ctx, all)
		i.makeNamespaces(ctx)
	case objects.RankClass:
		i.giveWay(ctx, all)
		i.putAll(ctx, all)
		i.makeClasses(ctx)
	case objects.RankPod:
		i.putPods(ctx)
		i.link(ctx)
	case objects.RankLimit:
		i.putLastPods(ctx)
		i.putAll(ctx, all)
		i.link(ctx)
	default:
		i.putAll(ctx, all)
	}
	return nil
}

// putAll writes objects kind by kind; within a kind in no order.
func (i *importer) putAll(ctx context.Context, all []*manifest.Object) {
	slices.SortStableFunc(all, func(a, b *manifest.Object) int {
		return cmp.Or(strings.Compare(a.GVK.Kind, b.GVK.Kind), strings.Compare(a.GVK.Group, b.GVK.Group))
	})
	i.each(ctx, importWorkers, all, func(ctx context.Context, o *manifest.Object) { i.put(ctx, o, nil) })
}

// each calls do for every object until ctx ends.
func (i *importer) each(ctx context.Context, workers int, all []*manifest.Object, do func(context.Context, *manifest.Object)) {
	var group errgroup.Group
	group.SetLimit(workers)
	for _, o := range all {
		if ctx.Err() != nil {
			break
		}
		i.meter.at(o.GVK.Kind)
		group.Go(func() error {
			do(ctx, o)
			i.meter.step(1)
			return nil
		})
	}
	_ = group.Wait() // do reports what fails
}

// put writes one object and counts the outcome. change, which may be nil, has the last word on what
// is written. It returns nil when the object is not in the cluster.
func (i *importer) put(ctx context.Context, o *manifest.Object, change func(*write)) *write {
	defer func() {
		// No input may end the program.
		if reason := recover(); reason != nil {
			i.rec.count(o, failed, i.cluster.panicked(reason).Error())
		}
	}()
	w, err := i.prepare(ctx, o)
	if err == nil {
		if change != nil {
			change(w)
		}
		warned := &warningList{}
		what, putErr := i.attempt(ctx, w, warned)
		for _, message := range warned.take() {
			i.rec.warn(itemOf(o, message))
		}
		if status, ok := errors.AsType[*statusError](putErr); ok {
			i.rec.warn(itemOf(o, "its status could not be written: "+status.Error()))
			putErr = nil
		}
		if err = putErr; err == nil {
			i.rec.count(o, what, "")
			if i.opts.Reschedule && w.desired.GetAnnotations()[objects.AnnotationImportedNode] != "" {
				i.rec.leftToScheduler()
			}
			if w.inactive {
				i.rec.inactive(o, objects.InactiveCalls(w.desired))
			}
			i.learn(keyOf(w.Object), w.uid)
			return w
		}
	}
	if ctx.Err() == nil {
		i.rec.count(o, failed, err.Error())
	}
	return nil
}

const (
	// Admission learns of classes from a watch, so for admissionLag it may not know a new one.
	admissionLag  = 5 * time.Second
	admissionPoll = 20 * time.Millisecond
)

// isAhead reports whether admission refused a pod because it does not know the pod's priority class
// yet, although this import has created it.
func (i *importer) isAhead(w *write, err error) bool {
	if !apierrors.IsForbidden(err) || w.GVK.GroupKind() != objects.Pod {
		return false
	}
	name, _, _ := unstructured.NestedString(w.desired.Object, "spec", "priorityClassName")
	class := key{objects.PriorityClass, "", name}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.uids[class] != "" && strings.Contains(err.Error(), "no PriorityClass")
}

// writeTimeout bounds writing one object.
const writeTimeout = time.Minute

// attempt writes an object. When the API server gives no answer but is alive, it tries once more;
// when it is not alive, it cancels the import. Cancelling the import does not interrupt a write:
// otherwise the report could not say whether the object exists.
func (i *importer) attempt(ctx context.Context, w *write, list *warningList) (outcome, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, warned{}, list)
	what, err := i.client.put(ctx, w)
	for lag := time.Now().Add(admissionLag); i.isAhead(w, err) && time.Now().Before(lag); {
		time.Sleep(admissionPoll)
		what, err = i.client.put(ctx, w)
	}
	if err == nil || hasStatus(err) || ctx.Err() != nil {
		return what, err
	}
	if gone := i.client.alive(ctx); gone != nil {
		i.cancel(gone)
		return failed, gone
	}
	return i.client.put(ctx, w)
}
