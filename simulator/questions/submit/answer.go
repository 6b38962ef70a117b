package submit

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

// APIVersion and the kinds are those of every answer.
const (
	APIVersion = "submit.kube-scheduler-simulator/v1"
	Kind       = "Answer"
	ListKind   = "AnswerList"
)

// Verdict is the answer in a word.
type Verdict string

const (
	// Admitted: the queue would admit it now; without a queue, enough of its pods find nodes now. Nodes says whether the
	// pods of an admitted job find nodes.
	Admitted Verdict = "admitted"
	// Waits: something must happen first.
	Waits Verdict = "waits"
	// Never: it will not start as it is written.
	Never Verdict = "never"
)

// Answers are the answers about jobs that are submitted together: each counts for those after it. Its JSON form is public.
// Lists are never null.
type Answers struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Sentence counts the verdicts.
	Sentence string   `json:"sentence"`
	Summary  Summary  `json:"summary"`
	Items    []Answer `json:"items"`
	Judged   Judged   `json:"judged"`
	// NotJudged may make the answers others.
	NotJudged []why.NotJudged `json:"notJudged"`
}

// Summary counts the jobs.
type Summary struct {
	Jobs int `json:"jobs"`
	// Starts counts those that are admitted and whose pods find nodes, NoNode those that are admitted and whose pods do not.
	Starts int `json:"starts"`
	NoNode int `json:"noNode"`
	Waits  int `json:"waits"`
	Never  int `json:"never"`
	// Preempted counts the workloads that would be evicted now.
	Preempted int `json:"preempted"`
	// Asks is what all of them ask for, by resource.
	Asks map[string]string `json:"asks"`
}

// Judged says who judged, and what.
type Judged struct {
	Cluster string      `json:"cluster"`
	At      metav1.Time `json:"at"`
	// Kueue is the version that the engine of the queues follows; empty if no queue was asked.
	Kueue string `json:"kueue,omitempty"`
	// Configuration is the Configuration of Kueue that the queues follow; nil if no queue was asked.
	Configuration *Configured `json:"configuration,omitempty"`
	// Scheduler is the version of the kube-scheduler that judged.
	Scheduler string `json:"scheduler"`
	// Nodes and Pods are those of the state.
	Nodes   int     `json:"nodes"`
	Pods    int     `json:"pods"`
	Seconds float64 `json:"seconds"`
	// Note says in English what the answer is not.
	Note string `json:"note"`
}

// Answer is the answer about one job.
type Answer struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Verdict    Verdict `json:"verdict"`
	// Sentence is the answer in English, and stands alone.
	Sentence string  `json:"sentence"`
	Subject  Subject `json:"subject"`
	// Quota is nil if no queue of Kueue has a say.
	Quota  *Quota `json:"quota,omitempty"`
	Nodes  Nodes  `json:"nodes"`
	Reason Reason `json:"reason"`
	// Tiers are Kueue's eight reasons to wait, in their order; none without a queue.
	Tiers []Tier `json:"tiers"`
	// Order is the place in the queue; nil for a job that does not wait in one.
	Order *Order `json:"order,omitempty"`
	// Preempts are evicted for it: now, or in some of the runs.
	Preempts []Victim `json:"preempts"`
	Start    Start    `json:"start"`
	// Topology is nil without topology-aware placement.
	Topology *Topology `json:"topology,omitempty"`
	// InReach counts the pods that there is room for now; nil without a queue.
	InReach *InReach `json:"inReach,omitempty"`
	// Outlook is what the runs show; nil if none were made.
	Outlook *Outlook `json:"outlook,omitempty"`
	// Elsewhere is what would become of the same job in other queues, without one, and later.
	Elsewhere []Elsewhere `json:"elsewhere"`
	// Changes of the job would let it start, each tried.
	Changes []Change `json:"changes"`
	// Influences are what others could do to it, each tried.
	Influences []Change `json:"influences"`
}

// Subject is what was asked about.
type Subject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Queue is the LocalQueue; empty without one.
	Queue    string `json:"queue,omitempty"`
	Priority int32  `json:"priority"`
	Pods     int    `json:"pods"`
	// Requests are those of all pods, by resource.
	Requests map[string]string `json:"requests"`
	// Gang is the group that starts only together; nil without one.
	Gang *Gang `json:"gang,omitempty"`
}

