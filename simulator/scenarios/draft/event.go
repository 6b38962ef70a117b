package draft

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/scheduler/builtin"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/past/timeline"
)

// event writes a step of a user as the steps of a scenario that do the same.
func (w *writer) event(e timeline.Event) error {
	title := titleOf(e)
	switch {
	case e.Step.Kind == timeline.ConfigurationStep:
		return w.configuration(title, e)
	case e.Step.Kind == timeline.FailureStep:
		return w.failure(title, e)
	}
	if e.Unknown {
		w.line("# " + title + " changed more objects than the time line remembers; this is a part of them.")
	}
	begun := w.out.Len()
	for rest := e.Writes; len(rest) > 0; {
		n := sameVerb(rest)
		if err := w.writes(title, rest[:n]); err != nil {
			return err
		}
		if w.out.Len() > begun {
			title = "" // the first step has it
		}
		rest = rest[n:]
	}
	if w.out.Len() == begun {
		w.line("# " + title + " changed nothing that a scenario can change.")
	}
	return nil
}

// titleOf says, for example, "create Node node-1 and 2 more".
func titleOf(e timeline.Event) string {
	s := e.Step
	verb := s.Verb
	switch {
	case s.Kind == timeline.ConfigurationStep:
		return strings.TrimSpace("configure the scheduler: " + s.Summary)
	case e.Ended:
		verb = "recover"
	case s.Kind == timeline.FailureStep:
		verb = "fail"
	}
	if len(s.Objects) == 0 {
		return fmt.Sprintf("%s %d objects", verb, s.Count)
	}
	title := fmt.Sprintf("%s %s %s", verb, s.Objects[0].Kind, s.Objects[0].Name)
	if s.Count > 1 {
		title += fmt.Sprintf(" and %d more", s.Count-1)
	}
	return title
}

func (w *writer) configuration(title string, e timeline.Event) error {
	if e.Step.Failed {
		w.line("# " + title + ": the scheduler did not start with it.")
		return nil
	}
	if e.Document == "" {
		w.line("# " + title + ": the configuration is not known any more.")
		return nil
	}
	data, err := transfer.ConfigurationJSON([]byte(e.Document))
	if err != nil {
		return err
	}
	var value any
	if err := utiljson.Unmarshal(data, &value); err != nil {
		return fmt.Errorf("reading a scheduler configuration: %w", err)
	}
	return w.step(title, "configure", value)
}

// failure: fail makes a node unreachable. A node that is not ready has an annotation.
func (w *writer) failure(title string, e timeline.Event) error {
	node := e.Step.Objects[0].Name
	if e.Step.Verb != "notReady" {
		verb := "fail"
		if e.Ended {
			verb = "recover"
		}
		return w.step(title, verb, map[string]any{"node": node})
	}
	var failure any
	if !e.Ended {
		failure = objects.FailureNotReady
	}
	return w.step(title, "patch", map[string]any{"kind": "Node", "name": node, "patch": map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{objects.AnnotationFailure: failure}},
	}})
}

type verb int

const (
	creates verb = iota
	changes
	deletesPod
	deletesNode
	deletes
)

func verbOf(w timeline.ObjectWrite) verb {
	switch {
	case w.Before == nil:
		return creates
	case w.After != nil:
		return changes
	case isPod(w.Before):
		return deletesPod
	case isNode(w.Before):
		return deletesNode
	}
	return deletes
}

// sameVerb returns how many of the first writes one step can do.
func sameVerb(all []timeline.ObjectWrite) int {
	v := verbOf(all[0])
	if v == changes || v == deletes {
		return 1
	}
	n := slices.IndexFunc(all, func(w timeline.ObjectWrite) bool { return verbOf(w) != v })
	if n < 0 {
		n = len(all)
	}
	return n
}

func (w *writer) writes(title string, some []timeline.ObjectWrite) error {
	switch verbOf(some[0]) {
	case creates:
		return w.create(title, some)
	case changes:
		return w.change(title, some[0])
	case deletesPod:
		return w.deletePods(title, some)
	case deletesNode:
		if len(some) > 1 {
			names := namesOf(some)
			return w.step(title, "delete", map[string]any{"nodes": "nodes.filter(n, n.name in " + list(names) + ")"})
		}
	}
	if !w.supports(some[0].Before) {
		return nil
	}
	return w.step(title, "delete", named(some[0].Before))
}

func (w *writer) create(title string, some []timeline.ObjectWrite) error {
	var made []any
	for _, one := range some {
		u := one.After.DeepCopy()
		job := u.GroupVersionKind().GroupKind() == objects.Job
		manual, _, _ := unstructured.NestedBool(u.Object, "spec", "manualSelector")
		if !transfer.Exported(u) || !w.supports(u) {
			continue
		}
		unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
		if !isNode(u) {
			unstructured.RemoveNestedField(u.Object, "status")
		}
		if job && !manual {
			forgetSelector(u)
		}
		reduce(u)
		w.known[refOf(u)] = true
		made = append(made, u.Object)
	}
	if len(made) == 0 {
		return nil
	}
	return w.step(title, "create", map[string]any{"objects": made})
}

