package ask

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/simulator/questions/why"
)

// PrintCapacity prints how many more of a pod fit. pod is its name, for people.
func PrintCapacity(w io.Writer, target Target, pod string, a *capacity.Answer, format Format) error {
	if format == JSON || format == YAML {
		return encode(w, a, format)
	}
	p := &printer{w: w}
	p.asked(target, a.State)
	if a.Complete {
		p.line("%d more of %s fit.", a.Fits, pod)
	} else {
		p.line("%d more of %s fit, and perhaps further ones: the count ended there.", a.Fits, pod)
	}
	if g := a.Group; g != nil && g.Minimum > 1 {
		p.line("%s", together(*g))
	}
	if n := a.NodesNeeded; n != nil {
		p.line("%s", needed(*n))
		for _, unknown := range n.NotCounted {
			p.line("%s", unknown)
		}
	}
	if len(a.Nodes) > 0 {
		p.table([]string{"NODE", "PODS"}, func(t table) {
			for _, n := range a.Nodes {
				t.row(n.Name, strconv.Itoa(n.Count))
			}
		})
	}
	var reasons []rejection
	for _, s := range a.Stopped {
		reasons = append(reasons, rejection{s.Plugin, s.Reason, s.Nodes})
	}
	p.rejections("The next one is rejected by:", reasons, format)
	if len(a.Resources) > 0 {
		p.line("\nThen there remains, over all nodes:")
		p.table([]string{"RESOURCE", "ALLOCATABLE", "REQUESTED", "FREE", "STRANDED"}, func(t table) {
			for _, r := range a.Resources {
				t.row(r.Name, quantity(r.Name, r.Allocatable), quantity(r.Name, r.Requested), quantity(r.Name, r.Free), quantity(r.Name, r.Stranded))
			}
		})
	}
	if a.Cost != nil {
		p.cost(*a.Cost)
	}
	p.notAsked(a.NotAsked, "")
	return p.err
}

// cost says what the nodes cost, by their labels.
func (p *printer) cost(c capacity.Cost) {
	p.line("\nThe nodes cost $%.4g an hour, of which $%.4g is for what no pod requests, and then $%.4g.", c.PerHour, c.UnusedPerHour, c.ThenUnusedPerHour)
	if c.PerPodHour != nil {
		p.line("One of the pods takes $%.4g an hour of the price of its node.", *c.PerPodHour)
	}
	if c.Unpriced > 0 {
		p.line("Left out: %s without a price.", why.Plural(c.Unpriced, "node"))
	}
}

// together says what the minimum of a group means for the count.
func together(g capacity.Group) string {
	switch {
	case g.Bound+g.Places < g.Minimum:
		return fmt.Sprintf("The PodGroup %s needs %d members before any of them runs, has %d, and there is room for %d more.", g.Name, g.Minimum, g.Bound, g.Places)
	case g.Bound >= g.Minimum:
		return fmt.Sprintf("The PodGroup %s has the %d members that it needs, so each of them may run.", g.Name, g.Minimum)
	default:
		return fmt.Sprintf("The PodGroup %s needs %d members: there is room for %s of that size.", g.Name, g.Minimum, why.Plural(g.Places/g.Minimum, "group"))
	}
}

func needed(n capacity.Needed) string {
	more := strings.Replace(why.Plural(n.Nodes, "node")+" like "+n.Like, " node", " more node", 1)
	switch {
	case n.Enough && n.Nodes == 0:
		return fmt.Sprintf("There is room for %d already.", n.For)
	case n.Enough && n.PricePerHour != nil:
		return fmt.Sprintf("With %s there is room for %d, for $%.4g more an hour.", more, n.For, float64(n.Nodes)**n.PricePerHour)
	case n.Enough:
		return fmt.Sprintf("With %s there is room for %d.", more, n.For)
	}
	said := fmt.Sprintf("With %s there is room for %d, not for %d", more, n.Fits, n.For)
	if n.Nodes == 0 {
		said = fmt.Sprintf("There is room for %d, not for %d", n.Fits, n.For)
	}
	switch {
	case n.Unknown:
		return said + ". Whether further nodes would help is not known."
	case len(n.Stopped) == 0:
		return said + ", and further ones would not help."
	}
	var by []string
	for _, s := range n.Stopped {
		by = append(by, strings.TrimSuffix(s.Plugin+": "+s.Reason, ": "))
	}
	return fmt.Sprintf("%s, and further ones would not help. One more is rejected by %s.", said, strings.Join(by, "; "))
}

// quantity writes an amount of a capacity.Resource as Kubernetes does.
func quantity(name string, amount int64) string {
	switch {
	case name == string(v1.ResourceCPU):
		return resource.NewMilliQuantity(amount, resource.DecimalSI).String()
	case name == string(v1.ResourceMemory), name == string(v1.ResourceEphemeralStorage), strings.HasPrefix(name, v1.ResourceHugePagesPrefix):
		return resource.NewQuantity(amount, resource.BinarySI).String()
	}
	return resource.NewQuantity(amount, resource.DecimalSI).String()
}
