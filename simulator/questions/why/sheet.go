package why

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Sheet is an answer as text for people: lines and tables. What it is given is printed without control characters. It is for one goroutine.
type Sheet struct{ out strings.Builder }

// Line adds a line.
func (s *Sheet) Line(format string, args ...any) {
	s.out.WriteString(strings.TrimRight(Printable(fmt.Sprintf(format, args...)), " ") + "\n")
}

// Table adds a table below an empty line; nothing without rows. It changes the cells.
func (s *Sheet) Table(head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	s.out.WriteByte('\n')
	var out strings.Builder
	t := tabwriter.NewWriter(&out, 0, 4, 3, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		for i := range row {
			row[i] = Printable(row[i])
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush() // a Builder takes everything
	for line := range strings.Lines(out.String()) {
		s.out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// NotJudged adds what the answer leaves out.
func (s *Sheet) NotJudged(all []NotJudged) {
	var rows [][]string
	for _, n := range all {
		rows = append(rows, []string{n.What, n.Text})
	}
	s.Table([]string{"NOT JUDGED", "WHY"}, rows)
}

func (s *Sheet) String() string { return s.out.String() }

// OrNone stands for a value that a row does not have.
func OrNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
