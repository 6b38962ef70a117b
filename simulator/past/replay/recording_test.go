package replay

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
)

// tuesday is the start of recordings in tests.
var tuesday = time.Date(2026, 3, 3, 14, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return tuesday.Add(time.Duration(seconds) * time.Second) }

// object decodes JSON.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// file is a recording under construction.
type file struct {
	t testing.TB
	bytes.Buffer
	*Writer
}

func newFile(t testing.TB) *file {
	t.Helper()
	f := &file{t: t}
	f.Writer = NewWriter(&f.Buffer, Header{Start: tuesday, Source: "production", Kinds: RecordedKinds()})
	return f
}

func (f *file) set(seconds int, kind Kind, namespace, name, text string) {
	f.t.Helper()
	if _, err := f.Set(at(seconds), kind, namespace, name, object(f.t, text)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *file) mark(seconds int, verb Verb) {
	f.t.Helper()
	if err := f.Mark(at(seconds), verb, ""); err != nil {
		f.t.Fatal(err)
	}
}

func (f *file) gone(seconds int, kind Kind, namespace, name string) {
	f.t.Helper()
	if err := f.Delete(at(seconds), kind, namespace, name); err != nil {
		f.t.Fatal(err)
	}
}

func (f *file) flush() {
	f.t.Helper()
	if err := f.Flush(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *file) recording() *Recording {
	f.t.Helper()
	f.flush()
	r, err := Open(bytes.NewReader(f.Buffer.Bytes()), int64(f.Buffer.Len()))
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// transcript reads a recording, a line per change.
func transcript(r *Recording) (lines []string, err error) {
	reader := r.Read()
	for {
		c, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		text, _ := json.Marshal(c.Object)
		lines = append(lines, fmt.Sprintf("%v %c %s %s %s", c.Time.Sub(r.Header.Start), c.Verb, c.Kind.Kind, joined(c.Namespace, c.Name), text))
	}
}

func TestARecordingIsReadAsItWasWritten(t *testing.T) {
	f := newFile(t)
	f.set(0, nodeKind, "", "n1", `{"spec":{"taints":[{"key":"a"}]},"status":{"allocatable":{"cpu":"4"}}}`)
	f.mark(0, Begun)
	f.set(1, podKind, "default", "web", `{"metadata":{"labels":{"a":"1","b":"2"}}}`)
	f.flush() // a block may end anywhere
	f.set(2, podKind, "default", "web", `{"metadata":{"labels":{"a":"1"}},"spec":{"nodeName":"n1","priority":9007199254740993}}`)
	f.set(2, podKind, "default", "web", `{"metadata":{"labels":{"a":"1"}},"spec":{"nodeName":"n1","priority":9007199254740993}}`)
	f.set(3, nodeKind, "", "n1", `{"status":{"allocatable":{"cpu":"4"}}}`)
	f.gone(4, podKind, "default", "web")
	f.gone(4, podKind, "default", "never-there")
	f.set(1, podKind, "default", "web", `{}`) // the clock went back
	f.mark(5, End)

	r := f.recording()
	got, err := transcript(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`0s S Node n1 {"spec":{"taints":[{"key":"a"}]},"status":{"allocatable":{"cpu":"4"}}}`,
		`0s B   null`,
		`1s S Pod default/web {"metadata":{"labels":{"a":"1","b":"2"}}}`,
		`2s S Pod default/web {"metadata":{"labels":{"a":"1"}},"spec":{"nodeName":"n1","priority":9007199254740993}}`,
		`3s S Node n1 {"status":{"allocatable":{"cpu":"4"}}}`,
		`4s D Pod default/web null`,
		`4s S Pod default/web {}`,
		`5s E   null`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.Changes != len(want) || !r.End.Equal(at(5)) || r.Truncated || r.Header.Source != "production" {
		t.Errorf("changes %d, end %v, truncated %v, source %q", r.Changes, r.End, r.Truncated, r.Header.Source)
	}
}

// testdata/format1.recording was written before package blockfile framed the blocks. Files
// that exist must stay readable.
func TestAnExistingRecordingStaysReadable(t *testing.T) {
	data, err := os.ReadFile("testdata/format1.recording")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := transcript(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`0s S Node n1 {"spec":{"taints":[{"key":"a"}]},"status":{"allocatable":{"cpu":"4"}}}`,
		`0s B   null`,
		`1s S Pod default/web {"metadata":{"labels":{"a":"1","b":"2"}}}`,
		`2s S Pod default/web {"metadata":{"labels":{"a":"1"}},"spec":{"nodeName":"n1","priority":9007199254740993}}`,
		`4s D Pod default/web null`,
		`5s E   null`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.Header.Version != 1 || !r.Header.Start.Equal(tuesday) || r.Changes != len(want) || !r.End.Equal(at(5)) || r.Truncated {
		t.Errorf("version %d, start %v, changes %d, end %v, truncated %v", r.Header.Version, r.Header.Start, r.Changes, r.End, r.Truncated)
	}
}

// A killed recorder leaves half a block. The blocks before it are valid.
func TestATruncatedRecordingIsReadUpToItsLastWholeBlock(t *testing.T) {
	f := newFile(t)
	f.set(0, nodeKind, "", "n1", `{"a":1}`)
	f.flush()
	header := f.Buffer.Len()
	f.set(1, nodeKind, "", "n2", `{"a":2}`)
	f.flush()
	whole := f.Buffer.Bytes()
	for _, end := range []int{header, header + 1, header + blockFormat.HeaderSize(), len(whole) - 1} {
		r, err := Open(bytes.NewReader(whole[:end]), int64(end))
		if err != nil {
			t.Fatalf("%d bytes: %v", end, err)
		}
		got, err := transcript(r)
		if diff := cmp.Diff([]string{`0s S Node n1 {"a":1}`}, got); diff != "" || err != nil {
			t.Errorf("%d bytes: %v\n%s", end, err, diff)
		}
		if want := end != header; r.Truncated != want {
			t.Errorf("%d bytes: truncated is %v", end, r.Truncated)
		}
	}
}

func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	for name, data := range map[string]string{
		"empty": "", "text": strings.Repeat("apiVersion: v1\n", 20), "magic only": blockFormat.Magic,
	} {
		if _, err := Open(strings.NewReader(data), int64(len(data))); !errors.Is(err, ErrNotRecording) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamageIsFoundAndPlaced(t *testing.T) {
	f := newFile(t)
	f.set(0, nodeKind, "", "n1", `{"a":1}`)
	f.flush()
	f.set(90, nodeKind, "", "n1", `{"a":2}`)
	f.flush()
	data := slices.Clone(f.Buffer.Bytes())
	data[len(data)-1] ^= 1
	r, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := transcript(r)
	if len(got) != 1 || err == nil || !strings.Contains(err.Error(), "2026-03-03T14:01:30Z") || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("%d changes, %v", len(got), err)
	}
}

// TestBombsInRecordings: neither objects nor changes that take much are read.
func TestBombsInRecordings(t *testing.T) {
	for name, text := range bombs.Texts(4 << 20) {
		if !stdjson.Valid([]byte(text)) {
			continue
		}
		for what, write := range map[string]func(f *file){
			"an object": func(f *file) { f.add(at(0), Set, key{0, "", "n"}, []byte(text)) },
			"a patch": func(f *file) {
				f.add(at(0), Set, key{0, "", "n"}, []byte("{}"))
				f.add(at(1), Patch, key{0, "", "n"}, []byte(text))
			},
			"patches": func(f *file) {
				f.add(at(0), Set, key{0, "", "n"}, []byte("{}"))
				for i := range 8 {
					part := bombs.Texts(250 << 10)[name]
					f.add(at(1), Patch, key{0, "", "n"}, fmt.Appendf(nil, `{"part%d":%s}`, i, part))
				}
			},
		} {
			f := newFile(t)
			write(f)
			allocated, took := bombs.Measure(func() {
				_, err := f.recording().Read().Skip(t.Context(), at(9))
				if err == nil || !strings.Contains(err.Error(), "an object cannot be read") {
					t.Errorf("%s, %s: %v", name, what, err)
				}
			})
			t.Logf("%s, %s: %d MB allocated in %s", name, what, allocated>>20, took)
			if allocated > bombs.Slowdown*100<<20 || took > bombs.Slowdown*time.Second {
				t.Errorf("%s, %s takes %d MB and %s", name, what, allocated>>20, took)
			}
		}
	}
	var header bytes.Buffer
	w := NewWriter(&header, Header{Start: tuesday, Kinds: make([]Kind, 400_000)})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(bytes.NewReader(header.Bytes()), int64(header.Len())); err == nil || !strings.Contains(err.Error(), "its header cannot be read: an object cannot be read: ") {
		t.Errorf("many kinds: %v", err)
	}
	f := newFile(t)
	for range 1_100_000 {
		f.add(at(0), Gap, key{}, nil)
	}
	f.flush()
	_, err := Open(bytes.NewReader(f.Buffer.Bytes()), int64(f.Buffer.Len()))
	if err == nil || !strings.Contains(err.Error(), "changes, the limit for a recording of this size") {
		t.Errorf("a million changes in %d bytes: %v", f.Buffer.Len(), err)
	}
	f = newFile(t)
	f.mark(0, Begun)
	f.mark(1, End)
	f.count = 1
	if got, err := transcript(f.recording()); err == nil || len(got) != 1 {
		t.Errorf("a block with more changes than it says: %q, %v", got, err)
	}
}

// FuzzRecording: reading any input ends and takes bounded memory.
func FuzzRecording(f *testing.F) {
	whole := newFile(f)
	whole.set(0, nodeKind, "", "n1", `{"a":1,"b":{"c":[1,2]}}`)
	whole.mark(0, Begun)
	whole.set(1, podKind, "default", "web", `{"spec":{"nodeName":"n1"}}`)
	whole.set(2, podKind, "default", "web", `{"spec":{"nodeName":"n2"}}`)
	whole.gone(3, podKind, "default", "web")
	whole.flush()
	// The checksum keeps a fuzzer out of the blocks. So it fuzzes their contents, and the test builds
	// the blocks.
	f.Add(whole.Buffer.Bytes(), []byte("\x00S\x00\x00\x02n1\x07{\"a\":1}\x00P\x00\x00\x02n1\x0a{\"a\":null}"))
	f.Add(whole.Buffer.Bytes()[:100], []byte("\x00D\x00\x00\x00\x00\x01G\x00\x00\x00\x00"))
	f.Add([]byte("\xb5kr1H"), []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01S"))
	f.Fuzz(func(t *testing.T, raw, changes []byte) {
		if r, err := Open(bytes.NewReader(raw), int64(len(raw))); err == nil {
			_, _ = transcript(r)
		}
		made := newFile(t)
		made.last, made.count = time.Hour, bytes.Count(changes, []byte{0})
		made.block = changes
		if made.count == 0 || made.count > len(changes) {
			return
		}
		lines, _ := transcript(made.recording())
		if len(lines) > len(changes) {
			t.Errorf("%d changes in %d bytes", len(lines), len(changes))
		}
	})
}