// Gang is a group of pods that starts only together.
type Gang struct {
	// Group is the API group of the PodGroup, and Name its name.
	Group string `json:"group"`
	Name  string `json:"name"`
	// Needs is how many members must find nodes.
	Needs int `json:"needs"`
}

// Quota is the half of the queues.
type Quota struct {
	Admitted     bool     `json:"admitted"`
	LocalQueue   string   `json:"localQueue"`
	ClusterQueue string   `json:"clusterQueue"`
	Cohorts      []string `json:"cohorts"`
	// Text is the verdict in a few English words, and Said what Kueue would write into the condition.
	Text string `json:"text"`
	Said string `json:"said,omitempty"`
	// PodSets are what each pod set gets, or would get; empty if there is no flavor for it.
	PodSets []PodSetFlavors `json:"podSets"`
	// Resources are the numbers that decide.
	Resources []Room `json:"resources"`
	// Borrows say whose quota it takes, or would have to take.
	Borrows []Borrow `json:"borrows"`
	// Checks are admission checks that must agree before it starts. They are not asked.
	Checks []string `json:"checks"`
}

type PodSetFlavors struct {
	Name string `json:"name"`
	// Count is how many of its Asked pods get quota.
	Count   int32             `json:"count"`
	Asked   int32             `json:"asked"`
	Flavors map[string]string `json:"flavors"`
}

// Room are the numbers of one resource in the flavor that comes nearest, as quantities.
type Room struct {
	Resource string `json:"resource"`
	Flavor   string `json:"flavor"`
	Asks     string `json:"asks"`
	// Unused is the ClusterQueue's own, MayBorrow what it could take beside that, and Short what is missing.
	Unused    string `json:"unused"`
	MayBorrow string `json:"mayBorrow"`
	Short     string `json:"short"`
	// Capacity is what the ClusterQueue could take if no other used anything.
	Capacity string `json:"capacity"`
}

type Borrow struct {
	ClusterQueue string `json:"clusterQueue"`
	Flavor       string `json:"flavor"`
	Resource     string `json:"resource"`
	Amount       string `json:"amount"`
}

// Nodes is the half of the scheduler: the pods are placed one after the other, as things are now.
type Nodes struct {
	// Fit of Pods find nodes. Needs must, for the job to start.
	Fit   int `json:"fit"`
	Pods  int `json:"pods"`
	Needs int `json:"needs"`
	// Flavored: the pods were asked with what their flavors give them, and are on the nodes of those.
	Flavored bool `json:"flavored"`
	// Text is the verdict in a few English words, and Sentence why a pod finds no node.
	Text     string `json:"text"`
	Sentence string `json:"sentence,omitempty"`
	// On names the nodes, in the order in which the pods were placed.
	On []string `json:"on"`
	// Never: no node would take a pod, even if nothing else ran.
	Never bool `json:"never,omitempty"`
	// Reasons are those of the first pod that finds no node, and Nearest is the node that lacks the least for it.
	Reasons []why.Reason `json:"reasons"`
	Nearest *why.Nearest `json:"nearest,omitempty"`
	// Changes make that pod fit.
	Changes []hypothesis.Suggestion `json:"changes"`
}

// Reason is what does not let the job through.
type Reason struct {
	// Tier is one of Kueue's reasons, Number its place among the eight; both are empty for an admitted job. A workload may
	// also be held back by other conditions, which have no number.
	Tier   string `json:"tier,omitempty"`
	Number int    `json:"number,omitempty"`
	Text   string `json:"text"`
	// Said are the reasons in Text as data, the one that decides first.
	Said []admission.Reason `json:"said"`
}

// TierState says how far a job comes.
type TierState string

const (
	Passes TierState = "passes"
	Stops  TierState = "stops"
	// Later: an earlier tier stops the job.
	Later TierState = "later"
)

type Tier struct {
	Name  string    `json:"name"`
	State TierState `json:"state"`
	// Text says in a few English words what was found; empty if nothing was looked for. Found is the same as data.
	Text  string   `json:"text,omitempty"`
	Found *Finding `json:"found,omitempty"`
}

