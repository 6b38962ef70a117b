package virtualnode

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Hold keeps pods that have not started from starting until release is called, for
// callers that create pods and write their status in two steps. Running pods go on.
// Hold may be called at any time and more than once; calling a release again has no
// effect.
func (n *Nodes) Hold() (release func()) {
	return n.hold.hold(n.resume)
}

// hold knows the pods that are held back. The zero value holds none.
type hold struct {
	mu      sync.Mutex
	holders int
	keys    sets.Set[string]
}

// hold calls resume with the keys of the held pods when the last holder has released
// them.
func (h *hold) hold(resume func(keys []string)) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holders++
	var once sync.Once
	return func() { once.Do(func() { resume(h.release()) }) }
}

func (h *hold) release() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holders--; h.holders > 0 {
		return nil
	}
	held := h.keys
	h.keys = nil
	return held.UnsortedList()
}

func (h *hold) holds(key string, pod *corev1.Pod) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holders == 0 {
		return false
	}
	if pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil {
		h.keys.Delete(key)
		return false
	}
	if h.keys == nil {
		h.keys = sets.New[string]()
	}
	h.keys.Insert(key)
	return true
}
