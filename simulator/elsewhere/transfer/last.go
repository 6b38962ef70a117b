package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"kube-scheduler-simulator/simulator/host/datadir"
)

// Last returns the report of the last import, also after a restart; nil if there is none, or the
// cluster was reset since.
func (cluster *Cluster) Last() *Report {
	cluster.mu.Lock()
	defer cluster.mu.Unlock()
	return cluster.last
}

// ForgetLast makes Last return nil.
func (cluster *Cluster) ForgetLast() error {
	cluster.mu.Lock()
	defer cluster.mu.Unlock()
	cluster.last = nil
	if cluster.opts.Kept == "" {
		return nil
	}
	if err := datadir.Remove(cluster.opts.Kept); err != nil {
		return fmt.Errorf("removing the report of the last import: %w", err)
	}
	return nil
}

// keep logs why the file cannot be written: the import itself has succeeded.
func (cluster *Cluster) keep(report *Report) {
	cluster.mu.Lock()
	defer cluster.mu.Unlock()
	cluster.last = report
	if cluster.opts.Kept == "" {
		return
	}
	data, err := json.Marshal(report)
	if err == nil {
		err = datadir.WriteFile(cluster.opts.Kept, data)
	}
	if err != nil {
		cluster.opts.Logger.Error(err, "Cannot keep the report of an import")
	}
}

func (cluster *Cluster) restore() {
	if cluster.opts.Kept == "" {
		return
	}
	data, err := os.ReadFile(cluster.opts.Kept)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var report Report
	if err == nil {
		err = json.Unmarshal(data, &report)
	}
	if err != nil {
		// It only says again what an import has said.
		cluster.opts.Logger.Error(err, "Cannot read the report of the last import")
		return
	}
	cluster.last = &report
	cluster.run = &Run{cancel: func() {}, done: make(chan struct{}), changed: make(chan struct{}), state: Finished, progress: Progress{Phase: Settling}, report: &report}
	close(cluster.run.done)
}
