package report

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

func built(script string) fs.FS {
	return fstest.MapFS{"report/report.js": {Data: []byte(script)}, "report/report.css": {Data: []byte("b{}")}}
}

func decision(name string, attempt int) *result.Cycle {
	c := &result.Cycle{}
	c.Pod = result.Pod{Namespace: "shop", Name: name, UID: "u"}
	c.Attempt, c.Outcome = attempt, result.Unschedulable
	return c
}

// unpack returns the content of a file as a browser reads it.
func unpack(t *testing.T, file []byte) content {
	t.Helper()
	_, rest, found := strings.Cut(string(file), `<script type="text/plain" id="report"`)
	_, rest, _ = strings.Cut(rest, ">")
	packed, _, ended := strings.Cut(rest, "</script>")
	if !found || !ended {
		t.Fatalf("the file holds no content:\n%s", file)
	}
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	var c content
	if err := json.NewDecoder(r).Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAFileHoldsItsDecisions(t *testing.T) {
	exported := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	file, _, err := HTML(built("run()"), Report{Decision: decision("web", 2), Other: decision("web", 1), Attempts: []result.Summary{decision("web", 1).Summary}, Exported: exported})
	if err != nil {
		t.Fatal(err)
	}
	got := unpack(t, file)
	if got.Decision.Attempt != 2 || got.Other.Attempt != 1 || len(got.Attempts) != 1 || got.Decision.Explanation.Sentence == "" || !got.Provenance.Exported.Equal(exported) || got.Provenance.Kubernetes == "" {
		t.Errorf("the file holds %+v", got)
	}
}

// TestNothingInAFileRuns: whatever a pod is called and says, it cannot end the element that it stands in.
func TestNothingInAFileRuns(t *testing.T) {
	hostile := decision(`"><script>alert(1)</script>`, 1)
	hostile.Message = "</script><script>alert(2)</script>"
	const script = `a="</script><SCRIPT>x</SCRIPT><!--"; b=/</g`
	file, policy, err := HTML(built(script), Report{Decision: hostile})
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	if strings.Contains(text, "<script>alert") {
		t.Errorf("the file holds text of the cluster as it is:\n%s", text)
	}
	if got := strings.Count(strings.ToLower(text), "</script>"); got != 2 {
		t.Errorf("%d elements end, want the content and the script:\n%s", got, text)
	}
	if want := `a="<\/script><SCRIPT>x<\/SCRIPT><\!--"; b=/</g`; !strings.Contains(text, want) {
		t.Errorf("the script is not %s:\n%s", want, text)
	}
	if !strings.Contains(text, `content="`+policy+`"`) || !strings.HasPrefix(policy, "default-src 'none'; script-src 'sha256-") || strings.Contains(policy, "script-src 'unsafe") {
		t.Errorf("the policy is %s", policy)
	}
}

// TestAFileOfALargeClusterIsSmall: 5,000 nodes with the reasons and scores of each fit into 2 MB beside
// the application's script, which takes 1.2 MB.
func TestAFileOfALargeClusterIsSmall(t *testing.T) {
	const nodes, most = 5000, 2<<20 - 1200<<10
	type reasons struct {
		Node, Plugin string
		Reasons      []string
	}
	var filter struct {
		Plugins, Nodes, States []string
		Reasons                []reasons
	}
	var score struct {
		Plugins                   []result.ScorePlugin
		Nodes                     []string
		Raw, Normalized, Weighted [][]int64
		Totals                    []int64
	}
	filter.Plugins = []string{"NodeName", "TaintToleration", "NodeResourcesFit", "PodTopologySpread"}
	for _, name := range []string{"TaintToleration", "NodeResourcesFit", "ImageLocality"} {
		score.Plugins = append(score.Plugins, result.ScorePlugin{Name: name, Weight: 2})
	}
	for i := range nodes {
		name := fmt.Sprintf("node-%x.example.com", i*2654435761)
		filter.Nodes = append(filter.Nodes, name)
		if i%2 == 0 {
			filter.States = append(filter.States, "PPRN")
			filter.Reasons = append(filter.Reasons, reasons{name, "NodeResourcesFit", []string{"Insufficient cpu", "Insufficient memory"}})
			continue
		}
		filter.States = append(filter.States, "PPPP")
		row := []int64{int64(i * 7919 % 101), int64(i * 104729 % 101), int64(i * 1299709 % 101)}
		score.Nodes = append(score.Nodes, name)
		score.Raw = append(score.Raw, row)
		score.Normalized = append(score.Normalized, row)
		score.Weighted = append(score.Weighted, []int64{2 * row[0], 2 * row[1], 2 * row[2]})
		score.Totals = append(score.Totals, 2*(row[0]+row[1]+row[2]))
	}
	text, err := json.Marshal(map[string]any{"filter": filter, "score": score})
	if err != nil {
		t.Fatal(err)
	}
	c := decision("web", 1)
	if err := json.Unmarshal(text, c); err != nil {
		t.Fatal(err)
	}
	if got := len(c.Filter.Nodes) + len(c.Score.Nodes); got != nodes*3/2 {
		t.Fatalf("the cycle has %d rows", got)
	}
	file, _, err := HTML(built("run()"), Report{Decision: c})
	if err != nil {
		t.Fatal(err)
	}
	if len(file) > most {
		t.Errorf("the file has %d bytes without the script, want at most %d", len(file), most)
	}
}

func TestAProgramWithoutTheApplicationMakesNoFile(t *testing.T) {
	_, _, err := HTML(fstest.MapFS{}, Report{Decision: decision("web", 1)})
	if diff := cmp.Diff(true, errors.Is(err, ErrNotBuilt)); diff != "" {
		t.Errorf("%v", err)
	}
}
