package supervisor_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/supervisor"
)

const parallel3 = header + "# as written\nparallelism: 3\n"

func TestARestartGoesOnWithTheRevisionThatRan(t *testing.T) {
	dir := t.TempDir()
	in := func(o *supervisor.Options) { o.Dir = dir }
	inBubble(t, 2, in, func(t *testing.T, c *cluster) {
		c.apply(t, parallel3)
		c.add(t, "p", v1.DefaultSchedulerName)
		time.Sleep(time.Second)
	})
	inBubble(t, 2, in, func(t *testing.T, c *cluster) {
		if diff := cmp.Diff([]string{"2 user running", "1 default replaced"}, c.states()); diff != "" {
			t.Error(diff)
		}
		if got := string(c.live.Configuration().YAML); got != parallel3 {
			t.Errorf("what runs is %q", got)
		}
		p := c.add(t, "p", v1.DefaultSchedulerName)
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"scheduled 2"}, c.attempts(p)); diff != "" {
			t.Error(diff)
		}
		if r, _ := c.live.Revision(2); r.PodsScheduled != 2 {
			t.Errorf("%d pods are counted, want those of both runs", r.PodsScheduled)
		}
		if got := c.apply(t, header).Revision.Number; got != 3 {
			t.Errorf("the next revision is %d", got)
		}
	})
}

func TestTheInitialConfigurationWins(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, 1, func(o *supervisor.Options) { o.Dir = dir }, func(t *testing.T, c *cluster) { c.apply(t, parallel3) })
	given, err := config.Parse([]byte(header + "parallelism: 4\n"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second start adds no revision
		inBubble(t, 1, func(o *supervisor.Options) { o.Dir, o.Initial = dir, given }, func(t *testing.T, c *cluster) {
			if diff := cmp.Diff([]string{"3 file running", "2 user replaced", "1 default replaced"}, c.states()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARevisionThatCannotBeReadIsAnError(t *testing.T) {
	for _, tc := range []struct {
		name   string
		file   string
		damage func(string) string
		want   string
	}{
		{"half a file", "000002.json", func(s string) string { return s[:len(s)/2] }, "unexpected end of JSON input"},
		{"an empty file", "000002.json", func(string) string { return "" }, "unexpected end of JSON input"},
		{"another's file", "000002.json", func(s string) string { return strings.Replace(s, `"number":2`, `"number":7`, 1) }, "it is revision 7"},
		{"an earlier one", "000001.json", func(string) string { return "null and void" }, "invalid character"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			inBubble(t, 1, func(o *supervisor.Options) { o.Dir = dir }, func(t *testing.T, c *cluster) { c.apply(t, parallel3) })
			file := damageRevision(t, filepath.Join(dir, tc.file), tc.damage)
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, 1, func(o *supervisor.Options) { o.Dir = dir })
				err := c.live.Start(t.Context())
				unreadable, ok := errors.AsType[*supervisor.UnreadableError](err)
				if !ok || unreadable.Path != file || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("it said %v", err)
				}
			})
			if diff := cmp.Diff([]string{"000001.json", "000002.json"}, names(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// damageRevision changes a file and returns its path.
func damageRevision(t *testing.T, file string, damage func(string) string) string {
	t.Helper()
	kept, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(damage(string(kept))), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestASavedRevisionThatNoLongerWorksGivesWayToTheDefault(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, 1, func(o *supervisor.Options) { o.Dir = dir }, func(t *testing.T, c *cluster) { c.apply(t, parallel3) })
	damageRevision(t, filepath.Join(dir, "000002.json"), func(s string) string { return strings.ReplaceAll(s, "parallelism", "parallelity") })

	var mu sync.Mutex
	var log []string
	change := func(o *supervisor.Options) {
		o.Dir = dir
		o.Logger = funcr.New(func(_, args string) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, args)
		}, funcr.Options{})
	}
	inBubble(t, 1, change, func(t *testing.T, c *cluster) {
		if diff := cmp.Diff([]string{"3 default running", "2 user rolledBack", "1 default replaced"}, c.states()); diff != "" {
			t.Error(diff)
		}
		p := c.add(t, "p", v1.DefaultSchedulerName)
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"scheduled 3"}, c.attempts(p)); diff != "" {
			t.Error(diff)
		}
	})
	if len(log) != 1 || !strings.Contains(log[0], "scheduler configuration") {
		t.Errorf("the log is %q", log)
	}
	if diff := cmp.Diff([]string{"000001.json", "000002.json", "000003.json"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestADirectoryThatCannotBeWrittenIsAWarning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "revisions")
	inBubble(t, 1, func(o *supervisor.Options) { o.Dir = dir }, func(t *testing.T, c *cluster) {
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		c.apply(t, parallel3)
		if state := c.live.State(); !strings.Contains(strings.Join(state.Warnings, ""), "will not survive a restart") || !state.Running || state.Revision != 2 {
			t.Errorf("the state is %+v", state)
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		c.apply(t, header)
		if warning := c.live.State().Warnings; len(warning) > 0 {
			t.Errorf("there is still a warning: %s", warning)
		}
	})
	if diff := cmp.Diff([]string{"000001.json", "000002.json", "000003.json"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
