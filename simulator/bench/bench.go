// Package bench measures the cost of recording: it schedules the same load with the bare
// and with the recorded scheduler, alternating in one run, on its own control plane.
//
// It is not a test: it passes no judgement, and its numbers are valid only for one
// machine. It may import scheduler/ and the control plane.
package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/simulator/controlplane"
)

// Options configure a measurement.
type Options struct {
	// Nodes is the size of the cluster, and Pods the size of the load of one run.
	Nodes, Pods int
	// Pairs is the number of pairs of a bare and a recorded run; the median counts.
	Pairs int
	// AnnotationBytes bounds the results in a pod's annotations; 0 writes no annotations.
	AnnotationBytes int
}

// Rate is a throughput.
type Rate struct {
	// PodsPerSecond is the median of Runs: pods bound per second, from the first creation
	// to the last binding.
	PodsPerSecond float64   `json:"podsPerSecond"`
	Runs          []float64 `json:"runs"`
}

// Report compares bare with recorded scheduling, measured in one run.
type Report struct {
	Nodes           int  `json:"nodes"`
	Pods            int  `json:"pods"`
	AnnotationBytes int  `json:"annotationBytes"`
	Bare            Rate `json:"bare"`
	Recorded        Rate `json:"recorded"`
	// Ratio is the median over the pairs of recorded ÷ bare.
	Ratio float64 `json:"ratio"`
	// ResultsKept counts the pods of the last recorded run whose latest attempt
	// could be read back.
	ResultsKept int `json:"resultsKept"`
}

// Run measures and writes one JSON object to out.
func Run(ctx context.Context, o Options, out io.Writer) error {
	report, err := measure(ctx, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(report)
}

// sizes are the clusters and loads that Table measures.
var sizes = []struct{ nodes, pods int }{{100, 500}, {1000, 1000}, {5000, 1000}}

// Table measures clusters of several sizes, each without annotations and with o's, and writes
// a table to out.
func Table(ctx context.Context, o Options, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "nodes\tpods\tannotation bytes\tbare pods/s\trecorded pods/s\tratio\tresults kept\t")
	for _, size := range sizes {
		for _, bytes := range []int{0, o.AnnotationBytes} {
			o := o
			o.Nodes, o.Pods, o.AnnotationBytes = size.nodes, size.pods, bytes
			r, err := measure(ctx, o)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%d\t%d\t%d\t%.0f\t%.0f\t%.2f\t%d\t\n",
				r.Nodes, r.Pods, r.AnnotationBytes, r.Bare.PodsPerSecond, r.Recorded.PodsPerSecond, r.Ratio, r.ResultsKept)
		}
	}
	return w.Flush()
}

// stopTimeout bounds stopping the control plane.
const stopTimeout = 30 * time.Second

// measure starts a control plane, measures on it and stops it.
func measure(ctx context.Context, o Options) (report *Report, err error) {
	if o.Nodes < 1 || o.Pods < 1 || o.Pairs < 1 {
		return nil, errors.New("bench needs at least one node, one pod and one pair of runs")
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
	if err := b.createNodes(ctx); err != nil {
		return nil, err
	}

	report = &Report{Nodes: o.Nodes, Pods: o.Pods, AnnotationBytes: o.AnnotationBytes}
	// The first run warms up the caches and is not counted.
	if _, _, err := b.run(ctx, true); err != nil {
		return nil, err
	}
	var ratios []float64
	for pair := range o.Pairs {
		rates := map[bool]float64{}
		// The order alternates so that drift affects both alike.
		for _, recorded := range []bool{pair%2 == 1, pair%2 == 0} {
			rate, kept, err := b.run(ctx, recorded)
			if err != nil {
				return nil, err
			}
			rates[recorded] = rate
			if recorded {
				report.ResultsKept = kept
			}
		}
		report.Bare.Runs = append(report.Bare.Runs, rates[false])
		report.Recorded.Runs = append(report.Recorded.Runs, rates[true])
		ratios = append(ratios, rates[true]/rates[false])
	}
	report.Bare.PodsPerSecond = median(report.Bare.Runs)
	report.Recorded.PodsPerSecond = median(report.Recorded.Runs)
	report.Ratio = median(ratios)
	return report, nil
}

type bench struct {
	Options
	controlPlane *controlplane.ControlPlane
	client       kubernetes.Interface
}

// creators is the number of concurrent create requests.
const creators = 16

func (b *bench) createNodes(ctx context.Context) error {
	allocatable := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("32"), v1.ResourceMemory: resource.MustParse("256Gi"), v1.ResourcePods: resource.MustParse("110"),
	}
	return inParallel(ctx, b.Nodes, func(ctx context.Context, i int) error {
		name := fmt.Sprintf("node-%05d", i)
		_, err := b.client.CoreV1().Nodes().Create(ctx, &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				v1.LabelHostname: name, v1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3),
			}},
			Status: v1.NodeStatus{Allocatable: allocatable, Capacity: allocatable},
		}, metav1.CreateOptions{})
		return err
	})
}

