package dryrun

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// State is the state of a cluster, as far as Karpenter looks at it. Ask copies it and changes none of the objects.
type State struct {
	Nodes      []*v1.Node
	Pods       []*v1.Pod
	Namespaces []*v1.Namespace
	DaemonSets []*appsv1.DaemonSet

	PersistentVolumeClaims []*v1.PersistentVolumeClaim
	PersistentVolumes      []*v1.PersistentVolume
	StorageClasses         []*storagev1.StorageClass
	CSINodes               []*storagev1.CSINode
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget

	NodePools  []*karpenter.NodePool
	NodeClaims []*karpenter.NodeClaim
}

// snapshot is a copy of a State as a client that only reads. Karpenter may keep and change what it reads. A call that a dry run has no
// use for meets the nil client.
type snapshot struct {
	client.Client

	nodes      store[v1.Node, *v1.Node]
	pods       store[v1.Pod, *v1.Pod]
	podsOf     map[string][]*v1.Pod // by the node's name; "" has those without one
	namespaces store[v1.Namespace, *v1.Namespace]
	daemonSets store[appsv1.DaemonSet, *appsv1.DaemonSet]
	claims     store[v1.PersistentVolumeClaim, *v1.PersistentVolumeClaim]
	volumes    store[v1.PersistentVolume, *v1.PersistentVolume]
	classes    store[storagev1.StorageClass, *storagev1.StorageClass]
	csiNodes   store[storagev1.CSINode, *storagev1.CSINode]
	budgets    store[policyv1.PodDisruptionBudget, *policyv1.PodDisruptionBudget]
	nodePools  store[karpenter.NodePool, *karpenter.NodePool]
	nodeClaims store[karpenter.NodeClaim, *karpenter.NodeClaim]
}

// object is a pointer to a T that is a Kubernetes object.
type object[T any] interface {
	*T
	client.Object
	DeepCopy() *T
	DeepCopyInto(*T)
}

// store holds the objects of one kind in the order in which they came.
type store[T any, P object[T]] struct {
	resource schema.GroupResource
	all      []P
	byKey    map[client.ObjectKey]P
}

// copied is a store of copies. Of two objects of one name the last one counts.
func copied[T any, P object[T]](group, resource string, from []P) store[T, P] {
	s := store[T, P]{schema.GroupResource{Group: group, Resource: resource}, make([]P, 0, len(from)), make(map[client.ObjectKey]P, len(from))}
	for _, o := range from {
		s.add(P(o.DeepCopy()))
	}
	return s
}

func (s *store[T, P]) add(o P) {
	key := client.ObjectKeyFromObject(o)
	if known := s.byKey[key]; known != nil {
		o.DeepCopyInto((*T)(known))
		return
	}
	s.all, s.byKey[key] = append(s.all, o), o
}

func (s *store[T, P]) get(key client.ObjectKey, into *T) error {
	found := s.byKey[key]
	if found == nil {
		return apierrors.NewNotFound(s.resource, key.Name)
	}
	*into = *found
	return nil
}

func list[T any, P object[T]](from []P, options *client.ListOptions) []T {
	found := []T{}
	for _, o := range from {
		if options.Namespace != "" && o.GetNamespace() != options.Namespace {
			continue
		}
		if options.LabelSelector != nil && !options.LabelSelector.Matches(labels.Set(o.GetLabels())) {
			continue
		}
		found = append(found, *o)
	}
	return found
}

