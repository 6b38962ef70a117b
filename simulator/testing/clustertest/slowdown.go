//go:build !race

package clustertest

// slowdown is the factor by which this build is slower than a normal one.
const slowdown = 1
