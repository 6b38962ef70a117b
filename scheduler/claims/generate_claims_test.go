package claims

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const (
	diskDriver   = "disk.example.com"
	sizedDriver  = "sized.example.com"
	gpuDriver    = "gpu.example.com"
	fabricDriver = "fabric.example.com"
)

// storage adds storage classes, drivers and their nodes.
func (g *generator) storage() {
	if g.volumes == 0 {
		return
	}
	class := func(name, provisioner string) *storagev1.StorageClass {
		return &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
			ReclaimPolicy: ptr.To(v1.PersistentVolumeReclaimDelete),
		}
	}
	zonal := class("zonal", diskDriver)
	zonal.AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: zone, Values: []string{one(g, "a", "b")}}}}}
	g.add(class("local", "kubernetes.io/no-provisioner"), class("disk", diskDriver), class("sized", sizedDriver), zonal,
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: diskDriver}, Spec: storagev1.CSIDriverSpec{AttachRequired: ptr.To(true)}},
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: sizedDriver}, Spec: storagev1.CSIDriverSpec{AttachRequired: ptr.To(true), StorageCapacity: ptr.To(true)}},
	)
	for _, n := range g.nodes {
		if !g.chance(70) {
			continue
		}
		driver := storagev1.CSINodeDriver{Name: diskDriver, NodeID: n.Name}
		if g.chance(80) {
			driver.Allocatable = &storagev1.VolumeNodeResources{Count: ptr.To(int32(1 + g.IntN(2)))}
		}
		g.add(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n.Name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{driver}}})
	}
	for _, z := range []string{"a", "b"} {
		size := resource.MustParse(one(g, "1Gi", "4Gi", "20Gi"))
		g.add(&storagev1.CSIStorageCapacity{
			ObjectMeta: metav1.ObjectMeta{Name: "capacity-" + z, Namespace: "default"}, StorageClassName: "sized",
			NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{zone: z}}, Capacity: &size,
		})
	}
	for range g.IntN(3) {
		g.addVolume("local", one(g, "2Gi", "6Gi"), nil, one(g, g.nodes...))
	}
}

// addVolume adds a persistent volume, for a claim unless that is nil, which nodes like on can reach.
func (g *generator) addVolume(class, size string, claim *v1.PersistentVolumeClaim, on *v1.Node) *v1.PersistentVolume {
	g.count++
	pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pv", g.count)}}
	pv.UID = types.UID("uid-" + pv.Name)
	pv.Spec = v1.PersistentVolumeSpec{
		StorageClassName: class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, Capacity: v1.ResourceList{v1.ResourceStorage: resource.MustParse(size)},
		PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimDelete,
	}
	key, value := host, on.Name
	if z, labelled := on.Labels[zone]; labelled && class != "local" {
		key, value = zone, z
	}
	pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}}},
	}}}}
	switch class {
	case "local":
		pv.Spec.Local = &v1.LocalVolumeSource{Path: "/mnt/" + pv.Name}
	case "sized":
		pv.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: sizedDriver, VolumeHandle: pv.Name}
	default:
		pv.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: diskDriver, VolumeHandle: pv.Name}
		if key == zone && g.chance(60) {
			pv.Labels = map[string]string{zone: value}
		}
	}
	pv.Status.Phase = v1.VolumeAvailable
	if claim != nil {
		bind(claim, pv)
	}
	g.add(pv)
	return pv
}

func bind(claim *v1.PersistentVolumeClaim, pv *v1.PersistentVolume) {
	claim.Spec.VolumeName, claim.Status.Phase = pv.Name, v1.ClaimBound
	claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	pv.Spec.AccessModes = claim.Spec.AccessModes
	pv.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	pv.Status.Phase = v1.VolumeBound
}

