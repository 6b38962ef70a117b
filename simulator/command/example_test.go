package command_test

import (
	"kube-scheduler-simulator/scheduler/examples/zonequota"
	"kube-scheduler-simulator/simulator/command"
)

// This is the main function of your own program: the simulator with the plugin ZoneQuota in
// addition to those of Kubernetes. A KubeSchedulerConfiguration enables it by its name.
func ExampleWithPlugin() {
	command.Main(command.WithPlugin(zonequota.Name, zonequota.New))
}
