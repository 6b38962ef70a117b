package blockfile

import (
	"bytes"
	"errors"
	"testing"
)

var format = Format{Magic: "\xb5tst", FieldBytes: 2}

func sealed(contents string) []byte {
	block := append(make([]byte, format.HeaderSize()), contents...)
	copy(format.Fields(block), "ab")
	format.Seal(block[:format.HeaderSize()], block[format.HeaderSize():])
	return block
}

func TestABlockReadsBack(t *testing.T) {
	file := append([]byte("before"), sealed("contents")...)
	header, err := format.ReadHeader(bytes.NewReader(file), 6, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(format.Fields(header)); got != "ab" {
		t.Errorf("fields %q", got)
	}
	if !format.Intact(header, []byte("contents")) {
		t.Error("the block is not intact")
	}
	if at := format.Next(file); at != 6 {
		t.Errorf("next block at %d, want 6", at)
	}
}

func TestEveryDamagedByteIsDetected(t *testing.T) {
	for i := range sealed("contents") {
		damaged := sealed("contents")
		damaged[i] ^= 1
		if format.Intact(damaged[:format.HeaderSize()], damaged[format.HeaderSize():]) {
			t.Errorf("byte %d is damaged, but the block counts as intact", i)
		}
	}
}

func TestATornHeaderIsNoBlock(t *testing.T) {
	block := sealed("")
	for n := range block {
		if _, err := format.ReadHeader(bytes.NewReader(block), 0, int64(n)); !errors.Is(err, ErrNoBlock) {
			t.Errorf("%d bytes: %v, want ErrNoBlock", n, err)
		}
	}
	if _, err := format.ReadHeader(bytes.NewReader([]byte("some other file")), 0, 15); !errors.Is(err, ErrNoBlock) {
		t.Errorf("%v, want ErrNoBlock", err)
	}
}

// Existing files must stay readable.
func TestTheLayoutStays(t *testing.T) {
	const want = "\xb5tstab" + "\x29\x5f\xcc\xaf" + "contents"
	if got := string(sealed("contents")); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
