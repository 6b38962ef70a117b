// Package openb reads the files of openb, a production cluster with 1,523 nodes and 8,152 pods whose trace was
// published with a paper on fragmentation (Weng et al., "Beware of Fragmentation", USENIX ATC 2023), and makes
// Kubernetes objects of their rows.
//
// It imports no package of ours.
package openb

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Names that the objects carry.
const (
	// ResourceGPU counts thousandths of a GPU.
	ResourceGPU = "openb.example/gpu-milli"
	labelModel  = "openb.example/gpu-model"
	labelQoS    = "openb.example/qos"
)

// Row is a node or a pod.
type Row struct {
	fields *fields
	make   func(*fields) map[string]any
	// At is when a pod was created, since the start of the trace; 0 for a node.
	At time.Duration
	// Lifetime is how long the pod existed; 0 if its end is not known, and for a node.
	Lifetime time.Duration
}

// Object returns a Node or a Pod in the form of JSON. It makes a new one in each call: the objects of a file take ten times the memory of its rows.
func (r Row) Object() map[string]any { return r.make(r.fields) }

// Error is a mistake in a file.
type Error struct {
	// Line counts from 1; it is 0 if unknown.
	Line    int
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// Columns that a file of nodes and a file of pods must have.
var (
	nodeColumns = []string{"sn", "cpu_milli", "memory_mib", "gpu", "model"}
	podColumns  = []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "creation_time", "deletion_time"}
)

// Read reads a file of nodes or of pods; its columns say which. Pods are sorted by their creation. The error is an *Error.
func Read(in io.Reader) ([]Row, error) {
	r := csv.NewReader(in)
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, &Error{Line: 1, Message: "the file is empty"}
	}
	if err != nil {
		return nil, asError(err)
	}
	columns, make := podColumns, pod
	if slices.Contains(header, "sn") {
		columns, make = nodeColumns, node
	}
	for _, c := range columns {
		if !slices.Contains(header, c) {
			return nil, &Error{Line: 1, Message: fmt.Sprintf("there is no column %s; nodes have %s, and pods %s", c, strings.Join(nodeColumns, ", "), strings.Join(podColumns, ", "))}
		}
	}
	index := map[string]int{}
	for i, name := range header {
		index[name] = i
	}
	var out []Row
	for {
		values, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, asError(err)
		}
		line, _ := r.FieldPos(0)
		row := Row{fields: &fields{line: line, cells: values, index: index}, make: make}
		row.Object() // finds mistakes
		row.fields.times(&row)
		if row.fields.err != nil {
			return nil, row.fields.err
		}
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(a, b Row) int { return cmp.Compare(a.At, b.At) })
	return out, nil
}

func asError(err error) *Error {
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		return &Error{Line: p.Line, Message: p.Err.Error()}
	}
	return &Error{Message: err.Error()}
}

// fields are the cells of a row. The first mistake is kept.
type fields struct {
	line  int
	cells []string
	// index has the position of each column, and is the same for all rows.
	index map[string]int
	err   error
}

// by returns the cell of a column; it is empty if there is none.
func (f *fields) by(column string) string {
	if at, known := f.index[column]; known {
		return f.cells[at]
	}
	return ""
}

func (f *fields) text(column string) string {
	v := f.by(column)
	if v == "" && f.err == nil {
		f.err = &Error{f.line, fmt.Sprintf("%s is missing", column)}
	}
	return v
}

// number returns 0 for an empty cell if it may be empty.
func (f *fields) number(column string, mayBeEmpty bool) int64 {
	v := f.by(column)
	if v == "" && mayBeEmpty {
		return 0
	}
	n, err := strconv.ParseInt(f.text(column), 10, 64)
	if f.err == nil && (err != nil || n < 0) {
		f.err = &Error{f.line, fmt.Sprintf("%s is %q, and not a whole number", column, v)}
	}
	return n
}

// node has the CPU, the memory and the thousandths of GPUs of a row.
func node(f *fields) map[string]any {
	name := f.text("sn")
	labels := map[string]any{"kubernetes.io/hostname": name}
	if model := f.by("model"); model != "" {
		labels[labelModel] = model
	}
	has := f.resources(1000 * f.number("gpu", true))
	has["pods"] = "110"
	return map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name, "labels": labels},
		"status": map[string]any{
			"capacity": has, "allocatable": has,
			"conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
		},
	}
}

// pod requests what a row says; gpu_spec becomes a required node affinity.
func pod(f *fields) map[string]any {
	requests := f.resources(f.number("num_gpu", true) * f.number("gpu_milli", true))
	resources := map[string]any{"requests": requests}
	if gpu, set := requests[ResourceGPU]; set {
		resources["limits"] = map[string]any{ResourceGPU: gpu}
	}
	spec := map[string]any{"containers": []any{map[string]any{"name": "main", "image": "registry.example/openb:1", "resources": resources}}}
	var models []any
	for model := range strings.SplitSeq(f.by("gpu_spec"), "|") {
		if model != "" {
			models = append(models, model)
		}
	}
	if models != nil {
		spec["affinity"] = map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{
			"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{map[string]any{"key": labelModel, "operator": "In", "values": models}}}},
		}}}
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": f.text("name"), "namespace": "default", "labels": map[string]any{labelQoS: f.by("qos")}},
		"spec":     spec,
	}
}

// times sets when a pod was created and how long it existed.
func (f *fields) times(row *Row) {
	if _, isPod := f.index["creation_time"]; !isPod {
		return
	}
	row.At = time.Duration(f.number("creation_time", false)) * time.Second
	if f.by("deletion_time") != "" {
		row.Lifetime = time.Duration(f.number("deletion_time", false))*time.Second - row.At
		if row.Lifetime < 0 && f.err == nil {
			f.err = &Error{f.line, "deletion_time is before creation_time"}
		}
	}
}

func (f *fields) resources(gpuMilli int64) map[string]any {
	out := map[string]any{
		"cpu":    fmt.Sprintf("%dm", f.number("cpu_milli", false)),
		"memory": fmt.Sprintf("%dMi", f.number("memory_mib", false)),
	}
	if gpuMilli > 0 {
		out[ResourceGPU] = strconv.FormatInt(gpuMilli, 10)
	}
	return out
}
