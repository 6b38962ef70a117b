package systemtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

var (
	soakTime = flag.Duration("soak", 20*time.Second, "how `long` TestSoak runs")
	soakCSV  = flag.String("soak-csv", "", "`file` for TestSoak's samples")
)

// soakResults bounds the results tightly, so that the test reaches the bound.
const soakResults = 8 << 20

// TestSoak keeps a cluster busy, and checks that memory, goroutines and disk usage stay level.
func TestSoak(t *testing.T) {
	clustertest.Slow(t)
	t.Parallel()
	p := start(t, newHome(t).measured(), "--results-memory", fmt.Sprint(soakResults), "--results-disk", fmt.Sprint(soakResults))
	p.createNodes(t, "soak", 8)
	ctx, cancel := context.WithTimeout(t.Context(), *soakTime)
	defer cancel()
	w := &soakWork{p: p, t: t}
	var working sync.WaitGroup
	// Short runs do everything, too.
	pace := func(usual time.Duration) time.Duration { return min(usual, *soakTime/10) }
	for _, job := range []struct {
		every time.Duration
		do    func(ctx context.Context, turn int) error
	}{
		{500 * time.Millisecond, w.pod},
		{pace(10 * time.Second), w.node},
		{pace(15 * time.Second), w.failure},
		{pace(20 * time.Second), w.configuration},
		{pace(30 * time.Second), w.deployment},
		{pace(5 * time.Second), w.read},
		{pace(30 * time.Second), w.watch},
	} {
		working.Go(func() { w.repeat(ctx, job.every, job.do) })
	}
	samples := p.sample(t, ctx, max(*soakTime/180, 250*time.Millisecond))
	working.Wait()

	if *soakCSV != "" {
		if err := os.WriteFile(*soakCSV, []byte(samples.csv()), 0o644); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d pods, %d configurations; %d samples\n%s", w.pods, w.configurations, len(samples), samples.summary())
	samples.checkLevel(t)
	p.schedules(t, "after-the-soak")
	p.stop(t)
	if said := p.stderr.String(); said != "" {
		t.Errorf("it said:\n%s", said)
	}
}

// soakWork holds the jobs that keep the cluster busy. Each has a goroutine.
type soakWork struct {
	p *program
	t *testing.T

	pods, configurations int
}

// repeat does a job periodically until ctx ends.
func (w *soakWork) repeat(ctx context.Context, every time.Duration, do func(context.Context, int) error) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := do(ctx, turn)
		// A request may fail at the deadline shortly before ctx is done.
		if end, _ := ctx.Deadline(); err != nil && ctx.Err() == nil && time.Now().Before(end) {
			w.t.Error(err)
		}
	}
}

// alivePods is the number of pods at a time, besides those of Deployments.
const alivePods = 60

func (w *soakWork) pod(ctx context.Context, turn int) error {
	pods := w.p.client.CoreV1().Pods(namespace)
	if _, err := pods.Create(ctx, newPod(fmt.Sprintf("pod-%06d", turn)), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a pod: %w", err)
	}
	w.pods++
	if turn < alivePods {
		return nil
	}
	err := pods.Delete(ctx, fmt.Sprintf("pod-%06d", turn-alivePods), metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting a pod: %w", err)
	}
	return nil
}

// node adds a node and removes the one that was added two turns ago.
func (w *soakWork) node(ctx context.Context, turn int) error {
	nodes := w.p.client.CoreV1().Nodes()
	if _, err := nodes.Create(ctx, newNode(fmt.Sprintf("guest-%d", turn)), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a node: %w", err)
	}
	if turn < 2 {
		return nil
	}
	if err := nodes.Delete(ctx, fmt.Sprintf("guest-%d", turn-2), metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting a node: %w", err)
	}
	return nil
}

