package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// aWholeRecording returns a recording of several blocks, and where its blocks begin.
func aWholeRecording(t testing.TB) (data []byte, blocks []int) {
	t.Helper()
	f := newFile(t)
	for i := range 4 {
		f.set(i, nodeKind, "", "n1", fmt.Sprintf(`{"a":%d,"b":{"c":"%s"}}`, i, strings.Repeat("x", i)))
		f.set(i, podKind, "default", fmt.Sprint("p", i), `{"spec":{"nodeName":"n1"}}`)
		blocks = append(blocks, f.Buffer.Len())
		f.flush()
	}
	f.mark(5, End)
	blocks = append(blocks, f.Buffer.Len())
	f.flush()
	return f.Buffer.Bytes(), blocks
}

// TestEveryDamagedByteOfARecordingIsFound: whichever byte of a recording is flipped, it is refused
// before anything is played. The one exception is a last block whose length is damaged, so that it
// looks like one that a killed recorder has left.
func TestEveryDamagedByteOfARecordingIsFound(t *testing.T) {
	data, blocks := aWholeRecording(t)
	if err := verify(data); err != nil {
		t.Fatal(err)
	}
	last := blocks[len(blocks)-1]
	length := last + len(blockFormat.Magic) + 21
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x41
		err := verify(damaged)
		if !errors.Is(err, ErrNotRecording) && (i < length || i >= length+4) {
			t.Errorf("byte %d of %d (the last block begins at %d): %v", i, len(data), last, err)
		}
	}
}

// TestWhatAKilledRecorderLeavesIsWhole: a recording may end anywhere.
func TestWhatAKilledRecorderLeavesIsWhole(t *testing.T) {
	data, _ := aWholeRecording(t)
	header, err := readBlock(bytes.NewReader(data), 0, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for end := int(header.end()); end <= len(data); end++ {
		if err := verify(data[:end]); err != nil {
			t.Errorf("cut off after %d of %d bytes: %v", end, len(data), err)
		}
	}
	if err := verify(append(bytes.Clone(data), make([]byte, 4096)...)); err != nil {
		t.Errorf("followed by zeros, which a power cut may leave: %v", err)
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	data, _ := aWholeRecording(t)
	r, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestTheStateOfARecordingIsBounded: a small file that unpacks to many objects is refused while it is
// read, at a bound that grows with the file.
func TestTheStateOfARecordingIsBounded(t *testing.T) {
	f := newFile(t)
	large := fmt.Sprintf(`{"a":"%s"}`, strings.Repeat("x", 4<<20))
	for i := range 20 {
		f.set(i, podKind, "default", fmt.Sprint("p", i), large)
	}
	f.flush()
	data := f.Buffer.Bytes()
	r, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 1<<20 {
		t.Fatalf("the recording has %d bytes", len(data))
	}
	_, err = r.Read().Skip(t.Context(), r.End)
	if err == nil || !strings.Contains(err.Error(), "its objects are larger than") {
		t.Errorf("it said %v", err)
	}
	if got, want := stateBound(0), int64(64<<20); got != want {
		t.Errorf("the bound of an empty file is %d, not %d", got, want)
	}
	if got, want := stateBound(1<<30), int64(1<<30); got != want {
		t.Errorf("the bound of a large file is %d, not %d", got, want)
	}
}

func verify(data []byte) error {
	r, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	return r.Verify(context.Background())
}
