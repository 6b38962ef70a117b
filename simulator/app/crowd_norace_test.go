//go:build !race

package app

// smaller is by how much a crowd is smaller than it would be.
const smaller = 1
