package cireport_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/cireport"
)

// hostile are names with which an attacker would try to break a report.
var hostile = []string{
	"a|b", "a`b`", "a\n| x | y |", "<script>alert(1)</script>", "[x](https://example.com)", "![x](x.png)", "*a*_b_~~c~~", `a\`, `a\|b`, "@octocat", "a@example.com",
	"https://example.com", "www.example.com", "&lt;", "# a", "- a", "1. a", "$x$", "\x1b[31mred", "a\u202eb", "\x00", "]]>", "\"'><x>", "#12", "a\r\nb\u2028c",
}

func TestHostileTextIsData(t *testing.T) {
	for text, want := range map[string]string{
		"default/web-1": "default/web-1", "1.5 of 2": "1.5 of 2", "": "", "node-0 lacks 200m cpu (it has 1).": "node-0 lacks 200m cpu (it has 1).",
		"a|b": `a\|b`, "a`b": "a\\`b", "a\n b": "a b", "<b>": `\<b\>`, "[x](y)": `\[x\](y)`, "@octocat": "@<!-- -->octocat", `a\`: `a\\`, `a\|b`: `a\\\|b`,
		"https://x": `https\://x`, "www.x": `www\.x`, "It fits now.": "It fits now.", "# a": `\# a`, "- a": `\- a`, "1. a": `1\. a`, "12) a": `12\) a`, "\x1b[0m": "\ufffd\\[0m",
		"a\u202eb": "a\ufffdb", "#12": `\#12`, strings.Repeat("a", cireport.MaxCell+1): strings.Repeat("a", cireport.MaxCell) + "…",
	} {
		if got := cireport.Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
}

// unescaped counts the pipes in a line that end a cell.
func unescaped(line string) (n int) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			n++
		}
	}
	return n
}

// TestNothingBreaksATable: each row is a line, and has its cells.
func TestNothingBreaksATable(t *testing.T) {
	table := cireport.Table{Columns: []string{"a", "b"}}
	for _, name := range hostile {
		table.Rows = append(table.Rows, []string{name, name})
	}
	var b bytes.Buffer
	if err := table.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 2+len(hostile) {
		t.Fatalf("%d lines of %d rows:\n%s", len(lines), len(hostile), b.String())
	}
	for _, line := range lines {
		if unescaped(line) != 3 {
			t.Errorf("not two cells: %s", line)
		}
	}
}

func TestALargeTableIsCut(t *testing.T) {
	table := cireport.Table{Columns: []string{"a"}}
	for i := range cireport.MaxRows + 3 {
		table.Rows = append(table.Rows, []string{fmt.Sprint("row", i)})
	}
	var b bytes.Buffer
	if err := table.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "row"); got != cireport.MaxRows || !strings.HasSuffix(b.String(), "\n\nand 3 more\n") {
		t.Errorf("%d rows, and at the end %q", got, b.String()[b.Len()-40:])
	}
}

// parsed is a JUnit file, as a CI system reads it.
type parsed struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Error *struct {
				Message string `xml:"message,attr"`
			} `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestJUnit(t *testing.T) {
	suite := cireport.Suite{Name: "all", Seconds: 1.5, Cases: []cireport.Case{{Name: "good"}, {Name: "broken", Error: &cireport.Problem{Message: "no cluster"}}}}
	for _, name := range hostile {
		suite.Cases = append(suite.Cases, cireport.Case{Name: name, Failure: &cireport.Problem{Message: name, Text: name}})
	}
	var b bytes.Buffer
	if err := cireport.JUnit(&b, []cireport.Suite{suite}); err != nil {
		t.Fatal(err)
	}
	var got parsed
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	one := got.Suites[0]
	if diff := cmp.Diff([]int{1, 2 + len(hostile), len(hostile), 1, 2 + len(hostile)}, []int{len(got.Suites), one.Tests, one.Failures, one.Errors, len(one.Cases)}); diff != "" {
		t.Errorf("suites, tests, failures, errors, cases (-want +got):\n%s", diff)
	}
	if e := one.Cases[1].Error; e == nil || e.Message != "no cluster" || one.Cases[0].Failure != nil {
		t.Errorf("cases %+v", one.Cases[:2])
	}
	seen := strings.NewReplacer("\x1b", "\ufffd", "\x00", "\ufffd")
	for i, name := range hostile {
		c := one.Cases[2+i]
		// XML reads a carriage return in a text as a new line, unless it is escaped.
		if want := seen.Replace(name); c.Name != want || c.Failure.Message != want || c.Failure.Text != want {
			t.Errorf("%q is %q, %q and %q", name, c.Name, c.Failure.Message, c.Failure.Text)
		}
	}
}
