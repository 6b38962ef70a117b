package supervisor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/config"
)

// The running revision stays, however many later ones fail to start.
func TestTheOldestRevisionsGoFirst(t *testing.T) {
	r := newRevisions("")
	add := func(state config.RevisionState) {
		if err := r.add(config.Revision{Number: r.next(), State: state}); err != nil {
			t.Fatal(err)
		}
	}
	add(config.RevisionRunning)
	add(config.RevisionRunning)
	for range maxRevisions + 5 {
		add(config.RevisionRolledBack)
	}
	list := r.list()
	if len(list) != maxRevisions || list[0].Number != maxRevisions+7 || list[len(list)-1].Number != 2 || list[len(list)-2].Number != 9 {
		t.Errorf("%d revisions are kept, from %d to %d and %d", len(list), list[0].Number, list[len(list)-2].Number, list[len(list)-1].Number)
	}
	if running, ok := r.running(); !ok || running.Number != 2 {
		t.Errorf("revision %d runs", running.Number)
	}
}

// A thousand documents of the maximum size would fill the memory.
func TestTheDocumentsOfRevisionsAreBounded(t *testing.T) {
	r := newRevisions("")
	document := strings.Repeat("#", maxRevisionBytes/4)
	for range 10 {
		if err := r.add(config.Revision{Number: r.next(), State: config.RevisionRunning, Document: document}); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	for _, one := range r.list() {
		got = append(got, one.Number)
	}
	if diff := cmp.Diff([]int{10, 9, 8, 7}, got); diff != "" {
		t.Error(diff)
	}
}

// The program may end between writing the files of two revisions.
func TestOnlyTheNewestRevisionRuns(t *testing.T) {
	r := newRevisions(t.TempDir())
	for _, state := range []config.RevisionState{config.RevisionRunning, config.RevisionRunning, config.RevisionRolledBack} {
		if err := write(r.path(r.next()), config.Revision{Number: r.count, State: state}); err != nil {
			t.Fatal(err)
		}
	}
	again := newRevisions(r.dir)
	if err := again.load(); err != nil {
		t.Fatal(err)
	}
	want := []config.RevisionState{config.RevisionRolledBack, config.RevisionRunning, config.RevisionReplaced}
	var got []config.RevisionState
	for _, one := range again.list() {
		got = append(got, one.State)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFilesOfOthersAreLeftAlone(t *testing.T) {
	r := newRevisions(t.TempDir())
	others := []string{"7.json", "-00001.json", "000009.json.new", "notes.txt", "notes.json"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.load(); err != nil || r.next() != 1 {
		t.Error(err)
	}
	for _, name := range others {
		if data, err := os.ReadFile(filepath.Join(r.dir, name)); err != nil || string(data) != "mine" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}
