package noderesourcetopology

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

// topologies is what Filter and Score read and report to. Any goroutine may call its methods.
type topologies interface {
	// layout returns nil for a node without a topology. If it is not fresh, the node must not be
	// used.
	layout(node string) (l *layout, fresh bool)
	// reserve notes that the pod is on its way to the node; release that it is not, and
	// bound that it has arrived.
	reserve(node string, pod *v1.Pod)
	release(node string, pod *v1.Pod)
	bound(node string, pod *v1.Pod)
	refused(node string)
	// placed returns the topology of a node and its containers' zones; nil if unknown.
	placed(node string) (*v1alpha2.NodeResourceTopology, map[v1alpha2.ContainerID]int)
	// resync updates the cache at the start of a cycle, if it is time to.
	resync()
}

// latest reads the topologies of the plugin's watch.
type latest struct {
	mu    sync.RWMutex
	nodes map[string]*known
}

type known struct {
	object *v1alpha2.NodeResourceTopology
	*layout
}

func newLatest() *latest { return &latest{nodes: map[string]*known{}} }

func (l *latest) set(t *v1alpha2.NodeResourceTopology) {
	k := &known{t, layoutOf(t)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes[t.Name] = k
}

func (l *latest) forget(t *v1alpha2.NodeResourceTopology) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.nodes, t.Name)
}

// get returns nil for a node without a topology.
func (l *latest) get(node string) *known {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.nodes[node]
}

func (l *latest) layout(node string) (*layout, bool) {
	if k := l.get(node); k != nil {
		return k.layout, true
	}
	return nil, true
}

func (*latest) reserve(string, *v1.Pod) {}
func (*latest) release(string, *v1.Pod) {}
func (*latest) bound(string, *v1.Pod)   {}
func (*latest) refused(string)          {}
func (*latest) resync()                 {}

func (*latest) placed(string) (*v1alpha2.NodeResourceTopology, map[v1alpha2.ContainerID]int) {
	return nil, nil
}

// discarding leaves a node out while pods are on their way there.
type discarding struct {
	*latest

	mu     sync.Mutex
	coming map[string]map[types.UID]bool // by node
}

func newDiscarding(l *latest) *discarding {
	return &discarding{latest: l, coming: map[string]map[types.UID]bool{}}
}

func (d *discarding) layout(node string) (*layout, bool) {
	d.mu.Lock()
	coming := len(d.coming[node]) > 0
	d.mu.Unlock()
	if coming {
		return nil, false
	}
	return d.latest.layout(node)
}

func (d *discarding) reserve(node string, pod *v1.Pod) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.coming[node] == nil {
		d.coming[node] = map[types.UID]bool{}
	}
	d.coming[node][pod.UID] = true
}

func (d *discarding) release(node string, pod *v1.Pod) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.coming[node], pod.UID)
	if len(d.coming[node]) == 0 {
		delete(d.coming, node)
	}
}

func (d *discarding) bound(node string, pod *v1.Pod) { d.release(node, pod) }
