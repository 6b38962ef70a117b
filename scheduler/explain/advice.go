package explain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"kube-scheduler-simulator/scheduler/result"
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
		Wait{}, LowerRequests{}, Tolerate{}, DropRequirements{}, AcceptValues{}, HonorPolicy{}, LowerMinDomains{}, RaiseMaxSkew{}, PreferSpread{},
		PreferPodTerms{}, DropPodTerms{}, DropHostPorts{}, OpenGates{}, ChangeStorageClass{}, RaisePriority{}, TakeBackResize{}, ScaleDown{},
		Uncordon{}, RemoveTaints{}, LabelNode{}, Evict{}, AddNode{},
	}
}

// Manners returns a zero value of each kind that the manner of an advice can be.
func Manners() []Operands {
	return []Operands{Recreated{}, RolledOut{}, RestartedWorkload{}, Leaves{}}
}

// Omissions returns a zero value of each kind of what a search for advice left out, or could not know.
func Omissions() []Operands {
	return append([]Operands{ChangesNotTried{}, CombinationsNotTried{}, NewNodesNotTried{}, EvictionsNotTried{}, RolloutNotTried{}, NoNodesToTry{}}, Unknowns()...)
}

// Wait: nothing needs to change. The pod fits when all of this has happened. At least one
// of the fields but Until is set.
type Wait struct {
	Terminating []PodName `json:"terminating"`
	// Nominated are pods that wait for a node themselves, and hold room on one until the
	// scheduler places them.
	Nominated []NominatedPod `json:"nominated"`
	// Detaching are volumes that are still attached to a node on which no pod uses them.
	Detaching []AttachedVolume `json:"detaching,omitempty"`
	// Group is the pod group that lacks members.
	Group *ShortGroup `json:"group,omitempty"`
	// Preempts: the scheduler evicts other pods when it tries the pod. Which ones may be up to
	// chance.
	Preempts bool `json:"preempts,omitempty"`
	// Queue is set if the pod fits already: the part of the scheduling queue, backoff or unschedulable, in which it
	// waits to be tried again.
	Queue result.QueueName `json:"queue,omitempty"`
	// Until is when it has happened at the latest; nil if it is not known.
	Until *time.Time `json:"until,omitempty"`
}

type PodName struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type NominatedPod struct {
	PodName
	Node string `json:"node"`
}

type AttachedVolume struct {
	Volume string `json:"volume"`
	Node   string `json:"node"`
}

// ShortGroup is a pod group that needs Missing more pods.
type ShortGroup struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Missing   int    `json:"missing"`
}

// LowerRequests: the pod asks for less.
type LowerRequests struct {
	Requests []RequestCut `json:"requests"`
}

