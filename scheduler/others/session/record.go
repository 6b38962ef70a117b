package session

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// Record is everything that one session decided. It is immutable once Run has returned it.
type Record struct {
	// Number counts the sessions of the program, from 1; Run leaves it to its caller.
	Number int64 `json:"number"`
	// UID is the transitionID of the conditions that the session wrote.
	UID   string `json:"uid"`
	Rules Rules  `json:"rules"`
	// Revision is the number of the configuration; Run leaves it to its caller.
	Revision        int             `json:"revision,omitempty"`
	StartTime       time.Time       `json:"startTime"`
	DurationSeconds float64         `json:"durationSeconds"`
	Nodes           []NodeRecord    `json:"nodes"`
	Total           Amounts         `json:"total"`
	Tiers           [][]string      `json:"tiers"`
	Queues          []QueueRecord   `json:"queues"`
	Jobs            []JobRecord     `json:"jobs"`
	Actions         []*ActionRecord `json:"actions"`
	// Bound counts the pods that are bound now, Evicted those that must leave, and Pipelined those that wait for room.
	Bound     int `json:"bound"`
	Evicted   int `json:"evicted"`
	Pipelined int `json:"pipelined"`
	// Error is what went wrong while the decisions were carried out; empty if nothing did.
	Error string `json:"error,omitempty"`
}

// NodeRecord is a node after the session.
type NodeRecord struct {
	Name        string  `json:"name"`
	Allocatable Amounts `json:"allocatable"`
	Used        Amounts `json:"used"`
	// Releasing is the part of Used that is about to leave, and Pipelined what waits for it.
	Releasing Amounts `json:"releasing"`
	Pipelined Amounts `json:"pipelined"`
	// OutOfSync: more is used than the node has, so the session left it out.
	OutOfSync bool `json:"outOfSync,omitempty"`
}

// QueueRecord is a queue with at least one job, or any other queue without the numbers of proportion.
type QueueRecord struct {
	Name   string `json:"name"`
	Weight int32  `json:"weight"`
	// Before is what the queue's tasks held when the session began, After what they held at its end.
	Before  Amounts `json:"before"`
	After   Amounts `json:"after"`
	Request Amounts `json:"request"`
	// Deserved is nil without the plugin proportion. Rounds are the parts in which it was handed out.
	Deserved Amounts   `json:"deserved,omitempty"`
	Rounds   []Amounts `json:"rounds,omitempty"`
	// Share is the largest part of any deserved resource that the queue held when the session began.
	Share      float64 `json:"share"`
	ShareAfter float64 `json:"shareAfter"`
	Overused   bool    `json:"overused,omitempty"`
}

// JobRecord is a job after the session. The jobs of a record are in the order in which the session would take them.
type JobRecord struct {
	Namespace string        `json:"namespace"`
	Name      string        `json:"name"`
	Queue     string        `json:"queue"`
	MinMember int32         `json:"minMember"`
	Priority  int32         `json:"priority"`
	Phase     PodGroupPhase `json:"phase,omitempty"`
	// Shadow: there is no PodGroup; the job is that of the pods' controller.
	Shadow    bool `json:"shadow,omitempty"`
	Tasks     int  `json:"tasks"`
	Running   int  `json:"running"`
	Ready     int  `json:"ready"`
	Pipelined int  `json:"pipelined"`
	// Share is drf's: the largest part of any resource of the cluster.
	Share   float64 `json:"share"`
	Message string  `json:"message,omitempty"`
	// Why says why a job with too few running tasks does not run; nil for others.
	Why *Why `json:"why,omitempty"`
}

// WhyCode is the first cause, in the order in which a person would look.
type WhyCode string

// The causes.
const (
	WhyNoQueue    WhyCode = "noQueue"
	WhyNotInqueue WhyCode = "notInqueue"
	WhyTooFewPods WhyCode = "tooFewPods"
	WhyOverused   WhyCode = "overused"
	WhyQueueLimit WhyCode = "queueLimit"
	WhyWaiting    WhyCode = "waiting"
	WhyRoom       WhyCode = "room"
	WhyPieces     WhyCode = "pieces"
	WhyPredicates WhyCode = "predicates"
	WhyHeld       WhyCode = "held"
)

