package manifest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Content receives what Read finds, in order and from the reading goroutine.
type Content struct {
	// Object is required. An error that it returns ends the reading.
	Object func(*Object) error
	// Configuration receives a scheduler configuration, in JSON.
	Configuration func(source string, document []byte)
	// Unreadable gets a place that should hold an object and does not.
	Unreadable func(source, message string)
	// Ignored gets a part of the source that is not read.
	Ignored func(source, message string)
}

// Bounds of a source. They are far above what clusters need, and below the memory of a machine that
// runs one.
const (
	// The unpacked content of all files may have freeUnpacked bytes, and unpackedRatio times their
	// own size, but at most maxUnpacked: exports are packed to a thirtieth or so.
	freeUnpacked  = 64 << 20
	unpackedRatio = 100
	maxUnpacked   = 2 << 30
	// maxObject bounds one object. etcd accepts a tenth of it.
	maxObject = 16 << 20
	// maxWhole bounds a YAML document that is not a list of objects.
	maxWhole = 16 << 20
	// maxDepth bounds the nesting of an object. A CustomResourceDefinition may need several dozen
	// levels.
	maxDepth = 250
	// maxEntries bounds the files of an archive.
	maxEntries = 100_000
	// maxTexts bounds the documents, list items and JSON values of a source.
	maxTexts = 200_000
)

// bounds are those of an object. One that etcd accepts has fewer values.
var bounds = yamlsource.Bounds{Written: maxObject, Values: yamlsource.Object.Values, Size: maxObject, Depth: maxDepth, Path: yamlsource.Object.Path}

// unpackedBound returns how much of files of that size may be unpacked.
func unpackedBound(size int64) int64 {
	return min(maxUnpacked, freeUnpacked+unpackedRatio*min(size, maxUnpacked))
}

// Read reads objects and scheduler configurations from a source. An error is ctx's, that of
// content.Object, or a *LimitError; anything else that is wrong with the source goes to
// content.Unreadable.
func Read(ctx context.Context, s Source, content Content) error {
	if content.Configuration == nil {
		content.Configuration = func(string, []byte) {}
	}
	if content.Unreadable == nil {
		content.Unreadable = func(string, string) {}
	}
	if content.Ignored == nil {
		content.Ignored = func(string, string) {}
	}
	r := &reader{ctx: ctx, content: content, bound: unpackedBound(s.size()), buffer: bufio.NewReaderSize(nil, 64<<10)}
	r.left = r.bound
	for _, c := range s.collected {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.collected(c); err != nil {
			return err
		}
	}
	for _, p := range s.parts {
		if err := r.part(p); err != nil {
			return err
		}
	}
	return nil
}

// reader reads one source. Its methods return errors that end the reading, and report all others.
type reader struct {
	ctx     context.Context
	content Content
	bound   int64 // of the unpacked content
	left    int64 // of bound
	order   int
	texts   int
	buffer  *bufio.Reader
}

// another counts each document, item of a list and JSON value, whatever it holds.
func (r *reader) another() error {
	if r.texts++; r.texts > maxTexts {
		return fatal{&LimitError{Message: fmt.Sprintf("it has more than %d documents and list items, the limit of an import", maxTexts)}}
	}
	return nil
}

// fatal is an error that ends the reading. Other errors are about the content.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// bounded counts unpacked bytes, and ends with ctx.
func (r *reader) bounded(content io.Reader) io.Reader { return &boundedReader{r: r, from: content} }

type boundedReader struct {
	r    *reader
	from io.Reader
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if err := b.r.ctx.Err(); err != nil {
		return 0, fatal{err}
	}
	n, err := b.from.Read(p)
	if b.r.left -= int64(n); b.r.left < 0 {
		return 0, fatal{&LimitError{Message: fmt.Sprintf("unpacked, it has more than %d MiB, the limit for a source of this size", b.r.bound>>20)}}
	}
	return n, err
}

// report returns err if it ends the reading, and otherwise reports that source cannot be read.
func (r *reader) report(source string, err error) error {
	if f, ok := errors.AsType[fatal](err); ok {
		return f.error
	}
	if err != nil {
		r.content.Unreadable(source, err.Error())
	}
	return nil
}

func (r *reader) part(p Part) error {
	head := make([]byte, sniffed)
	n, err := p.Content.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return r.report(p.Name, fmt.Errorf("reading: %w", err))
	}
	whole := io.NewSectionReader(p.Content, 0, p.Size)
	switch formatOf(head[:n]) {
	case formatZip:
		return r.zip(p.Name, whole)
	case formatGzip:
		return r.gzip(p.Name, whole)
	case formatTar:
		return r.tar(p.Name, r.bounded(whole))
	}
	return r.text(p.Name, bufio.NewReaderSize(r.bounded(whole), 64<<10))
}

func (r *reader) object(value map[string]any, source string) error {
	if isConfiguration(value) {
		return r.configuration(value, source)
	}
	o, err := newObject(value, source)
	if err != nil {
		return r.report(source, err)
	}
	r.order++
	o.Order = r.order
	return r.content.Object(o)
}

// LimitError says that a source exceeds a bound.
type LimitError struct{ Message string }

func (e *LimitError) Error() string { return e.Message }
