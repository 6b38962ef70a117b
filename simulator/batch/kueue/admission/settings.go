package admission

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Settings are the parts of Kueue's configuration that change admission. The zero value is
// Kueue's default, except that waiting for ready pods is off.
type Settings struct {
	// FairSharing orders and preempts by shares; nil uses borrowing levels and priorities.
	FairSharing *FairSharing
	// AdmissionFairSharing orders the workloads of ClusterQueues that ask for it by what their LocalQueues have used; nil never
	// does.
	AdmissionFairSharing *AdmissionFairSharing
	// WaitForPodsReady evicts workloads whose pods are not ready in time; nil never does.
	WaitForPodsReady *WaitForPodsReady
	// ExcludeResourcePrefixes drops requests of resources whose names start so.
	ExcludeResourcePrefixes []string
	// Transformations replace requested resources by others before quota is counted.
	Transformations []Transformation
	// ElasticJobs lets a job that asks for it get more pods while it runs: its next workload takes the place of the one before.
	ElasticJobs bool
	// Devices says how devices that pods claim count against quota; nil does not count them.
	Devices *Devices
	// FlushAfter is how long parked workloads stay parked after what lets them be tried again, as Kueue gathers such events; 0 tries them
	// in the next cycle. Meanwhile the workloads that are not parked go first.
	FlushAfter time.Duration
	// IgnoreUndeclared skips requests of resources that a ClusterQueue does not cover,
	// instead of refusing the workload.
	IgnoreUndeclared bool
}

type FairSharing struct {
	// PreemptionStrategies are tried in order; empty means both, the final share first.
	PreemptionStrategies []PreemptionStrategy
}

// PreemptionStrategy compares the shares of a preemptor and of its target.
type PreemptionStrategy string

// The strategies. The first allows a preemption if the preemptor's new share does not exceed the
// target's share after it, the second if it stays below the target's share before it.
const (
	LessThanOrEqualToFinalShare PreemptionStrategy = "LessThanOrEqualToFinalShare"
	LessThanInitialShare        PreemptionStrategy = "LessThanInitialShare"
)

// AdmissionFairSharing says how the usage of LocalQueues counts. It matters where a ClusterQueue's spec.admissionScope has the
// mode UsageBasedAdmissionFairSharing.
type AdmissionFairSharing struct {
	// HalfLife is how long it takes until half of what was used is forgotten; 0 forgets it at each sample.
	HalfLife time.Duration
	// SamplingInterval is how often the usage is sampled; 0 means 5 minutes.
	SamplingInterval time.Duration
	// ResourceWeights multiply what is used of a resource, in its unit: cores, bytes or pieces. A missing one is 1.
	ResourceWeights map[v1.ResourceName]float64
}

const defaultSamplingInterval = 5 * time.Minute

// WaitForPodsReady says how long pods may take to become ready, and what follows.
type WaitForPodsReady struct {
	// Timeout counts from admission; 0 means 30 minutes.
	Timeout time.Duration
	// RecoveryTimeout counts from when pods stopped being ready; 0 means Timeout.
	RecoveryTimeout time.Duration
	// BlockAdmission admits nothing until every admitted workload is ready.
	BlockAdmission bool
	// RequeueByCreation queues an evicted workload by its creation again, rather than by its
	// eviction.
	RequeueByCreation bool
	// BackoffBase doubles with each eviction up to BackoffMax; 0 means 60 s and 3600 s.
	BackoffBase, BackoffMax time.Duration
	// BackoffLimit is the number of evictions after which a workload is deactivated; nil for
	// never.
	BackoffLimit *int32
	// Jitter returns what to add to a backoff; nil adds nothing. Kueue adds up to 0.01%.
	Jitter func(backoff time.Duration) time.Duration
}

// Transformation replaces one requested resource by others.
type Transformation struct {
	Input v1.ResourceName
	// Replace drops the input; otherwise it is kept beside the outputs.
	Replace bool
	// MultiplyBy is a resource whose requested amount multiplies the outputs; "" is none.
	MultiplyBy v1.ResourceName
	// Outputs are given for each unit of the input.
	Outputs map[v1.ResourceName]resource.Quantity
}

// Devices says which resource of a quota stands for the devices of a class.
type Devices struct {
	// Classes are the resources by the names of DeviceClasses. A claim for devices of any other class cannot be counted.
	Classes map[string]v1.ResourceName
	// Extended counts requests of an extended resource that a DeviceClass stands behind as requests of its devices.
	Extended bool
}
