package kubectl_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kube-scheduler-simulator/simulator/kubectl"
	"kube-scheduler-simulator/simulator/questions/why"
)

func TestOutputs(t *testing.T) {
	answers := []why.Answer{{
		APIVersion: why.APIVersion, Kind: why.Kind, Verdict: why.DoesNotFit, Sentence: "No node takes it.", Subject: why.Subject{Kind: "Pod", Namespace: "default", Name: "web"},
	}}
	dir := t.TempDir()
	markdown, junit := filepath.Join(dir, "a=b.md"), filepath.Join(dir, "a.xml")
	for _, tt := range []struct {
		outputs kubectl.Outputs
		stdout  string
		files   map[string]string
	}{
		{nil, "No node takes it.", nil},
		{kubectl.Outputs{"json"}, `"verdict": "doesNotFit"`, nil},
		{kubectl.Outputs{"junit=" + junit, "markdown=" + markdown}, "No node takes it.", map[string]string{junit: "<testsuites>", markdown: "| Pod default/web |"}},
		{kubectl.Outputs{"markdown", "junit=" + junit}, "| Pod default/web |", map[string]string{junit: "<testsuites>"}},
	} {
		for name := range tt.files {
			_ = os.Remove(name)
		}
		var out bytes.Buffer
		if err := tt.outputs.Print(&out, answers, false); err != nil || !strings.Contains(out.String(), tt.stdout) {
			t.Errorf("%q: %v, with\n%s", tt.outputs, err, out.String())
		}
		for name, want := range tt.files {
			if got, err := os.ReadFile(name); err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%q: %v, with %s\n%s", tt.outputs, err, name, got)
			}
		}
	}
	for _, wrong := range []kubectl.Outputs{{"xml"}, {"xml=a"}, {"junit="}, {"junit", "markdown"}} {
		if wrong.Check() == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	if err := (kubectl.Outputs{"junit=" + filepath.Join(dir, "none", "a.xml")}).Print(&bytes.Buffer{}, answers, false); err == nil || !strings.Contains(err.Error(), "a.xml") {
		t.Errorf("a file that cannot be written: %v", err)
	}
}
