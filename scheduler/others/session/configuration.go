package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource"
)

// Configuration is a scheduler configuration of kube-batch or Volcano: the actions and the tiers of plugins. It is
// immutable.
type Configuration struct {
	// YAML is the document as its author wrote it.
	YAML  []byte
	Rules Rules
	// Actions are in their order.
	Actions []string
	Tiers   [][]Plugin
}

type Plugin struct {
	Name string
	// Disabled are the flags that are false, such as enablePreemptable.
	Disabled map[string]bool
	// Arguments are the plugin's own, checked.
	Arguments map[string]string
}

// The plugins.
const (
	Priority    = "priority"
	Gang        = "gang"
	Conformance = "conformance"
	DRF         = "drf"
	Proportion  = "proportion"
	Predicates  = "predicates"
	NodeOrder   = "nodeorder"
	BinPack     = "binpack"
	Overcommit  = "overcommit"
)

// The actions.
const (
	Enqueue  = "enqueue"
	Allocate = "allocate"
	Backfill = "backfill"
	Preempt  = "preempt"
	Reclaim  = "reclaim"
)

// argument is what an argument of a plugin may be.
type argument int

const (
	weight argument = iota
	boolean
	factor
	names
)

// dialect is what a configuration of one family may say.
type dialect struct {
	actions []string
	flags   []string
	// arguments are the known ones of each plugin. An unknown plugin is not in it.
	arguments map[string]map[string]argument
	// elsewhere are plugins of the real scheduler that this package does not have.
	elsewhere []string
	builtIn   string
}

var nodeWeights = map[string]argument{"leastrequested.weight": weight, "mostrequested.weight": weight, "nodeaffinity.weight": weight, "podaffinity.weight": weight, "balancedresource.weight": weight}

var dialects = map[Rules]dialect{
	KubeBatch: {
		actions: []string{Allocate, Backfill, Preempt, Reclaim},
		flags: []string{
			"enableJobOrder", "enableJobReady", "enableJobPipelined", "enableTaskOrder", "enablePreemptable", "enableReclaimable",
			"enableQueueOrder", "enablePredicate", "enableNodeOrder",
		},
		arguments: map[string]map[string]argument{
			Priority: {}, Gang: {}, Conformance: {}, DRF: {}, Proportion: {}, NodeOrder: nodeWeights,
			Predicates: {"predicate.MemoryPressureEnable": boolean, "predicate.DiskPressureEnable": boolean, "predicate.PIDPressureEnable": boolean},
		},
		builtIn: `actions: "allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
`,
	},
	Volcano: {
		actions: []string{Enqueue, Allocate, Backfill, Preempt, Reclaim},
		flags: []string{
			"enableJobOrder", "enableJobReady", "enableJobPipelined", "enableTaskOrder", "enablePreemptable", "enableReclaimable",
			"enableQueueOrder", "enablePredicate", "enableNodeOrder", "enableJobEnqueued", "enableJobStarving", "enablePreemptive",
			"enabledOverused", "enabledAllocatable",
		},
		arguments: map[string]map[string]argument{
			Priority: {}, Gang: {}, Conformance: {}, DRF: {}, Proportion: {},
			Overcommit: {"overcommit-factor": factor},
			NodeOrder: merged(nodeWeights, map[string]argument{
				"tainttoleration.weight": weight, "imagelocality.weight": weight, "podtopologyspread.weight": weight,
			}),
			BinPack: {"binpack.weight": weight, "binpack.cpu": weight, "binpack.memory": weight, "binpack.resources": names},
			Predicates: {
				"predicate.NodeAffinityEnable": boolean, "predicate.NodePortsEnable": boolean, "predicate.TaintTolerationEnable": boolean,
				"predicate.PodAffinityEnable": boolean, "predicate.NodeVolumeLimitsEnable": boolean, "predicate.VolumeZoneEnable": boolean,
				"predicate.PodTopologySpreadEnable": boolean, "predicate.VolumeBindingEnable": boolean,
			},
		},
		elsewhere: []string{
			"capacity", "sla", "tdm", "task-topology", "numaaware", "nodegroup", "usage", "rescheduling", "cdp", "pdb", "resourcequota",
			"resource-strategy-fit", "deviceshare", "network-topology-aware", "extender",
		},
		builtIn: `actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
`,
	},
}

