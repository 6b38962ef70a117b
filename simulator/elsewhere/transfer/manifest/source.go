package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Part is one file of a Source.
type Part struct {
	// Name is for messages. A single part needs none.
	Name    string
	Content io.ReaderAt
	Size    int64
}

// Source is what Read reads: files, each of which may be an archive, or collected objects. The
// content of a file decides its format.
type Source struct {
	parts     []Part
	collected []collected
	close     func() error
}

// NewSource returns a source of parts, which Read reads in this order. It does not close them.
func NewSource(parts ...Part) Source { return Source{parts: parts} }

// NewClosingSource is NewSource with a function that closes the parts.
func NewClosingSource(close func() error, parts ...Part) Source {
	return Source{parts: parts, close: close}
}

// Named gives the single part of a source another name.
func (s Source) Named(name string) Source {
	if len(s.parts) == 1 {
		s.parts = []Part{{name, s.parts[0].Content, s.parts[0].Size}}
	}
	return s
}

// OpenSource opens a file, an archive or a directory. Of a directory it takes the files that end in
// .yaml, .yml or .json, at any depth, in the order of their paths, without hidden ones.
func OpenSource(path string) (Source, error) {
	at, err := os.Stat(path)
	if err != nil {
		return Source{}, err
	}
	paths := []string{path}
	base := filepath.Dir(path)
	if at.IsDir() {
		base = path
		if paths, err = manifestsIn(path); err != nil {
			return Source{}, err
		}
		if len(paths) == 0 {
			return Source{}, fmt.Errorf("the directory %s has no files that end in .yaml, .yml or .json", path)
		}
	}
	var opened []*os.File
	s := Source{close: func() error {
		var errs []error
		for _, f := range opened {
			errs = append(errs, f.Close())
		}
		return errors.Join(errs...)
	}}
	for _, p := range paths {
		part, f, err := openPart(base, p)
		if err != nil {
			return Source{}, errors.Join(err, s.Close())
		}
		opened = append(opened, f)
		s.parts = append(s.parts, part)
	}
	return s, nil
}

// maxFiles bounds the files of a directory, which are all open at once.
const maxFiles = 4096

func manifestsIn(dir string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != dir && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.IsDir() && isManifestName(path) {
			paths = append(paths, path)
		}
		if len(paths) > maxFiles {
			return fmt.Errorf("%s has more than %d files", dir, maxFiles)
		}
		return nil
	})
	slices.Sort(paths)
	return paths, err
}

func openPart(base, path string) (Part, *os.File, error) {
	at, err := os.Stat(path)
	if err == nil && !at.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path) // to open a pipe would wait for whoever writes it
	}
	if err != nil {
		return Part{}, nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return Part{}, nil, err
	}
	name, err := filepath.Rel(base, path)
	if err != nil {
		name = path
	}
	return Part{Name: filepath.ToSlash(name), Content: f, Size: at.Size()}, f, nil
}

// size is that of all files, as stored.
func (s Source) size() int64 {
	var size int64
	for _, p := range s.parts {
		size += p.Size
	}
	return size
}

// MaxHeld bounds the objects in memory at once while this source is imported, in bytes of JSON. A
// small file cannot take much memory, whatever its aliases and its compression promise.
func (s Source) MaxHeld() int64 {
	if len(s.collected) > 0 {
		return MaxHeld
	}
	return min(MaxHeld, unpackedBound(s.size()))
}

// Close closes the files.
func (s Source) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

func isManifestName(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
