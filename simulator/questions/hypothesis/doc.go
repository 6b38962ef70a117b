// Package hypothesis turns the questions that clients write into questions for the what-if engine.
// It reads pods, changes and configurations as people write them, and has the API server default,
// admit and validate each of them in dry runs. So a hypothesis holds what the cluster would hold,
// and the package refuses what the API server would refuse, with its message and path.
//
// A dry run changes nothing, but it does not know what the question changes before it. The package
// makes up for that where objects depend on each other: see admission.
//
// It decides nothing about pods and knows nothing of HTTP routes. It may import client-go,
// scheduler/config, scheduler/others/flow, scheduler/others/session, scheduler/whatif,
// scheduler/yamlsource, simulator/cluster/objects and simulator/elsewhere/transfer/manifest.
package hypothesis
