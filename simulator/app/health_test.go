package app

import (
	"errors"
	"strings"
	"testing"
)

// TestFailuresToSaveAreLogged: a lasting failure is logged once, and a new failure is logged again.
func TestFailuresToSaveAreLogged(t *testing.T) {
	var log lines
	full := errors.New("no space left")
	answers := []error{nil, full, full, nil, full}
	save := loggingFailures(log.logger(), func() error {
		next := answers[0]
		answers = answers[1:]
		return next
	})
	for _, want := range []int{0, 1, 1, 1, 2} {
		save()
		if got := strings.Count(log.String(), "no space left"); got != want {
			t.Fatalf("%d lines; want %d:\n%s", got, want, log.String())
		}
	}
}
