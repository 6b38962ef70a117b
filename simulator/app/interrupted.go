package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kube-scheduler-simulator/simulator/host/datadir"
)

// importMark is a file in the data directory that exists from when an import empties the cluster
// until the import has ended. If the program ends in between, only some of the objects are there,
// and the next start says so.
const importMark = "import-under-way"

func (s *simulator) importMark() string { return filepath.Join(s.prepared.dataDir, importMark) }

func (s *simulator) markImport() error {
	if err := datadir.WriteFile(s.importMark(), []byte(time.Now().UTC().Format(time.RFC3339))); err != nil {
		return fmt.Errorf("noting the import: %w", err)
	}
	s.emptied.Store(true)
	return nil
}

// unmarkImport runs at the end of an import or a reset. An import that the stop of the simulator
// cancelled stays marked: its client may not have seen how it ended.
func (s *simulator) unmarkImport() {
	if s.operations.Stopping() {
		return
	}
	if err := datadir.Remove(s.importMark()); err != nil {
		s.options.Logger.Error(err, "Noting the end of an import")
		return
	}
	s.interrupted.Store(nil)
}

// The warning that findInterrupted leaves stays until the cluster is emptied again.
func (s *simulator) findInterrupted() error {
	began, err := os.ReadFile(s.importMark())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &datadir.Damage{Path: s.importMark(), Err: err, Do: "remove it to keep the cluster as it is; an import that replaced the cluster may have been interrupted"}
	}
	text := fmt.Sprintf("the import of %s, which replaced the cluster, was interrupted when the simulator ended: only a part of its objects is here. Import the file again, or reset", began)
	s.interrupted.Store(&text)
	s.options.Logger.Info(text)
	return nil
}

// endImport clears the mark if this import had emptied the cluster.
func (s *simulator) endImport() {
	if s.emptied.Swap(false) {
		s.unmarkImport()
	}
}
