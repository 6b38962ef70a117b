package result

// Fact is a plugin's own statement about a cycle. A cycle lists facts by plugin, node
// and key, those about the pod before those about nodes.
type Fact struct {
	Plugin string `json:"plugin"`
	// Node is the node that the fact is about; empty when it is about the pod.
	Node  string `json:"node,omitempty"`
	Key   string `json:"key"`
	Value string `json:"value"`
}

// TieSeed is the Plugin of the fact that the scheduler attaches to a cycle when a seed, not chance,
// decided among the nodes with the best total.
const TieSeed = "TieSeed"