// forgetSelector removes what the API server gives to a new Job.
func forgetSelector(u *unstructured.Unstructured) {
	for _, field := range []string{"selector", "manualSelector"} {
		unstructured.RemoveNestedField(u.Object, "spec", field)
	}
	for _, label := range []string{"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"} {
		unstructured.RemoveNestedField(u.Object, "spec", "template", "metadata", "labels", label)
	}
}

func (w *writer) change(title string, one timeline.ObjectWrite) error {
	patch := objects.MergePatch(settable(one.Before), settable(one.After))
	if len(patch) == 0 || !w.supports(one.After) {
		return nil
	}
	if w.isUnnamed(one.After) {
		w.line(fmt.Sprintf("# %s: a run gives another name to Pod %s, which a controller made.", cmp.Or(title, "change"), one.After.GetName()))
		return nil
	}
	value := named(one.After)
	value["patch"] = patch
	// A strategic merge patch merges some lists, and a JSON merge patch none.
	if builtin.Is(one.After.GroupVersionKind()) && hasList(patch) {
		value["patch"] = operations(nil, "", settable(one.Before), patch)
	}
	return w.step(title, "patch", value)
}

func hasList(value any) bool {
	switch value := value.(type) {
	case []any:
		return true
	case map[string]any:
		for _, inner := range value {
			if hasList(inner) {
				return true
			}
		}
	}
	return false
}

// operations writes a merge patch as a JSON patch.
func operations(out []any, path string, before, patch map[string]any) []any {
	for _, field := range slices.Sorted(maps.Keys(patch)) {
		at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(field)
		inner, isMap := patch[field].(map[string]any)
		was, wasMap := before[field].(map[string]any)
		switch {
		case isMap && wasMap:
			out = operations(out, at, was, inner)
		case patch[field] == nil:
			out = append(out, map[string]any{"op": "remove", "path": at})
		default:
			out = append(out, map[string]any{"op": "add", "path": at, "value": patch[field]})
		}
	}
	return out
}

// isUnnamed reports whether a controller has drawn the name of a pod, after the start.
func (w *writer) isUnnamed(u *unstructured.Unstructured) bool {
	return isPod(u) && u.GetGenerateName() != "" && metav1.GetControllerOfNoCopy(u) != nil && !w.known[refOf(u)]
}

// deletePods deletes pods whose names a run has drawn by their owners and nodes. Those of the same
// owner and node are alike.
func (w *writer) deletePods(title string, some []timeline.ObjectWrite) error {
	var direct []timeline.ObjectWrite
	alike := map[string]int{}
	for _, one := range some {
		if !w.isUnnamed(one.Before) {
			direct = append(direct, one)
			continue
		}
		node, _, _ := unstructured.NestedString(one.Before.Object, "spec", "nodeName")
		alike[fmt.Sprintf("pods.filter(p, p.namespace == %q && p.owner == %q && p.node == %q)",
			one.Before.GetNamespace(), result.OwnerOf(one.Before).Name, node)]++
	}
	switch len(direct) {
	case 0:
	case 1:
		if err := w.step(title, "delete", named(direct[0].Before)); err != nil {
			return err
		}
		title = ""
	default:
		namespaces := map[string][]timeline.ObjectWrite{}
		for _, one := range direct {
			namespaces[one.Before.GetNamespace()] = append(namespaces[one.Before.GetNamespace()], one)
		}
		for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
			names := list(namesOf(namespaces[namespace]))
			if err := w.step(title, "delete", map[string]any{"pods": fmt.Sprintf("pods.filter(p, p.namespace == %q && p.name in %s)", namespace, names)}); err != nil {
				return err
			}
			title = ""
		}
	}
	for _, pods := range slices.Sorted(maps.Keys(alike)) {
		some := fmt.Sprintf("%s.slice(0, math.least(%d, %s.size()))", pods, alike[pods], pods)
		if err := w.step(title, "delete", map[string]any{"pods": some}); err != nil {
			return err
		}
		title = ""
	}
	return nil
}

func namesOf(some []timeline.ObjectWrite) []string {
	var names []string
	for _, one := range some {
		names = append(names, one.Before.GetName())
	}
	return names
}

// list is a list of texts in CEL.
func list(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// named names an object as patch and delete do.
func named(u *unstructured.Unstructured) map[string]any {
	value := map[string]any{"kind": u.GetKind(), "name": u.GetName()}
	if u.GetAPIVersion() != "v1" {
		value["apiVersion"] = u.GetAPIVersion()
	}
	if namespace := u.GetNamespace(); namespace != "" && namespace != metav1.NamespaceDefault {
		value["namespace"] = namespace
	}
	return value
}

func refOf(u *unstructured.Unstructured) timeline.ObjectRef {
	return timeline.ObjectRef{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

func isPod(u *unstructured.Unstructured) bool { return u.GroupVersionKind().GroupKind() == objects.Pod }

func isNode(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == objects.Node
}
