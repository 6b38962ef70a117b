package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"

	"github.com/google/pprof/profile"
)

// Shares are the parts of the program's processor time, from 0 to 1, that a recorded run spends on
// the record. They leave out the collection of garbage and the API server's work for the requests
// that write annotations.
type Shares struct {
	// Recording is the recorder's work beside and inside the scheduler's.
	Recording float64 `json:"recording"`
	// Storing is the result store's.
	Storing float64 `json:"storing"`
	// Annotating is the work of the writer of annotations, and of the scheduler to ignore them.
	Annotating float64 `json:"annotating"`
	// Timeline is the time line's work, with Options.Timeline, without etcd's work for its watch.
	Timeline float64 `json:"timeline,omitempty"`
}

// evaluate fills in the shares and writes the profiles, from those of each variant's runs: first
// the bare ones, then a variant for each report, and last the one with a time line if there is one.
func (b *bench) evaluate(profiles [][]*profile.Profile, reports []*Report) (err error) {
	merged := make([]*profile.Profile, len(profiles))
	for i := range profiles {
		if merged[i], err = profile.Merge(profiles[i]); err != nil {
			return fmt.Errorf("merging CPU profiles: %w", err)
		}
	}
	for i, r := range reports {
		r.Shares = sharesOf(merged[i+1]) // labels the samples, so it comes before writing
	}
	if b.Timeline {
		reports[0].Shares.Timeline = sharesOf(merged[len(merged)-1]).Timeline
	}
	return errors.Join(writeProfile(b.BareCPUProfile, merged[0].Write), writeProfile(b.CPUProfile, merged[len(reports)].Write))
}

func writeMemoryProfile(file string) error {
	if file == "" {
		return nil
	}
	runtime.GC() // so that the profile is up to date
	return writeProfile(file, pprof.WriteHeapProfile)
}

// writeProfile does nothing without a file.
func writeProfile(file string, write func(io.Writer) error) (err error) {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing a profile: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f)
}

// sharesOf also labels the samples of each part, so that `go tool pprof -tagfocus` finds them.
func sharesOf(p *profile.Profile) Shares {
	total, parts := 0.0, map[string]float64{}
	for _, sample := range p.Sample {
		time := float64(sample.Value[len(sample.Value)-1])
		total += time
		if part := partOf(sample); part != "" {
			parts[part] += time
			sample.Label = map[string][]string{partLabel: {part}}
		}
	}
	if total == 0 {
		return Shares{} // shorter than the profiler's interval
	}
	return Shares{Recording: parts[recordingPart] / total, Storing: parts[storingPart] / total, Annotating: parts[annotatingPart] / total, Timeline: parts[timelinePart] / total}
}

const (
	partLabel      = "simulator"
	recordingPart  = "recording"
	storingPart    = "storing"
	annotatingPart = "annotating"
	timelinePart   = "timeline"
)

const (
	ours            = "kube-scheduler-simulator/scheduler"
	timelinePackage = "kube-scheduler-simulator/simulator/past/timeline"
)

// partOf returns the part that a sample belongs to, or "". The recorder stands between the
// scheduler and its plugins, so a plugin's work has the recorder among its callers: there, only
// what the recorder does itself counts.
func partOf(sample *profile.Sample) string {
	theirs := false
	for _, location := range sample.Location {
		for _, line := range location.Line { // the innermost function comes first
			if line.Function == nil {
				continue
			}
			switch name := line.Function.Name; {
			case strings.HasPrefix(name, ours+"/resultstore."):
				return storingPart
			case strings.HasPrefix(name, ours+"/annotation."):
				return annotatingPart
			case strings.HasPrefix(name, timelinePackage+"."):
				return timelinePart
			case strings.HasPrefix(name, ours+"/recorder/comparison."):
				return recordingPart
			case strings.HasPrefix(name, ours) && !theirs:
				return recordingPart
			case strings.HasPrefix(name, "k8s.io/"):
				theirs = true
			}
		}
	}
	return ""
}
