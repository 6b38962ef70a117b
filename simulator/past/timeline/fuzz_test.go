package timeline

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzEntries: whatever stands in a block, its entries are read without a panic, or the block is damaged; and what was read is written
// and read again alike.
func FuzzEntries(f *testing.F) {
	before, after := []byte("a node with 4 cores"), []byte("a node with 8 cores")
	f.Add(appendEntry(nil, time.Second, "minions/a", nil, before), before)
	f.Add(appendEntry(appendEntry(nil, time.Second, "minions/a", nil, before), 0, "minions/a", before, after), before)
	f.Add(appendEntry(nil, 0, "pods/default/a", before, nil), before)
	f.Add(appendEntry(nil, 0, "k", before, after)[:5], before) // cut off
	f.Add([]byte{0, 'X', 1, 'k'}, before)                      // no verb
	f.Add([]byte{0, setVerb, 1, 'k', 0xff, 0xff, 0x7f}, before)
	f.Add([]byte{0, patchVerb, 1, 'k', 30, 30, 0}, before) // keeps more than there is
	f.Fuzz(func(t *testing.T, data, object []byte) {
		b := block{kind: changesBlock, first: start, length: len(data)}
		at := b.first
		err := eachEntry(data, b, func(e entry) (bool, error) {
			value, err := e.apply(object)
			if err != nil {
				return false, err
			}
			var known []byte
			if e.verb != setVerb {
				known = object
			}
			again, rest, err := takeEntry(appendEntry(nil, e.at.Sub(at), e.key, known, value), at)
			if err != nil || len(rest) > 0 || again.key != e.key || !again.at.Equal(e.at) {
				t.Fatalf("%+v is written and read as %+v with %d bytes more: %v", e, again, len(rest), err)
			}
			if got, err := again.apply(object); err != nil || !bytes.Equal(got, value) || (got == nil) != (value == nil) {
				t.Fatalf("%q is written and read as %q: %v", value, got, err)
			}
			at = e.at
			return true, nil
		})
		if err != nil && !errors.Is(err, errDamaged) {
			t.Errorf("%v is not said to be damage", err)
		}
	})
}

// FuzzSegment: any bytes in the place of a segment are read, cut off or said to be damaged, without a panic, and nothing grows beyond its
// limit.
func FuzzSegment(f *testing.F) {
	h := newHarness(f, 1<<20)
	h.putPod("a", "")
	h.putPod("a", "node-1")
	h.clock.Step(2 * flushInterval)
	path := h.journal.segments[0].Path
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{whole, whole[:len(whole)-3], whole[:20], bytes.Replace(whole, []byte("C"), []byte("M"), 1), {}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "00000001"+segmentSuffix), data, 0o600); err != nil {
			t.Fatal(err)
		}
		j := newJournal(Options{Dir: dir})
		if _, err := j.load(context.Background()); err != nil && !errors.Is(err, errDamaged) {
			t.Errorf("a file of %d bytes: %v, which is not said to be damage", len(data), err)
		}
		if err := j.close(); err != nil {
			t.Error(err)
		}
	})
}
