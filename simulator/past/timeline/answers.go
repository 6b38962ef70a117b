package timeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Point is a moment, and its time or the later one that a query named. Moments count the recorded
// changes of objects, from 1 and across restarts: a moment names the state after its change.
type Point struct {
	Moment uint64    `json:"moment"`
	Time   time.Time `json:"time"`
}

// ObjectRef names an object.
type ObjectRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// StepKind is a kind of step.
type StepKind string

const (
	// ChangeStep: a user created, changed or deleted objects.
	ChangeStep StepKind = "change"
	// FailureStep: a node failed, and perhaps recovered.
	FailureStep StepKind = "failure"
	// ConfigurationStep: the scheduler got another configuration.
	ConfigurationStep StepKind = "configuration"
	// ResetStep: the simulator was emptied.
	ResetStep StepKind = "reset"
	// ImportStep: objects were imported.
	ImportStep StepKind = "import"
)

// Step is what a user did, or what happened to a node, as opposed to how the scheduler and
// controllers reacted.
type Step struct {
	// Moment and Time are those of the step's last change.
	Moment uint64    `json:"moment"`
	Time   time.Time `json:"time"`
	// EndTime is when a failure ended; nil while it lasts, and for other kinds.
	EndTime *time.Time `json:"endTime,omitempty"`
	Kind    StepKind   `json:"kind"`
	// Verb says more: create, update, patch, delete, apply, cordon, drain, evict, label, recreate,
	// restart, scale, taint, uncordon, activate, install, judge or undo for a change; notReady or
	// unreachable for a failure.
	Verb string `json:"verb"`
	// Objects are the first few of Count objects.
	Objects []ObjectRef `json:"objects"`
	Count   int         `json:"count"`
	// Deleted is how many other objects an import has deleted first.
	Deleted int `json:"deleted,omitempty"`
	// By is ByWeb, the name of another program such as "kubectl", or BySimulator.
	By string `json:"by"`
	// Revision and Summary describe a configuration; of an undo, Revision is the one that it
	// applied again. Failed: it did not start, so the one before it stayed.
	Revision int    `json:"revision,omitempty"`
	Summary  string `json:"summary,omitempty"`
	Failed   bool   `json:"failed,omitempty"`
	// Undone: a later step took this one back.
	Undone bool `json:"undone,omitempty"`
}

const maxStepObjects = 5

// Bucket counts what happened in a part of a time line, which begins at Time.
type Bucket struct {
	Time time.Time `json:"time"`
	// Events counts changes of objects, Scheduled and Unschedulable scheduling attempts.
	Events        int `json:"events"`
	Scheduled     int `json:"scheduled"`
	Unschedulable int `json:"unschedulable"`
}

// Source is what an answer describes.
type Source string

// OfReplay is the loaded recording. The zero value is the simulator's own journal.
const OfReplay Source = "replay"

// Line is a part of a time line.
type Line struct {
	// Recording: the simulator records itself.
	Recording bool `json:"recording"`
	// Start and End are those of the whole time line; nil when it is empty.
	Start       *time.Time `json:"start,omitempty"`
	End         *time.Time `json:"end,omitempty"`
	StartMoment uint64     `json:"startMoment"`
	EndMoment   uint64     `json:"endMoment"`
	// Bytes and LimitBytes are the size of the journal on disk, and its bound.
	Bytes      int64 `json:"bytes"`
	LimitBytes int64 `json:"limitBytes"`
	// Steps are oldest first.
	Steps []Step `json:"steps"`
	// Buckets are of equal length, and together cover the part.
	Buckets []Bucket `json:"buckets"`
	// Continue is the Query.Continue of the next page of steps; empty when there is none.
	Continue string `json:"continue,omitempty"`
	Source   Source `json:"source,omitempty"`
}

// Query selects a part of a time line. The zero value is the whole one, with DefaultBuckets and
// DefaultSteps.
type Query struct {
	// From and To are zero for the start and the end.
	From, To time.Time
	Buckets  int
	Limit    int
	Continue string
}

const (
	DefaultBuckets = 200
	MaxBuckets     = 2000
	DefaultSteps   = 500
	MaxSteps       = 5000
)

// At names a moment, or the latest one at or before a time if Moment is 0. Objects change at
// moments. The scheduler's configuration and its attempts also come between two of them, so answers
// have those of the time.
type At struct {
	Moment uint64
	Time   time.Time
}

// MomentConfiguration is the scheduler configuration at a moment.
type MomentConfiguration struct {
	Revision int `json:"revision"`
	// Document is as its author wrote it.
	Document string `json:"document"`
}

