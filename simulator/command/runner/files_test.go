package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFilesBelow: a file may name what is beside and below it, and nothing else.
func TestFilesBelow(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"private.txt", "sub/beside.yaml", "sub/below/it.yaml", "subtle/other.yaml"} {
		write(name)
	}
	for link, to := range map[string]string{"sub/away": filepath.Join(dir, "private.txt"), "sub/up": "../private.txt", "sub/near": "below/it.yaml", "sub/dir": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	own := Options{}.files(filepath.Join(dir, "sub", "s.yaml"))
	for name, want := range map[string]string{
		"beside.yaml": "sub/beside.yaml", "./below/it.yaml": "sub/below/it.yaml", "near": "sub/below/it.yaml", "below/../beside.yaml": "sub/beside.yaml",
		filepath.Join(dir, "sub", "beside.yaml"): "sub/beside.yaml",
		"../private.txt":                         "", "away": "", "up": "", "dir/private.txt": "", "../subtle/other.yaml": "", "/etc/hostname": "", filepath.Join(dir, "private.txt"): "",
	} {
		text, err := own.Read(name)
		if string(text) != want || want == "" && !errors.As(err, new(*OutsideError)) {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "private") && !strings.Contains(name, "private") || !strings.Contains(err.Error(), "--files-below")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := own.Read("missing.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	pipe := filepath.Join(dir, "sub", "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := own.Read("pipe"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
	wide := Options{FilesBelow: dir}.files(filepath.Join(dir, "sub", "s.yaml"))
	if text, err := wide.Read("../private.txt"); err != nil || string(text) != "private.txt" {
		t.Errorf("with --files-below: %q, %v", text, err)
	}
	if _, err := wide.Read("/etc/hostname"); !errors.As(err, new(*OutsideError)) {
		t.Errorf("beyond --files-below: %v", err)
	}
}
