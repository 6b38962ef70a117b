// Package upstream owns everything that is copied from Kubernetes' scheduler or
// wired into it: how a scheduler is built, the list of plugin interfaces, the
// formulas that our results repeat, and what we read through reflection. Its
// subpackage contract fails, naming what to read again, when Kubernetes changes
// any of that.
//
// It knows neither the recorder nor the result: they plug in through Observer. It
// may import Kubernetes' scheduler, and no package of ours.
package upstream
