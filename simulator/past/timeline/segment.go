package timeline

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"kube-scheduler-simulator/scheduler/blockfile"
)

// The journal is a directory of segments. A segment is a sequence of blocks, like a recording
// (package replay). Like one it begins with all objects that existed, so that it alone can rebuild
// any moment in it. The fields of a block are
//
//	type [1], first time [8], last time [8], moment before it [8], changes [4], packed length [4], length [4]
//
// and its contents are compressed with DEFLATE. The checksum covers both. Times are microseconds
// since 1970, and numbers are little-endian. Readers ignore an incomplete block at the end, which a
// killed program leaves behind.
//
// The contents of blocks of the types state and changes are entries: microseconds since the
// previous one (for the first, since the block's first time), verb [1], key, and for Set the
// object, for Patch the lengths of the unchanged parts before and after the change, and what is
// there now. Objects are as the API server stores them, apart from what stripper removes. Lengths
// are uvarints. A block of marks holds JSON lines.
var blockFormat = blockfile.Format{Magic: "\xb5kt1", FieldBytes: 1 + 8 + 8 + 8 + 4 + 4 + 4}

type blockType byte

const (
	// stateBlock: objects that existed when the segment began. A block of another type follows the
	// last one.
	stateBlock   blockType = 'S'
	changesBlock blockType = 'C'
	marksBlock   blockType = 'M'
)

const (
	setVerb    = 'S'
	patchVerb  = 'P'
	deleteVerb = 'D'
)

// Limits of readers, whatever a file claims.
const (
	maxPackedBytes = 32 << 20
	maxBlockBytes  = 64 << 20
	maxObjectBytes = 8 << 20
	maxKeyBytes    = 4 << 10
)

// flushBytes is how much a block holds before packing.
const flushBytes = 256 << 10

type block struct {
	kind        blockType
	offset      int64
	first, last time.Time
	// before is the moment before the first change.
	before         uint64
	count          int
	packed, length int
}

func (b block) end() int64 { return b.offset + int64(blockFormat.HeaderSize()+b.packed) }

func (b block) encodeFields(fields []byte) {
	fields[0] = byte(b.kind)
	binary.LittleEndian.PutUint64(fields[1:], uint64(b.first.UnixMicro()))
	binary.LittleEndian.PutUint64(fields[9:], uint64(b.last.UnixMicro()))
	binary.LittleEndian.PutUint64(fields[17:], b.before)
	binary.LittleEndian.PutUint32(fields[25:], uint32(b.count))
	binary.LittleEndian.PutUint32(fields[29:], uint32(b.packed))
	binary.LittleEndian.PutUint32(fields[33:], uint32(b.length))
}

var errDamaged = blockfile.ErrDamaged

// decodeHeader returns false for a damaged header.
func decodeHeader(header []byte) (block, bool) {
	f := blockFormat.Fields(header)
	b := block{
		kind: blockType(f[0]), before: binary.LittleEndian.Uint64(f[17:]),
		first: time.UnixMicro(int64(binary.LittleEndian.Uint64(f[1:]))), last: time.UnixMicro(int64(binary.LittleEndian.Uint64(f[9:]))),
		count: int(binary.LittleEndian.Uint32(f[25:])), packed: int(binary.LittleEndian.Uint32(f[29:])), length: int(binary.LittleEndian.Uint32(f[33:])),
	}
	return b, b.packed <= maxPackedBytes && b.length <= maxBlockBytes && b.count <= b.length && !b.last.Before(b.first)
}

// readBlock verifies a block, and reads its marks if it has some.
func readBlock(f *blockfile.File, at int64, header []byte) (loaded, error) {
	b, _ := decodeHeader(header)
	b.offset = at
	if b.kind != marksBlock {
		_, err := blockFormat.Contents(f, at, b.packed)
		return loaded{block: b}, err
	}
	data, err := unpack(f, b)
	if err != nil {
		return loaded{}, err
	}
	var marks []mark
	for line := range bytes.Lines(data) {
		var m mark
		if err := json.Unmarshal(line, &m); err != nil {
			return loaded{}, fmt.Errorf("%w: %w", errDamaged, err)
		}
		marks = append(marks, m)
	}
	return loaded{b, marks}, nil
}

