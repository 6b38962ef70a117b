// Package draft writes scenario files: from a cluster, and from what users did to one. What it
// writes is a beginning that people edit, so it is short: it leaves out what the API server sets by
// default, and what controllers and the scheduler do again in a run. What a scenario cannot say
// becomes a comment.
//
// It does not run scenarios, and reads no cluster itself. It may import scheduler/config,
// scheduler/result, scheduler/simulation, simulator/cluster/objects, simulator/elsewhere/transfer,
// simulator/past/timeline, simulator/scenarios/inmemory and simulator/scenarios/scenario.
package draft

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// MaxBytes bounds a file. An editor in a browser takes about as much.
const MaxBytes = 1 << 20

// TooLargeError says that a scenario would be larger than MaxBytes. It counts what it would begin
// with, if that is known.
type TooLargeError struct{ Nodes, Pods int }

func (e *TooLargeError) Error() string {
	of := ""
	if e.Nodes+e.Pods > 0 {
		of = fmt.Sprintf(" of %s and %s", scenario.Plural(e.Nodes, "node"), scenario.Plural(e.Pods, "pod"))
	}
	return fmt.Sprintf("the scenario%s would have more than %d KiB, the limit; export the cluster instead, "+
		"name the file as the cluster of a scenario, and run it with simulator run", of, MaxBytes>>10)
}

// Export takes an export. It fails when that is so large that no scenario of it can be small enough.
type Export struct{ bytes.Buffer }

// maxExport: a scenario holds a good part of an export.
const maxExport = 32 * MaxBytes

func (e *Export) Write(p []byte) (int, error) {
	if e.Len()+len(p) > maxExport {
		return 0, &TooLargeError{}
	}
	return e.Buffer.Write(p)
}

// Cluster returns a scenario that begins with a cluster and has no step yet. export is an export of
// the cluster, in JSON.
func Cluster(export []byte, at time.Time) ([]byte, error) {
	w := &writer{}
	w.comment("The cluster as it was on %s.", stamp(at))
	return w.file("my-cluster", export, func() error {
		w.line("# Write your steps here, such as:")
		w.line("# - fail: {node: node-1}")
		w.line("# - advance: 6m")
		return w.step("", "wait", "settled")
	})
}

