package admission

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

type Kind string

// Operands are the data of a Reason of one kind. The types are those that Kinds lists.
type Operands interface {
	// english renders the reason as Kueue words it, where Kueue has words for it.
	english() string
}

func KindOf(o Operands) Kind { return Kind(reflect.TypeOf(o).Name()) }

// Reason says why a flavor or workload was refused or waits, as data. Its JSON is an object of
// the kind and the operands. The zero value says nothing.
type Reason struct{ Operands Operands }

// Kinds returns a zero value of each kind of reason.
func Kinds() []Operands {
	return []Operands{
		ResourceUnavailable{}, FlavorMissing{}, UntoleratedTaint{}, AffinityMismatch{}, OverCapacity{}, ShortOfQuota{}, TopologyUnsupported{}, TopologyLevelMissing{}, TopologyOnly{}, TopologyShort{}, TopologyRequestInvalid{}, OtherFlavorHeld{},
		NoFlavors{}, PreemptionPending{}, LostQuota{}, VictimsShared{},
		LocalQueueMissing{}, LocalQueueStopped{}, LocalQueueInactive{}, ClusterQueueMissing{}, ClusterQueueInactive{}, ClusterQueueStopped{}, NamespaceMismatch{}, RequestsAboveLimits{}, OutsideLimitRange{}, ChecksFailed{}, PodsNotReady{},
		ClaimsUnsupported{}, DevicesUncounted{},
		Gated{}, Deactivated{}, BackedOff{}, NotRequeued{}, PodsAwaited{}, NotTried{}, BehindHead{}, UsedMore{}, EqualRefused{}, Reported{},
	}
}

var (
	_ json.Marshaler   = Reason{}
	_ json.Unmarshaler = (*Reason)(nil)
	_ fmt.Stringer     = Reason{}
)

func (r Reason) IsZero() bool { return r.Operands == nil }

func (r Reason) String() string {
	if r.Operands == nil {
		return ""
	}
	return r.Operands.english()
}

// MarshalJSON writes the kind beside the operands.
func (r Reason) MarshalJSON() ([]byte, error) {
	if r.Operands == nil {
		return []byte("null"), nil
	}
	operands, err := json.Marshal(r.Operands)
	if err != nil {
		return nil, err
	}
	head := fmt.Appendf(nil, `{"kind":%q`, KindOf(r.Operands))
	if len(operands) > len("{}") {
		head = append(head, ',')
	}
	return append(head, operands[1:]...), nil
}

func (r *Reason) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*r = Reason{}
		return nil
	}
	var head struct{ Kind Kind }
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	for _, known := range Kinds() {
		if KindOf(known) != head.Kind {
			continue
		}
		operands := reflect.New(reflect.TypeOf(known))
		if err := json.Unmarshal(data, operands.Interface()); err != nil {
			return fmt.Errorf("reading a reason of kind %s: %w", head.Kind, err)
		}
		r.Operands = operands.Elem().Interface().(Operands)
		return nil
	}
	return fmt.Errorf("unknown kind of reason %q", head.Kind)
}

// ResourceUnavailable means that the ClusterQueue has no quota of a requested resource.
type ResourceUnavailable struct {
	Resource v1.ResourceName `json:"resource"`
}

// FlavorMissing means that the ResourceFlavor does not exist.
type FlavorMissing struct {
	Flavor string `json:"flavor"`
}

// UntoleratedTaint means that neither the pods nor the flavor tolerate one of its taints.
type UntoleratedTaint struct {
	Flavor string         `json:"flavor"`
	Key    string         `json:"key"`
	Value  string         `json:"value,omitempty"`
	Effect v1.TaintEffect `json:"effect"`
}

// AffinityMismatch means that the pods' node selector or affinity rules the flavor out.
type AffinityMismatch struct {
	Flavor string `json:"flavor"`
}

// OverCapacity means that the request exceeds what the ClusterQueue could ever take.
type OverCapacity struct {
	Resource v1.ResourceName `json:"resource"`
	Flavor   string          `json:"flavor"`
	// Earlier is what pod sets before took, Requested this one's request, and Capacity the
	// most that can be taken, as quantities.
	Earlier   string `json:"earlier"`
	Requested string `json:"requested"`
	Capacity  string `json:"capacity"`
}

