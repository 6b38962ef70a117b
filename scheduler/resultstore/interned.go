package resultstore

// interned numbers strings that many entries share. It forgets a string with its last use. Number 0
// is the empty string. It is not safe for concurrent use.
type interned struct {
	ids     map[string]uint32
	strings []sharedString
	free    []uint32
	// bytes estimates the memory of the strings.
	bytes int64
}

type sharedString struct {
	text string
	uses int
}

// internedBytes is what a string takes beside its own bytes.
const internedBytes = 96

func newInterned() interned {
	return interned{ids: map[string]uint32{}, strings: make([]sharedString, 1)}
}

func (n *interned) hold(s string) uint32 {
	if s == "" {
		return 0
	}
	id, known := n.ids[s]
	if !known {
		id = n.number()
		n.ids[s] = id
		n.strings[id].text = s
		n.bytes += internedBytes + int64(len(s))
	}
	n.strings[id].uses++
	return id
}

func (n *interned) number() uint32 {
	if last := len(n.free) - 1; last >= 0 {
		id := n.free[last]
		n.free = n.free[:last]
		return id
	}
	n.strings = append(n.strings, sharedString{})
	return uint32(len(n.strings) - 1)
}

// release ends one use and reports whether it was the last.
func (n *interned) release(id uint32) (last bool) {
	if id == 0 {
		return false
	}
	s := &n.strings[id]
	if s.uses--; s.uses > 0 {
		return false
	}
	delete(n.ids, s.text)
	n.bytes -= internedBytes + int64(len(s.text))
	*s = sharedString{}
	n.free = append(n.free, id)
	return true
}

func (n *interned) text(id uint32) string { return n.strings[id].text }

func (n *interned) find(s string) (id uint32, known bool) {
	if s == "" {
		return 0, true
	}
	id, known = n.ids[s]
	return id, known
}
