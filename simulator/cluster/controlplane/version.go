package controlplane

import (
	"fmt"

	utilversion "k8s.io/apimachinery/pkg/util/version"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// versioned answers /version. Kubernetes' build sets the version with linker flags; elsewhere it is
// a placeholder, which clients cannot parse.
type versioned struct {
	compatibility.EffectiveVersion
	gitVersion string
}

var _ compatibility.EffectiveVersion = versioned{}

// setVersion makes the API servers report a version such as v1.37.2, or else the minor version that
// they were built from.
func setVersion(config *app.Config, gitVersion string) {
	if _, err := utilversion.ParseSemantic(gitVersion); err != nil {
		gitVersion = "v" + version.DefaultKubeBinaryVersion + ".0"
	}
	generic := config.Aggregator.GenericConfig
	generic.EffectiveVersion = versioned{generic.EffectiveVersion, gitVersion}
}

func (v versioned) Info() *apiversion.Info {
	info := apiversion.Info{}
	if inner := v.EffectiveVersion.Info(); inner != nil {
		info = *inner
	}
	info.GitVersion, info.GitCommit = v.gitVersion, ""
	parsed := utilversion.MustParseSemantic(v.gitVersion)
	info.Major, info.Minor = fmt.Sprint(parsed.Major()), fmt.Sprint(parsed.Minor())
	return &info
}
