package simulation_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/simulation"
)

// busyCluster returns a random cluster in which ties, preemption, gates, spreading, volumes and
// devices occur.
func busyCluster(t testing.TB, seed uint64, nodes, pods int) []runtime.Object {
	r := rand.New(rand.NewPCG(seed, 0))
	var out []string
	for _, class := range []string{"low", "mid", "high"} {
		out = append(out, fmt.Sprintf(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: %s}, value: %d}`, class, map[string]int{"low": 1, "mid": 5, "high": 9}[class]))
	}
	out = append(out,
		`{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}`,
		`{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpu}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}`,
		`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {minAvailable: 2, selector: {matchLabels: {app: a0}}}}`)
	for n := range nodes {
		name := fmt.Sprintf("n%d", n)
		taint := ""
		if n%7 == 3 {
			taint = "spec: {taints: [{key: special, effect: PreferNoSchedule}]}, "
		}
		out = append(out, fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {topology.kubernetes.io/zone: z%d}}, %sstatus: {allocatable: {cpu: "%d", memory: 16Gi, pods: "20"}}}`, name, n%3, taint, 2+r.IntN(3)))
		if n%4 == 0 {
			out = append(out, fmt.Sprintf(`{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: %[1]s}, spec: {driver: gpu.example.com, nodeName: %[1]s, pool: {name: %[1]s, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}, {name: gpu-1}]}}`, name))
		}
	}
	for p := range pods {
		name := fmt.Sprintf("p%d", p)
		spec := []string{fmt.Sprintf(`containers: [{name: c, image: i, resources: {requests: {cpu: "%dm", memory: 128Mi}}}]`, 200+100*r.IntN(15))}
		switch r.IntN(8) {
		case 0:
			spec = append(spec, fmt.Sprintf(`topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a%d}}}]`, p%4))
		case 1:
			spec = append(spec, fmt.Sprintf(`affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: a%d}}}]}}`, p%4))
		case 2:
			out = append(out, fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, name))
			spec = append(spec, fmt.Sprintf(`volumes: [{name: v, persistentVolumeClaim: {claimName: %s}}]`, name))
		case 3:
			spec = append(spec, `resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]`)
		}
		spec = append(spec, `priorityClassName: `+[]string{"low", "low", "mid", "high"}[r.IntN(4)])
		out = append(out, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: a%d}}, spec: {%s}}`, name, p%4, strings.Join(spec, ", ")))
	}
	return objects(t, strings.Join(out, "\n---\n"))
}

// transcript runs a busy cluster and returns everything that can be seen of it.
func transcript(t testing.TB, seed uint64, tieSeed int64) []string {
	var out []string
	write := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		out = append(out, string(data))
	}
	s := start(t, simulation.Options{Seed: tieSeed, Observe: func(c *result.Cycle) { write(c) }})
	for _, o := range busyCluster(t, seed, 12, 60) {
		must(t, s.Create(t.Context(), o))
	}
	create(t, s, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 6, selector: {matchLabels: {app: web}}, template: `+template+`}}`)
	must(t, s.Settle(t.Context()))
	must(t, s.Fail(t.Context(), "n1"))
	must(t, s.Advance(t.Context(), 7*time.Minute))
	must(t, s.Recover(t.Context(), "n1"))
	must(t, s.Settle(t.Context()))
	write(s.State())
	write(s.Results().Summaries())
	write(s.Now())
	return out
}

// TestTwoRunsAreTheSame compares every record, byte for byte, of runs beside each other.
func TestTwoRunsAreTheSame(t *testing.T) {
	seeds := []uint64{1, 2, 3, 4, 5, 6, 7, 8}
	if testing.Short() {
		seeds = seeds[:1]
	}
	for _, seed := range seeds {
		runs := make([][]string, 3)
		var running sync.WaitGroup
		for i := range runs {
			running.Go(func() { runs[i] = transcript(t, seed, int64(seed)+int64(i/2)) })
		}
		running.Wait()
		if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
			t.Fatalf("seed %d: the second run (+) differs from the first (-):\n%s", seed, diff)
		}
		if cmp.Equal(runs[0], runs[2]) {
			t.Errorf("seed %d: another seed for ties gives the same run", seed)
		}
		if len(runs[0]) < 60 {
			t.Errorf("seed %d: only %d records", seed, len(runs[0]))
		}
	}
}
