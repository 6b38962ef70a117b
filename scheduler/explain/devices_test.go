package explain

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

// wants returns the comparison of a node with a request for count devices.
func wants(request string, count int64, matching, inUse int) result.DeviceComparison {
	return result.DeviceComparison{Claim: "gpu", Request: request, DeviceClass: "large", Count: count, Matching: matching, MatchingInUse: inUse}
}

// blocked returns the comparison of a node whose matching devices cannot be allocated.
func blocked(request string, count int64, matching int) result.DeviceComparison {
	d := wants(request, count, matching, 0)
	d.Blocked = true
	return d
}

// rejectedForDevices returns the cycle of a pod whose claims the nodes cannot
// satisfy.
func rejectedForDevices(nodes ...[]result.DeviceComparison) *result.Cycle {
	b := result.NewFilterBuilder([]string{"DynamicResources"}, len(nodes))
	c := &result.Cycle{Summary: result.Summary{
		Pod: result.Pod{Name: "train"}, Outcome: result.Unschedulable,
		Nodes: result.NodeCounts{Total: len(nodes), Evaluated: len(nodes), Wanted: len(nodes)},
	}}
	for range nodes {
		b.Add("n", "R", "DynamicResources", []string{"cannot allocate all claims"})
	}
	c.Filter = b.Filter()
	for _, devices := range nodes {
		c.Filter.Comparisons = append(c.Filter.Comparisons, result.Comparison{Node: "n", Plugin: "DynamicResources", Devices: devices})
	}
	return c
}

func TestDevicesThatAreShort(t *testing.T) {
	type devices = []result.DeviceComparison
	for name, tc := range map[string]struct {
		cycle    *result.Cycle
		want     []DeviceShortage
		sentence string
	}{
		"none match, or they are already in use": {
			rejectedForDevices(devices{wants("one", 1, 0, 0)}, devices{wants("one", 1, 2, 2)}, devices{wants("one", 1, 4, 4)}),
			[]DeviceShortage{{Claim: "gpu", Request: "one", DeviceClass: "large", Count: 1, Nodes: 3, Compared: 3, NoMatch: 1, InUse: 2}},
			"train fits no node: 3 nodes rejected, 3 by DynamicResources. Request one of claim gpu needs 1 device of class large: 3 of 3 checked nodes cannot satisfy it (too few match on 1, already in use on 2).",
		},
		"all that match": {
			rejectedForDevices(devices{wants("all", 0, 2, 1)}),
			[]DeviceShortage{{Claim: "gpu", Request: "all", DeviceClass: "large", Nodes: 1, Compared: 1, InUse: 1}},
			"train fits no node: 1 node rejected, 1 by DynamicResources. Request all of claim gpu needs all devices of class large: 1 of 1 checked node cannot satisfy it (already in use on 1).",
		},
		"an alternative would do": {
			rejectedForDevices(devices{wants("any/large", 2, 1, 0), wants("any/small", 1, 1, 0), wants("two", 2, 1, 0)}),
			[]DeviceShortage{{Claim: "gpu", Request: "two", DeviceClass: "large", Count: 2, Nodes: 1, Compared: 1, NoMatch: 1}},
			"train fits no node: 1 node rejected, 1 by DynamicResources. Request two of claim gpu needs 2 devices of class large: 1 of 1 checked node cannot satisfy it (too few match on 1).",
		},
		"not together": {
			rejectedForDevices(devices{wants("one", 1, 1, 0), wants("other", 1, 1, 0)}),
			nil,
			"train fits no node: 1 node rejected, 1 by DynamicResources. On 1 node, each device request could be met on its own, but not all of them together.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := Cycle(tc.cycle)
			if diff := cmp.Diff(tc.want, e.Devices); diff != "" {
				t.Error(diff)
			}
			if e.Sentence != tc.sentence {
				t.Errorf("\n%s, want\n%s", e.Sentence, tc.sentence)
			}
		})
	}
}

// holdingDevices returns the cycle of a pod whose claims were allocated.
func holdingDevices() *result.Cycle {
	device := func(driver, name string) result.AllocatedDevice {
		return result.AllocatedDevice{Request: "r", Driver: driver, Pool: "n", Device: name}
	}
	many := []result.AllocatedDevice{}
	for _, name := range []string{"0", "1", "2", "3", "4"} {
		many = append(many, device("gpu.example.com", "gpu-"+name))
	}
	return &result.Cycle{
		Summary: result.Summary{
			Pod: result.Pod{Name: "train"}, Outcome: result.Scheduled, SelectedNode: "n", Nodes: result.NodeCounts{Total: 1, Evaluated: 1, Feasible: 1, Wanted: 1},
		},
		Claims: []result.ClaimAllocation{
			{Name: "fast", Devices: []result.AllocatedDevice{device("gpu.example.com", "gpu-0"), device("gpu.example.com", "gpu-1"), device("nic.example.com", "nic-0")}},
			{Name: "none"},
			{Name: "all", Devices: many},
		},
	}
}

func TestDevicesThatAPodGot(t *testing.T) {
	const want = "train runs on n: the only feasible node of 1 evaluated. Its claim fast holds gpu-0, gpu-1 of gpu.example.com and nic-0 of nic.example.com, its claim all holds 5 devices of gpu.example.com."
	if got := Cycle(holdingDevices()).Sentence; got != want {
		t.Errorf("\n%s, want\n%s", got, want)
	}
}
