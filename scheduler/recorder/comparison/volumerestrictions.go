package comparison

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// compareVolumeRestrictions is VolumeRestrictions'. Nearest are the nodes on which the fewest of
// the pod's disks are in use. A claim in use is in use for every node.
func compareVolumeRestrictions(h fwk.Handle) begin {
	return func(state fwk.CycleState, pod *v1.Pod) recorder.Comparing {
		claims := upstream.ExclusiveClaims(state)
		c := &volumeRestrictions{handle: h, namespace: pod.Namespace, users: map[string]sets.Set[string]{}}
		for i := range pod.Spec.Volumes {
			v := &pod.Spec.Volumes[i]
			if isDisk(v) || v.PersistentVolumeClaim != nil && claims.Has(v.PersistentVolumeClaim.ClaimName) {
				c.volumes = append(c.volumes, v)
			}
		}
		return c
	}
}

type volumeRestrictions struct {
	handle    fwk.Handle
	namespace string
	// volumes are those that the pod may need for itself.
	volumes []*v1.Volume
	// users are the nodes of each claim's users, by its key, once they are known.
	users map[string]sets.Set[string]
}

func (c *volumeRestrictions) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	inUse := 0
	for _, v := range c.volumes {
		if isDisk(v) && c.user(v, node) != nil {
			inUse++
		}
	}
	return float64(inUse)
}

func (c *volumeRestrictions) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	inUse := slices.DeleteFunc(c.on(node), func(v result.ExclusiveVolume) bool { return !v.InUse })
	if len(inUse) == 0 {
		return false
	}
	out.Volumes, out.WithoutPods = inUse, result.PassesWithoutPods
	for _, v := range inUse {
		if v.Claim != "" && c.usedElsewhere(v.Claim, node.Node().Name) {
			out.WithoutPods = result.RejectsWithoutPods
		}
	}
	return true
}

func (c *volumeRestrictions) usedElsewhere(claim, node string) bool {
	key := framework.GetNamespacedName(c.namespace, claim)
	if c.users[key] == nil {
		users := sets.New[string]()
		nodes, _ := c.handle.SnapshotSharedLister().NodeInfos().List()
		for _, n := range nodes {
			if n.GetPVCRefCounts()[key] > 0 {
				users.Insert(n.Node().Name)
			}
		}
		c.users[key] = users
	}
	return c.users[key].Difference(sets.New(node)).Len() > 0
}

func (c *volumeRestrictions) Passed(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	out.Volumes = c.on(node)
	return true
}

func (c *volumeRestrictions) on(node fwk.NodeInfo) []result.ExclusiveVolume {
	var out []result.ExclusiveVolume
	for _, v := range c.volumes {
		found := result.ExclusiveVolume{Volume: v.Name}
		if v.PersistentVolumeClaim != nil {
			found.Claim = v.PersistentVolumeClaim.ClaimName
			found.InUse = c.handle.SnapshotSharedLister().StorageInfos().IsPVCUsedByPods(framework.GetNamespacedName(c.namespace, found.Claim))
		}
		if by := c.user(v, node); by != nil {
			found.InUse, found.Pod = true, &result.Pod{Namespace: by.Namespace, Name: by.Name, UID: by.UID}
		}
		out = append(out, found)
	}
	return out
}

func (c *volumeRestrictions) user(v *v1.Volume, node fwk.NodeInfo) *v1.Pod {
	for _, on := range node.GetPods() {
		pod := on.GetPod()
		if slices.ContainsFunc(pod.Spec.Volumes, func(other v1.Volume) bool { return c.excludes(v, &other, pod.Namespace) }) {
			return pod
		}
	}
	return nil
}

func isDisk(v *v1.Volume) bool {
	return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.ISCSI != nil || v.RBD != nil
}

// excludes reports whether a running pod's volume keeps the pod from using v: the same
// claim, or the same disk unless both only read it.
func (c *volumeRestrictions) excludes(v, other *v1.Volume, namespace string) bool {
	switch {
	case v.PersistentVolumeClaim != nil && other.PersistentVolumeClaim != nil:
		return namespace == c.namespace && v.PersistentVolumeClaim.ClaimName == other.PersistentVolumeClaim.ClaimName
	case v.GCEPersistentDisk != nil && other.GCEPersistentDisk != nil:
		a, b := v.GCEPersistentDisk, other.GCEPersistentDisk
		return a.PDName == b.PDName && !(a.ReadOnly && b.ReadOnly)
	case v.AWSElasticBlockStore != nil && other.AWSElasticBlockStore != nil:
		return v.AWSElasticBlockStore.VolumeID == other.AWSElasticBlockStore.VolumeID
	case v.ISCSI != nil && other.ISCSI != nil:
		return v.ISCSI.IQN == other.ISCSI.IQN && !(v.ISCSI.ReadOnly && other.ISCSI.ReadOnly)
	case v.RBD != nil && other.RBD != nil:
		a, b := v.RBD, other.RBD
		monitored := slices.ContainsFunc(a.CephMonitors, func(m string) bool { return slices.Contains(b.CephMonitors, m) })
		return monitored && a.RBDPool == b.RBDPool && a.RBDImage == b.RBDImage && !(a.ReadOnly && b.ReadOnly)
	}
	return false
}
