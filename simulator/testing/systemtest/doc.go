// Package systemtest holds tests only. They check that the built program survives kills, crowds of
// clients, hostile input and requests of other web sites and users, that it calls no other machine,
// and that it does not grow while it runs.
//
// They use the program as its users do: by its command line, over HTTP and TLS, and through the
// files that it leaves on disk. Apart from other test packages they import nothing of this module.
// They build the program first, or take the one that SIMULATOR_BIN names.
//
// TestSoak takes twenty seconds; `go test ./simulator/testing/systemtest -run TestSoak -soak 30m
// -soak-csv FILE` takes thirty minutes and writes the samples to a file.
package systemtest
