// Package datadir prevents two control planes from using the same data directory. It may
// import etcd's file locks.
package datadir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Lock locks a data directory until the result is closed. It fails at once when the directory
// is in use; etcd's own lock would wait forever.
func Lock(dir string) (io.Closer, error) {
	lock, err := fileutil.TryLockFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("data directory %s is in use by another control plane", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	return lock, nil
}
