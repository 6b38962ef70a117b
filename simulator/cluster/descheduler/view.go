package descheduler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core"
	coreinformersv1 "k8s.io/client-go/informers/core/v1"
	policyinformers "k8s.io/client-go/informers/policy"
	policyinformersv1 "k8s.io/client-go/informers/policy/v1"
	"k8s.io/client-go/kubernetes"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	typedpolicy "k8s.io/client-go/kubernetes/typed/policy/v1"
	typedscheduling "k8s.io/client-go/kubernetes/typed/scheduling/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/tools/cache"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
)

// view is the state of the moment as plugins read it: through informers, a client, and by node. It changes only while no plugin reads it.
type view struct {
	cluster Cluster
	// shift makes the cluster's times those of the process: plugins compare ages with the process's clock.
	shift time.Duration
	nodes, pods, namespaces,
	claims, budgets *store
	classes []*schedulingv1.PriorityClass
	// shown has the pod of the cluster that each pod of the store is.
	shown  map[types.NamespacedName]*v1.Pod
	byNode map[string][]*v1.Pod
}

// store is an informer that never runs: its objects are put into it. All else meets a nil interface.
type store struct {
	cache.SharedIndexInformer
	indexer cache.Indexer
}

func newStore() *store {
	return &store{indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
}

func (s *store) GetIndexer() cache.Indexer                 { return s.indexer }
func (s *store) AddIndexers(indexers cache.Indexers) error { return s.indexer.AddIndexers(indexers) }

// fill puts objects into a store. Objects have names, so the key is known.
func (s *store) fill(objects []runtime.Object) error {
	all := make([]any, len(objects))
	for i, o := range objects {
		all[i] = o
	}
	return s.indexer.Replace(all, "")
}

func newView(c Cluster) *view {
	return &view{
		cluster: c, shift: time.Since(c.Now()).Round(time.Second), shown: map[types.NamespacedName]*v1.Pod{},
		nodes: newStore(), pods: newStore(), namespaces: newStore(), claims: newStore(), budgets: newStore(),
	}
}

// read fills the view. Indexes of plugins may have been added before.
func (v *view) read(ctx context.Context) error {
	nodes := make([]runtime.Object, 0, len(v.cluster.Nodes()))
	for _, n := range v.cluster.Nodes() {
		nodes = append(nodes, n)
	}
	if err := v.nodes.fill(nodes); err != nil {
		return err
	}
	namespaces, err := v.list(ctx, v1.SchemeGroupVersion.WithKind("Namespace"))
	if err != nil {
		return err
	}
	// A state may have pods without their namespaces.
	known := map[string]bool{}
	for _, o := range namespaces {
		if m, ok := o.(metav1.Object); ok {
			known[m.GetName()] = true
		}
	}
	for _, p := range v.cluster.Pods() {
		if !known[p.Namespace] {
			known[p.Namespace] = true
			namespaces = append(namespaces, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.Namespace, Labels: map[string]string{v1.LabelMetadataName: p.Namespace}}})
		}
	}
	if err := v.namespaces.fill(namespaces); err != nil {
		return err
	}
	for gvk, into := range map[schema.GroupVersionKind]*store{
		v1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"):     v.claims,
		policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"): v.budgets,
	} {
		objects, err := v.list(ctx, gvk)
		if err == nil {
			err = into.fill(objects)
		}
		if err != nil {
			return err
		}
	}
	return v.update()
}

func (v *view) list(ctx context.Context, gvk schema.GroupVersionKind) ([]runtime.Object, error) {
	objects, err := v.cluster.List(ctx, gvk)
	if err != nil {
		return nil, fmt.Errorf("listing %s for the descheduler: %w", gvk.Kind, err)
	}
	return objects, nil
}

