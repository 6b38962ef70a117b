package result

// PodGroup is the scheduling cycle of a group of pods, of which this pod's
// cycle is a part.
type PodGroup struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Members are the pods that were tried in the group's cycle.
	Members []Pod `json:"members"`
	// MinCount is how many members must find a place; 0 when the group has no
	// gang policy.
	MinCount int `json:"minCount"`
	// Placements are the sets of nodes that were tried, in order.
	Placements []Placement `json:"placements,omitempty"`
	// PostFilter are the answers of the plugins that preempt for groups.
	PostFilter []PluginResult `json:"postFilter,omitempty"`
}

// Placement is one set of nodes on which the group was tried.
type Placement struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
	// Assigned members found a node in it.
	Assigned int `json:"assigned"`
	// Status is Success when enough members fit, or what stood in the way.
	Status  string   `json:"status,omitempty"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// Scores by plugin, weighted, and their sum; nil when it was not scored.
	Scores map[string]int64 `json:"scores,omitempty"`
	Total  *int64           `json:"total,omitempty"`
}
