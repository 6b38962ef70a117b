package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/standin"
)

// control does the work of API server, controllers and nodes.
type control struct {
	*cluster
	// waiting are the objects that a controller has to look at, in order; isWaiting is their set.
	waiting     []ref
	isWaiting   map[ref]bool
	workloads   workloads
	nodes       nodes
	pods        podLife
	admitCustom func(o, before *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// ended returns the error of the running method's context, once it has ended.
	ended func() error
	// err is the first controller's error that no method has returned.
	err error
}

func newControl(s *Simulation) *control {
	c := &control{cluster: s.cluster, isWaiting: map[ref]bool{}, ended: func() error { return nil }}
	c.nodes = newNodes(c)
	c.pods = newPodLife(c)
	c.workloads = newWorkloads(c)
	return c
}

// An object of a kind with namespaces that names none is in the namespace default.
func (c *cluster) ref(gvk schema.GroupVersionKind, namespace, name string) ref {
	info, known := kinds[gvk]
	if namespaced, custom := c.custom[gvk]; custom {
		info, known = kindInfo{namespaced: namespaced}, true
	}
	if known && !info.namespaced {
		namespace = ""
	} else if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return ref{gvk, cache.NewObjectName(namespace, name).String()}
}

// look makes the controllers look at an object, which need not exist any more.
func (c *control) look(r ref) {
	if !c.isWaiting[r] {
		c.isWaiting[r] = true
		c.waiting = append(c.waiting, r)
	}
}

func (c *control) note(r ref, before, after object) {
	switch r.gvk {
	case podKind:
		c.notePod(r, pod(before), pod(after))
	case nodeKind:
		c.look(r)
		c.nodes.note(r, before, after)
	case replicaSetKind, jobKind:
		c.look(r)
		c.lookAtOwner(cmp.Or(metaOf(after), metaOf(before)))
	case deploymentKind, statefulSetKind, daemonSetKind, cronJobKind, budgetKind, claimKind, volumeKind, resourceClaimKind, podGroupKind:
		c.look(r)
	case classKind:
		for _, claim := range c.list(claimKind) {
			c.look(refOf(claimKind, claim))
		}
	case claimTemplateKind:
		for _, o := range c.list(podKind) {
			if len(o.(*v1.Pod).Spec.ResourceClaims) > 0 {
				c.look(refOf(podKind, o))
			}
		}
	}
	if after == nil {
		c.collect(before.GetUID())
	}
}

func metaOf(o object) metav1.Object {
	if o == nil {
		return nil
	}
	return o
}

func pod(o object) *v1.Pod {
	p, _ := o.(*v1.Pod)
	return p
}

func (c *control) notePod(r ref, before, after *v1.Pod) {
	latest := cmp.Or(after, before)
	c.look(r)
	if before == nil || after == nil || before.Status.Phase != after.Status.Phase || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) || isReady(before) != isReady(after) {
		c.lookAtOwner(latest)
		c.lookAtBudgets(latest)
		if after == nil || ended(after) {
			c.lookAtClaims(latest)
		}
	}
}

func (c *control) lookAtOwner(o metav1.Object) {
	owner := metav1.GetControllerOfNoCopy(o)
	if owner == nil {
		return
	}
	group, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return
	}
	c.look(ref{group.WithKind(owner.Kind), cache.NewObjectName(o.GetNamespace(), owner.Name).String()})
}

// collect deletes what a deleted owner owned.
func (c *control) collect(owner types.UID) {
	dependents := make([]ref, 0, len(c.owned[owner]))
	for r := range c.owned[owner] {
		dependents = append(dependents, r)
	}
	slices.SortFunc(dependents, func(a, b ref) int {
		return cmp.Or(cmp.Compare(a.gvk.Kind, b.gvk.Kind), cmp.Compare(a.key, b.key))
	})
	for _, r := range dependents {
		if err := c.remove(r, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			c.fail(err)
		}
	}
}

func (c *control) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// failure returns the first error of a controller since the last call, as a *ControllerError or
// nil.
func (c *control) failure() error {
	err := c.err
	if err == nil {
		return nil
	}
	c.err = nil
	return &ControllerError{err}
}

