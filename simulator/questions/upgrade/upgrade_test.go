package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/scheduler/versions/decide"
	"kube-scheduler-simulator/scheduler/versions/wire"
)

const asProgram = "SCHEDULER_OF_TEST"

// TestMain makes this test's binary a scheduler of our own version.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	if decide.Serve(os.Stdin, os.Stdout) != nil {
		os.Exit(1)
	}
}

// emulating starts our own version, which emulates the older ones.
func emulating(t *testing.T) func(context.Context, versions.Options) (*versions.Scheduler, error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec %q\n", asProgram, program)
	if err := os.WriteFile(filepath.Join(dir, "scheduler-"+versions.Own), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, o versions.Options) (*versions.Scheduler, error) {
		o.Dir, o.Begin.Emulate = dir, o.Minor
		o.Minor = versions.Own
		return versions.Start(ctx, o)
	}
}

// steps is a source.
func steps(all ...Step) Source {
	return func(_ context.Context, do func(Step) error) error {
		for _, s := range all {
			if err := do(s); err != nil {
				return err
			}
		}
		return nil
	}
}

type object = map[string]any

func node(name, cpu, memory string, more ...object) Step {
	amounts := object{"cpu": cpu, "memory": memory, "pods": "110"}
	n := object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name, "labels": object{"kubernetes.io/hostname": name}}, "status": object{"capacity": amounts, "allocatable": amounts}}
	return Step{Set: merged(n, more...)}
}

func merged(o object, more ...object) object {
	for _, m := range more {
		for k, v := range m {
			if into, ok := o[k].(object); ok {
				if from, ok := v.(object); ok {
					o[k] = merged(into, from)
					continue
				}
			}
			o[k] = v
		}
	}
	return o
}

func podObject(name, cpu, memory string, spec object) object {
	s := object{"schedulerName": "default-scheduler", "containers": []any{object{"name": "main", "image": "registry.example/app:1", "resources": object{"requests": object{"cpu": cpu, "memory": memory}}}}}
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": name, "namespace": "default", "uid": name, "resourceVersion": "1"}, "spec": merged(s, spec)}
}

func asked(t *testing.T, name, cpu, memory string, spec object) Step {
	t.Helper()
	return Step{Decide: encoded(t, podObject(name, cpu, memory, spec)), Place: true}
}