// failure makes a node fail, and recover at the next turn.
func (w *soakWork) failure(ctx context.Context, turn int) error {
	value := `"not-ready"`
	if turn%2 == 1 {
		value = "null"
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"%sfailure":%s}}}`, annotationPrefix, value)
	_, err := w.p.client.CoreV1().Nodes().Patch(ctx, fmt.Sprintf("soak-%d", turn/2%8), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func (w *soakWork) configuration(_ context.Context, turn int) error {
	w.configurations++
	_, err := w.p.apply(configurationWith(turn))
	return err
}

func (w *soakWork) deployment(ctx context.Context, turn int) error {
	deployments := w.p.client.AppsV1().Deployments(namespace)
	if turn%2 == 1 {
		return deployments.Delete(ctx, fmt.Sprintf("web-%d", turn/2), metav1.DeleteOptions{})
	}
	name := fmt.Sprintf("web-%d", turn/2)
	labels := map[string]string{"app": name}
	template := newPod("")
	_, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](5),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: template.Spec},
		},
	}, metav1.CreateOptions{})
	return err
}

// read sends the requests of a page.
func (w *soakWork) read(context.Context, int) error {
	var page struct {
		Items []struct {
			Pod     struct{ UID string }
			Attempt int
		}
	}
	if err := w.p.get("/api/v1/results?limit=50", &page); err != nil {
		return err
	}
	if len(page.Items) == 0 {
		return nil
	}
	first := page.Items[0]
	var cycle struct{ Attempt int }
	return w.p.get(fmt.Sprintf("/api/v1/results/%s/%d", first.Pod.UID, first.Attempt), &cycle)
}

// watch follows everything for a while, as a browser does.
func (w *soakWork) watch(ctx context.Context, _ int) error {
	socket, err := w.p.dial(ctx)
	if err != nil {
		return err
	}
	defer socket.Close()
	for _, resource := range []string{"pods", "nodes", "events"} {
		if err := socket.subscribe(resource, resource); err != nil {
			return err
		}
	}
	if err := socket.WriteJSON(map[string]string{"type": "subscribe", "id": "results", "topic": "results"}); err != nil {
		return err
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		if err := socket.SetReadDeadline(deadline); err != nil {
			return err
		}
		if _, _, err := socket.ReadMessage(); err != nil {
			if _, closed := errors.AsType[*websocket.CloseError](err); closed {
				return err
			}
			return nil
		}
	}
}

// sample holds measurements of the program at one time.
type sample struct {
	at                               time.Duration
	resident, heap, goroutines, disk float64
	// files is the number of files in the data directory.
	files float64
}

type samples []sample

// sample measures the program periodically until ctx ends.
func (p *program) sample(t *testing.T, ctx context.Context, every time.Duration) samples {
	t.Helper()
	begin := time.Now()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var out samples
	for {
		select {
		case <-ctx.Done():
			return out
		case <-ticker.C:
		}
		p.alive(t)
		one := sample{at: time.Since(begin), resident: float64(p.resident(t))}
		if err := p.readMetrics(map[string]*float64{"go_memstats_next_gc_bytes": &one.heap, "go_goroutines": &one.goroutines}); err != nil {
			t.Error(err)
			continue
		}
		var err error
		if one.disk, one.files, err = sizeOf(filepath.Dir(p.kubeconfig)); err != nil {
			t.Error(err)
		}
		out = append(out, one)
	}
}

func (p *program) readMetrics(into map[string]*float64) error {
	a, err := p.request(http.MethodGet, "/metrics", nil, nil)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(a.body))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if to, ok := into[name]; ok {
			if *to, err = strconv.ParseFloat(value, 64); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// sizeOf returns the disk usage of a directory, and its files, which may vanish meanwhile.
func sizeOf(dir string) (bytes, files float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			bytes += float64(info.Size())
			files++
		}
		return err
	})
	return bytes, files, err
}

// columns are the measurements that must stay level. Over the last two thirds of the time each may
// grow by the given part of itself, or by least if that is more.
var columns = []struct {
	name  string
	unit  float64
	of    func(sample) float64
	part  float64
	least float64
}{
	{"resident MiB", 1 << 20, func(s sample) float64 { return s.resident }, 0.15, 64 << 20},
	// The live heap determines the goal; the allocated heap goes up and down.
	{"heap goal MiB", 1 << 20, func(s sample) float64 { return s.heap }, 0.15, 64 << 20},
	{"goroutines", 1, func(s sample) float64 { return s.goroutines }, 0.02, 100},
	// etcd's write-ahead log grows in steps of 64 MB, of which it keeps at most five.
	{"disk MiB", 1 << 20, func(s sample) float64 { return s.disk }, 0.10, 130 << 20},
	// Each revision of the configuration is a file, and the program keeps a thousand.
	{"files", 1, func(s sample) float64 { return s.files }, 0.10, 200},
}

func (s samples) csv() string {
	var b strings.Builder
	b.WriteString("seconds")
	for _, c := range columns {
		b.WriteString("," + c.name)
	}
	b.WriteString("\n")
	for _, one := range s {
		fmt.Fprintf(&b, "%.0f", one.at.Seconds())
		for _, c := range columns {
			fmt.Fprintf(&b, ",%.1f", c.of(one)/c.unit)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// settled returns the last two thirds.
func (s samples) settled() samples { return s[len(s)/3:] }

// summary shows the first and the last value, the mean and the trend of each column.
func (s samples) summary() string {
	var b strings.Builder
	for _, c := range columns {
		level, growth := s.settled().trend(c.of)
		fmt.Fprintf(&b, "%-14s first %8.1f last %8.1f; settled at %8.1f, growth meanwhile %+7.1f\n",
			c.name, c.of(s[0])/c.unit, c.of(s[len(s)-1])/c.unit, level/c.unit, growth/c.unit)
	}
	return b.String()
}

// trend returns the mean, and the growth of the line of best fit.
func (s samples) trend(of func(sample) float64) (mean, growth float64) {
	var at, value float64
	for _, one := range s {
		at += one.at.Seconds()
		value += of(one)
	}
	n := float64(len(s))
	at, value = at/n, value/n
	var covariance, variance float64
	for _, one := range s {
		d := one.at.Seconds() - at
		covariance += d * (of(one) - value)
		variance += d * d
	}
	if variance == 0 {
		return value, 0
	}
	return value, covariance / variance * (s[len(s)-1].at - s[0].at).Seconds()
}

func (s samples) checkLevel(t *testing.T) {
	t.Helper()
	if len(s) < 20 {
		t.Fatalf("only %d samples", len(s))
	}
	for _, c := range columns {
		if level, growth := s.settled().trend(c.of); growth > max(c.part*level, c.least) {
			t.Errorf("%s: settled at %.1f, but grew by %.1f", c.name, level/c.unit, growth/c.unit)
		}
	}
}
