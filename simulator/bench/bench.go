// Package bench measures the cost of recording: it schedules the same load with the bare and with
// the recorded scheduler, alternating in one run, on its own control plane.
//
// It is not a test: it passes no judgement, and its numbers are valid only for one machine. It may
// import scheduler/ and the control plane.
package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/past/timeline"
)

// Options configure a measurement.
type Options struct {
	// Load is the kind of cluster and pods.
	Load Load
	// Nodes is the size of the cluster, and Pods the size of the load of one run.
	Nodes, Pods int
	// Pairs is the number of pairs of a bare and a recorded run; the median counts.
	Pairs int
	// AnnotationBytes bounds the results in a pod's annotations; 0 writes no annotations.
	AnnotationBytes int
	// Timeline also measures the cost of the time line: each round has one more run, recorded like
	// the first, that keeps one.
	Timeline bool
	// CPUProfile and BareCPUProfile are files for profiles of all recorded and of all bare runs;
	// none by default. With several bounds of annotations, CPUProfile is of the runs with the last
	// one.
	CPUProfile, BareCPUProfile string
	// MemoryProfile is a file for a profile of the end of the last recorded run, while the results
	// are kept; none by default.
	MemoryProfile string
}

// Rate is a throughput.
type Rate struct {
	// PodsPerSecond is the median of Runs: pods bound per second, from the first creation, or from
	// the first binding for Batch, to the last binding.
	PodsPerSecond float64   `json:"podsPerSecond"`
	Runs          []float64 `json:"runs"`
}

// Report compares bare with recorded scheduling, measured in one run.
type Report struct {
	Load            Load `json:"load"`
	Nodes           int  `json:"nodes"`
	Pods            int  `json:"pods"`
	AnnotationBytes int  `json:"annotationBytes"`
	Bare            Rate `json:"bare"`
	Recorded        Rate `json:"recorded"`
	// Ratio is the median over the pairs of recorded ÷ bare.
	Ratio float64 `json:"ratio"`
	// ProcessorRatio is the median over the pairs of the processor time of the whole program, bare
	// ÷ recorded. On a shared machine it varies less than Ratio; both are the same where the
	// program keeps all processors busy.
	ProcessorRatio float64 `json:"processorRatio"`
	// FastestRatio is the rate of the fastest recorded run ÷ that of the fastest bare one. Other
	// work on the machine only slows runs down, so it affects the fastest ones least.
	FastestRatio float64 `json:"fastestRatio"`
	// Timeline is set if Options.Timeline is: recorded scheduling that also keeps a time line, and
	// the median over the pairs of its rate ÷ that without one.
	Timeline      *Rate   `json:"timeline,omitempty"`
	TimelineRatio float64 `json:"timelineRatio,omitempty"`
	// DecisionP99Milliseconds is how long 99 % of the decisions of the last recorded run took at
	// most: the plugins of an attempt's scheduling cycle together.
	DecisionP99Milliseconds float64 `json:"decisionP99Milliseconds"`
	// ResultsKept counts the pods of the last recorded run whose latest attempt could be read back.
	ResultsKept int `json:"resultsKept"`
	// Shares are from a CPU profile of the recorded runs.
	Shares Shares `json:"shares"`
}

// Run measures and writes one JSON object to out.
func Run(ctx context.Context, o Options, out io.Writer) error {
	reports, err := measure(ctx, o, []int{o.AnnotationBytes})
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(reports[0])
}

// Sizes are the numbers of nodes of a full table.
var Sizes = []int{100, 1000, 5000}

