package bombs

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
)

// countdown is a context that ends once it has been looked at so many times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// EndsInTheMiddle checks that do looks at its context at least so many times, and that it ends soon,
// with the error of its context, at whichever of them the context has ended. It tries some of them.
func EndsInTheMiddle(t *testing.T, least int, do func(context.Context) error) {
	t.Helper()
	whole := &countdown{Context: context.Background()}
	whole.left.Store(math.MaxInt64)
	if err := do(whole); err != nil {
		t.Fatal(err)
	}
	looks := math.MaxInt64 - whole.left.Load()
	if looks < int64(least) {
		t.Errorf("it looks at its context %d times, want at least %d", looks, least)
	}
	for at := int64(0); at < looks; at += max(1, looks/50) {
		c := &countdown{Context: context.Background()}
		c.left.Store(at)
		if err := do(c); !errors.Is(err, context.Canceled) {
			t.Errorf("its context ends at look %d of %d: %v", at, looks, err)
		}
		if late := -c.left.Load() - 1; late > 10 {
			t.Errorf("its context ends at look %d of %d: it goes on for %d looks", at, looks, late)
		}
	}
}
