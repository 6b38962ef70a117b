package explain

import (
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// DeviceShortage is a request of one of the pod's claims that nodes could not meet.
type DeviceShortage struct {
	Claim       string `json:"claim"`
	Request     string `json:"request"`
	DeviceClass string `json:"deviceClass"`
	// Count of devices that the request wants; 0 means all that match.
	Count int64 `json:"count"`
	// Nodes is how many of the Compared nodes could not meet it. Not every node
	// that DynamicResources rejected is compared.
	Nodes    int `json:"nodes"`
	Compared int `json:"compared"`
	// On NoMatch of the Nodes too few devices match. On InUse of them enough match,
	// but other claims hold them. On Blocked of them enough match and are not in use, but
	// taints, shared counters or capacity, or an incomplete pool keep them from being
	// allocated.
	NoMatch int `json:"noMatch"`
	InUse   int `json:"inUse"`
	Blocked int `json:"blocked"`
}

// deviceShortages returns the requests that the compared nodes could not meet, and
// the number of nodes that could meet each request alone but not all together.
func deviceShortages(c *result.Cycle) (short []DeviceShortage, together int) {
	if c.Filter == nil {
		return nil, 0
	}
	compared := 0
	for i := range c.Filter.Comparisons {
		wanted := c.Filter.Comparisons[i].Devices
		if len(wanted) == 0 {
			continue
		}
		compared++
		lacking := slices.DeleteFunc(slices.Clone(wanted), func(d result.DeviceComparison) bool { return metBy(wanted, d) })
		if len(lacking) == 0 {
			together++
		}
		for _, d := range lacking {
			short = countShortage(short, d)
		}
	}
	for i := range short {
		short[i].Compared = compared
	}
	slices.SortStableFunc(short, func(a, b DeviceShortage) int { return b.Nodes - a.Nodes })
	return short, together
}

// metBy reports whether a node has enough for d, or for another alternative of the
// same request.
func metBy(wanted []result.DeviceComparison, d result.DeviceComparison) bool {
	request, _, _ := strings.Cut(d.Request, "/")
	return slices.ContainsFunc(wanted, func(other result.DeviceComparison) bool {
		name, _, _ := strings.Cut(other.Request, "/")
		return other.Claim == d.Claim && name == request && other.Enough()
	})
}

func countShortage(short []DeviceShortage, d result.DeviceComparison) []DeviceShortage {
	i := slices.IndexFunc(short, func(s DeviceShortage) bool { return s.Claim == d.Claim && s.Request == d.Request })
	if i < 0 {
		i = len(short)
		short = append(short, DeviceShortage{Claim: d.Claim, Request: d.Request, DeviceClass: d.DeviceClass, Count: d.Count})
	}
	short[i].Nodes++
	switch {
	case d.Blocked:
		short[i].Blocked++
	case int64(d.Matching) < max(d.Count, 1):
		short[i].NoMatch++
	default:
		short[i].InUse++
	}
	return short
}

// DevicesTogether: Nodes nodes could meet each request for devices alone, but not
// all together.
type DevicesTogether struct {
	Nodes int `json:"nodes"`
}

// DevicesAllocated are the devices that the pod's claims hold.
type DevicesAllocated struct {
	Claims []ClaimDevices `json:"claims"`
}

// ClaimDevices are the devices that one claim holds, by driver in the order of the
// allocation.
type ClaimDevices struct {
	Claim   string            `json:"claim"`
	Drivers []DevicesOfDriver `json:"drivers"`
}

// DevicesOfDriver are devices of one driver, by name.
type DevicesOfDriver struct {
	Driver  string   `json:"driver"`
	Devices []string `json:"devices"`
}

func (s DeviceShortage) english() string {
	wants := plural(int(s.Count), "device")
	if s.Count == 0 {
		wants = "all devices"
	}
	var why []string
	if s.NoMatch > 0 {
		why = append(why, sprintf("too few match on %d", s.NoMatch))
	}
	if s.InUse > 0 {
		why = append(why, sprintf("already in use on %d", s.InUse))
	}
	if s.Blocked > 0 {
		why = append(why, sprintf("cannot be allocated on %d", s.Blocked))
	}
	return sprintf("Request %s of claim %s needs %s of class %s: %d of %s cannot satisfy it (%s).",
		s.Request, s.Claim, wants, s.DeviceClass, s.Nodes, plural(s.Compared, "checked node"), strings.Join(why, ", "))
}

func (s DevicesTogether) english() string {
	return sprintf("On %s, each device request could be met on its own, but not all of them together.", plural(s.Nodes, "node"))
}

func (s DevicesAllocated) english() string {
	var parts []string
	for _, claim := range s.Claims {
		var held []string
		for _, d := range claim.Drivers {
			which := strings.Join(d.Devices, ", ")
			if n := len(d.Devices); n > mostNamed {
				which = plural(n, "device")
			}
			held = append(held, which+" of "+d.Driver)
		}
		parts = append(parts, sprintf("claim %s holds %s", claim.Claim, strings.Join(held, " and ")))
	}
	return "Its " + strings.Join(parts, ", its ") + "."
}

// deviceRemarks says which devices the pod got, or which of its requests for devices
// the nodes could not meet.
func deviceRemarks(c *result.Cycle, short []DeviceShortage, together int) []Operands {
	var out []Operands
	switch c.Outcome {
	case result.Scheduled:
		if claims := devicesHeld(c.Claims); len(claims) > 0 {
			out = append(out, DevicesAllocated{Claims: claims})
		}
	case result.Unschedulable:
		for _, s := range short {
			out = append(out, s)
		}
		if together > 0 {
			out = append(out, DevicesTogether{Nodes: together})
		}
	}
	return out
}

func devicesHeld(claims []result.ClaimAllocation) []ClaimDevices {
	var out []ClaimDevices
	for _, claim := range claims {
		held := ClaimDevices{Claim: claim.Name}
		for _, d := range claim.Devices {
			i := slices.IndexFunc(held.Drivers, func(known DevicesOfDriver) bool { return known.Driver == d.Driver })
			if i < 0 {
				i = len(held.Drivers)
				held.Drivers = append(held.Drivers, DevicesOfDriver{Driver: d.Driver})
			}
			held.Drivers[i].Devices = append(held.Drivers[i].Devices, d.Device)
		}
		if len(held.Drivers) > 0 {
			out = append(out, held)
		}
	}
	return out
}
