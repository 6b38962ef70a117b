package comparison

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/component-helpers/storage/volume"
	csitrans "k8s.io/csi-translation-lib"
	csiplugins "k8s.io/csi-translation-lib/plugins"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

// compareVolumeBinding is VolumeBinding's. Nearest are the nodes that fail the fewest requirements
// of the volumes that the pod's claims are bound to. Unbound claims count the same on every node,
// because looking for volumes for them costs as much as the plugin.
func compareVolumeBinding(h fwk.Handle, gates feature.Features) begin {
	core, storage := h.SharedInformerFactory().Core().V1(), h.SharedInformerFactory().Storage().V1()
	from := volumeListers{
		volumes: core.PersistentVolumes().Lister(), classes: storage.StorageClasses().Lister(), nodes: storage.CSINodes().Lister(),
		drivers: storage.CSIDrivers().Lister(), capacities: storage.CSIStorageCapacities().Lister(),
	}
	return func(state fwk.CycleState, _ *v1.Pod) recorder.Comparing {
		claims := upstream.VolumeClaimsOf(state)
		c := &volumeBinding{volumeListers: from, claims: claims, attributes: gates.EnableVolumeAttributesClass}
		for _, claim := range claims.Bound {
			b := boundVolume{ClaimComparison: wantedBy(claim)}
			b.Volume, b.Bound = claim.Spec.VolumeName, true
			pv, err := from.volumes.Get(b.Volume)
			if b.Missing = err != nil; !b.Missing {
				b.read(pv)
			}
			c.bound = append(c.bound, b)
		}
		return c
	}
}

func wantedBy(claim *v1.PersistentVolumeClaim) result.ClaimComparison {
	return result.ClaimComparison{Claim: claim.Name, StorageClass: volume.GetPersistentVolumeClaimClass(claim), Requested: sizeOf(claim)}
}

type volumeListers struct {
	volumes    corelisters.PersistentVolumeLister
	classes    storagelisters.StorageClassLister
	nodes      storagelisters.CSINodeLister
	drivers    storagelisters.CSIDriverLister
	capacities storagelisters.CSIStorageCapacityLister
}

type volumeBinding struct {
	volumeListers
	claims upstream.VolumeClaims
	bound  []boundVolume
	// attributes is true if claim and volume must have the same class of attributes.
	attributes bool
}

type boundVolume struct {
	result.ClaimComparison
	nodes *selector
	// migrating names the volume's driver if it used to be part of Kubernetes. For nodes with the
	// CSI driver that replaced it, the plugin first translates the volume, which the nodes in
	// migrated can reach. They are unknown if err is set.
	migrating string
	migrated  *selector
	err       error
}

var translator = csitrans.New()

// migratable are the drivers whose volumes the plugin translates.
var migratable = sets.New(csiplugins.AWSEBSInTreePluginName, csiplugins.GCEPDInTreePluginName, csiplugins.AzureDiskInTreePluginName,
	csiplugins.CinderInTreePluginName, csiplugins.PortworxVolumePluginName)

func (b *boundVolume) read(pv *v1.PersistentVolume) {
	b.nodes = reach(pv)
	driver, err := translator.GetInTreePluginNameFromSpec(pv, nil)
	if err != nil || !migratable.Has(driver) {
		return
	}
	b.migrating = driver
	var translated *v1.PersistentVolume
	if translated, b.err = translator.TranslateInTreePVToCSI(klog.Background(), pv); b.err == nil {
		b.migrated = reach(translated)
	}
}

func reach(pv *v1.PersistentVolume) *selector {
	if pv.Spec.NodeAffinity == nil {
		return nil
	}
	return parseSelector(pv.Spec.NodeAffinity.Required, "volume")
}

func (c *volumeBinding) from(b *boundVolume, n *v1.Node) (*selector, bool) {
	if b.migrating == "" || !c.migrated(b.migrating, n) {
		return b.nodes, true
	}
	return b.migrated, b.err == nil
}

// migrated reports whether a node has a CSI driver instead of one that used to be part of
// Kubernetes.
func (l volumeListers) migrated(driver string, n *v1.Node) bool {
	on, err := l.nodes.Get(n.Name)
	return err == nil && slices.Contains(strings.Split(on.Annotations[v1.MigratedPluginsAnnotationKey], ","), driver)
}

