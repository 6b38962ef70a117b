package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"

	"github.com/google/pprof/profile"
)

// Shares are the parts of the program's processor time, from 0 to 1, that a recorded run
// spends on the record. The collection of garbage is in none of them, nor is the API
// server's work for the requests that write annotations.
type Shares struct {
	// Recording is the recorder's work beside and inside the scheduler's.
	Recording float64 `json:"recording"`
	// Storing is the result store's.
	Storing float64 `json:"storing"`
	// Annotating is the work of the writer of annotations, and of the scheduler to ignore
	// them.
	Annotating float64 `json:"annotating"`
}

// profile makes one more recorded run.
func (b *bench) profile(ctx context.Context, annotationBytes int) (Shares, error) {
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		return Shares{}, err
	}
	_, _, err := b.run(ctx, recording{annotationBytes: annotationBytes}, func() error {
		pprof.StopCPUProfile()
		return writeMemoryProfile(b.MemoryProfile)
	})
	pprof.StopCPUProfile() // if the run has failed
	if err != nil {
		return Shares{}, err
	}
	if b.CPUProfile != "" {
		if err := os.WriteFile(b.CPUProfile, cpu.Bytes(), 0o644); err != nil {
			return Shares{}, fmt.Errorf("writing the CPU profile: %w", err)
		}
	}
	parsed, err := profile.Parse(&cpu)
	if err != nil {
		return Shares{}, fmt.Errorf("reading the CPU profile: %w", err)
	}
	return sharesOf(parsed), nil
}

func writeMemoryProfile(file string) (err error) {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing the memory profile: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	runtime.GC() // so that the profile is up to date
	return pprof.WriteHeapProfile(f)
}

func sharesOf(p *profile.Profile) Shares {
	var total, recording, storing, annotating float64
	for _, sample := range p.Sample {
		time := float64(sample.Value[len(sample.Value)-1])
		total += time
		switch partOf(sample) {
		case "recording":
			recording += time
		case "storing":
			storing += time
		case "annotating":
			annotating += time
		}
	}
	if total == 0 {
		return Shares{} // shorter than the profiler's interval
	}
	return Shares{Recording: recording / total, Storing: storing / total, Annotating: annotating / total}
}

const ours = "kube-scheduler-simulator/scheduler"

// partOf returns the part that a sample belongs to, or "". The recorder stands between the
// scheduler and its plugins, so a plugin's work has the recorder among its callers: there,
// only what the recorder does itself counts.
func partOf(sample *profile.Sample) string {
	theirs := false
	for _, location := range sample.Location {
		for _, line := range location.Line { // the innermost function comes first
			if line.Function == nil {
				continue
			}
			switch name := line.Function.Name; {
			case strings.HasPrefix(name, ours+"/resultstore."):
				return "storing"
			case strings.HasPrefix(name, ours+"/annotation."):
				return "annotating"
			case strings.HasPrefix(name, ours+"/recorder/comparison."):
				return "recording"
			case strings.HasPrefix(name, ours) && !theirs:
				return "recording"
			case strings.HasPrefix(name, "k8s.io/"):
				theirs = true
			}
		}
	}
	if part := sample.Label[partLabel]; len(part) == 1 {
		return part[0]
	}
	return ""
}

// partLabel is the profile label of the goroutines that do nothing else.
const partLabel = "simulator"
