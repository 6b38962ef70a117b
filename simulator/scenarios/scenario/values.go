package scenario

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	v1 "k8s.io/api/core/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"kube-scheduler-simulator/scheduler/result"
)

// Pod is a pod as expressions see it.
type Pod struct {
	Name, Namespace, Node, Phase string
	// Owner is the name of the workload that it belongs to, and empty without one.
	Owner    string
	UID      apitypes.UID
	Labels   map[string]string
	Priority int32
	// Requests by resource: CPU in cores, memory in bytes.
	Requests map[string]float64
	// Waited is how long it waited for its node, so far if it has none.
	Waited time.Duration
	// Attempts counts its scheduling cycles. Message is that of the last one that found no node.
	Attempts int
	Message  string
	// Nominated is the node on which preemption makes room for it.
	Nominated string
}

// Node is a node as expressions see it.
type Node struct {
	Name        string
	Labels      map[string]string
	Ready       bool
	Schedulable bool
	// Pods counts the pods on it. Requested and Allocatable are by resource: CPU in cores, memory
	// in bytes.
	Pods                   int
	Requested, Allocatable map[string]float64
	// Price is in US dollars per hour, as objects.LabelPrice says; 0 without it, or if that is not a price.
	Price float64
}

var (
	podType      = types.NewObjectType("pod")
	nodeType     = types.NewObjectType("node")
	decisionType = types.NewObjectType("decision")
	totalsType   = types.NewObjectType("run.totals")
	textMap      = types.NewMapType(types.StringType, types.StringType)
	numberMap    = types.NewMapType(types.StringType, types.DoubleType)
	countMap     = types.NewMapType(types.StringType, types.IntType)
)

type field struct {
	celType *types.Type
	get     func(object any) any
}

// objectTypes is what people may write after a dot.
var objectTypes = map[string]map[string]field{
	podType.TypeName(): {
		"name":      {types.StringType, func(o any) any { return o.(*Pod).Name }},
		"namespace": {types.StringType, func(o any) any { return o.(*Pod).Namespace }},
		"node":      {types.StringType, func(o any) any { return o.(*Pod).Node }},
		"phase":     {types.StringType, func(o any) any { return o.(*Pod).Phase }},
		"owner":     {types.StringType, func(o any) any { return o.(*Pod).Owner }},
		"labels":    {textMap, func(o any) any { return newTotal(o.(*Pod).Labels, types.String("")) }},
		"priority":  {types.IntType, func(o any) any { return int64(o.(*Pod).Priority) }},
		"requests":  {numberMap, func(o any) any { return newTotal(o.(*Pod).Requests, types.Double(0)) }},
		"waited":    {types.DurationType, func(o any) any { return o.(*Pod).Waited }},
		"attempts":  {types.IntType, func(o any) any { return int64(o.(*Pod).Attempts) }},
		"message":   {types.StringType, func(o any) any { return o.(*Pod).Message }},
		"nominated": {types.StringType, func(o any) any { return o.(*Pod).Nominated }},
	},
	nodeType.TypeName(): {
		"name":        {types.StringType, func(o any) any { return o.(*Node).Name }},
		"labels":      {textMap, func(o any) any { return newTotal(o.(*Node).Labels, types.String("")) }},
		"ready":       {types.BoolType, func(o any) any { return o.(*Node).Ready }},
		"schedulable": {types.BoolType, func(o any) any { return o.(*Node).Schedulable }},
		"pods":        {types.IntType, func(o any) any { return int64(o.(*Node).Pods) }},
		"requested":   {numberMap, func(o any) any { return newTotal(o.(*Node).Requested, types.Double(0)) }},
		"allocatable": {numberMap, func(o any) any { return newTotal(o.(*Node).Allocatable, types.Double(0)) }},
		"price":       {types.DoubleType, func(o any) any { return o.(*Node).Price }},
	},
	decisionType.TypeName(): {
		"pod":       {types.StringType, func(o any) any { return o.(*decided).Pod.Name }},
		"namespace": {types.StringType, func(o any) any { return o.(*decided).Pod.Namespace }},
		"attempt":   {types.IntType, func(o any) any { return int64(o.(*decided).Attempt) }},
		"profile":   {types.StringType, func(o any) any { return o.(*decided).Profile }},
		"outcome":   {types.StringType, func(o any) any { return string(o.(*decided).Outcome) }},
		"node":      {types.StringType, func(o any) any { return o.(*decided).SelectedNode }},
		"nominated": {types.StringType, func(o any) any { return o.(*decided).NominatedNode }},
		"message":   {types.StringType, func(o any) any { return o.(*decided).Message }},
		"plugin":    {types.StringType, func(o any) any { return refusedBy(o.(*decided)) }},
		"evaluated": {types.IntType, func(o any) any { return int64(o.(*decided).Nodes.Evaluated) }},
		"feasible":  {types.IntType, func(o any) any { return int64(o.(*decided).Nodes.Feasible) }},
		"rejected":  {textMap, func(o any) any { return newTotal(o.(*decided).rejected(), types.String("")) }},
		"totals":    {countMap, func(o any) any { return newTotal(o.(*decided).totals(), types.Int(0)) }},
		"weights":   {countMap, func(o any) any { return newTotal(o.(*decided).weights(), types.Int(0)) }},
		"scores": {countMap, func(o any) any {
			return newTotal(o.(*decided).scores(func(s *result.Score) []result.Column { return s.Weighted }), types.Int(0))
		}},
		"normalized": {countMap, func(o any) any {
			return newTotal(o.(*decided).scores(func(s *result.Score) []result.Column { return s.Normalized }), types.Int(0))
		}},
		"calls":   {types.IntType, func(o any) any { return o.(*decided).calls() }},
		"victims": {types.NewListType(types.StringType), func(o any) any { return o.(*decided).victims() }},
	},
	totalsType.TypeName(): totalFields,
}

