package config

import (
	"errors"
	"time"
)

// ErrNotRunning is answered to who wants to change the configuration of a
// scheduler that has stopped, or not started yet.
var ErrNotRunning = errors.New("the scheduler is not running")

// Origin says where a configuration came from.
type Origin string

const (
	// OriginDefault is Kubernetes' own default.
	OriginDefault Origin = "default"
	// OriginFile was given when the program started.
	OriginFile Origin = "file"
	// OriginUser was applied while the program ran.
	OriginUser Origin = "user"
)

// RevisionState says what became of a revision.
type RevisionState string

const (
	// RevisionRunning is the one that schedules.
	RevisionRunning RevisionState = "running"
	// RevisionReplaced ran until another was applied.
	RevisionReplaced RevisionState = "replaced"
	// RevisionRolledBack did not start: the one before went on.
	RevisionRolledBack RevisionState = "rolledBack"
)

// Revision is a configuration that was applied.
type Revision struct {
	// Number counts the revisions from 1. Cycles name it.
	Number int       `json:"number"`
	Time   time.Time `json:"time"`
	Source Origin    `json:"source"`
	// Summary says in a line what changed from the revision that ran before.
	Summary string        `json:"summary"`
	State   RevisionState `json:"state"`
	// Error is why the revision was rolled back.
	Error string `json:"error,omitempty"`
	// PodsScheduled counts the pods that were bound under it. After the program
	// was killed it may lack those of the last seconds.
	PodsScheduled int `json:"podsScheduled"`
	// Profiles are the scheduler names, in the order of the configuration.
	Profiles []string `json:"profiles"`
	// Document is as its author wrote it. Lists leave it out.
	Document string `json:"document,omitempty"`
}

// Applied answers an apply.
type Applied struct {
	// Revision has number 0 when nothing was applied, but only tried.
	Revision Revision   `json:"revision"`
	NoEffect []NoEffect `json:"noEffect"`
	// Effective is what would be in force, with revision 0, when the document was
	// only tried; nil after an apply.
	Effective *Effective `json:"effective,omitempty"`
	// DurationSeconds spans everything from reading the document until the new
	// scheduler schedules.
	DurationSeconds float64 `json:"durationSeconds"`
}
