package runner

import (
	"fmt"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// SetGates sets feature gates for the whole process until restore is called.
func SetGates(gates map[string]bool) (restore func(), err error) {
	all := utilfeature.DefaultMutableFeatureGate
	known := all.GetAll()
	before := map[string]bool{}
	for name := range gates {
		if _, ok := known[featuregate.Feature(name)]; !ok {
			return nil, fmt.Errorf("there is no feature gate %s", name)
		}
		before[name] = all.Enabled(featuregate.Feature(name))
	}
	restore = func() { _ = all.SetFromMap(before) } // these values were set before
	if err := all.SetFromMap(gates); err != nil {
		restore()
		return nil, err
	}
	return restore, nil
}
