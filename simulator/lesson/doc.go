// Package lesson holds the lessons and challenges of the place Learn, reads those of teachers, and
// grades answers.
//
// A lesson is a Markdown file per language with fenced YAML blocks: the cluster, steps and checks.
// The scheduler grades a check: the package evaluates its expression, in the vocabulary of a
// scenario's expectations, against the state of a cluster and the recorded decisions, live or in
// memory. It stores no answer.
//
// The package also generates exercises: small clusters from a seed, about which a learner predicts
// a decision.
//
// It may import the scheduler's results, scheduler/config, scheduler/whatif and
// simulator/scenarios/scenario. It knows neither HTTP nor the command line, and no control plane: a
// World stands for the cluster.
package lesson
