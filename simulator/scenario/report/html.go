package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"kube-scheduler-simulator/simulator/scenario"
)

//go:embed report.html
var page string

var parsed = template.Must(template.New("report").Funcs(template.FuncMap{
	"clock": clock, "title": title, "passed": func(o scenario.Outcome) bool { return o == scenario.Passed },
	"percent": func(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) },
}).Parse(page))

// HTML renders the results as one file without scripts or references.
func HTML(suites []Suite) ([]byte, error) {
	var b bytes.Buffer
	passed, failed, broken, canceled := Count(suites)
	err := parsed.Execute(&b, struct {
		Suites        []Suite
		Passed, Total int
	}{suites, passed, passed + failed + broken + canceled})
	if err != nil {
		return nil, fmt.Errorf("rendering HTML: %w", err)
	}
	return b.Bytes(), nil
}
