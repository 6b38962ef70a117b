// Package capacityscheduling provides the scheduler plugin CapacityScheduling, which shares a
// cluster among namespaces by ElasticQuotas: each namespace is guaranteed its min, may borrow up to
// its max what others leave, and gives it back, by preemption, when they need it.
//
//	profiles:
//	- schedulerName: default-scheduler
//	  plugins:
//	    multiPoint:
//	      enabled: [{name: CapacityScheduling}]
//	    postFilter:
//	      enabled: [{name: CapacityScheduling}]
//	      disabled: [{name: "*"}]
//
// The plugin behaves like the one of the same name in kubernetes-sigs/scheduler-plugins, whose
// objects and configurations it takes; the code is our own. It takes no arguments.
//
// # The rules
//
// The plugin keeps in memory what each namespace with a quota uses: the requests of its pods that
// have a node, or that a cycle has reserved one for. It does not read status.used. A namespace
// without a quota is not counted anywhere.
//
// PreFilter rejects a pod that would take its namespace above its max, or all quotas together above
// the sum of their mins. Nominated pods count as if they ran: those of the same namespace if they
// are not less important, others if their namespace is within its min.
//
// PostFilter preempts. A pod that its own min covers may take pods of any priority from namespaces
// that use more than their min, as long as they do. Otherwise it may take pods of lower priority
// from its own namespace. Pods without a quota and pods with one never take from each other.
//
// A pod counts, once, from when it gets a node until its phase is neither Pending nor Running or it
// is deleted. The plugin orders equally important pods, which in a simulator often started in the
// same second, as the original does.
//
// # Known differences
//
// The module scheduler/plugins/judge compares the plugin with the original in random scenarios. One
// difference is deliberate: for a pod that was resized in place, the original adds the old request
// but subtracts the new one, and counts wrong from then on; this plugin subtracts what it added.
//
// The package may import the scheduling framework, client-go, scheduler/pluginfact and
// scheduler/plugins/follow.
package capacityscheduling