// Finding is what was found of a tier. Its names and amounts are those of Quota.
type Finding struct {
	Kind FindingKind `json:"kind"`
	// Count is how many are preempted, and Domain where the pods fit.
	Count  int    `json:"count,omitempty"`
	Domain string `json:"domain,omitempty"`
}

type FindingKind string

const (
	FoundQueue    FindingKind = "queue"
	FoundActive   FindingKind = "active"
	FoundFlavors  FindingKind = "flavors"
	FoundCapacity FindingKind = "capacity"
	FoundEnough   FindingKind = "enough"
	FoundShort    FindingKind = "short"
	FoundVictims  FindingKind = "victims"
	FoundDomain   FindingKind = "domain"
	FoundReady    FindingKind = "ready"
	// FoundReason: see Reason.
	FoundReason FindingKind = "reason"
)

type Order struct {
	// Position counts from 1, of so many that wait in the ClusterQueue.
	Position int `json:"position"`
	Of       int `json:"of"`
	// Before are the workloads before it, the first ones first, at most mostBefore.
	Before []string `json:"before"`
}

type Victim struct {
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	ClusterQueue string `json:"clusterQueue"`
	Priority     int32  `json:"priority"`
	Reason       string `json:"reason"`
	// Now: it would be evicted at once. Runs counts the runs in which it would be evicted for this job.
	Now  bool `json:"now"`
	Runs int  `json:"runs"`
}

// Start says when the job would have its quota.
type Start struct {
	Now bool `json:"now"`
	// Earliest and Latest hold in eight of ten runs, Median in the middle one; nil if that cannot be said.
	Earliest *metav1.Time `json:"earliest"`
	Latest   *metav1.Time `json:"latest"`
	Median   *metav1.Time `json:"median,omitempty"`
	// Runs is how many were made, and Started in how many of them it starts.
	Runs    int `json:"runs"`
	Started int `json:"started"`
	// RestsOn are the durations that were used.
	RestsOn []Durations `json:"restsOn"`
	// Text says it in English.
	Text string `json:"text"`
}

// Durations are those of workloads that have finished.
type Durations struct {
	// Of says which, in English: those whose names begin with Alike, in Queue. Either is empty for all.
	Of       string  `json:"of"`
	Alike    string  `json:"alike,omitempty"`
	Queue    string  `json:"queue,omitempty"`
	Count    int     `json:"count"`
	Shortest float64 `json:"shortestSeconds"`
	Longest  float64 `json:"longestSeconds"`
}

// Topology is where the pods of a pod set would go.
type Topology struct {
	Level   string   `json:"level"`
	PodSet  string   `json:"podSet"`
	Wants   int      `json:"wants"`
	Domains []Domain `json:"domains"`
}

type Domain struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
	// Fit of the pods fit now, and FitThen once those that the job preempts have gone; nil if it preempts none. Given is how many
	// would go there, with the workloads that run now.
	Fit     int  `json:"fit"`
	FitThen *int `json:"fitThen,omitempty"`
	Given   int  `json:"given"`
	// Free is what is left, and Needs what all pods need, by resource.
	Free  map[string]string `json:"free"`
	Needs map[string]string `json:"needs"`
}

// InReach counts the pods of a job that there is room for now, at most as many as it wants.
type InReach struct {
	Pods int `json:"pods"`
	// Quota counts those that fit into the unused quota of their queue, without an eviction. Nodes counts those that find nodes, and
	// Topology those of the first pod set that fit in one domain; nil without topology-aware placement.
	Quota    int  `json:"quota"`
	Nodes    int  `json:"nodes"`
	Topology *int `json:"topology,omitempty"`
}

// Outlook is the ClusterQueue in virtual time, until Until.
type Outlook struct {
	Until metav1.Time `json:"until"`
	// Lanes are the workloads that hold quota, and those that wait, in their order, at most mostLanes.
	Lanes []Lane `json:"lanes"`
	// Reach is nil if no flavor was tried.
	Reach *Reach `json:"reach,omitempty"`
}

