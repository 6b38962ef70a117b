// Package runner is what stands behind the commands run, compare and sweep: it loads the files that they name, runs them
// in parallel, shows the progress, and writes the reports.
//
// It may import simulator/scenarios/scenario with its packages, what the formats of others need, and datadir to write files. It knows
// nothing of flags or exit codes, and it does not know which engines there are.
package runner
