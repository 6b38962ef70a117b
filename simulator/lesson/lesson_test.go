package lesson

import (
	"errors"
	"regexp"
	"testing"

	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// builtIn returns the built-in lessons, and reports their mistakes.
func builtIn(t *testing.T) []*Lesson {
	t.Helper()
	all, err := BuiltIn()
	if mistaken, ok := errors.AsType[*scenario.Error](err); ok {
		for _, m := range mistaken.Mistakes {
			t.Error(m)
		}
		t.FailNow()
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every check is graded as its file says, for right and for wrong answers.
func TestEveryCheckGradesRightAndWrongAnswers(t *testing.T) {
	for _, l := range builtIn(t) {
		t.Run(l.ID, func(t *testing.T) {
			if l.Engine != EngineMemory {
				t.Skip("the test of the whole program tries it")
			}
			if err := Rehearse(t.Context(), l, InMemory(inmemory.Engine(nil))); err != nil {
				t.Error(err)
			}
		})
	}
}

// A lesson that is missing in a language would be shown in another one.
func TestEveryLessonHasAllLanguages(t *testing.T) {
	for _, l := range builtIn(t) {
		if got := l.Summary("en").Languages; len(got) != len(Languages) {
			t.Errorf("%s is there in %v only", l.ID, got)
		}
	}
}

// The page says "Right." in front of what a check says of a right answer.
func TestRightAnswersAreCalledRightOnce(t *testing.T) {
	verdicts := regexp.MustCompile(`^(Right|Solved|正解|達成)(です)?[.。]`)
	for _, l := range builtIn(t) {
		for _, language := range Languages {
			for id, texts := range l.in(language).checks {
				if verdicts.MatchString(texts.Yes) {
					t.Errorf("%s/%s says so again in %s: %s", l.ID, id, language, texts.Yes)
				}
			}
		}
	}
}
