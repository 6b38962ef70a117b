// Package coscheduling provides the scheduler plugin Coscheduling. It places the pods of a PodGroup
// of scheduling.x-k8s.io/v1alpha1 together: a pod that has a place waits at Permit until as many
// members of its group have one as the group needs.
//
// It behaves like the plugin of that name in kubernetes-sigs/scheduler-plugins at the commit
// 903da7d, from its documented behaviour: the order of the queue, what it refuses and in which
// words, when it rejects waiting pods, and when it drops its state. Two things differ: it reads a
// group that its informer does not know yet from the API server, and it records facts.
//
// A controller keeps the status of a PodGroup. The package may import the scheduling framework,
// scheduler/customresource, scheduler/pluginfact, scheduler/result for the keys of facts, and
// scheduler/plugins/argument.
package coscheduling

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/customresource"
	"kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
)

const Name = "Coscheduling"

// Plugin is a profile's instance. What it remembers lives in memory.
type Plugin struct {
	args   *Arguments
	handle fwk.Handle
	groups *customresource.Objects[v1alpha1.PodGroup, *v1alpha1.PodGroup]
	pods   cache.Indexer
	now    func() time.Time
	// hypothetical: see customresource.Hypothetical.
	hypothetical bool

	mu sync.Mutex
	// known is what the plugin remembers of each group, by its key. An entry outlives its group,
	// because users see its effects on a recreated group. When there are too many, the plugin
	// forgets those of which nothing is left.
	known map[string]*memory
	most  int
	// waiting holds the cycle's state of each pod that waits at Permit.
	waiting map[types.UID]fwk.CycleState
}

type memory struct {
	// assigned names the pods that the plugin considers placed. A name stays until Unreserve, or
	// until the pod is deleted with a node.
	assigned map[string]bool
	// fits is until when minResources count as free.
	fits time.Time
	// backoff is until when PreFilter refuses the group.
	backoff time.Time
	// failure is when the group last failed; zero if its last attempt succeeded.
	failure time.Time
}

var (
	_ fwk.QueueSortPlugin   = (*Plugin)(nil)
	_ fwk.PreFilterPlugin   = (*Plugin)(nil)
	_ fwk.PostFilterPlugin  = (*Plugin)(nil)
	_ fwk.PermitPlugin      = (*Plugin)(nil)
	_ fwk.ReservePlugin     = (*Plugin)(nil)
	_ fwk.EnqueueExtensions = (*Plugin)(nil)
)

// New is the plugin's factory. Mistakes in the arguments are argument.Errors.
func New(_ context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	a, err := read(args)
	if err != nil {
		return nil, err
	}
	p := &Plugin{
		args: a, handle: handle, now: time.Now, known: map[string]*memory{}, most: mostForgettable, waiting: map[types.UID]fwk.CycleState{},
		hypothetical: customresource.Hypothetical(handle),
	}
	if p.groups, err = customresource.New[v1alpha1.PodGroup](handle, v1alpha1.PodGroups); err != nil {
		return nil, err
	}
	return p, p.followPods()
}

func (*Plugin) Name() string { return Name }

// byGroup is the name of the index of pods by group.
const byGroup = "coscheduling/group"

// followPods indexes the pods by group, and follows those that have a node.
func (p *Plugin) followPods() error {
	informer := p.handle.SharedInformerFactory().Core().V1().Pods().Informer()
	p.pods = informer.GetIndexer()
	// All profiles share the informer.
	if _, indexed := p.pods.GetIndexers()[byGroup]; !indexed {
		err := informer.AddIndexers(cache.Indexers{byGroup: func(o any) ([]string, error) {
			if pod, ok := o.(*v1.Pod); ok && groupName(pod) != "" {
				return []string{keyOf(pod)}, nil
			}
			return nil, nil
		}})
		if err != nil {
			return fmt.Errorf("indexing pods by group: %w", err)
		}
	}
	_, err := informer.AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: func(o any) bool {
			pod := podOf(o)
			return pod != nil && groupName(pod) != ""
		},
		Handler: cache.ResourceEventHandlerFuncs{AddFunc: func(o any) { p.seen(podOf(o)) }, DeleteFunc: func(o any) { p.gone(podOf(o)) }},
	})
	return err
}

