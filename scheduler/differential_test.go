package scheduler_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/clock"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/versions/decide"
)

// The defaults are the smallest run in which every covered case happens.
var (
	clusters = flag.Int("clusters", 3*schedulertest.Themes, "how many random clusters the differential test runs")
	seed     = flag.Uint64("seed", 28, "the seed of the first random cluster")
	// hypotheses is enough for more than 2,000 decisions.
	hypotheses = flag.Int("hypotheses", 10*schedulertest.Themes, "how many random clusters the test of hypotheses runs")
	show       = flag.Bool("transcript", false, "log the transcripts of the random clusters")
)

func TestMain(m *testing.M) {
	if how := os.Getenv(serves); how != "" {
		if err := decide.Serve(serving(how), os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	schedulertest.Prepare()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// TestRecordingChangesNothing runs random clusters through the bare and the
// recorded scheduler. Everything that can be seen from outside must be the same,
// to the microsecond: the answers for each node, the scores, the choice, the
// messages, conditions and events, the victims, what the scheduler writes, which
// event moved which pod between the queues, and the state of the queues after
// each operation. Annotations are written in the recorded run only.
//
// The recorded cycles must then agree with what the observer saw, and nothing may
// have a name that only the recorder knows.
func TestRecordingChangesNothing(t *testing.T) {
	var everything strings.Builder
	known := pluginNames()
	lots := 0
	rounds := fewer(*clusters, 10)
	for n := range rounds {
		n = n * schedulertest.Themes / min(rounds, schedulertest.Themes) // one of each theme, or of some
		cluster := schedulertest.Generate(*seed + uint64(n))
		t.Run(cluster.Name, func(t *testing.T) {
			setGates(t, cluster.Gates)
			bare := runBare(t, cluster)
			recorded, cycles := runRecorded(t, cluster, *seed+uint64(n))
			if *show {
				for _, line := range recorded.Transcript.Lines() {
					t.Log(line)
				}
			}
			switch diff := schedulertest.Diff(bare.Transcript, recorded.Transcript); {
			case diff == "":
			case drawsLots(t, cluster, bare, recorded):
				lots++
				t.Logf("the bare scheduler alone differs as much:\n%s", diff)
			default:
				t.Fatalf("the recorded scheduler (+) differs from the bare one (-):\n%s", diff)
			}
			checkCycles(t, recorded.Observer.Attempts(), cycles)
			checkEvictions(t, recorded.Observer, cycles)
			checkNames(t, known, recorded, cycles)
			for _, line := range recorded.Transcript.Lines() {
				everything.WriteString(line + "\n")
			}
		})
	}
	checkMetrics(t, known)
	if lots > 1+rounds/20 {
		t.Errorf("the bare scheduler is not repeatable in %d clusters, too many to compare", lots)
	}
	if rounds < 3*schedulertest.Themes {
		return
	}
	for _, want := range covered {
		if !regexp.MustCompile(want).MatchString(everything.String()) {
			t.Errorf("no cluster had %q", want)
		}
	}
}

// fewer returns the number of rounds of a test: most, or fast under -short.
func fewer(most, fast int) int {
	if testing.Short() {
		return min(most, fast)
	}
	return most
}

// drawsLots reports whether a second run of the bare scheduler differs from the
// first no later than the recorded run does. In a few clusters the scheduler's
// choice depends on the order of a Go map, for example between the victims for a
// pod group.
func drawsLots(t *testing.T, cluster *schedulertest.Cluster, bare, recorded *schedulertest.Simulation) bool {
	at := schedulertest.FirstDifference(bare.Transcript, recorded.Transcript)
	for range 8 {
		again := schedulertest.FirstDifference(bare.Transcript, runBare(t, cluster).Transcript)
		if again >= 0 && again <= at {
			return true
		}
	}
	return false
}

// covered lists the cases that must happen in some cluster; otherwise the test
// proves less than it claims.
var covered = []string{
	`nominates "n\d+"`,
	`write: DELETE pods .* by kube-scheduler`,
	`deleting true`,
	`failure of .*: Error`,
	`hint: "n\d+"`,
	`nominated to n\d+: \[p`,
	`permitted .*: Success`,
	`on second thoughts`, `rejected due to timeout`,
	`selected n\d+: 1 evaluated, 1 feasible`,
	`batch: hinted "n\d+"`,
	`permit .*: Wait`,
	`permitted .*: Unschedulable by Patient`,
	`podGroupPostFilter .*: Success`,
	`placement \S+ of g\d+: \d`,
	`gated by SchedulingGates`,
	`gated by GangScheduling`,
	`unreserve`,
	`nodes \[n`,
	`write: POST persistentvolumes provisioned`,
	`write: PUT persistentvolumes volume-`,
	`write: PUT resourceclaims .*allocation`,
	`Preemption is not helpful`,
	`by NodePorts`, `by NodeAffinity`, `by InterPodAffinity`, `by PodTopologySpread`, `by TaintToleration`,
	`by NodeUnschedulable`, `by NodeResourcesFit`, `by VolumeBinding`, `by VolumeZone`, `by DynamicResources`, `by Picky`,
	`queue: AssignedPodDelete moved`, `queue: NodeAdd moved`, `queue: NodeUpdateNodeLabel moved`, `queue: NodeUpdateNodeTaint moved`,
	`queue: NodeUpdateNodeAllocatable moved`, `queue: PersistentVolumeAdd moved`, `queue: an update of \S+ moved`,
	`unschedulable→backoff`, `unschedulable→active`,
}

// TestOthersUpdatesStillCount checks that the queue misses only the updates of our
// own annotations. An update that changes only the managed fields, as server-side
// apply sends it, requeues pods that a plugin without queueing hints rejected.
func TestOthersUpdatesStillCount(t *testing.T) {
	pod := st.MakePod().Name("choosy").Namespace(schedulertest.Namespace).SchedulerName(v1.DefaultSchedulerName).
		Label("app", "b").Req(map[v1.ResourceName]string{v1.ResourceCPU: "1"}).Obj()
	other := st.MakePod().Name("other").Namespace(schedulertest.Namespace).SchedulerName(v1.DefaultSchedulerName).
		Req(map[v1.ResourceName]string{v1.ResourceCPU: "1"}).Obj()
	patch := func(pod, patch string) schedulertest.Operation {
		return schedulertest.Operation{Name: "patch " + pod + " with " + patch, Do: func(ctx context.Context, sim *schedulertest.Simulation) error {
			return sim.PatchPod(ctx, pod, patch)
		}}
	}
	cluster := &schedulertest.Cluster{
		Name: "updates by others",
		Configuration: `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 1
profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [{name: Picky}]}}
`,
		Objects: []runtime.Object{
			st.MakeNode().Name("n1").Label("disk", "ssd").Capacity(map[v1.ResourceName]string{v1.ResourceCPU: "4"}).Obj(),
			pod, other,
		},
		Operations: []schedulertest.Operation{
			patch("choosy", `{"metadata":{"annotations":{"example.com/note":"seen"}}}`),
			patch("choosy", `{"metadata":{"managedFields":[{"manager":"kubectl","operation":"Apply","apiVersion":"v1"}]}}`),
			patch("other", `{"metadata":{"managedFields":[{"manager":"kubectl","operation":"Apply","apiVersion":"v1"}]}}`),
		},
	}
	bare := runBare(t, cluster)
	recorded, _ := runRecorded(t, cluster, 1)
	if diff := schedulertest.Diff(bare.Transcript, recorded.Transcript); diff != "" {
		t.Fatalf("the recorded scheduler (+) differs from the bare one (-):\n%s", diff)
	}
}

// TestRunsAreRepeatable checks the premise of the comparison: two runs of the bare
// scheduler are the same.
func TestRunsAreRepeatable(t *testing.T) {
	for n := range fewer(schedulertest.Themes, 1) {
		cluster := schedulertest.Generate(*seed + uint64(n))
		t.Run(cluster.Name, func(t *testing.T) {
			setGates(t, cluster.Gates)
			if diff := schedulertest.Diff(runBare(t, cluster).Transcript, runBare(t, cluster).Transcript); diff != "" {
				t.Fatalf("the second run (+) differs from the first (-):\n%s", diff)
			}
		})
	}
}

func setGates(t *testing.T, gates map[string]bool) {
	if len(gates) == 0 {
		return
	}
	overrides := featuregatetesting.FeatureOverrides{}
	for name, on := range gates {
		overrides[featuregate.Feature(name)] = on
	}
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, overrides)
}

func runBare(t *testing.T, cluster *schedulertest.Cluster) *schedulertest.Simulation {
	return run(t, cluster, schedulertest.Hooks{Start: start(t, cluster, nil)})
}

// runRecorded runs a cluster through the recorded scheduler, with an annotation
// writer that follows the results, with further writes of annotations to pods
// in any state, and with hypothetical questions about them.
func runRecorded(t *testing.T, cluster *schedulertest.Cluster, seed uint64) (*schedulertest.Simulation, *sink) {
	cycles := &sink{feed: scheduler.NewFeed()}
	random := rand.New(rand.NewPCG(seed, 73))
	asker := newAsker(t, cluster, cycles.feed, seed)
	sim := run(t, cluster, schedulertest.Hooks{
		Start: start(t, cluster, cycles),
		Beside: func(ctx context.Context, sim *schedulertest.Simulation, step int) {
			pods := sim.PodNames()
			if len(pods) == 0 {
				return
			}
			for range 4 {
				time.Sleep(time.Duration(random.IntN(8_000_000)))
				pod := pods[random.IntN(len(pods))]
				sim.Annotate(ctx, pod, annotation.Prefix+"selected-node", fmt.Sprint("step ", step, random.IntN(1000)))
				asker.ask(ctx, pods)
			}
		},
	})
	return sim, cycles
}

// run runs a cluster in a bubble, which ends only when every goroutine of the
// scheduler has ended.
func run(t *testing.T, cluster *schedulertest.Cluster, hooks schedulertest.Hooks) (sim *schedulertest.Simulation) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		if sim, err = cluster.Run(klog.NewContext(t.Context(), logr.Discard()), hooks); err != nil {
			t.Fatal(err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return sim
}

// start returns a function that starts a scheduler that reports to cycles, or the
// bare scheduler if cycles is nil. more are further plugins.
func start(t *testing.T, cluster *schedulertest.Cluster, cycles *sink, more ...frameworkruntime.Registry) func(context.Context, *schedulertest.Simulation) (func(context.Context) error, error) {
	c, err := config.Parse([]byte(cluster.Configuration))
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, sim *schedulertest.Simulation) (func(context.Context) error, error) {
		options := scheduler.Options{Client: sim.Server.Config("scheduler"), Configuration: c.Internal, OutOfTree: sim.Observer.OutOfTree()}
		for _, registry := range more {
			maps.Copy(options.OutOfTree, registry)
		}
		stopWriter := func() {}
		if cycles != nil {
			options.Sink = cycles
			client, err := kubernetes.NewForConfig(sim.Server.Config(schedulertest.Annotator))
			if err != nil {
				return nil, err
			}
			stopWriter = cycles.annotate(ctx, client)
			options.Feed = cycles.feed
		}
		s := scheduler.New(options)
		err := s.StartObserved(ctx, sim.Observer.Events(), func(sched *kubescheduler.Scheduler) { sim.Attach(sched) })
		return func(ctx context.Context) error {
			defer stopWriter()
			return s.Stop(ctx)
		}, err
	}
}

// sink keeps every cycle.
type sink struct {
	// feed may be nil.
	feed *scheduler.Feed

	mu       sync.Mutex
	attempts map[types.UID][]*result.Cycle
	next     map[types.UID]int
	puts     int
	// history has every version of every cycle, in order.
	history []*result.Cycle
	writer  *annotation.Writer
}

func (s *sink) NextAttempt(uid types.UID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = map[types.UID]int{}
	}
	s.next[uid]++
	return s.next[uid]
}

func (s *sink) Put(c *result.Cycle) {
	s.mu.Lock()
	if s.attempts == nil {
		s.attempts = map[types.UID][]*result.Cycle{}
	}
	s.puts++
	s.history = append(s.history, c)
	all := s.attempts[c.Pod.UID]
	if i := slices.IndexFunc(all, func(known *result.Cycle) bool { return known.Attempt == c.Attempt }); i >= 0 {
		all[i] = c
	} else {
		s.attempts[c.Pod.UID] = append(all, c)
	}
	s.mu.Unlock()
	if s.writer != nil {
		s.writer.Note(c)
	}
}

// Get is for the annotation writer.
func (s *sink) Get(uid types.UID, attempt int) (*result.Cycle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.attempts[uid] {
		if c.Attempt == attempt {
			return c, nil
		}
	}
	return nil, nil
}

// Pods implements annotation.Results.
func (s *sink) Pods() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.attempts)
}

// annotate runs the real annotation writer on incoming cycles until it is stopped.
func (s *sink) annotate(ctx context.Context, client kubernetes.Interface) (stop func()) {
	s.writer = annotation.NewWriter(client, s, annotation.DefaultBudget, clock.RealClock{}, nil)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.writer.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}
