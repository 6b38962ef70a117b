package resultstore

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// onDisk returns cycles as they are read back from a file.
func onDisk(t testing.TB, cycles ...*result.Cycle) []*result.Cycle {
	t.Helper()
	s := persistent(t, Options{Dir: t.TempDir()})
	for _, c := range cycles {
		s.Put(c)
	}
	flush(t, s)
	var out []*result.Cycle
	for _, c := range cycles {
		forgetMemory(s)
		got, err := s.Get(c.Pod.UID, c.Attempt)
		if err != nil {
			t.Fatal(err)
		}
		if got == c {
			t.Fatal("the cycle comes from memory")
		}
		out = append(out, got)
	}
	return out
}

var sameColumns = cmp.AllowUnexported(result.Column{})

// Every field of a cycle must be read back, including new ones.
func TestEveryFieldIsReadBack(t *testing.T) {
	want := &result.Cycle{}
	fill(reflect.ValueOf(want).Elem(), rand.New(rand.NewSource(1)))
	f := want.Filter
	f.VerdictOf = make([]uint16, f.Nodes.Len())
	for _, call := range want.Extenders {
		call.Rejected.ReasonOf = make([]uint16, len(call.Rejected.Nodes))
	}
	if diff := cmp.Diff(want, onDisk(t, want)[0], sameColumns); diff != "" {
		t.Error(diff)
	}
}

// fill gives every exported field a value that is not zero.
func fill(v reflect.Value, r *rand.Rand) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(1_700_000_000, int64(r.Intn(1e9))).UTC()))
		return
	case result.Column:
		v.Set(reflect.ValueOf(result.NewColumn([]int64{r.Int63() - r.Int63(), r.Int63n(100)})))
		return
	case result.NodeList:
		v.Set(reflect.ValueOf(result.NewNodeList(fmt.Sprintf("text-%d", r.Intn(1e6)), fmt.Sprintf("text-%d", r.Intn(1e6)))))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				panic(fmt.Sprintf("%s.%s is not exported: the codec does not see it", v.Type(), v.Type().Field(i).Name))
			}
			fill(v.Field(i), r)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), r)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), r)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, r)
			fill(value, r)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", r.Intn(1e6)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1 + r.Int63n(1e9))
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1 + uint64(r.Intn(1e4)))
	case reflect.Float64:
		v.SetFloat(r.Float64())
	default:
		panic("the test has no value of type " + v.Type().String())
	}
}

func TestCyclesAreReadBackUnchanged(t *testing.T) {
	odd := cycle("odd", 1, result.Error)
	odd.Message = "not UTF-8: \xff"
	odd.DurationSeconds = math.Inf(1)
	odd.PreFilter = []result.PluginResult{{Plugin: "NodeAffinity", Nodes: []string{"b", "a", "b"}}, {Plugin: "VolumeZone"}}
	empty := cycle("empty", 1, result.Unschedulable)
	empty.Filter, empty.Score = &result.Filter{}, &result.Score{}
	want := []*result.Cycle{odd, empty, rejectedCycle("rejected", 30, true), rejectedCycle("again", 40, false), scoredCycle("scored", 50, 20)}
	// Scores that contradict the scheduler's arithmetic are kept, too.
	strange := scoredCycle("strange", 10, 4)
	strange.Score.Normalized[0] = result.NewColumn([]int64{math.MaxInt64, math.MinInt64, 0, 1})
	strange.Score.Weighted[1] = result.NewColumn([]int64{1, 2})
	strange.Score.Totals = result.NewColumn([]int64{1, 2, 3})
	want = append(want, strange)
	for i, got := range onDisk(t, want...) {
		if diff := cmp.Diff(want[i], got, sameColumns); diff != "" {
			t.Errorf("%s: %s", want[i].Pod.Name, diff)
		}
	}
}

