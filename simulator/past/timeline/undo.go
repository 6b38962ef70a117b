package timeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// An undo is the inverse of a user's step: it deletes what the step created, creates what it
// deleted, and changes back the fields that it changed. Controllers and the scheduler take back
// their own reactions. Only of a reset does an undo restore the whole: it empties the cluster, and
// fills it with what it was.

type plan struct {
	Undo
	record *record
	// restored are the objects to create, and removed those to delete, with what they own.
	restored []*unstructured.Unstructured
	removed  []target
	patches  []target
	// replace empties the cluster first.
	replace bool
	// document is the scheduler configuration; nil if it stays.
	document []byte
}

type target struct {
	ref      ObjectRef
	resource schema.GroupVersionResource
	patch    map[string]any
}

// Undoable implements server.Timeline.
func (t *Timeline) Undoable(ctx context.Context) (*Undo, error) {
	p, err := t.plan(ctx)
	if err != nil {
		return nil, err
	}
	return &p.Undo, nil
}

// Undo implements server.Timeline.
func (t *Timeline) Undo(ctx context.Context, moment uint64) (*Undone, error) {
	t.undoing.Lock()
	defer t.undoing.Unlock()
	p, err := t.plan(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Step != nil && p.Step.Moment != moment:
		return nil, ErrStale
	case p.Message != "":
		return nil, fmt.Errorf("%w: %s", ErrNothingToUndo, p.Message)
	}
	// From here on it completes even if the client disconnects.
	ctx = context.WithoutCancel(ctx)
	done := &Undone{Created: p.Created, Deleted: p.Deleted, Changed: p.Changed}
	before := t.setRestoring(true)
	err = t.carryOut(ctx, p, done)
	// The last changes come a moment after their requests.
	<-t.opts.Clock.After(operationPause)
	t.setRestoring(false)
	if err != nil {
		return nil, fmt.Errorf("undoing the last step: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p.record.Undone = true
	t.change(p.record)
	took := record{Step: Step{Kind: ChangeStep, Verb: "undo", By: ByWeb, Revision: p.Configuration}, Before: before}
	for _, refs := range [][]ObjectRef{p.Created, p.Deleted, p.Changed} {
		for _, ref := range refs {
			took.touch(ref)
		}
	}
	r := t.step(took) // of no user, so it cannot be taken back itself
	t.flush()
	done.Point = Point{r.Moment, r.Time}
	return done, nil
}

// setRestoring returns the newest moment.
func (t *Timeline) setRestoring(restoring bool) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.restoring = restoring
	return t.journal.moment
}

// settle waits until the steps of requests and operations that have ended are known.
func (t *Timeline) settle(ctx context.Context) error {
	for {
		t.mu.Lock()
		waiting, moved := len(t.writes)+t.operations > 0, t.moved
		t.mu.Unlock()
		if !waiting {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

const maxWithoutEffect = 20

// undoable returns the last steps that a user may take back, newest first.
func (t *Timeline) undoable() []*record {
	t.mu.Lock()
	defer t.mu.Unlock()
	var last []*record
	for _, r := range slices.Backward(t.steps) {
		if len(last) > maxWithoutEffect {
			break
		}
		if r.User && !r.Undone {
			last = append(last, r)
		}
	}
	return last
}

// plan plans to take back the last step that still has an effect. A step has none when, for
// example, its objects are by now as they were before it, or it wrote only a status.
func (t *Timeline) plan(ctx context.Context) (*plan, error) {
	nothing := func(why string) *plan { return &plan{Undo: newUndo(why)} }
	if t.opts.Recording() != nil {
		return nothing("a recording is loaded"), nil
	}
	own, err := t.own(ctx)
	if err != nil {
		return nil, err
	}
	if !t.Records() {
		return nothing("this simulator does not record itself"), nil
	}
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	for _, r := range t.undoable() {
		p, err := t.planOf(ctx, own, r)
		if err != nil || !p.isEmpty() {
			return p, err
		}
	}
	return nothing(ErrNothingToUndo.Error()), nil
}

func newUndo(why string) Undo {
	return Undo{Created: []ObjectRef{}, Deleted: []ObjectRef{}, Changed: []ObjectRef{}, Message: why}
}

func (p *plan) isEmpty() bool {
	return p.Message == "" && !p.replace && p.document == nil && len(p.Created)+len(p.Deleted)+len(p.Changed) == 0
}

func (t *Timeline) planOf(ctx context.Context, own past, r *record) (*plan, error) {
	p := &plan{Undo: newUndo("")}
	t.mu.Lock()
	step := r.Step
	p.record, p.Step = r, &step
	touched := slices.Clone(r.Touched)
	oldest, _, _ := t.journal.ends()
	t.mu.Unlock()
	if r.Before < oldest.Moment {
		p.Message = "the time line does not go back that far any more"
		return p, nil
	}
	if step.Kind == ChangeStep && step.Count > maxTouched {
		p.Message = fmt.Sprintf("the step changed more than %d objects", maxTouched)
		return p, nil
	}
	before, err := own.state(ctx, r.Before)
	if err != nil {
		return nil, err
	}
	p.To = &before.Point
	if step.Kind == ConfigurationStep {
		p.configuration(t.configurationBefore(step.Revision))
		return p, nil
	}
	after, err := own.state(ctx, step.Moment)
	if err != nil {
		return nil, err
	}
	newest, err := own.at(ctx, At{Time: t.now()})
	if err != nil {
		return nil, err
	}
	now, err := own.state(ctx, newest.Moment)
	if err != nil {
		return nil, err
	}
	return p, p.fill(ctx, cluster{before, after, now}, touched, t.configurationChanged(r))
}

// configurationBefore returns the configuration that a revision replaced; nil when it is unknown by
// now.
func (t *Timeline) configurationBefore(revision int) *configurationMark {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range t.configurations {
		if c.Revision == revision && i > 0 {
			return &t.configurations[i-1]
		}
	}
	return nil
}

// configurationChanged returns the configuration before an operation on the whole cluster; nil if
// the operation did not change it.
func (t *Timeline) configurationChanged(r *record) *configurationMark {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Kind != ResetStep && r.Kind != ImportStep {
		return nil
	}
	var before *configurationMark
	for i, c := range t.configurations {
		if c.Moment <= r.Before && c.Time.Before(r.Time) {
			before = &t.configurations[i]
		}
	}
	if before == nil || *before == t.configurations[len(t.configurations)-1] {
		return nil
	}
	return before
}

func (p *plan) configuration(before *configurationMark) {
	if before == nil {
		p.Message = "the configuration before it is not known any more"
		return
	}
	p.Configuration, p.document = before.Revision, []byte(before.Document)
}

type cluster struct{ before, after, now *snapshot }

func (p *plan) fill(ctx context.Context, c cluster, touched []ObjectRef, configuration *configurationMark) error {
	if configuration != nil {
		p.configuration(configuration)
	}
	keys, err := c.keys()
	if err != nil {
		return err
	}
	switch p.Step.Kind {
	case ResetStep:
		p.replace = true
		touched = nil
		for ref := range keys {
			touched = append(touched, ref)
		}
	case ImportStep:
		for ref, key := range keys {
			if !bytes.Equal(c.before.objects[key], c.after.objects[key]) {
				touched = append(touched, ref)
			}
		}
	default:
		if touched, err = c.with(touched, keys); err != nil {
			return err
		}
	}
	slices.SortFunc(touched, compareRefs)
	for _, ref := range slices.Compact(touched) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.object(c, ref, keys[ref]); err != nil {
			return err
		}
	}
	return p.owned(ctx, c.now)
}

func (p *plan) object(c cluster, ref ObjectRef, key string) error {
	if key == "" {
		return nil
	}
	old, hadIt := c.before.objects[key]
	present, hasIt := c.now.objects[key]
	switch {
	case hadIt && (!hasIt || p.replace):
		u, err := c.before.decode(key, old)
		if err != nil {
			return err
		}
		if metav1.GetControllerOfNoCopy(u) != nil && !p.replace {
			return nil // its controller creates it
		}
		if hasIt && bytes.Equal(old, present) {
			p.restored = append(p.restored, u)
			return nil
		}
		p.restored, p.Created = append(p.restored, u), append(p.Created, ref)
	case !hadIt && hasIt:
		u, err := c.now.decode(key, present)
		if err != nil {
			return err
		}
		if p.replace || metav1.GetControllerOfNoCopy(u) == nil {
			p.removed, p.Deleted = append(p.removed, target{ref: ref, resource: resourceOf(u, key)}), append(p.Deleted, ref)
		}
	case hadIt && hasIt:
		return p.changeBack(c, ref, key)
	}
	return nil
}

// changeBack leaves what others changed since.
func (p *plan) changeBack(c cluster, ref ObjectRef, key string) error {
	old, err := c.before.decode(key, c.before.objects[key])
	if err != nil {
		return err
	}
	data := c.after.objects[key]
	if data == nil {
		data = c.now.objects[key]
	}
	changed, err := c.after.decode(key, data)
	if err != nil {
		return err
	}
	resource := resourceOf(old, key)
	present, err := c.now.decode(key, c.now.objects[key])
	if err != nil {
		return err
	}
	patch := objects.MergePatch(Desired(changed), Desired(old))
	if !objects.Changes(patch, present.Object) {
		return nil
	}
	p.patches, p.Changed = append(p.patches, target{ref: ref, resource: resource, patch: patch}), append(p.Changed, ref)
	return nil
}

// Desired returns what a user can set of an object.
func Desired(u *unstructured.Unstructured) map[string]any {
	u = u.DeepCopy()
	transfer.Neutral(u)
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	if u.GroupVersionKind().GroupKind() == objects.Pod {
		unstructured.RemoveNestedField(u.Object, "spec", "nodeName") // a pod stays where it is
	}
	if annotations := u.GetAnnotations(); annotations != nil {
		delete(annotations, "deployment.kubernetes.io/revision")
		u.SetAnnotations(annotations)
	}
	return u.Object
}

func (c cluster) keys() (map[ObjectRef]string, error) {
	keys := map[ObjectRef]string{}
	for _, s := range []*snapshot{c.before, c.after, c.now} {
		for key, data := range s.objects {
			ref, err := refOf(data)
			if err != nil {
				return nil, err
			}
			keys[ref] = key
		}
	}
	return keys, nil
}

// with adds what was deleted together with namespaces and nodes.
func (c cluster) with(touched []ObjectRef, keys map[ObjectRef]string) ([]ObjectRef, error) {
	namespaces, nodes := map[string]bool{}, map[string]bool{}
	for _, ref := range touched {
		key := keys[ref]
		if _, there := c.now.objects[key]; there || c.before.objects[key] == nil {
			continue
		}
		switch {
		case ref.Kind == objects.Namespace.Kind && ref.APIVersion == "v1":
			namespaces[ref.Name] = true
		case ref.Kind == objects.Node.Kind && ref.APIVersion == "v1":
			nodes[ref.Name] = true
		}
	}
	if len(namespaces)+len(nodes) == 0 {
		return touched, nil
	}
	for ref, key := range keys {
		if c.before.objects[key] == nil || c.now.objects[key] != nil {
			continue
		}
		lost := namespaces[ref.Namespace]
		if !lost && strings.HasPrefix(key, podPrefix) {
			pod, err := c.before.decode(key, c.before.objects[key])
			if err != nil {
				return nil, err
			}
			lost = nodes[nodeOf(pod)]
		}
		if lost {
			touched = append(touched, ref)
		}
	}
	return touched, nil
}

// owned adds to Deleted what the garbage collector and the namespace controller will delete.
func (p *plan) owned(ctx context.Context, now *snapshot) error {
	if len(p.removed) == 0 || p.replace {
		return nil
	}
	going, namespaces := map[types.UID]bool{}, map[string]bool{}
	gone := map[ObjectRef]bool{}
	for _, ref := range p.Deleted {
		gone[ref] = true
		if ref.Kind == objects.Namespace.Kind {
			namespaces[ref.Name] = true
		}
	}
	all, err := now.of(ctx, func(string, []byte) bool { return true })
	if err != nil {
		return err
	}
	for more := true; more; {
		more = false
		for _, u := range all {
			if going[u.GetUID()] {
				continue
			}
			ref := refTo(u)
			owned := gone[ref] || namespaces[u.GetNamespace()]
			for _, owner := range u.GetOwnerReferences() {
				owned = owned || going[owner.UID]
			}
			if !owned {
				continue
			}
			going[u.GetUID()], more = true, true
			if !gone[ref] && len(p.Deleted) < maxListed {
				gone[ref] = true
				p.Deleted = append(p.Deleted, ref)
			}
		}
	}
	return nil
}

func compareRefs(a, b ObjectRef) int {
	return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// Custom resources have their resource in their key: GROUP/RESOURCE/…
func resourceOf(u *unstructured.Unstructured, key string) schema.GroupVersionResource {
	kind := u.GroupVersionKind()
	if rest, isCustom := strings.CutPrefix(key, kind.Group+"/"); isCustom && kind.Group != "" && strings.Contains(kind.Group, ".") {
		resource, _, _ := strings.Cut(rest, "/")
		return kind.GroupVersion().WithResource(resource)
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural
}

// undoTimeout bounds each request of an undo.
const undoTimeout = 30 * time.Second

func (t *Timeline) carryOut(ctx context.Context, p *plan, done *Undone) error {
	config := rest.CopyConfig(t.opts.Config())
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.Timeout = undoTimeout
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	failed := func(ref ObjectRef, err error) {
		done.Failed = append(done.Failed, UndoFailure{Object: ref, Message: err.Error()})
	}
	of := func(o target) dynamic.ResourceInterface {
		if o.ref.Namespace == "" {
			return client.Resource(o.resource)
		}
		return client.Resource(o.resource).Namespace(o.ref.Namespace)
	}
	if !p.replace {
		background := metav1.DeletePropagationBackground
		for _, o := range p.removed {
			if err := of(o).Delete(ctx, o.ref.Name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil && !apierrors.IsNotFound(err) {
				failed(o.ref, err)
			}
		}
	}
	if len(p.restored) > 0 || p.replace {
		if err := t.restore(ctx, p, done); err != nil {
			return err
		}
	}
	for _, o := range p.patches {
		patch, err := json.Marshal(o.patch)
		if err != nil {
			return err
		}
		if _, err := of(o).Patch(ctx, o.ref.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			failed(o.ref, err)
		}
	}
	if p.document != nil {
		if err := t.opts.Configure(ctx, p.document); err != nil {
			return fmt.Errorf("applying the scheduler configuration: %w", err)
		}
	}
	return nil
}

func (t *Timeline) restore(ctx context.Context, p *plan, done *Undone) error {
	var list bytes.Buffer
	if err := transfer.WriteObjects(&list, p.restored, nil); err != nil {
		return err
	}
	src := manifest.NewSource(manifest.Part{Name: "time line", Content: bytes.NewReader(list.Bytes()), Size: int64(list.Len())})
	report, err := t.opts.Import(ctx, src, p.replace)
	if err != nil {
		return fmt.Errorf("restoring objects: %w", err)
	}
	for _, f := range report.Failed {
		done.Failed = append(done.Failed, UndoFailure{
			Object: ObjectRef{APIVersion: f.APIVersion, Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}, Message: f.Message,
		})
	}
	return nil
}
