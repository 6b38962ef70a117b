package templatecost

import (
	"context"
	"errors"
	"strings"
	"testing"
	"text/template"
	"time"
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
		"printing one often":    `{{$x := printf "%s" "` + strings.Repeat("a", 1000) + `"}}{{printf "` + strings.Repeat("%[1]s", 2000) + `" $x}}`,
	} {
		p, err := Parse("file", text, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		begin := time.Now()
		_, err = p.Execute(context.Background(), nil)
		if !errors.As(err, new(*LimitError)) && (err == nil || !strings.Contains(err.Error(), "exceeded maximum template depth")) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		}
	}
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
