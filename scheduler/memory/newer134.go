//go:build kubernetes134

package memory

import "strconv"

// newer reports whether a resource version is newer than another one. Kubernetes 1.34 has no function that compares them.
func newer(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x > y
}