// Why says why a job does not run.
type Why struct {
	Code  WhyCode `json:"code"`
	Queue string  `json:"queue"`
	// Resource is what is missing, and Missing how much of it, in natural units; empty and 0 if no resource is.
	Resource v1.ResourceName `json:"resource,omitempty"`
	Missing  float64         `json:"missing,omitempty"`
	// Needed is how many more tasks must have a place, and Placed how many of them found one.
	Needed int `json:"needed"`
	Placed int `json:"placed"`
	// Role is the one of which there are too few pods; empty if there are too few of all together.
	Role string `json:"role,omitempty"`
	// Plugin and Reason are those of the predicate, or of the vote, that refused.
	Plugin string `json:"plugin,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Undone counts the victims that were found and given back because they were too few.
	Undone int `json:"undone,omitempty"`
	// Givers are those who hold the resource and could lose it to the job, most first.
	Givers []Giver `json:"givers,omitempty"`
}

// Giver could give room to a job: a queue that holds more than it deserves, or a job of the same queue with a lower priority.
type Giver struct {
	Queue string `json:"queue"`
	Job   string `json:"job,omitempty"`
	// Amount is how much of the missing resource it could give, in natural units.
	Amount float64 `json:"amount"`
}

// ActionRecord is what one action decided, in order.
type ActionRecord struct {
	Name      string     `json:"name"`
	Decisions []Decision `json:"decisions"`
	// Dropped counts the decisions beyond MaxDecisions.
	Dropped int `json:"dropped,omitempty"`
	// After is what each queue held after the action.
	After map[string]Amounts `json:"after"`
}

// MaxDecisions bounds the decisions that an action records.
const MaxDecisions = 2000

type DecisionKind string

// The kinds of decisions.
const (
	Enqueued  DecisionKind = "enqueued"
	Allocated DecisionKind = "allocated"
	Pipelined DecisionKind = "pipelined"
	Refused   DecisionKind = "refused"
	Skipped   DecisionKind = "skipped"
	Discarded DecisionKind = "discarded"
	Committed DecisionKind = "committed"
	Kept      DecisionKind = "kept"
)

type Decision struct {
	Kind DecisionKind `json:"kind"`
	// Job and Task are namespace/name; Task is empty for a decision about a job, Job too for one about a queue.
	Job   string `json:"job,omitempty"`
	Task  string `json:"task,omitempty"`
	Queue string `json:"queue,omitempty"`
	Node  string `json:"node,omitempty"`
	// Plugin is the one that decided; empty if the action itself did.
	Plugin string `json:"plugin,omitempty"`
	Reason Reason `json:"reason,omitempty"`
	// Text is the plugin's own, such as a predicate's reason.
	Text string `json:"text,omitempty"`
	// Bound: the task is bound, alone or with its gang.
	Bound bool `json:"bound,omitempty"`
	// Resource, Have and Want say what was compared, in natural units.
	Resource v1.ResourceName `json:"resource,omitempty"`
	Have     float64         `json:"have,omitempty"`
	Want     float64         `json:"want,omitempty"`
	// Count and Of are numbers of tasks, such as ready ones of a minimum.
	Count int `json:"count,omitempty"`
	Of    int `json:"of,omitempty"`
	// Share is that of the queue at the decision.
	Share float64 `json:"share"`
	// Victims are the pods that a Pipelined task would evict, or that a discarded statement gave back.
	Victims []Victim `json:"victims,omitempty"`
}

type Victim struct {
	Task  string `json:"task"`
	Job   string `json:"job"`
	Queue string `json:"queue"`
	Node  string `json:"node"`
	// Plugins agreed to the eviction, all of one tier.
	Plugins []string `json:"plugins"`
}

// Reason is why a decision was made. Readers render it in their own words.
type Reason string

// The reasons.
const (
	ReasonNoMinResources  Reason = "noMinResources"
	ReasonOvercommit      Reason = "overcommit"
	ReasonQueueCapacity   Reason = "queueCapacity"
	ReasonPermitted       Reason = "permitted"
	ReasonIdle            Reason = "idle"
	ReasonReleasing       Reason = "releasing"
	ReasonNoRoom          Reason = "noRoom"
	ReasonPredicates      Reason = "predicates"
	ReasonOverused        Reason = "overused"
	ReasonQueueLimit      Reason = "queueLimit"
	ReasonGangReady       Reason = "gangReady"
	ReasonGangNotReady    Reason = "gangNotReady"
	ReasonGangPipelined   Reason = "gangPipelined"
	ReasonNoVictims       Reason = "noVictims"
	ReasonTooFewVictims   Reason = "tooFewVictims"
	ReasonEvicts          Reason = "evicts"
	ReasonOneTask         Reason = "oneTask"
	ReasonBestEffort      Reason = "bestEffort"
	ReasonPreemptionNever Reason = "preemptionNever"
	ReasonVictimsLeave    Reason = "victimsLeave"
)

// Outcome is what a session leaves to its caller to carry out.
type Outcome struct {
	Record *Record
	// Binds are to be made in this order.
	Binds []Bind
	// Evictions are pods to be deleted with their grace period.
	Evictions []Eviction
	// Groups are the statuses to be written.
	Groups []GroupUpdate
	// Pods are the conditions to be written, and the events of pods that stay pending.
	Pods []PodUpdate
	// OwnGroups are to be created, unless they exist, and named by their pods.
	OwnGroups []OwnGroup
	// Cycles has a record for each pending pod that the session looked at, without its attempt.
	Cycles []*result.Cycle
}

type Bind struct {
	Pod  *v1.Pod
	Node string
}

type Eviction struct {
	Pod *v1.Pod
	// Action is preempt or reclaim.
	Action string
	// Group is the victim's PodGroup; nil for a job without one.
	Group *PodGroup
	// For is the pod that gets the room.
	For types.NamespacedName
}

// GroupUpdate is the new status of a PodGroup, with the event that goes with it.
type GroupUpdate struct {
	Group  *PodGroup
	Status PodGroupStatus
	// Event is nil if there is none.
	Event *Event
}

// Event is an event as kube-batch or Volcano writes it.
type Event struct {
	Type, Reason, Message string
}

type PodUpdate struct {
	Pod *v1.Pod
	// Reason and Message are those of the condition PodScheduled=False, and of the event FailedScheduling.
	Reason, Message string
	// NominatedNode is the node on which evictions made room; Volcano only.
	NominatedNode string
}
