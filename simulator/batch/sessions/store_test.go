package sessions

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/result"
)

func add(t *testing.T, s *store, kind Kind, n int) {
	t.Helper()
	for range n {
		err := s.add(Entry{Kind: kind, StartTime: time.Unix(1, 0).UTC()}, func(number int64) ([]byte, error) { return json.Marshal(number) })
		if err != nil {
			t.Fatal(err)
		}
	}
}

func numbers(entries []Entry) []int64 {
	var out []int64
	for _, e := range entries {
		out = append(out, e.Number)
	}
	return out
}

func open(t *testing.T, dir string) *store {
	t.Helper()
	s, err := openStore(dir, klog.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.log.Stop() })
	return s
}

// Records outlive a restart, and one that was cut off does not keep the others from being read.
func TestRecordsOutliveARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	add(t, s, SessionKind, 2)
	add(t, s, RoundKind, 1)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	file, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(file, "KSES1\n\x50\x00")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	add(t, s, SessionKind, 1)
	if diff := cmp.Diff([]int64{4, 3, 2, 1}, numbers(s.list("", 0, 10))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{2}, numbers(s.list(SessionKind, 4, 1))); diff != "" {
		t.Error(diff)
	}
	if got := string(s.get(3)); got != "3" {
		t.Errorf("record 3 is %q", got)
	}
}

// The oldest records go first.
func TestRecordsAreBounded(t *testing.T) {
	dir := t.TempDir()
	add(t, open(t, dir), SessionKind, 2*maxRecords+10)
	s := open(t, dir)
	all := numbers(s.list("", 0, 10*maxRecords))
	if len(all) != maxRecords || all[0] != 2*maxRecords+10 || s.get(1) != nil {
		t.Errorf("%d records, the newest %d", len(all), all[0])
	}
}

// sink counts attempts.
type sink map[types.UID]int

func (s sink) NextAttempt(uid types.UID) int { return s[uid] + 1 }

func (s sink) Put(c *result.Cycle) { s[c.Pod.UID] = c.Attempt }

// A pod that stays pending for the same reason has no new attempt in every session.
func TestAttemptsAreThoseThatDiffer(t *testing.T) {
	a, got := Attempts{}, sink{}
	for _, message := range []string{"no room", "no room", "no room", "overused", "no room"} {
		a.Put(got, &result.Cycle{Summary: result.Summary{Pod: result.Pod{UID: "p"}, Outcome: result.Unschedulable, Message: message}})
	}
	if got["p"] != 3 {
		t.Errorf("%d attempts, want 3", got["p"])
	}
}
