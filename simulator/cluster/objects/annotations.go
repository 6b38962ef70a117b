package objects

import (
	"math"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/standin"
)

// Prefix begins the name of every annotation of the simulator. The scheduler writes its results
// under the same prefix, so its package owns the text.
const Prefix = annotation.Prefix

// LabelPrice says what a node costs in US dollars per hour. It is the label of eks-node-viewer, which Karpenter's KWOK provider sets, too.
const LabelPrice = "eks-node-viewer/instance-price"

// Price returns the price of a node with these labels. It is not known without LabelPrice, or if that is no amount above 0.
func Price(labels map[string]string) (dollarsPerHour float64, known bool) {
	price, err := strconv.ParseFloat(labels[LabelPrice], 64)
	if err != nil || !(price > 0) || math.IsInf(price, 1) {
		return 0, false
	}
	return price, true
}

// Annotations that people set, and the web application sets for them. Package standin says what
// they mean.
const (
	AnnotationFailure          = standin.AnnotationFailure
	AnnotationDevices          = standin.AnnotationDevices
	AnnotationRunDuration      = standin.AnnotationRunDuration
	AnnotationExitCode         = standin.AnnotationExitCode
	AnnotationStartupDuration  = standin.AnnotationStartupDuration
	AnnotationShutdownDuration = standin.AnnotationShutdownDuration

	// AnnotationNUMA splits a virtual node into NUMA nodes, in YAML or JSON; see virtualnode.Cut.
	// The virtual node publishes a NodeResourceTopology.
	AnnotationNUMA = Prefix + "numa"

	FailureNotReady    = standin.FailureNotReady
	FailureUnreachable = standin.FailureUnreachable
)

// Annotations, labels and gates that the simulator sets.
const (
	// AnnotationOwner is on exported objects that had a controller: the controller's apiVersion,
	// kind and name as JSON. kubectl cannot apply an ownerReference, because it holds a UID. An
	// import turns the annotation back into a reference, or leaves the object for its controller to
	// adopt.
	AnnotationOwner = Prefix + "owner"
	// AnnotationSource is on objects from a cluster that the simulator follows: the object's UID in
	// that cluster. The mirror deletes only objects that have it.
	AnnotationSource = Prefix + "source-uid"
	// AnnotationImportedNode is on pods that an import left to the scheduler: the node that they had
	// where they come from.
	AnnotationImportedNode = Prefix + "imported-node"
	// AnnotationInactive holds the fields by which an imported object would call other programs;
	// see Deactivate. LabelInactive selects the objects that have it.
	AnnotationInactive = Prefix + "inactive"
	LabelInactive      = Prefix + "inactive"
	// AnnotationSelectedNode is the one annotation of a scheduling result whose name does not
	// contain the word "result".
	AnnotationSelectedNode = Prefix + "selected-node"
	// AnnotationForPlugin marks the CustomResourceDefinitions that came with a scheduler
	// configuration and leave with it. Its value is the plugin that reads the objects.
	AnnotationForPlugin = Prefix + "for-plugin"
	// AnnotationZonePlacement is on the NodeResourceTopologies of virtual nodes: a list of
	// virtualnode.Holding as JSON, which says what containers hold of which zone.
	AnnotationZonePlacement = Prefix + "zone-placement"
	LabelVirtualDriver      = standin.LabelVirtualDriver
	// GateImport is the scheduling gate that holds back imported pods until the rest of the import
	// is in the cluster.
	GateImport = Prefix + "import"
)

// IsOurs reports whether an annotation is one of the simulator's.
func IsOurs(name string) bool { return strings.HasPrefix(name, Prefix) }

// DropResults removes the annotations that IsResult names from a pod.
func DropResults(pod metav1.Object) { annotation.Drop(pod, IsResult) }

// IsResult reports whether an annotation holds a scheduling result. Each can be large, and the
// result store has a copy.
func IsResult(name string) bool {
	own, isOurs := strings.CutPrefix(name, Prefix)
	return isOurs && (name == AnnotationSelectedNode || strings.Contains(own, "result"))
}
