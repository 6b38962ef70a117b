package fit

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/podrequest"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
)

// curer finds changes of a pod, and of the node, each of which takes an obstacle out of
// the way.
type curer func(pod *v1.Pod, node *v1.Node, o whatif.Obstacle) []cure

// plugin is what is known about a plugin that rejects nodes.
type plugin struct {
	// cures is nil if neither the pod nor the node can change what the plugin rejects.
	cures curer
	// pods: it may reject a node for the pods that run.
	pods bool
	// place: it rejects a node for where the node is, or for what it is. So it rejects new nodes like this one too.
	place bool
	// brought: what it reads may come with a new node, as devices and storage do.
	brought bool
}

// known are the plugins of Kubernetes. Volumes are bound to their place: no change of one is offered, because it
// would lose what they hold. Nothing is known about other plugins, so evictions and new nodes are tried.
var known = map[string]plugin{
	names.SchedulingGates:       {cures: cureGates},
	names.NodeUnschedulable:     {cures: cureCordon},
	names.TaintToleration:       {cures: cureTaints},
	names.NodeAffinity:          {cures: cureNodeAffinity},
	names.NodePorts:             {cures: curePorts, pods: true},
	names.NodeResourcesFit:      {cures: cureResources, pods: true},
	names.PodTopologySpread:     {cures: cureSpread, pods: true},
	names.InterPodAffinity:      {cures: curePodAffinity, pods: true},
	names.VolumeRestrictions:    {pods: true},
	names.NodeVolumeLimits:      {pods: true},
	names.VolumeBinding:         {brought: true},
	names.VolumeZone:            {place: true},
	names.DynamicResources:      {brought: true, pods: true},
	names.NodeName:              {place: true},
	names.NodeDeclaredFeatures:  {place: true},
	names.DeferredPodScheduling: {place: true},
}

// cures returns the alternatives for an obstacle, none for one that neither the pod nor
// the node can change.
func cures(pod *v1.Pod, node *v1.Node, o whatif.Obstacle) []cure {
	if find := known[o.Plugin].cures; find != nil {
		return find(pod, node, o)
	}
	return nil
}

func cureGates(pod *v1.Pod, _ *v1.Node, _ whatif.Obstacle) []cure {
	if len(pod.Spec.SchedulingGates) == 0 {
		return nil
	}
	says := explain.OpenGates{}
	for _, g := range pod.Spec.SchedulingGates {
		says.Gates = append(says.Gates, g.Name)
	}
	return []cure{{{says: says, shape: "openGates", disturbance: ofPod, cost: costOfGate, pod: openGates, inPlace: true}}}
}

func cureCordon(_ *v1.Pod, node *v1.Node, _ whatif.Obstacle) []cure {
	if !node.Spec.Unschedulable {
		return nil
	}
	return []cure{{uncordon(node)}}
}

// uncordon also removes the taint that the node's controller gave it for the cordon, as
// that controller will.
func uncordon(node *v1.Node) remedy {
	return remedy{
		says: explain.Uncordon{Node: node.Name, Others: []string{}}, shape: "uncordon", detail: node.Name, disturbance: ofNode, cost: costOfCordon,
		node: func(n *v1.Node) {
			n.Spec.Unschedulable = false
			removeTaints(n, func(t v1.Taint) bool { return t.Key == v1.TaintNodeUnschedulable })
		},
	}
}

func removeTaints(n *v1.Node, drop func(v1.Taint) bool) {
	if n.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), drop); len(n.Spec.Taints) == 0 {
		n.Spec.Taints = nil
	}
}

func cureTaints(pod *v1.Pod, node *v1.Node, _ whatif.Obstacle) []cure {
	cordoned, kept := false, false
	var taints []v1.Taint
	for _, t := range untolerated(pod, node) {
		if t.Key == v1.TaintNodeUnschedulable {
			cordoned = true
			continue
		}
		taints = append(taints, t)
		kept = kept || newnode.OfState(t)
	}
	var first cure
	if cordoned {
		first = cure{uncordon(node)}
	}
	if len(taints) == 0 {
		if cordoned {
			return []cure{first}
		}
		return nil
	}
	out := []cure{append(slices.Clip(first), toleration(taints))}
	if !kept {
		out = append(out, append(slices.Clip(first), taintRemoval(node, taints)))
	}
	return out
}

func toleration(taints []v1.Taint) remedy {
	said := taintTexts(taints)
	out := remedy{
		says: explain.Tolerate{Taints: said}, shape: "tolerate " + strings.Join(said, ","), disturbance: ofPod,
		cost: costOfToleration * float64(len(taints)), pod: func(s *v1.PodSpec) { tolerate(s, taints) }, inPlace: true, lasts: true,
		parts: partsOf(taints, toleration),
	}
	if slices.ContainsFunc(taints, newnode.OfState) {
		out.cost += costOfCondition
	}
	return out
}

