package recorder

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// comparer finds out what a plugin compared when it rejected a node. It reads
// what the plugin read, right after it, and returns nil when it cannot tell.
type comparer func(h fwk.Handle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison

var comparers = map[string]comparer{
	names.NodeResourcesFit:  compareResources,
	names.TaintToleration:   compareTaints,
	names.NodeAffinity:      compareNodeAffinity,
	names.NodePorts:         comparePorts,
	names.InterPodAffinity:  comparePodAffinity,
	names.PodTopologySpread: compareSpread,
	names.VolumeBinding:     compareVolumes,
	names.VolumeZone:        compareVolumes,
}

// comparerOf returns the comparer of a plugin, nil when nothing is known to compare.
func comparerOf(plugin string) comparer {
	if plugin == names.DynamicResources {
		return newDeviceComparer().compare
	}
	return comparers[plugin]
}

// maxComparisons bounds the comparisons of a plugin in a cycle. Looking for the
// pods that inter-pod affinity is about visits many nodes, and counting devices all
// that are published.
func maxComparisons(plugin string) int32 {
	if plugin == names.InterPodAffinity || plugin == names.DynamicResources {
		return 8
	}
	return result.MaxComparisons
}

// comparisons gathers a cycle's comparisons: those of the nodes that were
// rejected first.
type comparisons struct {
	mu   sync.Mutex
	list []result.Comparison
}

// compare notes what p compared on node, if there is room.
func (p *filtering) compare(c *cycle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) {
	if p.comparer == nil || p.compared.Add(1) > p.maxCompared {
		return
	}
	found := p.comparer(p.to.handle, state, pod, node)
	if found == nil {
		return
	}
	found.Node, found.Plugin = node.Node().Name, p.to.Name()
	c.comparisons.mu.Lock()
	defer c.comparisons.mu.Unlock()
	c.comparisons.list = append(c.comparisons.list, *found)
}

// sorted returns the comparisons by node.
func (c *comparisons) sorted() []result.Comparison {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(c.list)
	slices.SortFunc(out, func(a, b result.Comparison) int {
		return strings.Compare(a.Node+"\x00"+a.Plugin, b.Node+"\x00"+b.Plugin)
	})
	return out
}

func compareResources(h fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	short := noderesources.Fits(pod, node, h.SharedDRAManager(), noderesources.ResourceRequestsOptions{EnablePodLevelResources: true})
	if len(short) == 0 {
		return nil
	}
	out := &result.Comparison{}
	for _, s := range short {
		out.Resources = append(out.Resources, result.ResourceComparison{
			Name: string(s.ResourceName), Requested: s.Requested, InUse: s.Used, Allocatable: s.Capacity,
		})
	}
	return out
}

func compareTaints(_ fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	taint, untolerated := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), node.Node().Spec.Taints, pod.Spec.Tolerations,
		func(t *v1.Taint) bool {
			return t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute
		}, true)
	if !untolerated {
		return nil
	}
	return &result.Comparison{Taint: &result.Taint{Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect)}}
}

func compareNodeAffinity(_ fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	out := &result.Comparison{}
	n := node.Node()
	for _, key := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) {
		value := pod.Spec.NodeSelector[key]
		if actual, ok := n.Labels[key]; !ok || actual != value {
			out.Terms = append(out.Terms, result.TermComparison{
				Source: "nodeSelector", Key: key, Operator: string(v1.NodeSelectorOpIn), Values: []string{value}, Actual: label(n, key),
			})
		}
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		out.Terms = append(out.Terms, unmetTerms(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, n, "nodeAffinity")...)
	}
	if len(out.Terms) == 0 {
		return nil
	}
	return out
}

