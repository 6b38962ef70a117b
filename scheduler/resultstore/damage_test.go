package resultstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/scheduler/result"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// yield lets another goroutine run before a condition is checked again.
func yield() { runtime.Gosched() }

// written3 returns a file of three blocks with two cycles each, and the offsets of
// the blocks.
func written3(t testing.TB) (data []byte, offsets []int64) {
	t.Helper()
	dir := t.TempDir()
	s := persistent(t, Options{Dir: dir})
	for i := range 3 {
		s.Put(rejectedCycle(fmt.Sprint("pod-", 2*i+1), 20, true))
		s.Put(scoredCycle(fmt.Sprint("pod-", 2*i+2), 20, 10))
		flush(t, s)
	}
	for i := 0; i < 6; i += 2 {
		offsets = append(offsets, s.index.entries[i].block.offset)
	}
	data, err := os.ReadFile(filepath.Join(dir, "00000000.results"))
	if err != nil {
		t.Fatal(err)
	}
	return data, offsets
}

func TestADamagedFileIsRepaired(t *testing.T) {
	data, offsets := written3(t)
	all := []string{"pod-6/1", "pod-5/1", "pod-4/1", "pod-3/1", "pod-2/1", "pod-1/1"}
	keysOf := func(block int) int { return int(offsets[block]) + blockFormat.HeaderSize() }
	const nothing, cut, aside = "", "was cut off", "was set aside"
	for _, tc := range []struct {
		name string
		data []byte
		want []string
		log  string
	}{
		{"empty", nil, nil, nothing},
		{"cut in the file's header", data[:10], nil, cut},
		{"cut after the file's header", data[:offsets[0]], nil, nothing},
		{"cut in the last block's header", data[:offsets[2]+5], all[2:], cut},
		{"cut in the last block", data[:len(data)-1], all[2:], cut},
		{"cut in the first block", data[:offsets[0]+100], nil, cut},
		{"zeros instead of the last block", zeroed(data, int(offsets[2]), len(data)), all[2:], cut},
		{"followed by the beginning of a block", append(slices.Clone(data), "\xb5kb1 and so on"...), all, cut},
		{"followed by other bytes", append(slices.Clone(data), "and so on, for more than the header of a block"...), all, aside},
		{"flipped in the file's header", flipped(data, 3), all, aside},
		{"flipped in a block's magic", flipped(data, int(offsets[1])), join(all[:2], all[4:]), aside},
		{"flipped in a block's lengths", flipped(data, int(offsets[1])+6), join(all[:2], all[4:]), aside},
		{"flipped in a block's keys", flipped(data, keysOf(1)+3), join(all[:2], all[4:]), aside},
		{"flipped in the last block's keys", flipped(data, keysOf(2)+3), all[2:], aside},
		{"zeros in the middle", zeroed(data, int(offsets[1]), int(offsets[2])), join(all[:2], all[4:]), aside},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "00000000.results")
			if err := os.WriteFile(path, tc.data, 0o600); err != nil {
				t.Fatal(err)
			}
			logger, log := capture(t)
			s := persistent(t, Options{Dir: dir, Logger: logger})
			if diff := cmp.Diff(tc.want, listed(t, s)); diff != "" {
				t.Error(diff)
			}
			lines := 1
			if tc.log == nothing {
				lines = 0
			}
			if got := log(); strings.Count(got, "\n") != lines || !strings.Contains(got, tc.log) {
				t.Errorf("the log says\n%s", got)
			}
			got, err := os.ReadFile(path + ".corrupt-1")
			if keeps := tc.log == aside; keeps && (err != nil || string(got) != string(tc.data)) || !keeps && err == nil {
				t.Errorf("the file that was set aside: %d bytes, %v", len(got), err)
			}
			// The saved cycles and the next one are present at the next start.
			s.Put(cycle("next", 1, result.Scheduled))
			stop(t, s)
			logger, log = capture(t)
			s = persistent(t, Options{Dir: dir, Logger: logger})
			if diff := cmp.Diff(join([]string{"next/1"}, tc.want), listed(t, s)); diff != "" || log() != "" {
				t.Error(diff, log())
			}
		})
	}
}