// podOf returns the pod of an event; nil if there is none.
func podOf(o any) *v1.Pod {
	if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	pod, _ := o.(*v1.Pod)
	return pod
}

// seen is called when the plugin first learns of a pod with a group. It does not count a pod that
// another scheduler binds later.
func (p *Plugin) seen(pod *v1.Pod) {
	if pod.Spec.NodeName == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memory(keyOf(pod)).assigned[pod.Name] = true
}

// gone is called when a pod with a group is deleted or has finished.
func (p *Plugin) gone(pod *v1.Pod) {
	if pod.Spec.NodeName == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.memory(keyOf(pod)).assigned, pod.Name)
}

// memory returns what the plugin remembers of a group. The caller holds mu. In a hypothetical
// cluster that is only which members have a node.
func (p *Plugin) memory(key string) *memory {
	if p.hypothetical {
		return p.present(key)
	}
	m := p.known[key]
	if m == nil {
		if len(p.known) >= p.most {
			p.forgetGone()
		}
		m = &memory{assigned: map[string]bool{}}
		p.known[key] = m
	}
	return m
}

// mostForgettable bounds the remembered groups of which nothing is left.
const mostForgettable = 10_000

// forgetGone forgets the groups that neither exist nor have pods. The caller holds mu.
func (p *Plugin) forgetGone() {
	for key, m := range p.known {
		namespace, name, _ := strings.Cut(key, "/")
		pods, err := p.pods.IndexKeys(byGroup, key)
		if err == nil && len(pods) == 0 && len(m.assigned) == 0 && p.groups.Cached(namespace, name) == nil {
			delete(p.known, key)
		}
	}
	p.most = max(mostForgettable, 2*len(p.known)) // not again for each new group
}

// present returns what the cluster says of a group, without earlier cycles.
func (p *Plugin) present(key string) *memory {
	m := &memory{assigned: map[string]bool{}}
	objects, err := p.pods.ByIndex(byGroup, key)
	if err != nil {
		return m // without the index the plugin would not exist
	}
	for _, o := range objects {
		if pod, ok := o.(*v1.Pod); ok && pod.Spec.NodeName != "" {
			m.assigned[pod.Name] = true
		}
	}
	return m
}

func groupName(pod *v1.Pod) string { return pod.Labels[v1alpha1.PodGroupLabel] }

func keyOf(pod *v1.Pod) string { return pod.Namespace + "/" + groupName(pod) }

// siblings returns the unfinished pods of the pod's group, itself included, of all schedulers.
func (p *Plugin) siblings(pod *v1.Pod) []*v1.Pod {
	objects, err := p.pods.ByIndex(byGroup, keyOf(pod))
	if err != nil {
		return nil // without the index the plugin would not exist
	}
	var out []*v1.Pod
	for _, o := range objects {
		if sibling, ok := o.(*v1.Pod); ok && sibling.Status.Phase != v1.PodSucceeded && sibling.Status.Phase != v1.PodFailed {
			out = append(out, sibling)
		}
	}
	return out
}

// EventsToRegister names the events that wake the pods that the plugin rejected. A pod's deletion
// is none: a sibling that reaches Permit wakes the others. Unless Kubernetes' own pod groups are
// on, the scheduler reports a pod as added only when it gets a node.
func (*Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	groups := fwk.EventResource(fmt.Sprintf("%s.%s.%s", v1alpha1.PodGroups.Resource, v1alpha1.PodGroups.Version, v1alpha1.PodGroups.Group))
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Add}},
		{Event: fwk.ClusterEvent{Resource: groups, ActionType: fwk.Add | fwk.Update}},
	}, nil
}
