package result

// PodGroup is the scheduling cycle of the pod's group, of which the pod's cycle is a part.
type PodGroup struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Workload and Template name the workload and its template for which the group was created;
	// both are empty for a standalone group.
	Workload string `json:"workload,omitempty"`
	Template string `json:"template,omitempty"`
	// MinCount is how many members must find a place; 0 when the group has no
	// gang policy.
	MinCount int `json:"minCount"`
	// TopologyKey is the label whose values group nodes into placements; empty when
	// the group has no topology constraint.
	TopologyKey string `json:"topologyKey,omitempty"`
	// Members are the pods of the group's cycle, in the order in which the
	// scheduler tries them: the first MaxGroupMembers of MemberCount.
	Members     []Pod `json:"members"`
	MemberCount int   `json:"memberCount"`
	// AlreadyScheduled members had a node before this cycle. They count towards
	// MinCount.
	AlreadyScheduled int `json:"alreadyScheduled,omitempty"`
	// Outcome is the outcome of the group: Scheduled when the members that found a
	// node went on to be bound, otherwise Unschedulable or Error.
	Outcome Outcome `json:"outcome"`
	// Placements are the sets of nodes that the scheduler tried, in order: at most MaxPlacements of
	// PlacementCount, preferably those in which enough members fit.
	Placements     []Placement `json:"placements,omitempty"`
	PlacementCount int         `json:"placementCount,omitempty"`
	// Placement indexes the placement in which this pod's cycle ran; nil when the scheduler did not
	// try the pod.
	Placement *int `json:"placement,omitempty"`
	// Chosen indexes the chosen placement; nil when there is none, or when it is unknown because
	// placements share the best total.
	Chosen *int `json:"chosen,omitempty"`
	// PostFilter are the answers of the plugins that preempt for groups.
	PostFilter []PluginResult `json:"postFilter,omitempty"`
	// Preemption is nil when there was no dry run for the group. A member's own cycle says in
	// NominatedNode where preemption makes room for it.
	Preemption *GroupPreemption `json:"preemption,omitempty"`
}

// Bounds of the group's data in each member's cycle.
const (
	MaxGroupMembers = 100
	MaxPlacements   = 100
)

// Placement is one set of nodes on which the group was tried.
type Placement struct {
	// Name is the value of the topology key, empty for all nodes.
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
	// Tried counts the members for which the scheduler looked for a node in it, and
	// Assigned those that found one. The trial ends when too few members are left to
	// satisfy the group.
	Tried    int `json:"tried"`
	Assigned int `json:"assigned"`
	// Status is Success when enough members fit. Otherwise Plugin and Reasons say
	// why not.
	Status  string   `json:"status,omitempty"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// BlockedBy lists the plugins that kept members from finding a node, most members first.
	BlockedBy []Block `json:"blockedBy,omitempty"`
	// Scores are the weighted scores by plugin, and Total is their sum; nil when the placement was
	// not scored.
	Scores map[string]int64 `json:"scores,omitempty"`
	Total  *int64           `json:"total,omitempty"`
}

// Block says for how many members that found no node a plugin rejected nodes, and
// why.
type Block struct {
	Plugin string `json:"plugin"`
	// Members counts those members.
	Members int `json:"members"`
	// Reasons are distinct and sorted, at most MaxBlockReasons.
	Reasons []string `json:"reasons,omitempty"`
}

// MaxBlockReasons bounds the reasons of a Block.
const MaxBlockReasons = 8

// Has counts the members with a node: those that found one in p, and those that had one before.
func (g *PodGroup) Has(p *Placement) int { return g.AlreadyScheduled + p.Assigned }
