package replay

import (
	"errors"
	"hash/crc32"
	"time"
)

// A recording is a sequence of blocks. The first holds the header, each other one
// changes:
//
//	magic [4], type [1], first time [8], last time [8], changes [4],
//	packed length [4], length [4], checksum of all that and of the packed bytes [4],
//	packed bytes: DEFLATE
//
// Times are microseconds since the begin of the recording, numbers little-endian.
// The headers of the blocks tell how long a recording is and how much it holds
// without unpacking it. A block is whole or it does not count: what a recorder that
// was killed had begun to write is left out, and everything before it can be read.
//
// A change is, in uvarints but where it says otherwise: microseconds since the
// change before (in a block, the first since the block's first time), verb [1],
// kind (an index into the header's kinds), and the length and bytes of namespace,
// name and data. The data of Set is the object in JSON, that of Patch a JSON merge
// patch against the object's version before, that of Gap and Note a text.
const (
	blockMagic      = "\xb5kr1"
	blockHeaderSize = len(blockMagic) + 1 + 8 + 8 + 4 + 4 + 4 + 4

	blockHeader  = 'H'
	blockChanges = 'C'
)

// formatVersion is in the header; readers refuse a later one.
const formatVersion = 1

// Bounds of what a reader takes, whatever a file says.
const (
	maxPackedBytes = 32 << 20
	maxBlockBytes  = 32 << 20
	maxObjectBytes = 8 << 20
	maxNameBytes   = 1 << 10
	maxStateBytes  = 4 << 30
	maxChanges     = 1 << 31
)

// flushBytes is how much a block holds, before it is packed.
const flushBytes = 512 << 10

var checksums = crc32.MakeTable(crc32.Castagnoli)

// ErrNotRecording is wrapped by the error of a file that is none.
var ErrNotRecording = errors.New("not a recording")

// Header says what a recording is of.
type Header struct {
	// Version is the format's.
	Version int `json:"version"`
	// Start is when the recording began, on the recorder's clock.
	Start time.Time `json:"start"`
	// Source names the cluster: its context or address; empty when redacted.
	Source string `json:"source,omitempty"`
	// SourceVersion is Kubernetes'.
	SourceVersion string `json:"sourceVersion,omitempty"`
	Redacted      bool   `json:"redacted,omitempty"`
	// Namespaces and Selector restrict what was recorded; empty when they do not.
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
	// Begun ends the list of what was there when the recording began.
	Begun Verb = 'B'
	// Gap says that the source was away until now: what changed meanwhile follows,
	// with the time at which it was found out.
	Gap Verb = 'G'
	// End is the last change of a recording that was ended in order.
	End Verb = 'E'
)

// key identifies an object in a recording.
type key struct {
	kind            int
	namespace, name string
}
