// Command simulator runs a Kubernetes control plane, a recorded kube-scheduler
// and the web application that shows its decisions.
package main

import "kube-scheduler-simulator/simulator/command"

func main() { command.Main() }
