package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kube-scheduler-simulator/simulator/past/replay"
)

// record returns a line of a record file of the earlier simulator.
func record(second int, event, resource string) string {
	return fmt.Sprintf(`{"time":"2026-01-01T00:00:%02dZ","event":%q,"resource":%s}`+"\n", second, event, resource)
}

func recordedNode(name, cpu string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q}},"status":{"allocatable":{"cpu":%q,"memory":"8Gi","pods":"110"}}}`, name, name, cpu)
}

func recordedPod(name, cpu, more string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"default"},"spec":{%s"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q}}}]}}`, name, more, cpu)
}

// TestEarlierRecords plays a record file of the earlier simulator: the scheduler places the pods that the file creates without a node.
func TestEarlierRecords(t *testing.T) {
	text := record(0, "Add", recordedNode("small", "1")) + record(0, "Add", recordedNode("large", "4")) +
		record(1, "Add", recordedPod("old", "1", `"nodeName":"large",`)) +
		record(2, "Add", recordedPod("new", "2", "")) + record(2, "Update", recordedPod("new", "2", `"nodeName":"large",`)) +
		record(3, "Add", recordedPod("other", "1", "")) + record(3, "Update", recordedPod("other", "1", `"nodeName":"nowhere",`)) +
		record(30, "Delete", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"old","namespace":"default"}}`)
	file := filepath.Join(writeFiles(t, map[string]string{"record.jsonl": text}), "record.jsonl")
	var out bytes.Buffer
	passed, err := Run(t.Context(), []string{file}, nil, options(&out))
	if err != nil || !passed {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"record.jsonl", "pods with the recorded node: 1", "pods with another node or none: 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	for name, test := range map[string]struct{ line, want string }{
		"an unknown event": {record(1, "Moved", recordedNode("n", "1")), `line 2: there is no event "Moved"; there are Add, Update and Delete`},
		"half a line":      {`{"time":`, "line 2: "},
		"no name":          {record(1, "Add", `{"kind":"Pod"}`), "line 2: the resource has no kind or no name"},
	} {
		if err := os.WriteFile(file, []byte(record(0, "Add", recordedNode("small", "1"))+test.line), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), []string{file}, nil, options(&out)); err == nil || !strings.Contains(err.Error(), file+": "+test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRecordings plays a recording of ours.
func TestRecordings(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	object := func(text string) map[string]any {
		var out map[string]any
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	var file, out bytes.Buffer
	kinds := replay.RecordedKinds()
	w := replay.NewWriter(&file, replay.Header{Version: 1, Start: at(0), Kinds: kinds})
	set := func(second int, kind, namespace, name, text string) {
		at, i := at(second), slices.IndexFunc(kinds, func(k replay.Kind) bool { return k.Kind == kind && !strings.Contains(k.APIVersion, "/") })
		if _, err := w.Set(at, kinds[i], namespace, name, object(text)); err != nil {
			t.Fatal(err)
		}
	}
	mark := func(second int, verb replay.Verb) {
		if err := w.Mark(at(second), verb, ""); err != nil {
			t.Fatal(err)
		}
	}
	set(0, "Node", "", "small", recordedNode("small", "1"))
	set(0, "Node", "", "large", recordedNode("large", "4"))
	mark(0, replay.Begun)
	set(5, "Pod", "default", "web", recordedPod("web", "2", ""))
	set(6, "Pod", "default", "web", recordedPod("web", "2", `"nodeName":"large",`))
	set(7, "Node", "", "small", recordedNode("small", "3"))
	set(8, "Pod", "default", "late", recordedPod("late", "3", ""))
	set(9, "Pod", "default", "late", recordedPod("late", "3", `"nodeName":"large",`))
	mark(10, replay.End)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(writeFiles(t, map[string]string{"day.recording": file.String()}), "day.recording")
	passed, err := Run(t.Context(), []string{path}, nil, options(&out))
	if err != nil || !passed {
		t.Fatalf("%v\n%s", err, out.String())
	}
	// late fits on small only, which has grown.
	for _, want := range []string{"day.recording", "pods with the recorded node: 1", "pods with another node or none: 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if err := os.WriteFile(path, file.Bytes()[:40], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), []string{path}, nil, options(&out)); err == nil || !strings.Contains(err.Error(), path+": not a recording") {
		t.Errorf("a file that is cut off: %v", err)
	}
}
