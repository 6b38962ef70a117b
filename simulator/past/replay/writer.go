package replay

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Writer writes a recording. It keeps the latest version of each object to compute the patch to the
// next one. Only one goroutine at a time may use it.
type Writer struct {
	out    io.Writer
	header Header
	kinds  map[Kind]int
	state  map[key][]byte

	block       []byte
	first, last time.Duration
	count       int
	packer      blockfile.Deflater

	changes int
	bytes   int64
	// err is the first error; after it nothing is written.
	err error
}

// NewWriter returns a writer to out. It sets the header's version, and writes the header with the
// first Flush.
func NewWriter(out io.Writer, header Header) *Writer {
	header.Version = formatVersion
	w := &Writer{out: out, header: header, kinds: map[Kind]int{}, state: map[key][]byte{},
		packer: blockfile.Deflater{Format: blockFormat, Level: flate.DefaultCompression}}
	for i, k := range header.Kinds {
		w.kinds[k] = i
	}
	return w
}

// begin writes the header, once.
func (w *Writer) begin() {
	if w.bytes > 0 || w.err != nil {
		return
	}
	data, err := json.Marshal(w.header)
	if err != nil {
		w.err = fmt.Errorf("writing the recording's header: %w", err)
		return
	}
	first, last, count := w.first, w.last, w.count
	w.first, w.last, w.count = 0, 0, 0
	w.writeBlock(blockHeader, data)
	w.first, w.last, w.count = first, last, count
}

// Set writes the current version of an object, and reports whether it has changed. No field of the
// object is null.
func (w *Writer) Set(at time.Time, kind Kind, namespace, name string, object map[string]any) (bool, error) {
	k, err := w.key(kind, namespace, name)
	if err != nil {
		return false, err
	}
	data, err := json.Marshal(object)
	if err != nil {
		return false, fmt.Errorf("recording %s %s/%s: %w", kind.Kind, namespace, name, err)
	}
	if len(data) > maxObjectBytes {
		return false, fmt.Errorf("recording %s %s/%s: it is larger than %d MiB", kind.Kind, namespace, name, maxObjectBytes>>20)
	}
	before, known := w.state[k]
	switch {
	case known && bytes.Equal(before, data):
		return false, nil
	case known:
		old, err := decodeObject(before)
		if err != nil {
			return false, err
		}
		patch, err := json.Marshal(objects.MergePatch(old, object))
		if err != nil {
			return false, fmt.Errorf("comparing %s %s/%s with what it was: %w", kind.Kind, namespace, name, err)
		}
		w.add(at, Patch, k, patch)
	default:
		w.add(at, Set, k, data)
	}
	w.state[k] = data
	return true, w.err
}

// Delete writes that an object was deleted. It writes nothing if the object does not exist.
func (w *Writer) Delete(at time.Time, kind Kind, namespace, name string) error {
	k, err := w.key(kind, namespace, name)
	if err != nil {
		return err
	}
	if _, known := w.state[k]; !known {
		return nil
	}
	delete(w.state, k)
	w.add(at, Delete, k, nil)
	return w.err
}

// Known lists the existing objects of a kind by namespace and name.
func (w *Writer) Known(kind Kind) [][2]string {
	i, ok := w.kinds[kind]
	if !ok {
		return nil
	}
	var out [][2]string
	for k := range w.state {
		if k.kind == i {
			out = append(out, [2]string{k.namespace, k.name})
		}
	}
	slices.SortFunc(out, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return out
}

// Mark writes Begun, Gap or End, with a text.
func (w *Writer) Mark(at time.Time, verb Verb, text string) error {
	w.add(at, verb, key{}, []byte(text))
	return w.err
}

// Flush writes the buffered changes as a block, after the header.
func (w *Writer) Flush() error {
	w.begin()
	if w.count > 0 && w.err == nil {
		w.writeBlock(blockChanges, w.block)
		w.block, w.count = w.block[:0], 0
	}
	return w.err
}

// Changes is how many changes were written.
func (w *Writer) Changes() int { return w.changes }

// Bytes is the length of the recording, without buffered changes.
func (w *Writer) Bytes() int64 { return w.bytes }

func (w *Writer) key(kind Kind, namespace, name string) (key, error) {
	i, ok := w.kinds[kind]
	if !ok {
		return key{}, fmt.Errorf("recording %s: the recording's header does not have the kind", kind.Kind)
	}
	if len(namespace) > maxNameBytes || len(name) > maxNameBytes {
		return key{}, errors.New("recording an object: its name is too long")
	}
	return key{i, namespace, name}, nil
}

// add appends a change to the block. Times never decrease in a recording.
func (w *Writer) add(at time.Time, verb Verb, k key, data []byte) {
	if w.err != nil {
		return
	}
	offset := max(at.Sub(w.header.Start).Truncate(time.Microsecond), w.last, 0)
	if w.count == 0 {
		w.first, w.last = offset, offset
	}
	w.block = binary.AppendUvarint(w.block, uint64((offset-w.last)/time.Microsecond))
	w.block = append(w.block, byte(verb))
	w.block = binary.AppendUvarint(w.block, uint64(k.kind))
	for _, s := range [][]byte{[]byte(k.namespace), []byte(k.name), data} {
		w.block = blockfile.AppendBytes(w.block, s)
	}
	w.last = offset
	w.count++
	w.changes++
	if len(w.block) >= flushBytes {
		_ = w.Flush()
	}
}

func (w *Writer) writeBlock(kind byte, data []byte) {
	written, err := w.packer.Block(data, func(fields []byte, packed int) {
		block{kind: kind, first: w.first, last: w.last, count: w.count, packed: packed, length: len(data)}.encodeFields(fields)
	})
	if err != nil {
		w.err = fmt.Errorf("packing a block of the recording: %w", err)
		return
	}
	// One write, so that a reader of a growing file rarely sees half a block.
	n, err := w.out.Write(written)
	w.bytes += int64(n)
	if err != nil {
		w.err = fmt.Errorf("writing the recording: %w", err)
	}
}
