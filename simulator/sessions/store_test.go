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

// Records outlive a restart, and a line that was cut off does not keep the others from being read.
func TestRecordsOutliveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, SessionKind, 2)
	add(t, s, RoundKind, 1)
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(file, `{"entry":{"number":4`)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = openStore(path); err != nil {
		t.Fatal(err)
	}
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
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

// The oldest records go first, from memory and from the file.
func TestRecordsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, SessionKind, 2*maxRecords+10)
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if s, err = openStore(path); err != nil {
		t.Fatal(err)
	}
	all := numbers(s.list("", 0, 10*maxRecords))
	if len(all) != maxRecords || all[0] != 2*maxRecords+10 || s.get(1) != nil || s.written != maxRecords {
		t.Errorf("%d records, the newest %d, %d lines", len(all), all[0], s.written)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

// sink counts attempts.
type sink map[types.UID]int

func (s sink) NextAttempt(uid types.UID) int { return s[uid] + 1 }

func (s sink) Put(c *result.Cycle) { s[c.Pod.UID] = c.Attempt }

// A pod that stays pending for the same reason has no new attempt in every session.
func TestAttemptsAreThoseThatDiffer(t *testing.T) {
	a, got := attempts{}, sink{}
	for _, message := range []string{"no room", "no room", "no room", "overused", "no room"} {
		a.put(got, &result.Cycle{Summary: result.Summary{Pod: result.Pod{UID: "p"}, Outcome: result.Unschedulable, Message: message}})
	}
	if got["p"] != 3 {
		t.Errorf("%d attempts, want 3", got["p"])
	}
}
