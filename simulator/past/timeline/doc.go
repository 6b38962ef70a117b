// Package timeline records what happens in the simulated cluster, and answers what it was like at
// any moment, what changed between two moments, and how to take the last step back.
package timeline