func (c *volumeBinding) Distance(_ fwk.CycleState, node fwk.NodeInfo, _ *fwk.Status) float64 {
	n, unmet := labelsOnly(node.Node()), 0
	for i := range c.bound {
		if nodes, ok := c.from(&c.bound[i], node.Node()); ok {
			unmet += nodes.fewestUnmet(n)
		}
	}
	return float64(unmet)
}

// labelsOnly returns the only part of a node that the plugin compares with volumes.
func labelsOnly(n *v1.Node) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Labels: n.Labels}}
}

// Compare fills in the requirements of bound volumes that the node does not meet or, if
// it meets those, the reason why a claim cannot be bound.
func (c *volumeBinding) Compare(_ fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	n := labelsOnly(node.Node())
	for i := range c.bound {
		b := &c.bound[i]
		if b.Missing {
			// The plugin stops here.
			out.WithoutPods = result.RejectsWithoutPods
			if len(out.Terms) == 0 {
				out.Claims = append(out.Claims, b.ClaimComparison)
			}
			return true
		}
		nodes, ok := c.from(b, node.Node())
		if !ok {
			return false
		}
		out.Terms = append(out.Terms, of(b.ClaimComparison, nodes.unmet(n))...)
	}
	if len(out.Terms) > 0 {
		out.WithoutPods = result.RejectsWithoutPods
		return true
	}
	return fill(out, c.unbound(node.Node()))
}

func of(claim result.ClaimComparison, terms []result.TermComparison) []result.TermComparison {
	for i := range terms {
		terms[i].Volume, terms[i].Claim = claim.Volume, claim.Claim
	}
	return terms
}

// Passed fills in the requirements of bound volumes that the node meets, and for each of
// the other claims the volume that the plugin found, or that a driver would make.
func (c *volumeBinding) Passed(state fwk.CycleState, node fwk.NodeInfo, out *result.Comparison) bool {
	n := labelsOnly(node.Node())
	for i := range c.bound {
		b := &c.bound[i]
		nodes, ok := c.from(b, node.Node())
		if !ok || b.Missing {
			return false
		}
		out.Claims = append(out.Claims, b.ClaimComparison)
		out.Terms = append(out.Terms, of(b.ClaimComparison, nodes.met(n))...)
	}
	if len(c.claims.Unbound) == 0 {
		return true
	}
	found := upstream.PodVolumesOn(state, node.Node().Name)
	if found == nil {
		return false
	}
	for _, binding := range found.StaticBindings {
		claim, pv := upstream.VolumeOf(binding)
		if claim == nil || pv == nil {
			return false
		}
		wanted := wantedBy(claim)
		wanted.Volume = pv.Name
		out.Claims = append(out.Claims, wanted)
		out.Terms = append(out.Terms, of(wanted, reach(pv).met(n))...)
	}
	for _, provision := range found.DynamicProvisions {
		wanted := wantedBy(provision.PVC)
		wanted.Provisionable = true
		if class, err := c.classes.Get(wanted.StorageClass); err == nil {
			wanted.Largest, _, _ = c.largestVolume(class, node.Node())
		}
		out.Claims = append(out.Claims, wanted)
	}
	return true
}

// unbound finds the first claim that cannot get a volume for the node, in the plugin's steps.
func (c *volumeBinding) unbound(n *v1.Node) *result.Comparison {
	var match, provision []*v1.PersistentVolumeClaim
	for _, claim := range c.claims.Unbound {
		switch selected, ok := claim.Annotations[volume.AnnSelectedNode]; {
		case !ok:
			match = append(match, claim)
		case selected == n.Name:
			provision = append(provision, claim)
		default:
			name := n.Name
			return &result.Comparison{Terms: []result.TermComparison{{
				Source: "claim", Claim: claim.Name, Key: metav1.ObjectNameField, Operator: string(v1.NodeSelectorOpIn), Values: []string{selected}, Actual: &name,
			}}}
		}
	}
	unmatched, err := c.unmatched(match, n)
	if err != nil {
		return nil
	}
	for _, claim := range append(provision, unmatched...) {
		if found, err := c.provisioned(claim, n); found != nil || err != nil {
			return found
		}
	}
	return nil
}

