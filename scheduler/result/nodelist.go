package result

import (
	"iter"
	"slices"
)

// NodeList is a list of node names. The lists of many cycles share one table of names, so a list
// takes a byte or two per node and gives the garbage collector nothing to follow. The zero value is
// the empty list. A NodeList is immutable.
type NodeList struct {
	table []string
	// at indexes table; empty for a list that is the table itself.
	at Column
}

// NewNodeList returns a list with its own table. It keeps names, which must not change.
func NewNodeList(names ...string) NodeList { return NodeList{table: names} }

// NodeListIn returns the list of the names in table at the indexes. It keeps table, which must not
// change, and copies at.
func NodeListIn(table []string, at []int64) NodeList {
	if len(at) == 0 {
		return NodeList{}
	}
	return NodeList{table: table, at: NewColumn(at)}
}

// Len returns the number of nodes.
func (l NodeList) Len() int {
	if l.at.Len() > 0 {
		return l.at.Len()
	}
	return len(l.table)
}

// At returns the name of node i.
func (l NodeList) At(i int) string {
	if l.at.Len() > 0 {
		return l.table[l.at.At(i)]
	}
	return l.table[i]
}

// All yields the names with their positions.
func (l NodeList) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range l.Len() {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Names returns the names as a slice, which the caller must not change.
func (l NodeList) Names() []string {
	if l.at.Len() == 0 {
		return l.table
	}
	names := make([]string, l.Len())
	for i := range names {
		names[i] = l.At(i)
	}
	return names
}

// Index returns the position of a node, or -1.
func (l NodeList) Index(name string) int {
	for i, n := range l.All() {
		if n == name {
			return i
		}
	}
	return -1
}

// Equal reports whether the lists have the same names in the same order.
func (l NodeList) Equal(o NodeList) bool { return slices.Equal(l.Names(), o.Names()) }

// Head returns the first n nodes. It shares everything with l.
func (l NodeList) Head(n int) NodeList {
	switch {
	case n == 0:
		return NodeList{}
	case l.at.Len() > 0:
		l.at = l.at.head(n)
	default:
		l.table = l.table[:n:n]
	}
	return l
}

// size leaves out what l shares.
func (l NodeList) size() int {
	if l.at.Len() > 0 {
		return l.at.size()
	}
	return sizeOfList(l.table)
}

func (l NodeList) shares(o NodeList) bool {
	if l.at.Len() > 0 && o.at.Len() > 0 {
		return l.at.shares(o.at)
	}
	return l.at.Len() == o.at.Len() && sameStart(l.table, o.table)
}

// sameStart reports whether one of the lists is the start of the other, in the same memory.
func sameStart[T any](a, b []T) bool {
	return len(a) > 0 && len(b) > 0 && &a[0] == &b[0]
}
