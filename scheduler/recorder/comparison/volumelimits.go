package comparison

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// compareVolumeLimits is NodeVolumeLimits'. All nodes that it rejects are equally near, because
// counting their volumes costs as much as the plugin.
func compareVolumeLimits(h fwk.Handle, gates feature.Features) begin {
	core, storage := h.SharedInformerFactory().Core().V1(), h.SharedInformerFactory().Storage().V1()
	from := &limitListers{
		claims: core.PersistentVolumeClaims().Lister(), volumes: core.PersistentVolumes().Lister(), classes: storage.StorageClasses().Lister(),
		drivers: storage.CSIDrivers().Lister(), nodes: h.SharedCSIManager().CSINodes(), attachments: storage.VolumeAttachments().Informer().GetIndexer(),
		needsDriver: gates.EnableVolumeLimitScaling,
	}
	return func(_ fwk.CycleState, pod *v1.Pod) recorder.Comparing { return &volumeLimits{from, pod} }
}

type limitListers struct {
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
	drivers storagelisters.CSIDriverLister
	nodes   fwk.CSINodeLister
	// attachments has the plugin's index.
	attachments cache.Indexer
	needsDriver bool
}

type volumeLimits struct {
	*limitListers
	pod *v1.Pod
}

var _ recorder.Counter = (*volumeLimits)(nil)

func (*volumeLimits) CountsNominated() {}

func (c *volumeLimits) Distance(fwk.CycleState, fwk.NodeInfo, *fwk.Status) float64 { return 1 }

// Compare fills in the drivers that the node lacks, or for whose volumes it has no room.
func (c *volumeLimits) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	all, err := c.limits(node)
	limits := slices.DeleteFunc(slices.Clone(all), func(l result.VolumeLimit) bool { return !isFull(l) })
	if err != nil || len(limits) == 0 {
		return false
	}
	// The plugin asks for missing drivers first.
	if missing := slices.DeleteFunc(slices.Clone(limits), func(l result.VolumeLimit) bool { return !l.Missing }); len(missing) > 0 {
		limits = missing
	}
	out.Limits, out.WithoutPods = limits, c.withoutPods(node, all)
	return true
}

// withoutPods compares the limits with the pod's own volumes, of which other pods may use some now.
// It knows nothing of a node with attached volumes: those may outlive the pods that use them.
func (c *volumeLimits) withoutPods(node fwk.NodeInfo, all []result.VolumeLimit) result.WithoutPods {
	on, err := c.nodes.Get(node.Node().Name)
	if err != nil {
		on = nil // as the plugin
	}
	wanted, err := c.handles(c.pod, on, true)
	attached, failed := c.attached(node)
	if err != nil || failed != nil || len(attached) > 0 {
		return ""
	}
	for _, l := range all {
		own := 0
		for v := range wanted {
			if v.driver == l.Driver {
				own++
			}
		}
		if l.Missing || l.Limit != nil && own > int(*l.Limit) {
			return result.RejectsWithoutPods
		}
	}
	return result.PassesWithoutPods
}

func isFull(l result.VolumeLimit) bool {
	return l.Missing || l.Limit != nil && l.Requested > 0 && l.InUse+l.Requested > int(*l.Limit)
}

func (c *volumeLimits) Passed(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	limits, err := c.limits(node)
	out.Limits = limits
	return err == nil
}

// limits compares the drivers of the pod's volumes with the limits of a node.
func (c *volumeLimits) limits(node fwk.NodeInfo) ([]result.VolumeLimit, error) {
	on, err := c.nodes.Get(node.Node().Name)
	if err != nil {
		on = nil // as the plugin
	}
	wanted, err := c.handles(c.pod, on, true)
	if err != nil {
		return nil, err
	}
	known := map[string]*int32{}
	if on != nil {
		for _, d := range on.Spec.Drivers {
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				known[d.Name] = ptr.To(*d.Allocatable.Count)
			}
		}
	}
	used, attached := volumeHandles{}, volumeHandles{}
	if len(known) > 0 { // Otherwise the plugin does not count.
		if used, err = c.used(node, on); err != nil {
			return nil, err
		}
		if attached, err = c.attached(node); err != nil {
			return nil, err
		}
	}
	var out []result.VolumeLimit
	count := func(driver string) *result.VolumeLimit {
		at := slices.IndexFunc(out, func(l result.VolumeLimit) bool { return l.Driver == driver })
		if at < 0 {
			at = len(out)
			out = append(out, result.VolumeLimit{Driver: driver, Limit: known[driver], Missing: c.needsDriver && c.lacks(on, driver)})
		}
		return &out[at]
	}
	for v := range wanted {
		// The plugin counts a volume of the pod twice if it is attached and no other pod uses it.
		if l := count(v.driver); !used[v] {
			l.Requested++
		}
	}
	maps.Copy(attached, used)
	for v := range attached {
		if slices.ContainsFunc(out, func(l result.VolumeLimit) bool { return l.Driver == v.driver }) {
			count(v.driver).InUse++
		}
	}
	slices.SortFunc(out, func(a, b result.VolumeLimit) int { return cmp.Compare(a.Driver, b.Driver) })
	return out, nil
}

