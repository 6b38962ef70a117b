package result

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// shared are the strings that Size leaves out, by the names of the fields on the way to
// them: cycles share them with each other.
var shared = []string{
	"Profile", "Outcome", "SelectedNode", "NominatedNode", "Status", "Plugin", "ExtensionPoint", "Kind",
	"ExtensionPoints.Name", "Plugins", "Plugins.Name", "Plugins.Normalization", "Strategy", "Skipped", "Verb", "Rule", "Chosen", "Effect", "Operator", "Source", "Protocol",
	"Hint.Node", "PreFilterExtensions.Point", "RejectedBy", "Nodes", "Node", "Unscored", "Nominated.Node", "Facts.Key", "Extenders.Name", "ChangedBy", "RemovedBy",
	"PodNode", "Why", "Ineligible", "WithoutPods", "NodeAffinityPolicy", "NodeTaintsPolicy",
}

func isShared(path string) bool {
	return slices.ContainsFunc(shared, func(s string) bool { return path == s || strings.HasSuffix(path, "."+s) })
}

// Every list, map and string of a cycle adds to its size.
func TestSizeCountsEveryField(t *testing.T) {
	const many = 10_000
	c := &Cycle{}
	fields := 0
	expect := func(path string, bytes int, fill, reset func()) {
		fields++
		before := c.Size()
		fill()
		defer reset()
		if grown := c.Size() - before; grown < bytes*9/10 || grown > 2*bytes {
			t.Errorf("%s holds %d bytes more, but the size has grown by %d", path, bytes, grown)
		}
	}
	var visit func(v reflect.Value, path string)
	visit = func(v reflect.Value, path string) {
		zero := func() { v.SetZero() }
		switch {
		case v.Type() == reflect.TypeFor[Column]():
			if strings.HasSuffix(path, "Normalized") {
				c.Score.Plugins = []ScorePlugin{{Weight: 2}}
			}
			expect(path, 2*many, func() { v.Set(reflect.ValueOf(NewColumn(randomValues(many)))) }, zero)
		case v.Type() == reflect.TypeFor[NodeList]():
			expect(path, 2*many, func() { v.Set(reflect.ValueOf(randomNodes(many))) }, zero)
			expect(path, 16*many, func() { v.Set(reflect.ValueOf(NewNodeList(make([]string, many)...))) }, zero)
		case v.Type() == reflect.TypeFor[time.Time]():
		case v.Kind() == reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			visit(v.Elem(), path)
			zero()
		case path == "Filter.Plugins": // the profile's own list
		case v.Kind() == reflect.Slice:
			expect(path, many*int(v.Type().Elem().Size()), func() { v.Set(reflect.MakeSlice(v.Type(), many, many)) }, zero)
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			visit(v.Index(0), path)
			zero()
		case v.Kind() == reflect.Map:
			// A map has room for up to twice its entries.
			expect(path, many*(16+8)*3/2, func() { v.Set(reflect.ValueOf(randomScores(many))) }, zero)
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				visit(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."))
			}
		case v.Kind() == reflect.String && !isShared(path):
			expect(path, many, func() { v.SetString(strings.Repeat("x", many)) }, zero)
		}
	}
	visit(reflect.ValueOf(c).Elem(), "")
	if fields < 100 {
		t.Errorf("%d fields were tried", fields)
	}
}

// The sizes of cycles that hold a bit of everything, and those of a large preemption,
// differ from what they really take by less than a quarter.
func TestSizeIsCloseToRealMemory(t *testing.T) {
	everything := &Cycle{}
	fill(reflect.ValueOf(everything).Elem(), "", 4)
	preempting := &Cycle{Preemption: &Preemption{}}
	for range MaxCandidates {
		candidate := Candidate{}
		fill(reflect.ValueOf(&candidate).Elem(), "Node", 30)
		preempting.Preemption.Candidates = append(preempting.Preemption.Candidates, candidate)
	}
	for name, cycle := range map[string]*Cycle{"everything": everything, "preempting": preempting, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			const copies = 50
			kept := make([]*Cycle, copies)
			before := heap()
			for i := range kept {
				kept[i] = deepCopy(reflect.ValueOf(cycle), "").Interface().(*Cycle)
			}
			taken := int(heap()-before) / copies
			estimated := kept[0].Size()
			runtime.KeepAlive(kept)
			t.Logf("%d bytes, estimated as %d", taken, estimated)
			if estimated < taken*3/4 || estimated > taken*5/4 {
				t.Errorf("a cycle that takes %d bytes is estimated as %d", taken, estimated)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// fill sets every field. Lists have n elements; those that grow with the cluster have
// many more.
func fill(v reflect.Value, path string, n int) {
	const nodes = 300
	switch {
	case v.Type() == reflect.TypeFor[Column]():
		v.Set(reflect.ValueOf(NewColumn(randomValues(nodes))))
	case v.Type() == reflect.TypeFor[NodeList]():
		v.Set(reflect.ValueOf(randomNodes(nodes)))
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Now()))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, n)
	case v.Kind() == reflect.Slice:
		if strings.HasSuffix(path, "Nodes") || strings.HasSuffix(path, "VerdictOf") {
			n = nodes
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), path, n)
		}
	case v.Kind() == reflect.Map:
		v.Set(reflect.ValueOf(randomScores(n)))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), path+"."+v.Type().Field(i).Name, n)
		}
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprintf("%032x", rand.Uint64()))
	case v.Kind() == reflect.Int64:
		v.SetInt(2) // a plugin's weight, among others
	}
}

// deepCopy shares only the strings that cycles share.
func deepCopy(v reflect.Value, path string) reflect.Value {
	switch {
	case v.Type() == reflect.TypeFor[Column]():
		column := v.Interface().(Column)
		values := make([]int64, column.Len())
		for i := range values {
			values[i] = column.At(i)
		}
		return reflect.ValueOf(NewColumn(values))
	case v.Type() == reflect.TypeFor[NodeList]():
		list := v.Interface().(NodeList)
		list.at = deepCopy(reflect.ValueOf(list.at), path).Interface().(Column)
		return reflect.ValueOf(list)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(deepCopy(v.Elem(), path))
		return out
	case v.Kind() == reflect.Slice && !v.IsNil():
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(deepCopy(v.Index(i), path))
		}
		return out
	case v.Kind() == reflect.Map && !v.IsNil():
		return reflect.ValueOf(maps.Clone(v.Interface().(map[string]int64)))
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		out := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			out.Field(i).Set(deepCopy(v.Field(i), path+"."+v.Type().Field(i).Name))
		}
		return out
	case v.Kind() == reflect.String && !isShared(path):
		out := reflect.New(v.Type()).Elem()
		out.SetString(strings.Clone(v.String()))
		return out
	}
	return v
}

func randomValues(n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(rand.IntN(1 << 15))
	}
	return values
}

// known is a table of names that lists share.
var known = slices.Repeat([]string{"node"}, 1<<15)

func randomNodes(n int) NodeList { return NodeListIn(known, randomValues(n)) }

func randomScores(n int) map[string]int64 {
	scores := map[string]int64{}
	for i := range n {
		scores[fmt.Sprint(i)] = int64(i)
	}
	return scores
}
