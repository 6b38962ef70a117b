// Package ask asks hypothetical questions from the command line: it reads the files of a question,
// sends it to a running simulator or passes it to a cluster that was read from elsewhere, and
// prints the answer as tables, as kubectl does, or as JSON or YAML.
//
// It parses no flags and knows no scheduler. It may import client-go's types, scheduler/config,
// scheduler/explain, scheduler/result, scheduler/whatif, scheduler/whatif/fit,
// simulator/questions/hypothesis, simulator/batch/kueue/admission and suggest,
// simulator/cluster/objects, simulator/elsewhere/transfer/manifest and simulator/scenarios/runs.
package ask
