package command

import (
	"context"
	"errors"
	"fmt"
	"github.com/spf13/cobra"
	"os"
	"path/filepath"
	"strings"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/lesson"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

func lessons(with []Option) *cobra.Command {
	c := &cobra.Command{Use: "lesson", Short: "Has the commands for authors of lessons", Args: noArguments, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(checkLessons(with))
	return c
}

// checkLessons tries every check with the answers that its file calls right and wrong.
func checkLessons(with []Option) *cobra.Command {
	options := optionsOf(with)
	flags := newFlags("check PATH… [flags]",
		"Reads lessons and tries every check in memory, with the answers that the files call right and wrong. A PATH is a directory of lessons, or a file of one.\n"+
			"The exit code is 1 if a file has mistakes or a check does not grade as its file says.")
	return flags.takes(func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return errors.New("name a directory of lessons, or a file of one (see --help)")
		}
		registry, err := options.Registry()
		if err != nil {
			return err
		}
		open := lesson.InMemory(inmemory.Engine(registry))
		wrong := 0
		for _, path := range args {
			found, err := checkPath(ctx, path, options.ParseConfiguration, open)
			if err != nil {
				return err
			}
			wrong += found
		}
		switch wrong {
		case 0:
			return nil
		case 1:
			return errors.New("1 mistake in the lessons")
		}
		return fmt.Errorf("%d mistakes in the lessons", wrong)
	})
}

// checkPath returns how many mistakes it has reported.
func checkPath(ctx context.Context, path string, parse func([]byte) (*config.Configuration, error), open func(context.Context, *lesson.Lesson) (lesson.Sandbox, error)) (int, error) {
	dir, only := path, ""
	if strings.HasSuffix(path, ".md") {
		dir, only = filepath.Split(path)
		dir = filepath.Clean(dir)
	}
	all, err := lesson.LoadDir(dir, parse)
	if err != nil {
		return reportMistakes(err, only)
	}
	wrong, tried := 0, 0
	for _, l := range all {
		if only != "" && filepath.Base(l.File) != only {
			continue
		}
		tried++
		if l.Engine != lesson.EngineMemory {
			fmt.Printf("%s: its checks need a control plane, so they were not tried\n", l.File)
			continue
		}
		if err := lesson.Rehearse(ctx, l, open); err != nil {
			found, err := reportMistakes(err, "")
			if err != nil {
				return wrong, err
			}
			wrong += found
			continue
		}
		fmt.Printf("%s: %s, every answer is graded as the file says\n", l.File, checks(l.Summary("").Checks))
	}
	if tried == 0 {
		return wrong, fmt.Errorf("%s is not the English file of a lesson, such as 01-decides.en.md", path)
	}
	return wrong, nil
}

func checks(n int) string {
	if n == 1 {
		return "1 check"
	}
	return fmt.Sprintf("%d checks", n)
}

// reportMistakes prints mistakes, those of one file if only is set, and counts them. It returns
// other errors.
func reportMistakes(err error, only string) (int, error) {
	wrong, is := errors.AsType[*scenario.Error](err)
	if !is {
		return 0, err
	}
	printed := 0
	for _, m := range wrong.Mistakes {
		if only == "" || filepath.Base(m.File) == only {
			fmt.Fprintln(os.Stderr, m)
			printed++
		}
	}
	if printed == 0 {
		return 0, err
	}
	return printed, nil
}
