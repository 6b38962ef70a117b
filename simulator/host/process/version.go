package process

import (
	"fmt"

	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/util/compatibility"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"

	"kube-scheduler-simulator/simulator/host/version"
)

// emulatedReleases is how many minor versions before its own Kubernetes can emulate.
const emulatedReleases = 3

// Emulate makes Kubernetes' components behave as those of an earlier minor version, such as "1.35", in their feature gates and the APIs that
// they serve. Code that no gate guards stays that of this program. minCompatibility is the oldest minor version with which the components
// work together: some gates are on only from a certain one. If it is empty, it is the version before, as in Kubernetes. An empty version is
// that of the program. Both hold for the whole process: call Emulate before SetGates, and before any component runs. Kubernetes calls this
// compatibility versions.
func Emulate(minor, minCompatibility string) error {
	if minor == "" && minCompatibility == "" {
		return nil
	}
	emulated := own()
	if minor != "" {
		if err := CanEmulate(minor); err != nil {
			return err
		}
		emulated = utilversion.MustParseMajorMinor(minor)
	}
	versions, gates := globals()
	versions.SetEmulationVersion(emulated)
	if minCompatibility != "" {
		compatible, err := utilversion.ParseMajorMinor(minCompatibility)
		if err != nil || compatible.LessThan(oldest()) || compatible.GreaterThan(emulated) {
			return fmt.Errorf("the minimum compatibility version is a minor version from %s to %s, not %q", oldest(), emulated, minCompatibility)
		}
		versions.SetMinCompatibilityVersion(compatible)
	}
	return gates.SetEmulationVersionAndMinCompatibilityVersion(versions.EmulationVersion(), versions.MinCompatibilityVersion())
}

// CanEmulate returns an error if Emulate does not take a minor version.
func CanEmulate(minor string) error {
	v, err := utilversion.ParseMajorMinor(minor)
	switch {
	case err != nil || v.String() != minor: // Kubernetes' parser ignores a patch version
		return fmt.Errorf("%q is no minor version of Kubernetes, such as %s", minor, own())
	case v.LessThan(oldest()) || v.GreaterThan(own()):
		return fmt.Errorf("cannot emulate Kubernetes %s: this program has %s, and can emulate %s to %s", v, own(), oldest(), own())
	}
	return nil
}

// Emulatable returns the minor versions that Emulate takes, the newest first, which is that of the program.
func Emulatable() []string {
	var out []string
	for v := own(); !v.LessThan(oldest()); v = v.SubtractMinor(1) {
		out = append(out, v.String())
	}
	return out
}

func oldest() *utilversion.Version { return own().SubtractMinor(emulatedReleases) }

// Emulated returns the minor version of Kubernetes whose gates and APIs the process has, such as "1.35"; "" if that is its own.
func Emulated() string {
	versions, _ := globals()
	if is := versions.EmulationVersion(); !is.EqualTo(own()) {
		return is.String()
	}
	return ""
}

// Kubernetes returns the version of Kubernetes that decides here, for people to read: "v1.37.2", or "v1.37.2, emulating 1.35".
func Kubernetes() string {
	built := version.Get().Kubernetes
	if emulated := Emulated(); emulated != "" {
		return built + ", emulating " + emulated
	}
	return built
}

// globals are the versions and the gates of this process, which Kubernetes registers itself.
func globals() (basecompatibility.MutableEffectiveVersion, featuregate.MutableVersionedFeatureGate) {
	return compatibility.DefaultComponentGlobalsRegistry.ComponentGlobalsOrRegister(basecompatibility.DefaultKubeComponent, nil, nil)
}

// own is the minor version that the process is made of.
func own() *utilversion.Version {
	versions, _ := globals()
	binary := versions.BinaryVersion()
	return utilversion.MajorMinor(binary.Major(), binary.Minor())
}
