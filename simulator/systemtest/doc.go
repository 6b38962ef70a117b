// Package systemtest has no code, only tests: that the built program stands firm when it
// is killed, crowded, sent nonsense, asked by strangers, and left running.
//
// They see it from the outside, as its users do: by its command line, over HTTP and
// TLS, and through what it leaves on disk. The package imports nothing else of this
// module. It builds the program first, or takes the one that SIMULATOR_BIN names.
//
// TestSoak takes twenty seconds; `go test ./simulator/systemtest -run TestSoak -soak 30m
// -soak-csv FILE` takes thirty minutes and writes down the curve.
package systemtest
