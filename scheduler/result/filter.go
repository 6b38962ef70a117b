package result

import (
	"encoding/json"
	"fmt"
	"sort"
)

// The letters of Verdict.States, one per plugin.
const (
	// Passed: the node passed.
	Passed = 'P'
	// Rejected: the plugin rejected the node.
	Rejected = 'R'
	// Skipped: the plugin returned Skip in PreFilter.
	Skipped = 'S'
	// NotRun: an earlier plugin had already rejected the node. A hypothetical cycle has
	// none.
	NotRun = 'N'
	// Failed: the plugin returned an error.
	Failed = 'E'
)

// Verdict is the combined answer of all plugins for a node. Most nodes of a cycle
// share a few verdicts.
type Verdict struct {
	// States has one letter per plugin of the Filter.
	States string
	// Plugin is the first plugin that rejected the node; empty when the node passed every
	// plugin. An extender may still have rejected it: see Cycle.Extenders.
	Plugin string
	// Reasons are those that Plugin gave.
	Reasons []string
	// Status is the code that Plugin returned; empty in a record that an earlier version made.
	Status string `json:",omitempty"`
	// Also are the further plugins that rejected the node. Only a hypothetical cycle asks them.
	Also []PluginReasons `json:",omitempty"`
}

// PluginReasons are the reasons for which a plugin rejected a node.
type PluginReasons struct {
	Plugin  string
	Reasons []string
	// Status is as in Verdict.
	Status string `json:",omitempty"`
}

// Rejections returns every plugin that rejected the node, the first one first.
func (v *Verdict) Rejections() []PluginReasons {
	if v.Plugin == "" {
		return nil
	}
	return append([]PluginReasons{{Plugin: v.Plugin, Reasons: v.Reasons, Status: v.Status}}, v.Also...)
}

// Rejection returns what a plugin said when it rejected the node, or nil if it did not.
func (v *Verdict) Rejection(plugin string) *PluginReasons {
	for _, r := range v.Rejections() {
		if r.Plugin == plugin {
			return &r
		}
	}
	return nil
}

// Filter is the matrix of node × plugin. Nodes that are not in it were not
// evaluated.
type Filter struct {
	// Plugins are in the order in which they ran.
	Plugins []string
	// Nodes are the evaluated nodes, in no particular order.
	Nodes NodeList `cbor:"-"` // resultstore has its own format for it
	// Verdicts are distinct; VerdictOf[i] indexes them for Nodes.At(i).
	Verdicts  []Verdict
	VerdictOf []uint16
	// DurationSeconds is the total time of each plugin's calls, extrapolated from a sample of the
	// nodes. It is nil for a plugin without a measured call.
	DurationSeconds []*float64
	// Comparisons hold, for each plugin, the values of the rejected nodes that were nearest to
	// fitting, at most MaxComparisons. They are in the order of the plugins, the nearest node
	// first, then by name.
	Comparisons []Comparison
	// Passes hold the values that plugins compared on nodes that passed; nil when none passed or no
	// plugin is known.
	Passes *Passes
	// Nominated are the nodes that Filter first tried as if their nominated pods already ran there.
	Nominated []NominatedPass
	// Requests derive the pod's requests, which NodeResourcesFit compares, from its spec. The list
	// lacks those that are the request of one container.
	Requests []PodRequest
}

// MaxComparisons bounds the comparisons of a plugin in a cycle.
const MaxComparisons = 32

// MaxNominatedPods bounds the pods of a NominatedPass.
const MaxNominatedPods = 32

// NominatedPass is Filter's pass with a node's nominated pods of at least the pod's priority.
type NominatedPass struct {
	Node string `json:"node"`
	// Pods are at most MaxNominatedPods of PodCount.
	Pods     []Pod `json:"pods"`
	PodCount int   `json:"podCount,omitempty"`
	// Rejected: this pass rejected the node, so Filter did not try it without the nominated pods.
	Rejected bool `json:"rejected"`
}

// Verdict returns the verdict on Nodes.At(i).
func (f *Filter) Verdict(i int) Verdict { return f.Verdicts[f.VerdictOf[i]] }

