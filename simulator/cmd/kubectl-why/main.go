// Command kubectl-why answers, as the plugin `kubectl why`, why a pod is where it is, why it is pending, or whether
// it would fit. It holds Kubernetes' scheduler and a client, and only reads the cluster.
package main

import "kube-scheduler-simulator/simulator/kubectl"

func main() { kubectl.Main() }
