package virtualnode

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	quota "k8s.io/apiserver/pkg/quota/v1"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Holding is what a container holds alone on a node, as in AnnotationZonePlacement.
type Holding struct {
	// Pod is namespace/name.
	Pod       string    `json:"pod"`
	UID       types.UID `json:"uid"`
	Container string    `json:"container"`
	// Zones has what it holds of each zone, by name. A container that nothing fits may hold
	// less than it asks for.
	Zones map[string]corev1.ResourceList `json:"zones"`
}

// wish is what goes to one zone together: a container or, at pod scope, a pod.
type wish struct {
	holdings []Holding
	// amounts has what each holding should hold.
	amounts []corev1.ResourceList
}

// settle takes what pods hold alone from the available resources of t, on which nothing runs
// yet, and says what they hold. before is what they held: it stays in its zones.
//
// A container, or at pod scope a pod, goes to the first zone that has everything. If none has,
// it takes what there is from all zones in their order. A kubelet with the policy
// single-numa-node would refuse it, but here it is the scheduler's part to prevent that.
func settle(t *v1alpha2.NodeResourceTopology, pods []*corev1.Pod, before []Holding) []Holding {
	free := freeOf(t)
	var waiting []*wish
	var settled []*wish
	for _, pod := range pods {
		if isFinished(pod) {
			continue
		}
		for _, w := range wishesOf(t, pod) {
			settled = append(settled, w)
			if !w.stay(free, before) {
				waiting = append(waiting, w)
			}
		}
	}
	for _, w := range waiting {
		w.choose(t, free)
	}
	for i := range t.Zones {
		for j := range t.Zones[i].Resources {
			r := &t.Zones[i].Resources[j]
			r.Available = free[t.Zones[i].Name][corev1.ResourceName(r.Name)]
		}
	}
	out := []Holding{}
	for _, w := range settled {
		out = append(out, w.holdings...)
	}
	return out
}

func isFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

type room map[string]corev1.ResourceList

func freeOf(t *v1alpha2.NodeResourceTopology) room {
	free := room{}
	for i := range t.Zones {
		free[t.Zones[i].Name] = corev1.ResourceList{}
		for _, r := range t.Zones[i].Resources {
			free[t.Zones[i].Name][corev1.ResourceName(r.Name)] = r.Available.DeepCopy()
		}
	}
	return free
}

func (r room) has(zone string, amounts corev1.ResourceList) bool {
	for name, amount := range amounts {
		if left, listed := r[zone][name]; !listed || left.Cmp(amount) < 0 {
			return false
		}
	}
	return true
}

func (r room) take(zone string, amounts corev1.ResourceList) {
	for name, amount := range amounts {
		left := r[zone][name].DeepCopy()
		left.Sub(amount)
		r[zone][name] = left
	}
}

func wishesOf(t *v1alpha2.NodeResourceTopology, pod *corev1.Pod) []*wish {
	var all []*wish
	together := t.Attribute(v1alpha2.AttributeScope) == v1alpha2.ScopePod
	for c := range v1alpha2.Lasting(pod) {
		amounts := corev1.ResourceList{}
		for name, amount := range t.Exclusive(pod, c) {
			if t.Lists(name) {
				amounts[name] = amount
			}
		}
		if len(amounts) == 0 {
			continue
		}
		if len(all) == 0 || !together {
			all = append(all, &wish{})
		}
		w := all[len(all)-1]
		w.holdings = append(w.holdings, Holding{Pod: keyOf(pod), UID: pod.UID, Container: c.Name})
		w.amounts = append(w.amounts, amounts)
	}
	return all
}

