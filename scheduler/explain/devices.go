package explain

import (
	"fmt"
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
	// Nodes could not meet it, of the Compared ones: not every node that
	// DynamicResources rejected is looked into.
	Nodes    int `json:"nodes"`
	Compared int `json:"compared"`
	// Of the Nodes, on NoMatch too few devices match, and on InUse enough do, but
	// others hold them.
	NoMatch int `json:"noMatch"`
	InUse   int `json:"inUse"`
}

// deviceShortages returns what the nodes that were looked into lack, and on how many
// of them every request could be met alone, though not together.
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
	if int64(d.Matching) < max(d.Count, 1) {
		short[i].NoMatch++
	} else {
		short[i].InUse++
	}
	return short
}

// devicesSentence says which devices a pod got, or which of its requests for some
// found too few.
func devicesSentence(c *result.Cycle, short []DeviceShortage, together int) string {
	switch c.Outcome {
	case result.Scheduled:
		return gotSentence(c.Claims)
	case result.Unschedulable:
		return lackSentence(short, together)
	}
	return ""
}

func gotSentence(claims []result.ClaimAllocation) string {
	var parts []string
	for _, claim := range claims {
		if len(claim.Devices) > 0 {
			parts = append(parts, fmt.Sprintf("claim %s holds %s", claim.Name, devicesHeld(claim.Devices)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " Its " + strings.Join(parts, ", its ") + "."
}

// mostNamed bounds the devices that a sentence names.
const mostNamed = 4

func devicesHeld(devices []result.AllocatedDevice) string {
	var drivers []string
	named := map[string][]string{}
	for _, d := range devices {
		if !slices.Contains(drivers, d.Driver) {
			drivers = append(drivers, d.Driver)
		}
		named[d.Driver] = append(named[d.Driver], d.Device)
	}
	var parts []string
	for _, driver := range drivers {
		which := strings.Join(named[driver], ", ")
		if n := len(named[driver]); n > mostNamed {
			which = plural(n, "device")
		}
		parts = append(parts, which+" of "+driver)
	}
	return strings.Join(parts, " and ")
}

func lackSentence(short []DeviceShortage, together int) string {
	var said strings.Builder
	for _, s := range short {
		wants := plural(int(s.Count), "device")
		if s.Count == 0 {
			wants = "all devices"
		}
		var why []string
		if s.NoMatch > 0 {
			why = append(why, fmt.Sprintf("too few match on %d", s.NoMatch))
		}
		if s.InUse > 0 {
			why = append(why, fmt.Sprintf("others hold them on %d", s.InUse))
		}
		_, _ = fmt.Fprintf(&said, " Request %s of claim %s wants %s of class %s: %d of %s looked into cannot give that (%s).",
			s.Request, s.Claim, wants, s.DeviceClass, s.Nodes, plural(s.Compared, "node"), strings.Join(why, ", "))
	}
	if together > 0 {
		_, _ = fmt.Fprintf(&said, " On %s each request for devices could be met alone, but not all together.", plural(together, "node"))
	}
	return said.String()
}