// unmetTerms returns the requirements that n does not meet, or nil when it
// meets one of the selector's terms.
func unmetTerms(selector *v1.NodeSelector, n *v1.Node, source string) []result.TermComparison {
	if selector == nil {
		return nil
	}
	var unmet []result.TermComparison
	for i, term := range selector.NodeSelectorTerms {
		before := len(unmet)
		for _, r := range term.MatchExpressions {
			if !meetsExpression(r, labels.Set(n.Labels)) {
				unmet = append(unmet, result.TermComparison{
					Source: source, Term: i, Key: r.Key, Operator: string(r.Operator), Values: r.Values, Actual: label(n, r.Key),
				})
			}
		}
		for _, r := range term.MatchFields {
			if !meetsExpression(r, labels.Set{metav1.ObjectNameField: n.Name}) {
				unmet = append(unmet, result.TermComparison{
					Source: source, Term: i, Key: r.Key, Operator: string(r.Operator), Values: r.Values, Actual: &n.Name,
				})
			}
		}
		empty := len(term.MatchExpressions)+len(term.MatchFields) == 0
		if len(unmet) == before && !empty {
			return nil
		}
	}
	return unmet
}

// operators of node selectors, as those of label selectors.
var operators = map[v1.NodeSelectorOperator]selection.Operator{
	v1.NodeSelectorOpIn:           selection.In,
	v1.NodeSelectorOpNotIn:        selection.NotIn,
	v1.NodeSelectorOpExists:       selection.Exists,
	v1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	v1.NodeSelectorOpGt:           selection.GreaterThan,
	v1.NodeSelectorOpLt:           selection.LessThan,
}

func meetsExpression(r v1.NodeSelectorRequirement, values labels.Labels) bool {
	requirement, err := labels.NewRequirement(r.Key, operators[r.Operator], r.Values)
	return err == nil && requirement.Matches(values)
}

func comparePorts(_ fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	out := &result.Comparison{}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, p := range c.Ports {
			if p.HostPort > 0 && node.GetUsedPorts().CheckConflict(p.HostIP, string(p.Protocol), p.HostPort) {
				out.Ports = append(out.Ports, result.Port{Protocol: string(p.Protocol), HostIP: p.HostIP, Port: p.HostPort})
			}
		}
	}
	if len(out.Ports) == 0 {
		return nil
	}
	return out
}

// compareVolumes finds bound persistent volumes that cannot be reached from the
// node, by their node affinity.
func compareVolumes(h fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	core := h.SharedInformerFactory().Core().V1()
	out := &result.Comparison{}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := core.PersistentVolumeClaims().Lister().PersistentVolumeClaims(pod.Namespace).Get(volume.PersistentVolumeClaim.ClaimName)
		if err != nil || claim.Spec.VolumeName == "" {
			continue
		}
		pv, err := core.PersistentVolumes().Lister().Get(claim.Spec.VolumeName)
		if err != nil {
			continue
		}
		terms := zoneTerms(pv, node.Node())
		if pv.Spec.NodeAffinity != nil {
			terms = append(terms, unmetTerms(pv.Spec.NodeAffinity.Required, node.Node(), "volume")...)
		}
		for i := range terms {
			terms[i].Volume, terms[i].Claim = pv.Name, claim.Name
		}
		out.Terms = append(out.Terms, terms...)
	}
	if len(out.Terms) == 0 {
		return nil
	}
	return out
}

// zoneTerms compares the zone and region labels of a volume, which VolumeZone
// reads as sets of values.
func zoneTerms(pv *v1.PersistentVolume, n *v1.Node) []result.TermComparison {
	var out []result.TermComparison
	for _, key := range []string{v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion} {
		value, ok := pv.Labels[key]
		if !ok {
			continue
		}
		wanted := strings.Split(value, "__")
		if actual, has := n.Labels[key]; !has || !slices.Contains(wanted, actual) {
			out = append(out, result.TermComparison{
				Source: "volume", Key: key, Operator: string(v1.NodeSelectorOpIn), Values: wanted, Actual: label(n, key),
			})
		}
	}
	return out
}

// label returns the value of a node's label, or nil.
func label(n *v1.Node, key string) *string {
	if value, ok := n.Labels[key]; ok {
		return &value
	}
	return nil
}