// run schedules the load once, bare or recorded, and deletes it. It returns the pods bound per
// second and, for a recorded run, how many results can be read back.
func (b *bench) run(ctx context.Context, recorded bool) (rate float64, kept int, err error) {
	configuration, err := config.Default()
	if err != nil {
		return 0, 0, err
	}
	options := scheduler.Options{Client: b.controlPlane.ClientConfig(), Configuration: configuration.Internal}
	store := resultstore.New(resultstore.Options{})
	var writer sync.WaitGroup
	writerCtx, stopWriter := context.WithCancel(ctx)
	defer writer.Wait()
	defer stopWriter()
	if recorded {
		options.Sink = store
		if b.AnnotationBytes > 0 {
			w := annotation.NewWriter(b.client, store, b.AnnotationBytes, clock.RealClock{})
			store.Subscribe(w.Note)
			writer.Go(func() { w.Run(writerCtx) })
		}
	}
	s := scheduler.New(options)
	if err := s.Start(ctx); err != nil {
		return 0, 0, err
	}
	bound, stopWatch, err := b.watchBound(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer stopWatch()

	start := time.Now()
	if err := inParallel(ctx, b.Pods, b.createPod); err != nil {
		return 0, 0, err
	}
	select {
	case <-bound:
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	case <-time.After(5 * time.Minute):
		return 0, 0, errors.New("not all pods were bound within 5 minutes")
	}
	rate = float64(b.Pods) / time.Since(start).Seconds()

	if err := s.Stop(ctx); err != nil {
		return 0, 0, err
	}
	if recorded {
		if kept, err = b.countKept(ctx, store); err != nil {
			return 0, 0, err
		}
	}
	return rate, kept, b.deletePods(ctx)
}

func (b *bench) createPod(ctx context.Context, i int) error {
	_, err := b.client.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-", Labels: map[string]string{"app": fmt.Sprintf("app-%d", i%10)}},
		Spec: v1.PodSpec{Containers: []v1.Container{{
			Name: "pause", Image: "registry.k8s.io/pause:3.10",
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
				v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("500Mi"),
			}},
		}}},
	}, metav1.CreateOptions{})
	return err
}

// watchBound returns a channel that is closed when every pod of the load is bound.
func (b *bench) watchBound(ctx context.Context) (<-chan struct{}, func(), error) {
	watchCtx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var left atomic.Int64
	left.Store(int64(b.Pods))
	count := func(obj any) {
		if left.Add(-1) == 0 {
			close(done)
		}
	}
	assigned := fields.OneTermNotEqualSelector("spec.nodeName", "")
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(b.client.CoreV1().RESTClient(), "pods", metav1.NamespaceDefault, assigned),
		ObjectType:    &v1.Pod{},
		Handler:       cache.ResourceEventHandlerFuncs{AddFunc: count},
	})
	var running sync.WaitGroup
	running.Go(func() { controller.RunWithContext(watchCtx) })
	stop := func() {
		cancel()
		running.Wait()
	}
	if !cache.WaitForCacheSync(watchCtx.Done(), controller.HasSynced) {
		stop()
		return nil, nil, errors.New("watching for bound pods")
	}
	return done, stop, nil
}

func (b *bench) countKept(ctx context.Context, store *resultstore.Store) (int, error) {
	pods, err := b.client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	kept := 0
	for _, pod := range pods.Items {
		attempts, err := store.Attempts(pod.UID)
		if err != nil || len(attempts) == 0 {
			continue
		}
		c, err := store.Get(pod.UID, attempts[len(attempts)-1].Attempt)
		if err == nil && c != nil && c.SelectedNode == pod.Spec.NodeName && c.Filter != nil {
			kept++
		}
	}
	return kept, nil
}

func (b *bench) deletePods(ctx context.Context) error {
	pods := b.client.CoreV1().Pods(metav1.NamespaceDefault)
	err := pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("deleting the load: %w", err)
	}
	return nil
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
