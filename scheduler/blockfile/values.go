package blockfile

import (
	"encoding/binary"
	"errors"
)

var (
	// ErrShort is the error of Values for contents that end within a value.
	ErrShort = errors.New("a block ends within a value")
	// ErrLong is the error of Values for a value that is longer than its limit.
	ErrLong = errors.New("a value in a block is too long")
)

// Values reads values from the contents of a block. After the first error it reads zeros, so a
// caller checks Err once, at the end. What it returns shares memory with Rest.
type Values struct {
	// Rest is unread; nil after an error.
	Rest []byte
	Err  error
}

// Fail sets Err, unless it is set.
func (v *Values) Fail(err error) {
	if v.Err == nil {
		v.Err = err
	}
	v.Rest = nil
}

// Uvarint reads an unsigned number of variable length.
func (v *Values) Uvarint() uint64 {
	x, n := binary.Uvarint(v.Rest)
	if n <= 0 {
		v.Fail(ErrShort)
		return 0
	}
	v.Rest = v.Rest[n:]
	return x
}

// Varint reads a signed number of variable length.
func (v *Values) Varint() int64 {
	x, n := binary.Varint(v.Rest)
	if n <= 0 {
		v.Fail(ErrShort)
		return 0
	}
	v.Rest = v.Rest[n:]
	return x
}

// Byte reads a byte.
func (v *Values) Byte() byte {
	if len(v.Rest) == 0 {
		v.Fail(ErrShort)
		return 0
	}
	b := v.Rest[0]
	v.Rest = v.Rest[1:]
	return b
}

// Take reads n bytes.
func (v *Values) Take(n uint64) []byte {
	if n > uint64(len(v.Rest)) {
		v.Fail(ErrShort)
		return nil
	}
	b := v.Rest[:n:n]
	v.Rest = v.Rest[n:]
	return b
}

// Bytes reads a length of at most limit, and that many bytes.
func (v *Values) Bytes(limit int) []byte {
	n := v.Uvarint()
	if n > uint64(limit) && n <= uint64(len(v.Rest)) {
		v.Fail(ErrLong)
		return nil
	}
	return v.Take(n)
}

// AppendBytes appends what Bytes reads.
func AppendBytes[T ~[]byte | ~string](out []byte, value T) []byte {
	return append(binary.AppendUvarint(out, uint64(len(value))), value...)
}
