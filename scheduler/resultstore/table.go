package resultstore

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"kube-scheduler-simulator/scheduler/blockfile"
)

// nameTable numbers the strings of a block, most of them node names. A block's records usually name
// the same nodes in the same order, so a list of thousands becomes a few numbers.
type nameTable struct {
	ids   map[string]int
	names []string
}

func newNameTable() *nameTable { return &nameTable{ids: map[string]int{}} }

// id returns the number of name. It tries guess first: comparing strings is far
// cheaper than a map lookup, and cheapest when both are the same string.
func (t *nameTable) id(name string, guess int) int {
	if guess >= 0 && guess < len(t.names) && t.names[guess] == name {
		return guess
	}
	id, ok := t.ids[name]
	if !ok {
		id = len(t.names)
		t.names = append(t.names, name)
		t.ids[name] = id
	}
	return id
}

// appendList writes a list as runs of numbers at equal distances: 0 for nil,
// otherwise its length plus one and then (distance, repetitions) pairs until it is
// complete.
func (t *nameTable) appendList(out []byte, list []string) []byte {
	if list == nil {
		return append(out, 0)
	}
	out = binary.AppendUvarint(out, uint64(len(list))+1)
	previous, distance, repeated := -1, 1, 0
	for _, name := range list {
		id := t.id(name, previous+distance)
		if id-previous != distance && repeated > 0 {
			out = binary.AppendUvarint(binary.AppendVarint(out, int64(distance)), uint64(repeated))
			repeated = 0
		}
		distance = id - previous
		previous = id
		repeated++
	}
	if repeated > 0 {
		out = binary.AppendUvarint(binary.AppendVarint(out, int64(distance)), uint64(repeated))
	}
	return out
}

func (t *nameTable) encode() []byte {
	out := binary.AppendUvarint(nil, uint64(len(t.names)))
	for _, name := range t.names {
		out = blockfile.AppendBytes(out, name)
	}
	return out
}

func decodeNames(data []byte) ([]string, error) {
	r := newReader(data)
	names := make([]string, r.count(1))
	for i := range names {
		names[i] = r.string()
	}
	return names, r.Err
}

// The forms of a list of integers.
const (
	formConstant = iota // one value
	formPacked          // the distances from the lowest value, in as many bits as the largest needs
	formRuns            // (value, repetitions) until complete
	formVarints         // one by one
	formDerived         // follows from other lists; the reader knows how
)

// maxPackedBits keeps a packed value and the bits left over from the previous one
// within 64.
const maxPackedBits = 56

type integer interface{ ~uint16 | ~int64 }

func appendInts[T integer](out []byte, values []T) []byte {
	out = binary.AppendUvarint(out, uint64(len(values)))
	if len(values) == 0 {
		return out
	}
	least, greatest, runs, previous := values[0], values[0], 1, values[0]
	for _, v := range values {
		if v != previous {
			runs++
			previous = v
		}
		least, greatest = min(least, v), max(greatest, v)
	}
	width := bits.Len64(uint64(greatest) - uint64(least))
	perRun := width/7 + 2
	switch {
	case runs == 1:
		return binary.AppendVarint(append(out, formConstant), int64(least))
	case runs*perRun < len(values)*width/8:
		return appendRuns(append(out, formRuns), values)
	case width <= maxPackedBits:
		out = binary.AppendVarint(append(out, formPacked, byte(width)), int64(least))
		return appendPacked(out, values, least, width)
	}
	out = append(out, formVarints)
	for _, v := range values {
		out = binary.AppendVarint(out, int64(v))
	}
	return out
}

func appendRuns[T integer](out []byte, values []T) []byte {
	for len(values) > 0 {
		v, n := values[0], 1
		for n < len(values) && values[n] == v {
			n++
		}
		out = binary.AppendUvarint(binary.AppendVarint(out, int64(v)), uint64(n))
		values = values[n:]
	}
	return out
}

func appendPacked[T integer](out []byte, values []T, least T, width int) []byte {
	var held uint64
	var holds int
	for _, v := range values {
		held |= (uint64(v) - uint64(least)) << holds
		for holds += width; holds >= 8; holds -= 8 {
			out = append(out, byte(held))
			held >>= 8
		}
	}
	if holds > 0 {
		out = append(out, byte(held))
	}
	return out
}

func appendDerived(out []byte, values, derived []int64) []byte {
	if len(values) > 0 && slices.Equal(values, derived) {
		return append(binary.AppendUvarint(out, uint64(len(values))), formDerived)
	}
	return appendInts(out, values)
}

// reader reads the output of the functions above. After the first error it returns
// zeroes; the caller checks Err once.
type reader struct{ blockfile.Values }

func newReader(data []byte) reader { return reader{blockfile.Values{Rest: data}} }

func (r *reader) fail() { r.Fail(blockfile.ErrShort) }

func (r *reader) string() string { return string(r.Take(r.Uvarint())) }

// count reads a number of elements of at least each bytes.
func (r *reader) count(each int) int {
	n := r.Uvarint()
	if n > uint64(len(r.Rest)/each) {
		r.fail()
		return 0
	}
	return int(n)
}

// maxListLength bounds the allocation that a few bytes can cause. No cluster has
// that many nodes.
const maxListLength = 1 << 22

func (r *reader) length() int {
	n := r.Uvarint()
	if n > maxListLength {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) list(names []string) []string {
	n := r.length()
	if n == 0 {
		return nil
	}
	out := make([]string, 0, n-1)
	for id := int64(-1); len(out) < n-1; {
		distance, repeated := r.Varint(), r.Uvarint()
		if repeated == 0 || repeated > uint64(n-1-len(out)) {
			r.fail()
			return nil
		}
		for range repeated {
			id += distance
			if id < 0 || id >= int64(len(names)) {
				r.fail()
				return nil
			}
			out = append(out, names[id])
		}
	}
	return out
}

func (r *reader) ints(derived []int64) []int64 {
	n := r.length()
	if n == 0 {
		return nil
	}
	out := make([]int64, n)
	switch r.Byte() {
	case formConstant:
		v := r.Varint()
		for i := range out {
			out[i] = v
		}
	case formPacked:
		width := int(r.Byte())
		r.packed(out, r.Varint(), width)
	case formRuns:
		r.runs(out)
	case formVarints:
		for i := range out {
			out[i] = r.Varint()
		}
	case formDerived:
		if n != len(derived) {
			r.fail()
			break
		}
		copy(out, derived)
	default:
		r.fail()
	}
	return out
}

func (r *reader) packed(out []int64, least int64, width int) {
	if width > maxPackedBits {
		r.fail()
		return
	}
	packed := r.Take((uint64(len(out))*uint64(width) + 7) / 8)
	if r.Err != nil {
		return
	}
	var held uint64
	var holds, next int
	for i := range out {
		for ; holds < width; holds += 8 {
			held |= uint64(packed[next]) << holds
			next++
		}
		out[i] = int64(uint64(least) + held&(1<<width-1))
		held >>= width
		holds -= width
	}
}

func (r *reader) runs(out []int64) {
	for i := 0; i < len(out); {
		v, repeated := r.Varint(), r.Uvarint()
		if repeated == 0 || repeated > uint64(len(out)-i) {
			r.fail()
			return
		}
		for range repeated {
			out[i] = v
			i++
		}
	}
}
