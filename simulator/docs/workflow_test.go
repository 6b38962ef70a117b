package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestTheWorkflowIsTyped: the workflow that the page about CI shows gives the action inputs that it has, and the page types the same
// files in its commands, so that a test runs them.
func TestTheWorkflowIsTyped(t *testing.T) {
	found, err := blocks(readPage(t, "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	typed := ""
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
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
	used, kept := 0, ""
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			path, _, _ := strings.Cut(step.Uses, "@")
			if _, path, ours := strings.Cut(path, "kube-scheduler-simulator/"); ours {
				used++
				text, err := os.ReadFile(filepath.Join("..", "..", path, "action.yml"))
				if err != nil {
					t.Fatal(err)
				}
				if err := yaml.Unmarshal(text, &action); err != nil {
					t.Fatal(err)
				}
				for name, value := range step.With {
					if _, known := action.Inputs[name]; !known {
						t.Errorf("the action has no input %q", name)
					}
					if !strings.Contains(typed, value) {
						t.Errorf("the page does not type %q", value)
					}
				}
			}
			if strings.HasPrefix(step.Uses, "actions/upload-artifact@") {
				kept = step.With["path"]
			}
		}
	}
	if used != 1 || kept == "" || kept != action.Inputs["reports"].Default {
		t.Errorf("the workflow uses the action %d times and keeps %q", used, kept)
	}
	for name := range action.Inputs {
		if !strings.Contains(readPage(t, "ci.md"), "`"+name+"`") {
			t.Errorf("the page does not describe the input %q", name)
		}
	}
}
