package explain

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
)

// cellCase is an entry of testdata/cells.json: a node that a plugin rejected. The web's test reads the
// same file, renders the same English from the data, and the same values in Japanese.
type cellCase struct {
	Name   string   `json:"name"`
	Node   string   `json:"node"`
	Plugin string   `json:"plugin"`
	Cycle  cellData `json:"cycle"`
	// Compared, Removal and Verdict are what the functions of these names say.
	Compared []string `json:"compared"`
	Removal  []string `json:"removal"`
	Verdict  string   `json:"verdict,omitempty"`
}

// cellData is the part of a cycle from which the words follow.
type cellData struct {
	Filter     *result.Filter        `json:"filter"`
	PostFilter []result.PluginResult `json:"postFilter,omitempty"`
	Preemption *result.Preemption    `json:"preemption,omitempty"`
}

const cellCases = "testdata/cells.json"

// on is a node that a plugin rejected.
type on struct{ node, plugin, reason, status string }

// cellsOf returns a cycle in which plugins rejected nodes.
func cellsOf(comparisons []result.Comparison, nodes ...on) cellData {
	plugins := []string{"NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "PodTopologySpread", "InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures", "NodeResourceTopologyMatch"}
	b := result.NewFilterBuilder(plugins, len(nodes))
	var names []string
	for _, n := range nodes {
		names = append(names, n.node)
		states := make([]byte, len(plugins))
		for i, plugin := range plugins {
			states[i] = result.Passed
			if slices.Index(plugins, n.plugin) < i {
				states[i] = result.NotRun
			} else if plugin == n.plugin {
				states[i] = result.Rejected
			}
		}
		b.AddVerdict(string(states), result.PluginReasons{Plugin: n.plugin, Reasons: []string{n.reason}, Status: n.status})
	}
	f := b.Filter()
	f.Nodes, f.Comparisons = result.NewNodeList(names...), comparisons
	return cellData{Filter: f}
}

const unschedulableStatus = "Unschedulable"

// compares returns a cycle in which plugin rejected the node n1 because of what it compared.
func compares(plugin, status string, compared result.Comparison) cellData {
	compared.Node, compared.Plugin = "n1", plugin
	return cellsOf([]result.Comparison{compared}, on{"n1", plugin, "reason", status})
}

// tries adds preemption.
func (d cellData) tries(p *result.Preemption) cellData {
	d.Preemption, d.PostFilter = p, []result.PluginResult{{Plugin: "DefaultPreemption", Status: "Unschedulable"}}
	return d
}

func cells() []cellCase {
	pod := func(name string) *result.Pod { return &result.Pod{Namespace: "default", Name: name, UID: "u"} }
	zone := ptr.To("a")
	cpu := result.Comparison{Resources: []result.ResourceComparison{{Name: "cpu", Requested: 1000, InUse: 2000, Allocatable: 2000}}, WithoutPods: result.PassesWithoutPods}
	full := func() cellData { return compares("NodeResourcesFit", unschedulableStatus, cpu) }
	unhelpful := func(why result.NoVictims, plugin string, reasons ...string) *result.Preemption {
		return &result.Preemption{Candidates: []result.Candidate{}, Unhelpful: []result.UnhelpfulNodes{{Why: why, Status: Unresolvable, Plugin: plugin, Reasons: append([]string{}, reasons...), Nodes: []string{"n1"}}}}
	}
	candidate := func(of result.Candidate, chosen string, rule result.PreemptionRule) *result.Preemption {
		of.Node = "n1"
		return &result.Preemption{Candidates: []result.Candidate{of, {Node: "n9", Victims: []result.Victim{{}}}}, Chosen: chosen, Rule: rule}
	}
	spread := func(s result.SpreadComparison, held ...on) cellData {
		s.TopologyKey, s.Selector, s.MaxSkew, s.Self, s.NodeAffinityPolicy, s.NodeTaintsPolicy = "zone", "app=api", 1, 1, "Honor", "Ignore"
		s.Maximum = s.Matching
		return cellsOf([]result.Comparison{{Node: "n1", Plugin: "PodTopologySpread", Spread: []result.SpreadComparison{s}, WithoutPods: result.RejectsWithoutPods}},
			append([]on{{"n1", "PodTopologySpread", "node(s) didn't match pod topology spread constraints", unschedulableStatus}}, held...)...)
	}
	terms := func(all ...result.PodTermComparison) cellData {
		status := unschedulableStatus
		if all[0].Rule == "affinity" {
			status = Unresolvable
		}
		return compares("InterPodAffinity", status, result.Comparison{PodTerms: all, WithoutPods: result.RejectsWithoutPods})
	}
	own := result.PodTermComparison{TopologyKey: "zone", Domain: zone, Selector: "app=db", Namespaces: []string{"default"}, NamespaceCount: 1}
	affinity := func(change func(*result.PodTermComparison)) result.PodTermComparison {
		t := own
		t.Rule, t.Terms = "affinity", 1
		change(&t)
		return t
	}
	anti := func(change func(*result.PodTermComparison)) result.PodTermComparison {
		t := own
		t.Rule, t.Pod, t.PodNode = "antiAffinity", pod("db-0"), "n2"
		change(&t)
		return t
	}
	fewest := func(nodes ...string) []result.SpreadDomain {
		return []result.SpreadDomain{{Name: "c", Nodes: nodes, NodeCount: len(nodes)}}
	}
	tainted := on{"n3", "TaintToleration", "node(s) had untolerated taint(s)", Unresolvable}

	cases := []cellCase{
		{Name: "resources, and no pod has a lower priority", Plugin: "NodeResourcesFit", Cycle: full().tries(unhelpful(result.NobodyLower, "", "No preemption victims found for incoming pod"))},
		{Name: "resources, and no pod runs there", Plugin: "NodeResourcesFit", Cycle: compares("NodeResourcesFit", unschedulableStatus, result.Comparison{
			Resources: []result.ResourceComparison{{Name: "memory", Requested: 3 << 30, Allocatable: 2 << 30}, {Name: "pods", Requested: 1, InUse: 0, Allocatable: 0}}, WithoutPods: result.RejectsWithoutPods,
		}).tries(unhelpful(result.NoPods, ""))},
		{Name: "resources, and evicting is not enough", Plugin: "NodeResourcesFit", Cycle: full().tries(unhelpful(result.NotEnough, "NodeResourcesFit", "Insufficient cpu"))},
		{Name: "resources, and by the rule of quotas nobody may go", Plugin: "NodeResourcesFit", Cycle: full().tries(unhelpful(result.NobodyMay, "", "No victims found on node n1 for preemptor pod p"))},
		{Name: "resources, and the dry run failed", Plugin: "NodeResourcesFit", Cycle: full().tries(unhelpful(result.DryRunFailed, "", "no answer"))},
		{Name: "resources, and the pod never preempts", Plugin: "NodeResourcesFit", Cycle: full().tries(&result.Preemption{Candidates: []result.Candidate{}, Ineligible: result.NeverPreempts})},
		{Name: "resources, and victims terminate", Plugin: "NodeResourcesFit", Cycle: full().tries(&result.Preemption{Candidates: []result.Candidate{}, Ineligible: result.VictimsTerminating})},
		{Name: "resources, and the pod is not eligible", Plugin: "NodeResourcesFit", Cycle: full().tries(&result.Preemption{Candidates: []result.Candidate{}, Ineligible: result.IneligibleOtherwise})},
		{Name: "resources, and preemption makes room", Plugin: "NodeResourcesFit", Cycle: full().tries(candidate(result.Candidate{Victims: []result.Victim{{}, {}}, VictimsDropped: 3}, "n1", result.LowestHighestPriority))},
		{Name: "resources, and preemption could make room", Plugin: "NodeResourcesFit", Cycle: full().tries(candidate(result.Candidate{Victims: []result.Victim{{}}}, "n9", result.FewestVictims))},
		{Name: "resources, and an extender objects", Plugin: "NodeResourcesFit", Cycle: full().tries(candidate(result.Candidate{Victims: []result.Victim{{}}, RemovedBy: "x"}, "n9", ""))},
		{Name: "resources, and preemption chose nobody", Plugin: "NodeResourcesFit", Cycle: full().tries(candidate(result.Candidate{Victims: []result.Victim{{}}}, "", ""))},
		{Name: "resources, and the other candidate was surplus", Plugin: "NodeResourcesFit", Cycle: full().tries(candidate(result.Candidate{Victims: []result.Victim{{}}, Surplus: true}, "n9", ""))},
		{Name: "resources, and there were enough candidates", Plugin: "NodeResourcesFit", Cycle: full().tries(&result.Preemption{Candidates: []result.Candidate{{Node: "n9", Victims: []result.Victim{{}}}}, Chosen: "n9"})},
		{Name: "no room for a pod", Plugin: "NodeResourcesFit", Cycle: compares("NodeResourcesFit", unschedulableStatus, result.Comparison{
			Resources: []result.ResourceComparison{{Name: "pods", Requested: 1, InUse: 3, Allocatable: 3}}, WithoutPods: result.PassesWithoutPods,
		})},
		{Name: "without a comparison", Plugin: "NodeResourcesFit", Cycle: cellsOf(nil, on{"n1", "NodeResourcesFit", "Insufficient cpu", unschedulableStatus})},

		{Name: "a taint", Plugin: "TaintToleration", Cycle: compares("TaintToleration", Unresolvable, result.Comparison{Taint: &result.Taint{Key: "dedicated", Value: "gpu", Effect: "NoSchedule"}, WithoutPods: result.RejectsWithoutPods}).tries(nil)},
		{Name: "a cordon", Plugin: "NodeUnschedulable", Cycle: compares("NodeUnschedulable", Unresolvable, result.Comparison{Taint: &result.Taint{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"}, WithoutPods: result.RejectsWithoutPods})},
		{Name: "requirements on labels", Plugin: "NodeAffinity", Cycle: compares("NodeAffinity", Unresolvable, result.Comparison{Terms: []result.TermComparison{
			{Source: "nodeSelector", Key: "disk", Operator: "In", Values: []string{"ssd"}, Actual: ptr.To("hdd")}, {Source: "addedAffinity", Key: "pool", Operator: "Exists"},
			{Source: "nodeAffinity", Key: "zone", Operator: "In", Values: []string{"b", "c"}, Actual: zone}, {Source: "nodeAffinity", Term: 1},
		}})},
		{Name: "requirements of volumes", Plugin: "VolumeBinding", Cycle: compares("VolumeBinding", Unresolvable, result.Comparison{Terms: []result.TermComparison{
			{Source: "volume", Volume: "pv-1", Claim: "data", Key: "zone", Operator: "In", Values: []string{"b"}, Actual: zone},
			{Source: "storageClass", Claim: "logs", Key: "zone", Operator: "In", Values: []string{"b"}, Actual: zone}, {Source: "claim", Claim: "gpu", Key: "metadata.name", Operator: "In", Values: []string{"n2"}, Actual: ptr.To("n1")},
		}})},
		{Name: "claims", Plugin: "VolumeBinding", Cycle: compares("VolumeBinding", Unresolvable, result.Comparison{Claims: []result.ClaimComparison{
			{Claim: "gone", Volume: "pv-9", Bound: true, Missing: true}, {Claim: "data", StorageClass: "local", Requested: 10 << 30},
			{Claim: "big", StorageClass: "csi", Requested: 10 << 30, Provisionable: true, Largest: 4 << 30}, {Claim: "bigger", StorageClass: "csi", Requested: 10 << 30, Provisionable: true},
		}})},
		{Name: "ports", Plugin: "NodePorts", Cycle: compares("NodePorts", unschedulableStatus, result.Comparison{Ports: []result.Port{{Protocol: "TCP", Port: 8080}, {Protocol: "UDP", HostIP: "10.0.0.1", Port: 53}}, WithoutPods: result.PassesWithoutPods})},
		{Name: "limits", Plugin: "NodeVolumeLimits", Cycle: compares("NodeVolumeLimits", unschedulableStatus, result.Comparison{Limits: []result.VolumeLimit{
			{Driver: "csi.example.com", InUse: 1, Requested: 1, Limit: ptr.To[int32](1)}, {Driver: "nfs.example.com", Missing: true}, {Driver: "any.example.com", Requested: 2},
		}})},
		{Name: "volumes", Plugin: "VolumeRestrictions", Cycle: compares("VolumeRestrictions", unschedulableStatus, result.Comparison{Volumes: []result.ExclusiveVolume{
			{Volume: "data", Claim: "once", InUse: true, Pod: pod("db-0")}, {Volume: "logs", Claim: "twice", InUse: true}, {Volume: "disk", InUse: true, Pod: pod("db-1")},
		}})},
		{Name: "features", Plugin: "NodeDeclaredFeatures", Cycle: compares("NodeDeclaredFeatures", Unresolvable, result.Comparison{Features: []result.FeatureComparison{{Name: "UserNamespaces"}}})},
		{Name: "devices in use", Plugin: "DynamicResources", Cycle: compares("DynamicResources", Unresolvable, result.Comparison{Devices: []result.DeviceComparison{
			{Claim: "card", Request: "one", DeviceClass: "card", Count: 1, Matching: 1, MatchingInUse: 1}, {Resource: "example.com/gpu", Count: 0, Matching: 2},
		}}).tries(nil)},
		{Name: "devices blocked", Plugin: "DynamicResources", Cycle: compares("DynamicResources", Unresolvable, result.Comparison{Devices: []result.DeviceComparison{{Claim: "card", Request: "one", Count: 1, Matching: 1, Blocked: true}}})},
		{Name: "devices not together", Plugin: "DynamicResources", Cycle: compares("DynamicResources", Unresolvable, result.Comparison{Devices: []result.DeviceComparison{
			{Claim: "card", Request: "one", Count: 1, Matching: 1}, {Claim: "card", Request: "other", Count: 1, Matching: 1},
		}})},
		{Name: "alignment of a pod", Plugin: "NodeResourceTopologyMatch", Cycle: compares("NodeResourceTopologyMatch", unschedulableStatus, result.Comparison{Alignment: &result.AlignmentComparison{Role: "pod", Zones: []result.ZoneComparison{
			{Zone: "0", Short: []result.ZoneShortage{{Resource: "cpu", Requested: 2000, Available: 500}}}, {Zone: "1", Short: []result.ZoneShortage{{Resource: "gpu", Requested: 1, Absent: true}}},
		}}})},
		{Name: "alignment of a container", Plugin: "NodeResourceTopologyMatch", Cycle: compares("NodeResourceTopologyMatch", unschedulableStatus, result.Comparison{Alignment: &result.AlignmentComparison{Role: "sidecar container", Container: "main", Zones: []result.ZoneComparison{}}})},

		{Name: "spread: fewer domains than minDomains", Plugin: "PodTopologySpread", Cycle: spread(result.SpreadComparison{Domain: zone, Matching: 1, Here: 1, Domains: 2, MinDomains: 3, Fewest: fewest("n1"), FewestCount: 1})},
		{Name: "spread: one domain", Plugin: "PodTopologySpread", Cycle: spread(result.SpreadComparison{Domain: zone, Matching: 1, Here: 1, Domains: 1, MinDomains: 3})},
		{Name: "spread: no domain", Plugin: "PodTopologySpread", Cycle: spread(result.SpreadComparison{Domain: zone, Matching: 1, Here: 1})},
		{Name: "spread: a tainted domain has the fewest", Plugin: "PodTopologySpread", Cycle: spread(result.SpreadComparison{Domain: zone, Matching: 3, Here: 1, Domains: 3, Fewest: fewest("n3"), FewestCount: 1}, tainted)},
		{Name: "spread: two plugins keep the pod out of the domain with the fewest", Plugin: "PodTopologySpread", Cycle: spread(result.SpreadComparison{Domain: zone, Matching: 2, Here: 2, Domains: 3, Fewest: fewest("n3", "n4"), FewestCount: 1}, tainted, on{"n4", "NodeResourcesFit", "Insufficient cpu", unschedulableStatus})},
		{Name: "spread: a node of the domain with the fewest is not known to be rejected", Plugin: "PodTopologySpread", Cycle: spread(result.SpreadComparison{Domain: zone, Matching: 2, Here: 2, Domains: 3, Fewest: fewest("n3", "n4"), FewestCount: 1}, tainted)},
		{Name: "spread: many domains have the fewest", Plugin: "PodTopologySpread", Cycle: spread(result.SpreadComparison{Domain: zone, Matching: 2, Here: 2, Minimum: 1, Domains: 9, FewestCount: 5, Fewest: []result.SpreadDomain{{Name: "b"}, {Name: "c"}, {Name: "d"}}})},
		{Name: "spread: the minimum lags behind", Plugin: "PodTopologySpread", Cycle: spread(result.SpreadComparison{Domain: zone, Matching: 2, Here: 2, Domains: 3})},
		{Name: "spread, in an earlier version", Plugin: "PodTopologySpread", Cycle: compares("PodTopologySpread", "", result.Comparison{Spread: []result.SpreadComparison{{TopologyKey: "zone", Domain: zone, Matching: 2, Self: 1, MaxSkew: 1}}})},
		{Name: "anti-affinity, in an earlier version", Plugin: "InterPodAffinity", Cycle: compares("InterPodAffinity", "", result.Comparison{PodTerms: []result.PodTermComparison{{Rule: "antiAffinity", TopologyKey: "zone", Domain: zone, Selector: "app=db", Pod: pod("db-0")}}})},
		{Name: "spread: no label", Plugin: "PodTopologySpread", Cycle: spread(result.SpreadComparison{Domains: 3})},

		{Name: "affinity that nobody matches", Plugin: "InterPodAffinity", Cycle: terms(affinity(func(t *result.PodTermComparison) { t.NoneMatches = true }), affinity(func(t *result.PodTermComparison) { t.NoneMatches, t.Terms = true, 2 })).tries(nil)},
		{Name: "affinity that others match", Plugin: "InterPodAffinity", Cycle: terms(
			affinity(func(t *result.PodTermComparison) {
				t.Match = &result.PodMatch{Pod: *pod("db-0"), Node: "n2", Domain: ptr.To("b"), All: true}
			}),
			affinity(func(t *result.PodTermComparison) {
				t.Match, t.Terms = &result.PodMatch{Pod: *pod("db-0"), Node: "n2", All: true}, 2
			}),
			affinity(func(t *result.PodTermComparison) {
				t.Match, t.Terms = &result.PodMatch{Pod: *pod("db-0"), Node: "n2", Domain: zone}, 2
			}),
			affinity(func(t *result.PodTermComparison) { t.Terms = 3 }),
			affinity(func(t *result.PodTermComparison) { t.Domain = nil }),
		)},
		{Name: "the namespaces of terms", Plugin: "InterPodAffinity", Cycle: terms(
			anti(func(t *result.PodTermComparison) { t.Namespaces, t.NamespaceCount = []string{"team-x", "team-y"}, 2 }),
			anti(func(t *result.PodTermComparison) { t.Namespaces, t.NamespaceCount = []string{"team-x", "team-y"}, 12 }),
			anti(func(t *result.PodTermComparison) {
				t.Namespaces, t.NamespaceCount, t.NamespaceSelector = nil, 0, ptr.To("team=y")
			}),
			anti(func(t *result.PodTermComparison) { t.NamespaceSelector = ptr.To("team=y") }),
			anti(func(t *result.PodTermComparison) {
				t.Namespaces, t.NamespaceCount, t.NamespaceSelector, t.Selector = nil, 0, ptr.To(""), ""
			}),
		)},
		{Name: "anti-affinity", Plugin: "InterPodAffinity", Cycle: terms(
			anti(func(t *result.PodTermComparison) { t.Pod, t.PodNode = nil, "" }),
			anti(func(t *result.PodTermComparison) { t.Rule = "existingAntiAffinity" }),
			anti(func(t *result.PodTermComparison) {
				t.Rule, t.Pod, t.PodNode, t.Selector, t.Namespaces, t.NamespaceCount = "existingAntiAffinity", nil, "", "", nil, 0
			}),
			affinity(func(t *result.PodTermComparison) { t.Selector, t.SelectsNone, t.NoneMatches = "", true, true }),
		)},
	}
	for _, rule := range []result.PreemptionRule{result.FewestPDBViolations, result.LowestSumOfPriorities, result.LatestEarliestStartTime, result.FirstFound} {
		cases = append(cases, cellCase{Name: "the rule " + string(rule), Plugin: "NodeResourcesFit", Cycle: full().tries(candidate(result.Candidate{Victims: []result.Victim{{}}}, "n1", rule))})
	}
	for i := range cases {
		of := &cases[i]
		of.Node = "n1"
		c := of.Cycle.cycle()
		of.Compared, of.Removal, of.Verdict = Compared(c, of.Node, of.Plugin), Removal(c, of.Node, of.Plugin), PreemptionVerdict(c)
	}
	return cases
}

func (d cellData) cycle() *result.Cycle {
	return &result.Cycle{Filter: d.Filter, PostFilter: d.PostFilter, Preemption: d.Preemption}
}

// After an intended change, run with -update and review the difference.
func TestTheWordsForRejectedNodes(t *testing.T) {
	agreesWithFile(t, cellCases, cells(), " ")
}

// The words follow from the data that the API sends.
func TestTheWordsForRejectedNodesFollowFromTheData(t *testing.T) {
	document, err := os.ReadFile(cellCases)
	if err != nil {
		t.Fatal(err)
	}
	var cases []cellCase
	if err := json.Unmarshal(document, &cases); err != nil {
		t.Fatal(err)
	}
	for _, of := range cases {
		c := of.Cycle.cycle()
		got := cellCase{Compared: Compared(c, of.Node, of.Plugin), Removal: Removal(c, of.Node, of.Plugin), Verdict: PreemptionVerdict(c)}
		if diff := cmp.Diff(cellCase{Compared: of.Compared, Removal: of.Removal, Verdict: of.Verdict}, got); diff != "" {
			t.Errorf("%s: %s", of.Name, diff)
		}
	}
}

func TestNodesThatAPluginRejectedAreListedNearestFirst(t *testing.T) {
	d := cellsOf([]result.Comparison{{Node: "n2", Plugin: "NodeResourcesFit"}},
		on{"n3", "NodeResourcesFit", "", ""}, on{"n1", "NodeResourcesFit", "", ""}, on{"n2", "NodeResourcesFit", "", ""}, on{"n0", "NodePorts", "", ""})
	var got []string
	for _, r := range RejectedBy(d.cycle(), "NodeResourcesFit") {
		got = append(got, r.Node)
	}
	if diff := cmp.Diff([]string{"n2", "n1", "n3"}, got); diff != "" {
		t.Error(diff)
	}
}
