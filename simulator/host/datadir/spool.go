package datadir

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const (
	// reservedBytes, or a tenth of the disk if that is less, stay free for etcd and the results: a
	// full disk makes every write of the cluster fail.
	reservedBytes = 1 << 30
	// The free space is checked after each spoolStep.
	spoolStep = 4 << 20
)

// ErrDiskFull says that the disk of the data directory has no room for an upload beside the
// cluster.
var ErrDiskFull = errors.New("the disk of the data directory has too little space left: the upload could not be stored")

// Space returns the free and the total bytes of the disk that dir is on.
func Space(dir string) (free, total uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, fmt.Errorf("checking the free space of %s: %w", dir, err)
	}
	return uint64(s.Bavail) * uint64(s.Bsize), uint64(s.Blocks) * uint64(s.Bsize), nil
}

// Spool is a file for data that is too large for memory. Writing fails before the disk is so full
// that the cluster suffers. Only one goroutine may write.
type Spool struct {
	file  *os.File
	dir   string
	space func(dir string) (free, total uint64, err error)
	// left is how much may be written before the next check.
	left int64
	// named: the file has its name until Close.
	named bool
}

// NewSpool returns an empty file in a data directory. The file is already unlinked, so it
// disappears even if the program is killed.
func NewSpool(dir, what string) (*Spool, error) {
	s, err := NewNamedSpool(dir, what)
	if err != nil {
		return nil, err
	}
	s.named = false
	if err := os.Remove(s.Name()); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// NewNamedSpool is NewSpool for those who open the file by its name. Close removes it.
func NewNamedSpool(dir, what string) (*Spool, error) {
	f, err := os.CreateTemp(dir, what+"-")
	if err != nil {
		return nil, err
	}
	return &Spool{file: f, dir: dir, space: Space, named: true}, nil
}

// Name is the path of the file. Only NewNamedSpool's is there.
func (s *Spool) Name() string { return s.file.Name() }

// Write implements io.Writer. The error wraps ErrDiskFull when too little space is left.
func (s *Spool) Write(p []byte) (int, error) {
	if s.left < int64(len(p)) {
		free, total, err := s.space(s.dir)
		if err != nil {
			return 0, err
		}
		if reserve := min(reservedBytes, total/10); free < reserve+max(spoolStep, uint64(len(p))) {
			return 0, fmt.Errorf("%w: %d MiB are free, and %d MiB are kept free for the cluster", ErrDiskFull, free>>20, reserve>>20)
		}
		s.left = max(spoolStep, int64(len(p)))
	}
	s.left -= int64(len(p))
	return s.file.Write(p)
}

// ReadAt implements io.ReaderAt.
func (s *Spool) ReadAt(p []byte, offset int64) (int, error) { return s.file.ReadAt(p, offset) }

// Close removes the file.
func (s *Spool) Close() error {
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
