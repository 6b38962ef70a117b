package datadir

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestAnUploadLeavesSpaceForTheCluster: an upload fails while 1 GiB, or a tenth of a small disk, is
// still free.
func TestAnUploadLeavesSpaceForTheCluster(t *testing.T) {
	for _, tc := range []struct {
		name        string
		free, total uint64
		fits        int64
	}{
		{"a large disk", 1<<30 + 20<<20, 1 << 40, 20 << 20},
		{"a small disk", 10<<20 + 12<<20, 100 << 20, 12 << 20},
		{"a full disk", 1 << 30, 1 << 40, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := NewSpool(t.TempDir(), "import")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var stored int64
			s.space = func(string) (uint64, uint64, error) { return tc.free - uint64(stored), tc.total, nil }
			block := strings.Repeat("x", 1<<20)
			for err == nil && stored < 1<<30 {
				var n int
				n, err = io.WriteString(s, block)
				stored += int64(n)
			}
			if !errors.Is(err, ErrDiskFull) || stored != tc.fits {
				t.Errorf("after %d bytes: %v; want to stop after %d", stored, err, tc.fits)
			}
			if read, err := io.ReadAll(io.NewSectionReader(s, 0, stored)); err != nil || int64(len(read)) != stored {
				t.Errorf("of %d bytes it reads %d: %v", stored, len(read), err)
			}
		})
	}
}
