//go:build !race

package mirror

// The size of the measured mirror.
const measuredNodes, measuredPods = 1000, 2000
