package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"
	v1 "k8s.io/api/core/v1"
)

// ImportOptions configure the measurement of an import.
type ImportOptions struct {
	// Nodes is the size of the first import, and Pods that of the second.
	Nodes, Pods int
	// Serve runs a simulator with all defaults and a data directory until ctx ends. It prints the
	// line that begins with ready to out.
	Serve func(ctx context.Context, dataDir string, out io.Writer) error
	// CPUProfile is a file for a profile of both imports, in which each sample has its phase and
	// its part as labels; none by default. MemoryProfile is of the end, and a file beside it, with
	// .before in its name, of the moment before the import of the pods: `go tool pprof -base` shows
	// the difference.
	CPUProfile, MemoryProfile string
}

// ImportReport is an import of nodes, and then of pods that all fit, into a simulator in this
// process.
type ImportReport struct {
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	// NodesSeconds and PodsSeconds are until the client has its answer.
	NodesSeconds float64 `json:"nodesSeconds"`
	PodsSeconds  float64 `json:"podsSeconds"`
	// PodsPerSecond are the pods bound per second, from the beginning of their import to the last
	// binding.
	PodsPerSecond float64 `json:"podsPerSecond"`
	// Annotated counts the pods with annotations at the end.
	Annotated int `json:"annotated"`
	// Told are the states of nodes and pods, in the order in which an import reaches them.
	Told []Told `json:"told"`
	// ToldSeconds is the median, and ToldSeconds99 the 99th percentile, from the end of an attempt
	// until the client was told of its result.
	ToldSeconds   float64 `json:"toldSeconds"`
	ToldSeconds99 float64 `json:"toldSeconds99"`
	// PeakBytes is the most resident memory of this process, and EndBytes that at the end.
	// PeakFileBytes are those of PeakBytes that are pages of files (the program, etcd's database),
	// which the system can drop.
	PeakBytes     int64 `json:"peakBytes"`
	PeakFileBytes int64 `json:"peakFileBytes"`
	EndBytes      int64 `json:"endBytes"`
	// Phases are those of the import, in order.
	Phases []ImportPhase `json:"phases"`
}

// ImportPhase is a part of the import.
type ImportPhase struct {
	// Name is nodes for the import of the nodes until the program rests, pods for that of the pods
	// until the last one is bound, and rest from then on until the program rests again.
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	// ProcessorMilliseconds is the processor time of this process per node or pod. On a shared
	// machine it varies less than the time. Parts are from a profile of it.
	ProcessorMilliseconds float64            `json:"processorMilliseconds"`
	Parts                 map[string]float64 `json:"parts"`
}

const (
	// The program rests after restingFor with less processor time per second than restingShare.
	restingShare = 0.1
	restingFor   = 3 * time.Second
)

