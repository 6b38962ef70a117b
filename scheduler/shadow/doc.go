// Package shadow compares live scheduling decisions with those that a second configuration, the
// shadow, makes on the same state.
//
// It decides nothing itself: package whatif makes the shadow's decisions. It knows nothing of the
// simulator. It may import scheduler/result, scheduler/config and scheduler/whatif.
package shadow
