package whatif

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
)

// Question asks where a pod would go. Exactly one of Pod and PodRef is set.
type Question struct {
	// Pod need not exist. A namespace and a name are made up where it has none. The
	// engine does not change it.
	Pod *v1.Pod
	// PodRef names a pod of the state, or one that Changes apply. A pod that has a node
	// is asked about as if it were not placed yet: it does not count on its node.
	PodRef *types.NamespacedName
	// Copies is how many pods like this one are decided about, one after the other, each on the
	// state that the ones before it left; 0 means 1. A copy that finds no node stays pending.
	Copies int
	// Changes are applied in order before the decision, to a copy of the state.
	Changes []Change
	// Configuration is defaulted and validated, as package config returns it; nil means the one
	// of Options. The engine does not change it.
	Configuration *config.KubeSchedulerConfiguration
	// Profile is the scheduler name of the profile that decides; empty means the pod's
	// own.
	Profile string
	// AskExtenders: extenders are asked, over HTTP, which is the only way in which a
	// question leaves the process. Otherwise the decision is made without them.
	AskExtenders bool
}

// Change is one hypothetical change. Exactly one of Apply, Patch and Delete is set.
type Change struct {
	// Apply creates the object, or replaces the one of its kind, namespace and name. The engine does
	// not change it.
	Apply runtime.Object
	// Count, of Apply, is how many copies of a node or a pod are created, from 1 to MaxCount; 0 means the object
	// itself. Copies get names that do not exist yet, NAME-1, NAME-2 and so on. Copies of a node that exists
	// are new nodes like it, which package newnode makes; those of another one differ in their names and in their
	// label kubernetes.io/hostname.
	Count int
	Patch *Patch
	// Delete removes an object of the state. Pods stay on a node that is removed, as in the
	// scheduler's cache.
	Delete *ObjectRef
}

// ObjectRef names an object. Namespace is empty for kinds without namespaces; for the others an empty
// one means "default".
type ObjectRef struct {
	GVK             schema.GroupVersionKind
	Namespace, Name string
}

// Patch is a patch in JSON: a strategic merge patch for the kinds of Kubernetes, and a JSON
// merge patch for other kinds.
type Patch struct {
	ObjectRef
	Patch []byte
	// Subresource is the one through which an API server takes the patch, "resize" for the resources of a pod that runs;
	// empty for the object itself. The engine does not tell them apart.
	Subresource string
}

type Answer struct {
	State State
	// Decisions has one cycle per copy, hypothetical, in order.
	Decisions []*result.Cycle
	NotAsked
	// NotCounted says what the nodes that the question adds may bring beside what was counted, as far as it may be why a pod
	// finds no node. Each is of a kind that explain.Unknowns lists.
	NotCounted []explain.Statement
}

// NotAsked names whom the scheduler asks about a pod and the question did not.
type NotAsked struct {
	// PermitNotAsked names the Permit plugins of the pod's profile. A question does not ask them, because their answer depends on what they
	// remember of other pods: the pod may still have to wait for them, or be rejected.
	PermitNotAsked []string `json:"permitNotAsked,omitempty"`
	// ExtendersNotAsked are the URL prefixes of the extenders that are interested in the pod. They may reject nodes, and their scores may
	// choose another one. It is empty if the question asks extenders.
	ExtendersNotAsked []string `json:"extendersNotAsked,omitempty"`
	// AutoscalersNotAsked are the autoscalers that manage nodes of the state, as labels, annotations and taints show: they may
	// add nodes, or remove some.
	AutoscalersNotAsked []string `json:"autoscalersNotAsked,omitempty"`
	// ControllersNotAsked are controllers that may create, change or delete pods of the answer, and
	// did not run: the kinds of the owners of pods that are deleted, and of a pod that is to
	// change, and what labels and annotations of the pod show. They are in order.
	ControllersNotAsked []string `json:"controllersNotAsked,omitempty"`
	// GatesNotAsked are the scheduling gates of the pod, which controllers open.
	GatesNotAsked []string `json:"gatesNotAsked,omitempty"`
}

// Unasked are those of one kind that were not asked.
type Unasked struct {
	Of    UnaskedKind
	Names []string
	// Text says in English who they are, and what that does to the answer.
	Text string
}

// UnaskedKind is a kind of what is not asked.
type UnaskedKind string

// The values of UnaskedKind.
const (
	OfPermit      UnaskedKind = "permit"
	OfExtenders   UnaskedKind = "extenders"
	OfAutoscalers UnaskedKind = "autoscalers"
	OfControllers UnaskedKind = "controllers"
	OfGates       UnaskedKind = "gates"
)

// Unasked returns the kinds of which there are any.
func (n NotAsked) Unasked() []Unasked {
	all := []Unasked{
		{OfPermit, n.PermitNotAsked, "Permit plugins were not asked: %s. They may make the pod wait, or reject it."},
		{OfExtenders, n.ExtendersNotAsked, "Extenders were not asked: %s. They may reject nodes, or prefer others."},
		{OfAutoscalers, n.AutoscalersNotAsked, "Autoscalers were not asked: %s. They may add nodes, or remove some."},
		{OfControllers, n.ControllersNotAsked, "Controllers were not asked: %s. They may create, change or delete pods."},
		{OfGates, n.GatesNotAsked, "The controllers that open scheduling gates were not asked: %s. The scheduler does not try the pod before."},
	}
	out := slices.DeleteFunc(all, func(u Unasked) bool { return len(u.Names) == 0 })
	for i := range out {
		out[i].Text = fmt.Sprintf(out[i].Text, strings.Join(out[i].Names, ", "))
	}
	return out
}

// State says on which state an answer rests, before the question's changes, and who decides.
type State struct {
	Nodes int `json:"nodes"`
	// Pods counts the bound and the pending ones.
	Pods int `json:"pods"`
	// ResourceVersion is the latest that the engine has seen, opaque; empty if the state has none.
	ResourceVersion string `json:"resourceVersion"`
	// KubernetesVersion is the version of Kubernetes whose scheduler decides, such as v1.35.4; empty for that of this process.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
}
