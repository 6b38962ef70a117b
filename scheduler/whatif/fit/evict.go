package fit

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// evictor chooses pods to evict for a pod: the fewest, and of as many those of the lowest
// priority. It never chooses a pod of a higher priority than the pod's, one that its node or
// its DaemonSet would restore, or one that a PodDisruptionBudget protects.
type evictor struct {
	pod     *v1.Pod
	nodes   []fwk.NodeInfo
	budgets []budget
	// spared reports whether a pod must not go although it may.
	spared func(*v1.Pod) bool
	// gone are pods that are evicted already. They count for the budgets.
	gone []*v1.Pod
	// byUID are the pods of all nodes, once they are needed.
	byUID map[types.UID]*v1.Pod
}

// budget is what a PodDisruptionBudget allows.
type budget struct {
	namespace string
	selector  labels.Selector
	allowed   int32
}

func newEvictor(pod *v1.Pod, nodes []fwk.NodeInfo, pdbs []*policyv1.PodDisruptionBudget) *evictor {
	e := &evictor{pod: pod, nodes: nodes}
	for _, pdb := range pdbs {
		selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
		if err != nil {
			continue // It selects nothing.
		}
		e.budgets = append(e.budgets, budget{pdb.Namespace, selector, pdb.Status.DisruptionsAllowed})
	}
	return e
}

// may reports whether a pod may be evicted, budgets aside.
func (e *evictor) may(p *v1.Pod) bool {
	_, mirror := p.Annotations[v1.MirrorPodAnnotationKey]
	if e.spared != nil && e.spared(p) {
		return false
	}
	return !mirror && !newnode.OfDaemonSet(p) && p.DeletionTimestamp == nil && corev1.PodPriority(p) <= corev1.PodPriority(e.pod)
}

// within reports whether every budget allows that these pods go together.
func (e *evictor) within(victims []*v1.Pod) bool {
	left := slices.Clone(e.budgets)
	return !slices.ContainsFunc(slices.Concat(e.gone, victims), func(p *v1.Pod) bool { return !take(left, p) })
}

// take takes a pod out of the budgets. It reports false, and takes nothing, if one of them does not allow that.
func take(left []budget, p *v1.Pod) bool {
	protects := func(b budget) bool { return p.Namespace == b.namespace && b.selector.Matches(labels.Set(p.Labels)) }
	if slices.ContainsFunc(left, func(b budget) bool { return b.allowed <= 0 && protects(b) }) {
		return false
	}
	for i, b := range left {
		if protects(b) {
			left[i].allowed--
		}
	}
	return true
}

// victims returns the pods to evict so that no obstacle of the node is left, or nil when
// evicting pods would not do. The choice is a guess for plugins that do not say for which
// pods they rejected the node: it is then all pods that may go, and guessed is true.
func (e *evictor) victims(node fwk.NodeInfo, obstacles []whatif.Obstacle) (victims []*v1.Pod, guessed bool) {
	var resources *result.Comparison
	for _, o := range obstacles {
		var more []*v1.Pod
		switch o.Plugin {
		case names.NodeResourcesFit:
			resources = o.Comparison
			continue
		case names.NodePorts:
			more = e.onPorts(node, o.Comparison)
		case names.InterPodAffinity:
			more = e.apart(o.Comparison)
		case names.PodTopologySpread:
			more = e.surplus(node, o.Comparison)
		case names.VolumeRestrictions:
			more = e.sharing(node)
		case names.DynamicResources:
			guessed = true
			more = e.holdingDevices(node)
		default:
			if !blames(o) {
				return nil, false
			}
			guessed = true
			if more = e.movable(node); o.PreFilter {
				more = e.inNamespace()
			}
		}
		if len(more) == 0 {
			return nil, false
		}
		victims = union(victims, more)
	}
	if resources != nil {
		if victims = e.freeing(node, resources.Resources, victims); victims == nil {
			return nil, false
		}
	}
	if !e.within(victims) {
		return nil, false
	}
	slices.SortFunc(victims, byPriority)
	return victims, guessed
}

// blames reports whether a plugin may reject a node for the pods that run.
func blames(o whatif.Obstacle) bool {
	k, isKnown := known[o.Plugin]
	return k.pods || !isKnown
}

func union(a, b []*v1.Pod) []*v1.Pod {
	for _, p := range b {
		if !slices.ContainsFunc(a, func(o *v1.Pod) bool { return o.UID == p.UID }) {
			a = append(a, p)
		}
	}
	return a
}

