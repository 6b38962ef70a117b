package instances

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// bounds are those of a file. The list of all types of a large cloud, in four zones, has 9.5 MB.
var bounds = yamlsource.Bounds{Written: 32 << 20, Values: 1_500_000, Size: 32 << 20, Depth: 20, Items: 20_000, Path: 4 << 10}

// defaultPods is how many pods a node holds if its type does not say.
const defaultPods = "110"

// Read reads a list of types in the format of Karpenter's KWOK provider, as YAML or JSON. name is the file's, for its mistakes and as
// the source of the prices. The overhead is DefaultOverhead.
//
// It differs from KWOK where that errs or guesses: Available is taken as written, and is true if it is left out; x86_64 and aarch64
// are Kubernetes' amd64 and arm64; and whatever the format does not have is a mistake. All mistakes are in one error, a
// yamlsource.Errors, each with its path and line.
func Read(ctx context.Context, text []byte, name string) (*Catalog, error) {
	root, wrong := yamlsource.Parse(ctx, text, bounds)
	if wrong != nil {
		wrong.File = name
		return nil, yamlsource.Errors{*wrong}
	}
	r := reader{Mistakes: yamlsource.Mistakes{File: name}}
	c := &Catalog{Prices: Source{From: name}, Overhead: DefaultOverhead()}
	if root == nil {
		r.Note(yamlsource.Mistake{Message: "the file has no instance types"})
	} else {
		c.Types = r.types(root)
	}
	if len(r.List) > 0 {
		return nil, yamlsource.Sorted(r.List)
	}
	c.sort()
	return c, nil
}

type reader struct{ yamlsource.Mistakes }

func (r *reader) types(root *yaml.Node) (all []Type) {
	lines := map[string]int{}
	r.Items(root, "", func(item *yaml.Node, at string) {
		t := r.instanceType(item, at)
		if line, twice := lines[t.key()]; twice && t.Name != "" {
			r.Add(item, at+".name", "there is a type %q for %s and %s already, on line %d", t.Name, t.Architecture, strings.Join(t.OperatingSystems, ", "), line)
			return
		}
		lines[t.key()] = item.Line
		all = append(all, t)
	})
	if root.Kind == yaml.SequenceNode && len(root.Content) == 0 {
		r.Add(root, "", "the list has no instance types")
	}
	return all
}

func (r *reader) instanceType(n *yaml.Node, at string) (t Type) {
	known := []string{"name", "architecture", "operatingSystems", "resources", "offerings"}
	found := r.fields(n, at, known, func(field string, value *yaml.Node, at string) {
		switch field {
		case "name":
			t.Name = r.label(value, at)
		case "architecture":
			t.Architecture = architecture(r.label(value, at))
		case "operatingSystems":
			r.Items(value, at, func(item *yaml.Node, at string) {
				t.OperatingSystems = append(t.OperatingSystems, r.label(item, at))
			})
		case "resources":
			t.Capacity = r.resources(value, at)
		case "offerings":
			t.Offerings = r.offerings(value, at)
		}
	})
	r.require(n, at, found, known)
	if t.Capacity != nil {
		if _, says := t.Capacity[v1.ResourcePods]; !says {
			t.Capacity[v1.ResourcePods] = resource.MustParse(defaultPods)
		}
	}
	return t
}

func architecture(s string) string {
	switch s {
	case "x86_64":
		return karpenter.ArchitectureAmd64
	case "aarch64":
		return karpenter.ArchitectureArm64
	}
	return s
}

func (r *reader) resources(n *yaml.Node, at string) v1.ResourceList {
	list := v1.ResourceList{}
	r.Fields(n, at, nil, func(key, value *yaml.Node) {
		path := at + "." + key.Value
		if wrong := validation.IsQualifiedName(key.Value); len(wrong) > 0 {
			r.Add(key, path, "%s", strings.Join(wrong, "; "))
			return
		}
		quantity, err := resource.ParseQuantity(value.Value)
		switch {
		case value.Kind != yaml.ScalarNode || err != nil:
			r.Add(value, path, "want a quantity such as 4 or 16Gi, not %s", yamlsource.Describe(value))
		case quantity.Sign() < 0:
			r.Add(value, path, "want a quantity of at least 0, not %s", yamlsource.Describe(value))
		default:
			list[v1.ResourceName(key.Value)] = quantity
		}
	})
	if n.Kind == yaml.MappingNode {
		for _, name := range []string{"cpu", "memory"} {
			if yamlsource.Field(n, name) == nil {
				r.Add(n, at+"."+name, "a type must say how much %s it has", name)
			}
		}
	}
	return list
}

func (r *reader) offerings(n *yaml.Node, at string) (all []Offering) {
	lines := map[Offering]int{}
	r.Items(n, at, func(item *yaml.Node, at string) {
		o, ok := r.offering(item, at)
		key := Offering{Zone: o.Zone, CapacityType: o.CapacityType}
		if line, twice := lines[key]; ok && twice {
			r.Add(item, at, "%s in %s is offered on line %d already", o.CapacityType, o.Zone, line)
			return
		}
		lines[key] = item.Line
		all = append(all, o)
	})
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		r.Add(n, at, "a type must be offered somewhere")
	}
	return all
}

