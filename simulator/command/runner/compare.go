package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

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
	pair := s.Under(sides[0], sides[1], o.Engine)
	defer pair.Close()
	results, err := o.batch(ctx, pair.Jobs())
	if err != nil {
		return &FileError{err}
	}
	c, err := pair.Compare(ctx, results)
	if err != nil {
		return &FileError{err}
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
	case "dollars":
		return fmt.Sprintf("$%.4g", v)
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
