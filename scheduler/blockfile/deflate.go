package blockfile

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
)

// ErrDamaged is wrapped by errors about a wrong checksum, or contents that do not unpack.
var ErrDamaged = errors.New("a block is damaged")

// Contents reads the contents of the block at offset, which are packed bytes long, and verifies the
// checksum, which covers them. An error that does not wrap ErrDamaged is one of reading the file.
func (f Format) Contents(file io.ReaderAt, offset int64, packed int) ([]byte, error) {
	raw := make([]byte, f.HeaderSize()+packed)
	if _, err := file.ReadAt(raw, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading a block: %w", err)
	}
	header, contents := raw[:f.HeaderSize()], raw[f.HeaderSize():]
	if !f.Intact(header, contents) {
		return nil, fmt.Errorf("%w: its checksum does not match", ErrDamaged)
	}
	return contents, nil
}

// Inflate reads and verifies the block at offset as Contents does, and unpacks length bytes from
// its contents, which are a DEFLATE stream.
func (f Format) Inflate(file io.ReaderAt, offset int64, packed, length int) ([]byte, error) {
	contents, err := f.Contents(file, offset, packed)
	if err != nil {
		return nil, err
	}
	unpacker := flate.NewReader(bytes.NewReader(contents))
	defer unpacker.Close()
	data := make([]byte, length)
	if _, err := io.ReadFull(unpacker, data); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return data, nil
}

// Deflater makes blocks whose contents are a DEFLATE stream. Only one goroutine at a time may use
// it. It takes about a MiB of memory at its first use.
type Deflater struct {
	Format Format
	// Level is a level of compress/flate.
	Level int

	buffer bytes.Buffer
	stream *flate.Writer
}

// Block returns a sealed block of data, which the next call overwrites. putFields writes the
// fields, given the length of the contents.
func (d *Deflater) Block(data []byte, putFields func(fields []byte, packed int)) ([]byte, error) {
	if d.stream == nil {
		var err error
		if d.stream, err = flate.NewWriter(nil, d.Level); err != nil {
			return nil, err
		}
	}
	d.buffer.Reset()
	d.buffer.Write(make([]byte, d.Format.HeaderSize()))
	d.stream.Reset(&d.buffer)
	if _, err := d.stream.Write(data); err != nil {
		return nil, err
	}
	if err := d.stream.Close(); err != nil {
		return nil, err
	}
	block := d.buffer.Bytes()
	header, contents := block[:d.Format.HeaderSize()], block[d.Format.HeaderSize():]
	putFields(d.Format.Fields(header), len(contents))
	d.Format.Seal(header, contents)
	return block, nil
}