func taintRemoval(node *v1.Node, taints []v1.Taint) remedy {
	said := taintTexts(taints)
	return remedy{
		says: explain.RemoveTaints{Node: node.Name, Taints: said, Others: []string{}}, shape: "removeTaints " + strings.Join(said, ","),
		detail: node.Name, disturbance: ofNode, cost: costOfTaint * float64(len(taints)),
		node: func(n *v1.Node) {
			removeTaints(n, func(t v1.Taint) bool {
				return slices.ContainsFunc(taints, func(o v1.Taint) bool { return o.MatchTaint(&t) })
			})
		},
		parts: partsOf(taints, func(fewer []v1.Taint) remedy { return taintRemoval(node, fewer) }),
	}
}

// partsOf returns the parts of a remedy that does something for each item; nil if there is only one.
func partsOf[T any](items []T, remedyFor func([]T) remedy) *parts {
	if len(items) < 2 {
		return nil
	}
	return &parts{count: len(items), only: func(kept []int) remedy {
		var fewer []T
		for _, i := range kept {
			fewer = append(fewer, items[i])
		}
		return remedyFor(fewer)
	}}
}

// untolerated returns the taints that keep the pod off the node. The comparison has only
// the first, at which the plugin stops.
func untolerated(pod *v1.Pod, node *v1.Node) []v1.Taint {
	var out []v1.Taint
	keepsOff := helper.DoNotScheduleTaintsFilterFunc()
	for i := range node.Spec.Taints {
		t := &node.Spec.Taints[i]
		if keepsOff(t) && !corev1helpers.TolerationsTolerateTaint(klog.Background(), pod.Spec.Tolerations, t, true) {
			out = append(out, *t)
		}
	}
	return out
}

func taintTexts(taints []v1.Taint) []string {
	var out []string
	for _, t := range taints {
		out = append(out, t.ToString())
	}
	slices.Sort(out)
	return out
}

func curePorts(_ *v1.Pod, _ *v1.Node, o whatif.Obstacle) []cure {
	if o.Comparison == nil || len(o.Comparison.Ports) == 0 {
		return nil
	}
	return []cure{{portDrop(o.Comparison.Ports)}}
}

func portDrop(ports []result.Port) remedy {
	says := explain.DropHostPorts{}
	for _, p := range ports {
		text := fmt.Sprintf("%d/%s", p.Port, p.Protocol)
		if p.HostIP != "" {
			text = p.HostIP + ":" + text
		}
		says.Ports = append(says.Ports, text)
	}
	return remedy{
		says: says, shape: "dropHostPorts " + strings.Join(says.Ports, ","), disturbance: ofPod, cost: costOfPort * float64(len(ports)),
		pod: func(s *v1.PodSpec) { dropHostPorts(s, ports) }, parts: partsOf(ports, portDrop),
	}
}

// mebibyte is what amounts of memory are rounded down to.
const mebibyte = 1 << 20

func cureResources(pod *v1.Pod, _ *v1.Node, o whatif.Obstacle) []cure {
	if o.Comparison == nil || len(o.Comparison.Resources) == 0 {
		return nil
	}
	var cuts []cut
	for _, c := range o.Comparison.Resources {
		if c.Name == string(v1.ResourcePods) {
			return nil // Every pod counts as one.
		}
		asked := podrequest.Asked(pod, v1.ResourceName(c.Name))
		cuts = append(cuts, cut{
			resource: c.Name, from: asked, to: roundDown(c.Name, max(c.Allocatable-c.InUse, 0)),
			lacks: asked + c.InUse - c.Allocatable, absent: c.Allocatable <= 0,
		})
	}
	if r := lowering(pod, cuts); r.says != nil {
		return []cure{{r}}
	}
	return nil
}

// cut lowers what a pod asks for of a resource.
type cut struct {
	resource string
	from, to int64
	// lacks is what the node lacks, and absent is true if it has none of the resource.
	lacks  int64
	absent bool
}