// readClasses is apart, because the policy needs the classes before the plugins are made.
func (v *view) readClasses(ctx context.Context) error {
	objects, err := v.list(ctx, schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"))
	for _, o := range objects {
		if class, ok := o.(*schedulingv1.PriorityClass); ok {
			v.classes = append(v.classes, class)
		}
	}
	return err
}

// update brings the pods up to date.
func (v *view) update() error {
	gone := make(map[types.NamespacedName]bool, len(v.shown))
	for key := range v.shown {
		gone[key] = true
	}
	v.byNode = map[string][]*v1.Pod{}
	for _, p := range v.cluster.Pods() {
		key := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
		delete(gone, key)
		if v.shown[key] != p {
			v.shown[key] = p
			if err := v.pods.indexer.Update(v.seen(p)); err != nil {
				return err
			}
		}
		if p.Spec.NodeName == "" {
			continue
		}
		seen, _, err := v.pods.indexer.GetByKey(key.String())
		if err != nil {
			return err
		}
		v.byNode[p.Spec.NodeName] = append(v.byNode[p.Spec.NodeName], seen.(*v1.Pod))
	}
	for key := range gone {
		if err := v.pods.indexer.Delete(v.shown[key]); err != nil {
			return err
		}
		delete(v.shown, key)
	}
	return nil
}

// seen is a pod as plugins see it: with a UID, which a state of a file may lack, and with the process's times.
func (v *view) seen(p *v1.Pod) *v1.Pod {
	if p.UID != "" && v.shift == 0 {
		return p
	}
	p = p.DeepCopy()
	if p.UID == "" {
		p.UID = types.UID(p.Namespace + "/" + p.Name)
	}
	later := func(t *metav1.Time) {
		if t != nil && !t.IsZero() {
			t.Time = t.Add(v.shift)
		}
	}
	later(&p.CreationTimestamp)
	later(p.DeletionTimestamp)
	later(p.Status.StartTime)
	for i := range p.Status.Conditions {
		later(&p.Status.Conditions[i].LastTransitionTime)
	}
	return p
}

// onNode returns the pods of a node by namespace and name, unlike the descheduler's own index, which has no order.
func (v *view) onNode(node string, filter podutil.FilterFunc) ([]*v1.Pod, error) {
	out := make([]*v1.Pod, 0, len(v.byNode[node]))
	for _, p := range v.byNode[node] {
		if filter == nil || filter(p) {
			out = append(out, p)
		}
	}
	return out, nil
}

// matching returns the nodes that a selector of labels matches, by name.
func (v *view) matching(selector string) (out []*v1.Node, err error) {
	matches, err := labels.Parse(selector)
	if err != nil {
		return nil, err
	}
	for _, n := range v.cluster.Nodes() {
		if matches.Matches(labels.Set(n.Labels)) {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b *v1.Node) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// factory is the informers of a view.
type factory struct {
	informers.SharedInformerFactory
	*view
}

func (f factory) Core() coreinformers.Interface     { return coreGroup{view: f.view} }
func (f factory) Policy() policyinformers.Interface { return policyGroup{view: f.view} }

type coreGroup struct {
	coreinformers.Interface
	*view
}

func (g coreGroup) V1() coreinformersv1.Interface { return coreVersion{view: g.view} }

type coreVersion struct {
	coreinformersv1.Interface
	*view
}

func (c coreVersion) Nodes() coreinformersv1.TypedNodeInformer { return nodes{of: c.view.nodes} }
func (c coreVersion) Pods() coreinformersv1.TypedPodInformer   { return pods{of: c.view.pods} }
func (c coreVersion) Namespaces() coreinformersv1.TypedNamespaceInformer {
	return namespaces{of: c.view.namespaces}
}
func (c coreVersion) PersistentVolumeClaims() coreinformersv1.TypedPersistentVolumeClaimInformer {
	return claims{of: c.view.claims}
}

type policyGroup struct {
	policyinformers.Interface
	*view
}

func (g policyGroup) V1() policyinformersv1.Interface { return policyVersion{view: g.view} }

type policyVersion struct {
	policyinformersv1.Interface
	*view
}

func (p policyVersion) PodDisruptionBudgets() policyinformersv1.TypedPodDisruptionBudgetInformer {
	return budgets{of: p.view.budgets}
}

type (
	nodes struct {
		coreinformersv1.TypedNodeInformer
		of *store
	}
	pods struct {
		coreinformersv1.TypedPodInformer
		of *store
	}
	namespaces struct {
		coreinformersv1.TypedNamespaceInformer
		of *store
	}
	claims struct {
		coreinformersv1.TypedPersistentVolumeClaimInformer
		of *store
	}
	budgets struct {
		policyinformersv1.TypedPodDisruptionBudgetInformer
		of *store
	}
)

func (s nodes) Informer() cache.SharedIndexInformer      { return s.of }
func (s pods) Informer() cache.SharedIndexInformer       { return s.of }
func (s namespaces) Informer() cache.SharedIndexInformer { return s.of }
func (s claims) Informer() cache.SharedIndexInformer     { return s.of }
func (s budgets) Informer() cache.SharedIndexInformer    { return s.of }

func (s nodes) Lister() corelisters.NodeLister { return corelisters.NewNodeLister(s.of.indexer) }
func (s pods) Lister() corelisters.PodLister   { return corelisters.NewPodLister(s.of.indexer) }
func (s namespaces) Lister() corelisters.NamespaceLister {
	return corelisters.NewNamespaceLister(s.of.indexer)
}
func (s claims) Lister() corelisters.PersistentVolumeClaimLister {
	return corelisters.NewPersistentVolumeClaimLister(s.of.indexer)
}
func (s budgets) Lister() policylisters.PodDisruptionBudgetLister {
	return policylisters.NewPodDisruptionBudgetLister(s.of.indexer)
}

// client reads what plugins read without an informer, and takes evictions. All else meets a nil interface.
type client struct {
	kubernetes.Interface
	*view
	evict func(context.Context, *policyv1.Eviction) error
}

func (c client) CoreV1() typedcore.CoreV1Interface { return coreClient{view: c.view} }
func (c client) SchedulingV1() typedscheduling.SchedulingV1Interface {
	return schedulingClient{view: c.view}
}
func (c client) PolicyV1() typedpolicy.PolicyV1Interface { return policyClient{evict: c.evict} }

type coreClient struct {
	typedcore.CoreV1Interface
	*view
}

func (c coreClient) Nodes() typedcore.NodeInterface { return nodeClient{view: c.view} }

type nodeClient struct {
	typedcore.NodeInterface
	*view
}

func (c nodeClient) List(_ context.Context, o metav1.ListOptions) (*v1.NodeList, error) {
	found, err := c.view.matching(o.LabelSelector)
	if err != nil {
		return nil, err
	}
	out := &v1.NodeList{}
	for _, n := range found {
		out.Items = append(out.Items, *n)
	}
	return out, nil
}

type schedulingClient struct {
	typedscheduling.SchedulingV1Interface
	*view
}

func (c schedulingClient) PriorityClasses() typedscheduling.PriorityClassInterface {
	return classClient{view: c.view}
}

type classClient struct {
	typedscheduling.PriorityClassInterface
	*view
}

func (c classClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*schedulingv1.PriorityClass, error) {
	for _, class := range c.view.classes {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(schedulingv1.Resource("priorityclasses"), name)
}

type policyClient struct {
	typedpolicy.PolicyV1Interface
	evict func(context.Context, *policyv1.Eviction) error
}

func (c policyClient) Evictions(string) typedpolicy.EvictionInterface {
	return evictionClient{evict: c.evict}
}

type evictionClient struct {
	typedpolicy.EvictionInterface
	evict func(context.Context, *policyv1.Eviction) error
}

func (c evictionClient) Evict(ctx context.Context, e *policyv1.Eviction) error {
	return c.evict(ctx, e)
}
