package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kube-scheduler-simulator/simulator/scenarios/openb"
)

// OpenbReport is a run of the whole product, by import, with a data directory and all defaults.
type OpenbReport struct {
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	// ReadySeconds is the time from the start to the line that begins with ready.
	ReadySeconds float64 `json:"readySeconds"`
	// NodesSeconds is how long the import of the nodes takes, and PodsSeconds how long it takes
	// from the import of the pods until each has a result.
	NodesSeconds float64 `json:"nodesSeconds"`
	PodsSeconds  float64 `json:"podsSeconds"`
	// Scheduled counts the pods that found a node.
	Scheduled int `json:"scheduled"`
	// IdleBytes is the resident memory idleTime after the start, before the import, and PeakBytes
	// the most at any time, including settleTime after the last result.
	IdleBytes int64 `json:"idleBytes"`
	PeakBytes int64 `json:"peakBytes"`
	// InMemory is the same load without a control plane, before all others.
	InMemory *InMemoryReport `json:"inMemory"`
	// Ratio is how many times as long both imports take as InMemory.
	Ratio float64 `json:"ratio"`
}

const (
	idleTime   = 12 * time.Second
	settleTime = time.Minute
	// Reads of the memory are openbInterval apart, and those of the progress at least so. Each read
	// of the metrics takes the program about 30 ms.
	openbInterval = time.Second
	// openbPatience bounds the time between two reads of the progress.
	openbPatience = 10 * time.Second
	openbWait     = 20 * time.Minute
)

