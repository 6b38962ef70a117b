package kubectl

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"kube-scheduler-simulator/simulator/questions/report"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Exit codes of a question, for scripts.
const (
	// Yes: it runs, or it fits.
	Yes = 0
	// No: it waits, or it does not fit.
	No = 1
	// CannotTell: the question could not be asked, or not be judged.
	CannotTell = 2
)

// Target answers questions.
type Target interface {
	Why(ctx context.Context, q why.Question) (*why.Answer, error)
}

// AskAll asks the questions one after the other: what fits counts as placed in the questions after it.
func AskAll(ctx context.Context, target Target, questions []why.Question) ([]why.Answer, error) {
	var answers []why.Answer
	var placed why.Placed
	for _, q := range questions {
		placed.Before(&q)
		answer, err := target.Why(ctx, q)
		if err != nil {
			return nil, err
		}
		if err := placed.Add(q, answer); err != nil {
			return nil, err
		}
		answers = append(answers, *answer)
	}
	return answers, nil
}

// Code is the exit code of several answers: the worst.
func Code(answers []why.Answer) int {
	code := Yes
	for _, a := range answers {
		switch a.Verdict {
		case why.Runs, why.Fits:
		case why.Waits, why.DoesNotFit:
			code = max(code, No)
		default:
			code = CannotTell
		}
	}
	return code
}

// Formats are the values of --output.
const Formats = "text, wide, json, yaml, junit or markdown"

// CheckFormat returns an error for a format that Print does not have.
func CheckFormat(format string) error {
	switch format {
	case "text", "wide", "json", "yaml", "junit", "markdown":
		return nil
	}
	return fmt.Errorf("--output must be %s, not %q", Formats, format)
}

// Print writes answers in a format. With fit, people get the commands that make the changes, too.
func Print(w io.Writer, answers []why.Answer, format string, fit bool) error {
	switch format {
	case "json", "yaml":
		return why.Encode(w, answers, format == "yaml")
	case "junit":
		return report.JUnit(w, answers)
	case "markdown":
		return report.Markdown(w, answers)
	}
	for i := range answers {
		if i > 0 {
			if _, err := io.WriteString(w, "\n---\n"); err != nil {
				return err
			}
		}
		if err := why.Print(w, &answers[i], why.Layout{Columns: columns(w), Wide: format == "wide", Commands: fit}); err != nil {
			return err
		}
	}
	return nil
}

// columns is the width of the terminal that w is, or what COLUMNS says; 0 if nobody says.
func columns(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}

// ExitError ends a program with a code; Err is nil if the answer has been printed.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return "exit code " + strconv.Itoa(e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// exit returns the error for a code; nil for Yes.
func exit(code int) error {
	if code == Yes {
		return nil
	}
	return &ExitError{Code: code}
}