// Lane is one workload of a ClusterQueue in the runs.
type Lane struct {
	Namespace string `json:"namespace"`
	// Name is the workload's, and Job that of its owner; empty without one.
	Name string `json:"name"`
	Job  string `json:"job,omitempty"`
	// Self: it is the job that is asked about.
	Self bool `json:"self,omitempty"`
	// Position counts from 1 in the queue; 0 for one that holds quota.
	Position int `json:"position,omitempty"`
	// Asks is what it takes of the resource of Reach.
	Asks string `json:"asks,omitempty"`
	// Earliest and Latest bound the end of one that holds quota, and the start of one that waits, in eight of ten runs; nil
	// if that cannot be said.
	Earliest *metav1.Time `json:"earliest"`
	Latest   *metav1.Time `json:"latest"`
	// Evicted counts the runs in which it is evicted first.
	Evicted int `json:"evicted,omitempty"`
}

// Reach is how much of a resource the job could have in its ClusterQueue, borrowed quota included: what is left, and what the job holds once
// it has started.
type Reach struct {
	ClusterQueue string `json:"clusterQueue"`
	Flavor       string `json:"flavor"`
	Resource     string `json:"resource"`
	// Needs is what the job asks for.
	Needs  string       `json:"needs"`
	Points []ReachPoint `json:"points"`
}

// ReachPoint has the most that was in reach from At to the next point: in the middle run, and at least and at most in eight
// of ten.
type ReachPoint struct {
	At     metav1.Time `json:"at"`
	Low    string      `json:"low"`
	Median string      `json:"median"`
	High   string      `json:"high"`
}

type Circumstance string

const (
	// InQueue: the job is submitted to another LocalQueue.
	InQueue Circumstance = "queue"
	// NoQueue: it is submitted without one.
	NoQueue Circumstance = "noQueue"
	// Delayed: it is submitted at the time At.
	Delayed Circumstance = "later"
)

// Elsewhere is the answer about the same job under other circumstances.
type Elsewhere struct {
	Kind         Circumstance `json:"kind"`
	Queue        string       `json:"queue,omitempty"`
	ClusterQueue string       `json:"clusterQueue,omitempty"`
	At           *metav1.Time `json:"at,omitempty"`
	Verdict      Verdict      `json:"verdict"`
	// Text says in English why.
	Text     string             `json:"text"`
	Tier     string             `json:"tier,omitempty"`
	Said     []admission.Reason `json:"said"`
	Flavors  []string           `json:"flavors"`
	Borrows  []Borrow           `json:"borrows"`
	Preempts []string           `json:"preempts"`
	Fit      int                `json:"fit"`
	Pods     int                `json:"pods"`
	Needs    int                `json:"needs"`
	// Earliest and Latest bound the start of one that waits; nil if that cannot be said.
	Earliest *metav1.Time `json:"earliest"`
	Latest   *metav1.Time `json:"latest"`
}

// Change is a change after which the job would start, or start with more pods.
type Change struct {
	// Kind is one of package suggest, node for a change that lets pods find nodes, or wait. Of Influences it is quota, finish,
	// withdraw for a workload that no longer waits before it, or rival for one more job like it that goes first.
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Suggestion is the change as data, for the kinds of package suggest; nil for the others.
	Suggestion *suggest.Suggestion `json:"suggestion,omitempty"`
	// Admitted: the queue would admit it at once, after it has evicted Preempts. Fit of Pods would find nodes.
	Admitted bool     `json:"admitted"`
	Preempts []string `json:"preempts"`
	Fit      int      `json:"fit"`
	Pods     int      `json:"pods"`
	// Flavors are what it would get, and On the nodes of its pods, in the order in which they were placed.
	Flavors []string `json:"flavors,omitempty"`
	On      []string `json:"on,omitempty"`
	// Workload is that of the kind withdraw, with its namespace.
	Workload string `json:"workload,omitempty"`
	// Earliest and Latest bound the start, for the kinds wait and rival; nil if it is at once, or cannot be said.
	Earliest *metav1.Time `json:"earliest,omitempty"`
	Latest   *metav1.Time `json:"latest,omitempty"`
}

// Encode writes answers as JSON or YAML: one of them alone, or the list of several.
func Encode(w io.Writer, answers *Answers, asYAML bool) error {
	var document any = answers
	if len(answers.Items) == 1 {
		document = struct {
			Answer
			Judged    Judged          `json:"judged"`
			NotJudged []why.NotJudged `json:"notJudged"`
		}{answers.Items[0], answers.Judged, answers.NotJudged}
	}
	return why.WriteDocument(w, document, asYAML)
}
