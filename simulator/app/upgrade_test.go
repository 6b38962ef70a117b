package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/questions/standalone"
	"kube-scheduler-simulator/simulator/questions/upgrade"
)

// TestUploadedFiles: an upload is a recording or objects, and has the name that its user knows, not that of the copy here.
func TestUploadedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "upgrade-1234")
	load := func(name, content string) (*upgrade.Load, error) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return upload{path, name, standalone.Options{}}.Load(t.Context())
	}
	var recording strings.Builder
	w := replay.NewWriter(&recording, replay.Header{Version: 1, Start: time.Date(2026, 11, 12, 9, 0, 0, 0, time.UTC), SourceVersion: "v1.35.4", Kinds: replay.RecordedKinds()})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if l, err := load("prod.ksr", recording.String()); err != nil || l.Cluster != "prod.ksr" || l.Version != "v1.35.4" {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := load("prod.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"); err != nil || l.Cluster != "prod.yaml" || l.Version != "" {
		t.Errorf("%+v, %v", l, err)
	}
	for name, content := range map[string]string{"noise.ksr": "\x00\x01", "broken.ksr": recording.String()[:recording.Len()/2], "text.yaml": "kind: Pod"} {
		if _, err := load(name, content); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "upgrade-") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
