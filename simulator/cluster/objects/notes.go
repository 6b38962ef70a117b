package objects

// kubectl apply keeps in LastApplied the whole object as it last applied it. It can be as large as
// the rest of the object.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Annotations on volumes and claims that say how they were bound.
const (
	BindCompleted           = "pv.kubernetes.io/bind-completed"
	BoundByController       = "pv.kubernetes.io/bound-by-controller"
	VolumeSelectedNode      = "volume.kubernetes.io/selected-node"
	VolumeProvisionedBy     = "pv.kubernetes.io/provisioned-by"
	StorageProvisioner      = "volume.kubernetes.io/storage-provisioner"
	StorageProvisionerOlder = "volume.beta.kubernetes.io/storage-provisioner"
)

// ClusterMetadata lists the fields of metadata that mean something in one cluster only.
func ClusterMetadata() []string {
	return []string{
		"uid", "resourceVersion", "generation", "selfLink", "managedFields", "ownerReferences",
		"deletionTimestamp", "deletionGracePeriodSeconds", "finalizers",
	}
}

// note is an annotation in which a program notes what it has done in one cluster. A copy of the
// object does not get it.
type note struct {
	name string
	// by are the uses that strip it: Exported by exports and imports, Followed by a mirror,
	// Recorded by recordings.
	by Use
}

var notes = []note{
	{LastApplied, Exported | Followed | Recorded},

	{AnnotationOwner, Exported},
	{AnnotationSource, Exported},
	{AnnotationForPlugin, Exported},

	// The volume controllers of the copy bind volumes and claims again.
	{BindCompleted, Exported | Followed},
	{BoundByController, Exported | Followed},
	{VolumeSelectedNode, Exported},

	// Kubelets and node controllers write these for a machine that the copy lacks.
	{"node.alpha.kubernetes.io/ttl", Followed | Recorded},
	{"volumes.kubernetes.io/controller-managed-attach-detach", Followed | Recorded},
	{"csi.volume.kubernetes.io/nodeid", Followed},
	{"kubernetes.io/config.mirror", Followed},
	{"kubernetes.io/config.source", Followed},
	{"kubernetes.io/config.hash", Followed},
	{"kubernetes.io/config.seen", Followed},

	// Other controllers.
	{"control-plane.alpha.kubernetes.io/leader", Followed | Recorded},
	{"deployment.kubernetes.io/revision", Recorded},
	{"deprecated.daemonset.template.generation", Exported},
}

// Strips reports whether a use leaves an annotation out because it means something only in the
// cluster where it was written. It does not cover scheduling results: see IsResult.
func Strips(use Use, annotation string) bool {
	for _, n := range notes {
		if n.name == annotation {
			return n.by&use != 0
		}
	}
	return false
}
