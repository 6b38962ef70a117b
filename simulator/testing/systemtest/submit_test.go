package systemtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// submitted is what the command says of a job.
type submitted struct {
	Verdict string
	Quota   struct {
		PodSets []struct{ Flavors map[string]string }
	}
	Nodes struct {
		Fit, Pods int
		On        []string
	}
	Reason   struct{ Tier string }
	Preempts []struct {
		Name string
		Now  bool
	}
}

// TestWhatIsAskedBeforeSubmittingComesTrue asks about jobs, creates them, and compares.
func TestWhatIsAskedBeforeSubmittingComesTrue(t *testing.T) {
	k := startKueue(t, newHome(t), "--kueue")
	k.apply(t, "submit.yaml")
	dir := t.TempDir()
	ask := func(name, priority, cpu string, pods int) (file string, says submitted) {
		file = filepath.Join(dir, name+".yaml")
		manifest := fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: team, kueue.x-k8s.io/priority-class: %s}}
spec:
  parallelism: %d
  completions: 1000
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: %q}}}]
`, name, priority, pods, cpu)
		if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), clustertest.Program(), "submit", "--dry-run", "-f", file, "-o", "json", "--server", k.url)
		out, err := command.Output()
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Fatalf("asking about %s: %v\n%s", name, err, exit.Stderr)
		}
		if err := json.Unmarshal(out, &says); err != nil {
			t.Fatalf("asking about %s: %v in %s", name, err, out)
		}
		return file, says
	}
	flavorOf := func(name string) string {
		w, err := k.workload(t, name)
		if err != nil {
			t.Fatal(err)
		}
		sets, _, _ := unstructured.NestedSlice(w.Object, "status", "admission", "podSetAssignments")
		flavor, _, _ := unstructured.NestedString(sets[0].(map[string]any), "flavors", "cpu")
		return flavor
	}

	// Admitted, with nodes: the flavor and the nodes are those that were said.
	file, says := ask("first", "low", "1", 3)
	if says.Verdict != "admitted" || says.Nodes.Fit != 3 {
		t.Fatalf("first: %+v", says)
	}
	if _, err := k.workload(t, "first"); err == nil {
		t.Fatal("asking has created a workload")
	}
	k.Must(t, "create", "-f", file)
	nodes := k.runs(t, "first", 3)
	slices.Sort(nodes)
	slices.Sort(says.Nodes.On)
	if got := flavorOf("first"); got != says.Quota.PodSets[0].Flavors["cpu"] || !slices.Equal(nodes, says.Nodes.On) {
		t.Errorf("first runs in the flavor %s on %v; %+v was said", got, nodes, says)
	}

	// Admitted, and not every pod has a node: the quota is larger than the node.
	file, says = ask("second", "low", "3", 2)
	if says.Verdict != "admitted" || says.Nodes.Fit != 1 || says.Nodes.Pods != 2 {
		t.Fatalf("second: %+v", says)
	}
	k.Must(t, "create", "-f", file)
	k.has(t, "second", "Admitted", "True", "")
	k.runs(t, "second", 1)

	// Waits, without a victim.
	file, says = ask("third", "low", "2", 1)
	if says.Verdict != "waits" || says.Reason.Tier != "WaitingForQuota" || len(says.Preempts) > 0 {
		t.Fatalf("third: %+v", says)
	}
	k.Must(t, "create", "-f", file)
	k.has(t, "third", "QuotaReserved", "False", says.Reason.Tier)

	// Preempts one of lower priority, and gets its place.
	file, says = ask("fourth", "high", "3", 2)
	if says.Verdict != "waits" || says.Reason.Tier != "WaitingForPreemptedWorkloads" || len(says.Preempts) != 1 || !says.Preempts[0].Now {
		t.Fatalf("fourth: %+v", says)
	}
	w, err := k.workload(t, "second")
	if err != nil || w.GetName() != says.Preempts[0].Name {
		t.Fatalf("%s is to be preempted, and second is %s: %v", says.Preempts[0].Name, w.GetName(), err)
	}
	k.Must(t, "create", "-f", file)
	k.has(t, "second", "Preempted", "True", "InClusterQueue")
	k.has(t, "fourth", "Admitted", "True", "")

	// Never.
	file, says = ask("fifth", "low", "6", 2)
	if says.Verdict != "never" || says.Reason.Tier != "ExceedsMaxQuota" {
		t.Fatalf("fifth: %+v", says)
	}
	k.Must(t, "create", "-f", file)
	k.has(t, "fifth", "QuotaReserved", "False", says.Reason.Tier)
}
