package standalone

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/questions/upgrade"
)

// TestHistory: a recording's decisions come in the state of their moments: before the pod has its node, and after the scheduler has first
// said that it is unschedulable.
func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prod.ksr")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]replay.Kind{}
	for _, k := range replay.RecordedKinds() {
		kinds[k.Kind] = k
	}
	at := time.Date(2026, 11, 12, 9, 14, 22, 0, time.UTC)
	w := replay.NewWriter(file, replay.Header{Version: 1, Start: at, SourceVersion: "v1.35.4", Kinds: replay.RecordedKinds()})
	set := func(kind, namespace, name string, spec, status map[string]any) {
		at = at.Add(time.Second)
		o := map[string]any{"metadata": map[string]any{"name": name, "uid": name}, "spec": spec, "status": status}
		if namespace != "" {
			o["metadata"].(map[string]any)["namespace"] = namespace
		}
		if _, err := w.Set(at, kinds[kind], namespace, name, o); err != nil {
			t.Fatal(err)
		}
	}
	pod := func(name, node string, reason string) {
		status := map[string]any{"phase": "Pending"}
		if reason != "" {
			status["conditions"] = []any{map[string]any{"type": "PodScheduled", "status": "False", "reason": reason}}
		}
		spec := map[string]any{"schedulerName": "default-scheduler"}
		if node != "" {
			spec["nodeName"] = node
		}
		set("Pod", "shop", name, spec, status)
	}
	set("Node", "", "a", map[string]any{}, map[string]any{})
	pod("old", "a", "") // decided before the recording
	if err := w.Mark(at, replay.Begun, ""); err != nil {
		t.Fatal(err)
	}
	pod("web", "", "")
	pod("db", "", "")
	pod("db", "", "SchedulingGated")
	pod("db", "", "Unschedulable")
	pod("web", "a", "")
	pod("db", "", "Unschedulable")
	if err := w.Delete(at, kinds["Pod"], "shop", "old"); err != nil {
		t.Fatal(err)
	}
	pod("db", "a", "")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}

	load, err := History{File: path}.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if load.Cluster != "prod.ksr" || load.Version != "v1.35.4" {
		t.Errorf("%q of %q", load.Cluster, load.Version)
	}
	var got []string
	err = load.Source(t.Context(), func(s upgrade.Step) error {
		switch {
		case s.Decide != nil:
			got = append(got, "decide "+inShort(t, s.Decide))
		case s.Delete != nil:
			got = append(got, "delete "+s.Delete.Name)
		default:
			data, err := json.Marshal(s.Set)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, "set "+inShort(t, data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"set Node a", "set Pod old on a", "set Pod web", "set Pod db", "set Pod db",
		"set Pod db", "decide Pod db", "decide Pod web", "set Pod web on a", "delete old", "decide Pod db", "set Pod db on a",
	}
	// The writer leaves out a change that changes nothing.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestUnreadableFiles: a report never looks whole when a part of its file could not be read.
func TestUnreadableFiles(t *testing.T) {
	load := func(name, content string) (*upgrade.Load, error) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(t.Context(), Options{File: path})
		if err != nil {
			return nil, err
		}
		return c.Load(t.Context())
	}
	for name, c := range map[string]struct{ content, want string }{
		"noise.ksr": {"\x00\x01\x02", "there is no object to read: noise.ksr: it is neither text nor a supported archive (tar, tar.gz, gz or zip)"},
		"bad.yaml":  {"kind: Pod\n  bad", "there is no object to read: bad.yaml, document 1: it is not a Kubernetes object: apiVersion or kind is missing"},
	} {
		if _, err := load(name, c.content); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	l, err := load("mixed.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\nkind: Pod\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"mixed.yaml, document 2: it is not a Kubernetes object: apiVersion or kind is missing"}, l.NotJudged); diff != "" {
		t.Error(diff)
	}
	l, err = load("many.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"+strings.Repeat("---\nkind: Pod\n", 12))
	if err != nil || len(l.NotJudged) != 11 || l.NotJudged[10] != "2 more objects were left out." {
		t.Errorf("%q, %v", l.NotJudged, err)
	}
}

func inShort(t *testing.T, data []byte) string {
	t.Helper()
	var o struct {
		Kind     string
		Metadata struct{ Name string }
		Spec     struct{ NodeName string }
	}
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	if o.Spec.NodeName != "" {
		return o.Kind + " " + o.Metadata.Name + " on " + o.Spec.NodeName
	}
	return o.Kind + " " + o.Metadata.Name
}
