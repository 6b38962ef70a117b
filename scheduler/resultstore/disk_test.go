package resultstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	clocktesting "k8s.io/utils/clock/testing"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/scheduler/result"
)

// persistent returns a started store that stops with the test. Its clock stands
// still, so it writes only when the test advances it.
func persistent(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Clock == nil {
		o.Clock = clocktesting.NewFakeClock(epoch)
	}
	s := New(o)
	start(t, s)
	return s
}

func start(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
}

func stop(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func flush(t testing.TB, s *Store) {
	t.Helper()
	if err := s.writer.flush(); err != nil {
		t.Fatal(err)
	}
}

// forgetMemory drops the cycles in memory that are also on disk.
func forgetMemory(s *Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.index.entries {
		if e := &s.index.entries[i]; e.pod != nil && e.state == written && e.block != nil {
			s.release(e)
		}
	}
}

func listed(t testing.TB, s *Store) []string {
	t.Helper()
	page, err := s.List(result.Query{Limit: result.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return names(page.Items)
}

func numbered(s *Store, from, to int) {
	for i := from; i <= to; i++ {
		s.Put(cycle(fmt.Sprint("pod-", i), 1, result.Scheduled))
	}
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestARestartContinues(t *testing.T) {
	dir := t.TempDir()
	s := persistent(t, Options{Dir: dir})
	s.Put(cycle("a", 1, result.Unschedulable))
	s.Put(cycle("b", 1, result.Waiting))
	flush(t, s)
	s.Put(cycle("a", 2, result.Scheduled))
	s.Put(cycle("b", 1, result.Scheduled))
	stop(t, s)

	s = persistent(t, Options{Dir: dir})
	if diff := cmp.Diff([]string{"a/2", "b/1", "a/1"}, listed(t, s)); diff != "" {
		t.Error(diff)
	}
	if got := [2]int{s.NextAttempt("a"), s.NextAttempt("b")}; got != [2]int{3, 2} {
		t.Errorf("next attempts are %v", got)
	}
	page, err := s.List(result.Query{Outcome: result.Waiting})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("replaced attempts are listed: %v, %v", page.Items, err)
	}
	s.Put(cycle("a", 3, result.Scheduled))
	if diff := cmp.Diff([]string{"a/3", "a/2", "b/1", "a/1"}, listed(t, s)); diff != "" {
		t.Error(diff)
	}
	stop(t, s)
	if diff := cmp.Diff([]string{"00000000.results"}, files(t, dir)); diff != "" {
		t.Errorf("the second run did not continue the file of the first: %s", diff)
	}
}

func TestAKillLosesNothingThatWasWritten(t *testing.T) {
	dir := t.TempDir()
	s := persistent(t, Options{Dir: dir})
	numbered(s, 1, 3)
	flush(t, s)
	numbered(s, 4, 5)
	flush(t, s)
	numbered(s, 6, 6)
	// Other processes see the files of a killed process as it left them, so a copy
	// simulates the kill.
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"pod-5/1", "pod-4/1", "pod-3/1", "pod-2/1", "pod-1/1"}, listed(t, persistent(t, Options{Dir: killed}))); diff != "" {
		t.Error(diff)
	}
}

func TestTheClockWrites(t *testing.T) {
	c := clocktesting.NewFakeClock(epoch)
	s := persistent(t, Options{Dir: t.TempDir(), Clock: c})
	for range 2 {
		numbered(s, s.Len()+1, s.Len()+1)
		for !c.HasWaiters() {
			// The writer is about to wait for its half second.
			yield()
		}
		c.Step(flushInterval)
		for s.unwritten() > 0 {
			yield()
		}
	}
	forgetMemory(s)
	if diff := cmp.Diff([]string{"pod-2/1", "pod-1/1"}, listed(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestPagesGoFromMemoryToDisk(t *testing.T) {
	s := persistent(t, Options{Dir: t.TempDir()})
	numbered(s, 1, 3)
	flush(t, s)
	numbered(s, 4, 6)
	flush(t, s)
	forgetMemory(s)
	numbered(s, 7, 8)

	var got [][]string
	q := result.Query{Limit: 3}
	for {
		page, err := s.List(q)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, names(page.Items))
		s.Put(cycle("later", 1+len(got), result.Error))
		if q.Continue = page.Continue; q.Continue == "" {
			break
		}
	}
	want := [][]string{{"pod-8/1", "pod-7/1", "pod-6/1"}, {"pod-5/1", "pod-4/1", "pod-3/1"}, {"pod-2/1", "pod-1/1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEverythingIsFoundOnDisk(t *testing.T) {
	s := persistent(t, Options{Dir: t.TempDir()})
	s.Put(cycle("a", 1, result.Unschedulable))
	s.Put(cycle("b", 1, result.Scheduled))
	flush(t, s)
	s.Put(cycle("a", 2, result.Scheduled))
	flush(t, s)
	forgetMemory(s)
	attempts, err := s.Attempts("a")
	if diff := cmp.Diff([]string{"a/1", "a/2"}, names(attempts)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	page, err := s.List(result.Query{Outcome: result.Scheduled, Name: "a", Namespace: "default"})
	if diff := cmp.Diff([]string{"a/2"}, names(page.Items)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err := s.Get("b", 1)
	if diff := cmp.Diff(cycle("b", 1, result.Scheduled), got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err := s.Get("b", 2); got != nil || err != nil {
		t.Errorf("got an attempt that does not exist: %v, %v", got, err)
	}
}

func TestMemoryIsBoundedAndDiskHasTheRest(t *testing.T) {
	one := rejectedCycle("pod", 100, false)
	s := persistent(t, Options{Dir: t.TempDir(), MemoryBytes: int64(5 * one.Size())})
	for i := range 50 {
		s.Put(rejectedCycle(fmt.Sprint("pod-", i), 100, false))
		flush(t, s)
		if s.bytes > s.maxBytes {
			t.Fatalf("%d bytes are in memory", s.bytes)
		}
	}
	for i := range 50 {
		want := rejectedCycle(fmt.Sprint("pod-", i), 100, false)
		got, err := s.Get(want.Pod.UID, 1)
		if diff := cmp.Diff(want, got, sameColumns); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	}
}

func TestAReplacedAttemptKeepsItsPlace(t *testing.T) {
	dir := t.TempDir()
	s := persistent(t, Options{Dir: dir})
	s.Put(cycle("a", 1, result.Waiting))
	flush(t, s)
	forgetMemory(s)
	s.Put(cycle("b", 1, result.Scheduled))
	flush(t, s)
	s.Put(cycle("a", 1, result.Scheduled))
	for range 2 {
		if diff := cmp.Diff([]string{"b/1", "a/1"}, listed(t, s)); diff != "" {
			t.Error(diff)
		}
		if got, err := s.Get("a", 1); err != nil || got.Outcome != result.Scheduled {
			t.Errorf("%+v, %v", got, err)
		}
		stop(t, s)
		s = persistent(t, Options{Dir: dir})
	}
}

func TestDiskIsBounded(t *testing.T) {
	const most = 64 << 10
	dir := t.TempDir()
	s := persistent(t, Options{Dir: dir, DiskBytes: most, MemoryBytes: 1})
	put := 0
	for ; put < 400; put++ {
		s.Put(rejectedCycle(fmt.Sprint("pod-", put), 200, false))
		flush(t, s)
		if n := directoryBytes(t, dir); n > most {
			t.Fatalf("%d bytes are on disk", n)
		}
	}
	kept := listed(t, s)
	if len(kept) < 20 || len(kept) == put {
		t.Fatalf("%d of %d are kept", len(kept), put)
	}
	for i, name := range kept {
		if want := fmt.Sprintf("pod-%d/1", put-1-i); name != want {
			t.Fatalf("%s is kept where %s was expected: the oldest go first", name, want)
		}
	}
	stop(t, s)
	s = persistent(t, Options{Dir: dir, DiskBytes: most})
	if diff := cmp.Diff(kept, listed(t, s)); diff != "" {
		t.Error(diff)
	}
	stop(t, s)
	s = persistent(t, Options{Dir: dir, DiskBytes: most / 4})
	if n := directoryBytes(t, dir); n > most/4 || s.Len() == 0 {
		t.Errorf("%d bytes and %d cycles are left with a smaller bound", n, s.Len())
	}
}

func directoryBytes(t *testing.T, dir string) int64 {
	t.Helper()
	var sum int64
	for _, name := range files(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

func TestTheIndexIsBounded(t *testing.T) {
	s := persistent(t, Options{Dir: t.TempDir(), MemoryBytes: 1 << 10})
	for i := 1; i <= 4000; i++ {
		s.Put(cycle(fmt.Sprint("pod-", i), 1, result.Scheduled))
		if i%1000 == 0 {
			flush(t, s)
		}
	}
	if s.index.bytes > minIndexBytes || s.Len() < 1000 {
		t.Errorf("the index takes %d bytes for %d cycles", s.index.bytes, s.Len())
	}
	if got := listed(t, s)[0]; got != "pod-4000/1" {
		t.Errorf("the newest is %s", got)
	}
}

func TestPutWaitsForTheWriterOnlyWhenItIsFarBehind(t *testing.T) {
	c := clocktesting.NewFakeClock(epoch)
	one := cycle("a", 1, result.Scheduled)
	s := persistent(t, Options{Dir: t.TempDir(), Clock: c, MemoryBytes: int64(16 * one.Size())})
	// The clock stands still, so the store writes only because the backlog is full.
	numbered(s, 1, 1000)
	if s.Len() != 1000 {
		t.Errorf("%d cycles are kept", s.Len())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes > s.maxBytes {
		t.Errorf("%d bytes are in memory", s.bytes)
	}
}

func TestReset(t *testing.T) {
	dir := t.TempDir()
	s := persistent(t, Options{Dir: dir})
	numbered(s, 1, 3)
	flush(t, s)
	numbered(s, 4, 5)
	s.Reset()
	if s.Len() != 0 || len(files(t, dir)) != 0 {
		t.Errorf("%d cycles and %v are left", s.Len(), files(t, dir))
	}
	numbered(s, 6, 6)
	stop(t, s)
	if diff := cmp.Diff([]string{"pod-6/1"}, listed(t, persistent(t, Options{Dir: dir}))); diff != "" {
		t.Error(diff)
	}

	memory := New(Options{})
	numbered(memory, 1, 3)
	memory.Reset()
	if memory.Len() != 0 || memory.NextAttempt("pod-1") != 1 {
		t.Error("a store in memory is not reset")
	}
}

func TestStartRefuses(t *testing.T) {
	used := New(Options{Dir: t.TempDir()})
	numbered(used, 1, 1)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Store{"used": used, "no directory": New(Options{Dir: file})} {
		if err := s.Start(context.Background()); err == nil {
			t.Errorf("%s: no error", name)
		}
		if err := s.Stop(context.Background()); err != nil {
			t.Errorf("%s: stop: %v", name, err)
		}
	}
}

func TestReadersAndTheWriterRunConcurrently(t *testing.T) {
	s := persistent(t, Options{Dir: t.TempDir(), DiskBytes: 64 << 10, MemoryBytes: 64 << 10, Durable: true})
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-done:
					return
				default:
					read(t, s)
				}
			}
		}()
	}
	for i := range 100 {
		c := rejectedCycle(fmt.Sprint("pod-", i), 50, i%3 == 0)
		s.Put(c)
		if i%10 == 0 {
			flush(t, s)
		}
	}
	close(done)
	readers.Wait()
}

// read calls every method that reads.
func read(t *testing.T, s *Store) {
	page, err := s.List(result.Query{})
	if err != nil {
		t.Error(err)
	}
	for _, item := range page.Items {
		if _, err := s.Attempts(item.Pod.UID); err != nil {
			t.Error(err)
		}
		if c, err := s.Get(item.Pod.UID, item.Attempt); err != nil || c != nil && c.Pod != item.Pod {
			t.Errorf("%+v, %v", c, err)
		}
	}
	s.NextAttempt("pod-1")
	s.Len()
	s.Health()
}

// quota is a file system with a limited number of free bytes.
type quota struct {
	mu   sync.Mutex
	left int
}

func (q *quota) set(left int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.left = left
}

func (q *quota) open(path string, flag int) (blockfile.Handle, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	return &quotaFile{Handle: f, quota: q}, err
}

type quotaFile struct {
	blockfile.Handle
	quota *quota
}

func (f *quotaFile) WriteAt(data []byte, at int64) (int, error) {
	f.quota.mu.Lock()
	defer f.quota.mu.Unlock()
	fits := min(len(data), f.quota.left)
	f.quota.left -= fits
	n, err := f.Handle.WriteAt(data[:fits], at)
	if err == nil && fits < len(data) {
		err = syscall.ENOSPC
	}
	return n, err
}

func TestAFullDiskIsSeenAndLosesNothing(t *testing.T) {
	dir := t.TempDir()
	c := clocktesting.NewFakeClock(epoch)
	logger, log := capture(t)
	s := New(Options{Dir: dir, Clock: c, Logger: logger})
	disk := &quota{left: 300}
	s.writer.files.Open = disk.open
	start(t, s)
	numbered(s, 1, 50)
	for !unhealthy(s) {
		if c.HasWaiters() {
			c.Step(flushInterval)
		}
		yield()
	}
	if _, message := s.Health(); !strings.Contains(message, syscall.ENOSPC.Error()) || !strings.Contains(message, dir) {
		t.Errorf("health says %q", message)
	}
	numbered(s, 51, 60)
	if len(listed(t, s)) != 60 {
		t.Errorf("%d cycles are kept", s.Len())
	}

	disk.set(1 << 20)
	for unhealthy(s) || s.unwritten() > 0 {
		if c.HasWaiters() {
			c.Step(retryInterval)
		}
		yield()
	}
	want := listed(t, s)
	stop(t, s)
	if diff := cmp.Diff(want, listed(t, persistent(t, Options{Dir: dir}))); diff != "" {
		t.Error(diff)
	}
	if got := log(); strings.Count(got, "Cannot write results") != 1 || strings.Count(got, "Results are written again") != 1 {
		t.Errorf("the log says\n%s", got)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("a disk that filled up within a block is not damage, but there are %v", got)
	}
}

func TestAFullDiskDoesNotFillMemory(t *testing.T) {
	s := New(Options{Dir: t.TempDir(), Clock: clocktesting.NewFakeClock(epoch), MemoryBytes: 20 << 10})
	s.writer.files.Open = new(quota).open
	start(t, s)
	numbered(s, 1, 5)
	if err := s.writer.flush(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	numbered(s, 6, 100)
	if s.bytes > s.maxBytes || s.Len() == 0 || listed(t, s)[0] != "pod-100/1" {
		t.Errorf("%d bytes, %v", s.bytes, listed(t, s))
	}
	if _, message := s.Health(); !strings.Contains(message, fmt.Sprintf("%d that did not fit were dropped", 100-s.Len())) {
		t.Errorf("health says %q", message)
	}
	if err := s.Stop(context.Background()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("stop says %v", err)
	}
}

// capture returns a logger and a function that returns its output.
func capture(t *testing.T) (klog.Logger, func() string) {
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	return logger, func() string {
		return logger.GetSink().(ktesting.Underlier).GetBuffer().String()
	}
}

func unhealthy(s *Store) bool {
	ok, _ := s.Health()
	return !ok
}

func (s *Store) unwritten() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.writer.backlog
}