// NodeReasons says why one plugin rejected one node. A node of a hypothetical cycle may
// have several.
type NodeReasons struct {
	Node    string   `json:"node"`
	Plugin  string   `json:"plugin"`
	Reasons []string `json:"reasons"`
	// Status is as in Verdict.
	Status string `json:"status,omitempty"`
}

type filterJSON struct {
	Plugins         []string        `json:"plugins"`
	Nodes           []string        `json:"nodes"`
	States          []string        `json:"states"`
	Reasons         []NodeReasons   `json:"reasons"`
	DurationSeconds []*float64      `json:"durationSeconds,omitempty"`
	Comparisons     []Comparison    `json:"comparisons,omitempty"`
	Passes          *Passes         `json:"passes,omitempty"`
	Nominated       []NominatedPass `json:"nominated,omitempty"`
	Requests        []PodRequest    `json:"requests,omitempty"`
}

// filterTail is the part of filterJSON after what has a value per node.
type filterTail struct {
	DurationSeconds []*float64      `json:"durationSeconds,omitempty"`
	Comparisons     []Comparison    `json:"comparisons,omitempty"`
	Passes          *Passes         `json:"passes,omitempty"`
	Nominated       []NominatedPass `json:"nominated,omitempty"`
	Requests        []PodRequest    `json:"requests,omitempty"`
}

// MarshalJSON writes the public form, nodes by name.
func (f *Filter) MarshalJSON() ([]byte, error) { return f.appendJSON(nil) }

func (f *Filter) appendJSON(out []byte) ([]byte, error) {
	out = appendStrings(append(out, `{"plugins":`...), f.Plugins)
	names := f.Nodes.Names()
	order := sortedIndex(names)
	out = appendList(appendMember(out, "nodes"), len(order), func(out []byte, i int) []byte { return appendString(out, names[order[i]]) })
	out = appendList(appendMember(out, "states"), len(order), func(out []byte, i int) []byte {
		return appendString(out, f.Verdicts[f.VerdictOf[order[i]]].States)
	})
	// All nodes of a verdict share its reasons.
	reasons := make([][][]byte, len(f.Verdicts))
	for i := range f.Verdicts {
		for _, r := range f.Verdicts[i].Rejections() {
			said := appendString([]byte(`"plugin":`), r.Plugin)
			said = appendStrings(appendMember(said, "reasons"), r.Reasons)
			if r.Status != "" {
				said = appendString(appendMember(said, "status"), r.Status)
			}
			reasons[i] = append(reasons[i], said)
		}
	}
	out = append(appendMember(out, "reasons"), '[')
	empty := true
	for _, i := range order {
		for _, said := range reasons[f.VerdictOf[i]] {
			if !empty {
				out = append(out, ',')
			}
			empty = false
			out = appendString(append(out, `{"node":`...), names[i])
			out = append(append(append(out, ','), said...), '}')
		}
	}
	out, err := appendMembers(append(out, ']'), filterTail{f.DurationSeconds, f.Comparisons, f.Passes, f.Nominated, f.Requests})
	return append(out, '}'), err
}

// UnmarshalJSON reads the public form.
func (f *Filter) UnmarshalJSON(data []byte) error {
	var in filterJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if len(in.States) != len(in.Nodes) {
		return fmt.Errorf("filter has %d nodes and %d states", len(in.Nodes), len(in.States))
	}
	reasons := make(map[string][]PluginReasons, len(in.Reasons))
	for _, r := range in.Reasons {
		reasons[r.Node] = append(reasons[r.Node], PluginReasons{Plugin: r.Plugin, Reasons: r.Reasons, Status: r.Status})
	}
	b := NewFilterBuilder(in.Plugins, len(in.Nodes))
	for i, node := range in.Nodes {
		if len(in.States[i]) != len(in.Plugins) {
			return fmt.Errorf("filter has %d plugins and the states %q", len(in.Plugins), in.States[i])
		}
		switch by := reasons[node]; len(by) {
		case 0:
			b.add(node, in.States[i], PluginReasons{})
		case 1:
			b.add(node, in.States[i], by[0])
		default:
			b.add(node, in.States[i], by[0], by[1:]...)
		}
	}
	*f = *b.Filter()
	f.DurationSeconds, f.Comparisons, f.Passes, f.Nominated, f.Requests = in.DurationSeconds, in.Comparisons, in.Passes, in.Nominated, in.Requests
	return nil
}

