package explain

import (
	"fmt"
	"strings"
)

// Advice is a way to make a pod fit, as data: what to change, and how the pod gets its
// part of the change. String renders it.
type Advice struct {
	// Steps are the changes, in the order in which to say them. Each is of one of the
	// kinds that the function Steps lists.
	Steps []Statement `json:"steps"`
	// Manner says what becomes of the pod, with a kind that the function Manners lists.
	// It is nil when the pod stays as it is, or changes in place.
	Manner *Statement `json:"manner,omitempty"`
}

var _ fmt.Stringer = Advice{}

// String renders the advice in English, from its statements only.
func (a Advice) String() string {
	var said []string
	for _, step := range a.Steps {
		said = append(said, step.String())
	}
	if a.Manner != nil {
		said = append(said, a.Manner.String())
	}
	return strings.Join(said, " ")
}

// Steps returns a zero value of each kind that a step of an advice can be.
func Steps() []Operands {
	return []Operands{
		LowerRequests{}, Tolerate{}, DropRequirements{}, AcceptValues{}, RaiseMaxSkew{}, PreferSpread{}, DropPodTerms{}, DropHostPorts{}, OpenGates{},
		Uncordon{}, RemoveTaints{}, LabelNode{}, Evict{}, AddNode{},
	}
}

// Manners returns a zero value of each kind that the manner of an advice can be.
func Manners() []Operands {
	return []Operands{Recreated{}, RolledOut{}, RestartedWorkload{}}
}

// Omissions returns a zero value of each kind of what a search for advice left out, or could not know.
func Omissions() []Operands {
	return append([]Operands{ChangesNotTried{}, CombinationsNotTried{}, NewNodesNotTried{}, EvictionsNotTried{}}, Unknowns()...)
}

// LowerRequests: the pod asks for less.
type LowerRequests struct {
	Requests []RequestCut `json:"requests"`
}

// RequestCut is an amount of a resource that the pod asks for, before and after: of CPU
// in thousandths of a core, of others in their own unit. To is 0 when the pod no longer
// asks for the resource.
type RequestCut struct {
	Resource string `json:"resource"`
	From     int64  `json:"from"`
	To       int64  `json:"to"`
}

// Tolerate: the pod tolerates Taints, each written as KEY=VALUE:EFFECT or KEY:EFFECT.
type Tolerate struct {
	Taints []string `json:"taints"`
}

// DropRequirements: the pod's node selector, or its required node affinity, loses
// requirements on labels.
type DropRequirements struct {
	Requirements []LabelRequirement `json:"requirements"`
}

// LabelRequirement is a requirement on a node's label. Key and Operator are empty for a
// term without requirements, which no node meets.
type LabelRequirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// AcceptValues: the pod's required node affinity also accepts Value for Key.
type AcceptValues struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// RaiseMaxSkew: a topology spread constraint of the pod allows a larger skew.
type RaiseMaxSkew struct {
	TopologyKey string `json:"topologyKey"`
	From        int    `json:"from"`
	To          int    `json:"to"`
}

// PreferSpread: a topology spread constraint of the pod becomes a preference.
type PreferSpread struct {
	TopologyKey string `json:"topologyKey"`
}

// DropPodTerms: the pod loses required terms of its affinity to other pods, or of its
// anti-affinity if Anti is true.
type DropPodTerms struct {
	Anti  bool      `json:"anti"`
	Terms []PodTerm `json:"terms"`
}

// PodTerm is a term of pod affinity. Selector selects the pods that it is about.
type PodTerm struct {
	TopologyKey string `json:"topologyKey"`
	Selector    string `json:"selector"`
}

// DropHostPorts: the pod gives up ports of the host, each written as PORT/PROTOCOL, after
// the address if it is bound to one.
type DropHostPorts struct {
	Ports []string `json:"ports"`
}

// OpenGates: the pod loses its scheduling gates.
type OpenGates struct {
	Gates []string `json:"gates"`
}

// Uncordon: the node accepts new pods again. Others are nodes for which the same change
// would do as well; so it is for RemoveTaints and LabelNode.
type Uncordon struct {
	Node   string   `json:"node"`
	Others []string `json:"others"`
}

// RemoveTaints: the node loses Taints, written as in Tolerate.
type RemoveTaints struct {
	Node   string   `json:"node"`
	Taints []string `json:"taints"`
	Others []string `json:"others"`
}

