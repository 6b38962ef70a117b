// Package judge compares the built-in queues with Kueue itself, in random scenarios. It is a module of its own, because no program
// of ours contains Kueue: `make judge-kueue` runs it. It imports nothing of ours, and knows the simulator as users do, by its flags and
// its API server.
//
// Another test lets Kueue die halfway, and checks that the built-in queues, and then Kueue again, go on without admitting anything twice. The
// package original runs Kueue, also for the command beside, which users start.
//
// It builds the whole manager of Kueue from the module proxy, with the versions that Kueue's own go.mod requires, and starts two
// simulators: one with `--kueue=off` and the manager beside it, with Kueue's own definitions and webhooks, and one with the built-in
// queues. Sixteen scenarios at a time run in both, each in a namespace of its own with queues, cohorts, flavors and nodes of its own.
// A third of them shares fairly. Each has ten steps: Jobs, elastic ones among them, pods, pod groups, Deployments and StatefulSets come, finish and go; quotas,
// priorities and stop policies change.
//
// After each step the judge waits until both have settled, and compares what is there: each workload's conditions with their reasons,
// pod sets, flavors, counts, domains, priority and evictions; jobs and pods with what was injected into them; after the last step
// the statuses of queues, too. It never waits for time alone: see pulse in settle.go. A difference counts if no repetition of the
// scenario shows either Kueue doing what the other did, because Kueue chooses by random UIDs where the seconds are equal. Then the judge
// leaves out steps and objects while a difference of the same kind remains, and prints the rest. The flag -seeds names the scenarios to play.
//
// On two processors that others kept busy, sixteen scenarios took two to three minutes, so 300 take about an hour there; a repetition of
// each that differs at first comes on top. The built-in queues write the statuses of queues late by design, and on such a machine
// later than the judge waits: what it then takes as it is, it logs, and a repetition shows the rest. The 142 writes take twenty seconds.
//
// The file expected.yaml has the differences that later versions of Kueue explain, or that a fault of 0.17.0 does, each with its reason; an
// entry that explains nothing any more fails the test. The file writes.yaml has writes that both must accept or refuse alike.
package judge
