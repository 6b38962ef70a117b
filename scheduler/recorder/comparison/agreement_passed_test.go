package comparison

import (
	"context"
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	nodefeatures "k8s.io/component-helpers/nodedeclaredfeatures/features"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
)

// verifyPassed checks that a node meets everything that was compared on it.
func verifyPassed(found *result.Comparison, n *v1.Node) error {
	if found == nil {
		return nil
	}
	if found.Taint != nil {
		return fmt.Errorf("taint %v is not tolerated", found.Taint)
	}
	for _, r := range found.Resources {
		if isShort(r) {
			return fmt.Errorf("%s is short", r.Name)
		}
	}
	for _, term := range found.Terms {
		if term.Key == "" || verifyTerm(term, n) == nil {
			return fmt.Errorf("the node does not meet %v", term)
		}
		if term.Key != metav1.ObjectNameField && (term.Actual == nil) != (label(n, term.Key) == nil) {
			return fmt.Errorf("the node has another %s than %v", term.Key, term)
		}
	}
	for _, s := range found.Spread {
		if s.Domain == nil || s.Matching+s.Self-s.Minimum > s.MaxSkew {
			return fmt.Errorf("%v is violated", s)
		}
	}
	for _, t := range found.PodTerms {
		if t.Pod != nil || (t.Rule == "affinity") != (t.Pods > 0 || t.First) {
			return fmt.Errorf("the node does not meet %v", t)
		}
	}
	for _, c := range found.Claims {
		if c.Missing || c.Volume == "" && !c.Provisionable || c.Largest != 0 && c.Largest < c.Requested {
			return fmt.Errorf("there is no volume for %v", c)
		}
	}
	for _, d := range found.Devices {
		if d.Blocked || len(d.Allocated) == 0 || d.Count > 0 && int64(len(d.Allocated)) != d.Count || len(d.Allocated) > d.Matching {
			return fmt.Errorf("the devices do not suffice: %+v", d)
		}
	}
	for _, l := range found.Limits {
		if isFull(l) {
			return fmt.Errorf("the node is full: %+v", l)
		}
	}
	for _, v := range found.Volumes {
		if v.InUse || v.Pod != nil {
			return fmt.Errorf("%s is in use", v.Volume)
		}
	}
	for _, f := range found.Features {
		if !f.Declared || !slices.Contains(n.Status.DeclaredFeatures, f.Name) {
			return fmt.Errorf("the node lacks %s", f.Name)
		}
	}
	return nil
}

// ---- NodeUnschedulable

func TestCordonsAgreeWithThePlugin(t *testing.T) {
	agreement{
		plugin: names.NodeUnschedulable, clusters: 1000,
		generate: func(r random) *cluster {
			c := &cluster{gates: gates(r, features.TaintTolerationComparisonOperators), pod: pod("p", "")}
			for range r.IntN(3) {
				c.pod.Spec.Tolerations = append(c.pod.Spec.Tolerations, v1.Toleration{
					Key: one(r, "", v1.TaintNodeUnschedulable, "other"), Operator: one(r, "", v1.TolerationOpExists, v1.TolerationOpEqual), Effect: one(r, "", v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute),
				})
			}
			for i := range 4 {
				c.nodes = append(c.nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}, Spec: v1.NodeSpec{Unschedulable: r.in(2)}})
			}
			return c
		},
		verify: func(_ *subject, a answer) error {
			if !a.node.Node().Spec.Unschedulable || a.found.Taint.Key != v1.TaintNodeUnschedulable {
				return fmt.Errorf("it names %v", a.found.Taint)
			}
			return nil
		},
		passed: func(_ *subject, a answer) error {
			if cordoned := a.node.Node().Spec.Unschedulable; cordoned != (len(a.passed.Tolerated) == 1) {
				return fmt.Errorf("cordoned: %v, tolerated: %v", cordoned, a.passed.Tolerated)
			}
			return nil
		},
	}.test(t)
}

// ---- NodeName

func TestNodeNamesAgreeWithThePlugin(t *testing.T) {
	agreement{
		plugin: names.NodeName, clusters: 1000,
		generate: func(r random) *cluster {
			c := &cluster{pod: pod("p", one(r, "", "n0", "n1"))}
			for i := range 4 {
				c.nodes = append(c.nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}})
			}
			return c
		},
		verify: func(s *subject, a answer) error { return verifyTerm(a.found.Terms[0], a.node.Node()) },
		passed: func(s *subject, a answer) error {
			if len(a.passed.Terms) == 0 && s.cluster.pod.Spec.NodeName != "" {
				return fmt.Errorf("it does not name the node that the pod asks for")
			}
			return nil
		},
	}.test(t)
}

// ---- NodeDeclaredFeatures

