package comparison

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
)

// ---- VolumeZone

func TestVolumeZonesAgreeWithThePlugin(t *testing.T) {
	zones := func(r random, of map[string]string, values ...string) map[string]string {
		for _, key := range []string{v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion} {
			if r.in(3) {
				of[key] = one(r, values...)
			}
		}
		return of
	}
	agreement{
		plugin: names.VolumeZone, clusters: 2000,
		generate: func(r random) *cluster {
			c := &cluster{pod: pod("p", "")}
			for i := range 1 + r.IntN(2) {
				claim := c.volume(fmt.Sprint("v", i), func(pv *v1.PersistentVolume) { pv.Labels = zones(r, map[string]string{}, "a", "b", "a__b", "a____b") })
				if r.in(3) {
					c.ephemeral(claim)
				}
			}
			for i := range 6 {
				c.nodes = append(c.nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: zones(r, map[string]string{}, "a", "b", "c")}})
			}
			return c
		},
		verify: func(s *subject, a answer) error {
			if float64(len(a.found.Terms)) != a.distance {
				return fmt.Errorf("the distance is %v", a.distance)
			}
			for _, term := range a.found.Terms {
				if err := verifyTerm(term, a.node.Node()); err != nil {
					return err
				}
				if claim := s.cluster.claimOf(term.Volume); term.Claim != claim {
					return fmt.Errorf("volume %s is that of claim %q, not of %q", term.Volume, claim, term.Claim)
				}
			}
			// Without the labels that are named the node fits, and with one of them it does
			// not.
			for but := -1; but < len(a.found.Terms); but++ {
				undo := s.cluster.unlabel(a.found.Terms, but)
				status := s.filter(s.cluster.pod, a.node)
				undo()
				if status.IsRejected() != (but >= 0) {
					return fmt.Errorf("without all the labels but %d the plugin says %v", but, status)
				}
			}
			return nil
		},
	}.test(t)
}

// unlabel removes the labels of volumes that terms are about, all but one, until undo
// is called.
func (c *cluster) unlabel(terms []result.TermComparison, but int) (undo func()) {
	before := map[*v1.PersistentVolume]map[string]string{}
	for _, o := range c.objects {
		pv, ok := o.(*v1.PersistentVolume)
		if !ok {
			continue
		}
		before[pv] = maps.Clone(pv.Labels)
		for i, term := range terms {
			if term.Volume != pv.Name {
				continue
			}
			// A beta label may be compared with the other label of the node.
			for _, key := range []string{term.Key, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion} {
				value, left := pv.Labels[key]
				if left && stableLabels[key] == stableLabels[term.Key] && value == strings.Join(term.Values, "__") {
					if i != but {
						delete(pv.Labels, key)
					}
					break
				}
			}
		}
	}
	return func() {
		for pv, labels := range before {
			pv.Labels = labels
		}
	}
}

// claimOf returns the name of the claim that is bound to a volume.
func (c *cluster) claimOf(volume string) string {
	for _, o := range c.objects {
		if claim, ok := o.(*v1.PersistentVolumeClaim); ok && claim.Spec.VolumeName == volume {
			return claim.Name
		}
	}
	return ""
}

// volume adds a volume, the claim that is bound to it, and the pod's use of that.
func (c *cluster) volume(name string, change func(*v1.PersistentVolume)) *v1.PersistentVolumeClaim {
	pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PersistentVolumeSpec{
		ClaimRef: &v1.ObjectReference{Namespace: "default", Name: "c-" + name}, PersistentVolumeSource: v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{}},
	}}
	change(pv)
	claim := c.claim("c-" + name)
	claim.Spec.VolumeName = name
	claim.Annotations = map[string]string{volume.AnnBindCompleted: "yes"}
	c.objects = append(c.objects, pv)
	return claim
}

// claim adds a claim and the pod's use of it.
func (c *cluster) claim(name string) *v1.PersistentVolumeClaim {
	claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	c.objects = append(c.objects, claim)
	c.pod.Spec.Volumes = append(c.pod.Spec.Volumes, v1.Volume{Name: name, VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}})
	return claim
}

// ephemeral turns the pod's last use of a claim into an ephemeral volume.
func (c *cluster) ephemeral(claim *v1.PersistentVolumeClaim) { makeEphemeral(c.pod, claim) }

// makeEphemeral turns a pod's last volume into an ephemeral one, for which there is claim.
func makeEphemeral(p *v1.Pod, claim *v1.PersistentVolumeClaim) {
	last := &p.Spec.Volumes[len(p.Spec.Volumes)-1]
	last.VolumeSource = v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}}
	claim.Name = p.Name + "-" + last.Name
	claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: ptr.To(true)}}
}

// ---- VolumeBinding

