// Package blockfile frames the blocks of append-only files, so that a reader detects damage and the
// torn tail of an unfinished write. A block is
//
//	magic, fields [fixed size], checksum [4] of all that and of the bytes it covers
//
// followed by its contents. The fields say how long those are. Numbers are little-endian, checksums
// CRC-32C.
//
// The package knows nothing of fields and contents, and writes no files: a caller seals a header
// and appends the block in one write. Deflater, Inflate and Values are for contents that are one
// DEFLATE stream of numbers and byte strings. It may import the standard library only.
package blockfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

const checksumSize = 4

var checksums = crc32.MakeTable(crc32.Castagnoli)

// ErrNoBlock is returned where no whole block starts.
var ErrNoBlock = errors.New("no block starts here")

// Checksum returns the checksum of data, for fields that hold one.
func Checksum(data []byte) uint32 { return crc32.Checksum(data, checksums) }

// Format is one kind of block.
type Format struct {
	Magic      string
	FieldBytes int
}

// HeaderSize is the number of bytes before a block's contents.
func (f Format) HeaderSize() int { return len(f.Magic) + f.FieldBytes + checksumSize }

// Fields returns the part of a header in which a writer puts the fields.
func (f Format) Fields(header []byte) []byte {
	return header[len(f.Magic) : len(f.Magic)+f.FieldBytes]
}

// Seal writes the magic and the checksum around the fields. covered is what the checksum covers
// beside the header: the contents, or nothing if the fields hold the checksums of parts that are
// read apart.
func (f Format) Seal(header, covered []byte) {
	copy(header, f.Magic)
	binary.LittleEndian.PutUint32(header[len(f.Magic)+f.FieldBytes:], f.checksum(header, covered))
}

// Intact reports whether a header is of this format and its checksum matches.
func (f Format) Intact(header, covered []byte) bool {
	return f.starts(header) && binary.LittleEndian.Uint32(header[len(f.Magic)+f.FieldBytes:]) == f.checksum(header, covered)
}

func (f Format) checksum(header, covered []byte) uint32 {
	return crc32.Update(Checksum(header[:len(f.Magic)+f.FieldBytes]), checksums, covered)
}

func (f Format) starts(header []byte) bool {
	return len(header) >= f.HeaderSize() && string(header[:len(f.Magic)]) == f.Magic
}

// ReadHeader reads the header at offset of a file of the given size. It returns ErrNoBlock if the
// file ends too early and if there is no magic. It does not verify the checksum: see Intact.
func (f Format) ReadHeader(file io.ReaderAt, offset, size int64) ([]byte, error) {
	if size-offset < int64(f.HeaderSize()) {
		return nil, ErrNoBlock
	}
	header := make([]byte, f.HeaderSize())
	if _, err := file.ReadAt(header, offset); err != nil {
		return nil, err
	}
	if !f.starts(header) {
		return nil, ErrNoBlock
	}
	return header, nil
}

// Next returns where in data the next block may start, -1 when none does.
func (f Format) Next(data []byte) int { return bytes.Index(data, []byte(f.Magic)) }
