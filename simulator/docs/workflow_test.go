package docs

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestTheWorkflowIsTyped: the commands of the workflow that the page about CI shows are commands that the page types, so that a test runs
// them.
func TestTheWorkflowIsTyped(t *testing.T) {
	found, err := blocks(readPage(t, "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	typed := ""
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses, Run string
				With      map[string]string
			}
		}
	}
	for _, b := range found {
		if b.isTyped() {
			typed += b.text
		}
		if b.file() == "scheduler.yml" {
			if err := yaml.Unmarshal([]byte(b.text), &workflow); err != nil {
				t.Fatal(err)
			}
		}
	}
	commands, kept := 0, ""
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			if step.Run != "" {
				commands++
				if !strings.Contains(typed, step.Run) {
					t.Errorf("the page does not type %q", step.Run)
				}
			}
			if strings.HasPrefix(step.Uses, "actions/upload-artifact@") {
				kept = step.With["path"]
			}
		}
	}
	if commands == 0 || kept != "scenarios.*" {
		t.Errorf("the workflow has %d commands and keeps %q", commands, kept)
	}
}