func (r *reader) offering(n *yaml.Node, at string) (o Offering, ok bool) {
	before := len(r.List)
	o.Available = true
	found := r.fields(n, at, []string{"Price", "Available", "Requirements"}, func(field string, value *yaml.Node, at string) {
		switch field {
		case "Price":
			price, err := strconv.ParseFloat(value.Value, 64)
			if value.Kind != yaml.ScalarNode || err != nil || math.IsInf(price, 0) || math.IsNaN(price) || price < 0 {
				r.Add(value, at, "want dollars per hour, 0 or more, not %s", yamlsource.Describe(value))
			}
			o.Price = price
		case "Available":
			if err := value.Decode(&o.Available); err != nil {
				r.Add(value, at, "want true or false, not %s", yamlsource.Describe(value))
			}
		case "Requirements":
			r.requirements(value, at, &o)
		}
	})
	r.require(n, at, found, []string{"Price", "Requirements"})
	return o, len(r.List) == before
}

// requirements reads where and how a type is offered: one value for the zone, and one for the capacity type.
func (r *reader) requirements(n *yaml.Node, at string, o *Offering) {
	into := map[string]*string{v1.LabelTopologyZone: &o.Zone, karpenter.CapacityTypeLabelKey: &o.CapacityType}
	r.Items(n, at, func(item *yaml.Node, at string) {
		var key, operator string
		var values []string
		known := []string{"key", "operator", "values"}
		found := r.fields(item, at, known, func(field string, value *yaml.Node, at string) {
			switch field {
			case "key":
				key = r.text(value, at)
			case "operator":
				operator = r.text(value, at)
			case "values":
				r.Items(value, at, func(item *yaml.Node, at string) { values = append(values, r.label(item, at)) })
			}
		})
		r.require(item, at, found, known)
		if len(found) < len(known) {
			return
		}
		place := into[key]
		switch {
		case place == nil:
			r.Add(item, at+".key", "want %s or %s, not %q", v1.LabelTopologyZone, karpenter.CapacityTypeLabelKey, key)
		case operator != string(v1.NodeSelectorOpIn) || len(values) != 1:
			r.Add(item, at, "an offering has one %s: want the operator In and one value", key)
		case *place != "":
			r.Add(item, at, "%s is there twice", key)
		case key == karpenter.CapacityTypeLabelKey && !slices.Contains([]string{karpenter.CapacityTypeOnDemand, karpenter.CapacityTypeSpot}, values[0]):
			r.Add(item, at+".values[0]", "want %s or %s, not %q", karpenter.CapacityTypeOnDemand, karpenter.CapacityTypeSpot, values[0])
			*place = values[0]
		default:
			*place = values[0]
		}
	})
	if n.Kind != yaml.SequenceNode {
		return
	}
	for _, key := range []string{v1.LabelTopologyZone, karpenter.CapacityTypeLabelKey} {
		if *into[key] == "" && !mentions(n, key) {
			r.Add(n, at, "an offering must say its %s", key)
		}
	}
}

// mentions reports whether one of the requirements has a key, right or wrong.
func mentions(n *yaml.Node, key string) bool {
	return slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return yamlsource.Text(yamlsource.Target(item), "key") == key })
}

// fields calls each for every field that is known, and returns those that the mapping has.
func (r *reader) fields(n *yaml.Node, at string, known []string, each func(field string, value *yaml.Node, at string)) (found []string) {
	r.Fields(n, at, known, func(key, value *yaml.Node) {
		found = append(found, key.Value)
		each(key.Value, value, yamlsource.Child(at, key.Value))
	})
	return found
}

// require notes the fields that a mapping lacks.
func (r *reader) require(n *yaml.Node, at string, found, wanted []string) {
	if n.Kind != yaml.MappingNode {
		return
	}
	for _, field := range wanted {
		if !slices.Contains(found, field) {
			r.Add(n, yamlsource.Child(at, field), "the field is missing")
		}
	}
}

func (r *reader) text(n *yaml.Node, at string) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		r.Add(n, at, "want a string, not %s", yamlsource.Describe(n))
		return ""
	}
	return n.Value
}

// label reads a string that becomes the value of a label.
func (r *reader) label(n *yaml.Node, at string) string {
	before := len(r.List)
	s := r.text(n, at)
	if len(r.List) > before {
		return ""
	}
	wrong := validation.IsValidLabelValue(s)
	if s == "" {
		wrong = []string{"it is empty"}
	}
	if len(wrong) > 0 {
		r.Add(n, at, "%s", fmt.Sprintf("%q cannot be the value of a label: %s", yamlsource.Cut(s, 70), strings.Join(wrong, "; ")))
		return ""
	}
	return s
}
