package templatecost

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"text/template"
	"time"

	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
)

func TestExecute(t *testing.T) {
	functions := template.FuncMap{"double": func(n int) int { return 2 * n }}
	for text, want := range map[string]string{
		"a{{.N}}": "a3", "{{double .N}}": "6", "{{range $i, $x := .L}}{{$i}}{{$x}} {{else}}none{{end}}": "0a 1b ", `{{printf "%03d" .N}}`: "003",
		`{{define "t"}}<{{.}}>{{end}}{{template "t" .N}}{{template "t" 1}}`: "<3><1>", "{{if .N}}{{range .L}}{{.}}{{end}}{{end}}": "ab", "{{range 3}}{{.}}{{end}}": "012",
	} {
		p, err := Parse("file", text, functions, nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := p.Execute(context.Background(), map[string]any{"N": 3, "L": []string{"a", "b"}}); err != nil || string(got) != want {
			t.Errorf("%s makes %q (%v), want %q", text, got, err, want)
		}
	}
}

// TestAttacks end soon, with an error that says why.
func TestAttacks(t *testing.T) {
	for name, text := range map[string]string{
		"a loop":                "{{range 1000000000}}{{end}}",
		"a loop that prints":    "{{range 1000000000}}" + strings.Repeat("x", 100) + "{{end}}",
		"loops in loops":        "{{range 10000}}{{range 10000}}{{range 10000}}{{end}}{{end}}{{end}}",
		"a wide number":         `{{printf "%999999999d" 1}}`,
		"a long number":         `{{printf "%.999999999f" 1.0}}`,
		"a width as argument":   `{{printf "%*d" 999999999 1}}`,
		"a text that doubles":   `{{$x := "aaaaaaaaaa"}}{{range 60}}{{$x = print $x $x}}{{end}}`,
		"a template in itself":  `{{define "t"}}{{template "t" .}}{{template "t" .}}{{end}}{{template "t" 1}}`,
		"templates that double": `{{define "a"}}{{template "b"}}{{template "b"}}{{end}}{{define "b"}}{{range 1000}}{{template "c"}}{{end}}{{end}}{{define "c"}}{{range 1000}}{{end}}{{end}}{{template "a"}}`,
		"comparing for long":    `{{$x := printf "` + strings.Repeat("%s", 1000) + `"` + strings.Repeat(" .text", 1000) + `}}{{range 20000}}{{if eq $x ` + strings.Repeat(" $x", 1000) + `}}{{end}}{{end}}`,
		"comparing by a pipe":   `{{$x := printf "` + strings.Repeat("%s", 1000) + `"` + strings.Repeat(" .text", 1000) + `}}{{range 20000}}{{if $x | eq $x}}{{end}}{{end}}`,
		"long keys":             `{{$x := printf "` + strings.Repeat("%s", 1000) + `"` + strings.Repeat(" .text", 1000) + `}}{{range 20000}}{{index $.fields $x}}{{end}}`,
		"much in a loop":        "{{range 100000}}" + strings.Repeat("{{$x := 1}}", 4000) + "{{end}}",
		"templates, deep":       deep(700),
		"many variables":        `{{$x := printf "` + strings.Repeat("%s", 1000) + `"` + strings.Repeat(" .text", 1000) + `}}` + strings.Repeat(`{{$y := print $x "a"}}`, 2000),
		"printing one often":    `{{$x := printf "%s" "` + strings.Repeat("a", 1000) + `"}}{{printf "` + strings.Repeat("%[1]s", 2000) + `" $x}}`,
	} {
		p, err := Parse("file", text, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		took, grown := bombs.Growth(func() { _, err = p.Execute(context.Background(), bombs.Values()) })
		t.Logf("%s: %s of processor time, %d kB: %v", name, took, grown>>10, err)
		if !errors.As(err, new(*LimitError)) {
			t.Errorf("%s: %v", name, err)
		}
		checkGrowth(t, name, took, grown)
	}
	for name, text := range map[string]string{
		"nested deep": strings.Repeat("{{if 1}}", 2_000_000), "parentheses": "{{" + strings.Repeat("(", 2_000_000), "long": strings.Repeat("{{print 1}}", 1_000_000),
		"nested deep, short": strings.Repeat("{{if 1}}", 3600) + strings.Repeat("{{end}}", 3600), "parentheses, short": "{{" + strings.Repeat("(", 9000) + "1" + strings.Repeat(")", 9000) + "}}",
		"pipes": "{{1" + strings.Repeat("|print", 9000) + "}}",
	} {
		took, grown := bombs.Growth(func() {
			if p, err := Parse("file", text, nil, nil); err == nil {
				_, err = p.Execute(context.Background(), nil)
				t.Logf("%s: %.100v", name, err)
			}
		})
		t.Logf("%s: %s of processor time, %d kB", name, took, grown>>10)
		checkGrowth(t, name, took, grown)
	}
}

// deep returns templates of which each calls the next one.
func deep(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{{define "%d"}}{{range 2}}{{template "%d"}}{{end}}{{end}}`, i, i+1)
	}
	fmt.Fprintf(&b, `{{define "%d"}}{{end}}{{template "0"}}`, n)
	return b.String()
}

// checkGrowth checks the bounds of an execution.
func checkGrowth(t *testing.T, what string, took time.Duration, grown int64) {
	t.Helper()
	if took > bombs.Slowdown*time.Second || grown > bombs.Slowdown*(64<<20) {
		t.Errorf("%.2000s takes %s of processor time and %d MB", what, took, grown>>20)
	}
}

// FuzzCost makes templates of functions that grow what they get, and fails for one that takes much.
func FuzzCost(f *testing.F) {
	for _, seed := range []string{"\x03\x01\x00\x02\x01\x00\x00", "\x03\x01\x00\x03\x03\x03\x03", "\x02\x01\x00\x03\x03\x03\x03\x02\x01\x03\x03\x03\x03\x03", "\x00\x02\x02\x03\x01\x01\x01"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		text := bombs.Template(builtin, choices[:min(len(choices), 100)])
		p, err := Parse("file", text, nil, nil)
		if err != nil {
			return
		}
		took, grown := bombs.Growth(func() { _, _ = p.Execute(context.Background(), bombs.Values()) })
		checkGrowth(t, text, took, grown)
	})
}

func TestEnd(t *testing.T) {
	p, err := Parse("file", "{{range 1000}}{{end}}", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("the client has gone")
	cancel(gone)
	if _, err := p.Execute(ctx, nil); !errors.Is(err, gone) {
		t.Error(err)
	}
}
