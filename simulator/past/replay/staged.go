package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Staged is a change as a simulated cluster gets it: without the decisions of the recorded scheduler, and without what its controllers and
// kubelets do by themselves.
type Staged struct {
	// At is the time since the start; 0 for all that existed then.
	At              time.Duration
	Kind            Kind
	Namespace, Name string
	// Object is a new object. Patch is a JSON merge patch for one that exists. Without either, the object is deleted.
	Object *unstructured.Unstructured
	Patch  []byte
	// Node is the node that the recorded scheduler gave to a pod that is created or exists already. The pod has it if it came with it, and
	// then Node is empty.
	Node string
}

// Stage returns what a player would do to play the changes that next returns until io.EOF. A recorded pod that had a node when it was
// first seen gets that node. It ends with ctx.
func Stage(ctx context.Context, next func() (Change, error)) ([]Staged, error) {
	s := &stager{stage: newStage()}
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, err := next()
		if errors.Is(err, io.EOF) {
			return s.all(), nil
		}
		if err != nil {
			return nil, err
		}
		if s.start.IsZero() {
			s.start = c.Time
		}
		if c.Verb == Begun {
			s.begun = true
		}
		if c.Verb == Begun || c.Verb == Gap || c.Verb == End {
			continue
		}
		s.stage.learn(c, s.begun)
		if err := s.take(c); err != nil {
			return nil, err
		}
	}
}

// Staged returns what a player would do.
func (r *Recording) Staged(ctx context.Context) ([]Staged, error) {
	return Stage(ctx, r.Read().Next)
}

type stager struct {
	stage *stage
	start time.Time
	begun bool
	// first are the objects of the initial list, which a cluster gets by kind.
	first, later []Staged
}

func (s *stager) all() []Staged {
	order := map[schema.GroupKind]int{}
	for i, k := range RecordedKinds() {
		order[k.GVK().GroupKind()] = i
	}
	slices.SortStableFunc(s.first, func(a, b Staged) int { return order[a.Kind.GVK().GroupKind()] - order[b.Kind.GVK().GroupKind()] })
	return append(s.first, s.later...)
}

func (s *stager) take(c Change) error {
	out := Staged{At: c.Time.Sub(s.start), Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}
	if !s.begun {
		out.At = 0
	}
	isPod := c.Kind == podKind
	before, after := s.stage.staged(c.Kind, c.Before), s.stage.staged(c.Kind, c.Object)
	wasFinished := isPod && c.Before != nil && finished(c.Before)
	switch {
	case after == nil && before == nil, isPod && c.Before == nil && finished(c.Object):
		return nil
	case before == nil:
		if node := text(c.Object, "spec", "nodeName"); isPod && node != "" {
			child(after, "spec")["nodeName"] = node
			delete(child(after, "spec"), "schedulingGates")
		}
		out.Object = &unstructured.Unstructured{Object: after}
		out.Object.SetName(c.Name)
		out.Object.SetNamespace(c.Namespace)
	case after != nil:
		if wasFinished {
			return nil
		}
		if isPod {
			before, after = podChange(c.Before, before), podChange(c.Object, after)
			if text(c.Before, "spec", "nodeName") == "" {
				out.Node = text(c.Object, "spec", "nodeName")
			}
		}
		var err error
		if out.Patch, err = json.Marshal(objects.MergePatch(before, after)); err != nil {
			return fmt.Errorf("%s %s: %w", c.Kind.Kind, c.Name, err)
		}
		if string(out.Patch) == "{}" && out.Node == "" {
			return nil
		}
	}
	if s.begun {
		s.later = append(s.later, out)
	} else {
		s.first = append(s.first, out)
	}
	return nil
}

