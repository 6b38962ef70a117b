package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// text reads a file of documents: YAML, JSON, or both, separated as in YAML.
func (r *reader) text(name string, content *bufio.Reader) error {
	head, err := content.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return r.report(name, fmt.Errorf("reading: %w", err))
	}
	if len(head) == 0 {
		r.content.Ignored(name, "it is empty")
		return nil
	}
	if wrong := encodingOf(head); wrong != "" {
		r.content.Unreadable(name, wrong)
		return nil
	}
	if bytes.HasPrefix(head, byteOrderMark) {
		// It has been peeked, so it is there.
		_, _ = content.Discard(len(byteOrderMark))
	}
	file := &documents{from: content, line: 1}
	for number := 1; ; number++ {
		more, err := file.next()
		if err != nil {
			return r.report(name, err)
		}
		if !more {
			return nil
		}
		if err := r.document(place{file: name, document: number}, file); err != nil {
			return err
		}
	}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// encodingOf returns what is wrong with the encoding of a file, by its first bytes.
func encodingOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return "it is in UTF-16; save it in UTF-8"
	case bytes.IndexByte(head, 0) >= 0:
		return "it is neither text nor a supported archive (tar, tar.gz, gz or zip)"
	}
	return ""
}

type place struct {
	file     string
	document int
}

func (p place) String() string {
	if p.file == "" {
		return fmt.Sprintf("document %d", p.document)
	}
	return fmt.Sprintf("%s, document %d", p.file, p.document)
}

// document reads the next document of a file to its end.
func (r *reader) document(at place, file *documents) error {
	if err := r.another(); err != nil {
		return r.report(at.String(), err)
	}
	content := r.buffer
	content.Reset(file)
	first, err := skipBlank(content)
	if errors.Is(err, io.EOF) {
		return nil // nothing but comments
	}
	if err == nil {
		switch first {
		case '{', '[':
			err = r.json(at, content, file)
		default:
			err = r.yaml(at, content, file.start)
		}
	}
	if err != nil {
		if err := r.report(at.String(), err); err != nil {
			return err
		}
	}
	// The rest of a document that could not be read.
	_, err = io.Copy(io.Discard, file)
	return r.report(at.String(), err)
}

// skipBlank returns the first byte that is not white space, without consuming it. It consumes the
// white space before JSON. Before YAML that may be an indentation, so it returns the first blank
// then.
func skipBlank(content *bufio.Reader) (byte, error) {
	const window = 1024
	for {
		next, err := content.Peek(window)
		rest := bytes.TrimLeft(next, " \t\r\n")
		blank := len(next) - len(rest)
		switch {
		case len(rest) > 0 && rest[0] != '{' && rest[0] != '[':
			return next[0], nil
		case len(rest) > 0:
			_, err = content.Discard(blank)
			return rest[0], err
		case err != nil:
			return 0, err
		}
		if _, err := content.Discard(window / 2); err != nil {
			return 0, err
		}
	}
}

// documents splits a file at lines that start with "---" or "...". That is right for JSON too, in
// which no string has a line break.
type documents struct {
	from *bufio.Reader
	// line is that of the next byte, from 1; start is that of the document's first byte.
	line, start int
	// inLine: the next byte is not the first of its line.
	inLine bool
	ended  bool
	read   bool
}

// next proceeds to the next document, and reports whether there is one.
func (d *documents) next() (bool, error) {
	if _, err := d.from.Peek(1); errors.Is(err, io.EOF) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if d.read {
		if err := d.separator(); err != nil {
			return false, err
		}
	}
	d.start, d.ended, d.read = d.line, false, true
	return true, nil
}

// separator skips the marker before a document, and leaves the rest of its line.
func (d *documents) separator() error {
	if !d.atMarker() {
		return nil
	}
	_, err := d.from.Discard(len("---"))
	d.inLine = true
	return err
}

func (d *documents) atMarker() bool {
	if d.inLine {
		return false
	}
	head, _ := d.from.Peek(len("---") + 1)
	if !bytes.HasPrefix(head, []byte("---")) && !bytes.HasPrefix(head, []byte("...")) {
		return false
	}
	return len(head) == 3 || bytes.IndexByte([]byte(" \t\r\n"), head[3]) >= 0
}

func (d *documents) Read(p []byte) (int, error) {
	if d.ended || len(p) == 0 {
		return 0, d.end(len(p))
	}
	if d.atMarker() {
		if d.line != d.start || d.inLine {
			d.ended = true
			return 0, io.EOF
		}
		// A marker at the start belongs to this document.
		if err := d.separator(); err != nil {
			return 0, err
		}
	}
	part, err := d.peekLine(len(p))
	if len(part) == 0 {
		d.ended = errors.Is(err, io.EOF)
		return 0, err
	}
	n := copy(p, part)
	if _, err := d.from.Discard(n); err != nil {
		return n, err
	}
	d.inLine = part[n-1] != '\n'
	if !d.inLine {
		d.line++
	}
	return n, nil
}

func (d *documents) end(wanted int) error {
	if wanted == 0 {
		return nil
	}
	return io.EOF
}

// peekLine returns the rest of the line, or as much of it as there is and fits.
func (d *documents) peekLine(limit int) ([]byte, error) {
	if _, err := d.from.Peek(1); err != nil {
		return nil, err
	}
	part, _ := d.from.Peek(min(limit, d.from.Buffered()))
	if end := bytes.IndexByte(part, '\n'); end >= 0 {
		part = part[:end+1]
	}
	return part, nil
}
