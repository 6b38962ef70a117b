package recorder

import (
	"math/bits"
	"unsafe"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/result"
)

// nodeTable gives the nodes of a snapshot their index. It is immutable.
type nodeTable struct {
	// list is the snapshot's own slice, which upstream.SameNodes recognises.
	list  []fwk.NodeInfo
	names []string
	// index and pointers find a node by name and, faster, by the snapshot's pointer, which does not
	// change while the list is the same.
	index    map[string]int32
	pointers pointerTable
	// numbers are the nodes' indexes in known, the names to which the lists of results refer.
	numbers []int32
	known   []string
}

func newNodeTable(list []fwk.NodeInfo, known *knownNames) *nodeTable {
	t := &nodeTable{
		list:     list,
		names:    make([]string, len(list)),
		index:    make(map[string]int32, len(list)),
		pointers: newPointerTable(len(list)),
		numbers:  make([]int32, len(list)),
	}
	known.makeRoom(len(list))
	for i, n := range list {
		t.names[i] = n.Node().Name
		t.index[t.names[i]] = int32(i)
		t.numbers[i] = known.number(t.names[i])
		if own, ok := n.(*framework.NodeInfo); ok {
			t.pointers.add(own, int32(i))
		}
	}
	t.known = known.names
	return t
}

// nodeList overwrites at.
func (t *nodeTable) nodeList(at []int64) result.NodeList {
	for i, node := range at {
		at[i] = int64(t.numbers[node])
	}
	return result.NodeListIn(t.known, at)
}

// knownNames numbers the names of nodes, for the lists of results. It only grows, so that all
// results share it, until most of its nodes are gone. Then a new one starts, and the results that
// use the old one keep it.
type knownNames struct {
	names []string
	index map[string]int32
}

// minKnown is how many names knownNames keeps in any case.
const minKnown = 1000

func (k *knownNames) makeRoom(n int) {
	if len(k.names) > max(2*n, minKnown) {
		*k = knownNames{}
	}
	if k.index == nil {
		k.index = make(map[string]int32, n)
	}
}

func (k *knownNames) number(name string) int32 {
	number, ok := k.index[name]
	if !ok {
		number = int32(len(k.names))
		k.names, k.index[name] = append(k.names, name), number
	}
	return number
}

func (t *nodeTable) find(n fwk.NodeInfo) (int32, bool) {
	if own, ok := n.(*framework.NodeInfo); ok {
		if i, ok := t.pointers.find(own); ok {
			return i, true
		}
	}
	i, ok := t.index[n.Node().Name]
	return i, ok
}

// pointerTable is a hash table with open addressing. Every evaluated node is looked up, and a map
// would take several times as long. It hashes addresses: Go does not move objects on the heap, and
// if it ever did, find would only miss.
type pointerTable struct {
	slots []pointerSlot // their number is a power of two, and some are empty
	shift int
}

type pointerSlot struct {
	node  *framework.NodeInfo
	index int32
}

func newPointerTable(n int) pointerTable {
	size := bits.Len(uint(n + n/2 + 1))
	return pointerTable{slots: make([]pointerSlot, 1<<size), shift: 64 - size}
}

// slot returns the slot of node, or the empty slot for it.
func (t pointerTable) slot(node *framework.NodeInfo) *pointerSlot {
	const golden = 0x9e3779b97f4a7c15 // 2⁶⁴ ÷ the golden ratio
	at := uint64(uintptr(unsafe.Pointer(node))) * golden >> t.shift
	for {
		slot := &t.slots[at]
		if slot.node == node || slot.node == nil {
			return slot
		}
		at = (at + 1) & uint64(len(t.slots)-1)
	}
}

func (t pointerTable) add(node *framework.NodeInfo, index int32) {
	*t.slot(node) = pointerSlot{node: node, index: index}
}

func (t pointerTable) find(node *framework.NodeInfo) (int32, bool) {
	if len(t.slots) == 0 || node == nil {
		return 0, false
	}
	slot := t.slot(node)
	return slot.index, slot.node != nil
}
