package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"kube-scheduler-simulator/scheduler/blockfile"
)

// A recording is a sequence of blocks, which package blockfile frames. The first holds the header,
// each other one changes. The fields of a block are
//
//	type [1], first time [8], last time [8], changes [4], packed length [4], length [4]
//
// and its contents are compressed with DEFLATE. The checksum covers both. Times are microseconds
// since the start of the recording, and numbers are little-endian. The fields tell the duration of a recording and the number of its changes without unpacking it.
// Readers ignore an incomplete block, which a killed recorder leaves behind, and read everything
// before it.
//
// A change consists of these values, uvarints unless a length is given: microseconds since the
// previous change (for the first change of a block, since the block's first time), verb [1],
// kind (an index into the header's kinds), and the length and bytes of namespace, name and
// data. The data of Set is the object in JSON, that of Patch a JSON merge patch against the
// previous version, and that of Gap a text.
var blockFormat = blockfile.Format{Magic: "\xb5kr1", FieldBytes: 1 + 8 + 8 + 4 + 4 + 4}

const (
	blockHeader  = 'H'
	blockChanges = 'C'
)

// block is the position and the fields of a block.
type block struct {
	kind           byte
	offset         int64 // of the block's header
	first, last    time.Duration
	count          int
	packed, length int
}

// end is the offset behind the block.
func (b block) end() int64 { return b.offset + int64(blockFormat.HeaderSize()+b.packed) }

// encodeFields writes the fields of the block.
func (b block) encodeFields(fields []byte) {
	fields[0] = b.kind
	binary.LittleEndian.PutUint64(fields[1:], uint64(b.first/time.Microsecond))
	binary.LittleEndian.PutUint64(fields[9:], uint64(b.last/time.Microsecond))
	binary.LittleEndian.PutUint32(fields[17:], uint32(b.count))
	binary.LittleEndian.PutUint32(fields[21:], uint32(b.packed))
	binary.LittleEndian.PutUint32(fields[25:], uint32(b.length))
}

// readBlock reads the fields of the block at offset, in a file of the given size.
func readBlock(file io.ReaderAt, offset, size int64) (block, error) {
	header, err := blockFormat.ReadHeader(file, offset, size)
	if err != nil {
		return block{}, fmt.Errorf("reading a block: %w", err)
	}
	fields := blockFormat.Fields(header)
	b := block{
		kind:   fields[0],
		offset: offset,
		count:  int(binary.LittleEndian.Uint32(fields[17:])),
		packed: int(binary.LittleEndian.Uint32(fields[21:])),
		length: int(binary.LittleEndian.Uint32(fields[25:])),
	}
	first, last := binary.LittleEndian.Uint64(fields[1:]), binary.LittleEndian.Uint64(fields[9:])
	const longest = uint64(1<<63-1) / uint64(time.Microsecond)
	switch {
	case b.kind != blockHeader && b.kind != blockChanges:
		return block{}, fmt.Errorf("a block has the unknown type %q", b.kind)
	case first > last || last > longest:
		return block{}, errors.New("a block's times are wrong")
	case b.packed > maxPackedBytes || b.length > maxBlockBytes || b.count > b.length:
		return block{}, errors.New("a block is too large")
	case b.end() > size:
		return block{}, errCutOff
	}
	b.first, b.last = time.Duration(first)*time.Microsecond, time.Duration(last)*time.Microsecond
	return b, nil
}

// formatVersion is in the header. Readers refuse a newer version.
const formatVersion = 1

// Limits of readers, whatever a file claims.
const (
	maxPackedBytes = 32 << 20
	maxBlockBytes  = 32 << 20
	maxObjectBytes = 8 << 20
	maxNameBytes   = 1 << 10
	// Patches may make objects of so many bytes that are within the bounds of yamlsource: a value
	// takes at least two.
	uncheckedBytes = 256 << 10
	// A recording may have freeChanges changes, and one more for changeBytes of its size. The times
	// of changes alone take more, if a cluster makes them.
	freeChanges, changeBytes = 1 << 20, 2
	// maxBlocks bounds the positions that are kept in memory. A recorder writes a block every
	// two seconds, or when it is full.
	maxBlocks = 1 << 20
	// The objects that exist at a time may have freeStateBytes, and stateRatio times the size of
	// the file, but at most maxStateBytes.
	freeStateBytes = 64 << 20
	stateRatio     = 100
	maxStateBytes  = 1 << 30
)

var errCutOff = errors.New("a block is cut off")

// flushBytes is how much a block holds, before it is packed.
const flushBytes = 512 << 10

// ErrNotRecording is wrapped by the error for a file that is not a recording.
var ErrNotRecording = errors.New("not a recording")

// Header describes a recording.
type Header struct {
	// Version is the version of the format.
	Version int `json:"version"`
	// Start is when the recording began, on the recorder's clock.
	Start time.Time `json:"start"`
	// Source names the cluster: its context or address; empty when redacted.
	Source string `json:"source,omitempty"`
	// SourceVersion is the source's Kubernetes version.
	SourceVersion string `json:"sourceVersion,omitempty"`
	Redacted      bool   `json:"redacted,omitempty"`
	// Namespaces and Selector are the restrictions of the recording, if there are any.
	Namespaces []string `json:"namespaces,omitempty"`
	Selector   string   `json:"selector,omitempty"`
	Kinds      []Kind   `json:"kinds"`
}

// Verb says what a change does.
type Verb byte

const (
	// Set creates an object, or replaces it as a whole.
	Set Verb = 'S'
	// Patch changes an object. Readers see it as a Set.
	Patch Verb = 'P'
	// Delete removes an object.
	Delete Verb = 'D'
	// Begun ends the initial list: the objects that existed when the recording started.
	Begun Verb = 'B'
	// Gap says that the source did not answer until now. The changes of that time follow, with
	// the time at which they were found.
	Gap Verb = 'G'
	// End is the last change of a recording that was completed.
	End Verb = 'E'
)

// key identifies an object in a recording.
type key struct {
	kind            int
	namespace, name string
}
