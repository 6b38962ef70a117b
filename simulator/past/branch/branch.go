// Package branch keeps branches beside the trunk, which is the simulator that a user has started. A
// branch is a simulator of its own: a child process of the same executable with its own control
// plane and data directory. It starts from given objects, from the trunk as it is, or from a past
// moment, and the trunk does not change.
//
// The package starts and stops the processes, keeps what they need across restarts, and bounds
// their number and the room that they take. It knows neither HTTP routes of its own nor the content
// of states. It may import simulator/host/datadir.
package branch

import (
	"encoding/json"
	"fmt"
	"time"
)

// Purpose says what a branch is for.
type Purpose string

const (
	// A user deletes Ordinary branches.
	Ordinary Purpose = "branch"
	// Lesson branches are sandboxes, which the next start of the trunk removes.
	Lesson Purpose = "lesson"
	// Preset, Import and Replay say where the state of a branch comes from. A user deletes them.
	Preset Purpose = "preset"
	Import Purpose = "import"
	Replay Purpose = "replay"
)

var purposes = []Purpose{Ordinary, Lesson, Preset, Import, Replay}

// State is the state of a branch's process.
type State string

const (
	// Starting lasts until the objects have been loaded.
	Starting State = "starting"
	Running  State = "running"
	Stopped  State = "stopped"
	// Failed: the process ended by itself, or the branch cannot be read. Message says why.
	Failed State = "failed"
)

// Branch describes a branch at one time.
type Branch struct {
	Name string `json:"name"`
	// Title is what people call it; empty if they call it by its name.
	Title   string  `json:"title,omitempty"`
	Purpose Purpose `json:"purpose"`
	// Lesson is the lesson's ID.
	Lesson string `json:"lesson,omitempty"`
	// Of is the branch that this one continues; empty for the trunk.
	Of string `json:"of,omitempty"`
	// From is the past moment that it continues; nil for a branch of the present, or of given
	// objects.
	From      *Moment   `json:"from,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	// KubernetesVersion is the minor version that it emulates; empty if that is the trunk's.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// UsedAt is when a client last asked it for something; nil since the start of the trunk.
	UsedAt *time.Time `json:"usedAt,omitempty"`
	State  State      `json:"state"`
	// Message says what a start is doing, why a branch failed, or what it could not load.
	Message string `json:"message,omitempty"`
	// Path is its address on the trunk's server.
	Path string `json:"path"`
	// Kubeconfig is the path of a file for kubectl, which exists once the branch has started.
	Kubeconfig string `json:"kubeconfig"`
	// Bytes is its size on disk, at most ten seconds old.
	Bytes int64 `json:"bytes"`
	// MemoryBytes is what the process holds; 0 when it does not run or the system does not tell.
	MemoryBytes int64 `json:"memoryBytes,omitempty"`

	// pid is 0 without a process.
	pid int
}

// Moment is a moment of a time line.
type Moment struct {
	Time   time.Time `json:"time"`
	Moment int64     `json:"moment"`
}

// Request asks for a branch.
type Request struct {
	// Name is a DNS label; by default one is made of the title or the purpose.
	Name string `json:"name,omitempty"`
	// Title has at most maxTitle characters.
	Title string `json:"title,omitempty"`
	// Purpose is Ordinary by default, and Lesson if Lesson is set.
	Purpose Purpose `json:"purpose,omitempty"`
	Lesson  string  `json:"lesson,omitempty"`
	// Of is a running branch to continue; the trunk by default.
	Of string `json:"of,omitempty"`
	// At is the moment to continue, as the time line names it; the present by default.
	At string `json:"at,omitempty"`
	// Objects, if not nil, are the state to start from, instead of At.
	Objects []json.RawMessage `json:"objects,omitempty"`
	// Configuration is the KubeSchedulerConfiguration that comes with Objects, YAML or JSON.
	Configuration string `json:"configuration,omitempty"`
	// Setup are made in order when the branch has its objects, before it counts as running.
	Setup []Call `json:"setup,omitempty"`
	// Asleep: the branch is made, and starts when a user asks for it.
	Asleep bool `json:"asleep,omitempty"`
	// KubernetesVersion is the minor version that the branch emulates, such as 1.35; by default that of the trunk.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
}

// Call is a request that the trunk makes to a new branch. A start that did not complete the calls
// makes all of them again.
type Call struct {
	// Method is POST, PUT or PATCH.
	Method string `json:"method"`
	// Path is below /api/v1/ of the branch.
	Path string `json:"path"`
	// Body is JSON; a string stands for its text, such as YAML.
	Body json.RawMessage `json:"body,omitempty"`
}

const (
	maxTitle = 100
	maxSetup = 16
)

// Start is the state that a branch starts from.
type Start struct {
	Objects []json.RawMessage
	// Configuration is a KubeSchedulerConfiguration in JSON; Kubernetes' default when it is empty.
	Configuration json.RawMessage
	// Flags are added to the child's command line.
	Flags []string
}

// Reason is a kind of refusal.
type Reason int

const (
	// Invalid: the request is wrong.
	Invalid Reason = iota + 1
	// Unknown: there is no such branch, moment or lesson.
	Unknown
	// Taken: another branch has the name.
	Taken
	// TooMany branches exist or run.
	TooMany
	// NoRoom is left, on disk or in memory.
	NoRoom
	// NotNow: the state of the branch does not allow that.
	NotNow
)

// Refusal says why nothing was done, or changed.
type Refusal struct {
	Reason  Reason
	Message string
}

func (r *Refusal) Error() string { return r.Message }

func refuse(reason Reason, format string, args ...any) error {
	return &Refusal{reason, fmt.Sprintf(format, args...)}
}