func TestFeaturesAgreeWithThePlugin(t *testing.T) {
	agreement{
		plugin: names.NodeDeclaredFeatures, clusters: 1000,
		generate: func(r random) *cluster {
			c := &cluster{gates: featuregatetesting.FeatureOverrides{features.NodeDeclaredFeatures: true}, pod: pod("p", "")}
			c.pod.Spec.HostNetwork, c.pod.Spec.HostUsers = true, ptr.To(false)
			if r.in(2) {
				c.pod.Spec.Containers = []v1.Container{{RestartPolicyRules: []v1.ContainerRestartRule{{Action: v1.ContainerRestartRuleActionRestartAllContainers}}}}
			}
			for i := range 4 {
				node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}}
				for _, feature := range nodefeatures.AllFeatures {
					if !r.in(3) {
						node.Status.DeclaredFeatures = append(node.Status.DeclaredFeatures, feature.Name())
					}
				}
				slices.Sort(node.Status.DeclaredFeatures)
				c.nodes = append(c.nodes, node)
			}
			return c
		},
		verify: func(_ *subject, a answer) error {
			for _, f := range a.found.Features {
				if f.Declared || slices.Contains(a.node.Node().Status.DeclaredFeatures, f.Name) {
					return fmt.Errorf("the node has %s", f.Name)
				}
			}
			return a.isAsFarAs(len(a.found.Features))
		},
		passed: func(_ *subject, a answer) error {
			if len(a.passed.Features) == 0 {
				return fmt.Errorf("it names no feature")
			}
			return nil
		},
	}.test(t)
}

// ---- NodeVolumeLimits

func TestVolumeLimitsAgreeWithThePlugin(t *testing.T) {
	agreement{plugin: names.NodeVolumeLimits, clusters: 1000, generate: limitCluster, verify: verifyLimits, passed: verifyLimits}.test(t)
}

const disks, files = "disks.example.com", "files.example.com"

// limitCluster has claims of two drivers, one bound to a volume that others may use too,
// volumes that a driver took over, and attachments without pods.
func limitCluster(r random) *cluster {
	c := &cluster{gates: gates(r, features.VolumeLimitScaling), pod: pod("p", "")}
	for name, driver := range map[string]string{"disks": disks, "files": files, "former": "kubernetes.io/aws-ebs", "manual": ""} {
		c.objects = append(c.objects, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: driver})
	}
	for i := range 8 {
		name := fmt.Sprint("v", i)
		pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
		switch r.IntN(6) {
		case 0:
			pv.Spec.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: name}
		case 1:
			pv.Spec.Local = &v1.LocalVolumeSource{}
		default:
			pv.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: one(r, disks, files, "ebs.csi.aws.com"), VolumeHandle: one(r, name, "shared")}
		}
		claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1.PersistentVolumeClaimSpec{StorageClassName: ptr.To(one(r, "disks", "files", "former", "manual", "gone"))}}
		if !r.in(4) {
			claim.Spec.VolumeName = name
		}
		c.objects = append(c.objects, claim)
		if !r.in(8) {
			c.objects = append(c.objects, pv)
		}
	}
	using := func(p *v1.Pod, most int) *v1.Pod {
		for range 1 + r.IntN(most) {
			v := v1.Volume{Name: fmt.Sprint("u", len(p.Spec.Volumes)), VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprint("v", r.IntN(8))}}}
			if r.in(6) {
				v.VolumeSource = v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: one(r, "inline", "v1")}}
			}
			p.Spec.Volumes = append(p.Spec.Volumes, v)
			if r.in(6) {
				claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default"}, Spec: v1.PersistentVolumeClaimSpec{
					StorageClassName: ptr.To(one(r, "disks", "files", "former")), VolumeName: one(r, "", "v0", "v1", "v2"),
				}}
				makeEphemeral(p, claim)
				c.objects = append(c.objects, claim)
			}
		}
		return p
	}
	using(c.pod, 4)
	c.objects = append(c.objects, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: files}, Spec: storagev1.CSIDriverSpec{PreventPodSchedulingIfMissing: one(r, nil, ptr.To(true))}})
	for i := range 8 {
		name := fmt.Sprint("n", i)
		c.nodes = append(c.nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		on := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}}
		for _, driver := range []string{disks, files, "ebs.csi.aws.com"} {
			if !r.in(4) {
				on.Spec.Drivers = append(on.Spec.Drivers, storagev1.CSINodeDriver{Name: driver, NodeID: name, Allocatable: one(r, nil, &storagev1.VolumeNodeResources{Count: ptr.To(1 + r.Int32N(2))}, &storagev1.VolumeNodeResources{Count: ptr.To(1 + r.Int32N(3))})})
			}
		}
		if !r.in(6) {
			c.objects = append(c.objects, on)
		}
		for j := range r.IntN(4) {
			c.placed = append(c.placed, using(pod(fmt.Sprint("on-", i, "-", j), name), 4))
		}
		for j := range r.IntN(2) {
			c.objects = append(c.objects, &storagev1.VolumeAttachment{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("a", i, "-", j)},
				Spec:       storagev1.VolumeAttachmentSpec{Attacher: one(r, disks, files), NodeName: name, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To(fmt.Sprint("v", r.IntN(8)))}},
			})
		}
	}
	return c
}

