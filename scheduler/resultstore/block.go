package resultstore

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/scheduler/result"
)

// A block holds the cycles of one write. Its parts are read separately: the keys when
// the store starts, summaries for lists, everything for a whole cycle.
//
//	magic [4], per part: length [4] and checksum [4], checksum of all that [4]
//	keys, summaries, rests, tables
const (
	partKeys = iota
	partSummaries
	partRests
	partTables
	parts
)

// blockFormat has the parts' lengths and checksums as its fields, so that each part can be read
// alone.
var blockFormat = blockfile.Format{Magic: "\xb5kb1", FieldBytes: parts * extentBytes}

const (
	extentBytes = 8
	// maxPartBytes bounds a part, both packed and unpacked.
	maxPartBytes = 256 << 20
)

var errChecksum = errors.New("checksum does not match")

// key is what the store's index needs of a cycle.
type key struct {
	sequence uint64
	pod      result.Pod
	attempt  int
	description
}

type rows struct {
	data bytes.Buffer
	ends []int
}

func (r *rows) end() { r.ends = append(r.ends, r.data.Len()) }

func (r *rows) undo() {
	last := 0
	if len(r.ends) > 0 {
		last = r.ends[len(r.ends)-1]
	}
	r.data.Truncate(last)
}

func (r *rows) reset() {
	r.data.Reset()
	r.ends = r.ends[:0]
}

// encode writes the number of rows, their lengths, and the rows.
func (r *rows) encode(out []byte) []byte {
	out = binary.AppendUvarint(out, uint64(len(r.ends)))
	last := 0
	for _, end := range r.ends {
		out = binary.AppendUvarint(out, uint64(end-last))
		last = end
	}
	return append(out, r.data.Bytes()...)
}

func decodeRows(data []byte) ([][]byte, error) {
	r := newReader(data)
	lengths := make([]uint64, r.count(1))
	for i := range lengths {
		lengths[i] = r.Uvarint()
	}
	out := make([][]byte, len(lengths))
	for i, n := range lengths {
		out[i] = r.Take(n)
	}
	return out, r.Err
}

// blockBuilder collects cycles into a block. One goroutine uses it repeatedly.
type blockBuilder struct {
	keys, summaries, rests, tables rows
	names                          *nameTable
	scores                         scoreTable

	out, scratch []byte
	packer       *flate.Writer
	// plainKeys writes keys as earlier versions did; only a test sets it.
	plainKeys bool
}

func newBlockBuilder() *blockBuilder { return &blockBuilder{names: newNameTable()} }

func (b *blockBuilder) add(sequence uint64, c *result.Cycle) error {
	if err := b.encodeRecord(c); err != nil {
		return fmt.Errorf("attempt %d of %s/%s: %w", c.Attempt, c.Pod.Namespace, c.Pod.Name, err)
	}
	row := binary.AppendUvarint(b.keys.data.AvailableBuffer(), sequence)
	row = binary.AppendUvarint(row, uint64(c.Attempt))
	for _, s := range []string{string(c.Outcome), c.Pod.Namespace, c.Pod.Name, string(c.Pod.UID)} {
		row = blockfile.AppendBytes(row, s)
	}
	if !b.plainKeys {
		d := describe(&c.Summary)
		row = d.encode(row)
	}
	b.keys.data.Write(row)
	b.keys.end()
	return nil
}

// size counts the collected bytes before packing.
func (b *blockBuilder) size() int {
	return b.summaries.data.Len() + b.rests.data.Len() + b.tables.data.Len()
}

// finish returns the block and the extents of its parts, and empties the builder. The next finish
// overwrites the bytes.
func (b *blockBuilder) finish() ([]byte, [parts]extent) {
	b.rests.data.Write(b.names.encode())
	b.rests.end()

	var extents [parts]extent
	b.out = append(b.out[:0], make([]byte, blockFormat.HeaderSize())...)
	for part, r := range [parts]*rows{&b.keys, &b.summaries, &b.rests, &b.tables} {
		from := len(b.out)
		b.scratch = r.encode(b.scratch[:0])
		b.out = b.pack(b.out, b.scratch, part != partTables)
		extents[part] = extent{length: uint32(len(b.out) - from), checksum: blockfile.Checksum(b.out[from:])}
		r.reset()
	}
	b.names = newNameTable()
	writeBlockHeader(b.out, extents)
	return b.out, extents
}

// The first byte of a part says how the rest is packed.
const (
	packedPlain = iota
	packedFlate
)

func (b *blockBuilder) pack(out, data []byte, compress bool) []byte {
	from := len(out)
	if compress {
		w := bytes.NewBuffer(append(out, packedFlate))
		if b.packer == nil {
			b.packer = must(flate.NewWriter(w, flate.BestSpeed))
		} else {
			b.packer.Reset(w)
		}
		// Writes to a bytes.Buffer do not fail.
		_, _ = b.packer.Write(data)
		_ = b.packer.Close()
		if packed := w.Bytes(); len(packed)-from <= len(data) {
			return packed
		}
	}
	return append(append(out[:from], packedPlain), data...)
}

