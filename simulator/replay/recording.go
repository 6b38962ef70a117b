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
// Times are microseconds since the start of the recording, and numbers are little-endian. The block
// headers tell the duration of a recording and the number of its changes without unpacking it.
// Readers ignore an incomplete block, which a killed recorder leaves behind, and read everything
// before it.
//
// A change consists of these values, uvarints unless a length is given: microseconds since the
// previous change (for the first change of a block, since the block's first time), verb [1],
// kind (an index into the header's kinds), and the length and bytes of namespace, name and
// data. The data of Set is the object in JSON, that of Patch a JSON merge patch against the
// previous version, and that of Gap a text.
const (
	blockMagic      = "\xb5kr1"
	blockHeaderSize = len(blockMagic) + 1 + 8 + 8 + 4 + 4 + 4 + 4

	blockHeader  = 'H'
	blockChanges = 'C'
)

// formatVersion is in the header. Readers refuse a newer version.
const formatVersion = 1

// Limits of readers, whatever a file claims.
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