func newSnapshot(s *State) *snapshot {
	c := &snapshot{
		nodes:      copied("", "nodes", s.Nodes),
		pods:       copied("", "pods", s.Pods),
		namespaces: copied("", "namespaces", s.Namespaces),
		daemonSets: copied("apps", "daemonsets", s.DaemonSets),
		claims:     copied("", "persistentvolumeclaims", s.PersistentVolumeClaims),
		volumes:    copied("", "persistentvolumes", s.PersistentVolumes),
		classes:    copied("storage.k8s.io", "storageclasses", s.StorageClasses),
		csiNodes:   copied("storage.k8s.io", "csinodes", s.CSINodes),
		budgets:    copied("policy", "poddisruptionbudgets", s.PodDisruptionBudgets),
		nodePools:  copied("karpenter.sh", "nodepools", s.NodePools),
		nodeClaims: copied("karpenter.sh", "nodeclaims", s.NodeClaims),
		podsOf:     map[string][]*v1.Pod{},
	}
	for _, pod := range c.pods.all {
		c.podsOf[pod.Spec.NodeName] = append(c.podsOf[pod.Spec.NodeName], pod)
	}
	return c
}

// Get implements client.Reader for the kinds of a State.
func (c *snapshot) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *v1.Node:
		return c.nodes.get(key, into)
	case *v1.Pod:
		return c.pods.get(key, into)
	case *v1.Namespace:
		return c.namespaces.get(key, into)
	case *appsv1.DaemonSet:
		return c.daemonSets.get(key, into)
	case *v1.PersistentVolumeClaim:
		return c.claims.get(key, into)
	case *v1.PersistentVolume:
		key.Namespace = "" // Karpenter asks for volumes in the pod's namespace
		return c.volumes.get(key, into)
	case *storagev1.StorageClass:
		return c.classes.get(key, into)
	case *storagev1.CSINode:
		return c.csiNodes.get(key, into)
	case *policyv1.PodDisruptionBudget:
		return c.budgets.get(key, into)
	case *karpenter.NodePool:
		return c.nodePools.get(key, into)
	case *karpenter.NodeClaim:
		return c.nodeClaims.get(key, into)
	}
	return fmt.Errorf("a dry run has no objects of type %T", into)
}

// List implements client.Reader for the kinds of a State, and for the fields that Karpenter selects by.
func (c *snapshot) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	options := (&client.ListOptions{}).ApplyOptions(opts)
	field, value, err := selected(options.FieldSelector)
	if err != nil {
		return err
	}
	switch into := into.(type) {
	case *v1.PodList:
		from := c.pods.all
		if field == "spec.nodeName" {
			from, field = c.podsOf[value], ""
		}
		into.Items = list(from, options)
	case *v1.NodeList:
		from := c.nodes.all
		if field == "spec.providerID" {
			from, field = having(from, value, func(n *v1.Node) string { return n.Spec.ProviderID }), ""
		}
		into.Items = list(from, options)
	case *karpenter.NodeClaimList:
		from := c.nodeClaims.all
		if field == "status.providerID" {
			from, field = having(from, value, func(n *karpenter.NodeClaim) string { return n.Status.ProviderID }), ""
		}
		into.Items = list(from, options)
	case *v1.NamespaceList:
		into.Items = list(c.namespaces.all, options)
	case *appsv1.DaemonSetList:
		into.Items = list(c.daemonSets.all, options)
	case *policyv1.PodDisruptionBudgetList:
		into.Items = list(c.budgets.all, options)
	case *karpenter.NodePoolList:
		into.Items = list(c.nodePools.all, options)
	case *storagev1.VolumeAttachmentList:
		into.Items, field = nil, "" // a copy has no VolumeAttachments
	default:
		return fmt.Errorf("a dry run has no objects of type %T", into)
	}
	if field != "" {
		return fmt.Errorf("a dry run does not select %T by %s", into, field)
	}
	return nil
}

// selected returns the one field that a selector asks for.
func selected(s fields.Selector) (field, value string, err error) {
	if s == nil || s.Empty() {
		return "", "", nil
	}
	all := s.Requirements()
	if len(all) != 1 {
		return "", "", fmt.Errorf("a dry run does not select by several fields: %s", s)
	}
	return all[0].Field, all[0].Value, nil
}

func having[P any](from []P, value string, of func(P) string) (found []P) {
	for _, o := range from {
		if of(o) == value {
			found = append(found, o)
		}
	}
	return found
}
