//go:build race

package bombs

// Slowdown is the factor by which this build is slower than a normal one.
const Slowdown = 15
