//go:build race

package clustertest

// slowdown is how much longer everything takes than in a normal build. The race detector
// slows Kubernetes down about tenfold, but tests mostly wait.
const slowdown = 5