// Table measures the loads in clusters of the sizes, without annotations and with o's. It writes a
// table to out, two rows for each measurement at once. Without o.Pods, each load has its own number
// of pods.
func Table(ctx context.Context, o Options, loads []Load, sizes []int, out io.Writer) error {
	const head, row = "%-12s %5s %5s %10s %7s %8s %6s %9s %7s %9s %7s %10s %7s\n",
		"%-12s %5d %5d %10d %7.0f %8.0f %6.2f %9.2f %7.2f %7.1f %% %5.1f %% %8.1f %% %7d\n"
	fmt.Fprintf(out, head, "", "", "", "annotation", "bare", "recorded", "", "processor", "fastest", "", "", "", "results")
	fmt.Fprintf(out, head, "load", "nodes", "pods", "bytes", "pods/s", "pods/s", "ratio", "ratio", "ratio", "recording", "storing", "annotating", "kept")
	for _, load := range loads {
		for _, nodes := range sizes {
			o := o
			o.Load, o.Nodes = load, nodes
			if o.Pods == 0 {
				o.Pods = load.pods(nodes)
			}
			reports, err := measure(ctx, o, []int{0, o.AnnotationBytes})
			if err != nil {
				return fmt.Errorf("the load %s on %d nodes: %w", load, nodes, err)
			}
			for _, r := range reports {
				fmt.Fprintf(out, row, r.Load, r.Nodes, r.Pods, r.AnnotationBytes, r.Bare.PodsPerSecond, r.Recorded.PodsPerSecond,
					r.Ratio, r.ProcessorRatio, r.FastestRatio, 100*r.Shares.Recording, 100*r.Shares.Storing, 100*r.Shares.Annotating, r.ResultsKept)
			}
		}
	}
	return nil
}

const stopTimeout = 30 * time.Second

// measure starts a control plane, measures on it and stops it. It returns a report for each of the
// bounds of annotations. All are compared with the same bare runs.
func measure(ctx context.Context, o Options, annotationBytes []int) (reports []*Report, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kube-scheduler-simulator-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &bench{Options: o, controlPlane: controlplane.New(controlplane.Options{DataDir: dir})}
	if err := b.controlPlane.Start(ctx); err != nil {
		return nil, fmt.Errorf("starting the control plane: %w", err)
	}
	defer func() {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err = errors.Join(err, b.controlPlane.Stop(stopCtx))
	}()
	if b.client, err = kubernetes.NewForConfig(b.controlPlane.ClientConfig()); err != nil {
		return nil, err
	}
	if err := b.createCluster(ctx); err != nil {
		return nil, err
	}
	for _, bytes := range annotationBytes {
		reports = append(reports, &Report{Load: o.Load, Nodes: o.Nodes, Pods: o.Pods, AnnotationBytes: bytes})
	}
	return reports, b.compare(ctx, reports)
}

func (o Options) check() error {
	if o.Nodes < 1 || o.Pods < 1 || o.Pairs < 1 {
		return errors.New("bench needs at least one node, one pod and one pair of runs")
	}
	if !slices.Contains(Loads, o.Load) {
		return fmt.Errorf("%q is not one of the loads %s", o.Load, Loads)
	}
	if most := o.Load.capacity(o.Nodes); o.Pods > most {
		return fmt.Errorf("only %d pods of the load %s fit on %d nodes", most, o.Load, o.Nodes)
	}
	return nil
}

// compare fills in the rates and ratios. Each round has a bare run and a recorded one for each
// report.
func (b *bench) compare(ctx context.Context, reports []*Report) error {
	// The first run warms up the caches and is not counted.
	if _, err := b.run(ctx, recording{annotationBytes: reports[0].AnnotationBytes}); err != nil {
		return err
	}
	variants := []recording{{bare: true}}
	for _, r := range reports {
		variants = append(variants, recording{annotationBytes: r.AnnotationBytes})
	}
	if b.Timeline {
		variants = append(variants, recording{annotationBytes: reports[0].AnnotationBytes, timeline: true})
	}
	runs, processor := make([][]float64, len(variants)), make([][]float64, len(variants))
	profiles := make([][]*profile.Profile, len(variants))
	for round := range b.Pairs {
		// The order rotates so that drift affects all alike.
		for i := range variants {
			which := (round + i) % len(variants)
			ran, err := b.run(ctx, variants[which])
			if err != nil {
				return err
			}
			runs[which], processor[which] = append(runs[which], ran.rate), append(processor[which], ran.processor.Seconds())
			profiles[which] = append(profiles[which], ran.profile)
			if which > 0 && which <= len(reports) {
				r := reports[which-1]
				r.ResultsKept, r.DecisionP99Milliseconds = ran.kept, ran.p99*1000
			}
		}
	}
	for i, r := range reports {
		r.Bare, r.Recorded = Rate{median(runs[0]), runs[0]}, Rate{median(runs[i+1]), runs[i+1]}
		r.Ratio, r.ProcessorRatio = median(ratios(runs[i+1], runs[0])), median(ratios(processor[0], processor[i+1]))
		r.FastestRatio = slices.Max(runs[i+1]) / slices.Max(runs[0])
	}
	if b.Timeline {
		with := runs[len(runs)-1]
		reports[0].Timeline, reports[0].TimelineRatio = &Rate{median(with), with}, median(ratios(with, runs[1]))
	}
	return b.evaluate(profiles, reports)
}

