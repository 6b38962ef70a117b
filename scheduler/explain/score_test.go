package explain

import (
	"testing"

	"kube-scheduler-simulator/scheduler/result"
)

// scoreCase is an entry of testdata/scores.json. The web's test reads the same file,
// computes the same cells from the score, and renders the same English.
type scoreCase struct {
	Name   string          `json:"name"`
	Score  *result.Score   `json:"score"`
	Plugin string          `json:"plugin"`
	Cells  []explainedCell `json:"cells"`
}

type explainedCell struct {
	Node string    `json:"node"`
	Cell ScoreCell `json:"cell"`
	// Text is the English of all steps.
	Text []string `json:"text"`
}

const scoreCases = "testdata/scores.json"

// scoring is a column of a score table, a value for each of the nodes a, b, c, ….
type scoring struct {
	name       string
	rule       result.Normalization
	facts      result.PluginScoreFacts
	raw        []int64
	normalized []int64
	// kept is how many of the nodes have facts; 0 means all.
	kept int
	// silent: there are no facts at all.
	silent bool
}

func (s scoring) score() *result.Score {
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}[:len(s.raw)]
	out := &result.Score{
		Plugins: []result.ScorePlugin{{Name: "Plugin", Weight: 2, Normalization: s.rule}}, Nodes: result.NewNodeList(names...),
		Raw: []result.Column{result.NewColumn(s.raw)}, Normalized: []result.Column{result.NewColumn(s.normalized)},
	}
	var weighted []int64
	for _, n := range s.normalized {
		weighted = append(weighted, 2*n)
	}
	out.Totals = result.NewColumn(weighted)
	out.Weighted = []result.Column{out.Totals}
	if !s.silent {
		s.facts.Plugin = "Plugin"
		out.Facts = &result.ScoreFacts{Nodes: names, Plugins: []result.PluginScoreFacts{s.facts}}
		if s.kept > 0 {
			out.Facts.Nodes = names[:s.kept]
		}
	}
	return out
}

const gi = 1 << 30

