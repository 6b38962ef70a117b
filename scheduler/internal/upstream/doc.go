// Package upstream owns everything that is copied from Kubernetes' scheduler or
// wired into it: how a scheduler is built, the list of plugin interfaces, the
// formulas that our results repeat, and what we read through reflection. The test
// of its subpackage contract fails when Kubernetes changes any of that, and names
// what to read again.
//
// It knows nothing of the recorder or of results: the recorder plugs in through
// Observer. It may import Kubernetes' scheduler, and no package of ours.
package upstream
