package supervisor_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/supervisor"
)

// parsed returns the configuration of a document.
func parsed(t *testing.T, document string) *config.Configuration {
	t.Helper()
	c, err := config.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestResetGoesBackToTheFirstConfiguration(t *testing.T) {
	fromFile := header + "profiles:\n- schedulerName: from-file\n"
	for _, test := range []struct {
		name    string
		initial string
		want    string
		profile string
	}{
		{"a file", fromFile, "3 file running", "from-file"},
		{"the default", "", "3 default running", v1.DefaultSchedulerName},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			change := func(o *supervisor.Options) {
				o.Dir = dir
				if test.initial != "" {
					o.Initial = parsed(t, test.initial)
				}
			}
			inBubble(t, 2, change, func(t *testing.T, c *cluster) {
				c.apply(t, header+"profiles:\n- schedulerName: other\n")
				idle := false
				err := c.live.Reset(t.Context(), func(context.Context) error {
					idle = !c.live.State().Running
					return nil
				})
				if err != nil || !idle {
					t.Errorf("reset: %v; nothing was scheduled meanwhile: %v", err, idle)
				}
				if diff := cmp.Diff([]string{test.want}, c.states()); diff != "" {
					t.Errorf("revisions (-want +got):\n%s", diff)
				}
				if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 1 || !strings.HasSuffix(files[0], "000003.json") {
					t.Errorf("files: %v", files)
				}
				p := c.add(t, "p", test.profile)
				c.await(t, p, "scheduled 3")
			})
		})
	}
}

func TestRestartKeepsTheConfiguration(t *testing.T) {
	inBubble(t, 2, nil, func(t *testing.T, c *cluster) {
		c.apply(t, header+"profiles:\n- schedulerName: other\n")
		if err := c.live.Restart(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"2 user running", "1 default replaced"}, c.states()); diff != "" {
			t.Errorf("revisions (-want +got):\n%s", diff)
		}
		c.await(t, c.add(t, "p", "other"), "scheduled 2")
	})
}

// An error of between is returned, and the scheduler runs nevertheless.
func TestResetThatFailsInBetween(t *testing.T) {
	inBubble(t, 1, nil, func(t *testing.T, c *cluster) {
		failure := errors.New("the disk is gone")
		if err := c.live.Reset(t.Context(), func(context.Context) error { return failure }); !errors.Is(err, failure) {
			t.Errorf("reset: %v", err)
		}
		c.await(t, c.add(t, "p", v1.DefaultSchedulerName), "scheduled 2")
	})
}

func TestResetAfterStop(t *testing.T) {
	inBubble(t, 0, nil, func(t *testing.T, c *cluster) {
		if err := c.live.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := c.live.Reset(t.Context(), func(context.Context) error {
			t.Error("the reset went on after Stop")
			return nil
		})
		if !errors.Is(err, config.ErrNotRunning) {
			t.Errorf("reset: %v", err)
		}
	})
}

// await waits, in the bubble's time, until a pod has exactly one attempt.
func (c *cluster) await(t *testing.T, p *v1.Pod, want string) {
	t.Helper()
	time.Sleep(time.Second)
	if diff := cmp.Diff([]string{want}, c.attempts(p)); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}
