// Package autoscale answers what an autoscaler would do about the pods that wait, and what the scheduler would make of it: which pods a
// new node helps, at what price, and where the two disagree. The command line, HTTP and agents only print the answer. Nothing is
// created, and no node is bought.
//
// Karpenter's own code judges for the autoscaler, through package dryrun, and kube-scheduler for the scheduler, through package
// hypothesis, both on one state. Each knows things that the other does not, so neither verdict follows from the other.
//
// It may import the packages below simulator/autoscaling, simulator/questions/why, simulator/questions/hypothesis and the packages that
// read files.
package autoscale
