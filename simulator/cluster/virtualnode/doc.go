// Package virtualnode does for every node what a kubelet would do, as far as
// scheduling can see it: nodes turn Ready, pods on them run, finish and go away, and
// devices and the topologies of NUMA nodes are published. No container runs.
//
// What happens to a node or a pod, and when, is written as Stages of kwok, whose
// engine matches them and renders their patches. The loop around it is our own: it
// never writes to an object that has changed meanwhile, deletes by UID, so that the
// next pod of a StatefulSet is not mistaken for the last, retries every kind of
// failure, and stops in order.
//
// Annotations steer a single node or pod; simulator/cluster/objects documents them.
//
// The package may import Kubernetes, kwok, simulator/cluster/objects, scheduler/standin,
// scheduler/customresource and the API type of NodeResourceTopology. It reaches the cluster only
// through the client that it is given.
package virtualnode
