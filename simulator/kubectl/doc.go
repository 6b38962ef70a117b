// Package kubectl is the command line of kubectl-why: it reads what is asked as kubectl does, reads the cluster of a
// kubeconfig once, asks package why, and prints the answers. The simulator's own command why shares its parts.
//
// Nothing that it links starts an API server or etcd: a test watches that. It may import scheduler/config,
// scheduler/plugins, simulator/host/version, simulator/host/process and the packages that ask and read.
package kubectl
