// Command example is the simulator with a plugin of one's own, ZoneQuota: a
// program to copy and to begin with.
package main

import (
	"kube-scheduler-simulator/scheduler/examples/zonequota"
	"kube-scheduler-simulator/simulator/command"
)

func main() { command.Main(command.WithPlugin(zonequota.Name, zonequota.New)) }
