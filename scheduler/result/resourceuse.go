package result

import "time"

// MaxHolders bounds the pods that a ResourceUse names.
const MaxHolders = 6

// MaxUses bounds the rejected nodes of a cycle that keep their ResourceUse: those nearest to
// fitting. A hypothetical cycle keeps it for every node with a comparison.
const MaxUses = 4

// ResourceUse breaks down the amount in use on a node as the plugin counted it. The amounts of Pods
// and OthersAmount add up to the comparison's InUse.
type ResourceUse struct {
	// Pods are at most MaxHolders: first those that do not simply hold what they request (see
	// ResourceHolder), then the largest amounts.
	Pods []ResourceHolder `json:"pods"`
	// Others counts the further pods, and OthersAmount is what they hold.
	Others       int   `json:"others,omitempty"`
	OthersAmount int64 `json:"othersAmount,omitempty"`
	// Terminating is what terminating pods hold of InUse, and TerminatingPods counts them.
	Terminating     int64 `json:"terminating,omitempty"`
	TerminatingPods int   `json:"terminatingPods,omitempty"`
	// Nominated is what pods hold that are only nominated to the node.
	Nominated     int64 `json:"nominated,omitempty"`
	NominatedPods int   `json:"nominatedPods,omitempty"`
	// Permit is what pods hold that wait for a permit. Records of earlier versions have none.
	Permit     int64 `json:"permit,omitempty"`
	PermitPods int   `json:"permitPods,omitempty"`
	// Described is what kubectl describe node shows as requested: the sum over the specs of the
	// node's pods. It can differ from InUse because of resizes, and because it leaves out pods that
	// are nominated or wait for a permit.
	Described int64 `json:"described"`
}

// ResourceHolder is a pod that holds an amount of a resource of a node. Unless another field is
// set, that is the sum of its containers' requests.
type ResourceHolder struct {
	Pod    Pod   `json:"pod"`
	Amount int64 `json:"amount"`
	// Terminating: the pod is being deleted. Until is then the end of its grace period.
	Terminating bool       `json:"terminating,omitempty"`
	Until       *time.Time `json:"until,omitempty"`
	// Nominated: the pod is only nominated to the node.
	Nominated bool `json:"nominated,omitempty"`
	// Permit: the pod has the node and waits for a permit.
	Permit bool `json:"permit,omitempty"`
	// Resize is set if the pod requests another amount than the kubelet granted.
	Resize *Resize `json:"resize,omitempty"`
	// Request derives Amount from the pod's spec; nil if Amount is the request of the only
	// container, or follows from Resize.
	Request *PodRequest `json:"request,omitempty"`
}

// States of a Resize.
const (
	// ResizeDeferred: the kubelet cannot grant it yet.
	ResizeDeferred = "deferred"
	// ResizeInfeasible: the kubelet can never grant it. The scheduler then counts Granted.
	ResizeInfeasible = "infeasible"
	// ResizeInProgress: the kubelet is carrying it out, or has not answered yet.
	ResizeInProgress = "inProgress"
)

// Resize is an in-place resize that is not complete. The scheduler counts the larger of Asked
// and Granted, unless the resize is infeasible.
type Resize struct {
	Asked   int64  `json:"asked"`
	Granted int64  `json:"granted"`
	State   string `json:"state"`
}

// Roles of a RequestPart.
const (
	RoleContainer = "container"
	RoleInit      = "initContainer"
	RoleSidecar   = "sidecar"
)

// PodRequest derives the amount that a pod requests of a resource from its spec. CPU is in
// thousandths of a core, other resources in their own unit.
type PodRequest struct {
	Resource string `json:"resource"`
	// Amount is PodLevel or the sum of Parts, plus Overhead.
	Amount int64 `json:"amount"`
	// PodLevel is the pod's own request, which replaces those of its containers; nil if it has
	// none.
	PodLevel *int64 `json:"podLevel,omitempty"`
	// Init is the init container at whose start the pod needs the most; empty if that is when
	// all containers run. Parts are then that container and the sidecars that started before it.
	Init string `json:"init,omitempty"`
	// Parts are the containers that request something and run at the same time; empty with
	// PodLevel.
	Parts []RequestPart `json:"parts,omitempty"`
	// Overhead is that of the pod's RuntimeClass.
	Overhead int64 `json:"overhead,omitempty"`
}

// RequestPart is what a container adds to a PodRequest.
type RequestPart struct {
	Container string `json:"container"`
	// Role is container, initContainer or sidecar.
	Role   string `json:"role"`
	Amount int64  `json:"amount"`
	// Default: the container requests none of the resource, and a score counts a small amount.
	Default bool `json:"default,omitempty"`
}

// ScoreDefaults is the part of an amount in use on a node that no pod requests: NodeResourcesFit
// scores containers that request no CPU or no memory as if each requested a small amount.
type ScoreDefaults struct {
	// Amount is less than what Containers count where a pod's init containers need more.
	Amount int64 `json:"amount"`
	// Containers counts those containers, and Pods names at most MaxHolders of their pods, those
	// with the most such containers first. PodsDropped counts the others.
	Containers  int   `json:"containers"`
	Pods        []Pod `json:"pods"`
	PodsDropped int   `json:"podsDropped,omitempty"`
	// Described is as in ResourceUse.
	Described int64 `json:"described"`
}

func (u *ResourceUse) size() int {
	if u == nil {
		return 0
	}
	size := sizeOf(*u) + sizeOfList(u.Pods)
	for i := range u.Pods {
		p := &u.Pods[i]
		size += p.Pod.size() + sizeOfPointer(p.Until) + sizeOfPointer(p.Resize) + sizeOfPointer(p.Request)
		if p.Resize != nil {
			size += len(p.Resize.State)
		}
		if p.Request != nil {
			size += p.Request.size()
		}
	}
	return size
}

func (r *PodRequest) size() int {
	size := len(r.Resource) + sizeOfPointer(r.PodLevel) + len(r.Init) + sizeOfList(r.Parts)
	for _, p := range r.Parts {
		size += len(p.Container) + len(p.Role)
	}
	return size
}

func (d *ScoreDefaults) size() int {
	if d == nil {
		return 0
	}
	return sizeOf(*d) + sizeOfPods(d.Pods)
}