// ShortOfQuota means that too little quota is unused.
type ShortOfQuota struct {
	Resource v1.ResourceName `json:"resource"`
	Flavor   string          `json:"flavor"`
	// Missing is how much more would do, as a quantity, as Kueue counts: from quota that is used up. Where more is used than
	// there is, after a cut, Overdrawn is needed besides.
	Missing   string `json:"missing"`
	Overdrawn string `json:"overdrawn,omitempty"`
}

// TopologyUnsupported means that a pod set asks for a topology that the flavor does not have.
type TopologyUnsupported struct {
	Flavor string `json:"flavor"`
}

// TopologyLevelMissing means that the flavor's topology lacks the level that is asked for.
type TopologyLevelMissing struct {
	Flavor string `json:"flavor"`
}

// TopologyOnly means that the flavor takes only pod sets that ask for a topology.
type TopologyOnly struct {
	Flavor string `json:"flavor"`
}

// TopologyShort means that the pods do not fit in the domains of a topology.
type TopologyShort struct {
	Topology string `json:"topology"`
	// Fits of Wanted pods fit, or slices of pods if Slices.
	Fits   int32 `json:"fits"`
	Wanted int32 `json:"wanted"`
	Slices bool  `json:"slices,omitempty"`
	// Empty means that the pods would not fit if no workload of a queue ran, either.
	Empty bool `json:"empty,omitempty"`
	// Nodes counts the flavor's nodes, and Excluded those that each rule took out.
	Nodes    int32        `json:"nodes"`
	Excluded []Exclusions `json:"excluded,omitempty"`
}

// Exclusions counts the nodes that one rule excluded.
type Exclusions struct {
	// Rule is nodeSelector, affinity, a taint or the resource that is short.
	Rule  string `json:"rule"`
	Nodes int32  `json:"nodes"`
}

// TopologyRequestInvalid means that a topology request contradicts itself.
type TopologyRequestInvalid struct {
	Text string `json:"text"`
}

// OtherFlavorHeld means that the workload takes the place of one whose pods are in another flavor.
type OtherFlavorHeld struct {
	Flavor string `json:"flavor"`
	// Held is empty if the other workload has none of the resource.
	Held string `json:"held"`
}

// ClaimsUnsupported means that pods name a ResourceClaim, which they would share. Kueue counts devices by templates only.
type ClaimsUnsupported struct{}

// DevicesUncounted means that the devices of a claim template cannot be counted.
type DevicesUncounted struct {
	// Text names the field of the workload, the template, and what is wrong.
	Text string `json:"text"`
}

// NoFlavors means that some pod sets got no flavor.
type NoFlavors struct {
	PodSets []PodSetReasons `json:"podSets"`
}

type PodSetReasons struct {
	PodSet  string   `json:"podSet"`
	Reasons []Reason `json:"reasons"`
}

// PreemptionPending means that workloads are evicted to make room.
type PreemptionPending struct {
	PodSets []PodSetReasons `json:"podSets,omitempty"`
	Victims int             `json:"victims"`
}

// LostQuota means that another head of the same cycle took the quota.
type LostQuota struct{}

// VictimsShared means that the victims of another head of the same cycle make room for this
// workload too.
type VictimsShared struct{}

// LocalQueueMissing means that the LocalQueue does not exist.
type LocalQueueMissing struct {
	Name string `json:"name"`
}

// LocalQueueStopped means that the LocalQueue has a stop policy.
type LocalQueueStopped struct {
	Name string `json:"name"`
}

// LocalQueueInactive means that the LocalQueue cannot take part.
type LocalQueueInactive struct {
	Name string `json:"name"`
}

// ClusterQueueMissing means that the ClusterQueue does not exist.
type ClusterQueueMissing struct {
	Name string `json:"name"`
}

// ClusterQueueInactive means that the ClusterQueue lacks something that it names.
type ClusterQueueInactive struct {
	Name string `json:"name"`
}

// ClusterQueueStopped means that the ClusterQueue has a stop policy.
type ClusterQueueStopped struct {
	Name string `json:"name"`
}

// NamespaceMismatch means that the ClusterQueue does not select the workload's namespace.
type NamespaceMismatch struct{}

// RequestsAboveLimits means that containers request more than their limits.
type RequestsAboveLimits struct {
	Fields []string `json:"fields"`
}