func TestThePublicFormIsReadBack(t *testing.T) {
	want := scoredCycle("a", 100, 10)
	wantJSON, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	gotJSON, err := json.Marshal(onDisk(t, want)[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(wantJSON), string(gotJSON)); diff != "" {
		t.Error(diff)
	}
}

func TestIntegersAreReadBackInEveryForm(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	random := func(n int, below int64) []int64 {
		out := make([]int64, n)
		for i := range out {
			out[i] = r.Int63n(below) - below/2
		}
		return out
	}
	runs := make([]int64, 300)
	for i := range runs {
		runs[i] = int64(i / 100)
	}
	for _, tc := range []struct {
		name   string
		values []int64
		form   byte
		most   int // bytes
	}{
		{"none", nil, 0, 1},
		{"constant", []int64{7, 7, 7}, formConstant, 3},
		{"percentages", random(500, 101), formPacked, 450},
		{"runs", runs, formRuns, 16},
		{"extremes", []int64{math.MinInt64, math.MaxInt64, 0}, formVarints, 30},
		{"56 bits", random(10, 1<<56), formPacked, 100},
	} {
		data := appendInts(nil, tc.values)
		if len(data) > tc.most {
			t.Errorf("%s take %d bytes", tc.name, len(data))
		}
		in := newReader(data)
		got := in.ints(nil)
		if diff := cmp.Diff(tc.values, got); diff != "" || in.Err != nil || len(in.Rest) != 0 {
			t.Errorf("%s: %s, %v, %d bytes left", tc.name, diff, in.Err, len(in.Rest))
		}
		head := newReader(data)
		if head.Uvarint(); tc.values != nil && head.Byte() != tc.form {
			t.Errorf("%s are written in another form", tc.name)
		}
	}
}

func TestListsOfNamesAreShort(t *testing.T) {
	names := nodeNames(5000)
	var tenth []string
	for i := 3; i < len(names); i += 10 {
		tenth = append(tenth, names[i])
	}
	table := newNameTable()
	all := table.appendList(nil, names)
	some := table.appendList(nil, tenth)
	if len(all) > 8 || len(some) > 16 {
		t.Errorf("%d names take %d bytes, every tenth %d", len(names), len(all), len(some))
	}
	known, err := decodeNames(table.encode())
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string][]string{string(all): names, string(some): tenth} {
		in := newReader([]byte(data))
		if diff := cmp.Diff(want, in.list(known)); diff != "" || in.Err != nil {
			t.Errorf("%s, %v", diff, in.Err)
		}
	}
}

// The realistic cycles of the tests and benchmarks.

var filterPlugins = []string{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
	"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources"}

func nodeNames(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("openb-node-%04d", i)
	}
	return out
}

var clusters = map[int][]string{}

// clusterOf returns the nodes of a cluster; cycles share them, as they share those
// of the scheduler's snapshot.
func clusterOf(n int) []string {
	if clusters[n] == nil {
		clusters[n] = nodeNames(n)
	}
	return clusters[n]
}

func answers(r *rand.Rand, plugins ...string) []result.PluginResult {
	var out []result.PluginResult
	for _, p := range plugins {
		out = append(out, result.PluginResult{Plugin: p, Status: "Success", DurationSeconds: r.Float64() * 1e-5})
	}
	return out
}

func seeded(name string) *rand.Rand {
	var seed int64
	for _, b := range []byte(name) {
		seed = seed*31 + int64(b)
	}
	return rand.New(rand.NewSource(seed))
}

// rejectedCycle returns the cycle of a pod that fits none of n nodes, for five
// reasons. With full, it has comparisons and dry runs of preemption.
func rejectedCycle(name string, n int, full bool) *result.Cycle {
	r := seeded(name)
	nodes := clusterOf(n)
	verdicts := []struct {
		states, plugin string
		reasons        []string
	}{
		{"PPPPSRNNNNNNN", "NodeResourcesFit", []string{"Insufficient nvidia.com/gpu"}},
		{"PPPPSRNNNNNNN", "NodeResourcesFit", []string{"Insufficient cpu"}},
		{"PPPPSRNNNNNNN", "NodeResourcesFit", []string{"Insufficient cpu", "Insufficient nvidia.com/gpu"}},
		{"PPPPSRNNNNNNN", "NodeResourcesFit", []string{"Insufficient memory"}},
		{"PPRNNNNNNNNNN", "TaintToleration", []string{"node(s) had untolerated taint(s)"}},
	}
	b := result.NewFilterBuilder(filterPlugins, n)
	var comparisons []result.Comparison
	for _, node := range nodes {
		v := verdicts[r.Intn(len(verdicts))]
		b.Add(node, v.states, v.plugin, v.reasons)
		if full && v.plugin == "NodeResourcesFit" && len(comparisons) < result.MaxComparisons {
			comparisons = append(comparisons, result.Comparison{Node: node, Plugin: v.plugin, Resources: []result.ResourceComparison{
				{Name: "cpu", Requested: 4000, InUse: r.Int63n(64000), Allocatable: 64000},
				{Name: "memory", Requested: 1 << 32, InUse: r.Int63n(1 << 38), Allocatable: 1 << 38},
			}})
		}
	}
	c := aCycle(r, name, n)
	c.Outcome = result.Unschedulable
	c.Message = fmt.Sprintf("0/%d nodes are available: 300 Insufficient cpu, 310 Insufficient memory, 309 Insufficient nvidia.com/gpu, "+
		"304 node(s) had untolerated taint(s). preemption: 0/%d nodes are available: %d No preemption victims found for incoming pod.", n, n, n)
	c.Filter = b.Filter()
	c.Filter.DurationSeconds = durations(r, len(filterPlugins))
	c.Filter.Comparisons = comparisons
	c.Nodes.Evaluated = n
	c.PostFilter = answers(r, "DefaultPreemption")
	if full {
		c.Preemption = &result.Preemption{Unhelpful: []result.UnhelpfulNodes{
			{Status: "Unschedulable", Reasons: []string{"No preemption victims found for incoming pod"}, Nodes: nodes},
		}}
	}
	return c
}

