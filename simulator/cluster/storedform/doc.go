// Package storedform turns an object that a person wrote into the object that an API server would
// store, without an API server: it decodes the object strictly, sets the defaults, runs the
// admission plugins that change or refuse what a scheduler reads, and validates the result.
//
// All of that is Kubernetes' own code: the scheme, the admission plugins Priority, RuntimeClass,
// LimitRanger, DefaultTolerationSeconds and DefaultStorageClass, and the strategies by which
// kube-apiserver creates objects. Package definitions has the schemas of custom resources. The
// package leaves out what depends on more than the objects: ResourceQuota, PodSecurity,
// ServiceAccount, namespaces that must exist, admission policies and webhooks.
//
// It may import Kubernetes, simulator/cluster/definitions and simulator/cluster/objects.
package storedform
