package recordlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/host/recordlog"
)

func start(t *testing.T, dir string, records int) *recordlog.Log[string] {
	t.Helper()
	l := recordlog.New(recordlog.Options[string]{
		What: "the tests", Magic: "KTST1\n", Suffix: ".test", Bytes: 4000, Records: records, Dir: dir,
		Read: func(text []byte) (int64, string, error) {
			number, err := strconv.ParseInt(string(text), 10, 64)
			return number, string(text), err
		},
	})
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Stop() })
	return l
}

func add(t *testing.T, l *recordlog.Log[string], n int) {
	t.Helper()
	for range n {
		err := l.Append(func(number int64) (string, []byte, error) {
			text := fmt.Sprint(number)
			return text, []byte(text), nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func newest(l *recordlog.Log[string], below int64) (out []int64) {
	for r := range l.Newest(below) {
		out = append(out, r.Number)
	}
	return out
}

func TestRecordsOutliveAnAbruptEnd(t *testing.T) {
	dir := t.TempDir()
	add(t, start(t, dir, 0), 3)
	files, err := filepath.Glob(filepath.Join(dir, "*.test"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	// The last write ends in the middle.
	if err := os.WriteFile(files[0], whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	l := start(t, dir, 0)
	add(t, l, 1)
	if diff := cmp.Diff([]int64{3, 2, 1}, newest(start(t, dir, 0), -1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{2, 1}, newest(l, 3)); diff != "" {
		t.Error(diff)
	}
}

// A damaged record costs no other one, and the damaged file stays. Earlier versions named files with
// 19 digits.
func TestDamageCostsOneRecord(t *testing.T) {
	dir := t.TempDir()
	add(t, start(t, dir, 0), 3)
	files, err := filepath.Glob(filepath.Join(dir, "*.test"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	old := filepath.Join(dir, "0000000000000000001.test")
	if err := errors.Join(os.Remove(files[0]), os.WriteFile(old, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	add(t, start(t, dir, 0), 1)
	if diff := cmp.Diff([]int64{4, 3, 1}, newest(start(t, dir, 0), -1)); diff != "" {
		t.Error(diff)
	}
	if aside, err := os.ReadFile(old + ".corrupt-1"); err != nil || !bytes.Equal(aside, data) {
		t.Errorf("the file that was set aside: %d bytes, %v", len(aside), err)
	}
}

func TestBothBounds(t *testing.T) {
	l := start(t, t.TempDir(), 10)
	add(t, l, 25)
	if got := newest(l, -1); len(got) != 10 || got[0] != 25 || l.Get(15) != nil || string(l.Get(16)) != "16" {
		t.Error(got)
	}
	dir := t.TempDir()
	add(t, start(t, dir, 0), 5000)
	total := 0
	for r := range start(t, dir, 0).Newest(-1) {
		total += len(r.Text)
	}
	if total > 4000 || total < 500 {
		t.Errorf("%d bytes are kept", total)
	}
}

// A record that cannot be made takes no number.
func TestAFailureTakesNoNumber(t *testing.T) {
	l := start(t, "", 0)
	broken := errors.New("broken")
	if err := l.Append(func(int64) (string, []byte, error) { return "", nil, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	add(t, l, 1)
	if diff := cmp.Diff([]int64{1}, newest(l, -1)); diff != "" {
		t.Error(diff)
	}
}

func TestNumbersGoOnAfterAReset(t *testing.T) {
	dir := t.TempDir()
	l := start(t, dir, 0)
	add(t, l, 2)
	if err := l.Reset(); err != nil {
		t.Fatal(err)
	}
	add(t, l, 1)
	if diff := cmp.Diff([]int64{3}, newest(start(t, dir, 0), -1)); diff != "" {
		t.Error(diff)
	}
}
