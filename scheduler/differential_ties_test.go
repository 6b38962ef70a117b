package scheduler_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/internal/upstream"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// Candidates for preemption often tie: their victims have the same priorities and started
// together. The order of a map then decides, so the clusters of TestRecordingChangesNothing
// avoid ties. Here a plugin decides them by the names of the nodes, and is otherwise
// DefaultPreemption.
func TestRecordingChangesNothingAboutTies(t *testing.T) {
	rules := map[result.PreemptionRule]int{}
	for seed := range uint64(fewer(24, 8)) {
		cluster := tyingCluster(seed)
		t.Run(cluster.Name, func(t *testing.T) {
			registry := frameworkruntime.Registry{"Decisive": newDecisive}
			bare := run(t, cluster, schedulertest.Hooks{Start: start(t, cluster, nil, registry)})
			cycles := &sink{}
			recorded := run(t, cluster, schedulertest.Hooks{Start: start(t, cluster, cycles, registry)})
			if diff := schedulertest.Diff(bare.Transcript, recorded.Transcript); diff != "" {
				t.Fatalf("the recorded scheduler (+) differs from the bare one (-):\n%s", diff)
			}
			checkCycles(t, recorded.Observer.Attempts(), cycles)
			checkEvictions(t, recorded.Observer, cycles)
			for _, c := range cycles.history {
				if c.Preemption != nil && c.Preemption.Chosen != "" {
					rules[c.Preemption.Rule]++
				}
			}
		})
	}
	t.Logf("preemptions were decided by %v", rules)
	for _, rule := range []result.PreemptionRule{result.FirstFound, result.LatestEarliestStartTime, result.LowestSumOfPriorities} {
		if rules[rule] == 0 {
			t.Errorf("no preemption was decided by %q", rule)
		}
	}
}

// tyingCluster is full of pods of a few priorities and start times. Others preempt them.
func tyingCluster(seed uint64) *schedulertest.Cluster {
	r := rand.New(rand.NewPCG(seed, 41))
	c := &schedulertest.Cluster{
		Name:          fmt.Sprint("seed ", seed),
		Configuration: header + "parallelism: 1\nprofiles:\n- plugins:\n    multiPoint: {enabled: [{name: Decisive}], disabled: [{name: DefaultPreemption}]}\n",
		Grace:         time.Duration(r.IntN(2)) * 1500 * time.Millisecond,
	}
	for i := range 4 + r.IntN(4) {
		node := fmt.Sprintf("n%d", i)
		c.Objects = append(c.Objects, cpuNode(node, "4"))
		for j := range 2 {
			victim := cpuPod(fmt.Sprintf("on-%s-%d", node, j), "2").Node(node).Priority(int32(10 * r.IntN(2))).Obj()
			if r.IntN(4) > 0 {
				victim.Status.StartTime = &metav1.Time{Time: time.Unix(int64(r.IntN(2)), 0)}
			}
			c.Objects = append(c.Objects, victim)
		}
	}
	for i := range 5 {
		pod := cpuPod(fmt.Sprint("preemptor-", i), []string{"2", "4"}[r.IntN(2)]).Priority(int32(100 * (1 + r.IntN(2)))).Obj()
		c.Operations = append(c.Operations, adding(pod))
	}
	return c
}

// decisive is DefaultPreemption, but never leaves the choice of a candidate to chance.
type decisive struct {
	*defaultpreemption.DefaultPreemption
}

func newDecisive(ctx context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	args := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}
	made, err := defaultpreemption.New(ctx, args, h, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return nil, err
	}
	upstream.SeedPreemption(made, upstream.PreemptionChoice{
		Offset: func(int32) int32 { return 0 },
		Rank: func(node string) int64 {
			hash := fnv.New32a()
			_, _ = fmt.Fprint(hash, node)
			return int64(hash.Sum32())
		},
		Now: time.Now,
	})
	return decisive{made}, nil
}

func (decisive) Name() string { return "Decisive" }

// Preemption tells the recorder what preempts for the plugin.
func (d decisive) Preemption() (*preemption.Evaluator, *preemption.Executor) {
	return d.Evaluator, d.Executor
}

var (
	_ fwk.PostFilterPlugin = decisive{}
	_ fwk.PreEnqueuePlugin = decisive{}
)