// LabelNode: labels of the node are set or removed.
type LabelNode struct {
	Node   string        `json:"node"`
	Labels []LabelChange `json:"labels"`
	Others []string      `json:"others"`
}

// LabelChange is a change of a label. From is nil for a label that is new, and To for one
// that goes.
type LabelChange struct {
	Key  string  `json:"key"`
	From *string `json:"from"`
	To   *string `json:"to"`
}

// Evict: pods leave the node, or nodes nearby that count together with it.
type Evict struct {
	Node string       `json:"node"`
	Pods []EvictedPod `json:"pods"`
}

// EvictedPod is a pod to evict.
type EvictedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Priority  int32  `json:"priority"`
}

// AddNode: a node joins the cluster. It has the size, the labels and the taints of Like,
// which has further ones, Others, of its kind.
type AddNode struct {
	Name   string   `json:"name"`
	Like   string   `json:"like"`
	Others []string `json:"others"`
}

// Recreated: the pod is deleted and created again, because its spec cannot change.
type Recreated struct {
	Pod string `json:"pod"`
}

// RolledOut: the template of the workload changes, and a pod made from it replaces this
// one.
type RolledOut struct {
	Pod          string `json:"pod"`
	WorkloadKind string `json:"workloadKind"`
	Name         string `json:"name"`
}

// RestartedWorkload: the workload is deleted and created again, because its template
// cannot change.
type RestartedWorkload struct {
	Pod          string `json:"pod"`
	WorkloadKind string `json:"workloadKind"`
	Name         string `json:"name"`
}

// ChangesNotTried: the search was over before it had tried these changes of the pod and
// of nodes. Those that differ in the node only count as one.
type ChangesNotTried struct {
	Changes int `json:"changes"`
}

// CombinationsNotTried: no more than Steps changes were combined.
type CombinationsNotTried struct {
	Steps int `json:"steps"`
}

// NewNodesNotTried: a new node like those of these kinds was not tried.
type NewNodesNotTried struct {
	Kinds int `json:"kinds"`
}

// EvictionsNotTried: on these nodes, evictions were not tried.
type EvictionsNotTried struct {
	Nodes int `json:"nodes"`
}

func (LowerRequests) Kind() Kind     { return "lowerRequests" }
func (Tolerate) Kind() Kind          { return "tolerate" }
func (DropRequirements) Kind() Kind  { return "dropRequirements" }
func (AcceptValues) Kind() Kind      { return "acceptValue" }
func (RaiseMaxSkew) Kind() Kind      { return "raiseMaxSkew" }
func (PreferSpread) Kind() Kind      { return "preferSpread" }
func (DropPodTerms) Kind() Kind      { return "dropPodTerms" }
func (DropHostPorts) Kind() Kind     { return "dropHostPorts" }
func (OpenGates) Kind() Kind         { return "openGates" }
func (Uncordon) Kind() Kind          { return "uncordon" }
func (RemoveTaints) Kind() Kind      { return "removeTaints" }
func (LabelNode) Kind() Kind         { return "labelNode" }
func (Evict) Kind() Kind             { return "evict" }
func (AddNode) Kind() Kind           { return "addNode" }
func (Recreated) Kind() Kind         { return "recreated" }
func (RolledOut) Kind() Kind         { return "rolledOut" }
func (RestartedWorkload) Kind() Kind { return "restartedWorkload" }

func (ChangesNotTried) Kind() Kind      { return "changesNotTried" }
func (CombinationsNotTried) Kind() Kind { return "combinationsNotTried" }
func (NewNodesNotTried) Kind() Kind     { return "newNodesNotTried" }
func (EvictionsNotTried) Kind() Kind    { return "evictionsNotTried" }

func (s LowerRequests) english() string {
	var said []string
	for i, r := range s.Requests {
		from, to := amount(Lack{r.Resource, r.From}), amount(Lack{r.Resource, r.To})
		switch {
		case r.To == 0 && i == 0:
			said = append(said, fmt.Sprintf("Drop the request for %s %s", from, r.Resource))
		case r.To == 0:
			said = append(said, fmt.Sprintf("drop the request for %s %s", from, r.Resource))
		case i == 0:
			said = append(said, fmt.Sprintf("Lower the request for %s from %s to %s", r.Resource, from, to))
		default:
			said = append(said, fmt.Sprintf("lower the request for %s from %s to %s", r.Resource, from, to))
		}
	}
	return strings.Join(said, ", ") + "."
}

