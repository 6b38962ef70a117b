package whatif

import (
	"errors"
	"fmt"
	"strings"
)

// ErrBusy means that too many questions wait already. Ask again later.
var ErrBusy = errors.New("too many questions are waiting")

// NotFoundError means that the state has no such object.
type NotFoundError struct{ ObjectRef }

func (e *NotFoundError) Error() string {
	name := e.Name
	if e.Namespace != "" {
		name = e.Namespace + "/" + e.Name
	}
	return fmt.Sprintf("the state has no %s %q", e.GVK.Kind, name)
}

// KindError means that no plugin and no part of the scheduler reads objects of this kind, so a
// change of one would mean nothing.
type KindError struct{ ObjectRef }

func (e *KindError) Error() string {
	return fmt.Sprintf("the scheduler does not read objects of the kind %s", e.GVK)
}

// ChangeError says which change cannot be applied, and why. Err is a *NotFoundError, a *KindError, an
// *InvalidError, or another error of the patch.
type ChangeError struct {
	// Index is that of the change in the question.
	Index int
	Err   error
}

func (e *ChangeError) Error() string { return fmt.Sprintf("change %d: %v", e.Index+1, e.Err) }

func (e *ChangeError) Unwrap() error { return e.Err }

// InvalidError means that a pod, a change or a question is not a valid one.
type InvalidError struct {
	// Path is the path of the field, such as spec.containers[0].resources; it may be empty.
	Path    string
	Message string
}

func (e *InvalidError) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// ProfileError means that the configuration has no such profile.
type ProfileError struct {
	Profile string
	// Profiles are the names that it has, in its order.
	Profiles []string
}

func (e *ProfileError) Error() string {
	return fmt.Sprintf("the configuration has no profile %q; it has %q", e.Profile, e.Profiles)
}

// ConfigurationError means that no scheduler can be built with the configuration.
type ConfigurationError struct{ Err error }

func (e *ConfigurationError) Error() string {
	return "building a scheduler with the configuration: " + e.Err.Error()
}

func (e *ConfigurationError) Unwrap() error { return e.Err }

// PanicError means that a plugin, or the scheduler, panicked while it answered. The process and
// the engine go on.
// A panic of a call of a plugin is not one: it makes the outcome of the decision an error, as in a live cycle.
type PanicError struct{ Message, Stack string }

// Error leaves out the stack.
func (e *PanicError) Error() string { return "the scheduler panicked: " + e.Message }

// UnfitError means that a pod cannot be placed on a node.
type UnfitError struct {
	Node string
	// Plugin is empty if the framework rejected the pod.
	Plugin  string
	Reasons []string
}

func (e *UnfitError) Error() string {
	return fmt.Sprintf("the pod does not fit on %s: %s: %s", e.Node, e.Plugin, strings.Join(e.Reasons, ", "))
}