// scorings are examples of every plugin and every kind of step.
func scorings() []scoring {
	text := func(s string) *string { return &s }
	cpu := result.ScoredResource{Name: "cpu", Weight: 1, Requested: 1500, InUse: []int64{3000, 15_000, 0, 0}, Allocatable: []int64{16_000, 16_000, 0, 16_000}}
	memory := result.ScoredResource{Name: "memory", Weight: 1, Requested: 3 * gi, InUse: []int64{16 * gi, 2 * gi, 0, gi}, Allocatable: []int64{64 * gi, 64 * gi, 0, 4 * gi}}
	unasked := cpu
	unasked.Requested, unasked.Own, unasked.OwnContainers = 1600, 200, 2
	many := result.ScoreDefaults{Amount: 700, Containers: 7, PodsDropped: 1, Described: 2300}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		many.Pods = append(many.Pods, result.Pod{Namespace: "default", Name: name})
	}
	unasked.Defaults = []*result.ScoreDefaults{&many, {Amount: 600, Containers: 6, Pods: []result.Pod{{Namespace: "default", Name: "free"}}, Described: 14_400}, nil, nil}
	gpu := result.ScoredResource{Name: "example.com/gpu", Weight: 3, InUse: []int64{0, 0, 0, 0}, Allocatable: []int64{0, 0, 0, 0}}
	heavy := memory
	heavy.Weight = 3
	shape := []result.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 50, Score: 90}, {Utilization: 100, Score: 20}}
	falling := []result.ShapePoint{{Utilization: 20, Score: 100}, {Utilization: 30, Score: 0}}
	resources := func(strategy string, shape []result.ShapePoint, of ...result.ScoredResource) result.PluginScoreFacts {
		return result.PluginScoreFacts{Resources: &result.ResourceScore{Strategy: strategy, Shape: shape, Resources: of}}
	}
	zone := []*string{text("z1"), text("z2"), nil}
	host := []*string{text("a"), text("b"), text("c")}
	return []scoring{
		{name: "least", rule: result.NotNormalized, facts: resources(result.LeastAllocated, nil, cpu, memory, gpu), raw: []int64{70, 46, 0, 45}, normalized: []int64{70, 46, 0, 45}},
		{name: "least, containers without requests", rule: result.NotNormalized, facts: resources(result.LeastAllocated, nil, unasked), raw: []int64{71, 0, 0, 90}, normalized: []int64{71, 0, 0, 90}},
		{name: "least, weighted", rule: result.NotNormalized, facts: resources(result.LeastAllocated, nil, cpu, heavy), raw: []int64{70, 69, 0, 22}, normalized: []int64{70, 69, 0, 22}},
		{name: "most", rule: result.NotNormalized, facts: resources(result.MostAllocated, nil, cpu, memory), raw: []int64{28, 53, 0, 54}, normalized: []int64{28, 53, 0, 54}},
		{name: "ratio", rule: result.NotNormalized, facts: resources(result.RequestedToCapacityRatio, shape, cpu, memory), raw: []int64{51, 16, 0, 18}, normalized: []int64{51, 16, 0, 18}},
		{name: "ratio, weighted", rule: result.NotNormalized, facts: resources(result.RequestedToCapacityRatio, shape, cpu, heavy), raw: []int64{52, 14, 0, 19}, normalized: []int64{52, 14, 0, 19}},
		{name: "ratio that falls to 0", rule: result.NotNormalized, facts: resources(result.RequestedToCapacityRatio, falling, cpu, memory), raw: []int64{15, 100, 0, 100}, normalized: []int64{15, 100, 0, 100}},
		{name: "balance", rule: result.NotNormalized, facts: resources(result.BalancedAllocation, nil, cpu, memory, gpu), raw: []int64{76, 74, 75, 58}, normalized: []int64{76, 74, 75, 58}},
		{name: "balance of three", rule: result.NotNormalized, facts: resources(result.BalancedAllocation, nil, cpu, memory,
			result.ScoredResource{Name: "ephemeral-storage", Weight: 1, Requested: gi, InUse: []int64{gi, 0, 0, 5 * gi}, Allocatable: []int64{10 * gi, 10 * gi, 0, 10 * gi}}), raw: []int64{76, 75, 75, 66}, normalized: []int64{76, 75, 75, 66}},
		{name: "images", rule: result.NotNormalized, facts: result.PluginScoreFacts{Images: &result.ImageScore{Containers: 3, ClusterNodes: 12, Images: []result.ScoredImage{
			{Name: "web:1", Times: 1, Size: []int64{760 << 20, 760 << 20, 0, 9 * gi}, Nodes: []int64{7, 7, 0, 12}},
			{Name: "sidecar:2", Times: 2, Size: []int64{200 << 20, 0, 0, 0}, Nodes: []int64{3, 0, 0, 0}},
			{Name: "tiny:3", Times: 1, Size: []int64{0, 0, 1 << 20, 0}, Nodes: []int64{0, 0, 1, 0}},
		}}}, raw: []int64{17, 14, 0, 100}, normalized: []int64{17, 14, 0, 100}},
		{name: "no images", rule: result.NotNormalized, facts: result.PluginScoreFacts{Images: &result.ImageScore{Containers: 1, ClusterNodes: 2, Images: []result.ScoredImage{}}}, raw: []int64{0, 0}, normalized: []int64{0, 0}},
		{name: "preferences", rule: result.HighestIs100, facts: result.PluginScoreFacts{Preferences: &result.PreferenceScore{Terms: []result.Preference{
			{Source: "nodeAffinity", Weight: 80, Requirements: []result.Requirement{{Key: "disk", Operator: "In", Values: []string{"ssd", "nvme"}}, {Key: "old", Operator: "DoesNotExist"}}, Met: []bool{true, true, false}},
			{Source: "addedAffinity", Weight: 20, Requirements: []result.Requirement{{Key: "zone", Operator: "Exists"}}, Met: []bool{true, false, false}},
		}}}, raw: []int64{100, 80, 0}, normalized: []int64{100, 80, 0}},
		{name: "preferences that no node meets", rule: result.HighestIs100, silent: true, raw: []int64{0, 0}, normalized: []int64{0, 0}},
		{name: "taints", rule: result.LowestIs100, facts: result.PluginScoreFacts{Taints: &result.TaintScore{Taints: []result.ScoredTaint{
			{Key: "spot", Value: "yes", On: []bool{true, true, false}}, {Key: "old", On: []bool{false, true, false}},
		}}}, raw: []int64{1, 2, 0}, normalized: []int64{50, 0, 100}},
		{name: "no taints", rule: result.LowestIs100, silent: true, raw: []int64{0, 0}, normalized: []int64{100, 100}},
		{name: "spread by defaults", rule: result.SpreadTo100, kept: 3, facts: result.PluginScoreFacts{Spread: &result.SpreadScore{Source: "system", Lowest: 2, Highest: 12, Constraints: []result.ScoredConstraint{
			{TopologyKey: "kubernetes.io/hostname", MaxSkew: 3, Selector: "app=web", Domains: 4, Domain: host, Matching: []int64{0, 1, 0}},
			{TopologyKey: "topology.kubernetes.io/zone", MaxSkew: 5, Selector: "app=web", Domains: 2, Domain: zone, Matching: []int64{0, 3, 0}},
		}}}, raw: []int64{6, 12, 2, 4}, normalized: []int64{66, 16, 100, 83}},
		{name: "spread with ignored nodes", rule: result.SpreadTo100, kept: 3, facts: result.PluginScoreFacts{Spread: &result.SpreadScore{Source: "default", Lowest: 3, Highest: 4, Ignored: []bool{false, false, true}, Constraints: []result.ScoredConstraint{
			{TopologyKey: "topology.kubernetes.io/zone", MaxSkew: 1, Selector: "app=web", Domains: 2, Domain: zone, Matching: []int64{2, 3, 0}},
		}}}, raw: []int64{3, 4, 0, 0}, normalized: []int64{100, 75, 0, 0}},
		{name: "spread of nothing", rule: result.SpreadTo100, facts: result.PluginScoreFacts{Spread: &result.SpreadScore{Source: "pod", Constraints: []result.ScoredConstraint{
			{TopologyKey: "topology.kubernetes.io/zone", MaxSkew: 1, Selector: "app=web", Domains: 2, Domain: zone[:2], Matching: []int64{0, 0}},
		}}}, raw: []int64{0, 0}, normalized: []int64{100, 100}},
		{name: "pod affinity", rule: result.RangeTo100, facts: result.PluginScoreFacts{PodTerms: &result.PodTermScore{HardWeight: 1, Domains: []result.ScoredDomain{
			{TopologyKey: "kubernetes.io/hostname", Domain: host, Sum: []int64{-50, 0, 0}}, {TopologyKey: "topology.kubernetes.io/zone", Domain: zone, Sum: []int64{200, 11, 0}},
		}, Terms: []result.ScoredPodTerm{
			{Rule: result.Preferred, TopologyKey: "topology.kubernetes.io/zone", Weight: 100, Selector: "app=cache", Pods: []int64{2, 0, 0}},
			{Rule: result.Preferred, TopologyKey: "kubernetes.io/hostname", Weight: -50, Selector: "app=etl", Pods: []int64{1, 0, 0}},
			{Rule: result.ExistingPreferred, TopologyKey: "topology.kubernetes.io/zone", Weight: 30, Selector: "app=web", Pods: []int64{0, 1, 0}},
			{Rule: result.ExistingPreferred, TopologyKey: "topology.kubernetes.io/zone", Weight: -20, Selector: "app=web", Pods: []int64{0, 1, 0}},
			{Rule: result.ExistingRequired, TopologyKey: "topology.kubernetes.io/zone", Weight: 1, Selector: "app=web", Pods: []int64{0, 1, 0}},
		}}}, raw: []int64{150, 11, 0}, normalized: []int64{100, 7, 0}},
		{name: "pod affinity, sums only", rule: result.RangeTo100, facts: result.PluginScoreFacts{PodTerms: &result.PodTermScore{Domains: []result.ScoredDomain{
			{TopologyKey: "topology.kubernetes.io/zone", Domain: zone, Sum: []int64{-100, 29, 0}},
		}}}, raw: []int64{-100, 29, 0}, normalized: []int64{0, 100, 77}},
		{name: "pod affinity, fractions cut off", rule: result.RangeTo100, silent: true, raw: []int64{0, 29, 100}, normalized: []int64{0, 28, 100}},
		{name: "pod affinity, all the same", rule: result.RangeTo100, silent: true, raw: []int64{-7, -7}, normalized: []int64{0, 0}},
		{name: "volumes", rule: result.NotNormalized, facts: result.PluginScoreFacts{Volumes: &result.VolumeScore{Shape: shape, Classes: []result.ScoredClass{
			{StorageClass: "fast", Requested: []int64{5 * gi, 12 * gi, 0}, Capacity: []int64{20 * gi, 10 * gi, 0}}, {StorageClass: "slow", Requested: []int64{gi, 0, 0}, Capacity: []int64{4 * gi, 0, 0}},
		}}}, raw: []int64{45, 20, 0}, normalized: []int64{45, 20, 0}},
		{name: "devices", rule: result.HighestIs100, facts: result.PluginScoreFacts{Devices: &result.DeviceScore{Requests: []result.ScoredRequest{
			{Claim: "gpu", Request: "card", Alternatives: []string{"large", "small"}, Chosen: []int64{0, 1, -1}},
		}}}, raw: []int64{8, 7, 0}, normalized: []int64{100, 87, 0}},
		{name: "no devices", rule: result.HighestIs100, facts: result.PluginScoreFacts{Devices: &result.DeviceScore{Requests: []result.ScoredRequest{}}}, raw: []int64{0, 0}, normalized: []int64{0, 0}},
		{name: "own rule", rule: result.OwnNormalization, silent: true, raw: []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, normalized: []int64{9, 8, 7, 6, 5, 4, 3, 2, 1}},
		{name: "an old record", silent: true, raw: []int64{1, 2}, normalized: []int64{50, 100}},
	}
}

