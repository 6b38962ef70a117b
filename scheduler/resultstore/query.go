package resultstore

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// DefaultLimit is the length of a page when a query has no limit.
const DefaultLimit = 100

// ErrBadQuery is wrapped by the error of an invalid query.
var ErrBadQuery = errors.New("bad query")

// List answers a query, newest first. It leaves out summaries that cannot be read
// from disk.
func (s *Store) List(q result.Query) (result.Page, error) {
	limit, before, err := parse(q)
	if err != nil {
		return result.Page{Items: []result.Summary{}}, err
	}
	if q.RejectedOn != "" {
		return s.listRejected(q, limit, before), nil
	}
	found, more, counts := s.find(q, limit, before)
	page := result.Page{Items: s.summaries(found), Counts: counts}
	if more {
		page.Continue = strconv.FormatUint(found[len(found)-1].sequence, 10)
	}
	return page, nil
}

func parse(q result.Query) (limit int, before uint64, err error) {
	limit = q.Limit
	switch {
	case limit < 0:
		return 0, 0, fmt.Errorf("%w: limit %d is negative", ErrBadQuery, limit)
	case limit == 0:
		limit = DefaultLimit
	case limit > result.MaxLimit:
		limit = result.MaxLimit
	}
	if q.Outcome != "" && !q.Outcome.Valid() {
		return 0, 0, fmt.Errorf("%w: outcome %q is not one of %v", ErrBadQuery, q.Outcome, result.Outcomes)
	}
	if q.Buckets < 0 || q.Buckets > result.MaxBuckets || q.Buckets > 0 && !(q.Counts && q.Since.Before(q.Until)) {
		return 0, 0, fmt.Errorf("%w: a timeline needs counts, since, a later until, and 1 to %d buckets", ErrBadQuery, result.MaxBuckets)
	}
	if q.Continue != "" {
		if before, err = strconv.ParseUint(q.Continue, 10, 64); err != nil || before == 0 {
			return 0, 0, fmt.Errorf("%w: continue %q is not from an earlier page", ErrBadQuery, q.Continue)
		}
	}
	return limit, before, nil
}

type place struct {
	sequence uint64
	cycle    *result.Cycle
	block    *block
	row      int
}

func (e *entry) place() place {
	return place{sequence: e.sequence, cycle: e.cycle, block: e.block, row: e.row}
}

func (s *Store) find(q result.Query, limit int, before uint64) (found []place, more bool, counts *result.Counts) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sel := newSelection(&s.index, q)
	if q.Counts {
		counts = sel.count()
	}
	for e := range s.index.newestFirst(q.UID, before) {
		if misses, _ := sel.misses(e); misses > 0 {
			continue
		}
		if len(found) == limit {
			return found, true, counts
		}
		found = append(found, e.place())
	}
	return found, false, counts
}

// summaries reads the summaries of places. It reads once a block that neighbouring cycles share.
func (s *Store) summaries(places []place) []result.Summary {
	out := make([]result.Summary, 0, len(places))
	var read *block
	var rows [][]byte
	for _, p := range places {
		if p.cycle != nil {
			out = append(out, p.cycle.Summary)
			continue
		}
		if p.block != read {
			var err error
			if rows, err = p.block.read(partSummaries); err != nil {
				s.unreadable(p.block, err)
				rows = nil
			}
			read = p.block
		}
		if p.row >= len(rows) {
			continue
		}
		summary, err := decodeSummary(rows[p.row])
		if err != nil {
			s.unreadable(p.block, err)
			continue
		}
		out = append(out, summary)
	}
	return out
}

// unreadable logs once per block, and nothing when the file was dropped after the lookup.
func (s *Store) unreadable(b *block, err error) {
	if !errors.Is(err, os.ErrClosed) && !b.reported.Swap(true) {
		s.logger.Error(err, "Cannot read results", "file", b.file.Path, "byte", b.offset)
	}
}

// Attempts returns a pod's kept attempts, oldest first; nil when none is kept. It
// leaves out summaries that cannot be read from disk.
func (s *Store) Attempts(uid types.UID) ([]result.Summary, error) {
	s.mu.RLock()
	p := s.index.pods[uid]
	if p == nil {
		s.mu.RUnlock()
		return nil, nil
	}
	places := make([]place, len(p.attempts))
	for i, a := range p.attempts {
		places[i] = s.index.find(a.sequence).place()
	}
	s.mu.RUnlock()
	return s.summaries(places), nil
}

func (s *Store) read(p place) (*result.Cycle, error) {
	if p.cycle != nil {
		return p.cycle, nil
	}
	open := s.open.Load()
	if open == nil || open.block != p.block {
		var err error
		if open, err = p.block.open(); err != nil {
			return nil, err
		}
		s.open.Store(open)
	}
	return open.cycle(p.row)
}

// Get returns one attempt, or nil when it is not kept. It fails when the
// attempt is kept on disk and cannot be read.
func (s *Store) Get(uid types.UID, attempt int) (*result.Cycle, error) {
	s.mu.RLock()
	e := s.index.get(uid, attempt)
	if e == nil {
		s.mu.RUnlock()
		return nil, nil
	}
	p := e.place()
	s.mu.RUnlock()

	c, err := s.read(p)
	if errors.Is(err, os.ErrClosed) {
		// The cycle was dropped after the lookup.
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading attempt %d of pod %s from %s: %w", attempt, uid, p.block.file.Path, err)
	}
	return c, nil
}