func merged(a, b map[string]argument) map[string]argument {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// Default returns the configuration that is built into the real scheduler.
func Default(rules Rules) *Configuration {
	c, err := Parse([]byte(dialects[rules].builtIn), rules)
	if err != nil {
		panic(err) // a test parses both
	}
	return c
}

// bounds limit a document. Real ones have a few dozen lines.
var bounds = yamlsource.Bounds{Written: 1 << 16, Values: 10_000, Size: 1 << 16, Depth: 20, Items: 200, Path: 1 << 10}

// Parse reads a document in YAML. The error is a *config.Error with every mistake at its line. It is stricter than the real
// schedulers, which skip plugins, flags and arguments that they do not know.
func Parse(document []byte, rules Rules) (*Configuration, error) {
	p := &parser{dialect: dialects[rules], out: &Configuration{YAML: slices.Clone(document), Rules: rules}}
	root, wrong := yamlsource.Parse(context.Background(), document, bounds)
	if wrong != nil {
		return nil, &config.Error{Mistakes: []config.Mistake{*wrong}}
	}
	if root == nil {
		return nil, &config.Error{Mistakes: []config.Mistake{{Line: 1, Message: "the document is empty; it needs actions and tiers"}}}
	}
	p.document(root)
	if p.mistakes.List != nil {
		return nil, &config.Error{Mistakes: yamlsource.Sorted(p.mistakes.List)}
	}
	return p.out, nil
}

type parser struct {
	dialect  dialect
	out      *Configuration
	mistakes yamlsource.Mistakes
}

func (p *parser) document(n *yaml.Node) {
	known := []string{"actions", "tiers"}
	if p.out.Rules == Volcano {
		known = append(known, "configurations")
	}
	p.mistakes.Fields(n, "", known, func(key, value *yaml.Node) {
		switch key.Value {
		case "actions":
			p.actions(value)
		case "tiers":
			p.mistakes.Items(value, "tiers", p.tier)
		default:
			p.mistakes.Add(key, key.Value, "arguments of actions are not supported here: the actions have none")
		}
	})
	if p.mistakes.List == nil && len(p.out.Actions) == 0 {
		p.mistakes.Add(n, "actions", "required: one or more of %s", strings.Join(p.dialect.actions, ", "))
	}
}

func (p *parser) actions(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		p.mistakes.Add(n, "actions", `want one string, such as "allocate, backfill"`)
		return
	}
	for _, name := range strings.Split(n.Value, ",") {
		name = strings.TrimSpace(name)
		switch {
		case !slices.Contains(p.dialect.actions, name):
			p.mistakes.Add(n, "actions", "%s has no action %q here; it has %s", p.out.Rules, name, strings.Join(p.dialect.actions, ", "))
		case slices.Contains(p.out.Actions, name):
			p.mistakes.Add(n, "actions", "%s appears twice", name)
		default:
			p.out.Actions = append(p.out.Actions, name)
		}
	}
}

func (p *parser) tier(n *yaml.Node, at string) {
	var tier []Plugin
	p.mistakes.Fields(n, at, []string{"plugins"}, func(key, value *yaml.Node) {
		p.mistakes.Items(value, yamlsource.Child(at, "plugins"), func(item *yaml.Node, at string) {
			plugin := p.plugin(item, at)
			for _, earlier := range append(slices.Concat(p.out.Tiers...), tier...) {
				if plugin.Name != "" && earlier.Name == plugin.Name {
					p.mistakes.Add(item, at, "plugin %s appears twice", plugin.Name)
				}
			}
			tier = append(tier, plugin)
		})
	})
	p.out.Tiers = append(p.out.Tiers, tier)
}