// scoredCycle returns the cycle of a pod for which n nodes were evaluated, and
// every n/scored-th node was scored by eight plugins.
func scoredCycle(name string, n, scored int) *result.Cycle {
	r := seeded(name)
	nodes := clusterOf(n)
	b := result.NewFilterBuilder(filterPlugins, n)
	s := &result.Score{}
	var feasible []string
	for i, node := range nodes {
		if i%(n/scored) == 0 && len(feasible) < scored {
			feasible = append(feasible, node)
			b.Add(node, "PPPPSPSSSSSSS", "", nil)
			continue
		}
		b.Add(node, "PPPPSRNNNNNNN", "NodeResourcesFit", []string{"Insufficient cpu"})
	}
	s.Nodes = result.NewNodeList(feasible...)
	totals := make([]int64, len(feasible))
	for p := range 8 {
		raw, normalized, weighted := make([]int64, len(totals)), make([]int64, len(totals)), make([]int64, len(totals))
		plugin := result.ScorePlugin{Name: filterPlugins[p], Weight: int64(1 + p%3)}
		for i := range totals {
			if p < 6 {
				raw[i] = r.Int63n(101)
			}
			normalized[i] = raw[i]
			if p == 4 {
				normalized[i] = 100 - raw[i]
			}
			weighted[i] = plugin.Weight * normalized[i]
			totals[i] += weighted[i]
		}
		s.Plugins = append(s.Plugins, plugin)
		s.Raw = append(s.Raw, result.NewColumn(raw))
		s.Normalized = append(s.Normalized, result.NewColumn(normalized))
		s.Weighted = append(s.Weighted, result.NewColumn(weighted))
	}
	s.Totals = result.NewColumn(totals)
	s.DurationSeconds = durations(r, 8)
	c := aCycle(r, name, n)
	c.Outcome, c.SelectedNode = result.Scheduled, feasible[0]
	c.Nodes.Evaluated, c.Nodes.Feasible = n, len(feasible)
	c.Filter, c.Score = b.Filter(), s
	c.Filter.DurationSeconds = durations(r, len(filterPlugins))
	c.PreScore = answers(r, filterPlugins[:8]...)
	c.Reserve, c.PreBind, c.Bind = answers(r, "VolumeBinding"), answers(r, "VolumeBinding"), answers(r, "DefaultBinder")
	return c
}

// durations leaves out those of every fifth plugin, as if none of its calls was measured.
func durations(r *rand.Rand, n int) []*float64 {
	out := make([]*float64, n)
	for i := range out {
		if seconds := r.Float64() * 1e-3; i%5 != 4 {
			out[i] = &seconds
		}
	}
	return out
}

func aCycle(r *rand.Rand, name string, nodes int) *result.Cycle {
	at := time.Unix(1_700_000_000, r.Int63n(1e9)).UTC()
	uid := fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", r.Uint32(), r.Intn(1<<16), r.Intn(1<<12), r.Intn(1<<12), r.Int63n(1<<48))
	return &result.Cycle{
		Summary: result.Summary{
			Pod: result.Pod{Namespace: "default", Name: name, UID: types.UID(uid)}, Attempt: 1, Profile: "default-scheduler",
			StartTime: at, DurationSeconds: r.Float64() / 500, Nodes: result.NodeCounts{Total: nodes},
		},
		Queue: &result.Queue{
			AddedTime: at, InitialAttemptTime: &at, Attempts: 3, RejectedBy: []string{"NodeResourcesFit"},
			RequeuedBy: &result.Requeue{Time: at, Event: "AssignedPodDelete", Kind: "Pod", Namespace: "default", Name: "other", Plugin: "NodeResourcesFit"},
		},
		ExtensionPoints: []result.ExtensionPoint{
			{Name: "PreFilter", DurationSeconds: r.Float64() / 1e4}, {Name: "Filter", DurationSeconds: r.Float64() / 1e3},
		},
		PreEnqueue: answers(r, "SchedulingGates", "DefaultPreemption", "DynamicResources"),
		PreFilter:  answers(r, filterPlugins[3:]...),
	}
}
