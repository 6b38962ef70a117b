package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
)

// Every document is either refused with at least one mistake within its lines, or read. A configuration
// that was read is the same after encoding and decoding.
func FuzzParse(f *testing.F) {
	// Kubernetes logs what a document overrides.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	for _, pattern := range []string{"*.yaml", "*.json"} {
		files, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	for _, document := range []string{
		"", "{", "---\n---\n", head + "parallelism: yes\n", head + "a: &a [*a]\n", head + "? [a]\n: b\n", head + "<<: {parallelism: 3}\n", head + "parallelism: !!binary aGk=\n",
		head + "profiles:\n- pluginConfig:\n  - name: X\n    args: {1: 2, true: [null]}\n", "\xef\xbb\xbf" + head, `{"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1", "profiles": null}`,
	} {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		c, err := ParseWith(document, Options{OutOfTree: []string{"X"}})
		var e *Error
		if err != nil {
			if !errors.As(err, &e) || len(e.Mistakes) == 0 {
				t.Fatalf("err = %#v", err)
			}
			for _, m := range e.Mistakes {
				if m.Message == "" || m.Line < 0 || m.Line > len(document)+1 || m.Column < 0 {
					t.Errorf("mistake %+v", m)
				}
			}
			return
		}
		c.NoEffect()
		c.Effective(nil)
		text, err := Encode(c.Internal)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if again, err := Encode(back.Internal); err != nil || string(again) != string(text) {
			t.Errorf("err = %v:\n%s", err, cmp.Diff(string(text), string(again)))
		}
		if diff := cmp.Diff([]Difference{}, Compare(c, back)); diff != "" {
			t.Error(diff)
		}
	})
}