func ratios(of, by []float64) []float64 {
	all := make([]float64, len(of))
	for i := range of {
		all[i] = of[i] / by[i]
	}
	return all
}

type recording struct {
	bare            bool
	annotationBytes int
	timeline        bool
}

type bench struct {
	Options
	controlPlane *controlplane.ControlPlane
	client       kubernetes.Interface
}

const creators = 16

const maxWait = 10 * time.Minute

type ran struct {
	// rate is in pods bound per second; processor is the time of all processors together.
	rate      float64
	processor time.Duration
	// profile is of the same time.
	profile *profile.Profile
	// kept counts the results of a recorded run that can be read back, and p99 is how long 99 % of
	// its decisions took at most, in seconds.
	kept int
	p99  float64
}

// run schedules the load once and deletes it.
func (b *bench) run(ctx context.Context, kind recording) (r ran, err error) {
	options, err := b.schedulerOptions()
	if err != nil {
		return ran{}, err
	}
	store := resultstore.New(resultstore.Options{})
	var writer sync.WaitGroup
	writerCtx, stopWriter := context.WithCancel(ctx)
	defer writer.Wait()
	defer stopWriter()
	if !kind.bare {
		options.Sink = store
		if kind.annotationBytes > 0 {
			w := annotation.NewWriter(b.client, store, kind.annotationBytes, clock.RealClock{}, nil)
			store.Subscribe(w.Note)
			writer.Go(func() { w.Run(writerCtx) })
		}
	}
	if kind.timeline {
		stop, err := b.keepTimeline(ctx, store)
		if err != nil {
			return ran{}, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	bound, err := b.watchBound(ctx)
	if err != nil {
		return ran{}, err
	}
	defer bound.stop()
	s := scheduler.New(options)
	// As in package testing, no run collects the garbage of the one before it: a collection takes
	// as long as a hundred pods.
	runtime.GC()
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		return ran{}, err
	}
	defer pprof.StopCPUProfile() // if the run fails
	start, before := time.Now(), processorTime()
	// The pods of Batch are there first.
	steps := []func() error{func() error { return s.Start(ctx) }, func() error { return inParallel(ctx, b.Pods, b.createPod) }}
	if b.Load == Batch {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return ran{}, err
		}
	}
	select {
	case <-bound.all:
	case <-ctx.Done():
		return ran{}, ctx.Err()
	case <-time.After(maxWait):
		return ran{}, fmt.Errorf("not all pods were bound within %v", maxWait)
	}
	if b.Load == Batch {
		start = bound.first
	}
	r.rate, r.processor = float64(b.Pods)/time.Since(start).Seconds(), processorTime()-before
	pprof.StopCPUProfile()
	if r.profile, err = profile.Parse(&cpu); err != nil {
		return ran{}, fmt.Errorf("reading the CPU profile: %w", err)
	}
	if !kind.bare {
		if err := writeMemoryProfile(b.MemoryProfile); err != nil {
			return ran{}, err
		}
	}

	if err := s.Stop(ctx); err != nil {
		return ran{}, err
	}
	if !kind.bare {
		if err = b.readBack(ctx, store, &r); err != nil {
			return ran{}, err
		}
	}
	return r, b.cleanUp(ctx)
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // cannot fail with these arguments
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// keepTimeline keeps a time line in a temporary directory until stop is called. It returns when the
// time line has read the cluster, as it has in a simulator that has started.
func (b *bench) keepTimeline(ctx context.Context, store *resultstore.Store) (stop func() error, err error) {
	dir, err := os.MkdirTemp("", "kube-scheduler-simulator-bench-timeline-")
	if err != nil {
		return nil, err
	}
	read := make(chan struct{})
	closeRead := sync.OnceFunc(func() { close(read) })
	follow := func(ctx context.Context, listed func([]timeline.Entry, bool), changed func([]timeline.Entry)) error {
		return b.controlPlane.FollowStored(ctx, func(some []timeline.Entry, done bool) {
			listed(some, done)
			if done {
				closeRead()
			}
		}, changed)
	}
	t := timeline.New(timeline.Options{Dir: dir, Bytes: timeline.DefaultBytes, Follow: follow, Results: store})
	t.Start()
	stop = func() error {
		stopCtx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		return errors.Join(t.Stop(stopCtx), os.RemoveAll(dir))
	}
	select {
	case <-read:
		return stop, nil
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), stop())
	}
}

