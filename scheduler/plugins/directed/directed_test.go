package directed

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

func TestMain(m *testing.M) {
	metrics.Register()
	klog.SetLogger(logr.Discard())
	schedulertest.Prepare()
	os.Exit(m.Run())
}

// TestOurAnswers: our plugins answer as the original does, except where a case says why not.
func TestOurAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c Case
			if err := json.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			if (c.Known == "") != (len(c.Ours) == 0) {
				t.Fatal("answers that differ need a reason, and a reason needs answers")
			}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
				answers, err := Replay(ctx, &c, schedulertest.NewAPIServer(), plugins.Registry()[c.Plugin])
				cancel()
				time.Sleep(10 * time.Minute) // goroutines of informers end on their own
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.Right(), answers, cmpopts.EquateEmpty()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
