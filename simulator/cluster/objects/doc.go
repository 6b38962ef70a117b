// Package objects says what a Kubernetes object is to the simulator. It owns the table of kinds
// (their order of creation, and which of them the simulator exports, refuses, copies from another
// cluster and records), the names of the simulator's annotations, the annotations that mean
// something in one cluster only, the objects that every cluster has, and merge patches.
//
// To let imports know a new kind, add one line to the table in kinds.go.
//
// It does no I/O and knows no fields of particular kinds: transfer, mirror, replay and redact each
// know the fields that they look at. The package may import scheduler/annotation, which owns the
// annotations' prefix, and Kubernetes' API types and machinery.
package objects
