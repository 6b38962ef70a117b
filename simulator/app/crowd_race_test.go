//go:build race

package app

// smaller divides the size of crowds. The race detector takes ten times as long, and finds the same
// races in smaller crowds.
const smaller = 5
