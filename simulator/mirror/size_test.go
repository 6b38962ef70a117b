//go:build !race

package mirror

// The size of the mirror that is measured.
const measuredNodes, measuredPods = 1000, 2000