// RequestCut is an amount of a resource, before and after: of CPU in thousandths of a core,
// of others in their own unit. To is 0 when the resource is no longer asked for.
type RequestCut struct {
	Resource string `json:"resource"`
	// Container is the name of the container that asks for it; empty for a request of the
	// pod as a whole. Init: it is an init container, and Sidecar: one that keeps running.
	Container string `json:"container"`
	Init      bool   `json:"init,omitempty"`
	Sidecar   bool   `json:"sidecar,omitempty"`
	From      int64  `json:"from"`
	To        int64  `json:"to"`
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

// HonorPolicy: a topology spread constraint no longer counts domains that the pod cannot
// use. Policy is nodeTaintsPolicy or nodeAffinityPolicy, which becomes Honor.
type HonorPolicy struct {
	TopologyKey string `json:"topologyKey"`
	Policy      string `json:"policy"`
}

// LowerMinDomains: a topology spread constraint of the pod asks for fewer domains. To is 0
// when it no longer asks for any number.
type LowerMinDomains struct {
	TopologyKey string `json:"topologyKey"`
	From        int    `json:"from"`
	To          int    `json:"to"`
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

// PreferPodTerms: required terms of the pod's affinity to other pods, or of its
// anti-affinity if Anti is true, become preferences.
type PreferPodTerms struct {
	Anti  bool      `json:"anti"`
	Terms []PodTerm `json:"terms"`
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
	// Namespaces are those that the term names. Without any, and without NamespaceSelector, it is about
	// the pod's own.
	Namespaces []string `json:"namespaces,omitempty"`
	// NamespaceSelector selects further namespaces, all if it is empty. It is nil if the term has none.
	NamespaceSelector *string `json:"namespaceSelector,omitempty"`
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

// ChangeStorageClass: a claim of the pod that is not bound yet is deleted, and created again with another class.
type ChangeStorageClass struct {
	Claim string `json:"claim"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// RaisePriority: the pod gets a priority class of the cluster, and the scheduler then evicts
// Pods to make room on Node.
type RaisePriority struct {
	Class string       `json:"class"`
	From  int32        `json:"from"`
	To    int32        `json:"to"`
	Node  string       `json:"node"`
	Pods  []EvictedPod `json:"pods"`
}

// TakeBackResize: a resize of a running pod that its node has not granted is taken back, so
// that the pod asks for what it has.
type TakeBackResize struct {
	Namespace string       `json:"namespace"`
	Name      string       `json:"name"`
	Node      string       `json:"node"`
	Requests  []RequestCut `json:"requests"`
}

// ScaleDown: the workload of the pod asks for no more pods than run. The pod goes.
type ScaleDown struct {
	WorkloadKind string `json:"workloadKind"`
	Name         string `json:"name"`
	From         int    `json:"from"`
	To           int    `json:"to"`
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

type EvictedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Priority  int32  `json:"priority"`
	// Replacement is the pod that a controller makes in its place; nil if none does.
	Replacement *Replacement `json:"replacement,omitempty"`
}

// Replacement is a pod that takes the place of one that is evicted.
type Replacement struct {
	// Node is where the scheduler would place it once the pod that waits has its place. It is
	// empty if it would find no node, and then waits itself.
	Node string `json:"node"`
}

// AddNode: a node joins the cluster. It has the size, the labels and the taints of Like,
// which has further ones, Others, of its kind. More are the names of further nodes that join.
type AddNode struct {
	Name   string   `json:"name"`
	More   []string `json:"more,omitempty"`
	Like   string   `json:"like"`
	Others []string `json:"others"`
}

// Leaves: so many other pods of the workload still find no node.
type Leaves struct {
	Pods         int    `json:"pods"`
	WorkloadKind string `json:"workloadKind"`
	Name         string `json:"name"`
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

// RolloutNotTried: the change was tried for one pod of the workload, and not for all that
// it has, because those are more than Pods.
type RolloutNotTried struct {
	Pods int `json:"pods"`
}

// NoNodesToTry: there is no node that could change, and none that a new one could be like.
type NoNodesToTry struct{}

func (s Wait) english() string {
	until := ""
	if s.Until != nil {
		until = ", at the latest at " + s.Until.UTC().Format("15:04:05") + " UTC"
	}
	switch s.Queue {
	case "":
	case "backoff":
		return "Nothing to change: it fits, and the scheduler tries it again when its backoff ends" + until + "."
	default:
		return "Nothing to change: it fits, and the scheduler tries it again" + until + "."
	}
	if s.Preempts {
		return "Nothing to change: when the scheduler tries the pod, it makes room and evicts other pods."
	}
	var said []string
	if pods := s.Terminating; len(pods) > 0 {
		said = append(said, sprintf("%s, which %s terminating, %s gone", podNames(pods), isOrAre(len(pods)), isOrAre(len(pods))))
	}
	for _, p := range s.Nominated {
		said = append(said, sprintf("%s/%s, which is nominated to %s, is placed", p.Namespace, p.Name, p.Node))
	}
	for _, v := range s.Detaching {
		said = append(said, sprintf("the volume %s is detached from %s", v.Volume, v.Node))
	}
	if g := s.Group; g != nil {
		said = append(said, sprintf("the pod group %s/%s has %s", g.Namespace, g.Name, plural(g.Missing, "more pod")))
	}
	return "Nothing to change: it fits when " + strings.Join(said, ", and ") + until + "."
}

func podNames(pods []PodName) string {
	var all []string
	for _, p := range pods {
		all = append(all, p.Namespace+"/"+p.Name)
	}
	return names(all)
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func (s LowerRequests) english() string { return sentence(cuts(s.Requests)) }

func cuts(requests []RequestCut) []string {
	var said []string
	for _, r := range requests {
		from, to := amount(Lack{r.Resource, r.From}), amount(Lack{r.Resource, r.To})
		if r.To == 0 {
			said = append(said, sprintf("drop the request for %s %s%s", from, r.Resource, r.of()))
		} else {
			said = append(said, sprintf("lower the request for %s%s from %s to %s", r.Resource, r.of(), from, to))
		}
	}
	return said
}

// of names the container that asks.
func (r RequestCut) of() string {
	switch {
	case r.Container == "":
		return " of the pod"
	case r.Sidecar:
		return " of the sidecar " + r.Container
	case r.Init:
		return " of the init container " + r.Container
	}
	return " of the container " + r.Container
}

// sentence joins parts, and begins with a capital letter.
func sentence(parts []string) string {
	text := strings.Join(parts, ", ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

func (s Tolerate) english() string {
	return sprintf("Tolerate %s.", nouns(s.Taints, "the taint", "the taints"))
}

func (s DropRequirements) english() string {
	var said []string
	for _, r := range s.Requirements {
		said = append(said, r.english())
	}
	return sprintf("No longer require %s of the node.", strings.Join(said, ", "))
}

func (r LabelRequirement) english() string {
	if r.Key == "" {
		return "an empty term"
	}
	return strings.TrimSpace(sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, ", ")))
}

func (s AcceptValues) english() string {
	return sprintf("Also accept nodes with %s=%s.", s.Key, s.Value)
}

func (s HonorPolicy) english() string {
	return sprintf("Set %s to Honor in the spread over %s.", s.Policy, s.TopologyKey)
}

func (s LowerMinDomains) english() string {
	if s.To == 0 {
		return sprintf("Drop minDomains %d over %s.", s.From, s.TopologyKey)
	}
	return sprintf("Lower minDomains over %s from %d to %d.", s.TopologyKey, s.From, s.To)
}

func (s RaiseMaxSkew) english() string {
	return sprintf("Raise maxSkew over %s from %d to %d.", s.TopologyKey, s.From, s.To)
}

func (s PreferSpread) english() string {
	return sprintf("Only prefer the spread over %s (ScheduleAnyway).", s.TopologyKey)
}

func (s PreferPodTerms) english() string {
	return sprintf("Only prefer the pod %s to %s.", ruleOf(s.Anti), podTerms(s.Terms))
}

func (s DropPodTerms) english() string {
	return sprintf("Drop the pod %s to %s.", ruleOf(s.Anti), podTerms(s.Terms))
}

func ruleOf(anti bool) string {
	if anti {
		return "anti-affinity"
	}
	return "affinity"
}

func podTerms(terms []PodTerm) string {
	var said []string
	for _, t := range terms {
		said = append(said, sprintf("%s%s over %s", cmp.Or(t.Selector, "every pod"), t.where(), t.TopologyKey))
	}
	return strings.Join(said, ", ")
}

// where names the namespaces of a term, if it is not about the pod's own.
func (t PodTerm) where() string {
	var said []string
	if len(t.Namespaces) > 0 {
		said = append(said, nouns(t.Namespaces, "the namespace", "the namespaces"))
	}
	if t.NamespaceSelector != nil {
		said = append(said, cmp.Or(prefixed("namespaces with ", *t.NamespaceSelector), "all namespaces"))
	}
	return prefixed(" in ", strings.Join(said, " and "))
}

// prefixed is empty for an empty text.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func (s DropHostPorts) english() string {
	return sprintf("Give up %s.", nouns(s.Ports, "the host port", "the host ports"))
}

func (s OpenGates) english() string {
	return sprintf("Remove %s.", nouns(s.Gates, "the scheduling gate", "the scheduling gates"))
}

func (s Uncordon) english() string {
	return sprintf("Uncordon %s%s.", s.Node, orOthers(s.Others))
}

func (s RemoveTaints) english() string {
	return sprintf("Remove %s from %s%s.", nouns(s.Taints, "the taint", "the taints"), s.Node, orOthers(s.Others))
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
	return sprintf("On %s%s: %s.", s.Node, orOthers(s.Others), strings.Join(said, ", "))
}

func (s ChangeStorageClass) english() string {
	return sprintf("Create the claim %s, which is not bound yet, again with the storage class %s instead of %s.", s.Claim, s.To, s.From)
}

func (s RaisePriority) english() string {
	return sprintf("Give it the priority class %s (%d), for which the scheduler evicts %s on %s.%s", s.Class, s.To, evicted(s.Pods), s.Node, replacements(s.Pods))
}

func (s TakeBackResize) english() string {
	return sprintf("Take back the resize of %s/%s, which %s has not granted: %s.", s.Namespace, s.Name, s.Node, strings.Join(cuts(s.Requests), ", "))
}

func (s ScaleDown) english() string {
	return sprintf("Scale %s %s from %d to %s.", s.WorkloadKind, s.Name, s.From, plural(s.To, "replica"))
}

func (s Evict) english() string {
	return sprintf("Evict %s to make room on %s.%s", evicted(s.Pods), s.Node, replacements(s.Pods))
}

func evicted(pods []EvictedPod) string {
	var all []string
	for _, p := range pods {
		all = append(all, p.Namespace+"/"+p.Name)
	}
	return names(all)
}

// replacements says what becomes of the pods that controllers make in place of those.
func replacements(pods []EvictedPod) string {
	made, waiting := 0, 0
	var nodes []string
	for _, p := range pods {
		switch {
		case p.Replacement == nil:
			continue
		case p.Replacement.Node == "":
			waiting++
		default:
			nodes = append(nodes, p.Replacement.Node)
		}
		made++
	}
	switch {
	case made == 0:
		return ""
	case waiting == 0:
		return sprintf(" %s to %s.", counted(made, "Its replacement goes", "Their replacements go"), names(nodes))
	case waiting == made:
		return " " + counted(made, "Its replacement then waits.", "Their replacements then wait.")
	}
	return sprintf(" Of their %d replacements, %d then %s.", made, waiting, counted(waiting, "waits", "wait"))
}

func counted(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

func (s AddNode) english() string {
	if len(s.More) > 0 {
		return sprintf("Add %d nodes like %s%s: %s.", 1+len(s.More), s.Like, orOthers(s.Others), strings.Join(append([]string{s.Name}, s.More...), ", "))
	}
	return sprintf("Add a node like %s%s: %s.", s.Like, orOthers(s.Others), s.Name)
}

func (s Leaves) english() string {
	return sprintf("%s of %s %s still %s no node.", plural(s.Pods, "other pod"), s.WorkloadKind, s.Name, counted(s.Pods, "finds", "find"))
}

func (s Recreated) english() string {
	return sprintf("%s is deleted and created again.", s.Pod)
}

func (s RolledOut) english() string {
	return sprintf("%s %s replaces %s by a new pod.", s.WorkloadKind, s.Name, s.Pod)
}

func (s RestartedWorkload) english() string {
	return sprintf("%s %s is deleted and created again, and makes a new pod for %s.", s.WorkloadKind, s.Name, s.Pod)
}

func (s ChangesNotTried) english() string {
	return sprintf("Not tried: %s of the pod or of a node.", plural(s.Changes, "further change"))
}

func (s CombinationsNotTried) english() string {
	return sprintf("Not tried: combinations of more than %d changes.", s.Steps)
}

func (s NewNodesNotTried) english() string {
	return sprintf("Not tried: %s of new nodes.", plural(s.Kinds, "further kind"))
}

func (s EvictionsNotTried) english() string {
	return sprintf("Not tried: evictions on %s.", plural(s.Nodes, "further node"))
}

func (s RolloutNotTried) english() string {
	return sprintf("Not tried: a change for all pods of a workload with more than %d.", s.Pods)
}

func (NoNodesToTry) english() string {
	return "The cluster has no nodes: none can change, and there is none that a new one could be like."
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
	return sprintf(" (or %s)", names(others))
}