type volumeHandles map[volumeHandle]bool

type volumeHandle struct{ driver, handle string }

func (c *volumeLimits) used(node fwk.NodeInfo, on *storagev1.CSINode) (volumeHandles, error) {
	out := volumeHandles{}
	for _, running := range node.GetPods() {
		handles, err := c.handles(running.GetPod(), on, false)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, handles)
	}
	return out, nil
}

func (c *volumeLimits) attached(node fwk.NodeInfo) (volumeHandles, error) {
	out := volumeHandles{}
	attachments, err := c.attachments.ByIndex(upstream.AttachmentsByNode, node.Node().Name)
	if err != nil {
		return nil, err
	}
	for _, o := range attachments {
		a, ok := o.(*storagev1.VolumeAttachment)
		if !ok || a.Spec.Attacher == "" || a.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		if pv, err := c.volumes.Get(*a.Spec.Source.PersistentVolumeName); err == nil && pv.Spec.CSI != nil {
			out[volumeHandle{a.Spec.Attacher, pv.Spec.CSI.VolumeHandle}] = true
		}
	}
	return out, nil
}

func (c *limitListers) lacks(on *storagev1.CSINode, name string) bool {
	driver, err := c.drivers.Get(name)
	if err != nil || !ptr.Deref(driver.Spec.PreventPodSchedulingIfMissing, false) {
		return false
	}
	return on == nil || !slices.ContainsFunc(on.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == name })
}

// handles returns the pod's volumes that count on a node. A missing claim is an error only for the
// scheduled pod.
func (c *limitListers) handles(pod *v1.Pod, on *storagev1.CSINode, scheduled bool) (volumeHandles, error) {
	out := volumeHandles{}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		name := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = ephemeral.VolumeClaimName(pod, v)
		default:
			found, err := c.inline(v, pod, on)
			if err != nil {
				return nil, err
			}
			if found.handle != "" {
				out[found] = true
			}
			continue
		}
		claim, err := c.claims.PersistentVolumeClaims(pod.Namespace).Get(name)
		if err != nil {
			if scheduled {
				return nil, err
			}
			continue
		}
		if v.Ephemeral != nil {
			if err := ephemeral.VolumeIsForPod(pod, claim); err != nil {
				return nil, err
			}
		}
		if found := c.handleOf(claim, on); found.driver != "" && found.handle != "" {
			out[found] = true
		}
	}
	return out, nil
}

// inline returns a volume of the pod's own spec that a CSI driver has taken over.
func (c *limitListers) inline(v *v1.Volume, pod *v1.Pod, on *storagev1.CSINode) (volumeHandle, error) {
	if !translator.IsInlineMigratable(v) {
		return volumeHandle{}, nil
	}
	former, err := translator.GetInTreePluginNameFromSpec(nil, v)
	if err != nil || on == nil || !migratable.Has(former) {
		return volumeHandle{}, err
	}
	pv, err := translator.TranslateInTreeInlineVolumeToCSI(klog.Background(), v, pod.Namespace)
	if err != nil {
		return volumeHandle{}, err
	}
	if pv == nil {
		return volumeHandle{}, errors.New("the volume is not translated")
	}
	driver, err := translator.GetCSINameFromInTreeName(former)
	if err != nil || pv.Spec.CSI == nil {
		return volumeHandle{}, err
	}
	return volumeHandle{driver, pv.Spec.CSI.VolumeHandle}, nil
}

// handleOf returns the volume of a claim, or one that stands for the volume that a driver will
// make; empty for one that does not count.
func (c *limitListers) handleOf(claim *v1.PersistentVolumeClaim, on *storagev1.CSINode) volumeHandle {
	pv, err := c.volumes.Get(claim.Spec.VolumeName)
	if claim.Spec.VolumeName == "" || err != nil {
		return c.unmade(claim, on)
	}
	if pv.Spec.CSI == nil {
		former, err := translator.GetInTreePluginNameFromSpec(pv, nil)
		if err != nil || on == nil || !migratable.Has(former) {
			return volumeHandle{}
		}
		if pv, err = translator.TranslateInTreePVToCSI(klog.Background(), pv); err != nil || pv.Spec.CSI == nil {
			return volumeHandle{}
		}
	}
	return volumeHandle{pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle}
}

func (c *limitListers) unmade(claim *v1.PersistentVolumeClaim, on *storagev1.CSINode) volumeHandle {
	class, err := c.classes.Get(volume.GetPersistentVolumeClaimClass(claim))
	if err != nil {
		return volumeHandle{}
	}
	driver := class.Provisioner
	if translator.IsMigratableIntreePluginByName(driver) {
		if on == nil || !migratable.Has(driver) {
			return volumeHandle{}
		}
		if driver, err = translator.GetCSINameFromInTreeName(driver); err != nil {
			return volumeHandle{}
		}
	}
	// No driver names a volume like that.
	return volumeHandle{driver, "\x00" + claim.Namespace + "/" + claim.Name}
}
