//go:build !race

package app

import "time"

// stopTimeout bounds an orderly stop.
const stopTimeout = 4500 * time.Millisecond
