// Package upstreamtest only has tests: they compare kubecontrollers with kube-controller-manager.
//
// They are in a package of their own because they link all of kube-controller-manager, which
// takes a minute to compile. `make test-all` runs them, `make test` does not. The tests may import
// kubecontrollers and Kubernetes.
package upstreamtest
