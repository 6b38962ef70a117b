// Package contract is the alarm for upgrades of Kubernetes. It reads Kubernetes'
// source in the module cache and finds what our code depends on without the
// compiler's help: interfaces that plugins may have, methods of the interfaces that
// we embed, options that the scheduler is built with, functions whose logic we
// repeat, how kube-controller-manager builds its controllers, and texts of errors that
// we match.
//
// TestContract compares that with testdata/contract.txt and names, for each
// difference, what to read again and which of our files depends on it. Once they
// agree again, regenerate the file, and review its changes line by line:
//
//	go test ./scheduler/internal/upstream/contract -run TestContract -update
//
// The package parses source and links nothing of Kubernetes, so that its tests take
// a second. It may import the standard library only; only tests use it.
package contract