// TestWhatCannotBeReadIsAnError has twelve files, most of them good, as a store has that
// another version has used: none may change.
func TestWhatCannotBeReadIsAnError(t *testing.T) {
	data, _ := written3(t)
	newer := append([]byte("kube-scheduler-simulator results 2\n"), data[len(fileHeader):]...)
	for _, tc := range []struct {
		name string
		put  func(path string) error
		want string
	}{
		{"a newer version's file", writes(newer), "another version of the simulator wrote it, in format 2; this version reads format 1"},
		{"a much newer version's file", writes([]byte("kube-scheduler-simulator results 1000\n")), "in format 1000"},
		{"a foreign file", writes([]byte("this is not a file of results")), "it does not start like a file of results"},
		{"an empty file before others", writes(nil), "it does not start like a file of results"},
		{"a file of zeros", writes(make([]byte, len(data))), "nothing in it can be read as results"},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o700) }, "it is not a regular file"},
		{"a link", func(path string) error { return os.Symlink("nowhere", path) }, "it is not a regular file"},
		{"a file that cannot be opened", nil, "permission denied"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for number := range uint64(12) {
				if err := writes(data)(filepath.Join(dir, fmt.Sprintf("%08d.results", number))); err != nil {
					t.Fatal(err)
				}
			}
			// This one would be repaired.
			if err := writes(data[:len(data)-1])(filepath.Join(dir, "00000003.results")); err != nil {
				t.Fatal(err)
			}
			bad := filepath.Join(dir, "00000007.results")
			s := New(Options{Dir: dir})
			if tc.put == nil {
				s.writer.files.Open = locked{bad}.open
			} else if err := errors.Join(os.Remove(bad), tc.put(bad)); err != nil {
				t.Fatal(err)
			}
			before := contents(t, dir)
			err := s.Start(context.Background())
			var unreadable *blockfile.UnreadableError
			if !errors.As(err, &unreadable) || unreadable.Path != bad || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it said %v", err)
			}
			if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
				t.Errorf("the directory has changed: %s", diff)
			}
		})
	}
}

func TestASalvageWithoutRoomChangesNothing(t *testing.T) {
	data, offsets := written3(t)
	dir := t.TempDir()
	if err := writes(flipped(data, int(offsets[1])))(filepath.Join(dir, "00000000.results")); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	s := New(Options{Dir: dir})
	s.writer.files.Open = (&quota{left: 300}).open
	if err := s.Start(context.Background()); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), filepath.Join(dir, "00000000.results")) {
		t.Errorf("it said %v", err)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("the directory has changed: %s", diff)
	}
}

// locked is a file system in which one file may not be opened.
type locked struct{ path string }

func (l locked) open(path string, flag int) (blockfile.Handle, error) {
	if path == l.path {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EACCES}
	}
	return os.OpenFile(path, flag, 0o600)
}

func writes(data []byte) func(path string) error {
	return func(path string) error { return os.WriteFile(path, data, 0o600) }
}

// contents returns the content of each file of a directory, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range files(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			data = []byte(errors.Unwrap(err).Error())
		}
		out[name] = string(data)
	}
	return out
}

