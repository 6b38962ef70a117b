package comparison

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/podrequest"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
)

var (
	_ recorder.Tracer  = (*resources)(nil)
	_ recorder.Counter = (*resources)(nil)
)

func (*resources) CountsNominated() {}

func (c *resources) Trace(node fwk.NodeInfo, found *result.Comparison) {
	own := c.own(node)
	for i := range found.Resources {
		r := &found.Resources[i]
		// InUse leaves out what a pod that waits for a resize holds on its own node.
		r.Use = c.useOf(node, r, own)
	}
}

func (c *resources) useOf(node fwk.NodeInfo, of *result.ResourceComparison, own fwk.Resource) *result.ResourceUse {
	out, name := &result.ResourceUse{}, v1.ResourceName(of.Name)
	var kept []held
	for _, on := range node.GetPods() {
		pod := on.GetPod()
		amount := heldBy(on, name)
		h := held{pod: pod, amount: amount, nominated: pod.Spec.NodeName == ""}
		h.permit = !h.nominated && c.waits(pod)
		if name != v1.ResourcePods && !h.nominated {
			h.resize = podrequest.ResizeOf(pod, name, amount)
		}
		out.Described += described(h, name)
		if own != nothing && pod.UID == c.pod.UID && name != v1.ResourcePods {
			amount -= min(amountOf(own, name), of.Requested)
			h.amount = amount
		}
		if amount == 0 {
			continue // A resize can make it hold nothing and ask for some.
		}
		if pod.DeletionTimestamp != nil {
			out.Terminating += amount
			out.TerminatingPods++
		}
		if h.nominated {
			out.Nominated += amount
			out.NominatedPods++
		}
		if h.permit {
			out.Permit += amount
			out.PermitPods++
		}
		if len(kept) < result.MaxHolders {
			kept = append(kept, h)
			continue
		}
		last := slices.MaxFunc(kept, held.compare)
		if h.compare(last) >= 0 {
			out.Others, out.OthersAmount = out.Others+1, out.OthersAmount+amount
			continue
		}
		out.Others, out.OthersAmount = out.Others+1, out.OthersAmount+last.amount
		kept[slices.IndexFunc(kept, func(k held) bool { return k.pod == last.pod })] = h
	}
	if len(kept) == 0 {
		return nil
	}
	slices.SortFunc(kept, held.compare)
	out.Pods = make([]result.ResourceHolder, len(kept))
	for i, h := range kept {
		out.Pods[i] = h.holder(name)
	}
	return out
}

type held struct {
	pod               *v1.Pod
	amount            int64
	nominated, permit bool
	resize            *result.Resize
}

// special reports whether the pod does not simply hold what it requests on its node.
func (h held) special() bool {
	return h.nominated || h.permit || h.resize != nil || h.pod.DeletionTimestamp != nil
}

// compare orders special pods first, then by amount, the largest first, and by name.
func (h held) compare(other held) int {
	if a, b := h.special(), other.special(); a != b {
		if a {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(other.amount, h.amount), strings.Compare(h.pod.Namespace, other.pod.Namespace), strings.Compare(h.pod.Name, other.pod.Name))
}

func (h held) holder(name v1.ResourceName) result.ResourceHolder {
	out := result.ResourceHolder{
		Pod:    result.Pod{Namespace: h.pod.Namespace, Name: h.pod.Name, UID: h.pod.UID},
		Amount: h.amount, Nominated: h.nominated, Permit: h.permit, Resize: h.resize,
	}
	if until := h.pod.DeletionTimestamp; until != nil {
		out.Terminating = true
		at := until.Time.In(time.UTC)
		out.Until = &at
	}
	if name != v1.ResourcePods && !podrequest.Plain(h.pod) {
		// It is another amount if what was granted counts.
		if request := podrequest.Of(h.pod, name); request.Amount == h.amount && !simple(request) {
			out.Request = &request
		}
	}
	return out
}

func simple(r result.PodRequest) bool {
	return r.PodLevel == nil && r.Overhead == 0 && r.Init == "" && len(r.Parts) < 2
}

// described returns what kubectl describe node adds up for a pod: what its spec asks for, if it is
// bound to the node.
func described(h held, name v1.ResourceName) int64 {
	switch {
	case h.nominated, h.permit:
		return 0
	case name == v1.ResourcePods:
		return 1
	case h.resize != nil:
		return h.resize.Asked
	}
	return h.amount
}

// heldBy returns what the scheduler counts for a pod on a node.
func heldBy(on fwk.PodInfo, name v1.ResourceName) int64 {
	if name == v1.ResourcePods {
		return 1
	}
	return amountOf(on.CalculateResource().Resource, name)
}

// defaultsOf returns what the scores count of a resource on a node although no pod requests it, nil
// if nothing.
func defaultsOf(node fwk.NodeInfo, name v1.ResourceName) *result.ScoreDefaults {
	counted, requested := amountOf(node.GetNonZeroRequested(), name), amountOf(node.GetRequested(), name)
	if counted == requested {
		return nil
	}
	type pod struct {
		of         *v1.Pod
		containers int
	}
	out := &result.ScoreDefaults{Amount: counted - requested}
	var pods []pod
	for _, on := range node.GetPods() {
		r := on.CalculateResource()
		scored := r.Non0CPU
		if name == v1.ResourceMemory {
			scored = r.Non0Mem
		}
		amount := amountOf(r.Resource, name)
		h := held{pod: on.GetPod(), amount: amount}
		h.resize = podrequest.ResizeOf(h.pod, name, amount)
		out.Described += described(h, name)
		if scored == amount {
			continue
		}
		p := pod{of: h.pod}
		for _, part := range podrequest.Scored(h.pod, name).Parts {
			if part.Default {
				p.containers++
			}
		}
		out.Containers += p.containers
		pods = append(pods, p)
	}
	slices.SortFunc(pods, func(a, b pod) int {
		return cmp.Or(cmp.Compare(b.containers, a.containers), strings.Compare(a.of.Namespace, b.of.Namespace), strings.Compare(a.of.Name, b.of.Name))
	})
	out.PodsDropped = max(len(pods)-result.MaxHolders, 0)
	out.Pods = make([]result.Pod, len(pods)-out.PodsDropped)
	for i := range out.Pods {
		out.Pods[i] = result.Pod{Namespace: pods[i].of.Namespace, Name: pods[i].of.Name, UID: pods[i].of.UID}
	}
	return out
}

// Requests derives the pod's requests that are not 0 from its spec; nil if each is its only
// container's.
func (InTree) Requests(pod *v1.Pod) []result.PodRequest {
	if podrequest.Plain(pod) {
		return nil
	}
	var out []result.PodRequest
	for _, name := range namesOf(pod) {
		if r := podrequest.Of(pod, name); r.Amount > 0 && !simple(r) {
			out = append(out, r)
		}
	}
	return out
}

func namesOf(pod *v1.Pod) []v1.ResourceName {
	var out []v1.ResourceName
	add := func(list v1.ResourceList) {
		for name := range list {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	add(pod.Spec.Overhead)
	if pod.Spec.Resources != nil {
		add(pod.Spec.Resources.Requests)
	}
	for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			add(list[i].Resources.Requests)
		}
	}
	slices.Sort(out)
	return out
}
