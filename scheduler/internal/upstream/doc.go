// Package upstream owns everything that we copy from Kubernetes' scheduler or wire into it: how to
// build a scheduler, the list of plugin interfaces, the formulas that our results repeat, and what
// we read through reflection. The test of its subpackage contract fails when Kubernetes changes any
// of that, and names what to read again.
//
// It knows nothing of the recorder or of results: the recorder plugs in through Observer. It may
// import Kubernetes' scheduler, and no package of ours.
package upstream
