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
	temporaryName = "kube-scheduler-simulator-"
	// unlockedName begins their names until they are locked, so that no other program takes a new
	// directory for an abandoned one.
	unlockedName = ".new-" + temporaryName
	// The program that made the directory locks ownerFile as long as it runs.
	ownerFile = "owner"
	// Control planes lock lockFile. Earlier versions had no ownerFile.
	lockFile = "lock"
)

// This program removes the directory at its end; if it is killed, the next one does. The lock says
// that the directory is in use.
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

// removeAbandoned removes the temporary data directories that this user's killed programs left:
// they hold whole clusters, with their Secrets. What it cannot remove stays, and does this program
// no harm.
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

// removeUnlessOwned removes a directory unless a program holds its lock. It leaves one without a
// lock file alone, because some other program may have made it.
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
