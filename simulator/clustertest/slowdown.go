//go:build !race

package clustertest

// slowdown is how much longer everything takes than in a normal build.
const slowdown = 1