func unpack(file io.ReaderAt, b block) ([]byte, error) {
	return blockFormat.Inflate(file, b.offset, b.packed, b.length)
}

// pack returns a block of data as written, valid until the packer's next call.
func pack(packer *blockfile.Deflater, b block, data []byte) ([]byte, error) {
	return packer.Block(data, func(fields []byte, packed int) {
		b.packed, b.length = packed, len(data)
		b.encodeFields(fields)
	})
}

type entry struct {
	at   time.Time
	verb byte
	key  string
	// head and tail are the lengths of what a Patch keeps of the object before it.
	head, tail uint64
	data       []byte
}

// before is the object before the change, nil if there was none.
func appendEntry(out []byte, since time.Duration, key string, before, value []byte) []byte {
	out = binary.AppendUvarint(out, uint64(since/time.Microsecond))
	verb := byte(setVerb)
	switch {
	case value == nil:
		verb = deleteVerb
	case before != nil:
		verb = patchVerb
	}
	out = blockfile.AppendBytes(append(out, verb), key)
	switch verb {
	case patchVerb:
		head := commonPrefix(before, value)
		tail := commonSuffix(before[head:], value[head:])
		out = binary.AppendUvarint(out, uint64(head))
		out = binary.AppendUvarint(out, uint64(tail))
		value = value[head : len(value)-tail]
		fallthrough
	case setVerb:
		out = blockfile.AppendBytes(out, value)
	}
	return out
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}

// takeEntry takes the first entry of data, which continues from time at.
func takeEntry(data []byte, at time.Time) (e entry, rest []byte, err error) {
	v := blockfile.Values{Rest: data}
	e.at = at.Add(time.Duration(min(v.Uvarint(), maxPause)) * time.Microsecond)
	e.verb = v.Byte()
	e.key = string(v.Bytes(maxKeyBytes))
	switch e.verb {
	case deleteVerb:
	case patchVerb:
		e.head, e.tail = v.Uvarint(), v.Uvarint()
		fallthrough
	case setVerb:
		e.data = v.Bytes(maxObjectBytes)
	default:
		v.Fail(fmt.Errorf("there is no verb %q", e.verb))
	}
	if v.Err != nil {
		return e, nil, fmt.Errorf("%w: %w", errDamaged, v.Err)
	}
	return e, v.Rest, nil
}

// maxPause bounds the time between two entries, in microseconds: thirty years.
const maxPause = 1 << 50

// apply returns the object after the entry's change; nil when it was deleted. before is the object
// before it, nil if there was none.
func (e entry) apply(before []byte) ([]byte, error) {
	switch e.verb {
	case deleteVerb:
		return nil, nil
	case setVerb:
		return append([]byte{}, e.data...), nil
	}
	if e.head > uint64(len(before)) || e.tail > uint64(len(before))-e.head {
		return nil, fmt.Errorf("%w: a change is of another object than the one that it names", errDamaged)
	}
	after := make([]byte, 0, int(e.head)+len(e.data)+int(e.tail))
	after = append(after, before[:e.head]...)
	after = append(after, e.data...)
	return append(after, before[len(before)-int(e.tail):]...), nil
}

// f ends the loop by false or an error.
func eachEntry(data []byte, b block, f func(entry) (bool, error)) error {
	at := b.first
	for len(data) > 0 {
		e, rest, err := takeEntry(data, at)
		if err != nil {
			return err
		}
		if more, err := f(e); err != nil || !more {
			return err
		}
		data, at = rest, e.at
	}
	return nil
}

type segment struct {
	*blockfile.File
	blocks []block
}

// first and end are the moments at the beginning and the end of the segment.
func (s *segment) first() uint64 { return s.blocks[0].before }

func (s *segment) end() uint64 {
	last := s.blocks[0].before
	for _, b := range s.blocks {
		if b.kind == changesBlock {
			last = b.before + uint64(b.count)
		}
	}
	return last
}
