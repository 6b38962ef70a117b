// Package datadir owns what concerns a data directory as a whole: the lock that keeps a second
// program out, the inventory of what a start must find there, the replacing of whole files, and the
// wording of damage.
//
// It knows only the names of files, not their formats. It may import etcd's file locks.
package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Lock locks a data directory until the result is closed. It fails at once when the directory is in
// use; etcd's own lock would wait forever.
func Lock(dir string) (io.Closer, error) {
	path := filepath.Join(dir, "lock")
	lock, err := fileutil.TryLockFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("data directory %s is in use by another control plane", dir)
	}
	if err != nil {
		return nil, &Damage{Path: path, Err: err}
	}
	return lock, nil
}

// Damage says which file prevents a start, and what to do about it, in one line.
type Damage struct {
	Path string
	// Err says what is wrong. The text omits its path.
	Err error
	// Do is an instruction. Default: Restore.
	Do string
}

// Restore is the instruction when only a backup can restore the data.
const Restore = "restore the data directory from a backup, or start with another one; nothing in it was deleted"

// Error implements error.
func (d *Damage) Error() string {
	do := d.Do
	if do == "" {
		do = Restore
	}
	return fmt.Sprintf("%s: %v; %s", d.Path, WithoutPath(d.Err), do)
}

func (d *Damage) Unwrap() error { return d.Err }

// WithoutPath returns the cause of an error of a file, without the path and the system call.
func WithoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// DiskAdvice says what to do about a failure of the disk; empty for other errors.
func DiskAdvice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "the disk is full: make room and try again"
	case errors.Is(err, syscall.EROFS):
		return "the disk is read-only: make it writable and try again"
	}
	return ""
}

// WriteFile replaces the file at path; only the owner may read it. After a crash or a power cut the
// file has the old or the new content: the new one if WriteFile had returned nil, the old one after
// an error.
func WriteFile(path string, content []byte) error {
	err := replace(path, content)
	if do := DiskAdvice(err); do != "" {
		return fmt.Errorf("%w; %s", err, do)
	}
	return err
}

func replace(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return SyncDir(filepath.Dir(path))
}

// Remove removes a file, if it exists, so that it does not reappear after a power cut.
func Remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes created, renamed and removed files of a directory survive a power cut.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// CheckOwner returns why a data directory is not safe: another user owns it, or others may write to
// it, who could replace its files even while the program runs. The error names the command that
// mends it.
func CheckOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return WithoutPath(err)
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	me := os.Geteuid()
	// Many systems give each user a private group with the user's number.
	privateGroup := of.Gid == of.Uid
	switch mode := info.Mode().Perm(); {
	case int(of.Uid) != me:
		return fmt.Errorf("the data directory %s belongs to the user %d, and the simulator runs as %d: run chown -R %d %s, chmod 700 %s", dir, of.Uid, me, me, dir, dir)
	case mode&0o002 != 0, mode&0o020 != 0 && !privateGroup:
		return fmt.Errorf("other users may write to the data directory %s (mode %04o): run chmod 700 %s", dir, mode, dir)
	}
	return nil
}
