package supervisor_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/supervisor"
)

// A paused scheduler shows the configuration of the last run, so that the cause of the
// pause can be removed from it, and runs once one is applied.
func TestAPausedSchedulerWaitsForAConfiguration(t *testing.T) {
	const why = "it crashed"
	dir := t.TempDir()
	saved := header + "parallelism: 7\n"
	inBubble(t, 1, func(o *supervisor.Options) { o.Dir = dir }, func(t *testing.T, c *cluster) {
		c.apply(t, saved)
	})
	inBubble(t, 1, func(o *supervisor.Options) { o.Dir, o.Paused = dir, why }, func(t *testing.T, c *cluster) {
		p := c.add(t, "p", v1.DefaultSchedulerName)
		time.Sleep(time.Minute)
		if state := c.live.State(); state.Paused != why || state.Running || state.Revision != 2 || len(c.attempts(p)) > 0 {
			t.Errorf("the state is %+v, the attempts are %q", state, c.attempts(p))
		}
		if current := c.live.Configuration(); current == nil || string(current.YAML) != saved {
			t.Errorf("the configuration is %+v", current)
		}
		// Work on the cluster does not start it.
		if err := c.live.Restart(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if state := c.live.State(); state.Paused != why || state.Swapping || len(c.attempts(p)) > 0 {
			t.Errorf("after a restart, the state is %+v, the attempts are %q", state, c.attempts(p))
		}
		if _, err := c.live.Apply(t.Context(), []byte(header+"parallelism: -1\n")); err == nil {
			t.Error("an invalid configuration is applied")
		}
		if _, err := c.live.Check(t.Context(), []byte(saved)); err != nil {
			t.Errorf("checking a configuration: %v", err)
		}
		c.apply(t, saved)
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]string{"scheduled 3"}, c.attempts(p)); diff != "" {
			t.Error(diff)
		}
		if state := c.live.State(); state.Paused != "" || !state.Running {
			t.Errorf("after the apply, the state is %+v", state)
		}
	})
}

func TestAPanicIsAWarning(t *testing.T) {
	changed := make(chan struct{}, 100)
	inBubble(t, 1, func(o *supervisor.Options) { o.Changed = func() { changed <- struct{}{} } }, func(t *testing.T, c *cluster) {
		c.gate.explosive.Store(true)
		c.apply(t, gated)
		for len(changed) > 0 {
			<-changed
		}
		p := c.add(t, "p", v1.DefaultSchedulerName)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if diff := cmp.Diff([]string{"error 2"}, c.attempts(p)); diff != "" {
			t.Error(diff)
		}
		warnings := c.live.State().Warnings
		if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "Gate panicked in Reserve: the gate explodes.") {
			t.Errorf("the warnings are %q", warnings)
		}
		if len(changed) == 0 {
			t.Error("the change of the warnings is not announced")
		}
		c.apply(t, header)
		if warnings := c.live.State().Warnings; len(warnings) > 0 {
			t.Errorf("without the plugin, the warnings are %q", warnings)
		}
	})
}