// podChange keeps what may change of a pod: labels, annotations, gates, tolerations, and the phase in which it ends.
func podChange(recorded, staged map[string]any) map[string]any {
	out := (&unstructured.Unstructured{Object: staged}).DeepCopy().Object
	keep(out, "metadata", "spec")
	keep(child(out, "metadata"), "labels", "annotations")
	keep(child(out, "spec"), "schedulingGates", "tolerations")
	if finished(recorded) {
		out["status"] = map[string]any{"phase": text(recorded, "status", "phase")}
	}
	return out
}

// earlierRecord is a line of a record file of the earlier simulator.
type earlierRecord struct {
	Time     time.Time      `json:"time"`
	Event    string         `json:"event"`
	Resource map[string]any `json:"resource"`
}

// IsEarlier reports whether a text is a record file of the earlier simulator.
func IsEarlier(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	var r struct {
		Event    string
		Resource json.RawMessage
	}
	return json.Unmarshal(first, &r) == nil && bytes.HasPrefix(r.Resource, []byte("{")) && r.Event != ""
}

// IsRecording reports whether a text begins as our recordings do.
func IsRecording(text []byte) bool { return bytes.HasPrefix(text, []byte(blockFormat.Magic)) }

// StageEarlier is Stage for a record file of the earlier simulator. What it has listed at the start cannot be told from what came later,
// so it is created at its time. Errors name the line.
func StageEarlier(ctx context.Context, record []byte) ([]Staged, error) {
	in := bufio.NewScanner(bytes.NewReader(record))
	in.Buffer(nil, maxObjectBytes)
	state := map[string]map[string]any{}
	line, first := 0, true
	var last time.Time
	return Stage(ctx, func() (Change, error) {
		if first {
			first = false
			// Everything has its time.
			if c, err := peekTime(record); err == nil {
				return Change{Time: c, Verb: Begun}, nil
			}
		}
		for in.Scan() {
			line++
			if len(bytes.TrimSpace(in.Bytes())) == 0 {
				continue
			}
			var r earlierRecord
			err := checkObject(in.Bytes())
			if err == nil {
				err = kjson.Unmarshal(in.Bytes(), &r)
			}
			if err != nil {
				return Change{}, fmt.Errorf("line %d: %w", line, err)
			}
			o := &unstructured.Unstructured{Object: r.Resource}
			if o.GetKind() == "" || o.GetName() == "" {
				return Change{}, fmt.Errorf("line %d: the resource has no kind or no name", line)
			}
			if r.Time.Before(last) {
				r.Time = last // clocks may be set back
			}
			last = r.Time
			c := Change{Time: r.Time, Verb: Set, Kind: earlierKind(o), Namespace: o.GetNamespace(), Name: o.GetName()}
			key := c.Kind.APIVersion + "/" + c.Kind.Kind + "/" + c.Namespace + "/" + c.Name
			c.Before = state[key]
			switch r.Event {
			case "Add", "Update":
				reduce(c.Kind, r.Resource)
				c.Object = r.Resource
				state[key] = c.Object
			case "Delete":
				c.Verb = Delete
				delete(state, key)
			default:
				return Change{}, fmt.Errorf("line %d: there is no event %q; there are Add, Update and Delete", line, r.Event)
			}
			return c, nil
		}
		if err := in.Err(); err != nil {
			return Change{}, fmt.Errorf("line %d: %w", line+1, err)
		}
		return Change{}, io.EOF
	})
}

// peekTime returns the time of the first line.
func peekTime(record []byte) (time.Time, error) {
	first, _, _ := bytes.Cut(record, []byte("\n"))
	var r struct{ Time time.Time }
	err := json.Unmarshal(first, &r)
	return r.Time, err
}

// earlierKind returns the kind of an object, as recordings have it if they do.
func earlierKind(o *unstructured.Unstructured) Kind {
	gvk := o.GroupVersionKind()
	for _, k := range RecordedKinds() {
		if k.GVK().GroupKind() == gvk.GroupKind() {
			return k
		}
	}
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	return Kind{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Resource: plural.Resource, Namespaced: o.GetNamespace() != ""}
}
