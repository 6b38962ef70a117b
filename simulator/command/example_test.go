package command_test

import (
	"kube-scheduler-simulator/scheduler/examples/zonequota"
	"kube-scheduler-simulator/simulator/command"
)

// This is the main function of your own program, which runs the simulator with the plugin
// ZoneQuota in addition to those of Kubernetes. A KubeSchedulerConfiguration enables it by
// name.
func ExampleWithPlugin() {
	command.Main(command.WithPlugin(zonequota.Name, zonequota.New))
}
