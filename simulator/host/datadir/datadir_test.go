package datadir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var parts = []Part{{Path: "data/db"}, {Path: "cache", MayBeEmpty: true}, {Path: "log"}}

// filled returns a data directory with some files.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"data", "cache", "log"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"data/db": "the database", "log/1.log": "one", "log/2.log": "two"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func remove(names ...string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		for _, name := range names {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func put(name, content string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInventory(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, dir string)
		// stopped: after an orderly stop, else while the program runs.
		stopped bool
		// start is the latest one; that of the inventory is "7".
		start string
		// path and want are of the error.
		path, want string
	}{
		{name: "unchanged", change: remove(), stopped: true, start: "7"},
		{name: "more files", change: put("log/3.log", "three"), stopped: true, start: "7"},
		{name: "a file is gone", change: remove("log/2.log"), stopped: true, start: "7", path: "log/2.log", want: "is missing, and was there"},
		{name: "a file is gone, while it ran", change: remove("log/2.log")},
		{name: "a file is gone, and another program was there", change: remove("log/2.log"), stopped: true, start: "8"},
		{name: "a file is shorter", change: put("log/2.log", ""), stopped: true, start: "7", path: "log/2.log", want: "has 0 bytes, and had 3"},
		{name: "a file without checksum has changed", change: put("log/2.log", "TWO"), stopped: true, start: "7"},
		{name: "a file with checksum has changed", change: put("data/db", "The database"), stopped: true, start: "7", path: "data/db", want: "has changed since"},
		{name: "a part is gone", change: remove("data"), start: "8", path: "data/db", want: "is missing or empty"},
		{name: "a part is empty", change: remove("log/1.log", "log/2.log"), path: "log", want: "is missing or empty"},
		{name: "a part that may be empty is gone", change: remove("cache"), path: "cache", want: "is missing or empty"},
		{name: "no inventory", change: remove("data", inventoryFile)},
		{name: "a broken inventory", change: put(inventoryFile, "{"), path: inventoryFile, want: "cannot be read: unexpected end of JSON input; if the data directory is complete, delete this file"},
		{name: "a newer inventory", change: put(inventoryFile, `{"format":2}`), path: inventoryFile, want: "in format 2; this version reads format 1; use that version"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filled(t)
			var none *Inventory
			if err := none.Keep(dir, parts); err != nil {
				t.Fatal(err)
			}
			if tc.stopped {
				if err := Stop(t.Context(), dir, "7", parts, []string{"data/db"}, []string{"log/*.log"}); err != nil {
					t.Fatal(err)
				}
			}
			tc.change(t, dir)
			inventory, err := ReadInventory(dir)
			if err == nil {
				err = inventory.Check(t.Context(), dir, tc.start, parts)
			}
			if tc.path == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			damage, ok := errors.AsType[*Damage](err)
			if !ok || damage.Path != filepath.Join(dir, tc.path) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it said %v", err)
			}
		})
	}
}

// A part that never existed is not expected, and the description of an earlier stop does not
// outlive the next start.
func TestKeep(t *testing.T) {
	dir := filled(t)
	remove("log")(t, dir)
	var none *Inventory
	if err := errors.Join(none.Keep(dir, parts), Stop(t.Context(), dir, "7", parts, nil, nil)); err != nil {
		t.Fatal(err)
	}
	inventory, err := ReadInventory(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := inventory.Check(t.Context(), dir, "7", parts); err != nil || inventory.Stopped == nil {
		t.Fatalf("%+v, %v", inventory, err)
	}
	if err := inventory.Keep(dir, parts); err != nil {
		t.Fatal(err)
	}
	if inventory, err = ReadInventory(dir); err != nil || inventory.Stopped != nil {
		t.Errorf("%+v, %v", inventory, err)
	}
}

func TestStopEndsWithItsContext(t *testing.T) {
	dir := filled(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Stop(ctx, dir, "7", parts, []string{"data/db"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("it said %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, inventoryFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is an inventory: %v", err)
	}
}

// TestCheckOwner: a directory into which others may write is not safe, nor is one of another user.
func TestCheckOwner(t *testing.T) {
	dir := t.TempDir()
	for mode, safe := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o777: false, 0o703: false, 0o1777: false} {
		if err := os.Chmod(dir, mode.Perm()); err != nil {
			t.Fatal(err)
		}
		err := CheckOwner(dir)
		if (err == nil) != safe || err != nil && !strings.Contains(err.Error(), "chmod 700 "+dir) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, 65532, 65532)); err != nil {
		t.Fatal(err)
	}
	if err := CheckOwner(dir); err == nil || !strings.Contains(err.Error(), "chown") {
		t.Errorf("of another user: %v", err)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, content := range []string{"one", "two"} {
		if err := WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
	}
	occupied := filepath.Join(dir, "directory")
	if err := os.MkdirAll(filepath.Join(occupied, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(occupied, nil); err == nil {
		t.Error("it has replaced a directory")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left are %v, %v", entries, err)
	}
	if err := errors.Join(Remove(path), Remove(path)); err != nil {
		t.Error(err)
	}
}

func TestDamageIsOneLine(t *testing.T) {
	_, err := os.ReadFile(filepath.Join(t.TempDir(), "none"))
	d := &Damage{Path: "/data/file", Err: err}
	if got := d.Error(); got != "/data/file: no such file or directory; "+Restore {
		t.Errorf("it says %s", got)
	}
	if !errors.Is(d, syscall.ENOENT) {
		t.Error("it hides its cause")
	}
}
