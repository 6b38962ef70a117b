package external

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/version"
)

func TestVersionSkew(t *testing.T) {
	tests := []struct {
		major, minor, git string
		warning, err      string
	}{
		{"1", "37", "v1.37.0", "", ""},
		{"1", "38+", "v1.38.0-alpha.1", "", ""},
		{"1", "35", "v1.35.2", "Kubernetes supports 1.37 and 1.38", ""},
		{"1", "39", "v1.39.0", "Kubernetes supports 1.37 and 1.38", ""},
		{"1", "33", "v1.33.9", "", "needs 1.34 or newer"},
		{"2", "0", "v2.0.0", "", "cannot be parsed"},
		{"1", "x", "v1.x", "", "cannot be parsed"},
	}
	for _, test := range tests {
		t.Run(test.git, func(t *testing.T) {
			warning, err := checkVersion(&version.Info{Major: test.major, Minor: test.minor, GitVersion: test.git})
			said := ""
			if err != nil {
				said = err.Error()
			}
			if !strings.Contains(warning, test.warning) || !strings.Contains(said, test.err) || (test.warning == "") != (warning == "") || (test.err == "") != (said == "") {
				t.Errorf("warning %q, error %q", warning, said)
			}
		})
	}
}