// Import measures an import and writes one JSON object to out.
func Import(ctx context.Context, o ImportOptions, out io.Writer) error {
	if most := Plain.capacity(o.Nodes); o.Nodes < 1 || o.Pods < 1 || o.Pods > most {
		return fmt.Errorf("an import needs at least one node and one pod, and only %d pods fit on %d nodes", most, o.Nodes)
	}
	report, err := measureImport(ctx, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(report)
}

func measureImport(ctx context.Context, o ImportOptions) (_ *ImportReport, err error) {
	ctx, cancel := context.WithTimeout(ctx, openbWait)
	defer cancel()
	dataDir, err := os.MkdirTemp("", "kube-scheduler-simulator-import-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dataDir)) }()
	p, err := serveProduct(ctx, func(ctx context.Context, out io.Writer) error { return o.Serve(ctx, dataDir, out) })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	return p.measureImport(ctx, o)
}

func serveProduct(ctx context.Context, serve func(context.Context, io.Writer) error) (*product, error) {
	ctx, cancel := context.WithCancel(ctx)
	stdout, out := io.Pipe()
	ended := make(chan error, 1)
	start := time.Now()
	go func() {
		err := serve(ctx, out)
		_ = out.CloseWithError(err) // which cannot fail
		ended <- err
	}()
	return newProduct(os.Getpid(), start, stdout, func() error {
		cancel()
		return <-ended
	})
}

func (p *product) measureImport(ctx context.Context, o ImportOptions) (_ *ImportReport, err error) {
	r := &ImportReport{Nodes: o.Nodes, Pods: o.Pods}
	nodes := make([]any, o.Nodes)
	for i := range nodes {
		node := Plain.node(i)
		node.APIVersion, node.Kind = "v1", "Node"
		nodes[i] = node
	}
	pods := make([]any, o.Pods)
	for i := range pods {
		pod := Plain.pod(i, o.Nodes, o.Pods)
		pod.APIVersion, pod.Kind = "v1", "Pod"
		pod.GenerateName, pod.Name = "", fmt.Sprintf("pod-%05d", i)
		pod.Spec.Containers[0].Resources = requests("500m", "500Mi")
		pods[i] = pod
	}
	page, err := openPage(p.url)
	if err != nil {
		return nil, err
	}
	closePage := sync.OnceValue(page.close)
	defer func() { err = errors.Join(err, closePage()) }()
	if err := p.rest(ctx); err != nil {
		return nil, err
	}
	imported := func(items []any, start *time.Time, seconds *float64) error {
		*start = time.Now()
		defer func() { *seconds = time.Since(*start).Seconds() }()
		return p.importList(ctx, items)
	}
	var nodesStart, podsStart time.Time
	var profiles []*profile.Profile
	phase := func(name string, objects int, do func() error) error {
		phase, measured, err := measurePhase(name, objects, do)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Phases, profiles = append(r.Phases, phase), append(profiles, measured)
		return nil
	}
	err = phase("nodes", o.Nodes, func() error { return errors.Join(imported(nodes, &nodesStart, &r.NodesSeconds), p.rest(ctx)) })
	if err != nil {
		return nil, err
	}
	if o.MemoryProfile != "" {
		if err := writeMemoryProfile(o.MemoryProfile + ".before"); err != nil {
			return nil, err
		}
	}
	answered := make(chan error, 1)
	err = phase("pods", o.Pods, func() error {
		go func() { answered <- imported(pods, &podsStart, &r.PodsSeconds) }()
		_, err := p.awaitDecided(ctx, o.Pods)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.PodsPerSecond = float64(o.Pods) / r.Phases[1].Seconds
	if err := phase("rest", o.Pods, func() error { return errors.Join(<-answered, p.rest(ctx)) }); err != nil {
		return nil, err
	}
	if r.EndBytes, _, err = p.resident(); err != nil {
		return nil, err
	}
	r.PeakBytes, r.PeakFileBytes = p.peak, p.peakFiles
	if err := writeMemoryProfile(o.MemoryProfile); err != nil {
		return nil, err
	}
	if err := closePage(); err != nil {
		return nil, err
	}
	var there v1.PodList
	if err := p.get(ctx, "/kubernetes/api/v1/pods", func(body io.Reader) error { return json.NewDecoder(body).Decode(&there) }); err != nil {
		return nil, fmt.Errorf("listing the pods: %w", err)
	}
	for _, pod := range there.Items {
		if len(pod.Annotations) > 0 {
			r.Annotated++
		}
	}
	r.Told = page.told(nodesStart, podsStart, there.Items)
	r.ToldSeconds, r.ToldSeconds99 = percentile(page.delays, 0.5), percentile(page.delays, 0.99)
	merged, err := profile.Merge(profiles)
	if err != nil {
		return nil, fmt.Errorf("merging CPU profiles: %w", err)
	}
	return r, writeProfile(o.CPUProfile, merged.Write)
}

// do handles that many objects.
func measurePhase(name string, objects int, do func() error) (ImportPhase, *profile.Profile, error) {
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		return ImportPhase{}, nil, err
	}
	start, before := time.Now(), processorTime()
	err := do()
	phase := ImportPhase{
		Name: name, Seconds: time.Since(start).Seconds(),
		ProcessorMilliseconds: float64((processorTime() - before).Milliseconds()) / float64(objects),
	}
	pprof.StopCPUProfile()
	if err != nil {
		return ImportPhase{}, nil, err
	}
	measured, err := profile.Parse(&cpu)
	if err != nil {
		return ImportPhase{}, nil, fmt.Errorf("reading the CPU profile: %w", err)
	}
	phase.Parts = importParts(measured, name, objects)
	return phase, measured, nil
}

func (p *product) rest(ctx context.Context) error {
	for rested, before := time.Duration(0), processorTime(); rested < restingFor; rested += openbInterval {
		if err := p.watchMemory(ctx); err != nil {
			return err
		}
		now := processorTime()
		if (now - before).Seconds() > restingShare*openbInterval.Seconds() {
			rested = -openbInterval
		}
		before = now
	}
	return nil
}

// importPart is a part of an import, and names of functions that only its goroutines have.
type importPart struct {
	name      string
	functions []string
}

// A sample belongs to the first part that has one of its functions.
var importPartsInOrder = []importPart{
	{"garbage", []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge"}},
	{"etcd", []string{"go.etcd.io/etcd/server/", "go.etcd.io/raft/", "go.etcd.io/bbolt"}},
	{"API server: binding", []string{"core/pod/storage.(*BindingREST).Create"}},
	{"API server: events", []string{"k8s.io/kubernetes/pkg/registry/core/event"}},
	{"API server: creating", []string{".createHandler.", "registry.(*Store).Create"}},
	{"API server: patching", []string{"endpoints/handlers.(*patcher)", "endpoints/handlers.PatchResource"}},
	{"API server: updating", []string{"endpoints/handlers.UpdateResource", "registry.(*Store).Update"}},
	{"API server: watches", []string{"endpoints/handlers.(*WatchServer)", "storage/cacher", "storage/etcd3.(*watchChan)"}},
	{"API server: reading", []string{"endpoints/handlers.ListResource", "endpoints/handlers.getResourceHandler"}},
	{"API server: other", []string{"k8s.io/apiserver/", "k8s.io/kube-aggregator/"}},
	// A page in a browser costs the program nothing of this.
	{"page: reading", []string{"simulator/bench.(*page)"}},
	{"HTTP: serving", []string{"internal/http2.(*serverConn)", "net/http.(*conn).serve", "net/http.(*http2serverConn)", "http2.(*serverConn)"}},
	{"HTTP: asking", []string{"http2.(*ClientConn)", "http2.(*clientConnReadLoop)", "http2.(*clientStream)", "net/http.(*persistConn)"}},
	{"etcd: client", []string{"google.golang.org/grpc", "go.etcd.io/etcd/client"}},
	{"import", []string{"simulator/elsewhere/transfer."}},
	{"virtual nodes", []string{"simulator/cluster/virtualnode.", "sigs.k8s.io/kwok"}},
	{"annotations", []string{ours + "/annotation."}},
	{"results", []string{ours + "/resultstore."}},
	{"time line", []string{timelinePackage + "."}},
	{"events", []string{"client-go/tools/events.", "client-go/tools/record."}},
	{"scheduler", []string{"k8s.io/kubernetes/pkg/scheduler", ours}},
	{"controllers", []string{"k8s.io/kubernetes/pkg/controller", "k8s.io/kubernetes/plugin"}},
	{"informers", []string{"k8s.io/client-go/tools/cache."}},
	{"page: telling", []string{"simulator/server/watch."}},
	{"server", []string{"kube-scheduler-simulator/simulator/server"}},
	{"Go's scheduler", []string{"runtime.schedule", "runtime.mcall", "runtime.findRunnable", "runtime.goexit0"}},
}

const otherPart = "other"

const phaseLabel = "phase"

// importParts returns the processor time of each part in milliseconds per object. It labels the
// samples, so that `go tool pprof -tagfocus` finds them.
func importParts(p *profile.Profile, phase string, objects int) map[string]float64 {
	parts := map[string]float64{}
	for _, sample := range p.Sample {
		part := importPartOf(sample)
		sample.Label = map[string][]string{partLabel: {part}, phaseLabel: {phase}}
		parts[part] += float64(sample.Value[len(sample.Value)-1]) / float64(time.Millisecond) / float64(objects)
	}
	for part, took := range parts {
		parts[part] = math.Round(100*took) / 100
	}
	return parts
}

func importPartOf(sample *profile.Sample) string {
	for _, part := range importPartsInOrder {
		for _, location := range sample.Location {
			for _, line := range location.Line {
				if line.Function != nil && slices.ContainsFunc(part.functions, func(f string) bool { return strings.Contains(line.Function.Name, f) }) {
					return part.name
				}
			}
		}
	}
	return otherPart
}