// stay gives the containers what they held before. It reports false if they held something
// else, or if that has gone.
func (w *wish) stay(free room, before []Holding) bool {
	found := make([]Holding, len(w.holdings))
	left := room{}
	for zone, amounts := range free {
		left[zone] = maps.Clone(amounts)
	}
	for i, h := range w.holdings {
		at := slices.IndexFunc(before, func(b Holding) bool { return b.UID == h.UID && b.Container == h.Container })
		if at < 0 || !holdsAll(before[at], w.amounts[i]) {
			return false
		}
		for zone, amounts := range before[at].Zones {
			if !left.has(zone, amounts) {
				return false
			}
			left.take(zone, amounts)
		}
		found[i] = before[at]
	}
	copy(w.holdings, found)
	maps.Copy(free, left)
	return true
}

func holdsAll(h Holding, amounts corev1.ResourceList) bool {
	sum := corev1.ResourceList{}
	for _, part := range h.Zones {
		sum = quota.Add(sum, part)
	}
	return quota.Equals(sum, amounts)
}

func (w *wish) choose(t *v1alpha2.NodeResourceTopology, free room) {
	whole := corev1.ResourceList{}
	for _, amounts := range w.amounts {
		whole = quota.Add(whole, amounts)
	}
	for i := range t.Zones {
		zone := t.Zones[i].Name
		if !free.has(zone, whole) {
			continue
		}
		free.take(zone, whole)
		for j := range w.holdings {
			w.holdings[j].Zones = map[string]corev1.ResourceList{zone: w.amounts[j]}
		}
		return
	}
	for j := range w.holdings {
		w.holdings[j].Zones = spread(t, free, w.amounts[j])
	}
}

func spread(t *v1alpha2.NodeResourceTopology, free room, amounts corev1.ResourceList) map[string]corev1.ResourceList {
	out := map[string]corev1.ResourceList{}
	for name, rest := range amounts {
		for i := range t.Zones {
			zone := t.Zones[i].Name
			part := free[zone][name].DeepCopy()
			if part.Cmp(rest) > 0 {
				part = rest.DeepCopy()
			}
			if part.Sign() <= 0 {
				continue
			}
			if out[zone] == nil {
				out[zone] = corev1.ResourceList{}
			}
			out[zone][name] = part
			free.take(zone, corev1.ResourceList{name: part})
			rest.Sub(part)
		}
	}
	return out
}

// reportPods writes which pods the node knows, and in which zone their containers are, as an
// agent does: of pods that have started, including those that have finished, because kubelets
// list them, too. It is what the plugin's cache compares.
func reportPods(t *v1alpha2.NodeResourceTopology, pods []*corev1.Pod, holdings []Holding) {
	var known []*corev1.Pod
	zones := map[v1alpha2.ContainerID]int{}
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodPending || pod.Status.Phase == "" {
			continue
		}
		known = append(known, pod)
		for _, id := range t.ExclusiveContainers(pod) {
			zones[id] = zoneOf(t, holdings, pod.UID, id.Container)
		}
	}
	t.Attributes = append(t.Attributes,
		v1alpha2.Attribute{Name: v1alpha2.AttributeFingerprint, Value: v1alpha2.FingerprintOf(known)},
		v1alpha2.Attribute{Name: v1alpha2.AttributeFingerprintMethod, Value: v1alpha2.MethodAll})
	t.SetPlacement(zones)
}

// zoneOf returns the first zone of which a container holds anything, or else the first of all.
func zoneOf(t *v1alpha2.NodeResourceTopology, holdings []Holding, uid types.UID, container string) int {
	at := slices.IndexFunc(holdings, func(h Holding) bool { return h.UID == uid && h.Container == container })
	if at < 0 {
		return 0
	}
	return max(0, slices.IndexFunc(t.Zones, func(z v1alpha2.Zone) bool { return len(holdings[at].Zones[z.Name]) > 0 }))
}

// holdingsOf reads what a published topology says. It says nothing if a user has changed it
// for the worse.
func holdingsOf(t *v1alpha2.NodeResourceTopology) []Holding {
	var all []Holding
	if t == nil || json.Unmarshal([]byte(t.Annotations[objects.AnnotationZonePlacement]), &all) != nil {
		return nil
	}
	return all
}

func sortedNames(amounts corev1.ResourceList) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(amounts))
}