func (s Tolerate) english() string {
	return fmt.Sprintf("Tolerate %s.", nouns(s.Taints, "the taint", "the taints"))
}

func (s DropRequirements) english() string {
	var said []string
	for _, r := range s.Requirements {
		said = append(said, r.english())
	}
	return fmt.Sprintf("No longer require %s of the node.", strings.Join(said, ", "))
}

func (r LabelRequirement) english() string {
	if r.Key == "" {
		return "an empty term"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, ", ")))
}

func (s AcceptValues) english() string {
	return fmt.Sprintf("Also accept nodes with %s=%s.", s.Key, s.Value)
}

func (s RaiseMaxSkew) english() string {
	return fmt.Sprintf("Raise maxSkew over %s from %d to %d.", s.TopologyKey, s.From, s.To)
}

func (s PreferSpread) english() string {
	return fmt.Sprintf("Only prefer the spread over %s (ScheduleAnyway).", s.TopologyKey)
}

func (s DropPodTerms) english() string {
	rule := "affinity"
	if s.Anti {
		rule = "anti-affinity"
	}
	var said []string
	for _, t := range s.Terms {
		said = append(said, fmt.Sprintf("%s over %s", t.Selector, t.TopologyKey))
	}
	return fmt.Sprintf("Drop the pod %s to %s.", rule, strings.Join(said, ", "))
}

func (s DropHostPorts) english() string {
	return fmt.Sprintf("Give up %s.", nouns(s.Ports, "the host port", "the host ports"))
}

func (s OpenGates) english() string {
	return fmt.Sprintf("Remove %s.", nouns(s.Gates, "the scheduling gate", "the scheduling gates"))
}

func (s Uncordon) english() string {
	return fmt.Sprintf("Uncordon %s%s.", s.Node, orOthers(s.Others))
}

func (s RemoveTaints) english() string {
	return fmt.Sprintf("Remove %s from %s%s.", nouns(s.Taints, "the taint", "the taints"), s.Node, orOthers(s.Others))
}

func (s LabelNode) english() string {
	var set, removed []string
	for _, l := range s.Labels {
		if l.To == nil {
			removed = append(removed, l.Key)
		} else {
			set = append(set, l.Key+"="+*l.To)
		}
	}
	var said []string
	if len(set) > 0 {
		said = append(said, "set "+nouns(set, "the label", "the labels"))
	}
	if len(removed) > 0 {
		said = append(said, "remove "+nouns(removed, "the label", "the labels"))
	}
	return fmt.Sprintf("On %s%s: %s.", s.Node, orOthers(s.Others), strings.Join(said, ", "))
}

func (s Evict) english() string {
	var pods []string
	for _, p := range s.Pods {
		pods = append(pods, p.Namespace+"/"+p.Name)
	}
	return fmt.Sprintf("Evict %s to make room on %s.", names(pods), s.Node)
}

func (s AddNode) english() string {
	return fmt.Sprintf("Add a node like %s%s: %s.", s.Like, orOthers(s.Others), s.Name)
}

func (s Recreated) english() string {
	return fmt.Sprintf("%s is deleted and created again.", s.Pod)
}

func (s RolledOut) english() string {
	return fmt.Sprintf("%s %s replaces %s by a new pod.", s.WorkloadKind, s.Name, s.Pod)
}

func (s RestartedWorkload) english() string {
	return fmt.Sprintf("%s %s is deleted and created again, and makes a new pod for %s.", s.WorkloadKind, s.Name, s.Pod)
}

func (s ChangesNotTried) english() string {
	return fmt.Sprintf("Not tried: %s of the pod or of a node.", plural(s.Changes, "further change"))
}

func (s CombinationsNotTried) english() string {
	return fmt.Sprintf("Not tried: combinations of more than %d changes.", s.Steps)
}

func (s NewNodesNotTried) english() string {
	return fmt.Sprintf("Not tried: %s of new nodes.", plural(s.Kinds, "further kind"))
}

func (s EvictionsNotTried) english() string {
	return fmt.Sprintf("Not tried: evictions on %s.", plural(s.Nodes, "further node"))
}

// nouns names one thing, or lists several.
func nouns(all []string, one, several string) string {
	if len(all) == 1 {
		return one + " " + all[0]
	}
	return several + " " + strings.Join(all, ", ")
}

// orOthers names the nodes that would do as well.
func orOthers(others []string) string {
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf(" (or %s)", names(others))
}
