package descheduler

import (
	"context"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	podutil "sigs.k8s.io/descheduler/pkg/descheduler/pod"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/nodeutilization"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/removeduplicates"
	spread "sigs.k8s.io/descheduler/pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"
)

// Four plugins leave something to the order of Go's maps, which is random. Here each has an order that it might have had by chance:
//
//   - RemoveDuplicates evicts the duplicates of one owner and node after those of another. They are held, and asked for by owner and node.
//   - RemovePodsViolatingTopologySpreadConstraint evicts what it has chosen in any order. That is held, too, and asked for by namespace and name.
//     What it chooses depends on chance where domains are of one size: it is asked a few times, and the first choice in order is taken.
//   - LowNodeUtilization and HighNodeUtilization take nodes of the same usage in any order. They see pods that ask for a few bytes less, so that no
//     two nodes are the same.

type filterFunc = podutil.FilterFunc

// held is an eviction that a plugin asked for, and that is made later.
type held struct {
	pod     *v1.Pod
	options evictions.EvictOptions
}

// choices is how often a plugin is asked that chooses by chance.
const choices = 8

// ordered builds a plugin, and puts it in order.
func (r *run) ordered(ctx context.Context, name string, args runtime.Object, h handle, e *evictor, build pluginregistry.PluginBuilder) (frameworktypes.Plugin, error) {
	switch name {
	case nodeutilization.LowNodeUtilizationPluginName, nodeutilization.HighNodeUtilizationPluginName:
		h.onNode = r.view.distinct
		return build(ctx, args, h)
	case removeduplicates.PluginName, spread.PluginName:
		e.unfiltered = name == spread.PluginName
		plugin, err := build(ctx, args, h)
		if err != nil {
			return nil, err
		}
		return &inOrder{BalancePlugin: plugin.(frameworktypes.BalancePlugin), evictor: e}, nil
	}
	return build(ctx, args, h)
}

func (h handle) GetPodsAssignedToNodeFunc() podutil.GetPodsAssignedToNodeFunc {
	return func(node string, filter podutil.FilterFunc) ([]*v1.Pod, error) { return h.onNode(node, filter) }
}

// PreEvictionFilter lets every pod pass of a plugin that asks while it evicts: it is asked when the eviction is made.
func (e *evictor) PreEvictionFilter(pod *v1.Pod) bool {
	return e.held != nil && e.unfiltered || e.Evictor.PreEvictionFilter(pod)
}

// inOrder is a plugin whose evictions are made in an order of their own.
type inOrder struct {
	frameworktypes.BalancePlugin
	evictor *evictor
}

func (p *inOrder) Balance(ctx context.Context, nodes []*v1.Node) *frameworktypes.Status {
	tries := 1
	if p.evictor.unfiltered {
		tries = choices
	}
	var chosen []held
	first, same := "", true
	for i := range tries {
		var all []held
		p.evictor.held = &all
		status := p.BalancePlugin.Balance(ctx, nodes)
		p.evictor.held = nil
		if status != nil && status.Err != nil {
			return status
		}
		slices.SortStableFunc(all, func(a, b held) int { return strings.Compare(p.rank(a.pod), p.rank(b.pod)) })
		names := ""
		for _, one := range all {
			names += one.pod.Namespace + "/" + one.pod.Name + "\n"
		}
		same = same && (i == 0 || names == first)
		if i == 0 || names < first {
			chosen, first = all, names
		}
	}
	if !same {
		p.evictor.run.chance(p.Name())
	}
	return p.evict(ctx, chosen)
}

// rank orders evictions. Those of one rank stay in the plugin's order.
func (p *inOrder) rank(pod *v1.Pod) string {
	if p.evictor.unfiltered {
		return pod.Namespace + "/" + pod.Name
	}
	owner := metav1.OwnerReference{}
	if len(pod.OwnerReferences) > 0 {
		owner = pod.OwnerReferences[0]
	}
	return strings.Join([]string{pod.Namespace, owner.Kind, owner.Name, pod.Spec.NodeName}, "/")
}

// evict asks for evictions, and ends where the plugins themselves end.
func (p *inOrder) evict(ctx context.Context, all []held) *frameworktypes.Status {
	full := map[string]bool{}
	asked := map[*v1.Pod]bool{}
	for _, one := range all {
		if full[one.pod.Spec.NodeName] || asked[one.pod] {
			continue
		}
		asked[one.pod] = true
		if p.evictor.unfiltered && !(p.evictor.Filter(one.pod) && p.evictor.PreEvictionFilter(one.pod)) {
			continue
		}
		switch p.evictor.Evict(ctx, one.pod, one.options).(type) {
		case *evictions.EvictionNodeLimitError:
			full[one.pod.Spec.NodeName] = true
		case *evictions.EvictionTotalLimitError:
			return nil
		}
	}
	return nil
}

func (r *run) chance(plugin string) {
	if !slices.Contains(r.report.Chance, plugin) {
		r.report.Chance = append(r.report.Chance, plugin)
	}
}

// distinct returns the pods of a node such that no two nodes have the same sum of requests: one pod asks for some bytes less. A node without a
// request of memory is left as it is.
func (v *view) distinct(node string, filter filterFunc) ([]*v1.Pod, error) {
	all, err := v.onNode(node, filter)
	if err != nil {
		return nil, err
	}
	less := int64(1 + slices.IndexFunc(v.cluster.Nodes(), func(n *v1.Node) bool { return n.Name == node }))
	for i, p := range all {
		for j, c := range p.Spec.Containers {
			request, has := c.Resources.Requests[v1.ResourceMemory]
			if !has || request.Value() <= less {
				continue
			}
			p = p.DeepCopy()
			for _, list := range []v1.ResourceList{p.Spec.Containers[j].Resources.Requests, p.Spec.Containers[j].Resources.Limits} {
				if of, is := list[v1.ResourceMemory]; is && of.Cmp(request) == 0 {
					list[v1.ResourceMemory] = *resource.NewQuantity(request.Value()-less, resource.BinarySI)
				}
			}
			all[i] = p
			return all, nil
		}
	}
	return all, nil
}
