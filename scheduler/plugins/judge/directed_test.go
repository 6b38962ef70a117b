package judge

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/plugins/directed"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// replayed are the answers to a case, or why there are none.
type replayed struct {
	answers []directed.Answer
	err     error
}

// replay asks one of the two plugins.
func replay(t *testing.T, c *directed.Case, registry frameworkruntime.Registry) replayed {
	return inBubble(t, func(ctx context.Context) replayed {
		answers, err := directed.Replay(ctx, c, discovered{schedulertest.NewAPIServer()}, registry[c.Plugin])
		return replayed{answers, err}
	})
}

// TestDirected: the answers that the directed inputs have for the original are the original's.
func TestDirected(t *testing.T) {
	files, err := filepath.Glob("../directed/testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c directed.Case
			if err := json.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			got := replay(t, &c, originals())
			if got.err != nil {
				t.Fatal(got.err)
			}
			if diff := cmp.Diff(c.Original, got.answers, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
