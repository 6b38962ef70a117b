package config

import (
	"errors"
	"time"
)

// ErrNotRunning is returned when the configuration is changed while no scheduler is running.
var ErrNotRunning = errors.New("the scheduler is not running")

type Origin string

const (
	// OriginDefault is Kubernetes' own default.
	OriginDefault Origin = "default"
	// OriginFile was given when the program started.
	OriginFile Origin = "file"
	// OriginUser was applied while the program ran.
	OriginUser Origin = "user"
)

type RevisionState string

const (
	// RevisionRunning: the scheduler runs with this revision.
	RevisionRunning RevisionState = "running"
	// RevisionReplaced: the revision ran until another one was applied.
	RevisionReplaced RevisionState = "replaced"
	// RevisionRolledBack: the scheduler did not start with this revision, and the previous one
	// kept running.
	RevisionRolledBack RevisionState = "rolledBack"
)

type Revision struct {
	// Number counts the revisions from 1. Cycles refer to it.
	Number int       `json:"number"`
	Time   time.Time `json:"time"`
	Source Origin    `json:"source"`
	// Summary describes the changes from the previous revision in a line.
	Summary string        `json:"summary"`
	State   RevisionState `json:"state"`
	// Error is why the revision was rolled back.
	Error string `json:"error,omitempty"`
	// PodsScheduled counts the pods that were bound under this revision. After the program was
	// killed, it may lack the pods of the last seconds.
	PodsScheduled int `json:"podsScheduled"`
	// Profiles are the scheduler names, in the order of the configuration.
	Profiles []string `json:"profiles"`
	// Document is the document as its author wrote it. Lists leave it out.
	Document string `json:"document,omitempty"`
}

// Applied is the result of applying or checking a document.
type Applied struct {
	// Revision has number 0 after a check.
	Revision Revision   `json:"revision"`
	NoEffect []NoEffect `json:"noEffect"`
	// Effective is the configuration that would be in force, with revision 0, after a check;
	// nil after an apply.
	Effective *Effective `json:"effective,omitempty"`
	// Difference is how the document differs in meaning from the running configuration, whose
	// values are in Default, after a check; nil after an apply.
	Difference []Difference `json:"difference,omitempty"`
	// DurationSeconds is the time from reading the document until the new scheduler schedules.
	DurationSeconds float64 `json:"durationSeconds"`
}
