package lesson

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// classroom returns the sandbox of the lesson small, in memory.
func classroom(t *testing.T, sandbox string) *Classroom {
	t.Helper()
	own, err := loadFiles(map[string]string{"01-small.en.md": small})
	if err != nil {
		t.Fatal(err)
	}
	player, err := InMemory(inmemory.Engine(nil))(t.Context(), own[0])
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClassroom(own, sandbox, player, func(context.Context) (int, error) { return 3, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Stop()
		if err := player.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestTheResultOfALesson has the latest answer to each check, in the language that is asked for.
func TestTheResultOfALesson(t *testing.T) {
	c, ctx := classroom(t, "small"), t.Context()
	if err := c.Do(ctx, "small", "first"); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{"b", "a"} {
		if _, err := c.Grade(ctx, "small", "where", "en", answer); err != nil {
			t.Fatal(err)
		}
	}
	r, err := c.Result(ctx, "small", "ja")
	if err != nil {
		t.Fatal(err)
	}
	if *r.Edits != 3 || r.Language != "en" || r.ID != "small" {
		t.Errorf("the result is %+v", r)
	}
	for _, check := range r.Answers {
		switch {
		case check.ID == "where" && (check.Answer != "a" || check.Grade == nil || !check.Grade.Passed || check.Grade.Feedback != "Yes."):
			t.Errorf("the answered check is %+v", check)
		case check.ID != "where" && check.Grade != nil:
			t.Errorf("a check that has no answer is graded: %+v", check)
		}
	}
	if _, err := classroom(t, "").Result(ctx, "small", "en"); err == nil {
		t.Error("a result came from outside the sandbox")
	}
}

func TestALearnerDoesALesson(t *testing.T) {
	c, ctx := classroom(t, "small"), context.Background()
	before, err := c.Grade(ctx, "small", "where", "en", "a")
	if err != nil || before.Passed || before.Error == "" {
		t.Errorf("before the pod exists: %+v, %v", before, err)
	}
	if err := c.Do(ctx, "small", "first"); err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]bool{"a": true, " a ": true, "b": false} {
		g, err := c.Grade(ctx, "small", "where", "en", answer)
		if err != nil {
			t.Fatal(err)
		}
		if g.Passed != want || g.Passed && g.Feedback != "Yes." {
			t.Errorf("%q: %+v", answer, g)
		}
	}
	if _, err := c.Grade(ctx, "small", "where", "en", 7.0); err == nil || err.Error() != "want a text" {
		t.Errorf("a number for a text: %v", err)
	}
}

// A lesson must not change a cluster that is not its sandbox.
func TestLessonsActInTheirSandboxOnly(t *testing.T) {
	for _, sandbox := range []string{"", "decides"} {
		c := classroom(t, sandbox)
		err := c.Do(t.Context(), "small", "first")
		if _, is := errors.AsType[*ElsewhereError](err); !is {
			t.Errorf("%q: a step: %v", sandbox, err)
		}
		_, err = c.Grade(t.Context(), "small", "where", "en", "a")
		if _, is := errors.AsType[*ElsewhereError](err); !is {
			t.Errorf("%q: a check: %v", sandbox, err)
		}
	}
}

func TestWhatALessonHasNot(t *testing.T) {
	c := classroom(t, "small")
	_, noLesson := c.Get("large", "en")
	_, noStart := c.Start("large")
	_, noCheck := c.Grade(t.Context(), "small", "why", "en", "a")
	for what, err := range map[string]error{"a lesson": noLesson, "a start": noStart, "a check": noCheck, "a step": c.Do(t.Context(), "small", "second")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestASandboxStartsWithTheLesson(t *testing.T) {
	text := strings.Replace(small, "goal: Nothing.", "goal: Nothing.\nengine: server\nkueue: true\nsessions: true\nfeatureGates: {B: false, A: true}", 1)
	all, err := loadFiles(map[string]string{"01-small.en.md": text})
	if err != nil {
		t.Fatal(err)
	}
	start, err := all[0].Start()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"--lesson=small", "--tie-seed=1", "--kueue", "--session-scheduler", "--feature-gates=A=true,B=false"}, start.Flags); diff != "" {
		t.Error(diff)
	}
	if len(start.Objects) != 1 || !strings.Contains(string(start.Objects[0]), `"kind":"Node"`) || start.Configuration != nil {
		t.Errorf("%s, %s", start.Objects, start.Configuration)
	}
}

// A teacher's directory is refused with a line per mistake.
func TestATeachersDirectory(t *testing.T) {
	write := func(name, text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	own, err := LoadDir(write("01-small.en.md", small), config.Parse)
	if err != nil || len(own) != 1 || !own[0].Own || !own[0].Summary("en").Own {
		t.Errorf("%+v, %v", own, err)
	}
	for _, c := range []struct{ dir, want string }{
		{filepath.Join(t.TempDir(), "none"), "reading lessons: stat"},
		{t.TempDir(), "has no files such as"},
		{write("01-decides.en.md", strings.Replace(small, "id: small", "id: decides", 1)), "01-decides.en.md:2: id: a built-in lesson has the id decides; choose another one"},
		{write("01-small.en.md", strings.Replace(small, "page: /", "pagge: /", 1)), "pagge: unknown field \"pagge\", did you mean page?"},
	} {
		if _, err := LoadDir(c.dir, config.Parse); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
	several := &scenario.Error{Mistakes: []scenario.Mistake{{File: "a.md", Line: 3, Message: "wrong"}, {File: "a.md", Line: 4, Message: "wrong, too"}}}
	if got := OneLine(several).Error(); got != `a.md:3: wrong (and 1 more; "simulator lesson check" lists all)` {
		t.Error(got)
	}
}
