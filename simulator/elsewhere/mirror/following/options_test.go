package following

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnEmptySaltIsRefused: with an empty salt, names would differ at each start, and so from those
// of the objects that are kept.
func TestAnEmptySaltIsRefused(t *testing.T) {
	dir := t.TempDir()
	first, err := salt(dir)
	if err != nil || len(first) == 0 {
		t.Fatalf("the first salt: %q, %v", first, err)
	}
	if second, err := salt(dir); err != nil || string(second) != string(first) {
		t.Errorf("the next salt differs: %v", err)
	}
	if err := os.Truncate(filepath.Join(dir, saltFile), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := salt(dir); err == nil || !strings.Contains(err.Error(), "has 0 bytes") {
		t.Errorf("an empty salt: %v", err)
	}
}