func TestVolumeBindingAgreesWithThePlugin(t *testing.T) {
	agreement{
		plugin: names.VolumeBinding, clusters: 2000,
		generate: volumeCluster,
		verify:   verifyVolumeBinding,
		passed: func(s *subject, a answer) error {
			if claims := len(s.cluster.pod.Spec.Volumes); len(a.passed.Claims) != claims {
				return fmt.Errorf("of %d claims it names %d", claims, len(a.passed.Claims))
			}
			return nil
		},
	}.test(t)
}

// volumeCluster has claims that are bound, and others for which there may be volumes.
func volumeCluster(r random) *cluster {
	c := &cluster{pod: pod("p", ""), nodes: labelledNodes(r, 6), args: &config.VolumeBindingArgs{BindTimeoutSeconds: 1, Shape: []config.UtilizationShapePoint{{}, {Utilization: 100, Score: 10}}}}
	for i := range r.IntN(3) {
		c.volume(fmt.Sprint("v", i), func(pv *v1.PersistentVolume) {
			if !r.in(4) {
				pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: reachable(r)}
			}
			if r.in(3) {
				pv.Spec.PersistentVolumeSource = one(r,
					v1.PersistentVolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}},
					v1.PersistentVolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: "disk"}},
					v1.PersistentVolumeSource{VsphereVolume: &v1.VsphereVirtualDiskVolumeSource{VolumePath: "disk"}},
				)
				pv.Labels = map[string]string{v1.LabelTopologyZone: one(r, "z0", "z1")}
			}
		})
		if r.in(12) {
			c.objects = c.objects[:len(c.objects)-1] // The volume is gone.
		}
	}
	for _, n := range c.nodes {
		if r.in(2) {
			c.objects = append(c.objects, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Annotations: map[string]string{
				v1.MigratedPluginsAnnotationKey: one(r, "kubernetes.io/aws-ebs", "kubernetes.io/gce-pd,kubernetes.io/aws-ebs", "kubernetes.io/vsphere-volume"),
			}}})
			n.Labels["topology.gke.io/zone"], n.Labels["topology.ebs.csi.aws.com/zone"] = one(r, "z0", "z1"), one(r, "z0", "z1")
		}
	}
	c.storage(r)
	for i := range r.IntN(4) {
		claim := c.claim(fmt.Sprint("unbound", i))
		claim.Spec.StorageClassName = ptr.To(one(r, "local", "local", "disks", "zonal"))
		claim.Spec.Resources.Requests = v1.ResourceList{v1.ResourceStorage: gib(1 + r.Int64N(4))}
		claim.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}
		claim.Spec.VolumeAttributesClassName = one(r, nil, nil, ptr.To("fast"))
		if r.in(8) {
			claim.Annotations = map[string]string{volume.AnnSelectedNode: one(r, c.nodes...).Name}
		}
		if r.in(2) {
			c.ephemeral(claim)
		}
	}
	return c
}

func gib(n int64) resource.Quantity { return *resource.NewQuantity(n<<30, resource.BinarySI) }

// reachable is a random affinity of a volume.
func reachable(r random) *v1.NodeSelector {
	out := &v1.NodeSelector{}
	for range 1 + r.IntN(2) {
		term := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpIn, Values: []string{"z0", one(r, "z1", "z2")}}}}
		switch r.IntN(3) {
		case 0:
			term.MatchExpressions = append(term.MatchExpressions, v1.NodeSelectorRequirement{Key: "rack", Operator: one(r, v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist)})
		case 1:
			// The plugin ignores the names of nodes in the affinity of volumes.
			term.MatchFields = []v1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{"n1"}}}
		}
		out.NodeSelectorTerms = append(out.NodeSelectorTerms, term)
	}
	return out
}

// storage adds a class without a provisioner and its volumes, and two classes with one:
// disks everywhere, limited by the driver's capacity, and zonal in some zones.
func (c *cluster) storage(r random) {
	wait := ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)
	topology := []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: v1.LabelTopologyZone, Values: []string{"z0"}}}}}
	if r.in(2) {
		topology = append(topology, v1.TopologySelectorTerm{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: v1.LabelTopologyZone, Values: []string{"z1"}}, {Key: "rack", Values: []string{"r0"}}}})
	}
	c.objects = append(c.objects,
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Provisioner: volume.NotSupportedProvisioner, VolumeBindingMode: wait},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "disks"}, Provisioner: "disks.example.com", VolumeBindingMode: wait},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "zonal"}, Provisioner: "zonal.example.com", VolumeBindingMode: wait, AllowedTopologies: topology},
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "disks.example.com"}, Spec: storagev1.CSIDriverSpec{StorageCapacity: one(r, nil, ptr.To(false), ptr.To(true), ptr.To(true))}},
	)
	for i := range r.IntN(6) {
		pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("free", i)}, Spec: v1.PersistentVolumeSpec{
			StorageClassName: "local", VolumeAttributesClassName: one(r, nil, nil, ptr.To("fast")), Capacity: v1.ResourceList{v1.ResourceStorage: gib(1 + r.Int64N(4))},
			AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, PersistentVolumeSource: v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{}},
		}, Status: v1.PersistentVolumeStatus{Phase: v1.VolumeAvailable}}
		if r.in(2) {
			pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: reachable(r)}
		}
		c.objects = append(c.objects, pv)
	}
	for i := range r.IntN(3) {
		size := gib(r.Int64N(4))
		c.objects = append(c.objects, &storagev1.CSIStorageCapacity{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("capacity", i)}, StorageClassName: one(r, "disks", "disks", "zonal"), Capacity: one(r, nil, &size),
			NodeTopology: one(r, nil, &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelTopologyZone: "z0"}}),
		})
	}
}

