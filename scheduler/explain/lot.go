package explain

import "kube-scheduler-simulator/scheduler/result"

// tieSeed is the plugin of the fact that the scheduler attaches to a cycle in which
// a seed decided.
const tieSeed = "TieSeed"

// lot says what decided among nodes with the same total.
func lot(c *result.Cycle) string {
	for _, f := range c.Facts {
		if f.Plugin == tieSeed {
			return "the seed"
		}
	}
	return "chance"
}
