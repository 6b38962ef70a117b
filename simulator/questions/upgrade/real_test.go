package upgrade

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/scheduler/versions/wire"
	"kube-scheduler-simulator/simulator/scenarios/openb"
)

// schedulersDir returns the directory with the schedulers of all versions. Without it the test is skipped: `make test-versions` builds them.
func schedulersDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SCHEDULERS_DIR")
	if dir == "" {
		t.Skip("skipped: it needs the schedulers of other versions of Kubernetes. `make test-versions` builds them and runs this test")
	}
	return dir
}

// TestOpenB compares 1.35 with our own version on a whole production cluster.
func TestOpenB(t *testing.T) {
	dir := schedulersDir(t)
	data := os.Getenv("OPENB")
	if data == "" {
		t.Skip("skipped: set OPENB to the directory with nodes.csv and pods.csv of the trace openb")
	}
	nodes, pods := rows(t, filepath.Join(data, "nodes.csv")), rows(t, filepath.Join(data, "pods.csv"))
	source := func(_ context.Context, do func(Step) error) error {
		for _, n := range nodes {
			if err := do(Step{Set: n.Object()}); err != nil {
				return err
			}
		}
		for _, p := range pods {
			o := p.Object()
			o["metadata"].(map[string]any)["uid"] = o["metadata"].(map[string]any)["name"]
			o["spec"].(map[string]any)["schedulerName"] = "default-scheduler"
			data, err := json.Marshal(o)
			if err != nil {
				return err
			}
			if err := do(Step{Decide: data, Place: true}); err != nil {
				return err
			}
		}
		return nil
	}
	start := time.Now()
	report, err := Compare(t.Context(), source, Options{From: "1.35", To: versions.Own, Dir: dir, Progress: func(p Progress) {
		if n := p.Decided; n%500 == 0 {
			t.Logf("%d after %s", n, time.Since(start).Round(time.Second))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pods in %s: %+v", report.Pods, time.Since(start), report.Counts)
	if report.Pods != len(pods) {
		t.Errorf("%d of %d pods", report.Pods, len(pods))
	}
	for _, c := range report.Causes {
		if len(c.Plugins) != 1 || c.Plugins[0] != "NodeResourcesBalancedAllocation" || !c.Proven || len(c.Gates) > 0 {
			t.Errorf("%d pods %s: %s", c.Pods, c.Class, c.Text())
		}
	}
}

func rows(t *testing.T, name string) []openb.Row {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out, err := openb.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// only returns a configuration in which few plugins score, so that nothing covers what they do.
func only(plugins ...string) string {
	return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: default-scheduler\n" +
		"  plugins: {score: {disabled: [{name: '*'}], enabled: [{name: " + strings.Join(plugins, ", weight: 1}, {name: ") + ", weight: 1}]}}\n"
}

// knownDifference is what is known to differ between versions.
type knownDifference struct {
	source        Source
	configuration string
	// gates are those of the newer version.
	gates map[string]bool
	// since is the first version that decides otherwise.
	since string
	want  brief
}

// knownDifferences returns them by name.
func knownDifferences(t *testing.T) map[string]knownDifference {
	t.Helper()
	image := func(name string) object {
		return object{"status": object{"images": []any{object{"names": []any{name}, "sizeBytes": 900 << 20}}}}
	}
	tainted := object{"spec": object{"taints": []any{object{"key": "level", "value": "5", "effect": "NoSchedule"}}}}
	comparing := map[string]bool{"TaintTolerationComparisonOperators": true}
	return map[string]knownDifference{ // The formula asks what the pod does to the balance of a node, rather than how balanced the node is then.
		"balanced allocation": {
			source: steps(node("even", "10", "10Gi"), node("uneven", "10", "10Gi"), running("a", "5", "5Gi", "even"), running("b", "2", "6Gi", "uneven"),
				asked(t, "p", "1", "100Mi", nil)),
			configuration: only("NodeResourcesBalancedAllocation"), since: "1.36", want: brief{Moved, "score", "NodeResourcesBalancedAllocation", true, "", 1},
		},
		"storage capacity": {
			source: steps(append(storage(), withClaim(t, "db"))...), since: "1.37", want: brief{Tie, "score", "VolumeBinding", true, "StorageCapacityScoring", 1},
		},
		"image volumes": {
			source: steps(node("has", "4", "8Gi", image("registry.example/model:1")), node("lacks", "4", "8Gi", image("registry.example/other:1")),
				asked(t, "p", "1", "1Gi", object{"volumes": []any{object{"name": "model", "image": object{"reference": "registry.example/model:1"}}}})),
			since: "1.36", want: brief{Tie, "score", "ImageLocality", true, "", 1},
		},
		// An image volume counts as an image of the pod, so that it takes more to have them all.
		"share of image volumes": {
			source: steps(node("near", "4", "8Gi", image("registry.example/app:1")), node("far", "40", "80Gi"), running("a", "1", "1Gi", "near"),
				asked(t, "p", "1", "1Gi", object{"volumes": []any{object{"name": "model", "image": object{"reference": "registry.example/model:1"}}}})),
			configuration: only("ImageLocality", "NodeResourcesFit"), since: "1.37", want: brief{Moved, "score", "ImageLocality", true, "", 1},
		},
		"operators of tolerations": {
			source: steps(node("a", "4", "8Gi", tainted), asked(t, "p", "1", "1Gi", object{"tolerations": []any{object{"key": "level", "operator": "Gt", "value": "3", "effect": "NoSchedule"}}})),
			gates:  comparing, since: "1.35", want: brief{Gained, "filter", "TaintToleration", true, "TaintTolerationComparisonOperators", 1},
		},
		// A node that has the device of the first alternative scores higher than one that has only the second's.
		"score of prioritized lists": {
			source: steps(append(devices(map[string]object{"small": {"name": "small-0"}, "large": {"name": "large-0"}}), claimOf("gpu", object{"name": "gpu", "firstAvailable": []any{
				object{"name": "first", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1, "selectors": []any{object{"cel": object{"expression": `device.driver == "large.example"`}}}},
				object{"name": "second", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1},
			}}), user(t, "p", "gpu"))...),
			since: "1.35", want: brief{Tie, "score", "DynamicResources", true, "", 1},
		},
		"device taints": {
			source: steps(append(devices(map[string]object{"a": {"name": "gpu-0", "taints": []any{object{"key": "broken", "effect": "NoSchedule"}}}}), claimOf("gpu", exactly), user(t, "p", "gpu"))...),
			since:  "1.36", want: brief{Lost, "filter", "DynamicResources", true, "DRADeviceTaints", 1},
		},
		"extended resources by devices": {
			source: steps(append(devices(map[string]object{"a": {"name": "gpu-0"}}), asked(t, "p", "1", "1Gi", object{"containers": []any{object{"name": "main", "image": "registry.example/app:1",
				"resources": object{"requests": object{"cpu": "1", "gpu.example/device": "1"}, "limits": object{"gpu.example/device": "1"}}}}}))...),
			since: "1.36", want: brief{Gained, "filter", "NodeResourcesFit", true, "DRAExtendedResource", 1},
		},
		"declared features": {
			source: steps(node("a", "4", "8Gi"), asked(t, "p", "1", "1Gi", object{"containers": []any{object{"name": "main", "image": "registry.example/app:1", "restartPolicy": "Never",
				"restartPolicyRules": []any{object{"action": "RestartAllContainers", "exitCodes": object{"operator": "In", "values": []any{1}}}}}}})),
			since: "1.36", want: brief{Lost, "filter", "NodeDeclaredFeatures", true, "NodeDeclaredFeatures", 1},
		},
		// The driver asks to keep its volumes off nodes where it does not run.
		"node without the CSI driver": {
			source: steps(append(bound(), node("a", "4", "8Gi"), withClaim(t, "db"))...),
			since:  "1.37", want: brief{Lost, "filter", "NodeVolumeLimits", true, "VolumeLimitScaling", 1},
		},
	}
}

// TestKnownDifferences: what is known to differ between versions is found and named, where it began and nowhere else.
func TestKnownDifferences(t *testing.T) {
	dir := schedulersDir(t)
	for name, c := range knownDifferences(t) {
		t.Run(name, func(t *testing.T) {
			minors := versions.Minors()
			for i, to := range minors[1:] {
				options := Options{From: minors[i], To: to, Dir: dir, Configuration: c.configuration}
				if to >= c.since {
					options.ToGates = c.gates
				}
				if minors[i] >= c.since {
					options.FromGates = c.gates
				}
				report, err := Compare(t.Context(), c.source, options)
				if err != nil {
					t.Fatal(err)
				}
				var want []brief
				if to == c.since {
					want = []brief{c.want}
				}
				if diff := cmp.Diff(want, briefly(report)); diff != "" {
					t.Errorf("%s to %s: %s", minors[i], to, diff)
				}
			}
		})
	}
}

// TestControl: what uses nothing that changed is the same in all versions.
func TestControl(t *testing.T) {
	dir := schedulersDir(t)
	source := steps(node("a", "4", "8Gi"), node("b", "8", "16Gi"), node("c", "8", "16Gi", object{"spec": object{"unschedulable": true}}),
		asked(t, "p", "1", "2Gi", nil), asked(t, "q", "1", "2Gi", object{"nodeSelector": object{"kubernetes.io/hostname": "a"}}), asked(t, "r", "7", "14Gi", nil), asked(t, "s", "9", "1Gi", nil))
	for _, from := range versions.Minors() {
		report, err := Compare(t.Context(), source, Options{From: from, To: versions.Own, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if report.Same != report.Pods || report.Pods != 4 {
			t.Errorf("%s: %v, %+v", from, report.Counts, briefly(report))
		}
	}
}

// bound has a claim whose volume any node can reach, of a driver that wants its pods only where it runs.
func bound() []Step {
	claim := object{"namespace": "default", "name": "data", "uid": "data"}
	return []Step{
		{Set: object{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": object{"name": "disk.example"}, "spec": object{"preventPodSchedulingIfMissing": true}}},
		{Set: object{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": object{"name": "disk"}, "spec": object{"accessModes": []any{"ReadWriteOnce"}, "capacity": object{"storage": "10Gi"},
			"claimRef": claim, "csi": object{"driver": "disk.example", "volumeHandle": "disk"}}, "status": object{"phase": "Bound"}}},
		{Set: object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": merged(object{"resourceVersion": "1", "annotations": object{"pv.kubernetes.io/bind-completed": "yes"}}, claim),
			"spec": object{"storageClassName": "", "volumeName": "disk", "accessModes": []any{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": "10Gi"}}}, "status": object{"phase": "Bound"}}},
	}
}

var exactly = object{"name": "gpu", "exactly": object{"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}

// devices has a class, and a node for each device, whose driver has the node's name.
func devices(of map[string]object) []Step {
	out := []Step{{Set: object{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": object{"name": "gpu"}, "spec": object{"extendedResourceName": "gpu.example/device"}}}}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, node(name, "8", "16Gi"), Step{Set: object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": object{"name": name},
			"spec": object{"driver": name + ".example", "nodeName": name, "pool": object{"name": name, "generation": 1, "resourceSliceCount": 1}, "devices": []any{of[name]}}}})
	}
	return out
}

func claimOf(name string, request object) Step {
	return Step{Set: object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": object{"name": name, "namespace": "default", "uid": name, "resourceVersion": "1"},
		"spec": object{"devices": object{"requests": []any{request}}}}}
}

func user(t *testing.T, name, claim string) Step {
	t.Helper()
	return asked(t, name, "1", "1Gi", object{"resourceClaims": []any{object{"name": "gpu", "resourceClaimName": claim}}})
}

// TestDevices: what a placed pod has allocated is taken in every version, although each keeps it otherwise.
func TestDevices(t *testing.T) {
	dir := schedulersDir(t)
	source := steps(append(devices(map[string]object{"a": {"name": "gpu-0"}}), node("b", "8", "16Gi"), claimOf("one", exactly), claimOf("two", exactly),
		user(t, "p", "one"), user(t, "q", "one"), user(t, "r", "two"))...)
	for _, from := range versions.Minors() {
		var fits []bool
		report, err := Compare(t.Context(), source, Options{From: from, To: versions.Own, Dir: dir, decided: func(before, after *wire.Decision) {
			fits = append(fits, len(before.Best) > 0, len(after.Best) > 0)
		}})
		if err != nil {
			t.Fatal(err)
		}
		// The first two share a claim; the third has none left.
		if diff := cmp.Diff([]bool{true, true, true, true, false, false}, fits); diff != "" {
			t.Errorf("%s: %s, %+v", from, diff, briefly(report))
		}
	}
}
