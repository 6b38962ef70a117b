package noderesourcetopology

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"
)

// profiles are a scheduler's profiles whose pods the caches know, because instances of the plugin
// reserve their resources.
type profiles struct {
	mu    sync.Mutex
	names sets.Set[string]
	users int
}

func (p *profiles) has(scheduler string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.names.Has(scheduler)
}

// registry has the profiles of each running scheduler, by the informers that they share: a handle
// does not lead to other profiles' plugins.
var registry = struct {
	sync.Mutex
	of map[informers.SharedInformerFactory]*profiles
}{of: map[informers.SharedInformerFactory]*profiles{}}

// join adds the handle's profile to those of its scheduler. Call leave when the plugin ends.
func join(h fwk.Handle) (all *profiles, leave func()) {
	key := h.SharedInformerFactory()
	registry.Lock()
	defer registry.Unlock()
	all = registry.of[key]
	if all == nil {
		all = &profiles{names: sets.New[string]()}
		registry.of[key] = all
	}
	all.mu.Lock()
	all.names.Insert(h.ProfileName())
	all.users++
	all.mu.Unlock()
	return all, sync.OnceFunc(func() {
		registry.Lock()
		defer registry.Unlock()
		if all.users--; all.users == 0 {
			delete(registry.of, key)
		}
	})
}
