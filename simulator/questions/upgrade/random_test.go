package upgrade

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/versions"
)

// random returns the steps of a random cluster: nodes in zones, some tainted, and pods of a few workloads with what schedulers weigh.
func random(t *testing.T, seed uint64) Source {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 50))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	maybe := func(percent int) bool { return r.IntN(100) < percent }
	var all []Step
	for i := range 3 + r.IntN(12) {
		more := object{"metadata": object{"labels": object{"topology.kubernetes.io/zone": pick("a", "b", "c"), "disk": pick("ssd", "hdd")}}}
		if maybe(25) {
			more["spec"] = object{"taints": []any{object{"key": "dedicated", "value": pick("batch", "web"), "effect": pick("NoSchedule", "PreferNoSchedule")}}}
		}
		more["status"] = object{"images": []any{object{"names": []any{fmt.Sprintf("registry.example/%s:1", pick("app", "model"))}, "sizeBytes": (100 + r.IntN(900)) << 20}}}
		all = append(all, node(fmt.Sprintf("n%02d", i), pick("4", "8", "16"), pick("8Gi", "16Gi", "64Gi"), more))
	}
	for i := range 40 {
		app := pick("web", "db", "batch")
		selector := object{"labelSelector": object{"matchLabels": object{"app": app}}}
		spec := object{"priority": r.IntN(3)}
		if maybe(30) {
			spec["tolerations"] = []any{object{"key": "dedicated", "operator": pick("Exists", "Exists", "Equal")}}
		}
		if maybe(20) {
			spec["nodeSelector"] = object{"disk": "ssd"}
		}
		if maybe(30) {
			spec["topologySpreadConstraints"] = []any{merged(object{"maxSkew": 1, "topologyKey": pick("topology.kubernetes.io/zone", "kubernetes.io/hostname"), "whenUnsatisfiable": pick("DoNotSchedule", "ScheduleAnyway")}, selector)}
		}
		if maybe(30) {
			term := merged(object{"topologyKey": "kubernetes.io/hostname"}, selector)
			if maybe(50) {
				spec["affinity"] = object{"podAntiAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []any{term}}}
			} else {
				spec["affinity"] = object{"podAffinity": object{"preferredDuringSchedulingIgnoredDuringExecution": []any{object{"weight": 1 + r.IntN(100), "podAffinityTerm": term}}}}
			}
		}
		if maybe(10) {
			spec["volumes"] = []any{object{"name": "model", "image": object{"reference": "registry.example/model:1"}}}
		}
		p := podObject(fmt.Sprintf("%s-%02d", app, i), pick("250m", "1", "3"), pick("256Mi", "2Gi", "6Gi"), spec)
		p["metadata"] = merged(p["metadata"].(object), object{"labels": object{"app": app}})
		all = append(all, Step{Decide: encoded(t, p), Place: true})
	}
	return steps(all...)
}

// TestRandomClusters compares each version with the next one, and each older one with its emulation, in random clusters. What differs must be a
// known cause, without a gate, or with a gate that differs.
func TestRandomClusters(t *testing.T) {
	dir := schedulersDir(t)
	// known are the plugins that decide otherwise since a version, though no gate says so.
	known := map[string][]string{"1.36": {"NodeResourcesBalancedAllocation", "ImageLocality"}, "1.37": {"ImageLocality"}}
	for i, from := range versions.Minors()[:len(versions.Minors())-1] {
		expected := func(until string) (plugins []string) {
			for since, these := range known {
				if since > from && since <= until {
					plugins = append(plugins, these...)
				}
			}
			return plugins
		}
		next := versions.Minors()[i+1]
		for name, options := range map[string]Options{
			from + " to " + next:    {From: from, To: next, Dir: dir},
			from + " and emulation": {From: from, To: versions.Own, ToEmulates: from, Dir: dir},
		} {
			t.Run(name, func(t *testing.T) {
				pods, differ := 0, 0
				for seed := range uint64(6) {
					report, err := Compare(t.Context(), random(t, seed), options)
					if err != nil {
						t.Fatal(err)
					}
					pods, differ = pods+report.Pods, differ+report.Pods-report.Same
					for _, c := range report.Causes {
						explained := c.Proven && len(c.Plugins) > 0
						for _, plugin := range c.Plugins {
							explained = explained && (len(c.Gates) > 0 || slices.Contains(expected(options.To), plugin))
						}
						if !explained {
							t.Errorf("seed %d: %s, pod %s: %s", seed, c.Class, c.Example.Pod.Name, c.Text())
						}
					}
				}
				t.Logf("%d of %d decisions differ", differ, pods)
			})
		}
	}
}

var update = flag.Bool("update", false, "write the list of what emulation leaves")

// ungated is the list behind the label of an emulating simulator, which the web application shows.
const ungated = "../../../web/src/features/shell/model/ungated.json"

// TestWhatEmulationLeaves writes that list: for each version that can be emulated, the plugins that decide otherwise than in the real one. It
// compares the two in all known differences and in random clusters.
func TestWhatEmulationLeaves(t *testing.T) {
	dir := schedulersDir(t)
	found := map[string][]string{}
	for _, minor := range versions.Minors()[:len(versions.Minors())-1] {
		plugins := map[string]bool{}
		note := func(source Source, configuration string) {
			report, err := Compare(t.Context(), source, Options{From: minor, To: versions.Own, ToEmulates: minor, Dir: dir, Configuration: configuration})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range report.Causes {
				for _, plugin := range c.Plugins {
					plugins[plugin] = true
				}
			}
		}
		for _, c := range knownDifferences(t) {
			note(c.source, c.configuration)
		}
		for seed := range uint64(4) {
			note(random(t, 100+seed), "")
		}
		found[minor] = slices.Sorted(maps.Keys(plugins))
	}
	got, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(ungated, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(ungated)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-file +found); -update writes it: %s", ungated, diff)
	}
}

// TestTheDocumentedListOfEmulation: the page about versions has the same list.
func TestTheDocumentedListOfEmulation(t *testing.T) {
	data, err := os.ReadFile(ungated)
	if err != nil {
		t.Fatal(err)
	}
	var found map[string][]string
	if err := json.Unmarshal(data, &found); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/reference/versions.md")
	if err != nil {
		t.Fatal(err)
	}
	for minor, plugins := range found {
		if row := fmt.Sprintf("| %s | %s |\n", minor, strings.Join(plugins, ", ")); !strings.Contains(string(page), row) {
			t.Errorf("versions.md lacks %q", row)
		}
	}
}