func TestARecordThatCannotBeReadIsSkipped(t *testing.T) {
	data, offsets := written3(t)
	dir := t.TempDir()
	b := blockAt(t, data, offsets[1])
	summaries := int(offsets[1]) + blockFormat.HeaderSize() + int(b.extents[partKeys].length)
	damaged := flipped(data, summaries+1)
	if err := os.WriteFile(filepath.Join(dir, "00000000.results"), damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	logger, log := capture(t)
	s := persistent(t, Options{Dir: dir, Logger: logger})
	for range 2 {
		if diff := cmp.Diff([]string{"pod-6/1", "pod-5/1", "pod-2/1", "pod-1/1"}, listed(t, s)); diff != "" {
			t.Error(diff)
		}
	}
	if got := log(); strings.Count(got, "Cannot read results") != 1 {
		t.Errorf("the log says\n%s", got)
	}
	for i := 1; i <= 6; i++ {
		var want = rejectedCycle(fmt.Sprint("pod-", i), 20, true)
		if i%2 == 0 {
			want = scoredCycle(fmt.Sprint("pod-", i), 20, 10)
		}
		got, err := s.Get(want.Pod.UID, 1)
		if unreadable := i == 3 || i == 4; unreadable {
			if err == nil {
				t.Errorf("pod-%d is read from a damaged block", i)
			}
			continue
		}
		if diff := cmp.Diff(want, got, sameColumns); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}

func TestFilesSetAsideStay(t *testing.T) {
	data, offsets := written3(t)
	dir := t.TempDir()
	for range 6 {
		if err := writes(flipped(data, int(offsets[1])))(filepath.Join(dir, "00000000.results")); err != nil {
			t.Fatal(err)
		}
		stop(t, persistent(t, Options{Dir: dir}))
	}
	if got := files(t, dir); len(got) != 7 {
		t.Errorf("left are %v", got)
	}
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"README", "1.results", "x.results"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := persistent(t, Options{Dir: dir})
	numbered(s, 1, 1)
	stop(t, s)
	want := []string{"00000000.results", "1.results", "README", "x.results"}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// A store starts on any bytes, or refuses to and changes nothing. It returns every cycle that it
// lists, and keeps later cycles.
func FuzzStart(f *testing.F) {
	data, offsets := written3(f)
	f.Add([]byte{}, 0)
	f.Add([]byte(fileHeader), 0)
	f.Add(data, 0)
	f.Add(data[:len(data)/2], 0)
	for _, at := range append(offsets, 40, int64(len(data)-10)) {
		f.Add(data, int(at)+1)
		f.Add(data[:at], 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, flip int) {
		dir := t.TempDir()
		if flip > 0 && flip < len(data) {
			data = flipped(data, flip)
		}
		if err := os.WriteFile(filepath.Join(dir, "00000000.results"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := New(Options{Dir: dir, Clock: clocktesting.NewFakeClock(epoch)})
		var unreadable *blockfile.UnreadableError
		if err := s.Start(context.Background()); errors.As(err, &unreadable) {
			if got := contents(t, dir)["00000000.results"]; got != string(data) {
				t.Error("the file has changed")
			}
			return
		} else if err != nil {
			t.Fatal(err)
		}
		page, err := s.List(result.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			_, _ = s.Get(item.Pod.UID, item.Attempt)
		}
		s.Put(cycle("next", 1, result.Scheduled))
		stop(t, s)
		s = persistent(t, Options{Dir: dir})
		if got, err := s.Get("next", 1); err != nil || got == nil {
			t.Errorf("the cycle that was put is missing: %v", err)
		}
		stop(t, s)
	})
}

// A record with valid checksums and any content is either read or refused.
func FuzzDecode(f *testing.F) {
	b := newBlockBuilder()
	for _, c := range []*result.Cycle{rejectedCycle("a", 20, true), scoredCycle("b", 20, 10)} {
		if err := b.add(1, c); err != nil {
			f.Fatal(err)
		}
	}
	summaries, rests, tables := b.summaries.ends[0], b.rests.ends[0], b.tables.ends[0]
	known := b.names.encode()
	f.Add(b.summaries.data.Bytes()[:summaries], b.rests.data.Bytes()[:rests], b.tables.data.Bytes()[:tables], known)
	f.Add(b.summaries.data.Bytes()[summaries:], b.rests.data.Bytes()[rests:], b.tables.data.Bytes()[tables:], known)
	f.Fuzz(func(t *testing.T, summary, rest, tables, encodedNames []byte) {
		known, err := decodeNames(encodedNames)
		if err != nil {
			return
		}
		c, err := decodeRecord(record{summary: summary, rest: rest, tables: tables}, known)
		if err == nil && c.Filter != nil && len(c.Filter.VerdictOf) != c.Filter.Nodes.Len() {
			t.Error("a filter without a verdict for each node")
		}
		_, _ = decodeRows(rest)
		_, _ = unpack(rest)
	})
}

func flipped(data []byte, at int) []byte {
	out := append([]byte(nil), data...)
	out[at] ^= 0x20
	return out
}

func zeroed(data []byte, from, to int) []byte {
	out := slices.Clone(data)
	clear(out[from:to])
	return out
}

func join(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func blockAt(t *testing.T, data []byte, at int64) *block {
	t.Helper()
	b := &block{}
	if !b.parseHeader(data[at : at+int64(blockFormat.HeaderSize())]) {
		t.Fatalf("no block at %d", at)
	}
	return b
}
