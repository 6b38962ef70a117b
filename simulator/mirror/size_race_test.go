//go:build race

package mirror

// The size of the mirror that is measured. With the race detector each object takes
// five times as long, and what can race does so with few; there are more than fit a
// page.
const measuredNodes, measuredPods = 100, pageSize + 1