// Steps returns a scenario of what happened.
func Steps(h *timeline.Happened) ([]byte, error) {
	var start bytes.Buffer
	var document []byte
	if h.Configuration != nil {
		document = []byte(h.Configuration.Document)
	}
	known := known{}
	for _, u := range h.Start {
		known[refOf(u)] = true
	}
	pods := slices.ContainsFunc(h.Start, isPod)
	if err := transfer.WriteObjects(&start, h.Start, document); err != nil {
		return nil, err
	}
	w := &writer{known: known}
	w.comment("Recorded from the time line, from %s to %s.", stamp(h.From.Time), stamp(h.To.Time))
	if h.SinceReset {
		w.comment("No step resets a cluster, so the scenario begins after the latest reset.")
	}
	return w.file("my-steps", start.Bytes(), func() error {
		now := h.From.Time
		if !pods && len(h.Events) > 0 {
			now = h.Events[0].Time // nothing goes on before
		}
		for _, e := range h.Events {
			if err := w.advance(&now, e.Time); err != nil {
				return err
			}
			if err := w.event(e); err != nil {
				return err
			}
		}
		if err := w.advance(&now, h.To.Time); err != nil {
			return err
		}
		return w.step("", "wait", "settled")
	})
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 MST") }

// advance lets the time pass that the users let pass, in seconds.
func (w *writer) advance(now *time.Time, to time.Time) error {
	passed := to.Sub(*now).Truncate(time.Second)
	if passed <= 0 {
		return nil
	}
	*now = now.Add(passed)
	return w.step("", "advance", duration(passed))
}

// duration writes 6m as people do, and not as 6m0s.
func duration(d time.Duration) string {
	text := strings.TrimSuffix(d.String(), "0s")
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	if text == "" || strings.HasSuffix(text, "m") || strings.HasSuffix(text, "h") {
		return text
	}
	return d.String()
}

// known are the objects whose names a run knows: of the start, and of earlier steps. Those of
// others, which controllers have made, have other names there.
type known map[timeline.ObjectRef]bool

type writer struct {
	known
	out         bytes.Buffer
	nodes, pods int
	unsupported map[string]int
	comments    []string
}

func (w *writer) line(text string) { w.out.WriteString(text + "\n") }

// comment adds to the head of the file.
func (w *writer) comment(format string, args ...any) {
	w.comments = append(w.comments, fmt.Sprintf(format, args...))
}

func (w *writer) file(name string, export []byte, steps func() error) ([]byte, error) {
	var list struct {
		Items         []json.RawMessage `json:"items"`
		Configuration json.RawMessage   `json:"schedulerConfiguration"`
	}
	if err := json.Unmarshal(export, &list); err != nil {
		return nil, fmt.Errorf("reading an export: %w", err)
	}
	cluster, err := w.cluster(list.Items)
	if err != nil {
		return nil, err
	}
	matrix, err := w.matrix(list.Configuration)
	if err != nil {
		return nil, err
	}
	if err := steps(); err != nil {
		return nil, err
	}
	body := w.out
	w.out = bytes.Buffer{}
	for _, kind := range slices.Sorted(maps.Keys(w.unsupported)) {
		w.comment("Left out, because a run in memory does not have the kind: %s.", scenario.Plural(w.unsupported[kind], kind))
	}
	for _, c := range w.comments {
		w.line("# " + c)
	}
	w.line("apiVersion: " + scenario.APIVersion)
	w.line("kind: " + scenario.KindScenario)
	w.line("metadata: {name: " + name + "}")
	w.out.Write(matrix)
	w.out.Write(cluster)
	w.line("steps:")
	w.out.Write(body.Bytes())
	if w.out.Len() > MaxBytes {
		return nil, &TooLargeError{w.nodes, w.pods}
	}
	return w.out.Bytes(), nil
}

// cluster writes one object on a line: people edit the steps.
func (w *writer) cluster(items []json.RawMessage) ([]byte, error) {
	var out bytes.Buffer
	for _, item := range items {
		u := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(item, &u.Object); err != nil {
			return nil, fmt.Errorf("reading an export: %w", err)
		}
		switch {
		case isPod(u):
			w.pods++
		case isNode(u):
			w.nodes++
		}
		if out.Len() > MaxBytes {
			continue // only count
		}
		if !w.supports(u) {
			continue
		}
		reduce(u)
		data, err := json.Marshal(u.Object)
		if err != nil {
			return nil, fmt.Errorf("encoding %s %s: %w", u.GetKind(), u.GetName(), err)
		}
		if out.Len() == 0 {
			out.WriteString("cluster:\n")
		}
		fmt.Fprintf(&out, "- %s\n", data)
	}
	if out.Len() > MaxBytes {
		return nil, &TooLargeError{w.nodes, w.pods}
	}
	return out.Bytes(), nil
}

func (w *writer) supports(u *unstructured.Unstructured) bool {
	if inmemory.Supports(u.GroupVersionKind()) {
		return true
	}
	if w.unsupported == nil {
		w.unsupported = map[string]int{}
	}
	w.unsupported[u.GetKind()]++
	return false
}

// matrix writes the configuration unless it is Kubernetes' own.
func (w *writer) matrix(document []byte) ([]byte, error) {
	if document == nil {
		return nil, nil
	}
	if parsed, err := config.Parse(document); err == nil {
		standard, err := config.Default()
		if err != nil {
			return nil, err
		}
		if reflect.DeepEqual(parsed.Internal, standard.Internal) {
			return nil, nil
		}
	}
	var value any
	if err := utiljson.Unmarshal(document, &value); err != nil {
		return nil, fmt.Errorf("reading a scheduler configuration: %w", err)
	}
	return yaml.Marshal(map[string]any{"matrix": map[string]any{"configuration": []any{value}}})
}

// step writes a step. name may be empty.
func (w *writer) step(name, verb string, value any) error {
	text, err := yaml.Marshal(map[string]any{verb: value})
	if err != nil {
		return fmt.Errorf("writing a step: %w", err)
	}
	lead := "- "
	if name != "" {
		named, err := yaml.Marshal(map[string]any{"name": name})
		if err != nil {
			return fmt.Errorf("writing a step: %w", err)
		}
		w.out.WriteString(lead + string(named))
		lead = "  "
	}
	for line := range strings.Lines(string(text)) {
		w.out.WriteString(lead + line)
		lead = "  "
	}
	return nil
}
