package openb

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const podHeader = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"

func TestRead(t *testing.T) {
	nodes, err := Read(strings.NewReader("sn,cpu_milli,memory_mib,gpu,model\nn1,32000,1024,2,T4\n"))
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]any{"cpu": "32000m", "memory": "1024Mi", "pods": "110", ResourceGPU: "2000"}
	if diff := cmp.Diff(has, nodes[0].Object()["status"].(map[string]any)["allocatable"]); diff != "" {
		t.Error(diff)
	}
	pods, err := Read(strings.NewReader(podHeader + "b,1000,64,0,0,,LS,Running,50,80,50\na,1000,64,1,460,T4|P100,BE,Running,20,,20\n"))
	if err != nil {
		t.Fatal(err)
	}
	type times struct {
		Name         string
		At, Lifetime time.Duration
	}
	var got []times
	for _, p := range pods {
		got = append(got, times{p.Object()["metadata"].(map[string]any)["name"].(string), p.At, p.Lifetime})
	}
	if diff := cmp.Diff([]times{{"a", 20 * time.Second, 0}, {"b", 50 * time.Second, 30 * time.Second}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestGaps: a trace with gaps is an error at its line, and not a shorter trace.
func TestGaps(t *testing.T) {
	for name, test := range map[string]struct {
		text, message string
		line          int
	}{
		"no row":            {"", "empty", 1},
		"a missing column":  {"name,cpu_milli\n", "no column memory_mib", 1},
		"a missing time":    {podHeader + "a,1,1,0,0,,LS,Running,,,\n", "creation_time is missing", 2},
		"a missing cell":    {podHeader + "a,1,1\n", "wrong number of fields", 2},
		"no number":         {podHeader + "a,x,1,0,0,,LS,Running,1,2,1\n", `cpu_milli is "x"`, 2},
		"an end before":     {podHeader + "a,1,1,0,0,,LS,Running,9,2,1\n", "before creation_time", 2},
		"the second is bad": {podHeader + "a,1,1,0,0,,LS,Running,1,2,1\n,1,1,0,0,,LS,Running,1,2,1\n", "name is missing", 3},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.text))
			wrong, ok := err.(*Error)
			if !ok || wrong.Line != test.line || !strings.Contains(wrong.Message, test.message) {
				t.Errorf("%v, want line %d: %s", err, test.line, test.message)
			}
		})
	}
}
