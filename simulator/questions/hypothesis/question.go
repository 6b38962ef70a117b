package hypothesis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"kube-scheduler-simulator/scheduler/whatif"
)

// Question is the part that all questions have in common, as a client writes it. Exactly one of Pod
// and PodRef is set.
type Question struct {
	Pod    Document `json:"pod,omitempty"`
	PodRef *PodName `json:"podRef,omitempty"`
	// Changes are made in order.
	Changes []Change `json:"changes,omitempty"`
	// Configuration is empty for the one in force.
	Configuration Document `json:"configuration,omitempty"`
	// Profile is empty for the one that the pod names.
	Profile string `json:"profile,omitempty"`
	// KubernetesVersion is the minor version of Kubernetes whose scheduler decides, such as 1.35; empty for that of this program.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
}

// PodName names a pod. An empty Namespace means "default".
type PodName struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Change is one hypothetical change. Exactly one of Apply, Patch and Delete is set.
type Change struct {
	Apply Document `json:"apply,omitempty"`
	// Count, with Apply, is how many copies to make, at least one; nil means the object itself.
	Count  *int    `json:"count,omitempty"`
	Patch  *Patch  `json:"patch,omitempty"`
	Delete *Target `json:"delete,omitempty"`
}

// check refuses a change of a wrong shape. field is the path of the change. The error is a
// *Refused.
func (c Change) check(field string) error {
	given := 0
	for _, is := range []bool{c.Apply != nil, c.Patch != nil, c.Delete != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return refuse(field, "want exactly one of apply, patch and delete")
	case c.Count == nil:
		return nil
	case c.Apply == nil:
		return refuse(field+".count", "only apply has a count")
	}
	if err := whatif.CheckCount(*c.Count); err != nil {
		return refusedAt(field, err)
	}
	return nil
}

// Target names an object. An empty Namespace means "default" for kinds that have namespaces.
type Target struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Patch is a strategic merge patch of the target.
type Patch struct {
	Target
	Patch json.RawMessage `json:"patch"`
	// Subresource is "resize" if an API server takes the patch only through that one. In a question
	// it may be left out.
	Subresource string `json:"subresource,omitempty"`
}

// Document is an object as its author wrote it, in JSON or YAML. In JSON it is either the object
// itself or a string that holds the text.
type Document []byte

func (d *Document) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case 'n': // null, which is absence
		return nil
	case '{':
		*d = bytes.Clone(data)
		return nil
	case '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		if text == "" {
			return errors.New("a document is empty")
		}
		*d = Document(text)
		return nil
	}
	return fmt.Errorf("a document is an object, or a string with YAML or JSON, not %.20s", data)
}

func (d Document) MarshalJSON() ([]byte, error) {
	if json.Valid(d) {
		return d, nil
	}
	return json.Marshal(string(d))
}

// written returns changes of the engine as a client would write them.
func written(changes []whatif.Change) ([]Change, error) {
	out := make([]Change, len(changes))
	for i, c := range changes {
		switch {
		case c.Apply != nil:
			data, err := json.Marshal(c.Apply)
			if err != nil {
				return nil, fmt.Errorf("encoding a change: %w", err)
			}
			out[i] = Change{Apply: data}
			if c.Count > 0 {
				out[i].Count = &c.Count
			}
		case c.Patch != nil:
			out[i] = Change{Patch: &Patch{targetTo(c.Patch.ObjectRef), c.Patch.Patch, c.Patch.Subresource}}
		case c.Delete != nil:
			target := targetTo(*c.Delete)
			out[i] = Change{Delete: &target}
		}
	}
	return out, nil
}

func targetTo(o whatif.ObjectRef) Target {
	apiVersion, kind := o.GVK.ToAPIVersionAndKind()
	return Target{APIVersion: apiVersion, Kind: kind, Namespace: o.Namespace, Name: o.Name}
}
