package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Recording is a recording that is open for reading. Many goroutines may read it.
type Recording struct {
	Header Header
	// End is the time of the last change.
	End time.Time
	// Changes is the number of changes.
	Changes int
	// Truncated: the file ends within a block, because the recorder was killed, or with data
	// that are not a block. The blocks before are valid.
	Truncated bool

	file   io.ReaderAt
	size   int64
	blocks []block
	// end is where the blocks end. If the file is truncated, torn says that the beginning of a
	// block follows, or zeros, which a power cut may leave.
	end  int64
	torn bool
	// maxState bounds the objects that exist at a time, in bytes of JSON.
	maxState int64
}

// Open reads the header and the positions of the blocks. Readers read from file later. The error for
// a file that is not a recording wraps ErrNotRecording.
func Open(file io.ReaderAt, size int64) (*Recording, error) {
	r := &Recording{file: file, size: size, maxState: stateBound(size)}
	for offset := int64(0); offset < size; {
		b, err := readBlock(file, offset, size)
		if err != nil {
			if offset == 0 {
				return nil, fmt.Errorf("%w: %w", ErrNotRecording, err)
			}
			r.Truncated, r.torn = true, isTorn(file, offset, size, err)
			break
		}
		if err := r.take(b); err != nil {
			return nil, err
		}
		offset = b.end()
		r.end = offset
	}
	if len(r.Header.Kinds) == 0 {
		return nil, fmt.Errorf("%w: it has no header", ErrNotRecording)
	}
	return r, nil
}

// isTorn reports whether what follows offset may be the rest of an unfinished write, after readBlock
// has failed there with err.
func isTorn(file io.ReaderAt, offset, size int64, err error) bool {
	if errors.Is(err, errCutOff) {
		return true
	}
	head := make([]byte, min(size-offset, int64(blockFormat.HeaderSize())))
	if _, err := file.ReadAt(head, offset); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	zeros := len(bytes.TrimLeft(head, "\x00")) == 0
	return zeros || len(head) < blockFormat.HeaderSize() && strings.HasPrefix(blockFormat.Magic, string(head[:min(len(head), len(blockFormat.Magic))]))
}

// stateBound returns how many bytes the objects of a file of that size may have at a time.
func stateBound(size int64) int64 {
	return min(maxStateBytes, freeStateBytes+stateRatio*min(size, maxStateBytes))
}

// take adds a block. The first one must be the header.
func (r *Recording) take(b block) error {
	if (b.kind == blockHeader) != (len(r.Header.Kinds) == 0) {
		return fmt.Errorf("%w: it does not have one header, at its beginning", ErrNotRecording)
	}
	if b.kind == blockHeader {
		data, err := r.unpack(b)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNotRecording, err)
		}
		if err = checkObject(data); err == nil {
			err = json.Unmarshal(data, &r.Header)
		}
		if err != nil {
			return fmt.Errorf("%w: its header cannot be read: %w", ErrNotRecording, err)
		}
		if r.Header.Version > formatVersion {
			return fmt.Errorf("the recording has format %d, and this program reads formats up to %d", r.Header.Version, formatVersion)
		}
		if len(r.Header.Kinds) == 0 {
			return fmt.Errorf("%w: its header names no kinds", ErrNotRecording)
		}
		r.End = r.Header.Start
		return nil
	}
	r.Changes += b.count
	if most := freeChanges + r.size/changeBytes; int64(r.Changes) > most {
		return fmt.Errorf("the recording has more than %d changes, the limit for a recording of this size", most)
	}
	if end := r.Header.Start.Add(b.last); end.After(r.End) {
		r.End = end
	}
	if len(r.blocks) == maxBlocks {
		return fmt.Errorf("the recording has more than %d blocks", maxBlocks)
	}
	r.blocks = append(r.blocks, b)
	return nil
}

// unpack reads, checks and unpacks a block.
func (r *Recording) unpack(b block) ([]byte, error) {
	return blockFormat.Inflate(r.file, b.offset, b.packed, b.length)
}

// Change is a change in a recording.
type Change struct {
	Time time.Time
	// Verb is never Patch: Object is whole.
	Verb Verb
	// Kind, Namespace and Name identify the object; zero for a mark.
	Kind            Kind
	Namespace, Name string
	// Object is the object after a Set, and nil otherwise. Before is the object before the
	// change; nil when it did not exist. Both belong to the caller.
	Object, Before map[string]any
	// Text is the text of a mark.
	Text string
}

// Reader reads a recording's changes in order. Only one goroutine may use it.
type Reader struct {
	recording *Recording
	next      int // block
	data      []byte
	left      int // changes in data
	at        time.Duration
	state     map[key][]byte
	bytes     int64
}

// Read returns a reader at the start.
func (r *Recording) Read() *Reader {
	return &Reader{recording: r, state: map[key][]byte{}}
}

// Peek returns the time of the next change without taking it, or io.EOF.
func (r *Reader) Peek() (time.Time, error) {
	c, err := r.peek()
	return r.time(c.at), err
}

// Next returns the next change, or io.EOF. Any other error names the position in the recording.
func (r *Reader) Next() (Change, error) {
	encoded, err := r.peek()
	if err != nil {
		return Change{}, err
	}
	c, err := r.decode(encoded)
	return c, r.place(err)
}