// run lets the controllers act, and reports whether they had something to do.
func (c *control) run() bool {
	any := false
	for len(c.waiting) > 0 && c.ended() == nil {
		any = true
		r := c.waiting[0]
		c.waiting = c.waiting[1:]
		delete(c.isWaiting, r)
		if err := c.reconcile(r); err != nil && !apierrors.IsNotFound(err) {
			c.fail(fmt.Errorf("%s %s: %w", r.gvk.Kind, r.key, err))
		}
	}
	return any
}

func (c *control) reconcile(r ref) error {
	switch o := c.get(r.gvk, r.key); r.gvk {
	case podKind:
		return c.pods.reconcile(r, pod(o))
	case nodeKind:
		return c.nodes.reconcile(r, o)
	case claimKind, volumeKind:
		return c.bindVolumes(r, o)
	case budgetKind:
		return c.reconcileBudget(o)
	case resourceClaimKind:
		return c.reconcileResourceClaim(o)
	default:
		return c.workloads.reconcile(r, o)
	}
}

// create creates an object like an API server with the admission plugins that scheduling can see.
func (c *control) create(given runtime.Object) (object, error) {
	if err := c.ended(); err != nil {
		return nil, err
	}
	if c.count() >= MaxObjects {
		return nil, &FullError{}
	}
	o, gvk, err := c.typed(given)
	if err != nil {
		return nil, err
	}
	info, err := c.kindOf(gvk)
	if unsupported, ok := err.(*UnsupportedError); ok {
		unsupported.Name = keyOf(o)
		return nil, unsupported
	}
	if err := c.place(info, o); err != nil {
		return nil, err
	}
	c.name(o)
	r := refOf(gvk, o)
	switch {
	case o.GetName() == "":
		return nil, apierrors.NewBadRequest(fmt.Sprintf("a %s has neither a name nor generateName", gvk.Kind))
	case c.get(gvk, r.key) != nil:
		return nil, apierrors.NewAlreadyExists(resourceOf(gvk), o.GetName())
	}
	if o, err = c.admittedCustom(o, nil); err != nil {
		return nil, err
	}
	if o.GetUID() == "" {
		o.SetUID(c.uid())
	}
	o.SetCreationTimestamp(c.timeline.stamp())
	o.SetDeletionTimestamp(nil)
	o.SetManagedFields(nil)
	o.SetGeneration(1)
	if info.defaults != nil {
		info.defaults(o)
	}
	if err := c.admit(o); err != nil {
		return nil, err
	}
	if pod, ok := o.(*v1.Pod); ok {
		c.shared.pod(pod)
	}
	return o, c.put(gvk, o)
}

// admittedCustom returns a custom resource as an API server would store it, and other objects as
// they are.
func (c *control) admittedCustom(o, before object) (object, error) {
	custom, ok := o.(*unstructured.Unstructured)
	if !ok || c.admitCustom == nil {
		return o, nil
	}
	was, _ := before.(*unstructured.Unstructured)
	uid := custom.GetUID()
	out, err := c.admitCustom(custom, was)
	if err != nil {
		return nil, err
	}
	out.SetUID(uid) // not one by chance
	return out, nil
}

// place puts an object into its namespace, which must exist.
func (c *control) place(info kindInfo, o object) error {
	if !info.namespaced {
		o.SetNamespace("")
		return nil
	}
	if o.GetNamespace() == "" {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	if c.get(namespaceKind, o.GetNamespace()) == nil {
		return apierrors.NewNotFound(resourceOf(namespaceKind), o.GetNamespace())
	}
	return nil
}

// name derives the name from generateName, for which the API server draws a random one.
func (c *cluster) name(o metav1.Object) {
	if o.GetName() == "" && o.GetGenerateName() != "" {
		c.made++
		o.SetName(o.GetGenerateName() + suffix(c.made))
	}
}

// suffix is one of Kubernetes' random suffixes of five characters, different for each n up to 14
// million.
func suffix(n int64) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	// The multiplication spreads neighbours. It is odd and not divisible by 3, so that it permutes.
	n = n * 5700353 % (27 * 27 * 27 * 27 * 27)
	var out [5]byte
	for i := range out {
		out[i] = letters[n%27]
		n /= 27
	}
	return string(out[:])
}

// admit does the work of admission plugins.
func (c *control) admit(o object) error {
	switch o := o.(type) {
	case *v1.Pod:
		return c.admitPod(o)
	case *v1.Node:
		c.nodes.admit(o)
	case *v1.PersistentVolumeClaim:
		c.admitClaim(o)
	case *v1.PersistentVolume:
		o.Status.Phase = cmp.Or(o.Status.Phase, v1.VolumePending)
	case *v1.Namespace:
		o.Status.Phase = v1.NamespaceActive
		metav1.SetMetaDataLabel(&o.ObjectMeta, v1.LabelMetadataName, o.Name)
	}
	return unsupportedParts(o)
}

