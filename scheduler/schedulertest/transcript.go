package schedulertest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Transcript lists the events of a run in order. It is safe for concurrent use.
type Transcript struct {
	mu    sync.Mutex
	start time.Time
	lines []line
	done  []string
}

// line is one event. Lines with the same time are sorted by topic; lines of one
// topic keep their order.
type line struct {
	at    time.Duration
	topic string
	text  string
}

// The topics in the order in which they are written. Each binding cycle is a
// separate topic.
const (
	scheduling = "1 scheduling"
	binding    = "2 binding "
	requeuing  = "3 queue"
	writing    = "4 write "
	reporting  = "5 event "
)

func (t *Transcript) note(topic, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line{time.Since(t.start), topic, fmt.Sprintf(format, args...)})
}

// step starts the transcript of an operation.
func (t *Transcript) step(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle()
	t.start = time.Now()
	t.done = append(t.done, "> "+fmt.Sprintf(format, args...))
}

// settle puts the lines of the latest step in order.
func (t *Transcript) settle() {
	slices.SortStableFunc(t.lines, func(a, b line) int {
		switch {
		case a.at != b.at:
			return int(a.at - b.at)
		case a.topic < b.topic:
			return -1
		case a.topic > b.topic:
			return 1
		}
		return 0
	})
	for _, l := range t.lines {
		t.done = append(t.done, fmt.Sprintf("%9.3f %s", l.at.Seconds(), l.text))
	}
	t.lines = nil
}

// Lines returns the transcript so far.
func (t *Transcript) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle()
	return slices.Clone(t.done)
}

// Diff returns the first difference between two transcripts, with the operation and
// some lines around it; empty when they are the same.
func Diff(a, b *Transcript) string {
	const before, after = 12, 30
	x, y := a.Lines(), b.Lines()
	first := FirstDifference(a, b)
	if first < 0 {
		return ""
	}
	operation := ""
	for i := min(first, len(x)-1); i >= 0; i-- {
		if strings.HasPrefix(x[i], "> ") {
			operation = x[i]
			break
		}
	}
	window := func(lines []string) []string {
		return lines[max(0, first-before):min(len(lines), first+after)]
	}
	return fmt.Sprintf("line %d, after %q:\n%s", first, operation, cmp.Diff(window(x), window(y)))
}

// FirstDifference returns the index of the first line in which two transcripts
// differ, or -1 when they are the same.
func FirstDifference(a, b *Transcript) int {
	x, y := a.Lines(), b.Lines()
	first := 0
	for first < len(x) && first < len(y) && x[first] == y[first] {
		first++
	}
	if first == len(x) && first == len(y) {
		return -1
	}
	return first
}
