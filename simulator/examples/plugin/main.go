// Command plugin is the simulator with an additional plugin, ZoneQuota. Copy it as a starting
// point for your own plugin.
package main

import (
	"kube-scheduler-simulator/scheduler/examples/zonequota"
	"kube-scheduler-simulator/simulator/command"
)

func main() { command.Main(command.WithPlugin(zonequota.Name, zonequota.New)) }
