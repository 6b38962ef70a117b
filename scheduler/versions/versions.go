// Package versions asks the schedulers of other versions of Kubernetes.
//
// Each is a program of its own, because a program holds one version of Kubernetes: bin/scheduler-1.35 and its siblings. They are built on
// demand, from one source. With the version of this product that is the module's go.mod. For each other version, kubernetes-1.35.mod and its
// siblings in this directory stand in for it (go build -modfile), together with a build tag such as kubernetes135:
//
//	scheduler/versions/wire        what the programs and this package tell each other
//	scheduler/versions/decide      the programs' source, with one small file per version
//	scheduler/versions/scheduler   their main function
//	scheduler/versions/*.mod       the versions of Kubernetes
//
// To add a version, copy the newest .mod file, change the versions in it, and build it once with -mod=mod, which completes it and
// writes the .sum file:
//
//	go build -mod=mod -modfile=scheduler/versions/kubernetes-1.38.mod -tags=kubernetes138 -o bin/scheduler-1.38 ./scheduler/versions/scheduler
//
// This package knows nothing of Kubernetes' code. It imports package wire.
package versions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Own is the minor version of this product's own Kubernetes.
const Own = "1.37"

// Minors returns the minor versions whose schedulers can be built, the oldest first.
func Minors() []string { return []string{"1.34", "1.35", "1.36", Own} }

// UnknownError means that there is no scheduler of a version.
type UnknownError struct{ Version string }

func (e *UnknownError) Error() string {
	minors := Minors()
	last := len(minors) - 1
	return fmt.Sprintf("no scheduler of Kubernetes %q: there are those of %s and %s", e.Version, strings.Join(minors[:last], ", "), minors[last])
}

// NotBuiltError means that the scheduler of a version is not where it should be.
type NotBuiltError struct{ Minor, Path string }

func (e *NotBuiltError) Error() string {
	return fmt.Sprintf("the scheduler of Kubernetes %s is not built: run `%s`, which takes up to ten minutes once, or put it at %s", e.Minor, Command(e.Minor), e.Path)
}

// Command builds the scheduler of a minor version, in the directory of the source.
func Command(minor string) string { return "make scheduler-" + minor }

// Check reports whether the scheduler of a minor version is beside this program. The error may be an *UnknownError or a *NotBuiltError.
func Check(minor string) error {
	dir, err := Beside()
	if err == nil {
		_, err = find(dir, minor)
	}
	return err
}

// MinorOf returns the minor version of a version such as 1.35, v1.35.4 or v1.35.4-gke.100. The error is an *UnknownError.
func MinorOf(version string) (string, error) {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) >= 2 && slices.Contains(Minors(), parts[0]+"."+parts[1]) {
		return parts[0] + "." + parts[1], nil
	}
	return "", &UnknownError{version}
}

// Named returns the minor version that a question names. It takes no patch release, because the scheduler of a minor version is of one that the
// answer names. The error is an *UnknownError or a *PatchError.
func Named(version string) (string, error) {
	minor, err := MinorOf(version)
	if err == nil && minor != version {
		err = &PatchError{version, minor}
	}
	return minor, err
}

// PatchError means that a question names a patch release.
type PatchError struct{ Version, Minor string }

func (e *PatchError) Error() string {
	return fmt.Sprintf("%q: name the minor version, %s; its scheduler is of one patch release, which the answer names", e.Version, e.Minor)
}

// Refuses reports whether an error says why a version cannot decide.
func Refuses(err error) bool {
	if _, ok := errors.AsType[*UnknownError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*NotBuiltError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*RefusedError](err); ok {
		return true
	}
	_, ok := errors.AsType[*DiedError](err)
	return ok
}

// Beside returns the directory of this program, in which make puts the schedulers.
func Beside() (string, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return "", fmt.Errorf("finding the schedulers beside this program: %w", err)
	}
	return filepath.Dir(program), nil
}

// find returns the path of the scheduler of a minor version. The error may be an *UnknownError or a *NotBuiltError.
func find(dir, minor string) (string, error) {
	if !slices.Contains(Minors(), minor) {
		return "", &UnknownError{minor}
	}
	path := filepath.Join(dir, "scheduler-"+minor)
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.IsDir():
		return "", &NotBuiltError{minor, path}
	case err != nil:
		return "", fmt.Errorf("finding the scheduler of Kubernetes %s: %w", minor, err)
	}
	return path, nil
}
