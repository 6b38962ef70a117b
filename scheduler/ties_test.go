package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// A cluster in which the search stops early and most nodes are equally good.
const (
	tieNodes = 200
	tiePods  = 300
)

// TestASeedDecidesTies checks that two runs with the same seed place all pods
// alike, although the search evaluates only half of the nodes, and that another
// seed places them differently. TestRecordingChangesNothing covers scheduling
// without a seed.
func TestASeedDecidesTies(t *testing.T) {
	first, second, other := placements(t, 1), placements(t, 1), placements(t, 2)
	if len(first.nodes) != tiePods {
		t.Fatalf("%d of %d pods are placed", len(first.nodes), tiePods)
	}
	if diff := cmp.Diff(first.nodes, second.nodes); diff != "" {
		t.Errorf("the second run (+) differs from the first (-):\n%s", diff)
	}
	if cmp.Equal(first.nodes, other.nodes) {
		t.Error("another seed places all pods alike")
	}
	used := map[string]bool{}
	for _, node := range first.nodes {
		used[node] = true
	}
	if len(used) < tieNodes/2 {
		t.Errorf("only %d nodes are used: the seed favours some", len(used))
	}
	if first.tied < tiePods/2 || first.partly < tiePods/2 {
		t.Errorf("%d cycles were ties and %d evaluated a part: the test proves less than it says", first.tied, first.partly)
	}
	for _, c := range first.cycles {
		if err := checkTie(c); err != nil {
			t.Error(err)
		}
	}
}

// checkTie checks that the chosen node has the best total, and that a fact says if
// a seed decided.
func checkTie(c *result.Cycle) error {
	var said string
	for _, f := range c.Facts {
		if f.Plugin == result.TieSeed {
			said = f.Value
		}
	}
	if len(c.Score.Tied()) == 0 && said == "" {
		return nil
	}
	want := fmt.Sprintf("%s among %d nodes with the same total, by seed 1", c.SelectedNode, len(c.Score.Tied()))
	if said != want || !strings.Contains(" "+strings.Join(c.Score.Tied(), " ")+" ", " "+c.SelectedNode+" ") {
		return fmt.Errorf("%s: tied are %v, chosen is %s, the fact is %q", c.Pod.Name, c.Score.Tied(), c.SelectedNode, said)
	}
	return nil
}

type placed struct {
	nodes        map[string]string
	cycles       []*result.Cycle
	tied, partly int
}

// placements schedules pods one after the other and returns their nodes.
func placements(t *testing.T, seed int64) (out placed) {
	c, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	out.nodes = map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		ctx := klog.NewContext(t.Context(), logr.Discard())
		server, cycles := schedulertest.NewAPIServer(), &sink{}
		client, err := kubernetes.NewForConfig(server.Config("user"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range tieNodes {
			node := st.MakeNode().Name(fmt.Sprintf("n%03d", i)).Label(v1.LabelTopologyZone, fmt.Sprint("z", i%3)).
				Capacity(map[v1.ResourceName]string{v1.ResourceCPU: "4", v1.ResourceMemory: "8Gi"}).Obj()
			if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		s := scheduler.New(scheduler.Options{Client: server.Config("scheduler"), Configuration: c.Internal, Sink: cycles, TieSeed: &seed})
		if err := s.StartObserved(ctx, schedulertest.NewObserver(&schedulertest.Transcript{}).Events(), func(*kubescheduler.Scheduler) {}); err != nil {
			t.Fatal(err)
		}
		for i := range tiePods {
			pod, err := client.CoreV1().Pods("default").Create(ctx, st.MakePod().Namespace("default").Name(fmt.Sprintf("p%03d", i)).UID(fmt.Sprintf("u%03d", i)).
				Req(map[v1.ResourceName]string{v1.ResourceCPU: "100m"}).SchedulerName("default-scheduler").Obj(), metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			waitIdle(t, ctx, s, pod)
		}
		for _, attempts := range cycles.attempts {
			c := attempts[len(attempts)-1]
			out.nodes[c.Pod.Name], out.cycles = c.SelectedNode, append(out.cycles, c)
			if len(c.Score.Tied()) > 0 {
				out.tied++
			}
			if c.Nodes.Evaluated < c.Nodes.Total {
				out.partly++
			}
		}
		if err := s.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // upstream does not wait for some goroutines; they end on their own
	})
	return out
}

// waitIdle waits until the scheduler has processed a new pod and the API shows the
// result.
func waitIdle(t *testing.T, ctx context.Context, s *scheduler.Scheduler, pod *v1.Pod) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := s.Idle(ctx, []scheduler.Change{{UID: pod.UID, ResourceVersion: pod.ResourceVersion, Certain: true}}); err != nil {
		t.Fatal(err)
	}
}
