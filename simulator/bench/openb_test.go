package bench

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/report"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

func TestOpenbManifests(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nodes, err := readOpenb(write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nn,32000,1024,2,P100\n"))
	if err != nil {
		t.Fatal(err)
	}
	pods, err := readOpenb(write("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time\n"+
		"late,1000,64,0,,,BE,1000,\nearly,1500,64,1,500,P100|T4,LS,9,\n"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(append(nodes, pods...))
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Metadata struct{ Name string }
		Spec     struct {
			Containers []struct{ Resources map[string]map[string]string }
			Affinity   any
		}
		Status struct{ Allocatable v1.ResourceList }
	}
	if err := json.Unmarshal(document, &got); err != nil {
		t.Fatal(err)
	}
	node, early, late := got[0], got[1], got[2]
	allocatable := map[string]string{}
	for name, quantity := range node.Status.Allocatable {
		allocatable[string(name)] = quantity.String()
	}
	if diff := cmp.Diff(map[string]string{"cpu": "32", "memory": "1Gi", "openb.example/gpu-milli": "2k", "pods": "110"}, allocatable); diff != "" {
		t.Error(diff)
	}
	if early.Metadata.Name != "early" || late.Metadata.Name != "late" {
		t.Error("the pods are not in the order of their creation")
	}
	want := map[string]map[string]string{
		"requests": {"cpu": "1500m", "memory": "64Mi", "openb.example/gpu-milli": "500"},
		"limits":   {"openb.example/gpu-milli": "500"},
	}
	if diff := cmp.Diff(want, early.Spec.Containers[0].Resources); diff != "" {
		t.Error(diff)
	}
	if early.Spec.Affinity == nil || late.Spec.Affinity != nil {
		t.Error("only the pod with a gpu_spec has an affinity")
	}
	if _, err := readOpenb(write("bad.csv", "sn,cpu_milli,memory_mib,gpu,model\nn,much,1,0,\n")); err == nil {
		t.Error("a bad row is accepted")
	}
}

// The scenario is one that the program runs, and its report is one that is read back.
func TestOpenbScenario(t *testing.T) {
	text, err := openbScenario("/dir")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]string{
		"/dir/nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\nn,32000,1024,2,P100\n",
		"/dir/pods.csv":  "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time\np,1000,64,0,,,BE,1000,\nlarge,99000,64,0,,,BE,1000,\n",
	}
	s, err := scenario.Load(t.Context(), text, scenario.Options{File: "openb.yaml", Parse: config.Parse, Read: func(name string) ([]byte, error) { return []byte(read[name]), nil }})
	if err != nil {
		t.Fatal(err)
	}
	r := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: inmemory.Engine(nil)})
	data, err := report.JSON([]report.Suite{{Results: []*scenario.Result{r}}})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := placedIn(data); n != 1 || err != nil {
		t.Errorf("%d pods have a node, want 1; %v %s", n, err, r.Error)
	}
	if _, err := placedIn([]byte("{}")); err == nil {
		t.Error("an empty report is accepted")
	}
}

// TestDecidedAlthoughTheBindingFailed: an attempt whose binding ends in an error may have bound its pod, which is not tried again.
func TestDecidedAlthoughTheBindingFailed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `scheduler_cache_size{type="assumed_pods"} 2
scheduler_cache_size{type="nodes"} 5
scheduler_cache_size{type="pods"} 10
scheduler_pending_pods{queue="active"} 4
scheduler_pending_pods{queue="unschedulable"} 1
scheduler_schedule_attempts_total{profile="default-scheduler",result="error"} 1
scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 7
`)
	}))
	defer server.Close()
	decided, bound, err := (&product{url: server.URL}).decided(t.Context())
	if decided != 9 || bound != 8 || err != nil {
		t.Errorf("%d pods are decided, of which %d are bound (%v); want 9 and 8", decided, bound, err)
	}
}
