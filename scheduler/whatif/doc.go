// Package whatif answers "where would this pod go?" without touching the cluster. It
// runs Kubernetes' own scheduler, recorded, on a copy of the state: the same PreFilter,
// Filter, Score and selection as the live scheduler, from the same plugins, on a state
// that a question may change at will. An answer is made of result.Cycles, as live
// decisions are, which are marked as hypothetical.
//
// A decision here differs from a live one in three ways: Filter sees every node, every
// plugin that rejects a node is noted instead of only the first, and nothing is written.
//
// The state comes from a Source: a list of objects, or a running scheduler that the
// engine follows by its events. Nothing of a running scheduler is consumed or changed.
//
// It may import Kubernetes' scheduler, and the packages of scheduler/ that record. It
// knows nothing of the simulator, and nothing of package scheduler itself.
package whatif
