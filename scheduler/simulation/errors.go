package simulation

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Errors about objects are those of an API server, as in k8s.io/apimachinery/pkg/api/errors:
// NotFound, AlreadyExists, Invalid and Conflict. The others are below.

// ConfigurationError means that no scheduler can be built from a configuration.
type ConfigurationError struct{ Err error }

func (e *ConfigurationError) Error() string { return "building the scheduler: " + e.Err.Error() }

func (e *ConfigurationError) Unwrap() error { return e.Err }

// UnsupportedError means that something exists in a real control plane but not in memory. The
// engine full of the command run has it.
type UnsupportedError struct {
	// GVK is the kind of the object, if it is about an object.
	GVK schema.GroupVersionKind
	// Name is namespace/name or the name of the object, and empty otherwise.
	Name string
	// What names what is not supported, such as "extenders" or "kind HorizontalPodAutoscaler of
	// autoscaling/v2".
	What string
}

func (e *UnsupportedError) Error() string {
	of := ""
	if e.Name != "" {
		of = fmt.Sprintf(" (%s %q)", e.GVK.Kind, e.Name)
	}
	return fmt.Sprintf("%s%s: not supported in memory; simulator run --engine full runs it", e.What, of)
}

// FeatureGateError means that this process has another value for a feature gate than the simulation
// needs. Start another process with the right values.
type FeatureGateError struct {
	Gate string
	// Want is the value that Options asks for. Known is false if Kubernetes has no such gate.
	Want, Known bool
}

func (e *FeatureGateError) Error() string {
	if !e.Known {
		return fmt.Sprintf("unknown feature gate %s", e.Gate)
	}
	return fmt.Sprintf("feature gate %s is %t in this process, and the run needs %t", e.Gate, !e.Want, e.Want)
}

// UnsettledError means that the cluster did not settle within the limit.
type UnsettledError struct {
	// Limit is how much virtual time has passed.
	Limit time.Duration
	// Doing says what goes on, such as "2 pods back off: default/a, default/b".
	Doing string
}

func (e *UnsettledError) Error() string {
	return fmt.Sprintf("the cluster has not settled within %v: %s", e.Limit, e.Doing)
}

// ControllerError means that a controller or a node could not do its work. A real controller
// retries until it can. In memory it does not, so the cluster afterwards says little.
type ControllerError struct{ Err error }

func (e *ControllerError) Error() string { return "a controller failed: " + e.Err.Error() }

func (e *ControllerError) Unwrap() error { return e.Err }

// PanicError means that the scheduler or a plugin panicked where nothing could go on. Close the
// simulation.
type PanicError struct{ Message, Stack string }

func (e *PanicError) Error() string { return "the simulation panicked: " + e.Message }

// MaxObjects bounds the objects of a cluster. A deployment of more replicas, say, takes all memory.
const MaxObjects = 400_000

// FullError means that the cluster has MaxObjects.
type FullError struct{}

func (*FullError) Error() string {
	return fmt.Sprintf("the cluster has %d objects already, the limit", MaxObjects)
}
