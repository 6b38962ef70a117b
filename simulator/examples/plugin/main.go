// Command plugin is the simulator with a plugin of your own, ZoneQuota: a program to copy and
// to start from.
package main

import (
	"kube-scheduler-simulator/scheduler/examples/zonequota"
	"kube-scheduler-simulator/simulator/command"
)

func main() { command.Main(command.WithPlugin(zonequota.Name, zonequota.New)) }