// volume gives a pod a volume.
func (g *generator) volume(p *v1.Pod) {
	if g.theme.volumes >= 50 && g.chance(8) {
		p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: one(g, "vol-1", "vol-2")}}}}
		return
	}
	name := "claim-" + p.Name
	if g.chance(max(20, g.exclusive)) {
		name = "alone" // which pods share although only one may use it at a time
	}
	p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
	if g.claimNamed(p.Namespace, name) != nil || g.chance(4) {
		return
	}
	size := one(g, "1Gi", "3Gi", "5Gi")
	claim := g.addClaim(p.Namespace, name, size, one(g, "local", "local", "disk", "disk", "sized", "zonal"))
	switch {
	case name == "alone":
		claim.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}
		claim.Spec.StorageClassName = ptr.To("disk")
		g.addVolume("disk", "5Gi", claim, one(g, g.nodes...))
	case g.chance(30):
		g.addVolume(*claim.Spec.StorageClassName, "5Gi", claim, one(g, g.nodes...))
	case g.chance(6):
		claim.Spec.VolumeName, claim.Status.Phase = "lost-"+p.Name, v1.ClaimLost
		claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	case g.chance(4) && *claim.Spec.StorageClassName != "local":
		claim.Annotations = map[string]string{"volume.kubernetes.io/selected-node": one(g, g.nodes...).Name}
	}
}

// attachments attaches volumes to nodes: those of the pods there, and some that no pod uses any
// more.
func attachments(g *generator) {
	attach := func(pv string, on string) {
		g.add(&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "attached-" + pv + "-" + on}, Spec: storagev1.VolumeAttachmentSpec{
			Attacher: diskDriver, NodeName: on, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv},
		}})
	}
	for _, p := range g.bound {
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			if claim := g.claimNamed(p.Namespace, v.PersistentVolumeClaim.ClaimName); claim != nil && claim.Spec.VolumeName != "" && g.chance(70) {
				attach(claim.Spec.VolumeName, p.Spec.NodeName)
			}
		}
	}
	for _, n := range g.nodes {
		if g.chance(40) {
			attach(g.addVolume("disk", "1Gi", g.addClaim("default", "left-on-"+n.Name, "1Gi", "disk"), n).Name, n.Name)
		}
	}
}

// addClaim adds a claim that is not bound.
func (g *generator) addClaim(namespace, name, size, class string) *v1.PersistentVolumeClaim {
	claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	claim.UID = types.UID("uid-claim-" + namespace + "-" + name)
	claim.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}
	claim.Spec.Resources.Requests = v1.ResourceList{v1.ResourceStorage: resource.MustParse(size)}
	claim.Spec.StorageClassName = &class
	claim.Spec.VolumeMode = ptr.To(v1.PersistentVolumeFilesystem)
	claim.Status.Phase = v1.ClaimPending
	g.add(claim)
	return claim
}

func (g *generator) claimNamed(namespace, name string) *v1.PersistentVolumeClaim {
	return find(g, namespace, name, func(o runtime.Object) (*v1.PersistentVolumeClaim, bool) {
		c, ok := o.(*v1.PersistentVolumeClaim)
		return c, ok
	})
}

func find[T metav1.Object](g *generator, namespace, name string, as func(runtime.Object) (T, bool)) (none T) {
	for _, o := range g.cluster.objects {
		if typed, ok := as(o); ok && typed.GetNamespace() == namespace && typed.GetName() == name {
			return typed
		}
	}
	return none
}

func deviceClaimNamed(g *generator, namespace, name string) *resourcev1.ResourceClaim {
	return find(g, namespace, name, func(o runtime.Object) (*resourcev1.ResourceClaim, bool) {
		c, ok := o.(*resourcev1.ResourceClaim)
		return c, ok
	})
}

