//go:build race

package clustertest

// slowdown is the factor by which this build is slower than a normal one. The race detector slows
// Kubernetes down about tenfold, but tests mostly wait.
const slowdown = 5
