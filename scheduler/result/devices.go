package result

// ClaimAllocation lists the devices that a ResourceClaim of the pod holds when the pod
// is bound.
type ClaimAllocation struct {
	// Name is the pod's name for the claim; Claim names the ResourceClaim.
	Name    string            `json:"name"`
	Claim   string            `json:"claim"`
	Devices []AllocatedDevice `json:"devices"`
}

// AllocatedDevice is one device, by the names that identify it.
type AllocatedDevice struct {
	Request string `json:"request"`
	Driver  string `json:"driver"`
	Pool    string `json:"pool"`
	Device  string `json:"device"`
}

// DeviceComparison compares a request of an unallocated claim with the devices of a
// node.
type DeviceComparison struct {
	// Resource is an extended resource that the pod requests and DynamicResources provides on the
	// node. Claim and Request are then empty.
	Resource string `json:"resource,omitempty"`
	Claim    string `json:"claim"`
	// Request is request/alternative for one of a request's alternatives, as in an
	// allocation.
	Request     string `json:"request"`
	DeviceClass string `json:"deviceClass"`
	// Count is the number of devices that the request wants; 0 means all that
	// match.
	Count int64 `json:"count"`
	// Matching counts the devices for the node that match the selectors of the request
	// and of its class, and MatchingInUse those of them that other claims hold.
	Matching      int `json:"matching"`
	MatchingInUse int `json:"matchingInUse"`
	// Blocked: enough matching devices are free, yet even alone the request cannot get them: they
	// have taints, share counters or capacity with others, or belong to an incomplete pool.
	Blocked bool `json:"blocked,omitempty"`
	// Drivers lists the drivers that publish devices for the node, by name; nil
	// when none does.
	Drivers []DriverDevices `json:"drivers,omitempty"`
	// Allocated are the devices that the request would get on the node.
	Allocated []AllocatedDevice `json:"allocated,omitempty"`
}

// Enough reports whether the node could meet the request if it were the only one.
func (d DeviceComparison) Enough() bool {
	if d.Blocked {
		return false
	}
	if d.Count == 0 {
		return d.Matching > 0 && d.MatchingInUse == 0
	}
	return int64(d.Matching-d.MatchingInUse) >= d.Count
}

// DriverDevices counts the devices of one driver for a node.
type DriverDevices struct {
	Driver string `json:"driver"`
	OnNode int    `json:"onNode"`
	InUse  int    `json:"inUse"`
}