// available reports whether the node can give the pod its volumes and devices.
func (g *generator) available(n *v1.Node, p *v1.Pod) bool {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim := g.claimNamed(p.Namespace, v.PersistentVolumeClaim.ClaimName)
		if claim == nil || claim.Status.Phase == v1.ClaimLost || claim.Annotations["volume.kubernetes.io/selected-node"] != "" {
			return false
		}
		for _, other := range g.bound {
			if claim.Name == "alone" && other.Namespace == p.Namespace && len(other.Spec.Volumes) > 0 && other.Spec.Volumes[0].PersistentVolumeClaim != nil && other.Spec.Volumes[0].PersistentVolumeClaim.ClaimName == "alone" {
				return false
			}
		}
		if claim.Spec.VolumeName == "" {
			continue
		}
		pv := find(g, "", claim.Spec.VolumeName, func(o runtime.Object) (*v1.PersistentVolume, bool) { v, ok := o.(*v1.PersistentVolume); return v, ok })
		if r := pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]; !slices.Contains(r.Values, n.Labels[r.Key]) {
			return false
		}
	}
	for i := range p.Spec.ResourceClaims {
		claim := deviceClaimNamed(g, p.Namespace, claimNameOf(p, i))
		if claim == nil {
			return false
		}
		if a := claim.Status.Allocation; a != nil {
			if a.NodeSelector != nil && a.NodeSelector.NodeSelectorTerms[0].MatchFields[0].Values[0] != n.Name {
				return false
			}
			continue
		}
		if g.allocation(n, claim) == nil {
			return false
		}
	}
	return true
}

func claimNameOf(p *v1.Pod, i int) string {
	if name := p.Spec.ResourceClaims[i].ResourceClaimName; name != nil {
		return *name
	}
	return *p.Status.ResourceClaimStatuses[0].ResourceClaimName
}

// use binds the claims of a pod that has a node.
func (g *generator) use(p *v1.Pod) {
	n := g.nodes[slices.IndexFunc(g.nodes, func(n *v1.Node) bool { return n.Name == p.Spec.NodeName })]
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		if claim := g.claimNamed(p.Namespace, v.PersistentVolumeClaim.ClaimName); claim.Spec.VolumeName == "" {
			g.addVolume(*claim.Spec.StorageClassName, "5Gi", claim, n)
		}
	}
	for i := range p.Spec.ResourceClaims {
		claim := deviceClaimNamed(g, p.Namespace, claimNameOf(p, i))
		if claim.Status.Allocation == nil {
			claim.Status.Allocation = g.allocation(n, claim)
		}
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: p.Name, UID: p.UID})
	}
}

// deviceClasses adds classes of devices, and the devices of nodes.
func (g *generator) deviceClasses() {
	if g.devices == 0 {
		return
	}
	class := func(name, expression string) *resourcev1.DeviceClass {
		return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{{
			CEL: &resourcev1.CELDeviceSelector{Expression: expression},
		}}}}
	}
	g.add(class("gpu", `device.driver == "`+gpuDriver+`"`), class("fabric", `device.driver == "`+fabricDriver+`"`),
		class("large-gpu", `device.driver == "`+gpuDriver+`" && device.attributes["`+gpuDriver+`"].?size.orValue("") == "large"`))
	for _, n := range g.nodes {
		if !g.chance(75) {
			continue
		}
		slice := newSlice(n.Name+"-gpu", gpuDriver, n.Name)
		for i := range 1 + g.IntN(3) {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("gpu-", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"size": {StringValue: ptr.To(one(g, "small", "large"))},
			}})
		}
		g.add(slice)
	}
	fabric := newSlice("fabric", fabricDriver, "")
	fabric.Spec.Devices = []resourcev1.Device{{Name: "channel-0"}}
	g.add(fabric)
	for _, namespace := range []string{"default", "blue", "green"} {
		g.add(&resourcev1.ResourceClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "channel", UID: types.UID("uid-channel-" + namespace)},
			Spec:       resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{exactly("channel", "fabric", 1)}}},
		}, &resourcev1.ResourceClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one-gpu"},
			Spec:       resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{exactly("gpu", "gpu", 1)}}}},
		})
	}
}

// newSlice returns a slice of a node's devices; of devices for all nodes if it is empty.
func newSlice(name, driver, node string) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec = resourcev1.ResourceSliceSpec{Driver: driver, Pool: resourcev1.ResourcePool{Name: name, ResourceSliceCount: 1}}
	if node == "" {
		s.Spec.AllNodes = ptr.To(true)
	} else {
		s.Spec.NodeName = &node
	}
	return s
}

