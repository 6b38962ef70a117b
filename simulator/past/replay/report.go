package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// Report is the comparison of a whole replay.
type Report struct {
	Replay     Status     `json:"replay"`
	Comparison Comparison `json:"comparison"`
}

// Report returns the comparison of all decisions so far.
func (p *Player) Report() (Report, error) {
	c, err := p.Comparison(ComparisonQuery{Limit: math.MaxInt})
	if err != nil {
		return Report{}, err
	}
	return Report{Replay: p.Status(), Comparison: c}, nil
}

// WriteJSON writes the report as one JSON object.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// WriteText writes the report for people: the counts, and a line for each decision that differs.
func (r Report) WriteText(w io.Writer) error {
	c, s := r.Comparison, r.Replay
	lines := []string{
		fmt.Sprintf("%s: %s to %s, %d changes, %d of them not taken", s.Name, s.Start.UTC().Format(time.RFC3339), s.End.UTC().Format(time.RFC3339), s.Changes, s.Failed),
		fmt.Sprintf("%d placements compared: %d match (%s), %d differ, %d are pending", c.Compared, c.Matching, share(c.Matching, c.Compared), c.Different, c.Pending),
		fmt.Sprintf("%d of those that differ were ties: the recorded node had the same total, and the scheduler picked one at random", c.Tied),
	}
	if c.NodesMissing > 0 {
		lines = append(lines, fmt.Sprintf("%d recorded nodes were not in the simulated cluster", c.NodesMissing))
	}
	for _, d := range c.Items {
		if d.Outcome != Matching {
			lines = append(lines, fmt.Sprintf("%s  %-11s  %s/%s  recorded %s, simulated %s: %s", d.Time.UTC().Format(time.RFC3339), d.Outcome, d.Pod.Namespace, d.Pod.Name,
				orNone(d.RecordedNode), orNone(d.SimulatedNode), d.Why))
		}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}

// share writes a percentage. Only all of them are 100 %, and only none is 0 %.
func share(part, of int) string {
	switch {
	case of == 0:
		return "none"
	case part == 0:
		return "0 %"
	case part == of:
		return "100 %"
	}
	return fmt.Sprintf("%.1f %%", min(99.9, max(0.1, 100*float64(part)/float64(of))))
}

func orNone(node string) string {
	if node == "" {
		return "none"
	}
	return node
}
