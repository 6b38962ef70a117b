package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// The effective configuration is printed the way a person would write it.
func TestEffective(t *testing.T) {
	for _, name := range []string{"per-point", "several-profiles", "all-arguments", "extenders", "multi-point"} {
		t.Run(name, func(t *testing.T) {
			file := name + ".yaml"
			if name == "extenders" {
				file = "extenders.json"
			}
			e := mustParse(t, readTestdata(t, file)).Effective(nil)
			golden(t, "effective-"+name+".golden", effectiveText(t, e))
		})
	}
}

func effectiveText(t *testing.T, e Effective) string {
	t.Helper()
	var b strings.Builder
	for _, s := range e.Global {
		fmt.Fprintf(&b, "%s: %v (%s, default %v)\n", s.Name, s.Value, s.Source, s.Default)
	}
	for _, p := range e.Profiles {
		fmt.Fprintf(&b, "\nprofile %s\n", p.SchedulerName)
		if p.PercentageOfNodesToScore != nil {
			fmt.Fprintf(&b, "  percentageOfNodesToScore: %d\n", *p.PercentageOfNodesToScore)
		}
		for _, point := range p.ExtensionPoints {
			fmt.Fprintf(&b, "  %s:", point.Name)
			for _, plugin := range point.Plugins {
				b.WriteString(" " + plugin.Name)
				if plugin.Weight != nil {
					fmt.Fprintf(&b, "×%d", *plugin.Weight)
				}
				if plugin.Source == SourceUser {
					b.WriteString("(user)")
				}
				if !plugin.ViaMultiPoint {
					b.WriteString("(here)")
				}
			}
			if len(point.Disabled) > 0 {
				fmt.Fprintf(&b, "  without %s", strings.Join(point.Disabled, " "))
			}
			b.WriteString("\n")
		}
		for _, plugin := range p.Plugins {
			if plugin.ArgumentsSource != SourceNone {
				fmt.Fprintf(&b, "  arguments of %s (%s): %s\n", plugin.Name, plugin.ArgumentsSource, asJSON(t, plugin.Arguments))
			}
		}
	}
	for _, extender := range e.Extenders {
		fmt.Fprintf(&b, "\nextender %s\n", asJSON(t, extender))
	}
	b.WriteString("\ndifference\n")
	for _, d := range e.Difference {
		fmt.Fprintf(&b, "  %s: %s → %s\n", d.Field, asJSON(t, d.Default), asJSON(t, d.Current))
	}
	b.WriteString("\nwithout effect\n")
	for _, n := range e.NoEffect {
		fmt.Fprintf(&b, "  %s: %s\n", n.Field, n.Message)
	}
	return b.String()
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The framework says which plugins run, including out-of-tree ones.
func TestEffectiveListsThePluginsOfTheFramework(t *testing.T) {
	c := mustParse(t, readTestdata(t, "multi-point.yaml"))
	e := c.Effective(map[string]*config.Plugins{"default-scheduler": {
		Permit: config.PluginSet{Enabled: []config.Plugin{{Name: "Coscheduling"}}},
	}})
	for _, point := range e.Profiles[0].ExtensionPoints {
		if point.Name != "permit" {
			continue
		}
		want := []PointPlugin{{Name: "Coscheduling", Source: SourceUser, ViaMultiPoint: true}}
		if diff := cmp.Diff(want, point.Plugins); diff != "" {
			t.Error(diff)
		}
	}
	want := []EffectivePlugin{{Name: "Coscheduling", Arguments: map[string]any{"permitWaitingTimeSeconds": int64(10)}, ArgumentsSource: SourceUser}}
	if diff := cmp.Diff(want, e.Profiles[0].Plugins); diff != "" {
		t.Error(diff)
	}
}

func TestNoEffect(t *testing.T) {
	for _, tc := range []struct {
		name, document string
		want           []string
	}{
		{"nothing", "", nil},
		{"deployment", "leaderElection: {leaderElect: true}\nclientConnection: {kubeconfig: /etc/kubeconfig, qps: 5}\nenableProfiling: false\ndelayCacheUntilActive: true\n", []string{
			"leaderElection.leaderElect: the simulator runs one scheduler, so there is no leader to elect",
			"clientConnection.kubeconfig: the simulator connects the scheduler to its own control plane",
			"clientConnection.qps: the simulator connects the scheduler to its own control plane",
			"enableProfiling: the simulator does not serve the scheduler's profiling endpoints",
			"delayCacheUntilActive: the simulator runs one scheduler, which is always active",
		}},
		{"arguments", "profiles:\n- plugins:\n    multiPoint:\n      disabled: [{name: InterPodAffinity}]\n  pluginConfig:\n  - {name: ImageLocality, args: {size: 3}}\n  - {name: InterPodAffinity, args: {}}\n", []string{
			"profiles[0].pluginConfig[0].args: ImageLocality takes no arguments",
			"profiles[0].pluginConfig[1]: InterPodAffinity is not enabled in this profile",
		}},
		{"disabled", "profiles:\n- plugins:\n    multiPoint:\n      disabled: [{name: ImageLocallity}]\n    filter:\n      disabled: [{name: ImageLocality}, {name: NodeName}, {name: Nodename}]\n", []string{
			"profiles[0].plugins.filter.disabled[0]: ImageLocality does not run at filter",
			"profiles[0].plugins.filter.disabled[2]: Nodename is not enabled by multiPoint, did you mean NodeName?",
			"profiles[0].plugins.multiPoint.disabled[0]: ImageLocallity is not enabled by default, did you mean ImageLocality?",
		}},
		{"weights", "profiles:\n- plugins:\n    filter:\n      enabled: [{name: NodeName, weight: 3}]\n    multiPoint:\n      enabled: [{name: NodePorts, weight: 3}, {name: NodeAffinity, weight: 3}]\n", []string{
			"profiles[0].plugins.filter.enabled[0].weight: weights have an effect only at score and placementScore",
			"profiles[0].plugins.multiPoint.enabled[0].weight: weights have an effect only at score and placementScore",
		}},
		{"a feature gate", "profiles:\n- plugins:\n    placementScore:\n      enabled: [{name: NodeResourcesFit}]\n", []string{
			"profiles[0].plugins.placementScore: needs the feature gate TopologyAwareWorkloadScheduling",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Parse([]byte(head + tc.document))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range c.NoEffect() {
				got = append(got, n.Field+": "+n.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Users who edit a copy of Kubernetes' default learn that removing or reordering
// lines has no effect.
func TestNoEffectOfAnEditedDefault(t *testing.T) {
	def, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(def.YAML), "      - name: ImageLocality\n        weight: 1\n", "", 1)
	text = strings.Replace(text, "      - name: PrioritySort\n        weight: 0\n", "", 1)
	text = strings.Replace(text, "leaseDuration: 15s", "leaseDuration: 25s", 1)
	text = strings.Replace(text, "    multiPoint:\n      enabled:\n", "    multiPoint:\n      enabled:\n      - name: PrioritySort\n", 1)
	want := []NoEffect{
		{Field: "leaderElection.leaseDuration", Message: "the simulator runs one scheduler, so there is no leader to elect"},
		{Field: "profiles[0].plugins.multiPoint.enabled", Message: "ImageLocality is not in the list, but it is enabled by default; to remove it, name it under disabled"},
		{Field: "profiles[0].plugins.multiPoint.enabled", Message: `Kubernetes' plugins keep their default order here; to change the order, disable "*" in multiPoint as well`},
	}
	if diff := cmp.Diff(want, mustParse(t, []byte(text)).NoEffect()); diff != "" {
		t.Error(diff)
	}
}
