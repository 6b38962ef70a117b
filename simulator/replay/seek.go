package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/workqueue"
)

// seek goes to a position. Another that is asked for meanwhile takes its place.
func (p *Player) seek(ctx context.Context, target time.Time) error {
	if p.opts.Reset == nil {
		return p.hurry(ctx, target)
	}
	if err := p.empty(ctx); err != nil {
		return fmt.Errorf("emptying the cluster to go to another position: %w", err)
	}
	skipped, err := p.reader.Skip(target)
	if err != nil {
		return err
	}
	if err := p.furnish(ctx, skipped, target); err != nil {
		return err
	}
	if _, err := p.peek(); errors.Is(err, io.EOF) {
		if err := p.atEnd(ctx, err); err != nil {
			return err
		}
	}
	return p.arrive(target)
}

// empty goes back to the beginning.
func (p *Player) empty(ctx context.Context) error {
	p.mu.Lock()
	fresh := p.applied == 0 && p.failure == nil
	p.failure = nil
	p.mu.Unlock()
	if !fresh {
		if err := p.opts.Reset(ctx); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rewind()
	p.seeking = true
	return nil
}

// furnish makes the empty cluster what the recording has at a position, as if it
// began there: pods are where they were bound, and those that wait come last.
func (p *Player) furnish(ctx context.Context, s Skipped, at time.Time) error {
	p.gap = s.Gap
	p.gathering = true
	for i, c := range s.There {
		err := p.apply(ctx, c)
		p.took(ctx, 0, at, err)
		if i+1 < len(s.There) && s.There[i+1].Kind == c.Kind {
			continue
		}
		if err := p.createGathered(ctx, c.Kind, at); err != nil {
			return err
		}
	}
	p.gathering = false
	var err error
	if s.Begun {
		err = p.begin(ctx, at)
	}
	p.took(ctx, s.Changes, at, err)
	return ctx.Err()
}

// creation is an object that is to be created.
type creation struct {
	kind   Kind
	object map[string]any
	// created is called with the answer.
	created func(Written, error) error
}

// create creates an object now, or with others of its kind.
func (p *Player) create(ctx context.Context, c creation) error {
	if p.gathering {
		p.gathered = append(p.gathered, c)
		return nil
	}
	return c.created(p.opts.Cluster.Create(ctx, c.kind, &unstructured.Unstructured{Object: c.object}))
}

// createWorkers is how many objects are created at a time.
const createWorkers = 8

// createGathered creates what was gathered of a kind. Nodes come one after the
// other: the scheduler goes through them in the order in which they came, and that
// decides what it finds before it stops searching.
func (p *Player) createGathered(ctx context.Context, kind Kind, at time.Time) error {
	workers := createWorkers
	if kind == nodeKind {
		workers = 1
	}
	type answer struct {
		written Written
		err     error
	}
	gathered := p.gathered
	p.gathered = nil
	answers := make([]answer, len(gathered))
	workqueue.ParallelizeUntil(ctx, workers, len(gathered), func(i int) {
		w, err := p.opts.Cluster.Create(ctx, kind, &unstructured.Unstructured{Object: gathered[i].object})
		answers[i] = answer{w, err}
		p.tell()
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, c := range gathered {
		p.took(ctx, 0, at, c.created(answers[i].written, answers[i].err))
	}
	return nil
}

// hurry plays to a position as fast as it goes.
func (p *Player) hurry(ctx context.Context, target time.Time) error {
	p.mu.Lock()
	p.failure = nil
	p.mu.Unlock()
	for ctx.Err() == nil {
		next, err := p.peek()
		if errors.Is(err, io.EOF) {
			err = p.atEnd(ctx, err)
			return errors.Join(err, p.arrive(target))
		}
		if err != nil {
			return err
		}
		if next.After(target) {
			return p.arrive(target)
		}
		if err := p.instant(ctx); err != nil {
			return err
		}
		p.mu.Lock()
		other := p.target == nil || !p.target.Equal(target)
		p.mu.Unlock()
		if other {
			return nil
		}
	}
	return nil
}
