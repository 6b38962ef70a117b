package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// seek goes to a position. A later request replaces it.
func (p *Player) seek(ctx context.Context, target time.Time) error {
	if p.opts.Reset == nil {
		return p.playUntil(ctx, target)
	}
	if err := p.empty(ctx); err != nil {
		return fmt.Errorf("emptying the cluster to go to another position: %w", err)
	}
	skipped, err := p.reader.Skip(ctx, target)
	if err != nil {
		return err
	}
	if err := p.fill(ctx, skipped, target); err != nil {
		return err
	}
	if _, err := p.peek(); errors.Is(err, io.EOF) {
		if err := p.atEnd(ctx, err); err != nil {
			return err
		}
	}
	return p.arrive(target)
}

// empty resets the cluster and goes back to the start.
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

// fill creates the recorded state at a position in the empty cluster, as if the recording started
// there: bound pods are on their nodes, and pending pods come last.
func (p *Player) fill(ctx context.Context, s Skipped, at time.Time) error {
	p.gap = s.Gap
	p.gathering = true
	for i, c := range s.There {
		err := p.apply(ctx, c)
		p.noteApplied(ctx, 0, at, err)
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
	p.noteApplied(ctx, s.Changes, at, err)
	return ctx.Err()
}

// creation is an object to create.
type creation struct {
	kind   Kind
	object map[string]any
	// created is called with the result.
	created func(Written, error) error
}

// create creates an object now, or later together with others of its kind.
func (p *Player) create(ctx context.Context, c creation) error {
	if p.gathering {
		p.gathered = append(p.gathered, c)
		return nil
	}
	return c.created(p.opts.Cluster.Create(ctx, c.kind, &unstructured.Unstructured{Object: c.object}))
}

// createWorkers is how many objects are created at a time.
const createWorkers = 8

// createGathered creates the gathered objects of a kind. Nodes are created one after the other: the
// scheduler searches them in the order of their creation, and that decides which nodes it finds
// before it stops searching.
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
	var group errgroup.Group
	group.SetLimit(workers)
	for i, c := range gathered {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			w, err := p.opts.Cluster.Create(ctx, kind, &unstructured.Unstructured{Object: c.object})
			answers[i] = answer{w, err} // created handles the error
			p.notify()
			return nil
		})
	}
	_ = group.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, c := range gathered {
		p.noteApplied(ctx, 0, at, c.created(answers[i].written, answers[i].err))
	}
	return nil
}

// playUntil plays to a position as fast as possible.
func (p *Player) playUntil(ctx context.Context, target time.Time) error {
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