func (b *bench) schedulerOptions() (scheduler.Options, error) {
	registry := plugins.Registry()
	registry[gateName] = newGate(b.Pods)
	configuration, err := config.ParseWith([]byte(b.Load.configuration()), config.Options{OutOfTree: slices.Collect(maps.Keys(registry))})
	if err != nil {
		return scheduler.Options{}, err
	}
	return scheduler.Options{Client: b.controlPlane.ClientConfig(), Configuration: configuration.Internal, OutOfTree: registry}, nil
}

func (b *bench) createPod(ctx context.Context, i int) error {
	_, err := b.client.CoreV1().Pods(b.Load.namespace(i)).Create(ctx, b.Load.pod(i, b.Nodes, b.Pods), metav1.CreateOptions{})
	return err
}

type bound struct {
	// all is closed when every pod of the load is bound; first is when the first one was.
	all   chan struct{}
	first time.Time
	stop  func()
}

// None of the pods exists yet.
func (b *bench) watchBound(ctx context.Context) (*bound, error) {
	watchCtx, cancel := context.WithCancel(ctx)
	w := &bound{all: make(chan struct{})}
	left := b.Pods
	// One goroutine calls the handler.
	count := func(obj any) {
		if obj.(*v1.Pod).Namespace == victimsNamespace {
			return
		}
		if left == b.Pods {
			w.first = time.Now()
		}
		if left--; left == 0 {
			close(w.all)
		}
	}
	assigned := fields.OneTermNotEqualSelector("spec.nodeName", "")
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(b.client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, assigned),
		ObjectType:    &v1.Pod{},
		Handler:       cache.ResourceEventHandlerFuncs{AddFunc: count},
	})
	var running sync.WaitGroup
	running.Go(func() { controller.RunWithContext(watchCtx) })
	w.stop = func() {
		cancel()
		running.Wait()
	}
	if !cache.WaitForCacheSync(watchCtx.Done(), controller.HasSynced) {
		w.stop()
		return nil, errors.New("watching for bound pods")
	}
	return w, nil
}

func (b *bench) readBack(ctx context.Context, store *resultstore.Store, r *ran) error {
	pods, err := b.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var decisions []float64
	for _, pod := range pods.Items {
		attempts, err := store.Attempts(pod.UID)
		if err != nil || len(attempts) == 0 {
			continue
		}
		for i, attempt := range attempts {
			c, err := store.Get(pod.UID, attempt.Attempt)
			if err != nil || c == nil {
				continue
			}
			decisions = append(decisions, decisionSeconds(c))
			if i == len(attempts)-1 && c.SelectedNode == pod.Spec.NodeName && c.Filter != nil {
				r.kept++
			}
		}
	}
	r.p99 = percentile(decisions, 0.99)
	return nil
}

// afterDecision are the extension points of the binding cycle. A member of a gang waits there for
// the others.
var afterDecision = []string{"waitOnPermit", "preBind", "bind", "postBind"}

func decisionSeconds(c *result.Cycle) (seconds float64) {
	for _, point := range c.ExtensionPoints {
		if !slices.Contains(afterDecision, point.Name) {
			seconds += point.DurationSeconds
		}
	}
	return seconds
}

// percentile returns the smallest value that is not below a share of the values; 0 if there are
// none.
func percentile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(math.Ceil(share*float64(len(sorted))))-1]
}

// cleanUp deletes the load and replaces what it has evicted.
func (b *bench) cleanUp(ctx context.Context) error {
	namespaces := []string{metav1.NamespaceDefault}
	if b.Load == Batch {
		namespaces = nil
		for i := range quotaNamespaces {
			namespaces = append(namespaces, gangNamespace(i*gangSize))
		}
	}
	for _, namespace := range namespaces {
		err := b.client.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("deleting the load: %w", err)
		}
		// Events would stay for an hour, and slow the later runs down.
		if err := b.client.CoreV1().Events(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return fmt.Errorf("deleting the events of the load: %w", err)
		}
	}
	return b.createVictims(ctx)
}

// inParallel calls f n times, creators at a time, until one call fails or ctx ends.
func inParallel(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := range n {
		group.Go(func() error { return f(ctx, i) })
	}
	return group.Wait()
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
