// Package mirror copies another cluster into the simulated one: once, or continuously and one way.
//
// It only reads from the source, by construction: every request passes through one place (see
// readOnly), which lets through nothing but get, list and watch, and no secrets. It reads in pages
// at a limited rate, and watches instead of listing again.
//
// It copies the objects that scheduling depends on: nodes, pods, volumes, claims, classes, budgets,
// devices; see simulator/cluster/objects. Of custom resources it copies only those that the
// simulator's own plugins read, and it does not copy service accounts. A continuous mirror does not
// copy the owners of pods either: the source's controllers have already made the pods, and ours
// would make more. Pods therefore come without owners, and a budget in percent comes with the
// number of pods that it amounts to in the source.
//
// Objects that users create here stay, even if the source has objects of the same names. The mirror
// does not undo changes that the simulated cluster makes: it carries over only changes in the
// source, and of those only the fields that differ.
//
// The package may import Kubernetes, simulator/cluster/objects, simulator/elsewhere/redact and
// simulator/host/kubeconfig.
package mirror
