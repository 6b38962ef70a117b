package scheduler

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"

	"kube-scheduler-simulator/scheduler/feed"
)

// The methods of observedCache below note changes of nodes and bound pods if a follower wants them.
// Without a tee they cost two loads.

func (t *tee) change(change func() error, made func() feed.Operation) (err error) {
	t.do(func(add func(feed.Operation)) {
		if err = change(); err == nil {
			add(made())
		}
	})
	return err
}

// missed is called after a change without a tee.
func (c observedCache) missed() {
	if t := c.tee.Load(); t != nil {
		t.late()
	}
}

// AssumePod is called on the scheduling goroutine, when a node was selected.
func (c observedCache) AssumePod(logger klog.Logger, pod *v1.Pod) error {
	if t := c.tee.Load(); t != nil {
		return t.change(func() error { return c.Cache.AssumePod(logger, pod) }, func() feed.Operation { return feed.Operation{Set: pod} })
	}
	defer c.missed()
	return c.Cache.AssumePod(logger, pod)
}

// ForgetPod is called when a pod loses its place before the binding.
func (c observedCache) ForgetPod(logger klog.Logger, pod *v1.Pod) error {
	if t := c.tee.Load(); t != nil {
		return t.change(func() error { return c.Cache.ForgetPod(logger, pod) }, func() feed.Operation { return t.unplaced(pod) })
	}
	defer c.missed()
	return c.Cache.ForgetPod(logger, pod)
}

// RemoveAssumedPod is called when a pod was deleted while being bound.
func (c observedCache) RemoveAssumedPod(logger klog.Logger, pod *v1.Pod) error {
	if t := c.tee.Load(); t != nil {
		return t.change(func() error { return c.Cache.RemoveAssumedPod(logger, pod) }, func() feed.Operation { return t.unplaced(pod) })
	}
	defer c.missed()
	return c.Cache.RemoveAssumedPod(logger, pod)
}

func (c observedCache) AddPod(logger klog.Logger, pod *v1.Pod) error {
	if t := c.tee.Load(); t != nil {
		return t.change(func() error { return c.Cache.AddPod(logger, pod) }, func() feed.Operation { return feed.Operation{Set: pod} })
	}
	defer c.missed()
	return c.Cache.AddPod(logger, pod)
}

func (c observedCache) UpdatePod(logger klog.Logger, oldPod, newPod *v1.Pod) error {
	defer c.seen.note(oldPod, newPod)
	if t := c.tee.Load(); t != nil {
		return t.change(func() error { return c.Cache.UpdatePod(logger, oldPod, newPod) }, func() feed.Operation { return feed.Operation{Set: newPod} })
	}
	defer c.missed()
	return c.Cache.UpdatePod(logger, oldPod, newPod)
}

func (c observedCache) RemovePod(logger klog.Logger, pod *v1.Pod) error {
	if t := c.tee.Load(); t != nil {
		return t.change(func() error { return c.Cache.RemovePod(logger, pod) }, func() feed.Operation { return deleted(pod) })
	}
	defer c.missed()
	return c.Cache.RemovePod(logger, pod)
}

func (c observedCache) AddNode(logger klog.Logger, node *v1.Node) {
	if t := c.tee.Load(); t != nil {
		_ = t.change(func() error { c.Cache.AddNode(logger, node); return nil }, func() feed.Operation { return feed.Operation{Set: node} })
		return
	}
	defer c.missed()
	c.Cache.AddNode(logger, node)
}

func (c observedCache) UpdateNode(logger klog.Logger, oldNode, newNode *v1.Node) {
	defer c.seen.note(oldNode, newNode)
	if t := c.tee.Load(); t != nil {
		_ = t.change(func() error { c.Cache.UpdateNode(logger, oldNode, newNode); return nil }, func() feed.Operation { return feed.Operation{Set: newNode} })
		return
	}
	defer c.missed()
	c.Cache.UpdateNode(logger, oldNode, newNode)
}

func (c observedCache) RemoveNode(logger klog.Logger, node *v1.Node) error {
	if t := c.tee.Load(); t != nil {
		return t.change(func() error { return c.Cache.RemoveNode(logger, node) }, func() feed.Operation { return deleted(node) })
	}
	defer c.missed()
	return c.Cache.RemoveNode(logger, node)
}

// UpdateSnapshot is called on the scheduling goroutine at the start of each turn. If a follower
// wants marks, it notes the turn's pod.
func (c observedCache) UpdateSnapshot(logger klog.Logger, snapshot *internalcache.Snapshot) error {
	t := c.tee.Load()
	if t == nil || c.turn.pod == nil {
		return c.Cache.UpdateSnapshot(logger, snapshot)
	}
	if _, marks := t.log.Followers(); marks == 0 {
		return c.Cache.UpdateSnapshot(logger, snapshot)
	}
	return t.change(func() error { return c.Cache.UpdateSnapshot(logger, snapshot) }, func() feed.Operation {
		return feed.Operation{Mark: c.turn.pod, At: t.of.options.Clock()}
	})
}