// verifyVolumeBinding checks each fact alone, and that the plugin has the same reason.
func verifyVolumeBinding(s *subject, a answer) error {
	has := func(reason volumebinding.ConflictReason) bool {
		return slices.Contains(a.status.Reasons(), string(reason))
	}
	for _, term := range a.found.Terms {
		if err := verifyTerm(term, a.node.Node()); err != nil {
			return err
		}
		if want := map[string]volumebinding.ConflictReason{
			"volume": volumebinding.ErrReasonNodeConflict, "storageClass": volumebinding.ErrReasonBindConflict, "claim": volumebinding.ErrReasonBindConflict,
		}[term.Source]; !has(want) {
			return fmt.Errorf("it names a term of a %s", term.Source)
		}
		if status := s.filter(using(s.cluster.pod, term.Claim), a.node); status.Code() != fwk.UnschedulableAndUnresolvable {
			return fmt.Errorf("with claim %s alone the plugin says %v", term.Claim, status)
		}
	}
	if covered, all := alternatives(s, a.found.Terms); covered != all {
		return fmt.Errorf("it rules out %d of %d alternatives", covered, all)
	}
	if want := unreachable(a.found.Terms); want > 0 && !has(volumebinding.ErrReasonPVNotExist) {
		if err := a.isAsFarAs(want); err != nil {
			return err
		}
	}
	for _, claim := range a.found.Claims {
		switch {
		case claim.Missing && has(volumebinding.ErrReasonPVNotExist):
		case claim.Missing, claim.Provisionable && !has(volumebinding.ErrReasonNotEnoughSpace), !claim.Provisionable && !has(volumebinding.ErrReasonBindConflict):
			return fmt.Errorf("it names claim %s", claim.Claim)
		case claim.Provisionable && claim.Largest >= claim.Requested:
			return fmt.Errorf("claim %s is not too large", claim.Claim)
		}
	}
	return nil
}

// unreachable counts the requirements of bound volumes that terms name, of the alternatives
// of a volume the fewest.
func unreachable(terms []result.TermComparison) (sum int) {
	of := map[string]map[int]int{}
	for _, term := range terms {
		if term.Source != "volume" {
			return 0
		}
		if of[term.Claim] == nil {
			of[term.Claim] = map[int]int{}
		}
		of[term.Claim][term.Term]++
	}
	for _, alternatives := range of {
		sum += slices.Min(slices.Collect(maps.Values(alternatives)))
	}
	return sum
}

// alternatives counts the alternatives that the terms of a volume or class rule out,
// and those that it has.
func alternatives(s *subject, terms []result.TermComparison) (ruledOut, all int) {
	seen, of := map[string]bool{}, map[string]int{}
	for _, term := range terms {
		seen[fmt.Sprint(term.Source, term.Claim, term.Term)] = true
		for _, o := range s.cluster.objects {
			switch o := o.(type) {
			case *v1.PersistentVolume:
				if term.Source == "volume" && o.Name == term.Volume {
					of[term.Volume] = 1 // made from the labels of the volume
					if o.Spec.NodeAffinity != nil {
						of[term.Volume] = len(o.Spec.NodeAffinity.Required.NodeSelectorTerms)
					}
				}
			case *storagev1.StorageClass:
				if term.Source == "storageClass" && o.Name == "zonal" {
					of[term.Claim] = len(o.AllowedTopologies)
				}
			}
		}
		if term.Source == "claim" {
			of[term.Claim] = 1
		}
	}
	for _, n := range of {
		all += n
	}
	return len(seen), all
}

// using returns the pod with only one of its claims.
func using(p *v1.Pod, claim string) *v1.Pod {
	out := p.DeepCopy()
	out.Spec.Volumes = slices.DeleteFunc(out.Spec.Volumes, func(v v1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName != claim || v.Ephemeral != nil && p.Name+"-"+v.Name != claim
	})
	return out
}
