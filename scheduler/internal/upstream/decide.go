package upstream

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Decider is a scheduler that never runs, and decides only on request. Call its methods from one
// goroutine at a time.
type Decider struct {
	*scheduler.Scheduler
	snapshot   *internalcache.Snapshot
	unobserved func(context.Context, framework.Framework, fwk.CycleState, *framework.QueuedPodInfo) (scheduler.ScheduleResult, error)
	// group is nil but during DecideGroup.
	group *groupTurn
}

// BuildDecider builds a scheduler like Build, but nothing of it runs in the background, so it does
// not set the process-wide metrics of a cache's size.
func BuildDecider(ctx context.Context, parts Parts, observer Observer) (*Decider, error) {
	parts.passive = true
	sched, snapshot, err := parts.observed(ctx, observer)
	if err != nil {
		return nil, err
	}
	d := &Decider{Scheduler: sched, snapshot: snapshot, unobserved: sched.SchedulePod}
	sched.NextEntity, sched.FailureHandler = d.nextGroup, d.endMember
	observer.Attach(sched, d.Nodes)
	return d, nil
}

// cancelled returns a context that has ended and has no logger. It ends a scheduler's background
// parts at once, which some would log. Other parts do not notice.
func cancelled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	cancel()
	return ctx
}

// Nodes returns the nodes of the snapshot, in the order of the scheduler.
func (d *Decider) Nodes() []fwk.NodeInfo { return nodesOf(d.snapshot) }

func nodesOf(snapshot *internalcache.Snapshot) []fwk.NodeInfo {
	nodes, _ := snapshot.NodeInfos().List() // listing a snapshot does not fail
	return nodes
}

// Node returns a node of the snapshot, or nil.
func (d *Decider) Node(name string) fwk.NodeInfo {
	node, err := d.snapshot.NodeInfos().Get(name)
	if err != nil {
		return nil
	}
	return node
}

// Update brings the snapshot up to date with the cache. It copies only changes.
func (d *Decider) Update(ctx context.Context) error {
	return d.Cache.UpdateSnapshot(klog.FromContext(ctx), d.snapshot)
}

type Decision struct {
	// Node is the selected node. If it is empty, Status says why.
	Node   string
	Status *fwk.Status
	// Nominating is PostFilter's answer. It may be nil.
	Nominating *fwk.NominatingInfo
}

// Decide decides about one pod on the present snapshot, up to the selection of a node or, if none
// fits, PostFilter, as schedulingAlgorithm in Kubernetes' pkg/scheduler does. f is one of Profiles.
func (d *Decider) Decide(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) Decision {
	res, err := d.SchedulePod(ctx, f, state, pod)
	var unfit *framework.FitError
	switch {
	case err == nil:
		return Decision{Node: res.SuggestedHost}
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		return Decision{Status: fwk.NewStatus(fwk.UnschedulableAndUnresolvable).WithError(err)}
	case !errors.As(err, &unfit):
		return Decision{Status: fwk.AsStatus(err)}
	}
	out := Decision{}
	if f.HasPostFilterPlugins() {
		res, status := f.RunPostFilterPlugins(ctx, state, pod.Pod, unfit.Diagnosis.NodeToStatus)
		unfit.Diagnosis.PostFilterMsg = status.Message()
		if res != nil {
			out.Nominating = res.NominatingInfo
		}
	}
	out.Status = fwk.NewStatus(fwk.Unschedulable).WithError(err)
	return out
}

// Choose is Decide without the observer and without PostFilter. It returns no node if none
// fits.
func (d *Decider) Choose(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (string, error) {
	res, err := d.unobserved(ctx, f, state, pod)
	var unfit *framework.FitError
	if errors.As(err, &unfit) || errors.Is(err, scheduler.ErrNoNodesAvailable) {
		return "", nil
	}
	return res.SuggestedHost, err
}

// NewPodInfo returns a pod as the queue would hand it out.
func NewPodInfo(pod *v1.Pod) (*framework.QueuedPodInfo, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, err
	}
	return &framework.QueuedPodInfo{PodInfo: info}, nil
}
