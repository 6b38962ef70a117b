package objects

import (
	"testing"

	"k8s.io/apimachinery/pkg/version"
)

func TestServedVersion(t *testing.T) {
	for _, test := range []struct {
		want string
		is   version.Info
	}{
		{"v1.33.1", version.Info{Major: "1", Minor: "33", GitVersion: "v1.33.1"}},
		{"v1.37.2", version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.2", EmulationMajor: "1", EmulationMinor: "37"}},
		{"v1.37.2, emulating 1.35", version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.2", EmulationMajor: "1", EmulationMinor: "35"}},
	} {
		if got := ServedVersion(&test.is); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
