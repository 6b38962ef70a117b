//go:build race

package celcost

// slowdown is the factor by which this build is slower than a normal one.
const slowdown = 15
