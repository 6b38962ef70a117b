package ledger_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/ledger"
)

func record(name, queue string, outcome admission.Outcome) *admission.Record {
	return &admission.Record{Cycle: 1, Time: time.Unix(0, 0).UTC(), Heads: []admission.Head{{Workload: admission.Ref{Namespace: "ns", Name: name}, ClusterQueue: queue, Outcome: outcome}}}
}

// names returns the first head of each entry, with the entry's number.
func names(t *testing.T, l *ledger.Ledger, q ledger.Query) (out []string, more string) {
	t.Helper()
	page, err := l.List(q)
	if err != nil {
		t.Fatal(err)
	}
	out = []string{}
	for _, item := range page.Items {
		var e ledger.Entry
		if err := json.Unmarshal(item, &e); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(e.ID, " ", e.Heads[0].Workload.Name))
	}
	return out, page.Continue
}

func start(t *testing.T, o ledger.Options) *ledger.Ledger {
	t.Helper()
	l := ledger.New(o)
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestQueriesSelectByOneHead(t *testing.T) {
	l := start(t, ledger.Options{})
	l.Append(record("a", "x", admission.Reserved))
	l.Append(record("b", "x", admission.Refused))
	l.Append(record("c", "y", admission.Refused))
	for _, c := range []struct {
		query ledger.Query
		want  []string
	}{
		{ledger.Query{}, []string{"3 c", "2 b", "1 a"}},
		{ledger.Query{Name: "b"}, []string{"2 b"}},
		{ledger.Query{Namespace: "other"}, []string{}},
		{ledger.Query{ClusterQueue: "x", Outcome: admission.Refused}, []string{"2 b"}},
		{ledger.Query{Outcome: admission.Refused}, []string{"3 c", "2 b"}},
	} {
		if got, _ := names(t, l, c.query); !cmp.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.query, got, c.want)
		}
	}
}

func TestPagesFollowEachOther(t *testing.T) {
	l := start(t, ledger.Options{})
	for i := range 5 {
		l.Append(record(fmt.Sprint(i), "x", admission.Refused))
	}
	var all []string
	q := ledger.Query{Limit: 2}
	for {
		got, more := names(t, l, q)
		all = append(all, got...)
		if q.Continue = more; more == "" {
			break
		}
		l.Append(record("new", "x", admission.Refused)) // is no part of older pages
	}
	if diff := cmp.Diff([]string{"5 4", "4 3", "3 2", "2 1", "1 0"}, all); diff != "" {
		t.Error(diff)
	}
	if _, err := l.List(ledger.Query{Continue: "x"}); err == nil {
		t.Error("a continue from nowhere was accepted")
	}
}

func TestARestartGoesOn(t *testing.T) {
	dir := t.TempDir()
	l := start(t, ledger.Options{Dir: dir})
	l.Append(record("a", "x", admission.Reserved))
	l.Append(record("b", "x", admission.Refused))
	// No Stop: the program was killed, in the middle of a write.
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	file, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("KADM1\n\x50\x00\x00\x00half"); err != nil {
		t.Fatal(err)
	}
	file.Close()

	for _, name := range []string{"c", "d"} {
		l = start(t, ledger.Options{Dir: dir})
		l.Append(record(name, "x", admission.Refused))
	}
	got, _ := names(t, l, ledger.Query{})
	if diff := cmp.Diff([]string{"4 d", "3 c", "2 b", "1 a"}, got); diff != "" {
		t.Error(diff)
	}
	if err := l.Reset(); err != nil {
		t.Fatal(err)
	}
	l = start(t, ledger.Options{Dir: dir})
	if got, _ := names(t, l, ledger.Query{}); len(got) > 0 {
		t.Errorf("after a reset: %v", got)
	}
}

func TestTheBoundHoldsInMemoryAndOnDisk(t *testing.T) {
	const bound = 20_000
	dir := t.TempDir()
	l := start(t, ledger.Options{Dir: dir, Bytes: bound})
	for i := range 1000 {
		l.Append(record(fmt.Sprint(i), "x", admission.Refused))
	}
	page, err := l.List(ledger.Query{Limit: ledger.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, item := range page.Items {
		size += len(item)
	}
	if size > bound || size < bound/2 {
		t.Errorf("%d bytes in memory, the bound is %d", size, bound)
	}
	onDisk := int64(0)
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		onDisk += info.Size()
	}
	// The file that is being written comes on top.
	if onDisk > bound*3/2 {
		t.Errorf("%d bytes on disk, the bound is %d", onDisk, bound)
	}
	l = start(t, ledger.Options{Dir: dir, Bytes: bound})
	if got, _ := names(t, l, ledger.Query{Limit: 1}); got[0] != "1000 999" {
		t.Errorf("the newest after a restart is %v", got)
	}
}