// Openb runs the production cluster that is published as openb, whose files nodes.csv and pods.csv
// are in dir, and writes one JSON object to out. It starts this program.
func Openb(ctx context.Context, dir string, out io.Writer) (err error) {
	nodes, err := readOpenb(filepath.Join(dir, "nodes.csv"))
	if err != nil {
		return err
	}
	pods, err := readOpenb(filepath.Join(dir, "pods.csv"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, openbWait)
	defer cancel()
	dataDir, err := os.MkdirTemp("", "kube-scheduler-simulator-openb-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dataDir)) }()
	inMemory, err := openbInMemory(ctx, dir, dataDir)
	if err != nil {
		return err
	}
	p, err := startProduct(ctx, filepath.Join(dataDir, "data"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	report, err := p.openb(ctx, nodes, pods)
	if err != nil {
		return err
	}
	report.InMemory, report.Ratio = inMemory, (report.NodesSeconds+report.PodsSeconds)/inMemory.Seconds
	return json.NewEncoder(out).Encode(report)
}

// product is this program, serving.
type product struct {
	url   string
	ready time.Duration
	// peak is the most resident memory, of which peakFiles are pages of files.
	peak, peakFiles int64
	process         int
	stop            func() error
}

func startProduct(ctx context.Context, dataDir string) (*product, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program, "--listen", "127.0.0.1:0", "--data-dir", dataDir)
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting the simulator: %w", err)
	}
	return newProduct(command.Process.Pid, start, stdout, func() error {
		return errors.Join(command.Process.Signal(syscall.SIGTERM), command.Wait())
	})
}

// newProduct returns when the program has printed the line that begins with ready.
func newProduct(process int, start time.Time, stdout io.Reader, stop func() error) (*product, error) {
	line, err := bufio.NewReader(stdout).ReadString('\n')
	fields := strings.Fields(line)
	if err != nil || len(fields) < 2 || fields[0] != "ready:" {
		return nil, errors.Join(fmt.Errorf("the simulator printed %q: %w", line, err), stop())
	}
	return &product{url: fields[1], ready: time.Since(start), process: process, stop: stop}, nil
}

func (p *product) openb(ctx context.Context, nodes, pods []any) (*OpenbReport, error) {
	r := &OpenbReport{Nodes: len(nodes), Pods: len(pods), ReadySeconds: p.ready.Seconds()}
	if err := pause(ctx, idleTime); err != nil {
		return nil, err
	}
	var err error
	if r.IdleBytes, _, err = p.resident(); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := p.importList(ctx, nodes); err != nil {
		return nil, err
	}
	r.NodesSeconds = time.Since(start).Seconds()

	start = time.Now()
	imported := make(chan error, 1)
	go func() { imported <- p.importList(ctx, pods) }()
	if r.Scheduled, err = p.awaitDecided(ctx, len(pods)); err != nil {
		return nil, err
	}
	last := time.Now()
	r.PodsSeconds = last.Sub(start).Seconds()
	if err := <-imported; err != nil {
		return nil, err
	}
	for time.Since(last) < settleTime {
		if err := p.watchMemory(ctx); err != nil {
			return nil, err
		}
	}
	r.PeakBytes = p.peak
	return r, nil
}

// awaitDecided returns when that many pods are bound or found to fit nowhere, and how many are
// bound.
func (p *product) awaitDecided(ctx context.Context, pods int) (bound int, err error) {
	start := time.Now()
	next := start
	for decided := -1; decided < pods; {
		if err := p.watchMemory(ctx); err != nil {
			return 0, err
		}
		if time.Now().Before(next) {
			continue
		}
		if decided, bound, err = p.decided(ctx); err != nil {
			return 0, err
		}
		next = time.Now().Add(untilNextLook(time.Since(start), decided, pods))
	}
	return bound, nil
}

// untilNextLook returns half of the time that the rest takes at the rate so far, within bounds:
// many early reads would slow down what they measure.
func untilNextLook(elapsed time.Duration, decided, pods int) time.Duration {
	rest := float64(pods-decided) / float64(max(decided, 1))
	return min(time.Duration(float64(elapsed)*rest/2), openbPatience)
}

func (p *product) watchMemory(ctx context.Context) error {
	if err := pause(ctx, openbInterval); err != nil {
		return err
	}
	bytes, files, err := p.resident()
	if bytes > p.peak {
		p.peak, p.peakFiles = bytes, files
	}
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// resident reads /proc; files are the resident pages of files.
func (p *product) resident() (all, files int64, err error) {
	pages, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.process))
	if err == nil {
		_, err = fmt.Sscan(string(pages), new(int64), &all, &files)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("reading the resident memory: %w", err)
	}
	page := int64(os.Getpagesize())
	return page * all, page * files, nil
}

func (p *product) importList(ctx context.Context, items []any) error {
	document, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/api/v1/import", bytes.NewReader(document))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("importing: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.500s", response.Status, answer)
	}
	if err != nil {
		return fmt.Errorf("importing: %w", err)
	}
	return nil
}

// decided counts the pods that are bound, and those that are bound or were found to fit nowhere.
func (p *product) decided(ctx context.Context) (decided, bound int, err error) {
	err = p.get(ctx, "/metrics", func(body io.Reader) error {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			line := lines.Text()
			value, _ := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			switch {
			// Attempts do not count: one whose binding ends in an error may have bound its pod.
			case strings.HasPrefix(line, `scheduler_cache_size{type="pods"}`):
				bound, decided = bound+int(value), decided+int(value)
			case strings.HasPrefix(line, `scheduler_cache_size{type="assumed_pods"}`):
				bound, decided = bound-int(value), decided-int(value)
			case strings.HasPrefix(line, `scheduler_pending_pods{queue="unschedulable"}`):
				decided += int(value)
			}
		}
		return lines.Err()
	})
	if err != nil {
		return 0, 0, fmt.Errorf("reading the metrics: %w", err)
	}
	return decided, bound, nil
}

func (p *product) get(ctx context.Context, path string, read func(io.Reader) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return err
	}
	// The transport would ask for compression, which takes the program longer than loopback.
	request.Header.Set("Accept-Encoding", "identity")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return read(response.Body)
}

func readOpenb(file string) ([]any, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := openb.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i] = row.Object()
	}
	return out, nil
}
