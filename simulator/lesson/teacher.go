package lesson

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// LoadDir reads a teacher's lessons. Its directory challenges holds challenges. The error is a
// *scenario.Error for mistakes in files, such as the id of a built-in lesson.
func LoadDir(dir string, parse func(document []byte) (*config.Configuration, error)) ([]*Lesson, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("reading lessons: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("reading lessons: %s is not a directory", dir)
	}
	// A link in it does not lead outside.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading lessons: %w", err)
	}
	defer root.Close()
	own, err := Load(root.FS(), Options{Parse: parse, Dir: filepath.ToSlash(dir), Own: true})
	if err != nil {
		return nil, err
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("reading lessons: %s has no files such as 01-decides.en.md", dir)
	}
	all, err := BuiltIn()
	if err != nil {
		return nil, err
	}
	wrong := &scenario.Error{}
	for _, l := range own {
		for _, b := range all {
			if b.ID == l.ID {
				wrong.Mistakes = append(wrong.Mistakes, scenario.Mistake{File: l.File, Line: 2, Field: "id", Message: fmt.Sprintf("a built-in %s has the id %s; choose another one", b.Kind, l.ID)})
			}
		}
	}
	if len(wrong.Mistakes) > 0 {
		return nil, wrong
	}
	return own, nil
}

// OneLine describes one mistake in a line, and says how many more there are.
func OneLine(err error) error {
	wrong, is := errors.AsType[*scenario.Error](err)
	if !is || len(wrong.Mistakes) < 2 {
		return err
	}
	return fmt.Errorf("%s (and %d more; \"simulator lesson check\" lists all)", wrong.Mistakes[0], len(wrong.Mistakes)-1)
}