func exactly(name, class string, count int64) resourcev1.DeviceRequest {
	return resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}}
}

// claim gives a pod devices: of its own, from a template, or shared with others.
func (g *generator) claim(p *v1.Pod) {
	use := func(name string, template *string, claim string) {
		c := v1.PodResourceClaim{Name: name}
		if template != nil {
			c.ResourceClaimTemplateName = template
			p.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: name, ResourceClaimName: &claim}}
		} else {
			c.ResourceClaimName = &claim
		}
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, c)
		p.Spec.Containers[0].Resources.Claims = append(p.Spec.Containers[0].Resources.Claims, v1.ResourceClaim{Name: name})
	}
	add := func(name string, requests ...resourcev1.DeviceRequest) {
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name, UID: types.UID("uid-" + name)}}
		claim.Spec.Devices.Requests = requests
		g.add(claim)
	}
	if g.chance(25) {
		use("channel", nil, "channel")
	}
	switch g.IntN(6) {
	case 5:
		add(p.Name+"-pair", exactly("first", "large-gpu", 1), exactly("second", "gpu", 1))
		use("pair", nil, p.Name+"-pair")
	case 0, 1:
		name := p.Name + "-card"
		add(name, exactly("gpu", "gpu", 1))
		claim := deviceClaimNamed(g, p.Namespace, name)
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}}
		use("card", ptr.To("one-gpu"), name)
	case 2:
		add(p.Name+"-own", exactly("gpus", one(g, "gpu", "large-gpu"), int64(1+g.IntN(2))))
		use("own", nil, p.Name+"-own")
	case 3:
		name := p.Name + "-either"
		add(name, resourcev1.DeviceRequest{Name: "either", FirstAvailable: []resourcev1.DeviceSubRequest{
			{Name: "large", DeviceClassName: "large-gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
			{Name: "any", DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(1 + g.IntN(2))},
		}})
		use("either", nil, name)
	case 4:
		if len(p.Spec.ResourceClaims) == 0 {
			use("channel", nil, "channel")
		}
	}
}

// allocation returns devices of a node for a claim, nil if too few are free.
func (g *generator) allocation(n *v1.Node, claim *resourcev1.ResourceClaim) *resourcev1.AllocationResult {
	taken := map[string]bool{}
	for _, o := range g.cluster.objects {
		if other, ok := o.(*resourcev1.ResourceClaim); ok && other.Status.Allocation != nil {
			for _, r := range other.Status.Allocation.Devices.Results {
				taken[r.Pool+"/"+r.Device] = true
			}
		}
	}
	out := &resourcev1.AllocationResult{}
	pick := func(request, class string, count int64) bool {
		for _, o := range g.cluster.objects {
			slice, ok := o.(*resourcev1.ResourceSlice)
			if !ok || slice.Spec.NodeName != nil && *slice.Spec.NodeName != n.Name || (class == "fabric") != (slice.Spec.Driver == fabricDriver) {
				continue
			}
			for _, d := range slice.Spec.Devices {
				if count == 0 || taken[slice.Spec.Pool.Name+"/"+d.Name] || class == "large-gpu" && *d.Attributes["size"].StringValue != "large" {
					continue
				}
				count--
				taken[slice.Spec.Pool.Name+"/"+d.Name] = true
				out.Devices.Results = append(out.Devices.Results, resourcev1.DeviceRequestAllocationResult{Request: request, Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name, Device: d.Name})
				if slice.Spec.NodeName != nil {
					out.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
						{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{n.Name}},
					}}}}
				}
			}
		}
		return count == 0
	}
	for _, r := range claim.Spec.Devices.Requests {
		if r.Exactly != nil && !pick(r.Name, r.Exactly.DeviceClassName, r.Exactly.Count) {
			return nil
		}
		if r.Exactly == nil && !pick(r.Name+"/any", "gpu", r.FirstAvailable[1].Count) {
			return nil
		}
	}
	return out
}
