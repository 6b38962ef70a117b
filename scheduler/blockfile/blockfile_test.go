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

func TestABlockInflates(t *testing.T) {
	d := Deflater{Format: format, Level: 1}
	data := bytes.Repeat([]byte("nodes "), 1000)
	var file []byte
	for range 2 { // a Deflater is used repeatedly
		block, err := d.Block(data, func(fields []byte, packed int) { fields[0] = byte(packed) })
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, block...)
	}
	size := len(file) / 2
	packed := size - format.HeaderSize()
	for offset := range 2 {
		got, err := format.Inflate(bytes.NewReader(file), int64(offset*size), packed, len(data))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if got := format.Fields(file)[0]; int(got) != packed {
		t.Errorf("the fields say %d bytes, want %d", got, packed)
	}
	if _, err := format.Inflate(bytes.NewReader(file), 0, packed, len(data)+1); !errors.Is(err, ErrDamaged) {
		t.Errorf("error %v for a block that is shorter than it says", err)
	}
	file[size-1]++
	if _, err := format.Inflate(bytes.NewReader(file), 0, packed, len(data)); !errors.Is(err, ErrDamaged) {
		t.Errorf("error %v for a damaged block", err)
	}
}

func TestValuesReadBack(t *testing.T) {
	v := Values{Rest: AppendBytes([]byte{0xac, 0x02, 0x01, 7}, "node-1")}
	if n, m, b, s := v.Uvarint(), v.Varint(), v.Byte(), v.Bytes(10); n != 300 || m != -1 || b != 7 || string(s) != "node-1" || v.Err != nil || len(v.Rest) != 0 {
		t.Errorf("%d, %d, %d, %q, %v", n, m, b, s, v.Err)
	}
	for name, tc := range map[string]struct {
		data []byte
		want error
	}{
		"cut off":        {AppendBytes(nil, "node-1")[:4], ErrShort},
		"too long":       {AppendBytes(nil, "node-10000000"), ErrLong},
		"of wrong claim": {[]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, ErrShort},
		"empty":          {nil, ErrShort},
	} {
		v := Values{Rest: tc.data}
		if got := v.Bytes(10); got != nil || !errors.Is(v.Err, tc.want) || v.Rest != nil {
			t.Errorf("%s: %q, %v", name, got, v.Err)
		}
		if v.Byte() != 0 || !errors.Is(v.Err, tc.want) {
			t.Errorf("%s: the first error is gone: %v", name, v.Err)
		}
	}
}
