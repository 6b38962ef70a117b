// Package manifesttest makes sources of manifests for tests. Only tests import it. It may import
// package manifest.
package manifesttest

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// Collected is a source of objects.
func Collected(t testing.TB, from ...*unstructured.Unstructured) manifest.Source {
	t.Helper()
	var c manifest.Collector
	for _, u := range from {
		if err := c.Add(u); err != nil {
			t.Fatal(err)
		}
	}
	return c.Source()
}

// Part is a file.
func Part(name, content string) manifest.Part {
	return manifest.Part{Name: name, Content: strings.NewReader(content), Size: int64(len(content))}
}
