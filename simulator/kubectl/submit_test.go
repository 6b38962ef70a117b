package kubectl_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"kube-scheduler-simulator/simulator/kubectl"
	"kube-scheduler-simulator/simulator/questions/submit"
)

type submitter submit.Summary

func (s submitter) Submit(context.Context, submit.Question) (*submit.Answers, error) {
	items := []submit.Answer{{APIVersion: submit.APIVersion, Verdict: submit.Waits, Sentence: "It waits.\x1b[2J", Nodes: submit.Nodes{Text: "Fit now"}}}
	return &submit.Answers{APIVersion: submit.APIVersion, Sentence: "It waits.", Summary: submit.Summary(s), Items: items}, nil
}

// TestSubmitSaysByItsCode whether every job would start at once.
func TestSubmitSaysByItsCode(t *testing.T) {
	for _, tt := range []struct {
		summary      submitter
		format, want string
		code         int
	}{
		{submitter{Jobs: 1, Starts: 1}, "text", "It waits.", kubectl.Yes},
		{submitter{Jobs: 2, Starts: 1}, "json", `"verdict": "waits"`, kubectl.No},
		{submitter{Jobs: 1, NoNode: 1}, "yaml", "verdict: waits", kubectl.No},
		{submitter{Jobs: 1, Waits: 1}, "junit", `<failure message="It waits.`, kubectl.No},
	} {
		var out bytes.Buffer
		code, err := kubectl.Submit(t.Context(), &out, tt.summary, submit.Question{}, tt.format)
		if err != nil || code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%+v as %s: code %d, %v\n%s", tt.summary, tt.format, code, err, out.String())
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("as %s it prints what controls a terminal", tt.format)
		}
	}
	if kubectl.CheckSubmitFormat("markdown") == nil {
		t.Error("markdown is taken")
	}
}