// A decision's summary does not have them.
var wholeFields = sets.New("rejected", "totals", "weights", "scores", "normalized", "calls", "victims")

// refusedBy names the plugin, or the extender by its URL; empty if there was no single one.
func refusedBy(s *decided) string {
	if s.Refusal == nil {
		return ""
	}
	return s.Refusal.Plugin
}

type provider struct {
	types.Provider
	types.Adapter
}

func newProvider(p types.Provider, a types.Adapter) *provider { return &provider{p, a} }

func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if objectTypes[name] != nil {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	fields := objectTypes[name]
	if fields == nil {
		return p.Provider.FindStructFieldNames(name)
	}
	var names []string
	for f := range fields {
		names = append(names, f)
	}
	slices.Sort(names)
	return names, true
}

func (p *provider) FindStructFieldType(name, of string) (*types.FieldType, bool) {
	fields := objectTypes[name]
	if fields == nil {
		return p.Provider.FindStructFieldType(name, of)
	}
	f, known := fields[of]
	if !known {
		return nil, false
	}
	return &types.FieldType{
		Type:    f.celType,
		IsSet:   func(o any) bool { return true },
		GetFrom: func(o any) (any, error) { return f.get(native(o)), nil },
	}, true
}

func (p *provider) NativeToValue(value any) ref.Val {
	switch v := value.(type) {
	case *Pod:
		return object{podType, v}
	case *Node:
		return object{nodeType, v}
	case *decided:
		return object{decisionType, v}
	case *totals:
		return object{totalsType, v}
	}
	return p.Adapter.NativeToValue(value)
}

func native(o any) any {
	if held, ok := o.(object); ok {
		return held.value
	}
	return o
}

type object struct {
	celType *types.Type
	value   any // a pointer
}

var (
	_ ref.Val        = object{}
	_ traits.Indexer = object{}
)