func encoded(t *testing.T, o object) []byte {
	t.Helper()
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func running(name, cpu, memory, on string) Step {
	return Step{Set: podObject(name, cpu, memory, object{"nodeName": on})}
}

// storage has a claim that waits for its first consumer, and two nodes whose storage has room for it: much and little.
func storage() []Step {
	capacity := func(name, node, amount string) Step {
		return Step{Set: object{"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": object{"name": name, "namespace": "default"},
			"storageClassName": "local", "capacity": amount, "nodeTopology": object{"matchLabels": object{"kubernetes.io/hostname": node}}}}
	}
	csiNode := func(name string) Step {
		return Step{Set: object{"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": object{"name": name},
			"spec": object{"drivers": []any{object{"name": "disk.example", "nodeID": name, "topologyKeys": []any{"kubernetes.io/hostname"}}}}}}
	}
	return []Step{
		node("large", "8", "16Gi"), node("small", "8", "16Gi"), csiNode("large"), csiNode("small"),
		{Set: object{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": object{"name": "disk.example"}, "spec": object{"storageCapacity": true}}},
		{Set: object{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": object{"name": "local"}, "provisioner": "disk.example", "volumeBindingMode": "WaitForFirstConsumer"}},
		capacity("a", "large", "1000Gi"), capacity("b", "small", "20Gi"),
		{Set: object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": object{"name": "data", "namespace": "default", "uid": "data", "resourceVersion": "1"},
			"spec": object{"storageClassName": "local", "accessModes": []any{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": "10Gi"}}}, "status": object{"phase": "Pending"}}},
	}
}

func withClaim(t *testing.T, name string) Step {
	return asked(t, name, "1", "1Gi", object{"volumes": []any{object{"name": "data", "persistentVolumeClaim": object{"claimName": "data"}}}})
}

type brief struct {
	Class   Class
	Point   string
	Plugins string
	Proven  bool
	Gates   string
	Pods    int
}

func briefly(r *Report) []brief {
	var out []brief
	for _, c := range r.Causes {
		out = append(out, brief{c.Class, c.Point, strings.Join(c.Plugins, " "), c.Proven, strings.Join(c.Gates, " "), c.Pods})
	}
	return out
}

func TestGateIsNamed(t *testing.T) {
	before := asked(t, "before", "1", "1Gi", nil)
	before.Place = false
	source := steps(append(storage(), before, withClaim(t, "db"), asked(t, "after", "1", "1Gi", nil))...)
	report, err := Compare(t.Context(), source, Options{From: "1.36", To: "1.37", start: emulating(t)})
	if err != nil {
		t.Fatal(err)
	}
	want := []brief{{Tie, "score", "VolumeBinding", true, "StorageCapacityScoring", 1}}
	if diff := cmp.Diff(want, briefly(report)); diff != "" {
		t.Error(diff)
	}
	counts := Counts{Same: 2, Tie: 1}
	if diff := cmp.Diff(counts, report.Counts); diff != "" || report.Pods != 3 {
		t.Errorf("%d pods: %s", report.Pods, diff)
	}
	example := report.Causes[0].Example
	if example.At != 1 || example.Pod.Name != "db" || example.Before.Scores == nil || !cmp.Equal(example.After.Best, []string{"large"}) {
		t.Errorf("example: %+v", example)
	}
	if got, want := report.Causes[0].Text(), "VolumeBinding scores otherwise: StorageCapacityScoring"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	changed := func(name string) bool {
		for _, g := range report.Changes.Gates {
			if g.Name == name {
				return true
			}
		}
		return false
	}
	if !changed("StorageCapacityScoring") || changed("DynamicResourceAllocation") {
		t.Errorf("gates that changed: %+v", report.Changes.Gates)
	}
	if !cmp.Equal(report.Changes.Args[0].Plugin, "VolumeBinding") {
		t.Errorf("arguments that changed: %+v", report.Changes.Args)
	}
}

// TestNothingDiffers: a version compared with itself has no difference, whatever happens to the pods.
func TestNothingDiffers(t *testing.T) {
	source := steps(node("a", "4", "8Gi"), node("b", "4", "8Gi"), running("old", "1", "1Gi", "a"), asked(t, "p", "2", "1Gi", nil), asked(t, "q", "2", "1Gi", nil), asked(t, "r", "3", "1Gi", nil),
		asked(t, "important", "3", "1Gi", object{"priority": 10}))
	report, err := Compare(t.Context(), source, Options{From: "1.37", To: "1.37", start: emulating(t)})
	if err != nil {
		t.Fatal(err)
	}
	if report.Same != 4 || len(report.Causes) != 0 || len(report.Changes.Gates)+len(report.Changes.Plugins)+len(report.Changes.Args) != 0 {
		t.Errorf("%+v", report)
	}
}

func TestLostAndGained(t *testing.T) {
	tolerates := object{"tolerations": []any{object{"key": "level", "operator": "Gt", "value": "3", "effect": "NoSchedule"}}}
	source := steps(node("a", "4", "8Gi", object{"spec": object{"taints": []any{object{"key": "level", "value": "5", "effect": "NoSchedule"}}}}), asked(t, "p", "1", "1Gi", tolerates))
	on := map[string]bool{"TaintTolerationComparisonOperators": true}
	for class, options := range map[Class]Options{Gained: {ToGates: on}, Lost: {FromGates: on}} {
		options.From, options.To, options.start = "1.37", "1.37", emulating(t)
		report, err := Compare(t.Context(), source, options)
		if err != nil {
			t.Fatal(err)
		}
		want := []brief{{class, "filter", "TaintToleration", true, "TaintTolerationComparisonOperators", 1}}
		if diff := cmp.Diff(want, briefly(report)); diff != "" {
			t.Error(diff)
		}
		if text := report.Causes[0].Text(); !strings.Contains(text, `("node(s) had untolerated taint(s)"): TaintTolerationComparisonOperators`) {
			t.Error(text)
		}
		if data, err := json.Marshal(report); err != nil || !strings.Contains(string(data), `"plugin":"TaintToleration"`) || !strings.Contains(string(data), `"pods":1,"same":0`) {
			t.Errorf("%s, %v", data, err)
		}
	}
}

func TestErrorsAreTheSchedulers(t *testing.T) {
	_, err := Compare(t.Context(), steps(), Options{From: "1.37", To: "1.37", start: emulating(t), Configuration: "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"})
	refused := (*versions.RefusedError)(nil)
	if !errors.As(err, &refused) || refused.Kind != wire.BadConfiguration {
		t.Error(err)
	}
	_, err = Compare(t.Context(), steps(), Options{From: "1.35", To: "1.37", Dir: t.TempDir()})
	missing := (*versions.NotBuiltError)(nil)
	if !errors.As(err, &missing) {
		t.Error(err)
	}
}
