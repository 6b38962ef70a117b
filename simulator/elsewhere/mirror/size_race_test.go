//go:build race

package mirror

// The size of the measured mirror. The race detector slows it down fivefold and finds races with
// fewer objects. There are still more than one page holds.
const measuredNodes, measuredPods = 100, pageSize + 1
