package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAbandonedDirectoriesAreRemoved: only the directories of programs that have ended are removed.
func TestAbandonedDirectoriesAreRemoved(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	used, held, err := makeTemporaryDir()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	abandoned, lock, err := makeTemporaryDir()
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(abandoned, "etcd", "secrets"))
	if err := lock.Close(); err != nil { // as the end of its process does
		t.Fatal(err)
	}
	earlier := filepath.Join(parent, temporaryName+"1")
	put(t, filepath.Join(earlier, lockFile))
	foreign := filepath.Join(parent, temporaryName+"notes")
	put(t, filepath.Join(foreign, "notes.txt"))
	kept := filepath.Join(t.TempDir(), "kept")
	put(t, filepath.Join(kept, lockFile))
	link := filepath.Join(parent, temporaryName+"link")
	if err := os.Symlink(kept, link); err != nil {
		t.Fatal(err)
	}

	if err := removeAbandoned(parent); err != nil {
		t.Fatal(err)
	}
	got, err := filepath.Glob(filepath.Join(parent, "*"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{used, foreign, link}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("left are %v, want %v", got, want)
	}
	if _, err := os.Stat(filepath.Join(kept, lockFile)); err != nil {
		t.Errorf("it followed a link: %v", err)
	}
}

func put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}
