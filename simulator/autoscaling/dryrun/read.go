package dryrun

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// Version is the version of Karpenter that answers.
const Version = "1.14.1"

// karpenterGroup is the API of Karpenter's objects. Its earlier versions had other fields, and Karpenter 1 serves none of them.
var karpenterGroup = schema.GroupVersion{Group: "karpenter.sh", Version: "v1"}

// NodePoolKind and NodeClaimKind are Karpenter's own kinds.
var (
	NodePoolKind  = karpenterGroup.WithKind("NodePool")
	NodeClaimKind = karpenterGroup.WithKind("NodeClaim")
)

// Kinds are those of the objects that a State holds.
var Kinds = []schema.GroupVersionKind{
	v1.SchemeGroupVersion.WithKind("Node"),
	v1.SchemeGroupVersion.WithKind("Pod"),
	v1.SchemeGroupVersion.WithKind("Namespace"),
	v1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
	v1.SchemeGroupVersion.WithKind("PersistentVolume"),
	storagev1.SchemeGroupVersion.WithKind("StorageClass"),
	storagev1.SchemeGroupVersion.WithKind("CSINode"),
	policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
	appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
	NodePoolKind,
	NodeClaimKind,
}

// Add adds an object to a state, and leaves out one of a kind that the state does not hold. Of two objects of one name the later one
// counts. Objects of Karpenter's may have come as JSON, and o may be unstructured for them. The error says what is wrong with one.
func (s *State) Add(o runtime.Object) error {
	switch o := o.(type) {
	case *v1.Node:
		s.Nodes = append(s.Nodes, o)
	case *v1.Pod:
		s.Pods = append(s.Pods, o)
	case *v1.Namespace:
		s.Namespaces = append(s.Namespaces, o)
	case *appsv1.DaemonSet:
		s.DaemonSets = append(s.DaemonSets, o)
	case *v1.PersistentVolumeClaim:
		s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, o)
	case *v1.PersistentVolume:
		s.PersistentVolumes = append(s.PersistentVolumes, o)
	case *storagev1.StorageClass:
		s.StorageClasses = append(s.StorageClasses, o)
	case *storagev1.CSINode:
		s.CSINodes = append(s.CSINodes, o)
	case *policyv1.PodDisruptionBudget:
		s.PodDisruptionBudgets = append(s.PodDisruptionBudgets, o)
	case *karpenter.NodePool:
		s.NodePools = append(s.NodePools, o)
	case *karpenter.NodeClaim:
		s.NodeClaims = append(s.NodeClaims, o)
	case runtime.Unstructured:
		return s.addKarpenters(o)
	}
	return nil
}

// addKarpenters reads an object strictly: a field that Karpenter does not know may be a misspelt one.
func (s *State) addKarpenters(u runtime.Unstructured) error {
	gvk := u.GetObjectKind().GroupVersionKind()
	if gvk.Group != karpenterGroup.Group || gvk.Kind != NodePoolKind.Kind && gvk.Kind != NodeClaimKind.Kind {
		return nil
	}
	if gvk.Version != karpenterGroup.Version {
		return fmt.Errorf("a %s of %s: Karpenter %s reads %s only", gvk.Kind, gvk.GroupVersion(), Version, karpenterGroup)
	}
	if gvk == NodePoolKind {
		pool := &karpenter.NodePool{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.UnstructuredContent(), pool, true); err != nil {
			return err
		}
		never(u, &pool.Spec.Disruption.ConsolidateAfter, "spec", "disruption", "consolidateAfter")
		never(u, &pool.Spec.Template.Spec.ExpireAfter, "spec", "template", "spec", "expireAfter")
		s.NodePools = append(s.NodePools, pool)
		return nil
	}
	claim := &karpenter.NodeClaim{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.UnstructuredContent(), claim); err != nil {
		return err
	}
	s.NodeClaims = append(s.NodeClaims, claim)
	return nil
}

// never marks a duration that is Never: decoded, it looks like one that is not given, for which the default of the definition stands.
func never(u runtime.Unstructured, d *karpenter.NillableDuration, path ...string) {
	if text, _, _ := unstructured.NestedString(u.UnstructuredContent(), path...); text == karpenter.Never {
		d.Raw = []byte(strconv.Quote(karpenter.Never))
	}
}

// Zones returns the zones that nodes are in, and those that NodePools ask for, in order.
func (s *State) Zones() []string {
	return provider.Zones(slices.Values(s.Nodes), slices.Values(s.NodePools))
}
