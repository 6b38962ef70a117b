package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// InMemoryReport is "simulator run" with the same nodes and pods, one processor and all other
// defaults.
type InMemoryReport struct {
	// Seconds is the time from the start of the program to its end.
	Seconds float64 `json:"seconds"`
	// Scheduled counts the pods that found a node.
	Scheduled int `json:"scheduled"`
	// PeakBytes is the most resident memory.
	PeakBytes int64 `json:"peakBytes"`
}

func openbScenario(dir string) ([]byte, error) {
	create := func(file string) map[string]any {
		return map[string]any{"create": map[string]string{"file": filepath.Join(dir, file), "format": "openb"}}
	}
	return json.Marshal(map[string]any{
		"apiVersion": "kube-scheduler-simulator.sigs.k8s.io/v1alpha1", "kind": "Scenario", "metadata": map[string]string{"name": "openb"},
		"steps": []any{create("nodes.csv"), create("pods.csv"), map[string]string{"wait": "settled"}},
	})
}

// openbInMemory runs this program, and writes into scratch.
func openbInMemory(ctx context.Context, dir, scratch string) (*InMemoryReport, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	text, err := openbScenario(dir)
	if err != nil {
		return nil, err
	}
	file, results := filepath.Join(scratch, "openb.yaml"), filepath.Join(scratch, "openb.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program, "run", file, "--files-below", dir, "-o", "json="+results)
	command.Env = append(os.Environ(), "GOMAXPROCS=1")
	command.Stderr = os.Stderr
	start := time.Now()
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("running openb in memory: %w", err)
	}
	r := &InMemoryReport{Seconds: time.Since(start).Seconds()}
	if usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.PeakBytes = usage.Maxrss << 10 // Linux counts in KiB
	}
	data, err := os.ReadFile(results)
	if err != nil {
		return nil, err
	}
	r.Scheduled, err = placedIn(data)
	return r, err
}

// placedIn returns how many pods have a node in a report of one run.
func placedIn(report []byte) (int, error) {
	var all struct {
		Suites []struct {
			Results []struct {
				Metrics struct {
					Placed int `json:"placed"`
				} `json:"metrics"`
			} `json:"results"`
		} `json:"suites"`
	}
	if err := json.Unmarshal(report, &all); err != nil {
		return 0, fmt.Errorf("reading the report of a run: %w", err)
	}
	if len(all.Suites) != 1 || len(all.Suites[0].Results) != 1 {
		return 0, errors.New("the report is not that of one run")
	}
	return all.Suites[0].Results[0].Metrics.Placed, nil
}
