package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/shadow"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Compare runs a scenario file under two configurations and compares them. A file for the comparison in JSON may be given.
func Compare(ctx context.Context, a, b, on, file string, o Options) error {
	s, err := o.load(ctx, on)
	if err != nil {
		return &FileError{err}
	}
	sides := make([]scenario.Configuration, 2)
	for i, name := range []string{a, b} {
		if sides[i], err = o.configuration(name); err != nil {
			return &FileError{err}
		}
	}
	c, err := CompareUnder(ctx, s, sides[0], sides[1], o.Engine, o.batch)
	if err != nil {
		return err
	}
	if err := writeComparison(o.Out, c); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	if file == "" {
		return nil
	}
	data, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = datadir.WriteFile(file, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

// CompareUnder runs a scenario with all its seeds under two configurations. batch runs jobs.
func CompareUnder(ctx context.Context, s *scenario.Scenario, a, b scenario.Configuration, engine scenario.Engine, batch func(context.Context, []scenario.Job) ([]*scenario.Result, error)) (*scenario.Comparison, error) {
	var jobs []scenario.Job
	var kept [2]scenario.Cluster
	for side, c := range []scenario.Configuration{a, b} {
		for i, seed := range s.Matrix.Seeds {
			job := scenario.Job{Scenario: s, Combination: scenario.Combination{Configuration: c, FeatureGates: s.Matrix.FeatureGates[0], Seed: seed}, Options: scenario.RunOptions{Engine: engine, Gap: true}}
			if i == 0 {
				job.Options.KeepPods = true
				job.Options.Kept = func(c scenario.Cluster) { kept[side] = c }
			}
			jobs = append(jobs, job)
		}
	}
	results, err := batch(ctx, jobs)
	defer func() {
		for _, c := range kept {
			if c != nil {
				_ = c.Close() // nothing was written
			}
		}
	}()
	if err != nil {
		return nil, &FileError{err}
	}
	for _, r := range results {
		if r.Outcome == scenario.Broken || r.Outcome == scenario.Canceled {
			return nil, &FileError{fmt.Errorf("%s: %s", r.Title(), r.Error)}
		}
	}
	n := len(s.Matrix.Seeds)
	compared := scenario.CompareResults(results[:n], results[n:], func(side shadow.Side, p scenario.PlacedPod) *result.Cycle {
		of := kept[0]
		if side == shadow.Shadow {
			of = kept[1]
		}
		c, err := of.Cycle(ctx, types.UID(p.UID), p.Attempts)
		if err != nil {
			return nil
		}
		return c
	})
	return &compared, nil
}

// maxMovedShown bounds the table; the JSON file has all.
const maxMovedShown = 20

func writeComparison(w io.Writer, c *scenario.Comparison) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: A %s, B %s, %d seeds\n\n", c.Scenario, c.A, c.B, len(c.Seeds))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "metric\tA\tB\tB is")
	for _, m := range c.Metrics {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", m.Name, showRange(m, m.A), showRange(m, m.B), showVerdict(m))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n%d of %d pods moved (seed %d)\n", len(c.Moved), len(c.Moved)+c.Same, c.Seeds[0])
	for i, m := range c.Moved {
		if i == maxMovedShown {
			fmt.Fprintf(t, "and %d more\n", len(c.Moved)-i)
			break
		}
		fmt.Fprintf(t, "%s\t%s\t→ %s\t%s\n", m.Name, orNone(m.A), orNone(m.B), showParting(m.PartedBy))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

func orNone(node string) string {
	if node == "" {
		return "no node"
	}
	return node
}

func showParting(p *shadow.Parting) string {
	switch {
	case p == nil:
		return "the clusters differed by then"
	case len(p.Reasons) > 0:
		return fmt.Sprintf("%s (%s): %s", p.Plugin, p.ExtensionPoint, p.Reasons[0])
	}
	return fmt.Sprintf("%s (%s)", p.Plugin, p.ExtensionPoint)
}

func showRange(m scenario.MetricComparison, r scenario.Range) string {
	if r.Min == r.Max {
		return showValue(m, r.Median)
	}
	return fmt.Sprintf("%s (%s to %s)", showValue(m, r.Median), showValue(m, r.Min), showValue(m, r.Max))
}

func showValue(m scenario.MetricComparison, v float64) string {
	switch m.Unit {
	case "share":
		return fmt.Sprintf("%.1f %%", 100*v)
	case "seconds":
		return fmt.Sprintf("%.1f s", v)
	}
	return fmt.Sprintf("%g", v)
}

func showVerdict(m scenario.MetricComparison) string {
	v := m.Verdict()
	if v == "unclear" {
		return fmt.Sprintf("better in %.0f %%, worse in %.0f %% of the pairs", 100*m.Pairs.Better, 100*m.Pairs.Worse)
	}
	return v
}
