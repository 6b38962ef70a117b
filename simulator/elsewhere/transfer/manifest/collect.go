package manifest

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// MaxHeld bounds the objects in memory at once, in bytes of JSON.
const MaxHeld = 1 << 30

// ErrHeld says that objects exceed MaxHeld.
var ErrHeld = HeldError(MaxHeld)

// HeldError says that objects exceed a bound, in bytes of JSON.
func HeldError(bound int64) *LimitError {
	return &LimitError{Message: fmt.Sprintf("the objects have more than %d MiB in total, the limit for a source of this size", bound>>20)}
}

// Collector makes a Source of objects that need no parsing, such as those of another cluster. The
// zero value works. It is for one goroutine.
type Collector struct {
	// Name is the Source of the objects, for messages.
	Name string

	collected []collected
	held      int
}

type collected struct {
	object     *Object
	unreadable string
	source     string
}

// Add takes an object. It neither keeps nor changes u. The error is ErrHeld.
func (c *Collector) Add(u *unstructured.Unstructured) error {
	name := u.GetKind() + " " + u.GetName()
	object, err := newObject(shallow(u.Object), c.Name)
	if err != nil {
		c.collected = append(c.collected, collected{unreadable: err.Error(), source: name})
		return nil
	}
	if c.held += len(object.JSON); c.held > MaxHeld {
		return ErrHeld
	}
	c.collected = append(c.collected, collected{object: object})
	return nil
}

// shallow copies what newObject changes: the metadata and the annotations.
func shallow(value map[string]any) map[string]any {
	value = maps.Clone(value)
	metadata, ok := value["metadata"].(map[string]any)
	if !ok {
		return value
	}
	metadata = maps.Clone(metadata)
	value["metadata"] = metadata
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		metadata["annotations"] = maps.Clone(annotations)
	}
	return value
}

// Source returns the collected objects. Read hands over the objects themselves, so read it only
// once.
func (c *Collector) Source() Source { return Source{collected: c.collected} }

func (r *reader) collected(c collected) error {
	if c.object == nil {
		r.content.Unreadable(c.source, c.unreadable)
		return nil
	}
	r.order++
	c.object.Order = r.order
	return r.content.Object(c.object)
}