// unmatched returns the claims for which no reachable volume is left.
func (c *volumeBinding) unmatched(claims []*v1.PersistentVolumeClaim, n *v1.Node) (out []*v1.PersistentVolumeClaim, err error) {
	sort.Sort(bySize(claims))
	chosen := map[string]*v1.PersistentVolume{}
	for _, claim := range claims {
		found, err := volume.FindMatchingVolume(claim, c.claims.Volumes[volume.GetPersistentVolumeClaimClass(claim)], n, chosen, true, c.attributes)
		switch {
		case err != nil:
			return nil, err
		case found == nil:
			out = append(out, claim)
		default:
			chosen[found.Name] = found
		}
	}
	return out, nil
}

// provisioned returns why no volume can be provisioned for the claim and the node, or nil if one
// can.
func (c *volumeBinding) provisioned(claim *v1.PersistentVolumeClaim, n *v1.Node) (*result.Comparison, error) {
	class, err := c.classes.Get(volume.GetPersistentVolumeClaimClass(claim))
	if err != nil {
		return nil, err
	}
	wanted := wantedBy(claim)
	if class.Provisioner == "" || class.Provisioner == volume.NotSupportedProvisioner {
		return &result.Comparison{Claims: []result.ClaimComparison{wanted}}, nil
	}
	if terms := unmetTopology(class, n); len(terms) > 0 {
		for i := range terms {
			terms[i].Claim = claim.Name
		}
		return &result.Comparison{Terms: terms}, nil
	}
	largest, limited, err := c.largestVolume(class, n)
	if _, sized := claim.Spec.Resources.Requests[v1.ResourceStorage]; err != nil || !limited || !sized || largest >= wanted.Requested {
		return nil, err
	}
	wanted.Provisionable, wanted.Largest = true, max(largest, 0)
	return &result.Comparison{Claims: []result.ClaimComparison{wanted}}, nil
}

// unmetTopology returns the labels that the node lacks of every topology of a class, or nil if it
// is in one of them.
func unmetTopology(class *storagev1.StorageClass, n *v1.Node) []result.TermComparison {
	allowed := &v1.NodeSelector{}
	for _, topology := range class.AllowedTopologies {
		term := v1.NodeSelectorTerm{}
		for _, e := range topology.MatchLabelExpressions {
			term.MatchExpressions = append(term.MatchExpressions, v1.NodeSelectorRequirement{Key: e.Key, Operator: v1.NodeSelectorOpIn, Values: e.Values})
		}
		allowed.NodeSelectorTerms = append(allowed.NodeSelectorTerms, term)
	}
	return parseSelector(allowed, "storageClass").unmet(n)
}

// largestVolume returns the largest size that a CSI driver can provision for the node, -1 if none.
// limited is false for a driver that does not say.
func (c *volumeBinding) largestVolume(class *storagev1.StorageClass, n *v1.Node) (largest int64, limited bool, err error) {
	driver, err := c.drivers.Get(class.Provisioner)
	if err != nil || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return 0, false, nil
	}
	capacities, err := c.capacities.List(labels.Everything())
	if err != nil {
		return 0, false, err
	}
	largest = -1
	for _, capacity := range capacities {
		size := cmp.Or(capacity.MaximumVolumeSize, capacity.Capacity)
		if capacity.StorageClassName != class.Name || size == nil || capacity.NodeTopology == nil {
			continue
		}
		if nodes, err := metav1.LabelSelectorAsSelector(capacity.NodeTopology); err == nil && nodes.Matches(labels.Set(n.Labels)) {
			largest = max(largest, size.Value())
		}
	}
	return largest, true, nil
}

func sizeOf(claim *v1.PersistentVolumeClaim) int64 {
	return claim.Spec.Resources.Requests.Storage().Value()
}

// bySize sorts claims by the plugin's algorithm, so that claims of one size are in the same order.
type bySize []*v1.PersistentVolumeClaim

func (c bySize) Len() int      { return len(c) }
func (c bySize) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c bySize) Less(i, j int) bool {
	return c[i].Spec.Resources.Requests.Storage().Cmp(*c[j].Spec.Resources.Requests.Storage()) < 0
}
