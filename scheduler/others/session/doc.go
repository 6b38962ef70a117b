// Package session decides as the batch schedulers kube-batch and Volcano do: in sessions. A session takes a copy of the
// cluster, runs the configured actions one after the other over all jobs, and hands back what to bind, what to evict, what
// to write into the objects, and a Record of everything that it decided.
//
// The rules of jobs, queues and statements are here, in two dialects: KubeBatch and Volcano. Predicates and node scores are
// those of kube-scheduler, which runs on the copy by way of package whatif; only the room on a node is counted here,
// because a session also counts on pods that are about to leave.
//
// The package writes nothing and watches nothing. It may import Kubernetes' scheduler, and scheduler/config,
// scheduler/result, scheduler/whatif and scheduler/yamlsource.
package session