func (o object) ConvertToNative(t reflect.Type) (any, error) {
	if reflect.TypeOf(o.value).AssignableTo(t) {
		return o.value, nil
	}
	return nil, fmt.Errorf("a %s cannot become %v", o.celType.TypeName(), t)
}

func (o object) ConvertToType(t ref.Type) ref.Val {
	if t.TypeName() == o.celType.TypeName() {
		return o
	}
	return types.NewErr("a %s cannot become %s", o.celType.TypeName(), t.TypeName())
}

func (o object) Equal(other ref.Val) ref.Val {
	p, ok := other.(object)
	return types.Bool(ok && o.value == p.value)
}

func (o object) Type() ref.Type { return o.celType }

func (o object) Value() any { return o.value }

// Get reads a field of an object whose type the compiler did not know.
func (o object) Get(name ref.Val) ref.Val {
	key, _ := name.Value().(string)
	f, known := objectTypes[o.celType.TypeName()][key]
	if !known {
		return types.NewErr("no such field: %s", key)
	}
	return types.DefaultTypeAdapter.NativeToValue(f.get(o.value))
}

// total has a value for every key, so that an expression need not ask whether a pod has a label.
// Only set keys count for size(), in and loops.
type total struct {
	traits.Mapper
	absent ref.Val
}

func newTotal[V any](m map[string]V, absent ref.Val) ref.Val {
	return total{types.NewDynamicMap(types.DefaultTypeAdapter, m), absent}
}

func (t total) Find(key ref.Val) (ref.Val, bool) {
	if v, found := t.Mapper.Find(key); found || types.IsError(v) {
		return v, found
	}
	return t.absent, true
}

func (t total) Get(key ref.Val) ref.Val {
	v, _ := t.Find(key)
	return v
}

func podsOf(list ref.Val) []*Pod { return listOf[*Pod](list) }

func nodesOf(list ref.Val) []*Node { return listOf[*Node](list) }

func listOf[T any](list ref.Val) []T {
	l, isList := list.(traits.Lister)
	if !isList {
		return nil
	}
	var out []T
	for it := l.Iterator(); it.HasNext() == types.True; {
		o, ok := it.Next().(object)
		if !ok {
			return nil
		}
		v, ok := o.value.(T)
		if !ok {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// Domain is one value of a topology key with the pods on its nodes.
type Domain struct {
	Name string `json:"name"`
	Pods int    `json:"pods"`
}

var shortKeys = map[string]string{"zone": v1.LabelTopologyZone, "region": v1.LabelTopologyRegion, "hostname": v1.LabelHostname}

// All nodes with the key make domains, whether a pod is there or not. A short key stands for the
// well-known one, unless nodes have just that label.
func domains(pods []*Pod, key string, nodes []*Node) []Domain {
	if long := shortKeys[key]; long != "" && !slices.ContainsFunc(nodes, func(n *Node) bool { _, has := n.Labels[key]; return has }) {
		key = long
	}
	count, of := map[string]int{}, map[string]string{}
	for _, n := range nodes {
		if domain, has := n.Labels[key]; has {
			of[n.Name] = domain
			count[domain] += 0
		}
	}
	for _, p := range pods {
		if domain, known := of[p.Node]; known {
			count[domain]++
		}
	}
	out := make([]Domain, 0, len(count))
	for name, n := range count {
		out = append(out, Domain{name, n})
	}
	slices.SortFunc(out, func(a, b Domain) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func skew(domains []Domain) int {
	if len(domains) == 0 {
		return 0
	}
	byPods := func(a, b Domain) int { return cmp.Compare(a.Pods, b.Pods) }
	return slices.MaxFunc(domains, byPods).Pods - slices.MinFunc(domains, byPods).Pods
}

func listValue[T any](adapter types.Adapter, list []T) ref.Val {
	values := make([]ref.Val, len(list))
	for i, v := range list {
		values[i] = adapter.NativeToValue(v)
	}
	return types.NewRefValList(adapter, values)
}
