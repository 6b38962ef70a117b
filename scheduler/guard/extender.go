package guard

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// Extender returns e with its calls guarded. Kubernetes' client of an extender panics
// on some answers, for example on a preemption's null for a node; such a call returns an
// error, as it does for an answer that is not JSON.
func (g *Guard) Extender(e fwk.Extender) fwk.Extender { return &extender{e, g} }

type extender struct {
	fwk.Extender
	g *Guard
}

// failed is Guard.Err for a call of the extender. Defer it.
func (e *extender) failed(call string, pod *v1.Pod, err *error) {
	if value := recover(); value != nil {
		*err = fmt.Errorf("the extender's answer cannot be used: %w", e.g.caught(call, pod, value))
	}
}

func (e *extender) Filter(pod *v1.Pod, nodes []fwk.NodeInfo) (kept []fwk.NodeInfo, failed, unresolvable extenderv1.FailedNodesMap, err error) {
	defer e.failed("Filter", pod, &err)
	return e.Extender.Filter(pod, nodes)
}

func (e *extender) Prioritize(pod *v1.Pod, nodes []fwk.NodeInfo) (_ *extenderv1.HostPriorityList, _ int64, err error) {
	defer e.failed("Prioritize", pod, &err)
	return e.Extender.Prioritize(pod, nodes)
}

func (e *extender) ProcessPreemption(pod *v1.Pod, candidates map[string]*extenderv1.Victims, nodes fwk.NodeInfoLister) (_ map[string]*extenderv1.Victims, err error) {
	defer e.failed("ProcessPreemption", pod, &err)
	return e.Extender.ProcessPreemption(pod, candidates, nodes)
}

func (e *extender) Bind(binding *v1.Binding) (err error) {
	defer e.failed("Bind", &v1.Pod{ObjectMeta: binding.ObjectMeta}, &err)
	return e.Extender.Bind(binding)
}