// encodedChange is a change in the form of the file.
type encodedChange struct {
	at   time.Duration
	verb Verb
	key  key
	data []byte
	// rest is the remainder of the block.
	rest []byte
}

// peek parses the next change without taking it.
func (r *Reader) peek() (encodedChange, error) {
	for len(r.data) == 0 {
		if r.next == len(r.recording.blocks) {
			return encodedChange{}, io.EOF
		}
		b := r.recording.blocks[r.next]
		data, err := r.recording.unpack(b)
		if err != nil {
			return encodedChange{}, fmt.Errorf("reading the recording at %s: %w", r.time(b.first).Format(time.RFC3339), err)
		}
		r.next++
		r.data, r.left, r.at = data, b.count, b.first
	}
	if r.left == 0 {
		return encodedChange{}, r.place(errors.New("a block has more changes than it says"))
	}
	c, err := r.parse()
	return c, r.place(err)
}

func (r *Reader) time(at time.Duration) time.Time { return r.recording.Header.Start.Add(at) }

// place adds the position in the recording to an error. It returns nil for nil.
func (r *Reader) place(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("reading the recording after %s: %w", r.time(r.at).Format(time.RFC3339), err)
}

func (r *Reader) parse() (encodedChange, error) {
	v := blockfile.Values{Rest: r.data}
	step := v.Uvarint()
	c := encodedChange{verb: Verb(v.Byte())}
	kind := v.Uvarint()
	namespace, name := string(v.Bytes(maxNameBytes)), string(v.Bytes(maxNameBytes))
	c.data = v.Bytes(maxObjectBytes)
	if v.Err != nil {
		return c, v.Err
	}
	last := r.recording.End.Sub(r.recording.Header.Start)
	if step > uint64(last/time.Microsecond) || r.at+time.Duration(step)*time.Microsecond > last {
		return c, errors.New("a change lies behind the end of the recording")
	}
	if kind >= uint64(len(r.recording.Header.Kinds)) {
		return c, errors.New("a change is of a kind that the header does not have")
	}
	c.at, c.rest = r.at+time.Duration(step)*time.Microsecond, v.Rest
	c.key = key{int(kind), namespace, name}
	return c, nil
}

// decode takes a change and decodes its objects.
func (r *Reader) decode(e encodedChange) (c Change, err error) {
	before, after, err := r.take(e)
	if err != nil {
		return c, err
	}
	c.Time, c.Verb = r.time(e.at), e.verb
	switch e.verb {
	case Begun, Gap, End:
		c.Text = string(e.data)
		return c, nil
	}
	c.Kind, c.Namespace, c.Name = r.recording.Header.Kinds[e.key.kind], e.key.namespace, e.key.name
	if before != nil {
		if c.Before, err = decodeObject(before); err != nil {
			return c, err
		}
	}
	if after != nil {
		c.Verb = Set
		c.Object, err = decodeObject(after)
	}
	return c, err
}

// pass consumes a change.
func (r *Reader) pass(e encodedChange) {
	r.data, r.at = e.rest, e.at
	r.left--
}

// take consumes a change and returns the object before and after it; nil when it does not exist, and
// for a mark. It does not decode whole objects.
func (r *Reader) take(e encodedChange) (before, after []byte, err error) {
	r.pass(e)
	before, known := r.state[e.key]
	switch e.verb {
	case Begun, Gap, End:
		return nil, nil, nil
	case Delete:
		delete(r.state, e.key)
		r.bytes -= int64(len(before))
		return before, nil, nil
	case Set:
		if err := checkObject(e.data); err != nil {
			return nil, nil, err
		}
		after = bytes.Clone(e.data)
	case Patch:
		if err := checkObject(e.data); err != nil {
			return nil, nil, err
		}
		kind := r.recording.Header.Kinds[e.key.kind].Kind
		if !known {
			return nil, nil, fmt.Errorf("%s %s/%s is changed before it exists", kind, e.key.namespace, e.key.name)
		}
		if after, err = jsonpatch.MergePatch(before, e.data); err != nil {
			return nil, nil, fmt.Errorf("patching %s %s/%s: %w", kind, e.key.namespace, e.key.name, err)
		}
		if len(after) > uncheckedBytes {
			if err := checkObject(after); err != nil {
				return nil, nil, err
			}
		}
	default:
		return nil, nil, fmt.Errorf("there is no verb %q", byte(e.verb))
	}
	r.bytes += int64(len(after) - len(before))
	if len(after) > maxObjectBytes {
		return nil, nil, fmt.Errorf("an object is larger than %d MiB", maxObjectBytes>>20)
	}
	if r.bytes > r.recording.maxState {
		return nil, nil, fmt.Errorf("its objects are larger than %d MiB together, the limit for a recording of this size", r.recording.maxState>>20)
	}
	r.state[e.key] = after
	return before, after, nil
}

// checkObject bounds what an object takes when it is decoded.
func checkObject(data []byte) error {
	if wrong := yamlsource.Object.JSON(data); wrong != nil {
		return fmt.Errorf("an object cannot be read: %s", wrong.Message)
	}
	return nil
}

func decodeObject(data []byte) (map[string]any, error) {
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("an object cannot be read: %w", err)
	}
	if object == nil {
		return nil, errors.New("an object is null")
	}
	return object, nil
}
