// Package why answers "why is this pod there, why is it pending, will it fit?" in one documented answer, which the
// command line, HTTP, kubectl and agents only print. It asks the questions of package hypothesis, adds what the
// cluster knows of the pod, and says what it did not judge.
//
// The answer is versioned: fields are added, and never change their meaning. schema.json in this package describes
// it, and testdata holds one answer of each kind.
//
// It may import scheduler/explain, scheduler/result, scheduler/whatif with its packages and
// simulator/questions/hypothesis.
package why