var unpackers = sync.Pool{New: func() any { return flate.NewReader(nil) }}

func unpack(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, blockfile.ErrShort
	}
	switch data[0] {
	case packedPlain:
		return data[1:], nil
	case packedFlate:
	default:
		return nil, fmt.Errorf("unknown packing %d", data[0])
	}
	r := unpackers.Get().(io.ReadCloser)
	defer unpackers.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(data[1:]), nil); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Grow(4 * len(data))
	if _, err := io.Copy(&out, io.LimitReader(r, maxPartBytes)); err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return out.Bytes(), nil
}

func writeBlockHeader(out []byte, extents [parts]extent) {
	fields := blockFormat.Fields(out)
	for part, e := range extents {
		binary.LittleEndian.PutUint32(fields[extentBytes*part:], e.length)
		binary.LittleEndian.PutUint32(fields[extentBytes*part+4:], e.checksum)
	}
	blockFormat.Seal(out, nil)
}

type extent struct {
	length, checksum uint32
}

type block struct {
	file    *blockfile.File
	offset  int64
	extents [parts]extent
	// reported: the store has logged that it cannot read a part of the block.
	reported atomic.Bool
}

func (b *block) parseHeader(header []byte) bool {
	if !blockFormat.Intact(header, nil) {
		return false
	}
	fields := blockFormat.Fields(header)
	for part := range b.extents {
		at := fields[extentBytes*part:]
		b.extents[part] = extent{length: binary.LittleEndian.Uint32(at), checksum: binary.LittleEndian.Uint32(at[4:])}
		if b.extents[part].length > maxPartBytes {
			return false
		}
	}
	return true
}

func (b *block) size() int64 {
	size := int64(blockFormat.HeaderSize())
	for _, e := range b.extents {
		size += int64(e.length)
	}
	return size
}

func (b *block) read(part int) ([][]byte, error) {
	at := b.offset + int64(blockFormat.HeaderSize())
	for _, e := range b.extents[:part] {
		at += int64(e.length)
	}
	data := make([]byte, b.extents[part].length)
	if _, err := b.file.ReadAt(data, at); err != nil {
		return nil, err
	}
	if blockfile.Checksum(data) != b.extents[part].checksum {
		return nil, errChecksum
	}
	plain, err := unpack(data)
	if err != nil {
		return nil, err
	}
	return decodeRows(plain)
}

// keys reads the keys. Earlier versions' keys lack the description, which then comes from the
// summaries.
func (b *block) keys() ([]key, error) {
	encoded, err := b.read(partKeys)
	if err != nil {
		return nil, err
	}
	out := make([]key, len(encoded))
	share, described := shared{}, true
	for i, row := range encoded {
		r := newReader(row)
		k := key{sequence: r.Uvarint(), attempt: int(r.Uvarint())}
		k.outcome = outcome(share.string(&r))
		k.pod.Namespace, k.pod.Name, k.pod.UID = share.string(&r), r.string(), types.UID(r.string())
		if len(r.Rest) > 0 {
			k.decode(&r, share)
		} else {
			described = false
		}
		if r.Err != nil {
			return nil, r.Err
		}
		out[i] = k
	}
	if !described {
		return out, b.describe(out)
	}
	return out, nil
}

// describe completes keys from the summaries. A damaged summary leaves its key as it is.
func (b *block) describe(keys []key) error {
	rows, err := b.read(partSummaries)
	if _, failed := errors.AsType[*fs.PathError](err); failed {
		return err
	}
	for i, row := range rows[:min(len(rows), len(keys))] {
		if s, err := decodeSummary(row); err == nil {
			keys[i].description = describe(&s)
		}
	}
	return nil
}

// outcome returns the constant for s if there is one, so that an index of many
// cycles shares one string.
func outcome(s string) result.Outcome {
	for _, known := range result.Outcomes {
		if s == string(known) {
			return known
		}
	}
	return result.Outcome(s)
}

// openBlock is immutable.
type openBlock struct {
	block                    *block
	summaries, tables, rests [][]byte
	names                    []string
}

// open reads everything but the keys.
func (b *block) open() (*openBlock, error) {
	o := &openBlock{block: b}
	for _, part := range []struct {
		number int
		rows   *[][]byte
	}{{partSummaries, &o.summaries}, {partRests, &o.rests}, {partTables, &o.tables}} {
		var err error
		if *part.rows, err = b.read(part.number); err != nil {
			return nil, err
		}
	}
	if len(o.rests) == 0 {
		return nil, blockfile.ErrShort
	}
	var err error
	o.names, err = decodeNames(o.rests[len(o.rests)-1])
	return o, err
}

func (o *openBlock) cycle(row int) (*result.Cycle, error) {
	if row >= len(o.summaries) || row >= len(o.tables) || row >= len(o.rests)-1 {
		return nil, blockfile.ErrShort
	}
	return decodeRecord(record{summary: o.summaries[row], tables: o.tables[row], rest: o.rests[row]}, o.names)
}
