package report

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"kube-scheduler-simulator/simulator/autoscaling/stepwise"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// mostEvents bounds the events that a table has.
const mostEvents = 40

// writeAutoscaling writes what the autoscaler did: what it came to, and when and why nodes came and went.
func writeAutoscaling(b *bytes.Buffer, r *scenario.Result) {
	a := r.Autoscaling
	if a == nil {
		return
	}
	fmt.Fprintf(b, "  autoscaler: %s (%s)\n", autoscaled(r), r.Title())
	for i, e := range a.Events {
		if i == mostEvents {
			fmt.Fprintf(b, "    … and %d more events\n", len(a.Events)-i+a.Omitted)
			break
		}
		fmt.Fprintf(b, "    %s  %s\n", clock(e.AtSeconds), eventText(e))
	}
	for _, u := range a.Unhelped {
		fmt.Fprintf(b, "    %s waits: %s\n", u.Pod, u.Reason)
	}
}

// autoscaled says what an autoscaler came to, in one line.
func autoscaled(r *scenario.Result) string {
	a := r.Autoscaling
	parts := []string{scenario.Plural(a.Bought, "node") + " bought", fmt.Sprintf("%d removed", a.Removed), fmt.Sprintf("%d at most", r.Metrics.MostNodes)}
	if c := r.Metrics.Cost; c != nil {
		parts = append(parts, fmt.Sprintf("cost $%.4f, $%.4f of it unused, by %s", *c, *r.Metrics.UnusedCost, a.Prices.From))
	}
	if a.Evicted > 0 {
		parts = append(parts, fmt.Sprintf("%s evicted, %d of them for good", scenario.Plural(a.Evicted, "pod"), a.Lost))
	}
	if n := len(a.Unhelped); n > 0 {
		parts = append(parts, scenario.Plural(n, "pod")+" without help")
	}
	return strings.Join(parts, ", ")
}

func eventText(e stepwise.Event) string {
	switch e.Kind {
	case stepwise.Bought:
		text := fmt.Sprintf("bought %s: %s in %s, %s, $%.4f an hour", e.Node, e.Offer.InstanceType, e.Offer.Zone, e.Offer.CapacityType, e.Offer.PricePerHour)
		if len(e.Replaces) > 0 {
			return text + ", instead of " + strings.Join(e.Replaces, ", ")
		}
		return text + " for " + some(e)
	case stepwise.Joined:
		return e.Node + " is ready"
	case stepwise.Removing:
		text := "removes " + e.Node + ": " + e.Reason
		if e.SavesPerHour != 0 {
			text += fmt.Sprintf(", saves $%.4f an hour", e.SavesPerHour)
		}
		return text
	case stepwise.Removed:
		return e.Node + " has gone: " + e.Reason
	case stepwise.Kept:
		return "keeps " + e.Node + ": " + e.Reason
	case stepwise.Blocked:
		return "cannot drain " + e.Node + ": " + e.Reason
	}
	return cmp.Or(some(e), e.Node) + " gets no node: " + e.Reason
}

// some names the pods of an event.
func some(e stepwise.Event) string {
	text := strings.Join(e.Pods, ", ")
	if more := e.PodCount - len(e.Pods); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
