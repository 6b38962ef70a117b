//go:build race

package app

import "time"

// stopTimeout bounds an orderly stop. With the race detector everything takes ten
// times as long.
const stopTimeout = 45 * time.Second
