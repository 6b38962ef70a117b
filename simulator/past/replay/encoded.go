package replay

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// EncodedChange is a change whose objects are not decoded. The objects do not change, and the caller does not change them.
type EncodedChange struct {
	Time            time.Time
	Verb            Verb
	Kind            Kind
	Namespace, Name string
	// Before and After are in JSON, without apiVersion and kind; nil when the object did not exist, and for a mark.
	Before, After []byte
}

// NextEncoded is Next without decoding the object.
func (r *Reader) NextEncoded() (EncodedChange, error) {
	e, err := r.peek()
	if err != nil {
		return EncodedChange{}, err
	}
	before, after, err := r.take(e)
	if err != nil {
		return EncodedChange{}, r.place(err)
	}
	c := EncodedChange{Time: r.time(e.at), Verb: e.verb, Before: before, After: after}
	switch e.verb {
	case Begun, Gap, End:
	default:
		c.Kind, c.Namespace, c.Name = r.recording.Header.Kinds[e.key.kind], e.key.namespace, e.key.name
	}
	return c, nil
}

// Existing returns the objects that exist after the latest change, as a Set for each, in the order of the recording's kinds, and
// then by namespace and name.
func (r *Reader) Existing() []EncodedChange {
	all := make([]EncodedChange, 0, len(r.state))
	for _, k := range slices.SortedFunc(maps.Keys(r.state), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	}) {
		all = append(all, EncodedChange{
			Time: r.time(r.at), Verb: Set, Kind: r.recording.Header.Kinds[k.kind], Namespace: k.namespace, Name: k.name, After: r.state[k],
		})
	}
	return all
}
