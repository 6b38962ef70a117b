package hypothesis

// Autoscaler is what the cluster's autoscaler would do about a pod that fits nowhere, asked about it alone.
type Autoscaler struct {
	// Verdict is newNode, existingNode, none or notJudged, as in an answer of package autoscale.
	Verdict string `json:"verdict"`
	// Text says in English what it would do, and why no more.
	Text string `json:"text"`
	// Node is what a new node would be; nil for other verdicts.
	Node *BoughtNode `json:"node,omitempty"`
	// Refused has the NodePools that do not help. It is empty if one does.
	Refused []RefusedPool `json:"refused,omitempty"`
	// Disagreement is its kind, if the scheduler disagrees, and DisagreementText says in English what comes of it.
	Disagreement     string `json:"disagreement,omitempty"`
	DisagreementText string `json:"disagreementText,omitempty"`
	// By names the autoscaler, with its version, and Prices says where prices are from.
	By     string `json:"by"`
	Prices string `json:"prices"`
}

// BoughtNode is a node that an autoscaler would buy.
type BoughtNode struct {
	NodePool     string `json:"nodePool"`
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	// PricePerHour is in US dollars.
	PricePerHour float64 `json:"pricePerHour"`
}

// RefusedPool is a NodePool that does not help, with its reason in English.
type RefusedPool struct {
	NodePool string `json:"nodePool"`
	Reason   string `json:"reason"`
}
