package explain

import (
	"fmt"
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

// Compared says in English what a plugin compared when it rejected a node, a line for each value.
// It is empty when the cycle holds no comparison. The web renders the same lines from the same data;
// testdata/cells.json keeps the English of both the same.
func Compared(c *result.Cycle, node, plugin string) []string {
	if c.Filter == nil {
		return nil
	}
	for i := range c.Filter.Comparisons {
		if at := &c.Filter.Comparisons[i]; at.Node == node && at.Plugin == plugin {
			return comparedLines(c, at)
		}
	}
	return nil
}

// RejectedBy returns the nodes that a plugin rejected, with its reasons: those first of which the cycle
// holds a comparison, the nearest to fitting first, and the others by name.
func RejectedBy(c *result.Cycle, plugin string) []result.NodeReasons {
	var out []result.NodeReasons
	said := map[string]bool{}
	add := func(at int) {
		node := c.Filter.Nodes.At(at)
		verdict := c.Filter.Verdict(at)
		if r := verdict.Rejection(plugin); r != nil && !said[node] {
			said[node] = true
			out = append(out, result.NodeReasons{Node: node, Plugin: plugin, Reasons: r.Reasons, Status: r.Status})
		}
	}
	for i := range c.Filter.Comparisons {
		if at := c.Filter.Nodes.Index(c.Filter.Comparisons[i].Node); at >= 0 && c.Filter.Comparisons[i].Plugin == plugin {
			add(at)
		}
	}
	compared := len(out)
	for at := range c.Filter.Nodes.Len() {
		add(at)
	}
	slices.SortFunc(out[compared:], func(a, b result.NodeReasons) int { return strings.Compare(a.Node, b.Node) })
	return out
}

func comparedLines(c *result.Cycle, at *result.Comparison) []string {
	var out []string
	say := func(format string, values ...any) { out = append(out, sprintf(format, values...)) }
	for _, r := range at.Resources {
		say("%s", resourceLine(r))
	}
	if t := at.Taint; t != nil {
		if at.Plugin == nodeUnschedulable {
			say("Cordoned: the pod does not tolerate %s", taintText(*t))
		} else {
			say("Taint %s: not tolerated", taintText(*t))
		}
	}
	for _, t := range at.Terms {
		say("%s", termLine(at.Terms, t))
	}
	for i := range at.PodTerms {
		say("%s", podTermLine(&at.PodTerms[i]))
	}
	for i := range at.Spread {
		out = append(out, spreadLines(c, &at.Spread[i])...)
	}
	for _, p := range at.Ports {
		say("Host port %s: in use", portText(p))
	}
	for _, claim := range at.Claims {
		say("%s", claimLine(claim))
	}
	for _, d := range at.Devices {
		say("%s", deviceLine(d))
	}
	if len(at.Devices) > 0 && !slices.ContainsFunc(at.Devices, func(d result.DeviceComparison) bool { return !metBy(at.Devices, d) }) {
		say("Each request could be met alone, but not all of them together")
	}
	out = append(out, alignmentLines(at.Alignment)...)
	for _, l := range at.Limits {
		say("%s", limitLine(l))
	}
	for _, v := range at.Volumes {
		say("%s", volumeLine(v))
	}
	for _, f := range at.Features {
		say("%s: the node does not declare it", f.Name)
	}
	return out
}

// The plugins whose rejections have words of their own.
const (
	nodeUnschedulable = "NodeUnschedulable"
	taintToleration   = "TaintToleration"
	nodeAffinity      = "NodeAffinity"
	podTopologySpread = "PodTopologySpread"
)

func resourceLine(r result.ResourceComparison) string {
	if r.Name == "pods" {
		return sprintf("pods: %d of %d, no room for one more pod", r.InUse, r.Allocatable)
	}
	text := func(n int64) string { return amountOf(r.Name, n) }
	total := r.InUse + r.Requested
	return sprintf("%s: %s in use + %s requested = %s of %s, %s short", r.Name, text(r.InUse), text(r.Requested), text(total), text(r.Allocatable), text(total-r.Allocatable))
}

// taintText writes a taint as kubectl does.
func taintText(t result.Taint) string {
	out := t.Key
	if t.Value != "" {
		out += "=" + t.Value
	}
	if t.Effect != "" {
		out += ":" + t.Effect
	}
	return out
}

// requirementText writes a requirement as key In [a, b].
func requirementText(key, operator string, values []string) string {
	out := key + " " + operator
	if len(values) > 0 {
		out += " [" + strings.Join(values, ", ") + "]"
	}
	return out
}

// sources say where a requirement on a node comes from.
var sources = map[string]string{
	"nodeSelector": "Node selector", "nodeAffinity": "Node affinity", "addedAffinity": "Node affinity that the plugin’s arguments add",
	"nodeName": "spec.nodeName",
}

func termLine(all []result.TermComparison, t result.TermComparison) string {
	source := sources[t.Source]
	switch t.Source {
	case "volume":
		source = "Volume " + t.Volume
	case "storageClass":
		source = "Storage class of claim " + t.Claim
	case "claim":
		source = "Claim " + t.Claim
	}
	several := slices.ContainsFunc(all, func(other result.TermComparison) bool {
		return other.Source == t.Source && other.Claim == t.Claim && other.Term != t.Term
	})
	if several {
		source += sprintf(", alternative %d", t.Term+1)
	}
	switch {
	case t.Key == "":
		return source + ": an empty term, which no node meets"
	case t.Actual == nil:
		return sprintf("%s: %s, but the node has no label %s", source, requirementText(t.Key, t.Operator, t.Values), t.Key)
	}
	return sprintf("%s: %s, but the node has %s=%s", source, requirementText(t.Key, t.Operator, t.Values), t.Key, *t.Actual)
}

func podTermText(t *result.PodTermComparison) string {
	selector := t.Selector
	switch {
	case t.SelectsNone:
		selector = "no pod, as it has no labelSelector"
	case selector == "":
		selector = "every pod"
	}
	if t.NamespaceCount == 0 && t.NamespaceSelector == nil {
		return selector // in a record of an earlier version
	}
	return sprintf("%s (%s)", selector, namespacesText(t))
}

func namespacesText(t *result.PodTermComparison) string {
	listed := strings.Join(t.Namespaces, ", ")
	if more := t.NamespaceCount - len(t.Namespaces); more > 0 {
		listed += sprintf(", %d more", more)
	}
	switch s := t.NamespaceSelector; {
	case s != nil && *s == "":
		return "all namespaces"
	case s != nil && listed == "":
		return "namespaces with " + *s
	case s != nil:
		return sprintf("namespaces %s, and those with %s", listed, *s)
	case t.NamespaceCount == 1:
		return "namespace " + listed
	}
	return "namespaces " + listed
}

func podTermLine(t *result.PodTermComparison) string {
	domain := ""
	if t.Domain != nil {
		domain = t.TopologyKey + "=" + *t.Domain
	}
	switch {
	case t.Rule == "affinity" && t.Domain == nil:
		return sprintf("Affinity to %s: the node has no label %s", podTermText(t), t.TopologyKey)
	case t.Rule == "affinity":
		return sprintf("Affinity to %s: no pod in %s matches%s", podTermText(t), domain, matchText(t))
	case t.Rule == "antiAffinity" && t.Pod == nil:
		return sprintf("Anti-affinity to %s: a pod in %s matches", podTermText(t), domain)
	case t.Rule == "antiAffinity":
		return sprintf("Anti-affinity to %s: %s matches, in %s", podTermText(t), podOn(*t.Pod, t.PodNode), domain)
	case t.Pod == nil:
		return sprintf("Anti-affinity of a running pod: it matches this pod, in %s", domain)
	}
	return sprintf("Anti-affinity of %s to %s: it matches this pod, in %s", podOn(*t.Pod, t.PodNode), podTermText(t), domain)
}

func podOn(p result.Pod, node string) string {
	if node == "" {
		return podText(p) // in a record of an earlier version
	}
	return podText(p) + " on " + node
}

func podText(p result.Pod) string { return p.Namespace + "/" + p.Name }

// matchText says where pods are that match affinity, if none in the domain does.
func matchText(t *result.PodTermComparison) string {
	all := ""
	if t.Terms > 1 {
		all = sprintf(" all %d terms", t.Terms)
	}
	switch m := t.Match; {
	case t.NoneMatches && t.Terms > 1:
		return all + "; no pod on any node matches this one"
	case t.NoneMatches:
		return "; no pod on any node does"
	case m == nil:
		return all
	case !m.All:
		return sprintf("%s; %s on %s matches this one, but not all", all, podText(m.Pod), m.Node)
	case m.Domain == nil:
		return sprintf("%s; %s does, but %s has no label %s", all, podText(m.Pod), m.Node, t.TopologyKey)
	default:
		return sprintf("%s; %s on %s does, in %s=%s", all, podText(m.Pod), m.Node, t.TopologyKey, *m.Domain)
	}
}

func spreadLines(c *result.Cycle, s *result.SpreadComparison) []string {
	if s.Domain == nil {
		return []string{sprintf("The node has no label %s, so it belongs to no domain", s.TopologyKey)}
	}
	if s.NodeTaintsPolicy == "" { // a record of an earlier version
		return []string{sprintf("Matching pods in %s=%s: %d + %d for this pod − the minimum %d = %d; maxSkew is %d",
			s.TopologyKey, *s.Domain, s.Matching, s.Self, s.Minimum, s.Matching+s.Self-s.Minimum, s.MaxSkew)}
	}
	out := []string{
		sprintf("Pods in %s=%s that match %s: %d + %d for this pod − the minimum %d = %d; maxSkew is %d",
			s.TopologyKey, *s.Domain, s.Selector, s.Matching, s.Self, s.Minimum, s.Matching+s.Self-s.Minimum, s.MaxSkew),
	}
	if s.Here < s.Matching {
		out = append(out, sprintf("On other nodes than this one: %d of the %d", s.Matching-s.Here, s.Matching))
	}
	return append(append(out, minimumLine(s)), heldLines(c, s)...)
}

// minimumLine says where the minimum of a constraint comes from.
func minimumLine(s *result.SpreadComparison) string {
	switch {
	case s.Domains == 0:
		return "No domain is eligible, so the minimum counts as 0"
	case s.Domains < s.MinDomains && s.Domains == 1:
		return sprintf("1 domain is eligible, fewer than minDomains %d, so the minimum counts as 0", s.MinDomains)
	case s.Domains < s.MinDomains:
		return sprintf("%d domains are eligible, fewer than minDomains %d, so the minimum counts as 0", s.Domains, s.MinDomains)
	case s.FewestCount == 0:
		return sprintf("The domain with the fewest has %d", s.Minimum)
	}
	var domains []string
	for _, d := range s.Fewest {
		domains = append(domains, s.TopologyKey+"="+d.Name)
	}
	listed := strings.Join(domains, ", ")
	if more := s.FewestCount - len(s.Fewest); more > 0 {
		listed += sprintf(", %d more", more)
	}
	if s.FewestCount == 1 {
		return sprintf("%s has the fewest: %d", listed, s.Minimum)
	}
	return sprintf("%s have the fewest: %d", listed, s.Minimum)
}

// heldLines say why the pod cannot use the domains that have the minimum, if all their nodes are
// known to be rejected by other plugins.
func heldLines(c *result.Cycle, s *result.SpreadComparison) []string {
	if s.Domains < max(s.MinDomains, 1) || s.FewestCount != len(s.Fewest) {
		return nil
	}
	var out []string
	for _, d := range s.Fewest {
		by := holders(c, d)
		if by == nil {
			return nil
		}
		line := sprintf("%s=%s cannot take the pod: rejected by %s on %s", s.TopologyKey, d.Name, strings.Join(by, ", "), names(d.Nodes))
		switch only := by[0]; {
		case len(by) > 1:
		case only == taintToleration && s.NodeTaintsPolicy == "Ignore":
			line += "; it counts, because nodeTaintsPolicy is Ignore"
		case only == nodeAffinity && s.NodeAffinityPolicy == "Ignore":
			line += "; it counts, because nodeAffinityPolicy is Ignore"
		}
		out = append(out, line)
	}
	return out
}

// holders returns the plugins that reject all nodes of a domain, in the order of the nodes; nil unless others than
// PodTopologySpread reject all of them.
func holders(c *result.Cycle, d result.SpreadDomain) []string {
	if d.NodeCount == 0 || d.NodeCount != len(d.Nodes) {
		return nil
	}
	var by []string
	for _, node := range d.Nodes {
		at := c.Filter.Nodes.Index(node)
		if at < 0 {
			return nil
		}
		verdict := c.Filter.Verdict(at)
		if verdict.Plugin == "" || verdict.Plugin == podTopologySpread {
			return nil
		}
		if !slices.Contains(by, verdict.Plugin) {
			by = append(by, verdict.Plugin)
		}
	}
	return by
}

func portText(p result.Port) string {
	text := fmt.Sprintf("%d/%s", p.Port, p.Protocol)
	if p.HostIP != "" {
		text = p.HostIP + ":" + text
	}
	return text
}

func claimLine(c result.ClaimComparison) string {
	bytes := func(n int64) string { return amountOf("memory", n) }
	switch {
	case c.Missing:
		return sprintf("Claim %s: bound to %s, which does not exist", c.Claim, c.Volume)
	case !c.Provisionable:
		return sprintf("Claim %s, %s: no volume that the node can reach is left for it", c.Claim, bytes(c.Requested))
	case c.Largest == 0:
		return sprintf("Claim %s, %s: storage class %s has no capacity for it on the node", c.Claim, bytes(c.Requested), c.StorageClass)
	}
	return sprintf("Claim %s, %s: storage class %s can provision at most %s for the node", c.Claim, bytes(c.Requested), c.StorageClass, bytes(c.Largest))
}

func deviceLine(d result.DeviceComparison) string {
	request, wants := d.Resource, sprintf("%d", d.Count)
	if request == "" {
		request = d.Claim + "/" + d.Request
	}
	if d.Count == 0 {
		wants = "all that match"
	}
	line := sprintf("%s: wants %s; matching devices: %d, in use: %d", request, wants, d.Matching, d.MatchingInUse)
	if d.Blocked {
		line += "; enough are free, but they have taints, share counters or capacity with others, or their pool is incomplete"
	}
	return line
}

func alignmentLines(a *result.AlignmentComparison) []string {
	if a == nil {
		return nil
	}
	part := "The pod as a whole"
	if a.Container != "" {
		part = a.Role + " " + a.Container
	}
	out := []string{part + ": no NUMA node has all that it needs"}
	for _, z := range a.Zones {
		for _, s := range z.Short {
			if s.Absent {
				out = append(out, sprintf("NUMA node %s: has no %s", z.Zone, s.Resource))
			} else {
				out = append(out, sprintf("NUMA node %s: %s %s requested, %s available", z.Zone, amountOf(s.Resource, s.Requested), s.Resource, amountOf(s.Resource, s.Available)))
			}
		}
	}
	return out
}

func limitLine(l result.VolumeLimit) string {
	switch {
	case l.Missing:
		return l.Driver + ": the driver is not on the node"
	case l.Limit == nil:
		return sprintf("%s: volumes of this pod %d; the driver names no limit for the node", l.Driver, l.Requested)
	}
	return sprintf("%s: volumes attached %d + %d for this pod = %d; the limit is %d", l.Driver, l.InUse, l.Requested, l.InUse+l.Requested, *l.Limit)
}

func volumeLine(v result.ExclusiveVolume) string {
	name := v.Claim
	if name == "" {
		name = v.Volume
	}
	if v.Pod == nil {
		return name + ": in use by a pod on another node"
	}
	return sprintf("%s: in use by %s", name, podText(*v.Pod))
}
