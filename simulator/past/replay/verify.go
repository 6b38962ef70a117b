package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrDamaged is wrapped by the error of Verify for a recording of which a part cannot be read.
var ErrDamaged = fmt.Errorf("%w that is whole", ErrNotRecording)

// Verify reads the whole file and returns an error that wraps ErrDamaged if some of it is damaged. A
// block that a killed recorder has left incomplete at the end is not damage. Verify compares the
// checksums of all blocks and reads their changes, but does not build the objects: a recording that
// some other program has written may still fail while it plays.
func (r *Recording) Verify(ctx context.Context) error {
	if err := r.verifyTail(ctx); err != nil {
		return err
	}
	reader := r.Read()
	known := map[key]struct{}{}
	for block := 0; ; {
		if reader.next != block {
			block = reader.next
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		e, err := reader.peek()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = reader.place(verifyChange(known, e))
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		reader.pass(e)
	}
}

// verifyChange checks that a change fits the ones before it. known holds the objects that exist.
func verifyChange(known map[key]struct{}, e encodedChange) error {
	switch e.verb {
	case Begun, Gap, End:
	case Set:
		known[e.key] = struct{}{}
	case Patch:
		if _, exists := known[e.key]; !exists {
			return fmt.Errorf("%s/%s is changed before it exists", e.key.namespace, e.key.name)
		}
	case Delete:
		delete(known, e.key)
	default:
		return fmt.Errorf("there is no verb %q", byte(e.verb))
	}
	return nil
}

// tailPart is how much of a file is searched at a time.
const tailPart = 1 << 20

// verifyTail returns an error when the file goes on behind the blocks that Open has found: when an
// intact block follows, or when what follows is not the beginning of one.
func (r *Recording) verifyTail(ctx context.Context) error {
	if !r.Truncated {
		return nil
	}
	at := r.Header.Start.Add(r.lastTime()).Format(time.RFC3339)
	if !r.torn {
		return fmt.Errorf("%w: what follows %s is not a block", ErrDamaged, at)
	}
	part := make([]byte, tailPart)
	for offset := r.end + 1; offset < r.size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.file.ReadAt(part, offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading the recording: %w", err)
		}
		next := blockFormat.Next(part[:n])
		if next < 0 {
			// A magic number may lie across two parts.
			offset += int64(max(1, n-len(blockFormat.Magic)+1))
			continue
		}
		offset += int64(next)
		if b, err := readBlock(r.file, offset, r.size); err == nil {
			if _, err := r.unpack(b); err == nil {
				return fmt.Errorf("%w: a block is damaged after %s, and others follow it", ErrDamaged, at)
			}
		}
		offset++
	}
	return nil
}

// lastTime is the time of the last change before the tail.
func (r *Recording) lastTime() time.Duration {
	if len(r.blocks) == 0 {
		return 0
	}
	return r.blocks[len(r.blocks)-1].last
}
