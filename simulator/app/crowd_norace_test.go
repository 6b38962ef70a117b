//go:build !race

package app

// smaller divides the size of crowds.
const smaller = 1