// compareSpread finds the first constraint that is not met, with the counts that
// the plugin made in PreFilter.
func compareSpread(_ fwk.Handle, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	for _, c := range upstream.SpreadConstraints(state) {
		s := result.SpreadComparison{
			TopologyKey: c.TopologyKey, MaxSkew: int(c.MaxSkew), Domain: label(node.Node(), c.TopologyKey), Domains: maps.Clone(c.Matching),
		}
		if c.Selector != nil && c.Selector.Matches(labels.Set(pod.Labels)) {
			s.Self = 1
		}
		if len(c.Matching) >= int(c.MinDomains) {
			s.Minimum = slices.Min(append(slices.Collect(maps.Values(c.Matching)), math.MaxInt))
		}
		if s.Domain != nil {
			s.Matching = c.Matching[*s.Domain]
			if s.Matching+s.Self-s.Minimum <= s.MaxSkew {
				continue
			}
		}
		// The plugin stops here, too.
		return &result.Comparison{Spread: []result.SpreadComparison{s}}
	}
	return nil
}

// comparePodAffinity finds the term that was not met, and for anti-affinity a
// pod that it met.
func comparePodAffinity(h fwk.Handle, _ fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *result.Comparison {
	own, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil
	}
	nodes := h.SnapshotSharedLister().NodeInfos()
	all, err := nodes.List()
	if err != nil {
		return nil
	}
	out := &result.Comparison{}
	for _, term := range own.GetRequiredAffinityTerms() {
		if domain := label(node.Node(), term.TopologyKey); domain == nil || matching(h, all, term, *domain) == nil {
			out.PodTerms = append(out.PodTerms, podTerm("affinity", node, term, nil))
		}
	}
	for _, term := range own.GetRequiredAntiAffinityTerms() {
		domain := label(node.Node(), term.TopologyKey)
		if domain == nil {
			continue
		}
		if met := matching(h, all, term, *domain); met != nil {
			out.PodTerms = append(out.PodTerms, podTerm("antiAffinity", node, term, met))
		}
	}
	out.PodTerms = append(out.PodTerms, existingAntiAffinity(h, nodes, pod, node)...)
	if len(out.PodTerms) == 0 {
		return nil
	}
	return out
}

// matching returns a pod in a domain that a term matches, or nil.
func matching(h fwk.Handle, nodes []fwk.NodeInfo, term fwk.AffinityTerm, domain string) *v1.Pod {
	for _, n := range nodes {
		if n.Node().Labels[term.TopologyKey] != domain {
			continue
		}
		for _, pi := range n.GetPods() {
			if term.Matches(pi.GetPod(), namespaceLabels(h, pi.GetPod().Namespace)) {
				return pi.GetPod()
			}
		}
	}
	return nil
}

// existingAntiAffinity returns a term of a running pod that keeps pod away.
func existingAntiAffinity(h fwk.Handle, nodes fwk.NodeInfoLister, pod *v1.Pod, node fwk.NodeInfo) []result.PodTermComparison {
	with, err := nodes.HavePodsWithRequiredAntiAffinityList()
	if err != nil {
		return nil
	}
	ns := namespaceLabels(h, pod.Namespace)
	for _, n := range with {
		for _, pi := range n.GetPodsWithRequiredAntiAffinity() {
			for _, term := range pi.GetRequiredAntiAffinityTerms() {
				domain := label(node.Node(), term.TopologyKey)
				if domain != nil && n.Node().Labels[term.TopologyKey] == *domain && term.Matches(pod, ns) {
					return []result.PodTermComparison{podTerm("existingAntiAffinity", node, term, pi.GetPod())}
				}
			}
		}
	}
	return nil
}

func podTerm(rule string, node fwk.NodeInfo, term fwk.AffinityTerm, met *v1.Pod) result.PodTermComparison {
	out := result.PodTermComparison{
		Rule: rule, TopologyKey: term.TopologyKey, Domain: label(node.Node(), term.TopologyKey), Selector: term.Selector.String(),
	}
	if met != nil {
		p := podOf(met)
		out.Pod = &p
	}
	return out
}

func namespaceLabels(h fwk.Handle, name string) labels.Set {
	ns, err := h.SharedInformerFactory().Core().V1().Namespaces().Lister().Get(name)
	if err != nil {
		return nil
	}
	return ns.Labels
}