// MomentCounts counts the objects at a moment.
type MomentCounts struct {
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	// Pending pods have no node and have not finished.
	Pending int `json:"pending"`
}

// Moment is the cluster at a moment, reduced to what a map shows.
type Moment struct {
	Point
	Nodes []json.RawMessage `json:"nodes"`
	Pods  []json.RawMessage `json:"pods"`
	// Configuration is nil for a recording.
	Configuration *MomentConfiguration `json:"configuration,omitempty"`
	Counts        MomentCounts         `json:"counts"`
	Source        Source               `json:"source,omitempty"`
}

// FieldChange is a field that differs. From or To is nil where the field is missing.
type FieldChange struct {
	// Path is like spec.containers[0].image.
	Path string `json:"path"`
	From any    `json:"from,omitempty"`
	To   any    `json:"to,omitempty"`
}

// ObjectChange is an object that exists at both moments and differs.
type ObjectChange struct {
	Object ObjectRef     `json:"object"`
	Fields []FieldChange `json:"fields"`
}

// Placement is a pod whose node differs; empty for none.
type Placement struct {
	Pod  ObjectRef `json:"pod"`
	From string    `json:"from,omitempty"`
	To   string    `json:"to,omitempty"`
}

// ConfigurationChange says that the scheduler configuration differs.
type ConfigurationChange struct {
	From int `json:"from"`
	To   int `json:"to"`
	// Fields are those of the documents.
	Fields []FieldChange `json:"fields"`
}

// Decisions counts scheduling attempts.
type Decisions struct {
	Scheduled     int `json:"scheduled"`
	Unschedulable int `json:"unschedulable"`
}

// Difference is what changed between two moments.
type Difference struct {
	From          Point                `json:"from"`
	To            Point                `json:"to"`
	Created       []ObjectRef          `json:"created"`
	Deleted       []ObjectRef          `json:"deleted"`
	Changed       []ObjectChange       `json:"changed"`
	Bound         []Placement          `json:"bound"`
	Configuration *ConfigurationChange `json:"configuration,omitempty"`
	Decisions     Decisions            `json:"decisions"`
	// Truncated: a list holds only its first entries, or an object only its first fields.
	Truncated bool   `json:"truncated,omitempty"`
	Source    Source `json:"source,omitempty"`
}

// Undo previews taking back the user's last step.
type Undo struct {
	// Step is the last step whose undo changes anything; nil when there is none.
	Step *Step `json:"step,omitempty"`
	// To is the moment before the step.
	To *Point `json:"to,omitempty"`
	// Created, Deleted and Changed are what the undo does itself. Controllers and the scheduler
	// follow.
	Created []ObjectRef `json:"created"`
	Deleted []ObjectRef `json:"deleted"`
	Changed []ObjectRef `json:"changed"`
	// Configuration is the revision whose document applies again; 0 if the configuration stays.
	Configuration int `json:"configuration,omitempty"`
	// Message says why there is no step, or why an undo cannot take it back.
	Message string `json:"message,omitempty"`
}

// UndoFailure is an object that an undo could not restore.
type UndoFailure struct {
	Object  ObjectRef `json:"object"`
	Message string    `json:"message"`
}

// Undone says what an undo did.
type Undone struct {
	Point
	Created []ObjectRef   `json:"created"`
	Deleted []ObjectRef   `json:"deleted"`
	Changed []ObjectRef   `json:"changed"`
	Failed  []UndoFailure `json:"failed,omitempty"`
}

// NotKeptError says that a moment is not in the time line.
type NotKeptError struct {
	// Oldest is the first moment that is; nil when there is none.
	Oldest *Point
	// Off: the simulator does not record.
	Off bool
}

// Error implements error.
func (e *NotKeptError) Error() string {
	switch {
	case e.Off:
		return "this simulator does not record itself"
	case e.Oldest == nil:
		return "the time line is empty"
	}
	return fmt.Sprintf("the time line does not have this moment; its oldest is %d, of %s", e.Oldest.Moment, e.Oldest.Time.Format(time.RFC3339))
}

var (
	// ErrStale says that another step is the last one now.
	ErrStale = errors.New("the last step is another one by now; ask again what an undo would do")
	// ErrNothingToUndo says that an undo is impossible; the error that wraps it says why.
	ErrNothingToUndo = errors.New("there is nothing to take back")
	// ErrUnknownResult says that there is no such scheduling result.
	ErrUnknownResult = errors.New("there is no such result; the oldest ones are dropped")
	// The error for an invalid Query wraps ErrQuery.
	ErrQuery = errors.New("bad query")
)

// Attempt names a scheduling attempt.
type Attempt struct {
	UID    types.UID
	Number int
}
