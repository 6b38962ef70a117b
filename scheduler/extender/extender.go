// Package extender records the calls to scheduler extenders. A stand-in replaces each of
// Kubernetes' HTTP extenders. It passes its arguments on, returns the extender's answer, with the
// same slices, maps and errors, and records both.
//
// A call that panics, because Kubernetes' client cannot handle the extender's answer, returns an
// error instead.
//
// It reports to its own Recorder interface, and does not know package recorder. It may import the
// scheduler's configuration and extender API, internal/upstream, scheduler/guard and
// scheduler/result.
package extender

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/guard"
	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
)

// Recorder receives the calls that the stand-ins record. Its methods run on the scheduler's
// goroutines: the scheduling goroutine for filter and preempt, one goroutine per extender for
// prioritize, and that of the binding cycle for bind. place is the extender's index in the
// scheduler's list. The arguments belong to the scheduler: implementations must not change them,
// and may keep only the call.
type Recorder interface {
	Now() time.Time
	// OfferedToExtender receives the nodes that remain at the extender's turn to filter, even
	// without a filter verb.
	OfferedToExtender(place int, pod *v1.Pod, nodes []fwk.NodeInfo)
	// ExtenderCalled receives a call that has returned with err.
	ExtenderCalled(place int, pod *v1.Pod, call result.ExtenderCall, err error)
	// ExtenderSkipped is called when an extender is not interested in the pod,
	// possibly several times per pod.
	ExtenderSkipped(place int, pod *v1.Pod, call result.ExtenderCall)
	// ExtenderScored receives the scores of an extender and its configured weight.
	ExtenderScored(place int, name string, pod *v1.Pod, answer extenderv1.HostPriorityList, weight int64)
	// ExtenderPreempted receives the candidates for preemption that an extender was
	// sent, and its answer.
	ExtenderPreempted(name string, ignorable bool, pod *v1.Pod, sent, answer map[string]*extenderv1.Victims)
	// ExtenderPanicked receives the panic of a call, before ExtenderCalled receives its
	// error.
	ExtenderPanicked(caught *guard.Panic, pod *v1.Pod)
}

// Wrap returns stand-ins for the extenders that Kubernetes created from configured.
func Wrap(extenders []fwk.Extender, configured []config.Extender, to Recorder) ([]fwk.Extender, error) {
	configured = upstream.ExtenderOrder(configured)
	if len(extenders) != len(configured) {
		return nil, fmt.Errorf("recording extenders: the scheduler has %d, the configuration %d", len(extenders), len(configured))
	}
	var out []fwk.Extender
	for place, e := range extenders {
		if e.Name() != configured[place].URLPrefix {
			return nil, fmt.Errorf("recording extenders: the scheduler has %q where the configuration has %q", e.Name(), configured[place].URLPrefix)
		}
		e = guard.New(e.Name(), to.ExtenderPanicked).Extender(e)
		out = append(out, &recording{inner: e, place: place, whole: !configured[place].NodeCacheCapable, to: to})
	}
	return out, nil
}

// inner is unexported, so that the scheduler's log shows no more of the stand-in than of the
// extender.
type inner = fwk.Extender

// recording stands in for one extender.
type recording struct {
	inner
	place int
	// whole: the extender gets whole nodes and victims, not names.
	whole bool
	to    Recorder
}

var _ fwk.Extender = (*recording)(nil)

const notInterested = "the pod requests none of the resources that the extender manages"

// IsInterested is called before each other call.
func (e *recording) IsInterested(pod *v1.Pod) bool {
	interested := e.inner.IsInterested(pod)
	if !interested {
		e.to.ExtenderSkipped(e.place, pod, result.ExtenderCall{Plugin: e.Name(), Status: fwk.Skip.String(), Reasons: []string{notInterested}})
	}
	return interested
}

// Filter is called for one extender after the other, even for those without that verb.
func (e *recording) Filter(pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	e.to.OfferedToExtender(e.place, pod, nodes)
	if !e.IsFilter() {
		return e.inner.Filter(pod, nodes)
	}
	start := e.to.Now()
	kept, failed, unresolvable, err := e.inner.Filter(pod, nodes)
	call := e.call(result.ExtenderFilter, start, len(nodes), err)
	call.request(nodesRequest(pod, nodes, e.whole))
	if err == nil {
		call.response(filterResponse(kept, failed, unresolvable, e.whole))
		call.reject(nodes, kept, failed, unresolvable)
	}
	e.to.ExtenderCalled(e.place, pod, call.ExtenderCall, err)
	return kept, failed, unresolvable, err
}

