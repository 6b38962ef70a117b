package result

// Coscheduling is the plugin whose facts have the following keys. Every number is decimal, every
// time RFC 3339, and every pod namespace/name. A fact is absent when it does not apply.
const (
	Coscheduling = "Coscheduling"

	// GroupKey is the group, as namespace/name.
	GroupKey = "group"
	// GroupMinMember is how many members must have a place before any is bound.
	GroupMinMember = "minMember"
	// GroupMembers counts the pods with the group's label, this one included, and GroupGated
	// those of them that have scheduling gates.
	GroupMembers = "members"
	GroupGated   = "gated"
	// GroupAssigned counts the members that the plugin considers placed, GroupBound those that are
	// on a node for good, and GroupWaiting those that wait at Permit.
	GroupAssigned = "assigned"
	GroupBound    = "bound"
	GroupWaiting  = "waiting"
	// GroupPlaced counts them again at the moment when there were enough of them.
	GroupPlaced = "placed"
	// GroupRefusal says why the plugin refused the pod: one of the Refused constants.
	GroupRefusal = "refusal"
	// GroupLacking is what the nodes lack of the group's minResources, as "cpu 2, memory 1Gi".
	GroupLacking = "lacking"
	// GroupBackoffUntil is when the group's backoff ends, and GroupWaitUntil when the pod's wait
	// at Permit ends at the latest.
	GroupBackoffUntil = "backoffUntil"
	GroupWaitUntil    = "waitUntil"
	// GroupSince is the time that orders the group in the queue. GroupSinceFailure is true when
	// that is its last failure, not its creation.
	GroupSince        = "queuedSince"
	GroupSinceFailure = "queuedSinceFailure"
	// GroupSentBackCount counts the waiting members that the plugin rejected because of this
	// pod, and GroupSentBack names the first of them.
	GroupSentBackCount = "sentBackCount"
	GroupSentBack      = "sentBack"
	// GroupTolerated is true when the plugin lets the others wait although this pod has no place.
	GroupTolerated = "tolerated"
	// GroupCause names the member that made the plugin end this pod's wait. GroupCauseStage is what
	// happened to that member: one of the Cause constants.
	GroupCause      = "causedBy"
	GroupCauseStage = "cause"
)

// Why Coscheduling refuses a pod.
const (
	RefusedMembers   = "members"   // too few pods
	RefusedGates     = "gates"     // too many of them have scheduling gates
	RefusedResources = "resources" // minResources are not free
	RefusedBackoff   = "backoff"   // the group failed recently
	RefusedNoGroup   = "noGroup"   // there is no such group
)

// What ended the other members' wait.
const (
	CauseUnschedulable = "unschedulable" // a member fits no node
	CauseReleased      = "released"      // a member lost its place: timeout, deletion or a later failure
)