// apply creates an object, or merges it with the existing one.
func (c *control) apply(given runtime.Object) error {
	o, gvk, err := c.typed(given)
	if err != nil {
		return err
	}
	r := c.ref(gvk, o.GetNamespace(), o.GetName())
	if o.GetName() == "" || c.get(gvk, r.key) == nil {
		_, err := c.create(given)
		return err
	}
	patch, err := applied(given)
	if err != nil {
		return err
	}
	return c.patch(r, types.MergePatchType, patch)
}

func (c *control) patch(r ref, kind types.PatchType, patch []byte) error {
	before := c.get(r.gvk, r.key)
	if before == nil {
		return notFound(r)
	}
	after, err := patched(before, kind, patch)
	if err != nil {
		return err
	}
	return c.update(r, before, after)
}

// update replaces an object as the API server does: its identity, and a status that controllers
// own, stay.
func (c *control) update(r ref, before, after object) error {
	after.SetName(before.GetName())
	after.SetNamespace(before.GetNamespace())
	after.SetUID(before.GetUID())
	after.SetCreationTimestamp(before.GetCreationTimestamp())
	after.SetDeletionTimestamp(before.GetDeletionTimestamp())
	if info := kinds[r.gvk]; info.defaults != nil {
		info.defaults(after)
	}
	if err := c.checkUpdate(before, after); err != nil {
		return err
	}
	after, err := c.admittedCustom(after, before)
	if err != nil {
		return err
	}
	if specChanged(before, after) {
		after.SetGeneration(before.GetGeneration() + 1)
	}
	return c.put(r.gvk, after)
}

func (c *control) remove(r ref, options metav1.DeleteOptions) error {
	o := c.get(r.gvk, r.key)
	if o == nil {
		return notFound(r)
	}
	if uid := ptr.Deref(options.Preconditions, metav1.Preconditions{}).UID; uid != nil && *uid != o.GetUID() {
		return apierrors.NewConflict(resourceOf(r.gvk), o.GetName(), fmt.Errorf("the UID is %s", o.GetUID()))
	}
	switch o := o.(type) {
	case *v1.Pod:
		return c.pods.remove(r, o, options)
	case *v1.PersistentVolumeClaim:
		if c.inUse(o) {
			if o.DeletionTimestamp != nil {
				return nil
			}
			o = o.DeepCopy()
			now := c.timeline.stamp()
			o.DeletionTimestamp = &now
			return c.put(claimKind, o)
		}
	case *v1.Namespace:
		c.emptyNamespace(o.Name)
	}
	c.cluster.remove(r)
	return nil
}

func (c *control) emptyNamespace(name string) {
	for _, gvk := range c.sortedKinds() {
		if info, err := c.kindOf(gvk); err != nil || !info.namespaced {
			continue
		}
		for _, o := range c.list(gvk) {
			if o.GetNamespace() == name {
				if err := c.remove(refOf(gvk, o), metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil && !apierrors.IsNotFound(err) {
					c.fail(err)
				}
			}
		}
	}
}

// sortedKinds returns the supported kinds, owners of pods before pods.
func (c *cluster) sortedKinds() []schema.GroupVersionKind {
	out := slices.AppendSeq(slices.Collect(maps.Keys(kinds)), maps.Keys(c.custom))
	slices.SortFunc(out, func(a, b schema.GroupVersionKind) int {
		return cmp.Or(-cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

func (s *Simulation) bootstrap() error {
	var objects []runtime.Object
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, v1.NamespaceNodeLease} {
		objects = append(objects, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for name, value := range map[string]int32{"system-cluster-critical": 2000000000, "system-node-critical": 2000001000} {
		objects = append(objects, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value})
	}
	objects = append(objects, standin.NewDefaultStorageClass())
	slices.SortStableFunc(objects[4:6], func(a, b runtime.Object) int {
		return strings.Compare(a.(metav1.Object).GetName(), b.(metav1.Object).GetName())
	})
	for _, o := range objects {
		if _, err := s.control.create(o); err != nil {
			return err
		}
	}
	return nil
}
