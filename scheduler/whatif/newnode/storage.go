package newnode

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	nodeaffinity "k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
)

// csiNode returns the CSINode of a new node; nil if the node like it has none.
func (s *Sample) csiNode(name string) *storagev1.CSINode {
	from, exists := get[*storagev1.CSINode](s.survey, csiNodeKind, "", s.like.Name)
	if !exists {
		return nil
	}
	from = from.DeepCopy()
	out := &storagev1.CSINode{
		TypeMeta:   metav1.TypeMeta{APIVersion: csiNodeKind.GroupVersion().String(), Kind: csiNodeKind.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: from.Labels, Annotations: from.Annotations},
		Spec:       from.Spec,
	}
	delete(out.Annotations, v1.LastAppliedConfigAnnotation)
	for i := range out.Spec.Drivers {
		out.Spec.Drivers[i].NodeID = rename(out.Spec.Drivers[i].NodeID, s.like.Name, name)
	}
	return out
}

// findCapacities indexes the CSIStorageCapacities by the values that their topologies name.
func (s *Survey) findCapacities() map[string][]*storagev1.CSIStorageCapacity {
	out := map[string][]*storagev1.CSIStorageCapacity{}
	for _, c := range list[*storagev1.CSIStorageCapacity](s, capacityKind) {
		for _, value := range valuesOf(c.NodeTopology) {
			out[value] = append(out[value], c)
		}
	}
	for _, all := range out {
		slices.SortFunc(all, func(a, b *storagev1.CSIStorageCapacity) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}
	return out
}

// valuesOf returns the values that a selector names, each once.
func valuesOf(selector *metav1.LabelSelector) []string {
	if selector == nil {
		return nil
	}
	var out []string
	for _, value := range selector.MatchLabels {
		out = append(out, value)
	}
	for _, r := range selector.MatchExpressions {
		out = append(out, r.Values...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// storage returns the CSIStorageCapacities of the storage that only the new node reaches. Storage that both nodes reach needs none. The new
// storage is empty: it has what is free on the node like it and what volumes take there.
func (s *Sample) storage(node *v1.Node) []*storagev1.CSIStorageCapacity {
	var out []*storagev1.CSIStorageCapacity
	for _, from := range s.survey.capacities()[s.like.Name] {
		if !reaches(from, s.like) || reaches(from, node) {
			continue
		}
		c := from.DeepCopy()
		c.TypeMeta = metav1.TypeMeta{APIVersion: capacityKind.GroupVersion().String(), Kind: capacityKind.Kind}
		c.ObjectMeta = metav1.ObjectMeta{Namespace: from.Namespace, Name: rename(from.Name, s.like.Name, node.Name), Labels: c.Labels}
		s.renameIn(c.NodeTopology, node.Name)
		if !reaches(c, node) {
			continue
		}
		if c.Capacity != nil {
			total := c.Capacity.DeepCopy()
			for _, v := range s.ownVolumes(node) {
				if v.Spec.StorageClassName == c.StorageClassName {
					total.Add(v.Spec.Capacity[v1.ResourceStorage])
				}
			}
			if c.MaximumVolumeSize != nil && c.MaximumVolumeSize.Cmp(*c.Capacity) == 0 {
				c.MaximumVolumeSize = ptr.To(total.DeepCopy())
			}
			c.Capacity = &total
		}
		out = append(out, c)
	}
	return out
}

func (s *Sample) renameIn(selector *metav1.LabelSelector, name string) {
	for key, value := range selector.MatchLabels {
		if value == s.like.Name {
			selector.MatchLabels[key] = name
		}
	}
	for i := range selector.MatchExpressions {
		for j, value := range selector.MatchExpressions[i].Values {
			if value == s.like.Name {
				selector.MatchExpressions[i].Values[j] = name
			}
		}
	}
}

// reaches reports whether pods on the node can use the storage.
func reaches(c *storagev1.CSIStorageCapacity, node *v1.Node) bool {
	if c.NodeTopology == nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(c.NodeTopology)
	return err == nil && selector.Matches(labels.Set(node.Labels))
}

// ownVolumes returns the volumes that the node like the new one reaches, and the new one does not.
func (s *Sample) ownVolumes(node *v1.Node) []*v1.PersistentVolume {
	return slices.DeleteFunc(list[*v1.PersistentVolume](s.survey, volumeKind), func(v *v1.PersistentVolume) bool {
		if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
			return true
		}
		selector, err := nodeaffinity.NewNodeSelector(v.Spec.NodeAffinity.Required)
		return err != nil || !selector.Match(s.like) || selector.Match(node)
	})
}

// noProvisioner is the provisioner of classes whose volumes people, or agents, create.
const noProvisioner = "kubernetes.io/no-provisioner"

// unknownStorage returns the classes of storage of which new nodes may bring some.
func (s *Sample) unknownStorage() []Unknown {
	var out []Unknown
	node := Like(s.like, probe)
	reachable := map[string]bool{}
	for _, c := range append(s.storage(node), list[*storagev1.CSIStorageCapacity](s.survey, capacityKind)...) {
		reachable[c.StorageClassName] = reachable[c.StorageClassName] || reaches(c, node)
	}
	local := map[string]bool{}
	for _, v := range s.ownVolumes(node) {
		local[v.Spec.StorageClassName] = true
	}
	for _, class := range list[*storagev1.StorageClass](s.survey, classKind) {
		driver, isDriver := get[*storagev1.CSIDriver](s.survey, driverKind, "", class.Provisioner)
		switch {
		case isDriver && ptr.Deref(driver.Spec.StorageCapacity, false) && !reachable[class.Name]:
			out = append(out, Unknown{names.VolumeBinding, explain.StorageNotReported{Like: s.like.Name, Class: class.Name}})
		case class.Provisioner == noProvisioner && local[class.Name]:
			out = append(out, Unknown{names.VolumeBinding, explain.LocalVolumes{Like: s.like.Name, Class: class.Name}})
		}
	}
	return out
}
