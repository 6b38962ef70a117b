package resultstore

import (
	"context"

	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/blockfile"
)

const (
	fileHeader = "kube-scheduler-simulator results 1\n"
	fileSuffix = ".results"

	// The oldest file is about one filesPerStore-th of the store; maxFileBytes bounds it.
	filesPerStore = 16
	maxFileBytes  = 64 << 20
)

type loadedBlock struct {
	*block
	keys []key
}

// newFiles returns the directory of a store's blocks. A B+tree such as bbolt's would need several
// times the CPU per write for the free pages between blocks of any length, never shrinks, and cannot
// detect a damaged page.
func newFiles(dir string, logger klog.Logger) blockfile.Dir[loadedBlock] {
	return blockfile.Dir[loadedBlock]{
		Path: dir, Suffix: fileSuffix, Holds: "results", Header: fileHeader, Format: blockFormat, Strict: true,
		Size: func(header []byte) (int64, bool) {
			var b block
			ok := b.parseHeader(header)
			return b.size(), ok
		},
		Read: func(f *blockfile.File, at int64, header []byte) (loadedBlock, error) {
			b := &block{file: f, offset: at}
			b.parseHeader(header)
			keys, err := b.keys()
			return loadedBlock{b, keys}, err
		},
		Repaired: func(l *blockfile.Loaded[loadedBlock]) {
			if l.Torn {
				logger.Info("An unfinished write at the end of a file of results was cut off", "file", l.Path, "sizeNow", l.Size)
				return
			}
			cycles := 0
			for _, b := range l.Blocks {
				cycles += len(b.Value.keys)
			}
			logger.Error(l.Damage, "A file of results is damaged and was set aside", "file", l.Path, "setAside", l.SetAside, "cyclesSaved", cycles)
		},
	}
}

// Check returns the *blockfile.UnreadableError with which Start would refuse a directory. It changes
// nothing.
func Check(ctx context.Context, dir string) error {
	files := newFiles(dir, klog.Logger{})
	return files.Check(ctx)
}
