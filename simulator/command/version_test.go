package command

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/host/version"
)

func TestWriteVersion(t *testing.T) {
	v := version.Info{Simulator: "v0.5.0", Kubernetes: "v1.37.2", Etcd: "v3.7.0", Go: "go1.26.0"}
	for _, tc := range []struct{ format, want string }{
		{"", "Simulator: v0.5.0\nKubernetes: v1.37.2\netcd: v3.7.0\nGo: go1.26.0\n"},
		{"json", "{\n  \"simulator\": \"v0.5.0\",\n  \"kubernetes\": \"v1.37.2\",\n  \"etcd\": \"v3.7.0\",\n  \"go\": \"go1.26.0\"\n}\n"},
		{"yaml", "etcd: v3.7.0\ngo: go1.26.0\nkubernetes: v1.37.2\nsimulator: v0.5.0\n"},
	} {
		var out bytes.Buffer
		if err := writeVersion(&out, v, tc.format); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, out.String()); diff != "" {
			t.Errorf("format %q: %s", tc.format, diff)
		}
	}
	if err := writeVersion(&bytes.Buffer{}, v, "xml"); err == nil {
		t.Error("no error for an unknown format")
	}
}