// OutsideLimitRange means that a LimitRange of the namespace forbids the requests.
type OutsideLimitRange struct {
	Violations []string `json:"violations"`
}

// ChecksFailed means that an admission check asked to retry or rejected the workload.
type ChecksFailed struct{}

// PodsNotReady means that an admitted workload's pods are not ready, which blocks admission.
type PodsNotReady struct {
	Workload Ref `json:"workload"`
}

// Gated means that the workload is held back by its annotation.
type Gated struct {
	By string `json:"by"`
}

// Deactivated means that spec.active is false.
type Deactivated struct{}

// BackedOff means that the workload waits until a time.
type BackedOff struct {
	Until time.Time `json:"until"`
}

// NotRequeued means that the workload was evicted, its job has stopped, and it may not be tried again yet.
type NotRequeued struct {
	// Eviction is the reason of the condition Evicted or Requeued.
	Eviction string `json:"eviction"`
}

// PodsAwaited means that a pod group waits for pods in place of failed ones.
type PodsAwaited struct{}

// NotTried means that no cycle has tried the workload yet.
type NotTried struct{}

// BehindHead means that a StrictFIFO queue tries only its head.
type BehindHead struct {
	Head Ref `json:"head"`
}

// UsedMore means that the LocalQueue has used more than that of a workload that goes first.
type UsedMore struct {
	First     Ref             `json:"first"`
	Used      LocalQueueUsage `json:"used"`
	FirstUsed LocalQueueUsage `json:"firstUsed"`
}

// EqualRefused means that a workload of the same shape was refused, so this one was not tried.
type EqualRefused struct {
	Equal  Ref    `json:"equal"`
	Reason Reason `json:"reason"`
}

// Reported is what the condition of a workload says where another Kueue decides.
type Reported struct {
	Message string `json:"message"`
}

func (r ResourceUnavailable) english() string {
	return fmt.Sprintf("resource %s unavailable in ClusterQueue", r.Resource)
}

func (r FlavorMissing) english() string { return fmt.Sprintf("flavor %s not found", r.Flavor) }

func (r UntoleratedTaint) english() string {
	return fmt.Sprintf("untolerated taint {%s %s %s <nil>} in flavor %s", r.Key, r.Value, r.Effect, r.Flavor)
}

func (r AffinityMismatch) english() string {
	return fmt.Sprintf("flavor %s doesn't match node affinity", r.Flavor)
}

func (r OverCapacity) english() string {
	return fmt.Sprintf("insufficient quota for %s in flavor %s, previously considered podsets requests (%s) + current podset request (%s) > maximum capacity (%s)", r.Resource, r.Flavor, r.Earlier, r.Requested, r.Capacity)
}

func (r ShortOfQuota) english() string {
	return fmt.Sprintf("insufficient unused quota for %s in flavor %s, %s more needed", r.Resource, r.Flavor, r.Missing)
}

func (r TopologyUnsupported) english() string {
	return fmt.Sprintf("Flavor %q does not support TopologyAwareScheduling", r.Flavor)
}

func (r TopologyLevelMissing) english() string {
	return fmt.Sprintf("Flavor %q does not contain the requested level", r.Flavor)
}

func (r TopologyOnly) english() string {
	return fmt.Sprintf("Flavor %q supports only TopologyAwareScheduling", r.Flavor)
}

func (r TopologyShort) english() string {
	unit := "pod(s)"
	if r.Slices {
		unit = "slice(s)"
	}
	text := fmt.Sprintf("topology %q allows to fit only %d out of %d %s", r.Topology, r.Fits, r.Wanted, unit)
	if r.Fits == 0 {
		text = fmt.Sprintf("topology %q doesn't allow to fit any of %d %s", r.Topology, r.Wanted, unit)
	}
	if len(r.Excluded) == 0 {
		return text
	}
	excluded := make([]string, len(r.Excluded))
	for i, e := range r.Excluded {
		excluded[i] = fmt.Sprintf("%s: %d", e.Rule, e.Nodes)
	}
	return fmt.Sprintf("%s. Total nodes: %d; excluded: %s", text, r.Nodes, strings.Join(excluded, ", "))
}

func (r TopologyRequestInvalid) english() string { return r.Text }

