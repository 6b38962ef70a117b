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

	"kube-scheduler-simulator/scheduler/explain"
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
	names.DynamicResources:      {brought: true},
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
	said := taintTexts(taints)
	toleration := remedy{
		says: explain.Tolerate{Taints: said}, shape: "tolerate " + strings.Join(said, ","), disturbance: ofPod,
		cost: costOfToleration * float64(len(taints)), pod: func(s *v1.PodSpec) { tolerate(s, taints) }, inPlace: true,
	}
	if kept {
		toleration.cost += costOfCondition
		return []cure{append(slices.Clip(first), toleration)}
	}
	removal := remedy{
		says: explain.RemoveTaints{Node: node.Name, Taints: said, Others: []string{}}, shape: "removeTaints " + strings.Join(said, ","),
		detail: node.Name, disturbance: ofNode, cost: costOfTaint * float64(len(taints)),
		node: func(n *v1.Node) {
			removeTaints(n, func(t v1.Taint) bool {
				return slices.ContainsFunc(taints, func(o v1.Taint) bool { return o.MatchTaint(&t) })
			})
		},
	}
	return []cure{append(slices.Clip(first), toleration), append(slices.Clip(first), removal)}
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
	ports := o.Comparison.Ports
	says := explain.DropHostPorts{}
	for _, p := range ports {
		text := fmt.Sprintf("%d/%s", p.Port, p.Protocol)
		if p.HostIP != "" {
			text = p.HostIP + ":" + text
		}
		says.Ports = append(says.Ports, text)
	}
	return []cure{{{
		says: says, shape: "dropHostPorts " + strings.Join(says.Ports, ","), disturbance: ofPod, cost: costOfPort * float64(len(ports)),
		pod: func(s *v1.PodSpec) { dropHostPorts(s, ports) },
	}}}
}

// mebibyte is what amounts of memory are rounded down to.
const mebibyte = 1 << 20

func cureResources(_ *v1.Pod, _ *v1.Node, o whatif.Obstacle) []cure {
	if o.Comparison == nil || len(o.Comparison.Resources) == 0 {
		return nil
	}
	says := explain.LowerRequests{}
	r := remedy{shape: "lowerRequests", disturbance: ofPod, cost: costOfCut}
	for _, c := range o.Comparison.Resources {
		if c.Name == string(v1.ResourcePods) {
			return nil // Every pod counts as one.
		}
		to := roundDown(c.Name, max(c.Allocatable-c.InUse, 0))
		part := float64(c.Requested-to) / float64(c.Requested)
		if r.cost += 80 * part; part > 0.5 {
			r.disturbance = drastic
		}
		r.shape += " " + c.Name
		r.detail += fmt.Sprint(" ", to)
		says.Requests = append(says.Requests, explain.RequestCut{Resource: c.Name, From: c.Requested, To: to})
	}
	r.says = says
	r.pod = func(s *v1.PodSpec) {
		for _, cut := range says.Requests {
			lowerRequest(s, v1.ResourceName(cut.Resource), cut.To)
		}
	}
	return []cure{{r}}
}

// roundDown returns an amount that the API server takes, and that reads well.
func roundDown(name string, to int64) int64 {
	unit := int64(1)
	if size, huge := strings.CutPrefix(name, v1.ResourceHugePagesPrefix); huge {
		if page, err := resource.ParseQuantity(size); err == nil && page.Value() > 0 {
			unit = page.Value()
		}
	} else if to >= mebibyte && (name == string(v1.ResourceMemory) || name == string(v1.ResourceEphemeralStorage)) {
		unit = mebibyte
	}
	return to - to%unit
}

func cureSpread(pod *v1.Pod, _ *v1.Node, o whatif.Obstacle) []cure {
	if o.Comparison == nil || len(o.Comparison.Spread) == 0 {
		return nil
	}
	c := o.Comparison.Spread[0]
	if !spreads(&pod.Spec, c) {
		return nil
	}
	if c.Domain == nil {
		return []cure{{{
			says: explain.PreferSpread{TopologyKey: c.TopologyKey}, shape: "preferSpread " + c.TopologyKey, disturbance: ofPod, cost: costOfPodTerm,
			pod: func(s *v1.PodSpec) { preferSpread(s, c) },
		}}}
	}
	to := c.Matching + c.Self - c.Minimum
	return []cure{{{
		says: explain.RaiseMaxSkew{TopologyKey: c.TopologyKey, From: c.MaxSkew, To: to}, shape: "raiseMaxSkew " + c.TopologyKey,
		detail: fmt.Sprint(c.MaxSkew, to), disturbance: ofPod, cost: costOfSkew + 5*float64(to-c.MaxSkew), pod: func(s *v1.PodSpec) { raiseMaxSkew(s, c, to) },
	}}}
}

func curePodAffinity(pod *v1.Pod, _ *v1.Node, o whatif.Obstacle) []cure {
	if o.Comparison == nil || len(o.Comparison.PodTerms) == 0 || o.Comparison.PodTerms[0].Rule == "existingAntiAffinity" {
		return nil // Other pods' terms are not the pod's to change.
	}
	terms := o.Comparison.PodTerms
	says := explain.DropPodTerms{Anti: terms[0].Rule == "antiAffinity"}
	for _, t := range terms {
		says.Terms = append(says.Terms, explain.PodTerm{TopologyKey: t.TopologyKey, Selector: t.Selector})
	}
	cost := costOfPodTerm * float64(len(terms))
	if says.Anti {
		cost += 5
	}
	return []cure{{{
		says: says, shape: fmt.Sprint("dropPodTerms ", says), disturbance: ofPod, cost: cost,
		pod: func(s *v1.PodSpec) { dropPodTerms(s, says.Anti, terms) },
	}}}
}
