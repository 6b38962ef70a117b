package claims

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif/fit"
)

// known are the kinds of statement that experiments still refute, with the reason. The goal is an empty map.
var known = map[string]string{}

// unreachable are kinds that the generator does not reach, with the reason.
var unreachable = map[string]string{
	"statement tiedBySeed": "the experiments break ties themselves; live schedulers reach it",
	"statement nominated":  "a hypothetical decision holds the victims; live schedulers reach it",
	"live unschedulable":   "flow schedulers refuse pods in Permit without a node; of kube-scheduler's decisions the record names a plugin",
}

// noClaim are kinds of statements that state nothing which an experiment could refute, with the reason.
var noClaim = map[explain.Kind]string{
	"groupRoom": "it repeats the answer of a third-party plugin, which says neither how it makes room nor where",
	"unscored":  "it says what a record lacks that keeps little; live schedulers keep all scores",
}

// tried reports whether the statements of a kind have an experiment.
func tried(kind explain.Kind) bool {
	return statements[kind] != nil || liveStatements[kind] != nil || extenderStatements[kind] != nil
}

// kinds are the kinds of statements that the random clusters must reach.
func kinds() []string {
	var out []string
	for kind := range statements {
		out = append(out, "statement "+string(kind))
	}
	for name, c := range comparisons {
		if c.rejected != nil {
			out = append(out, "comparison "+name+" rejected")
		} else {
			out = append(out, "comparison "+name+" passed")
		}
	}
	for name := range scores {
		out = append(out, "score "+name)
	}
	for kind := range cures {
		out = append(out, "fit: "+string(kind))
	}
	for kind := range steps {
		out = append(out, "step "+string(kind))
	}
	slices.Sort(out)
	return out
}

// TestEveryKindHasAnExperiment fails by name for a kind of statement that the experiments do not know.
func TestEveryKindHasAnExperiment(t *testing.T) {
	for _, o := range slices.Concat(explain.Headlines(), explain.Remarks()) {
		if tried(explain.KindOf(o)) == (noClaim[explain.KindOf(o)] != "") {
			t.Errorf("the statement %q (%T) has no experiment, or one although it states nothing", explain.KindOf(o), o)
		}
	}
	for _, o := range explain.Steps() {
		if _, ok := steps[explain.KindOf(o)]; !ok {
			t.Errorf("the step %q (%T) has no experiment", explain.KindOf(o), o)
		}
	}
	for _, o := range slices.Concat(explain.Manners(), explain.Omissions()) {
		if manners[explain.KindOf(o)] == "" && !tried(explain.KindOf(o)) {
			t.Errorf("the statement %q (%T) has no experiment", explain.KindOf(o), o)
		}
	}
	suggestions, err := kindsOf("../whatif/fit", "Kind")
	if err != nil || len(suggestions) < 4 {
		t.Errorf("the kinds of suggestions are %v: %v", suggestions, err)
	}
	for _, kind := range suggestions {
		if !cures[fit.Kind(kind)] {
			t.Errorf("the suggestion %q has no experiment", kind)
		}
	}
	fields := map[string]string{}
	for name, c := range comparisons {
		fields[name] = c.fields
	}
	covers(t, reflect.TypeFor[result.Comparison](), []string{"Node", "Plugin"}, fields)
	fields = map[string]string{}
	for name, s := range scores {
		fields[name] = s.fields
	}
	covers(t, reflect.TypeFor[result.PluginScoreFacts](), []string{"Plugin"}, fields)
}

// covers checks that each field of a type, and each field in it, has an experiment.
func covers(t *testing.T, of reflect.Type, except []string, experiments map[string]string) {
	t.Helper()
	for field := range of.Fields() {
		if slices.Contains(except, field.Name) {
			continue
		}
		fields, ok := experiments[field.Name]
		if !ok {
			t.Errorf("%s.%s has no experiment", of, field.Name)
			continue
		}
		tried := strings.Fields(fields)
		leaves := leavesOf(field.Type)
		for _, leaf := range leaves {
			if !slices.Contains(tried, leaf) {
				t.Errorf("%s.%s.%s has no experiment", of, field.Name, leaf)
			}
		}
		for _, name := range tried {
			if !slices.Contains(leaves, name) {
				t.Errorf("%s.%s has no field %s", of, field.Name, name)
			}
		}
	}
}

// leavesOf returns the paths of the fields in a type. A pod, a time, and a point of a shape, are one value.
func leavesOf(of reflect.Type) []string {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[result.Pod]() || of == reflect.TypeFor[result.ShapePoint]() || of == reflect.TypeFor[time.Time]() {
		return nil
	}
	var out []string
	for field := range of.Fields() {
		inner := leavesOf(field.Type)
		if len(inner) == 0 {
			out = append(out, field.Name)
		}
		for _, path := range inner {
			out = append(out, field.Name+"."+path)
		}
	}
	return out
}

// listed reports whether a field of a struct is set.
func listed(of any, field string) bool {
	return !reflect.ValueOf(of).Elem().FieldByName(field).IsZero()
}
