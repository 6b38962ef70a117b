package manifest

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

type format int

const (
	formatText format = iota
	formatZip
	formatGzip
	formatTar
)

// sniffed is how many bytes identify a format.
const sniffed = 512

func formatOf(head []byte) format {
	const tarMagic = 257
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return formatZip
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return formatGzip
	case len(head) > tarMagic+5 && string(head[tarMagic:tarMagic+5]) == "ustar":
		return formatTar
	}
	return formatText
}

func (r *reader) gzip(name string, content io.Reader) error {
	unpacked, err := gzip.NewReader(content)
	if err != nil {
		return r.report(name, fmt.Errorf("unpacking gzip: %w", err))
	}
	text := bufio.NewReaderSize(r.bounded(unpacked), 64<<10)
	head, err := text.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return r.report(name, fmt.Errorf("unpacking gzip: %w", err))
	}
	switch formatOf(head) {
	case formatTar:
		return r.tar(name, text)
	case formatZip, formatGzip:
		return r.report(name, errors.New("an archive within an archive; unpack it first"))
	}
	return r.text(name, text)
}

func (r *reader) tar(name string, content io.Reader) error {
	files := tar.NewReader(content)
	for entries := 0; ; entries++ {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.report(name, fmt.Errorf("unpacking tar: %w", err))
		}
		if entries == maxEntries {
			return r.report(name, fmt.Errorf("it has more than %d files", maxEntries))
		}
		if header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		source := join(name, header.Name)
		if !r.takes(source, header.Name, header.FileInfo().Mode()) {
			continue
		}
		if err := r.text(source, bufio.NewReader(files)); err != nil {
			return err
		}
	}
}

func (r *reader) zip(name string, content *io.SectionReader) error {
	archive, err := zip.NewReader(content, content.Size())
	// takes reports names that lead out of the archive.
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return r.report(name, fmt.Errorf("unpacking zip: %w", err))
	}
	if len(archive.File) > maxEntries {
		return r.report(name, fmt.Errorf("it has more than %d files", maxEntries))
	}
	for _, f := range archive.File {
		source := join(name, f.Name)
		if !r.takes(source, f.Name, f.Mode()) {
			continue
		}
		if err := r.zipped(source, f); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) zipped(source string, f *zip.File) error {
	content, err := f.Open()
	if err != nil {
		return r.report(source, fmt.Errorf("unpacking zip: %w", err))
	}
	defer content.Close()
	return r.text(source, bufio.NewReader(r.bounded(content)))
}

// takes reports whether to read a file of an archive. The reader never writes a file, so a name
// that leads out of the archive does no harm, but it is suspicious.
func (r *reader) takes(source, name string, mode fs.FileMode) bool {
	base := path.Base(name)
	switch {
	case mode.IsDir():
		return false
	case path.IsAbs(name) || strings.Contains(name, `\`) || !fs.ValidPath(strings.TrimPrefix(path.Clean(name), "./")):
		r.content.Ignored(source, "its name points outside the archive")
		return false
	case strings.HasPrefix(base, ".") || strings.HasPrefix(name, "__MACOSX/"):
		return false // file systems write these
	case !mode.IsRegular():
		r.content.Ignored(source, "it is not a regular file")
		return false
	case !isManifestName(base):
		r.content.Ignored(source, "its name does not end in .yaml, .yml or .json")
		return false
	}
	return true
}

func join(archive, name string) string {
	if archive == "" {
		return name
	}
	return archive + ": " + name
}
