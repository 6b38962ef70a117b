package replay

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"
)

// Skipped summarizes a part of a recording that was skipped.
type Skipped struct {
	// There are the objects at its end, as a list would return them: a Set for each, in
	// dependency order. Their time is that of the end.
	There []Change
	// Changes is how many changes were skipped.
	Changes int
	// Begun: the initial list ends within this part.
	Begun bool
	// Gap is when the last gap in this part ended; zero when there is none.
	Gap time.Time
}

// Skip reads all changes up to and including a time. It is faster than Next, because it decodes only
// the objects that exist at the end. It ends with ctx.
func (r *Reader) Skip(ctx context.Context, to time.Time) (Skipped, error) {
	var s Skipped
	for {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
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
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
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