// byPriority orders pods by priority, the lowest first, and then by name.
func byPriority(a, b *v1.Pod) int {
	return cmp.Or(cmp.Compare(corev1.PodPriority(a), corev1.PodPriority(b)), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// movable returns the pods of a node that may be evicted, as many as the budgets allow.
func (e *evictor) movable(node fwk.NodeInfo) []*v1.Pod {
	return e.among(podsOn([]fwk.NodeInfo{node}))
}

// among returns those of the pods that may be evicted, as many as the budgets allow, the least important first.
func (e *evictor) among(pods []*v1.Pod) []*v1.Pod {
	pods = slices.DeleteFunc(slices.Clone(pods), func(p *v1.Pod) bool { return !e.may(p) })
	slices.SortFunc(pods, byPriority)
	left := slices.Clone(e.budgets)
	for _, p := range e.gone {
		take(left, p)
	}
	return slices.DeleteFunc(pods, func(p *v1.Pod) bool { return !take(left, p) })
}

func podsOn(nodes []fwk.NodeInfo) []*v1.Pod {
	var out []*v1.Pod
	for _, n := range nodes {
		for _, on := range n.GetPods() {
			out = append(out, on.GetPod())
		}
	}
	return out
}

// onPorts returns the pods that use the ports, or nil if one of them may not be evicted.
func (e *evictor) onPorts(node fwk.NodeInfo, c *result.Comparison) []*v1.Pod {
	if c == nil {
		return nil
	}
	var out []*v1.Pod
	for _, on := range node.GetPods() {
		used := fwk.HostPortInfo{}
		for _, p := range util.GetHostPorts(on.GetPod()) {
			used.Add(p.HostIP, string(p.Protocol), p.HostPort)
		}
		if !slices.ContainsFunc(c.Ports, func(p result.Port) bool { return used.CheckConflict(p.HostIP, p.Protocol, p.Port) }) {
			continue
		}
		if !e.may(on.GetPod()) {
			return nil
		}
		out = append(out, on.GetPod())
	}
	return out
}

// apart returns the pods next to which the pod may not run. The comparison names one for
// each term; further ones show when it is gone.
func (e *evictor) apart(c *result.Comparison) []*v1.Pod {
	if c == nil {
		return nil
	}
	var out []*v1.Pod
	for _, t := range c.PodTerms {
		if t.Rule == "affinity" || t.Pod == nil {
			return nil
		}
		p := e.find(*t.Pod)
		if p == nil || !e.may(p) {
			return nil
		}
		out = union(out, []*v1.Pod{p})
	}
	return out
}

func (e *evictor) find(pod result.Pod) *v1.Pod {
	if e.byUID == nil {
		e.byUID = map[types.UID]*v1.Pod{}
		for _, n := range e.nodes {
			for _, on := range n.GetPods() {
				e.byUID[on.GetPod().UID] = on.GetPod()
			}
		}
	}
	return e.byUID[pod.UID]
}

// surplus returns as many matching pods of the domain as are too many, those of the lowest
// priority.
func (e *evictor) surplus(node fwk.NodeInfo, c *result.Comparison) []*v1.Pod {
	if c == nil || len(c.Spread) == 0 || c.Spread[0].Domain == nil {
		return nil
	}
	s := c.Spread[0]
	i := slices.IndexFunc(e.pod.Spec.TopologySpreadConstraints, func(own v1.TopologySpreadConstraint) bool { return sameSpread(own, s) })
	if i < 0 {
		return nil
	}
	selector := e.counts(e.pod.Spec.TopologySpreadConstraints[i])
	var out []*v1.Pod
	for _, n := range e.nodes {
		if value, ok := n.Node().Labels[s.TopologyKey]; !ok || value != *s.Domain {
			continue
		}
		for _, on := range n.GetPods() {
			if p := on.GetPod(); p.Namespace == e.pod.Namespace && selector.Matches(labels.Set(p.Labels)) && e.may(p) && e.within([]*v1.Pod{p}) {
				out = append(out, p)
			}
		}
	}
	surplus := s.Matching + s.Self - s.Minimum - s.MaxSkew
	if len(out) < surplus {
		return nil
	}
	slices.SortFunc(out, func(a, b *v1.Pod) int {
		// Those on the node itself also make room there.
		return cmp.Or(cmp.Compare(corev1.PodPriority(a), corev1.PodPriority(b)),
			cmp.Compare(elsewhere(a, node), elsewhere(b, node)), byPriority(a, b))
	})
	return out[:surplus]
}

func elsewhere(p *v1.Pod, node fwk.NodeInfo) int {
	if p.Spec.NodeName == node.Node().Name {
		return 0
	}
	return 1
}

// counts selects the pods that count for a constraint.
func (e *evictor) counts(c v1.TopologySpreadConstraint) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	if err != nil {
		return labels.Nothing()
	}
	for _, key := range c.MatchLabelKeys {
		if value, ok := e.pod.Labels[key]; ok {
			// A label of a pod is a valid requirement.
			same, _ := labels.SelectorFromSet(labels.Set{key: value}).Requirements()
			selector = selector.Add(same...)
		}
	}
	return selector
}

// sharing returns the pods on any node that use a claim of the pod, and those on the node
// that may go: their volumes may be those that conflict.
func (e *evictor) sharing(node fwk.NodeInfo) []*v1.Pod {
	var out []*v1.Pod
	for _, n := range e.nodes {
		for _, on := range n.GetPods() {
			if p := on.GetPod(); p.Namespace == e.pod.Namespace && p.UID != e.pod.UID && shareClaim(p, e.pod) && e.may(p) {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		return e.movable(node)
	}
	return out
}

func shareClaim(a, b *v1.Pod) bool {
	for _, va := range a.Spec.Volumes {
		for _, vb := range b.Spec.Volumes {
			if va.PersistentVolumeClaim != nil && vb.PersistentVolumeClaim != nil &&
				va.PersistentVolumeClaim.ClaimName == vb.PersistentVolumeClaim.ClaimName {
				return true
			}
		}
	}
	return false
}

// freeing adds pods of the node to victims until they hold what is short, as few as it can.
// It returns nil when the pods that may go do not hold enough.
func (e *evictor) freeing(node fwk.NodeInfo, short []result.ResourceComparison, victims []*v1.Pod) []*v1.Pod {
	need := make([]int64, len(short))
	for i, r := range short {
		need[i] = r.Requested + r.InUse - r.Allocatable
	}
	var able []holder
	for _, on := range node.GetPods() {
		p := on.GetPod()
		held := holds(on, short)
		if slices.ContainsFunc(victims, func(v *v1.Pod) bool { return v.UID == p.UID }) {
			subtract(need, held)
		} else if e.may(p) {
			able = append(able, holder{p, held, sizeOn(node, p)})
		}
	}
	slices.SortFunc(able, func(a, b holder) int {
		return cmp.Or(cmp.Compare(corev1.PodPriority(a.pod), corev1.PodPriority(b.pod)), cmp.Compare(a.size, b.size), byPriority(a.pod, b.pod))
	})
	out := slices.Clip(victims)
	if best := e.fewest(able, need, out); best != nil {
		return append(out, best...)
	}
	for wants(need) > 0 {
		best := -1
		for i, h := range able {
			if !e.within(append(slices.Clip(out), h.pod)) {
				continue
			}
			// The first of those that free as much has the lowest priority.
			if best < 0 || h.part(need) > able[best].part(need) {
				best = i
			}
		}
		if best < 0 || able[best].part(need) == 0 {
			return nil
		}
		subtract(need, able[best].held)
		out = append(out, able[best].pod)
		able = slices.Delete(able, best, best+1)
	}
	return out
}

// mostCombined bounds the pods of which sets are tried.
const mostCombined = 48

// fewest returns the smallest set of pods, of up to three, that hold what is needed; of those with the least priority, and of these the one with the
// smallest pods. able is in that order. It returns nil if there is none.
func (e *evictor) fewest(able []holder, need []int64, victims []*v1.Pod) []*v1.Pod {
	if wants(need) == 0 || len(able) > mostCombined {
		return nil
	}
	var best []int
	var try func(chosen []int, from, more int, need []int64)
	try = func(chosen []int, from, more int, need []int64) {
		if more == 0 {
			if wants(need) == 0 && (best == nil || e.lessImportant(able, chosen, best)) && e.within(append(slices.Clip(victims), podsOf(able, chosen)...)) {
				best = slices.Clone(chosen)
			}
			return
		}
		for i := from; i < len(able); i++ {
			left := slices.Clone(need)
			subtract(left, able[i].held)
			try(append(chosen, i), i+1, more-1, left)
		}
	}
	for size := 1; size <= 3 && best == nil; size++ {
		try(nil, 0, size, need)
	}
	if best == nil {
		return nil
	}
	return podsOf(able, best)
}

// lessImportant compares two sets of as many pods, each in the order of able.
func (e *evictor) lessImportant(able []holder, a, b []int) bool {
	highest := func(set []int) int32 { return corev1.PodPriority(able[set[len(set)-1]].pod) }
	if c := cmp.Compare(highest(a), highest(b)); c != 0 {
		return c < 0
	}
	sum := func(set []int) (priorities int64, size float64) {
		for _, i := range set {
			priorities += int64(corev1.PodPriority(able[i].pod))
			size += able[i].size
		}
		return priorities, size
	}
	p, x := sum(a)
	q, y := sum(b)
	return cmp.Or(cmp.Compare(p, q), cmp.Compare(x, y)) < 0
}

func podsOf(able []holder, chosen []int) []*v1.Pod {
	var out []*v1.Pod
	for _, i := range chosen {
		out = append(out, able[i].pod)
	}
	return out
}

// sizeOn returns which share of a node a pod asks for, summed over the resources.
func sizeOn(node fwk.NodeInfo, p *v1.Pod) float64 {
	sum := 0.0
	for _, on := range node.GetPods() {
		if on.GetPod().UID != p.UID {
			continue
		}
		r := on.CalculateResource().Resource
		for _, share := range [][2]int64{{r.GetMilliCPU(), node.GetAllocatable().GetMilliCPU()}, {r.GetMemory(), node.GetAllocatable().GetMemory()}, {r.GetEphemeralStorage(), node.GetAllocatable().GetEphemeralStorage()}} {
			if share[1] > 0 {
				sum += float64(share[0]) / float64(share[1])
			}
		}
		for name, amount := range r.GetScalarResources() {
			if all := node.GetAllocatable().GetScalarResources()[name]; all > 0 {
				sum += float64(amount) / float64(all)
			}
		}
	}
	return sum
}

// holdingDevices returns the pods of the node that may go and have claims of devices; if there are none, those of any node: devices may be
// in reach of several.
func (e *evictor) holdingDevices(node fwk.NodeInfo) []*v1.Pod {
	holding := func(n fwk.NodeInfo) []*v1.Pod {
		return slices.DeleteFunc(e.movable(n), func(p *v1.Pod) bool {
			return len(p.Spec.ResourceClaims) == 0 && p.Status.ExtendedResourceClaimStatus == nil
		})
	}
	out := holding(node)
	for _, n := range e.nodes {
		if len(out) == 0 {
			out = holding(n)
		}
	}
	return out
}

// inNamespace returns the pods of the pod's namespace that may go; if there are none, those of all namespaces: quotas may share.
func (e *evictor) inNamespace() []*v1.Pod {
	all := podsOn(e.nodes)
	own := slices.DeleteFunc(slices.Clone(all), func(p *v1.Pod) bool { return p.Namespace != e.pod.Namespace })
	if out := e.among(own); len(out) > 0 {
		return out
	}
	return e.among(all)
}

// holder is a pod with what it holds of each resource that is short.
type holder struct {
	pod  *v1.Pod
	held []int64
	// size is what sizeOn returns.
	size float64
}

// part is how much of the need the pod would meet: 1 for each resource.
func (h holder) part(need []int64) float64 {
	sum := 0.0
	for i, n := range need {
		if n > 0 {
			sum += float64(min(n, h.held[i])) / float64(n)
		}
	}
	return sum
}

func wants(need []int64) int {
	short := 0
	for _, n := range need {
		if n > 0 {
			short++
		}
	}
	return short
}

func subtract(need, held []int64) {
	for i := range need {
		need[i] -= held[i]
	}
}

func holds(on fwk.PodInfo, short []result.ResourceComparison) []int64 {
	r := on.CalculateResource().Resource
	out := make([]int64, len(short))
	for i, s := range short {
		switch v1.ResourceName(s.Name) {
		case v1.ResourcePods:
			out[i] = 1
		case v1.ResourceCPU:
			out[i] = r.GetMilliCPU()
		case v1.ResourceMemory:
			out[i] = r.GetMemory()
		case v1.ResourceEphemeralStorage:
			out[i] = r.GetEphemeralStorage()
		default:
			out[i] = r.GetScalarResources()[v1.ResourceName(s.Name)]
		}
	}
	return out
}

// evict returns the remedy that evicts the victims.
func evict(node string, victims []*v1.Pod) remedy {
	says := explain.Evict{Node: node, Pods: evictedPods(victims)}
	return remedy{says: says, shape: "evict", detail: node, disturbance: ofOthers, victims: victims}
}

func evictedPods(victims []*v1.Pod) []explain.EvictedPod {
	var out []explain.EvictedPod
	for _, p := range victims {
		out = append(out, explain.EvictedPod{Namespace: p.Namespace, Name: p.Name, Priority: corev1.PodPriority(p)})
	}
	return out
}
