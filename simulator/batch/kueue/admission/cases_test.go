package admission

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the cases print to their files")

// TestCases plays the files in testdata. Each case begins with a line "== name". The commands
// follow, then a line "--" and what the cycles print. The commands named expect, quota, order, why and consumed say
// what must hold; the printed part is there for the reader, and for changes that nobody expects.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { playFile(t, file) })
	}
}

func playFile(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	intro, rest, _ := strings.Cut("\n"+string(data), "\n== ")
	out.WriteString(strings.TrimPrefix(intro, "\n"))
	for i, text := range strings.Split(rest, "\n== ") {
		if i > 0 || intro != "" {
			out.WriteString("\n")
		}
		name, body, _ := strings.Cut(text, "\n")
		commands, _, _ := strings.Cut(body, "--\n")
		var printed string
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for line := range strings.Lines(commands) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					w.do(line)
				}
				if t.Failed() {
					t.Logf("after %q:\n%s", line, w.out.String())
					t.FailNow()
				}
			}
			printed = w.out.String()
		})
		out.WriteString("== " + name + "\n" + strings.TrimRight(commands, "\n") + "\n--\n" + printed)
	}
	if *update {
		if t.Failed() {
			t.Fatal("not updated, because cases failed")
		}
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(data), out.String()); diff != "" && !t.Failed() {
		t.Errorf("what the cases print has changed (-file +now). Run with -update and review:\n%s", diff)
	}
}

// TestEveryExampleIsACase: each worked example of facts.txt by its number, at least 100 cases more, and in each case
// something that must hold.
func TestEveryExampleIsACase(t *testing.T) {
	const examples, further = 59, 100
	numbered, others := map[string]bool{}, 0
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split("\n"+string(data), "\n== ")[1:] {
			name, body, _ := strings.Cut(text, "\n")
			commands, _, _ := strings.Cut(body, "--\n")
			if !slices.ContainsFunc([]string{"\nexpect ", "\nquota ", "\norder ", "\nconsumed "}, func(command string) bool { return strings.Contains(commands, command) }) {
				t.Errorf("%s: %s expects nothing", file, name)
			}
			if filepath.Base(file) == "facts.txt" {
				number, _, _ := strings.Cut(name, " ")
				numbered[strings.TrimRight(number, "abc")] = true
			} else {
				others++
			}
		}
	}
	for n := 1; n <= examples; n++ {
		if !numbered[strconv.Itoa(n)] {
			t.Errorf("example %d has no case", n)
		}
	}
	if others < further {
		t.Errorf("there are %d further cases, want at least %d", others, further)
	}
}