func (p *parser) plugin(n *yaml.Node, at string) Plugin {
	out := Plugin{Disabled: map[string]bool{}, Arguments: map[string]string{}}
	var arguments *yaml.Node
	p.mistakes.Fields(n, at, append([]string{"name", "arguments"}, p.dialect.flags...), func(key, value *yaml.Node) {
		switch key.Value {
		case "name":
			out.Name = value.Value
			p.name(value, yamlsource.Child(at, "name"))
		case "arguments":
			arguments = value
		default:
			on, err := strconv.ParseBool(value.Value)
			if err != nil || value.Tag != "!!bool" {
				p.mistakes.Add(value, yamlsource.Child(at, key.Value), "want true or false")
			}
			out.Disabled[key.Value] = !on
		}
	})
	if out.Name == "" && n.Kind == yaml.MappingNode {
		p.mistakes.Add(n, yamlsource.Child(at, "name"), "required")
	}
	if arguments != nil && p.dialect.arguments[out.Name] != nil {
		at = yamlsource.Child(at, "arguments")
		p.mistakes.Fields(arguments, at, nil, func(key, value *yaml.Node) { p.argument(out, key, value, yamlsource.Child(at, key.Value)) })
	}
	return out
}

func (p *parser) name(n *yaml.Node, at string) {
	switch {
	case p.dialect.arguments[n.Value] != nil:
	case slices.Contains(p.dialect.elsewhere, n.Value):
		p.mistakes.Add(n, at, "%s has a plugin %s, but it is not available here", p.out.Rules, n.Value)
	default:
		p.mistakes.Add(n, at, "%s has no plugin %q here; it has %s", p.out.Rules, n.Value, strings.Join(slices.Sorted(maps.Keys(p.dialect.arguments)), ", "))
	}
}

func (p *parser) argument(plugin Plugin, key, value *yaml.Node, at string) {
	kind, known := p.dialect.arguments[plugin.Name][key.Value]
	if strings.HasPrefix(key.Value, "binpack.resources.") && plugin.Name == BinPack {
		kind, known = weight, true
	}
	if !known {
		p.mistakes.Add(key, at, "plugin %s has no such argument; it has %s", plugin.Name,
			cmp.Or(strings.Join(slices.Sorted(maps.Keys(p.dialect.arguments[plugin.Name])), ", "), "none"))
		return
	}
	var problem string
	switch kind {
	case weight:
		if n, err := strconv.Atoi(value.Value); err != nil || n < 0 || n > maxWeight {
			problem = fmt.Sprintf("want a whole number from 0 to %d", maxWeight)
		}
	case boolean:
		if _, err := strconv.ParseBool(value.Value); err != nil {
			problem = "want true or false"
		}
	case factor:
		if f, err := strconv.ParseFloat(value.Value, 64); err != nil || !(f >= 1 && f <= maxWeight) {
			problem = "want a number of at least 1"
		}
	case names:
		if value.Kind != yaml.ScalarNode {
			problem = "want names of resources in one string, with commas"
		}
	}
	if problem != "" {
		p.mistakes.Add(value, at, "%s", problem)
		return
	}
	plugin.Arguments[key.Value] = value.Value
}

// maxWeight bounds weights; kube-scheduler's weighted scores must not overflow.
const maxWeight = 1000

// plugin returns the plugin of that name, or nil.
func (c *Configuration) plugin(name string) *Plugin {
	for _, tier := range c.Tiers {
		for i := range tier {
			if tier[i].Name == name {
				return &tier[i]
			}
		}
	}
	return nil
}

// weight returns an argument that is a whole number.
func (p *Plugin) weight(name string, otherwise int) int {
	if n, err := strconv.Atoi(p.Arguments[name]); err == nil {
		return n
	}
	return otherwise
}

// enabled returns an argument that is true or false.
func (p *Plugin) enabled(name string, otherwise bool) bool {
	if on, err := strconv.ParseBool(p.Arguments[name]); err == nil {
		return on
	}
	return otherwise
}
