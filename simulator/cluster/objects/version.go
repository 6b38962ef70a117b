package objects

import "k8s.io/apimachinery/pkg/version"

// ServedVersion returns the version of Kubernetes that an API server reports, for people and for package versions to read: v1.37.2, or
// "v1.37.2, emulating 1.35".
func ServedVersion(is *version.Info) string {
	if is.EmulationMinor == "" || is.EmulationMajor == is.Major && is.EmulationMinor == is.Minor {
		return is.GitVersion
	}
	return is.GitVersion + ", emulating " + is.EmulationMajor + "." + is.EmulationMinor
}