// The scores of the cases are what the arithmetic leads to, except where the plugin's
// rule is not known.
func TestScoresFollowFromTheCases(t *testing.T) {
	for _, s := range scorings() {
		score := s.score()
		for row, node := range score.Nodes.All() {
			cell, ok := Score(score, "Plugin", node)
			if !ok {
				t.Fatalf("%s: %s is not explained", s.name, node)
			}
			if cell.Raw != nil && *cell.Raw != s.raw[row] {
				t.Errorf("%s: the raw score of %s is %d, not %d: %v", s.name, node, *cell.Raw, s.raw[row], cell.Arithmetic)
			}
			if cell.Normalized != nil && *cell.Normalized != s.normalized[row] {
				t.Errorf("%s: the score of %s is normalized to %d, not %d: %v", s.name, node, *cell.Normalized, s.normalized[row], cell.Normalization)
			}
		}
	}
	if _, ok := Score(scorings()[0].score(), "Plugin", "elsewhere"); ok {
		t.Error("a node that was not scored is explained")
	}
	if _, ok := Score(nil, "Plugin", "a"); ok {
		t.Error("a cycle without scores is explained")
	}
}

// The shared cases are generated from scorings. After an intended change, run with -update
// and review the difference.
func TestSharedScoreCases(t *testing.T) {
	var cases []scoreCase
	kinds := map[string]bool{}
	for _, s := range scorings() {
		c := scoreCase{Name: s.name, Score: s.score(), Plugin: "Plugin"}
		for _, node := range c.Score.Nodes.All() {
			cell, _ := Score(c.Score, "Plugin", node)
			explained := explainedCell{Node: node, Cell: cell, Text: []string{}}
			for _, steps := range [][]Step{cell.Arithmetic, cell.Normalization} {
				for _, step := range steps {
					kinds[step.Kind] = true
					explained.Text = append(explained.Text, step.String())
				}
			}
			c.Cells = append(c.Cells, explained)
		}
		cases = append(cases, c)
	}
	for kind := range stepEnglish {
		if !kinds[kind] {
			t.Errorf("no case has a step of kind %q", kind)
		}
	}
	agreesWithFile(t, scoreCases, cases, " ")
}
