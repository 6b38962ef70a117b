package replay

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"time"
)

// Skipped is a part of a recording, at once.
type Skipped struct {
	// There are the objects at its end, as they would be listed: a Set for each, those
	// that others depend on first. Their time is that of the end.
	There []Change
	// Changes is how many were skipped.
	Changes int
	// Begun: the list of what was there when the recording began ends within.
	Begun bool
	// Gap is when the last gap in it ended; zero when there is none.
	Gap time.Time
}

// Skip takes all changes up to a time, that included. It costs less than reading
// them: nothing but what is there in the end is decoded.
func (r *Reader) Skip(to time.Time) (Skipped, error) {
	var s Skipped
	for {
		e, err := r.peek()
		if errors.Is(err, io.EOF) || err == nil && r.time(e.at).After(to) {
			break
		}
		if err != nil {
			return s, err
		}
		s.Changes++
		switch e.verb {
		case Begun:
			s.Begun = true
		case Gap:
			s.Gap = r.time(e.at)
		}
		if _, _, err := r.take(e); err != nil {
			return s, r.place(err)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(r.state), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	}) {
		object, err := decodeObject(r.state[k])
		if err != nil {
			return s, r.place(err)
		}
		s.There = append(s.There, Change{
			Time: to, Verb: Set, Kind: r.recording.Header.Kinds[k.kind], Namespace: k.namespace, Name: k.name, Object: object,
		})
	}
	return s, nil
}
