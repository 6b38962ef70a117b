package cireport

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// MaxRows is how many rows a table has at most, and MaxCell how many characters of a text a cell has. A table of four such
// columns stays below 1 MiB, which is what GitHub takes for a summary of a step.
const (
	MaxRows = 500
	MaxCell = 400
)

// Table is a table in Markdown, of GitHub's flavour.
type Table struct {
	Columns []string
	// Rows have a cell for each column, as plain text.
	Rows [][]string
}

// Markdown writes the table. It leaves out the rows beyond MaxRows, and says how many these are.
func (t Table) Markdown(w io.Writer) error {
	var b strings.Builder
	writeRow(&b, t.Columns)
	b.WriteString("|" + strings.Repeat(" --- |", len(t.Columns)) + "\n")
	for i, row := range t.Rows {
		if i == MaxRows {
			fmt.Fprintf(&b, "\nand %d more\n", len(t.Rows)-i)
			break
		}
		writeRow(&b, row)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeRow(b *strings.Builder, cells []string) {
	b.WriteString("|")
	for _, cell := range cells {
		b.WriteString(" " + Text(cell) + " |")
	}
	b.WriteString("\n")
}

// marks are the characters that mean something inside a line of Markdown, and in a cell of a table.
const marks = "\\`*_[]<>|&~$"

// Text returns a text as one line of Markdown that shows it and nothing else: no markup, no element of HTML, no link and
// no mention. White space becomes one space, and every other invisible character becomes U+FFFD. It cuts
// the text after MaxCell characters and marks the cut.
func Text(text string) string {
	var b strings.Builder
	runes := []rune(strings.Join(strings.Fields(text), " "))
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	number := true // so far there are only digits
	for i, r := range runes {
		if i == MaxCell {
			b.WriteString("…")
			break
		}
		switch {
		case !unicode.IsGraphic(r):
			r = unicode.ReplacementChar
		case r == '@': // a mention, or an address, needs the next character at its side
			b.WriteString("@<!-- -->")
			r = -1
		case strings.ContainsRune(marks, r),
			i == 0 && strings.ContainsRune("#-+=:", r), i > 0 && number && (r == '.' || r == ')') && at(i+1) == ' ', // a heading, a list
			r == ':' && at(i+1) == '/', r == '.' && strings.EqualFold(string([]rune{at(i - 3), at(i - 2), at(i - 1)}), "www"), r == '#' && unicode.IsDigit(at(i+1)): // links
			b.WriteByte('\\')
		}
		if r >= 0 {
			b.WriteRune(r)
		}
		number = number && unicode.IsDigit(r)
	}
	return b.String()
}