// verifyLimits checks that the plugin changes its mind exactly where the counts say: with
// one volume less than is in use and requested, and with as many.
func verifyLimits(s *subject, a answer) error {
	limits := a.passed
	if !a.status.IsSuccess() {
		limits = a.found
	}
	for _, l := range limits.Limits {
		if l.Limit == nil || l.Requested == 0 || l.Missing {
			continue
		}
		for _, tc := range []struct {
			limit int
			fits  bool
		}{{l.InUse + l.Requested, true}, {l.InUse + l.Requested - 1, false}} {
			status := s.withLimit(a.node.Node().Name, l.Driver, int32(tc.limit)).filter(s.cluster.pod, a.node)
			if status.IsSuccess() != tc.fits {
				return fmt.Errorf("with a limit of %d volumes of %s the plugin says %v", tc.limit, l.Driver, status)
			}
		}
	}
	return nil
}

// withLimit returns the plugin in a cluster where a node has another limit for a driver,
// and no other limit.
func (s *subject) withLimit(node, driver string, limit int32) *subject {
	c := *s.cluster
	c.objects = slices.Clone(c.objects)
	for i, o := range c.objects {
		if on, ok := o.(*storagev1.CSINode); ok && on.Name == node {
			on = on.DeepCopy()
			for d := range on.Spec.Drivers {
				if on.Spec.Drivers[d].Allocatable = nil; on.Spec.Drivers[d].Name == driver {
					on.Spec.Drivers[d].Allocatable = &storagev1.VolumeNodeResources{Count: &limit}
				}
			}
			c.objects[i] = on
		}
	}
	return build(context.Background(), s.t, names.NodeVolumeLimits, &c)
}

// ---- VolumeRestrictions

func TestVolumeRestrictionsAgreeWithThePlugin(t *testing.T) {
	agreement{
		plugin: names.VolumeRestrictions, clusters: 2000,
		generate: func(r random) *cluster {
			c := &cluster{pod: pod("p", "")}
			for i := range 2 {
				c.objects = append(c.objects, &v1.PersistentVolumeClaim{
					ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("claim", i)},
					Spec:       v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{one(r, v1.ReadWriteOncePod, v1.ReadWriteMany)}},
				})
			}
			disks := func(p *v1.Pod, most int) *v1.Pod {
				for i := range 1 + r.IntN(most) {
					p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprint("u", i), VolumeSource: diskSource(r)})
				}
				return p
			}
			disks(c.pod, 3)
			for i := range 5 {
				c.nodes = append(c.nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}})
				for j := range r.IntN(3) {
					c.placed = append(c.placed, disks(pod(fmt.Sprint("on-", i, "-", j), fmt.Sprint("n", i)), 3))
				}
			}
			return c
		},
		// Alone, each of the pod's volumes is in use just if the comparison says so.
		verify: func(s *subject, a answer) error {
			for _, v := range s.cluster.pod.Spec.Volumes {
				alone := pod("p", "")
				alone.Spec.Volumes = []v1.Volume{v}
				named := slices.ContainsFunc(a.found.Volumes, func(found result.ExclusiveVolume) bool { return found.Volume == v.Name && found.InUse })
				if status := s.filter(alone, a.node); status.IsRejected() != named {
					return fmt.Errorf("with %s alone the plugin says %v", v.Name, status)
				}
			}
			return a.isAsFarAs(len(slices.DeleteFunc(slices.Clone(a.found.Volumes), func(v result.ExclusiveVolume) bool { return v.Claim != "" })))
		},
		passed: func(s *subject, a answer) error {
			if len(a.passed.Volumes) == 0 {
				return fmt.Errorf("it names no volume")
			}
			return nil
		},
	}.test(t)
}

// diskSource is a claim, or a disk of one of the kinds that the plugin compares.
func diskSource(r random) v1.VolumeSource {
	name, readOnly := one(r, "a", "b"), r.in(2)
	switch r.IntN(5) {
	case 0:
		return v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}}
	case 1:
		return v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: name, ReadOnly: readOnly}}
	case 2:
		return v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{IQN: name, ReadOnly: readOnly}}
	case 3:
		return v1.VolumeSource{RBD: &v1.RBDVolumeSource{CephMonitors: []string{one(r, "m1", "m2"), "m3"}[:1+r.IntN(2)], RBDPool: "rbd", RBDImage: name, ReadOnly: readOnly}}
	}
	return v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprint("claim", r.IntN(2))}}
}