// Prioritize is called for all extenders at once. The scheduler ignores an extender
// that fails.
func (e *recording) Prioritize(pod *v1.Pod, nodes []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	if !e.IsPrioritizer() {
		return e.inner.Prioritize(pod, nodes)
	}
	start := e.to.Now()
	answer, weight, err := e.inner.Prioritize(pod, nodes)
	call := e.call(result.ExtenderPrioritize, start, len(nodes), err)
	call.Ignored = err != nil
	call.request(nodesRequest(pod, nodes, e.whole))
	if err == nil {
		call.response(prioritizeResponse(*answer))
		e.to.ExtenderScored(e.place, e.Name(), pod, *answer, weight)
	}
	e.to.ExtenderCalled(e.place, pod, call.ExtenderCall, err)
	return answer, weight, err
}

// ProcessPreemption is called for one extender after the other, with the remaining
// candidates.
func (e *recording) ProcessPreemption(pod *v1.Pod, candidates map[string]*extenderv1.Victims, nodes fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	start := e.to.Now()
	answer, err := e.inner.ProcessPreemption(pod, candidates, nodes)
	unusable := err
	if err == nil && !e.IsIgnorable() {
		unusable = upstream.VictimlessNode(answer)
	}
	call := e.call(result.ExtenderPreempt, start, len(candidates), unusable)
	call.Ignored = err != nil && e.IsIgnorable()
	call.request(preemptRequest(pod, candidates, e.whole))
	if err == nil {
		call.response(preemptResponse(answer))
		e.to.ExtenderPreempted(e.Name(), e.IsIgnorable(), pod, candidates, answer)
	}
	e.to.ExtenderCalled(e.place, pod, call.ExtenderCall, err)
	return answer, err
}

// Bind is called in a binding cycle, for the first extender that binds.
func (e *recording) Bind(binding *v1.Binding) error {
	start := e.to.Now()
	err := e.inner.Bind(binding)
	call := e.call(result.ExtenderBind, start, 1, err)
	call.Ignored = err != nil && e.IsIgnorable()
	call.request(bindRequest(binding))
	if err == nil {
		call.response(bindResponse())
	}
	e.to.ExtenderCalled(e.place, &v1.Pod{ObjectMeta: binding.ObjectMeta}, call.ExtenderCall, err)
	return err
}

type call struct{ result.ExtenderCall }

func (e *recording) call(verb result.ExtenderVerb, start time.Time, nodes int, err error) *call {
	c := &call{result.ExtenderCall{
		Plugin: e.Name(), Verb: verb, Status: fwk.Success.String(), Nodes: nodes,
		DurationSeconds: e.to.Now().Sub(start).Seconds(),
		WholeNodes:      e.whole && verb != result.ExtenderBind,
	}}
	if err != nil {
		c.Status, c.Reasons = fwk.Error.String(), []string{err.Error()}
	}
	return c
}

func (c *call) request(text string, cut bool) {
	c.Request, c.Cut = text, c.Cut || cut
}

func (c *call) response(text string, cut bool) {
	c.Response, c.Cut = text, c.Cut || cut
}

// reject records the nodes that the extender did not keep. As in the scheduler, a node in both maps
// counts as unresolvable, and a kept node as kept even if it is in a map.
func (c *call) reject(nodes, kept []fwk.NodeInfo, failed, unresolvable extenderv1.FailedNodesMap) {
	left := make(map[string]bool, len(kept))
	for _, n := range kept {
		left[n.Node().Name] = true
	}
	var b result.ExtenderRejectionsBuilder
	for _, n := range nodes {
		name := n.Node().Name
		if left[name] {
			continue
		}
		reason := result.ExtenderReason{Reason: failed[name]}
		if message, ok := unresolvable[name]; ok {
			reason = result.ExtenderReason{Reason: message, Unresolvable: true}
		}
		b.Add(name, reason)
	}
	rejected, cut := b.Rejections()
	c.Rejected, c.Cut = rejected, c.Cut || cut
}
