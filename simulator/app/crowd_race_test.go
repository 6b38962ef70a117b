//go:build race

package app

// smaller is by how much a crowd is smaller with the race detector, which finds the
// same races in it and takes ten times as long.
const smaller = 5