// together returns the cuts that do all of both.
func together(a, b []cut) []cut {
	out := slices.Clone(a)
	for _, c := range b {
		if i := slices.IndexFunc(out, func(own cut) bool { return own.resource == c.resource }); i >= 0 {
			out[i].to, out[i].lacks = min(out[i].to, c.to), max(out[i].lacks, c.lacks)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// lowering returns the remedy for cuts. It says nothing if the pod's containers do not ask for what is cut.
func lowering(pod *v1.Pod, cuts []cut) remedy {
	r := remedy{shape: "lowerRequests", disturbance: ofPod, cost: costOfCut, cuts: cuts, parts: partsOf(cuts, func(fewer []cut) remedy { return lowering(pod, fewer) })}
	var lacks result.Shortage
	for _, c := range cuts {
		lacks.Add(c.from, c.lacks, c.absent)
		r.shape += " " + c.resource
		r.detail += fmt.Sprint(" ", c.to)
	}
	if r.cost += 80*lacks.Parts + float64(lacks.Absent*result.FarAway); lacks.Half {
		r.disturbance = drastic
	}
	r.pod = func(s *v1.PodSpec) {
		for _, c := range cuts {
			lowerRequest(s, v1.ResourceName(c.resource), c.to)
		}
	}
	after := pod.Spec.DeepCopy()
	r.pod(after)
	if changed := requestCuts(&pod.Spec, after); len(changed) > 0 {
		r.says = explain.LowerRequests{Requests: changed}
	}
	if len(cuts) == 1 {
		c := cuts[0]
		unit := unitOf(c.resource, c.to)
		r.scale = &scale{step: (c.from - c.to + unit - 1) / unit, most: (c.from + unit - 1) / unit, to: func(step int64) remedy {
			next := c
			next.to = max(roundDown(c.resource, c.from-step*unit), 0)
			next.lacks = c.from - next.to
			return lowering(pod, []cut{next})
		}}
	}
	return r
}

// roundDown returns an amount that the API server takes, and that reads well.
func roundDown(name string, to int64) int64 { return to - to%unitOf(name, to) }

// unitOf returns the unit in which amounts of a resource are changed.
func unitOf(name string, amount int64) int64 {
	if size, huge := strings.CutPrefix(name, v1.ResourceHugePagesPrefix); huge {
		if page, err := resource.ParseQuantity(size); err == nil && page.Value() > 0 {
			return page.Value()
		}
	} else if amount >= mebibyte && (name == string(v1.ResourceMemory) || name == string(v1.ResourceEphemeralStorage)) {
		return mebibyte
	}
	return 1
}

func cureSpread(pod *v1.Pod, _ *v1.Node, o whatif.Obstacle) []cure {
	if o.Comparison == nil || len(o.Comparison.Spread) == 0 {
		return nil
	}
	c := o.Comparison.Spread[0]
	var own []v1.TopologySpreadConstraint
	for _, s := range pod.Spec.TopologySpreadConstraints {
		if sameSpread(s, c) {
			own = append(own, s)
		}
	}
	if len(own) == 0 {
		return nil // It is in the plugin's arguments.
	}
	out := []cure{{preference(own)}}
	if c.Domain == nil {
		return out
	}
	if slices.ContainsFunc(own, func(s v1.TopologySpreadConstraint) bool {
		return ptr.Deref(s.NodeTaintsPolicy, v1.NodeInclusionPolicyIgnore) == v1.NodeInclusionPolicyIgnore
	}) {
		out = append(out, cure{honor(own, "nodeTaintsPolicy", func(s *v1.TopologySpreadConstraint) { s.NodeTaintsPolicy = ptr.To(v1.NodeInclusionPolicyHonor) })})
	}
	if slices.ContainsFunc(own, func(s v1.TopologySpreadConstraint) bool {
		return ptr.Deref(s.NodeAffinityPolicy, v1.NodeInclusionPolicyHonor) == v1.NodeInclusionPolicyIgnore
	}) {
		out = append(out, cure{honor(own, "nodeAffinityPolicy", func(s *v1.TopologySpreadConstraint) { s.NodeAffinityPolicy = ptr.To(v1.NodeInclusionPolicyHonor) })})
	}
	if c.Domains < c.MinDomains {
		out = append(out, cure{fewerDomains(own, c.TopologyKey, c.MinDomains, c.Domains)})
	}
	return append(out, cure{widerSkew(own, int64(c.MaxSkew), int64(c.Matching+c.Self-c.Minimum-c.MaxSkew))})
}

func preference(own []v1.TopologySpreadConstraint) remedy {
	key := own[0].TopologyKey
	return remedy{
		says: explain.PreferSpread{TopologyKey: key}, shape: "preferSpread " + key, disturbance: ofPod, cost: costOfPodTerm, parts: partsOf(own, preference),
		pod: func(s *v1.PodSpec) {
			changeSpread(s, own, func(c *v1.TopologySpreadConstraint) { c.WhenUnsatisfiable, c.MinDomains = v1.ScheduleAnyway, nil }) // minDomains is for DoNotSchedule only
		},
	}
}

func honor(own []v1.TopologySpreadConstraint, policy string, set func(*v1.TopologySpreadConstraint)) remedy {
	key := own[0].TopologyKey
	return remedy{
		says: explain.HonorPolicy{TopologyKey: key, Policy: policy}, shape: policy + " " + key, disturbance: ofPod, cost: costOfPolicy,
		pod: func(s *v1.PodSpec) { changeSpread(s, own, set) }, parts: partsOf(own, func(fewer []v1.TopologySpreadConstraint) remedy { return honor(fewer, policy, set) }),
	}
}

func fewerDomains(own []v1.TopologySpreadConstraint, key string, from, to int) remedy {
	if to <= 1 {
		to = 0 // like 1, which is the default
	}
	return remedy{
		says: explain.LowerMinDomains{TopologyKey: key, From: from, To: to}, shape: "minDomains " + key, detail: fmt.Sprint(from, to), disturbance: ofPod, cost: costOfMinDomains + float64(from-to),
		pod: func(s *v1.PodSpec) {
			changeSpread(s, own, func(c *v1.TopologySpreadConstraint) {
				if c.MinDomains = nil; to > 0 {
					c.MinDomains = ptr.To(int32(to))
				}
			})
		},
		parts: partsOf(own, func(fewer []v1.TopologySpreadConstraint) remedy { return fewerDomains(fewer, key, from, to) }),
	}
}

// widerSkew allows a skew that is by more larger.
func widerSkew(own []v1.TopologySpreadConstraint, from, more int64) remedy {
	key, to := own[0].TopologyKey, from+more
	return remedy{
		says: explain.RaiseMaxSkew{TopologyKey: key, From: int(from), To: int(to)}, shape: "raiseMaxSkew " + key, detail: fmt.Sprint(from, to), disturbance: ofPod,
		cost: costOfSkew + 5*float64(more), pod: func(s *v1.PodSpec) {
			changeSpread(s, own, func(c *v1.TopologySpreadConstraint) { c.MaxSkew = int32(to) })
		},
		parts: partsOf(own, func(fewer []v1.TopologySpreadConstraint) remedy { return widerSkew(fewer, from, more) }),
		scale: &scale{step: more, most: more + 2*mostPods, to: func(step int64) remedy { return widerSkew(own, from, step) }},
	}
}

func curePodAffinity(pod *v1.Pod, _ *v1.Node, o whatif.Obstacle) []cure {
	if o.Comparison == nil || len(o.Comparison.PodTerms) == 0 || o.Comparison.PodTerms[0].Rule == "existingAntiAffinity" || pod.Spec.Affinity == nil {
		return nil // Other pods' terms are not the pod's to change.
	}
	anti := o.Comparison.PodTerms[0].Rule == "antiAffinity"
	var own []v1.PodAffinityTerm
	for _, t := range requiredTerms(&pod.Spec, anti) {
		if slices.ContainsFunc(o.Comparison.PodTerms, func(c result.PodTermComparison) bool { return samePodTerm(t, c) }) {
			own = append(own, t)
		}
	}
	if len(own) == 0 {
		return nil
	}
	return []cure{{termPreference(own, anti)}, {termDrop(own, anti)}}
}

func termPreference(own []v1.PodAffinityTerm, anti bool) remedy {
	says := explain.PreferPodTerms{Anti: anti, Terms: termTexts(own)}
	return remedy{
		says: says, shape: "preferPodTerms " + explain.Statement{Operands: says}.String(), disturbance: ofPod, cost: costOfPreference * float64(len(own)),
		pod: func(s *v1.PodSpec) { preferPodTerms(s, anti, own) }, parts: partsOf(own, func(fewer []v1.PodAffinityTerm) remedy { return termPreference(fewer, anti) }),
	}
}

func termDrop(own []v1.PodAffinityTerm, anti bool) remedy {
	says := explain.DropPodTerms{Anti: anti, Terms: termTexts(own)}
	cost := costOfPodTerm * float64(len(own))
	if anti {
		cost += 5
	}
	return remedy{
		says: says, shape: "dropPodTerms " + explain.Statement{Operands: says}.String(), disturbance: ofPod, cost: cost,
		pod: func(s *v1.PodSpec) { dropPodTerms(s, anti, own) }, parts: partsOf(own, func(fewer []v1.PodAffinityTerm) remedy { return termDrop(fewer, anti) }),
	}
}

func termTexts(terms []v1.PodAffinityTerm) []explain.PodTerm {
	var out []explain.PodTerm
	for _, t := range terms {
		said := explain.PodTerm{TopologyKey: t.TopologyKey, Selector: selectorText(t.LabelSelector), Namespaces: t.Namespaces}
		if t.NamespaceSelector != nil {
			said.NamespaceSelector = ptr.To(selectorText(t.NamespaceSelector))
		}
		out = append(out, said)
	}
	return out
}
