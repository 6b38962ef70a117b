// Package manifest reads Kubernetes objects and scheduler configurations out of what people have:
// manifests in YAML or JSON, what kubectl get prints, exports of this simulator and of the earlier
// kube-scheduler-simulator, directories, and archives of all of these.
//
// It reads streams: a list of any length item by item. It reports the place of what it cannot read,
// and goes on. It bounds everything: sizes, nesting, the number of files, and what aliases grow to.
//
// The package does not know what becomes of the objects. It may import simulator/cluster/objects,
// scheduler/yamlsource and Kubernetes' API machinery.
package manifest

// Formats names for users what the package reads.
const Formats = "An import reads manifests in YAML or JSON, what kubectl get -o yaml or -o json prints, exports of this simulator and of the earlier kube-scheduler-simulator, and zip, tar and gzip files of them."
