package upgrade

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"kube-scheduler-simulator/scheduler/versions/wire"
)

// Changes are the differences between what is in effect in two versions.
type Changes struct {
	Gates []GateChange `json:"gates"`
	// Plugins are the extension points of profiles whose plugins, their order or their weights differ.
	Plugins []PluginChange `json:"plugins"`
	// Args are the plugins' arguments that differ.
	Args []ArgsChange `json:"args"`
}

// GateChange is a gate that is on in one version only, or that one version does not know.
type GateChange struct {
	Name string `json:"name"`
	// Before and After are nil in a version that does not know the gate.
	Before *wire.Gate `json:"before"`
	After  *wire.Gate `json:"after"`
}

// PluginChange is an extension point.
type PluginChange struct {
	Profile string        `json:"profile"`
	Point   string        `json:"point"`
	Before  []wire.Plugin `json:"before"`
	After   []wire.Plugin `json:"after"`
}

// ArgsChange is a plugin whose arguments differ. Before and After are nil in a version without it.
type ArgsChange struct {
	Profile string          `json:"profile"`
	Plugin  string          `json:"plugin"`
	Before  json.RawMessage `json:"before"`
	After   json.RawMessage `json:"after"`
}

func changesOf(from, to *wire.Started) Changes {
	out := Changes{Gates: gateChanges(from, to), Plugins: []PluginChange{}, Args: []ArgsChange{}}
	for i := range from.Profiles {
		at := slices.IndexFunc(to.Profiles, func(p wire.Profile) bool { return p.Name == from.Profiles[i].Name })
		if at < 0 {
			continue // both versions have the profiles of one configuration
		}
		out.profile(&from.Profiles[i], &to.Profiles[at])
	}
	return out
}

func gateChanges(from, to *wire.Started) []GateChange {
	before, after := gatesByName(from), gatesByName(to)
	names := maps.Clone(before)
	maps.Copy(names, after)
	out := []GateChange{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := before[name], after[name]
		if a != nil && b != nil && a.On == b.On {
			continue
		}
		if b == nil && a.On && a.Locked { // what it guarded stays on for good
			continue
		}
		if on := (a != nil && a.On) || (b != nil && b.On); on {
			out = append(out, GateChange{name, a, b})
		}
	}
	return out
}

func gatesByName(s *wire.Started) map[string]*wire.Gate {
	out := make(map[string]*wire.Gate, len(s.Gates))
	for i := range s.Gates {
		out[s.Gates[i].Name] = &s.Gates[i]
	}
	return out
}

func (c *Changes) profile(from, to *wire.Profile) {
	points := func(p *wire.Profile) map[string][]wire.Plugin {
		out := map[string][]wire.Plugin{}
		for _, point := range p.Points {
			out[point.Name] = point.Plugins
		}
		return out
	}
	before, after := points(from), points(to)
	for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
		if !slices.Equal(before[name], after[name]) {
			c.Plugins = append(c.Plugins, PluginChange{from.Name, name, before[name], after[name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(union(from.Args, to.Args))) {
		if !bytes.Equal(from.Args[name], to.Args[name]) {
			c.Args = append(c.Args, ArgsChange{from.Name, name, from.Args[name], to.Args[name]})
		}
	}
}

func union[T any](a, b map[string]T) map[string]T {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]T{}
	}
	maps.Copy(out, b)
	return out
}
