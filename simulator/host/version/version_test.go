package version

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVersionsComeFromTheBuild(t *testing.T) {
	dependencies := []*debug.Module{
		{Path: "k8s.io/kubernetes", Version: "v1.37.2"},
		{Path: "go.etcd.io/etcd/server/v3", Version: "v3.7.0"},
	}
	for _, tc := range []struct {
		name  string
		build debug.BuildInfo
		want  Info
	}{
		{
			"a release",
			debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "v0.5.0"}, Deps: dependencies},
			Info{Simulator: "v0.5.0", Kubernetes: "v1.37.2", Etcd: "v3.7.0", Go: "go1.26.0"},
		},
		{
			"a replaced module",
			debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "v0.5.0"}, Deps: []*debug.Module{
				{Path: "k8s.io/kubernetes", Version: "v1.37.2", Replace: &debug.Module{Path: "example.com/kubernetes", Version: "v1.37.2-fix"}},
				{Path: "go.etcd.io/etcd/server/v3", Version: "v3.7.0", Replace: &debug.Module{Path: "../etcd"}},
			}},
			Info{Simulator: "v0.5.0", Kubernetes: "v1.37.2-fix", Etcd: "devel", Go: "go1.26.0"},
		},
		{
			"a changed working tree",
			debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "(devel)"}, Deps: dependencies, Settings: []debug.BuildSetting{
				{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.modified", Value: "true"},
			}},
			Info{Simulator: "devel+0123456789ab+dirty", Kubernetes: "v1.37.2", Etcd: "v3.7.0", Go: "go1.26.0"},
		},
		{
			"a build without information",
			debug.BuildInfo{GoVersion: "go1.26.0"},
			Info{Simulator: "devel", Kubernetes: "devel", Etcd: "devel", Go: "go1.26.0"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, from(&tc.build)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGetKnowsItsGo(t *testing.T) {
	if got := Get().Go; got != runtime.Version() {
		t.Errorf("Go is %q, not %q", got, runtime.Version())
	}
}
