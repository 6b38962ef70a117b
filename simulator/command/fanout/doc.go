// Package fanout runs a sweep in a Kubernetes cluster, as one Indexed Job whose pods each take a share of the runs. It needs no
// service beside the API server: the files of the sweep travel in ConfigMaps, and each pod writes the outcomes of its share into
// ConfigMaps that the Job owns. Sweep is the client's side, and Share is what runs in a pod.
//
// Every run counts once, whatever is killed and retried: runs are deterministic, outcomes are kept by point and seed, and a
// ConfigMap is replaced whole or not at all.
//
// It schedules nothing and knows no flags. It may import simulator/command/runner, which reads sweeps and runs them, simulator/scenarios/scenario for the types
// of these, and scheduler/annotation for the prefix of labels.
package fanout
