package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"

	"kube-scheduler-simulator/simulator/cluster/controlplane"
)

const (
	// temporaryName begins the names of temporary data directories.
	temporaryName = "kube-scheduler-simulator-"
	// unlockedName begins their names until they are locked, so that no other program takes a new
	// one for an abandoned one.
	unlockedName = ".new-" + temporaryName
	// ownerFile is locked as long as the program that has made the directory runs.
	ownerFile = "owner"
	// lockFile is what control planes lock. Earlier versions had no ownerFile.
	lockFile = "lock"
)

// makeTemporaryDir creates a data directory that is removed at the end, and by the next program if this
// one is killed. The lock says that it is in use.
func makeTemporaryDir() (dir string, lock io.Closer, err error) {
	made, err := os.MkdirTemp("", unlockedName)
	if err != nil {
		return "", nil, fmt.Errorf("creating a temporary data directory: %w", err)
	}
	held, err := fileutil.TryLockFile(filepath.Join(made, ownerFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("locking a temporary data directory: %w", err), os.RemoveAll(made))
	}
	dir = filepath.Join(filepath.Dir(made), temporaryName+strings.TrimPrefix(filepath.Base(made), unlockedName))
	if err := os.Rename(made, dir); err != nil {
		return "", nil, errors.Join(fmt.Errorf("naming a temporary data directory: %w", err), held.Close(), os.RemoveAll(made))
	}
	return dir, held, nil
}

// removeAbandoned removes the temporary data directories of this user's programs that were killed: they
// hold whole clusters, with their Secrets. What cannot be removed stays; it does no harm to this program.
func removeAbandoned(parent string) error {
	dirs, err := filepath.Glob(filepath.Join(parent, temporaryName+"*"))
	if err != nil {
		return fmt.Errorf("looking for abandoned directories: %w", err)
	}
	var errs []error
	for _, dir := range dirs {
		if !isOwn(dir) {
			continue
		}
		if err := removeUnlessOwned(dir); err != nil {
			errs = append(errs, fmt.Errorf("removing an abandoned directory: %w", err))
		}
	}
	return errors.Join(errs...)
}

// isOwn reports whether path is a directory, not a link to one, and belongs to this user.
func isOwn(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// removeUnlessOwned removes a directory unless a program holds its lock. It leaves one without a lock
// file alone, which some other program may have made.
func removeUnlessOwned(dir string) error {
	lock, err := fileutil.TryLockFile(filepath.Join(dir, ownerFile), os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		lock, err = fileutil.TryLockFile(filepath.Join(dir, lockFile), os.O_RDWR, 0o600)
	}
	switch {
	case errors.Is(err, fileutil.ErrLocked), errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer lock.Close()
	branches, _ := filepath.Glob(filepath.Join(dir, "branches", "*", "data"))
	errs := []error{controlplane.RemoveLeftovers(dir)}
	for _, branch := range branches {
		errs = append(errs, controlplane.RemoveLeftovers(branch))
	}
	return errors.Join(append(errs, os.RemoveAll(dir))...)
}