// FilterBuilder collects verdicts and keeps each distinct one once. It is not safe
// for concurrent use.
type FilterBuilder struct {
	filter *Filter
	nodes  []string
	index  map[verdictKey]uint16
	// last is the most recent verdict: neighbouring nodes often share one.
	last   verdictKey
	lastOf uint16
}

type verdictKey struct {
	states, plugin, reasons, status, also string
}

// NewFilterBuilder returns a builder for about n nodes.
func NewFilterBuilder(plugins []string, n int) *FilterBuilder {
	return &FilterBuilder{
		filter: &Filter{Plugins: plugins, VerdictOf: make([]uint16, 0, n)},
		index:  map[verdictKey]uint16{},
	}
}

// maxVerdicts is the number of verdicts that VerdictOf can index. If a plugin gives
// more than 65,535 different reasons, later rejections share the last verdict with
// the same states.
const maxVerdicts = 1 << 16

// Add appends a node whose rejection has no status. It keeps reasons and also, uncopied.
func (b *FilterBuilder) Add(node, states, plugin string, reasons []string, also ...PluginReasons) {
	b.add(node, states, PluginReasons{Plugin: plugin, Reasons: reasons}, also...)
}

func (b *FilterBuilder) add(node, states string, first PluginReasons, also ...PluginReasons) {
	if b.nodes == nil {
		b.nodes = make([]string, 0, cap(b.filter.VerdictOf))
	}
	b.nodes = append(b.nodes, node)
	b.AddVerdict(states, first, also...)
}

// AddVerdict appends the verdict on a node that the caller puts into Filter.Nodes. It keeps the
// reasons, uncopied.
func (b *FilterBuilder) AddVerdict(states string, first PluginReasons, also ...PluginReasons) {
	key := verdictKey{states: states, plugin: first.Plugin, reasons: joinReasons(first.Reasons), status: first.Status, also: joinRejections(also)}
	i, ok := b.lastOf, len(b.filter.VerdictOf) > 0 && key == b.last
	if !ok {
		i, ok = b.index[key]
	}
	if !ok {
		if len(b.filter.Verdicts) == maxVerdicts {
			i = maxVerdicts - 1
		} else {
			i = uint16(len(b.filter.Verdicts))
			b.filter.Verdicts = append(b.filter.Verdicts, Verdict{States: states, Plugin: first.Plugin, Reasons: first.Reasons, Status: first.Status, Also: also})
			b.index[key] = i
		}
	}
	b.filter.VerdictOf = append(b.filter.VerdictOf, i)
	b.last, b.lastOf = key, i
}

// AddPassed starts an empty table with n nodes that passed every plugin. The caller puts them into
// Filter.Nodes.
func (b *FilterBuilder) AddPassed(n int, states string) {
	if n == 0 {
		return
	}
	b.filter.VerdictOf = b.filter.VerdictOf[:n]
	b.filter.Verdicts = append(b.filter.Verdicts, Verdict{States: states})
	b.last, b.lastOf = verdictKey{states: states}, 0
	b.index[b.last] = 0
}

// Filter returns the table of the added nodes. The builder must not be used
// afterwards.
func (b *FilterBuilder) Filter() *Filter {
	b.filter.Nodes = NewNodeList(b.nodes...)
	return b.filter
}

func joinRejections(rejections []PluginReasons) string {
	if len(rejections) == 0 {
		return ""
	}
	var out []byte
	for _, r := range rejections {
		out = append(append(append(out, r.Plugin...), 0), joinReasons(r.Reasons)...)
		out = append(append(append(out, 0), r.Status...), 0)
	}
	return string(out)
}

func joinReasons(reasons []string) string {
	switch len(reasons) {
	case 0:
		return ""
	case 1:
		return reasons[0]
	}
	size := len(reasons)
	for _, r := range reasons {
		size += len(r)
	}
	out := make([]byte, 0, size)
	for _, r := range reasons {
		out = append(out, r...)
		out = append(out, 0)
	}
	return string(out)
}

func sortedIndex(names []string) []int {
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return names[order[a]] < names[order[b]] })
	return order
}