func (r OtherFlavorHeld) english() string {
	return fmt.Sprintf("could not assign %s flavor since the original workload is assigned: %s", r.Flavor, r.Held)
}

func (r ClaimsUnsupported) english() string {
	return "DynamicResourceAllocation feature does not support use of resource claims"
}

func (r DevicesUncounted) english() string { return r.Text }

func (r NoFlavors) english() string { return podSetsEnglish(r.PodSets) }

func podSetsEnglish(podSets []PodSetReasons) string {
	texts := make([]string, len(podSets))
	for i, podSet := range podSets {
		texts[i] = fmt.Sprintf("couldn't assign flavors to pod set %s: %s", podSet.PodSet, joinReasons(podSet.Reasons))
	}
	return strings.Join(texts, "; ")
}

func joinReasons(reasons []Reason) string {
	texts := make([]string, len(reasons))
	for i, reason := range reasons {
		texts[i] = reason.String()
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

func (r PreemptionPending) english() string {
	text := fmt.Sprintf("Pending the preemption of %d workload(s)", r.Victims)
	if len(r.PodSets) == 0 {
		return text
	}
	return podSetsEnglish(r.PodSets) + ". " + text
}

func (r LostQuota) english() string {
	return "Workload no longer fits after processing another workload"
}

func (r VictimsShared) english() string {
	return "Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete"
}

func (r LocalQueueMissing) english() string {
	return fmt.Sprintf("LocalQueue %s doesn't exist", r.Name)
}
func (r LocalQueueStopped) english() string  { return fmt.Sprintf("LocalQueue %s is stopped", r.Name) }
func (r LocalQueueInactive) english() string { return fmt.Sprintf("LocalQueue %s is inactive", r.Name) }
func (r ClusterQueueMissing) english() string {
	return fmt.Sprintf("ClusterQueue %s doesn't exist", r.Name)
}
func (r ClusterQueueInactive) english() string {
	return fmt.Sprintf("ClusterQueue %s is inactive", r.Name)
}
func (r ClusterQueueStopped) english() string {
	return fmt.Sprintf("ClusterQueue %s is stopped", r.Name)
}

func (r NamespaceMismatch) english() string {
	return "workload namespace doesn't match ClusterQueue selector"
}

func (r RequestsAboveLimits) english() string {
	return "resources validation failed: " + strings.Join(r.Fields, ", ") + ": requests must not exceed their limits"
}

func (r OutsideLimitRange) english() string {
	return "resources didn't satisfy LimitRange constraints: " + strings.Join(r.Violations, ", ")
}

func (r ChecksFailed) english() string { return "The workload has failed admission checks" }

func (r PodsNotReady) english() string {
	return "waiting for all admitted workloads to be in PodsReady condition"
}

func (r Gated) english() string       { return "Admission is gated by: " + r.By }
func (r Deactivated) english() string { return "The workload is deactivated" }

func (r BackedOff) english() string {
	return "The workload waits until " + r.Until.UTC().Format(time.RFC3339)
}

func (r NotRequeued) english() string {
	return fmt.Sprintf("The workload was evicted (%s) and is not requeued yet", r.Eviction)
}

func (r PodsAwaited) english() string { return "The pod group waits for replacement pods" }

func (r NotTried) english() string {
	return "Workload is pending evaluation in the scheduling queue"
}

func (r BehindHead) english() string {
	return fmt.Sprintf("StrictFIFO tries only the head, %s/%s", r.Head.Namespace, r.Head.Name)
}

func (r UsedMore) english() string {
	return fmt.Sprintf("LocalQueue %s has used %s, and %s, whose workload %s/%s goes first, %s", r.Used.path(), r.Used.text(), r.FirstUsed.path(), r.First.Namespace, r.First.Name, r.FirstUsed.text())
}

func (u LocalQueueUsage) path() string { return u.Namespace + "/" + u.Name }

// text is the usage to six digits after the point.
func (u LocalQueueUsage) text() string {
	if u.Infinite {
		return "something, at a weight of 0"
	}
	return strconv.FormatFloat(math.Round(u.Usage*1e6)/1e6, 'f', -1, 64)
}

func (r EqualRefused) english() string {
	return "Bypassed scheduling evaluation because an equivalent workload recently failed"
}

func (r Reported) english() string { return r.Message }
