package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kube-scheduler-simulator/scheduler/result"
)

// decided is a decision as expressions see it. What the summary lacks is loaded when needed; it is
// empty if the cluster keeps no cycles.
type decided struct {
	*result.Summary
	load  func() (*result.Cycle, error)
	cycle *result.Cycle
}

func (d *decided) whole() *result.Cycle {
	if d.cycle != nil {
		return d.cycle
	}
	d.cycle = &result.Cycle{Summary: *d.Summary}
	if c, err := d.load(); err == nil && c != nil {
		d.cycle = c
	}
	return d.cycle
}

// rejected has the plugin, or the extender's URL, by node.
func (d *decided) rejected() map[string]string {
	out := map[string]string{}
	c := d.whole()
	if c.Filter != nil {
		for i, node := range c.Filter.Nodes.All() {
			if v := c.Filter.Verdict(i); v.Plugin != "" {
				out[node] = v.Plugin
			}
		}
	}
	for _, call := range c.Extenders {
		if call.Rejected == nil {
			continue
		}
		for _, node := range call.Rejected.Nodes {
			out[node] = cmp.Or(out[node], call.Plugin)
		}
	}
	return out
}

func (d *decided) totals() map[string]int64 {
	out := map[string]int64{}
	if s := d.whole().Score; s != nil {
		for i, node := range s.Nodes.All() {
			out[node] = s.Totals.At(i)
		}
	}
	return out
}

func (d *decided) weights() map[string]int64 {
	out := map[string]int64{}
	if s := d.whole().Score; s != nil {
		for _, p := range s.Plugins {
			out[p.Name] = p.Weight
		}
	}
	return out
}

// scores has the values by plugin/node.
func (d *decided) scores(columns func(*result.Score) []result.Column) map[string]int64 {
	out := map[string]int64{}
	if s := d.whole().Score; s != nil {
		for p, column := range columns(s) {
			for i, node := range s.Nodes.All() {
				out[s.Plugins[p].Name+"/"+node] = column.At(i)
			}
		}
	}
	return out
}

func (d *decided) calls() int64 {
	n := int64(0)
	for _, call := range d.whole().Extenders {
		if call.Verb != "" {
			n++
		}
	}
	return n
}

// victims are those that preemption evicts, or would evict in a hypothetical cycle.
func (d *decided) victims() []string {
	c := d.whole()
	found := victimsOf(c)
	if c.Hypothetical && c.Preemption != nil {
		for _, candidate := range c.Preemption.Candidates {
			if candidate.Node == c.Preemption.Chosen {
				found = candidate.Victims
			}
		}
	}
	out := []string{}
	for _, v := range found {
		out = append(out, v.Pod.Name)
	}
	slices.Sort(out)
	return out
}

// lastOf: a pod is NAME in the namespace default, or NAMESPACE/NAME.
func lastOf(pod, decisions ref.Val) ref.Val {
	want := string(pod.(types.String))
	namespace, name, both := strings.Cut(want, "/")
	if !both {
		namespace, name = metav1.NamespaceDefault, want
	}
	for _, d := range slices.Backward(listOf[*decided](decisions)) {
		if d.Pod.Name == name && d.Pod.Namespace == namespace {
			return object{decisionType, d}
		}
	}
	return types.NewErr("the scheduler has not decided about a pod %s yet", want)
}

func (r *run) objectsOf(kind string) ([]any, error) {
	gvk, known := kindNamed(kind)
	if !known {
		return nil, fmt.Errorf("there is no kind %s in Kubernetes", kind)
	}
	list, err := r.cluster.List(r.ctx, gvk)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, o := range list {
		if out[i], err = runtime.DefaultUnstructuredConverter.ToUnstructured(o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// objects() and object() read from this hidden variable.
type lister func(kind string) ([]any, error)

var listerType = types.NewObjectType("objects")

func objectsOfKind(kind, from ref.Val) ref.Val {
	list, err := from.Value().(lister)(string(kind.(types.String)))
	if err != nil {
		return types.NewErrFromString(err.Error())
	}
	return types.DefaultTypeAdapter.NativeToValue(list)
}

// objectNamed looks in every namespace, and returns an empty map if there is none.
func objectNamed(args ...ref.Val) ref.Val {
	kind, name := string(args[0].(types.String)), string(args[1].(types.String))
	list, err := args[2].Value().(lister)(kind)
	if err != nil {
		return types.NewErrFromString(err.Error())
	}
	for _, o := range list {
		if metadata, _ := o.(map[string]any)["metadata"].(map[string]any); metadata["name"] == name {
			return types.DefaultTypeAdapter.NativeToValue(o)
		}
	}
	return types.DefaultTypeAdapter.NativeToValue(map[string]any{})
}
