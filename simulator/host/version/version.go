// Package version says which versions of the simulator, Kubernetes, etcd and Go this program was
// built from. It reads them from the build information, so that no other file repeats them.
//
// It may import the standard library only.
package version

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"sync"
)

// Info holds the versions of a program and its parts. Its JSON form is public.
type Info struct {
	// Simulator is the version of this module. A program that was built from a working tree has
	// Devel and the revision.
	Simulator string `json:"simulator"`
	// Kubernetes, Etcd and Go are in their projects' own format, such as v1.37.2, v3.7.0 and
	// go1.26.0.
	Kubernetes string `json:"kubernetes"`
	Etcd       string `json:"etcd"`
	Go         string `json:"go"`
}

// Devel is the version of a module for which the build information has none, such as every
// dependency of a test binary.
const Devel = "devel"

const (
	kubernetesModule = "k8s.io/kubernetes"
	etcdModule       = "go.etcd.io/etcd/server/v3"
)

// Get returns the versions of the running program.
func Get() Info { return current() }

var current = sync.OnceValue(func() Info {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return from(build)
})

func from(build *debug.BuildInfo) Info {
	return Info{
		Simulator:  simulator(build),
		Kubernetes: dependency(build, kubernetesModule),
		Etcd:       dependency(build, etcdModule),
		Go:         build.GoVersion,
	}
}

// dependency returns the version of a module that the program was built from, or of its
// replacement.
func dependency(build *debug.BuildInfo, path string) string {
	for _, module := range build.Deps {
		if module.Path != path {
			continue
		}
		if module.Replace != nil {
			module = module.Replace
		}
		return cmp.Or(module.Version, Devel)
	}
	return Devel
}

func simulator(build *debug.BuildInfo) string {
	if v := build.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision == "" {
		return Devel
	}
	version := Devel + "+" + revision[:min(12, len(revision))]
	if settings["vcs.modified"] == "true" {
		version += "+dirty"
	}
	return version
}
