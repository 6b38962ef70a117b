package scheduler

import (
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/annotation"
)

// ownUpdates recognises updates of pods in which only our annotations changed. The
// scheduler never sees those annotations, but such an update would still be a
// general Pod/Update event, which requeues pods that plugins without queueing hints
// rejected. Updates by other clients count, even when they change nothing that the
// scheduler sees.
type ownUpdates struct {
	seed maphash.Seed

	mu   sync.Mutex
	pods map[types.UID]*annotatedPod
}

type annotatedPod struct {
	digest uint64
	// versions are those in which our annotations changed. The latest few are
	// enough, because the informer soon delivers them.
	versions []string
}

const maxOwnVersions = 16

func newOwnUpdates() *ownUpdates {
	return &ownUpdates{seed: maphash.MakeSeed(), pods: map[types.UID]*annotatedPod{}}
}

// observe notes a version of a pod, before our annotations are removed from it. The versions of a
// pod arrive in order.
func (o *ownUpdates) observe(pod *v1.Pod) {
	digest := o.digest(pod)
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.pods[pod.UID]
	switch {
	case p == nil && digest == 0:
		return
	case p == nil:
		p = &annotatedPod{}
		o.pods[pod.UID] = p
	case p.digest == digest:
		return
	}
	p.digest = digest
	p.versions = append(p.versions, pod.ResourceVersion)
	if len(p.versions) > maxOwnVersions {
		p.versions = slices.Delete(p.versions, 0, 1)
	}
}

func (o *ownUpdates) forget(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.pods, uid)
}

func (o *ownUpdates) only(oldPod, newPod *v1.Pod) bool {
	if oldPod == nil || newPod == nil || oldPod.UID != newPod.UID {
		return false
	}
	o.mu.Lock()
	p := o.pods[newPod.UID]
	ours := p != nil && slices.Contains(p.versions, newPod.ResourceVersion)
	o.mu.Unlock()
	if !ours {
		return false
	}
	copied := *oldPod
	copied.ResourceVersion = newPod.ResourceVersion
	return reflect.DeepEqual(&copied, newPod)
}

// digest returns 0 for a pod without any of our annotations.
func (o *ownUpdates) digest(pod *v1.Pod) uint64 {
	var h maphash.Hash
	h.SetSeed(o.seed)
	ours := false
	for _, name := range slices.Sorted(maps.Keys(pod.Annotations)) {
		if !strings.HasPrefix(name, annotation.Prefix) {
			continue
		}
		ours = true
		_, _ = h.WriteString(name)
		_ = h.WriteByte(0)
		_, _ = h.WriteString(pod.Annotations[name])
		_ = h.WriteByte(0)
	}
	if !ours {
		return 0
	}
	return h.Sum64()
}
