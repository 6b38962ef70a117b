package newnode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/scheduler/explain"
)

// State holds the objects of a cluster. Its methods return errors for what it does not have, and for kinds that no plugin reads.
type State interface {
	Get(gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error)
	List(gvk schema.GroupVersionKind) ([]runtime.Object, error)
}

var (
	podKind      = v1.SchemeGroupVersion.WithKind("Pod")
	volumeKind   = v1.SchemeGroupVersion.WithKind("PersistentVolume")
	claimKind    = resourcev1.SchemeGroupVersion.WithKind("ResourceClaim")
	sliceKind    = resourcev1.SchemeGroupVersion.WithKind("ResourceSlice")
	csiNodeKind  = storagev1.SchemeGroupVersion.WithKind("CSINode")
	driverKind   = storagev1.SchemeGroupVersion.WithKind("CSIDriver")
	classKind    = storagev1.SchemeGroupVersion.WithKind("StorageClass")
	capacityKind = storagev1.SchemeGroupVersion.WithKind("CSIStorageCapacity")
	// topologyKind is the kind of the objects in which agents report the zones of their nodes.
	topologyKind = schema.GroupVersionKind{Group: "topology.node.k8s.io", Version: "v1alpha2", Kind: "NodeResourceTopology"}
)

// Survey knows what the nodes of a state bring. It reads each kind of objects once, when it is needed, and is good until the state
// changes. Its methods must be called from one goroutine.
type Survey struct {
	state State
	// pools are the pools of devices of each node, by the node's name.
	pools func() map[string][]*pool
	// capacities are the CSIStorageCapacities whose topology names a value, by the value.
	capacities func() map[string][]*storagev1.CSIStorageCapacity
}

func NewSurvey(state State) *Survey {
	s := &Survey{state: state}
	s.pools = sync.OnceValue(s.findPools)
	s.capacities = sync.OnceValue(s.findCapacities)
	return s
}

// list returns the objects of a kind; none if no plugin reads them.
func list[T runtime.Object](s *Survey, gvk schema.GroupVersionKind) []T {
	objects, err := s.state.List(gvk)
	if err != nil {
		return nil
	}
	out := make([]T, 0, len(objects))
	for _, o := range objects {
		if typed, ok := o.(T); ok {
			out = append(out, typed)
		}
	}
	return out
}

func get[T runtime.Object](s *Survey, gvk schema.GroupVersionKind, namespace, name string) (T, bool) {
	object, err := s.state.Get(gvk, namespace, name)
	typed, ok := object.(T)
	return typed, err == nil && ok
}

// Sample is a node of the state after which new ones are made. It shares memory with the state.
type Sample struct {
	survey *Survey
	like   *v1.Node
}

// Of returns the sample for new nodes like this one. What the node brings is what the state has for a node of its name.
func (s *Survey) Of(like *v1.Node) *Sample { return &Sample{s, like} }

func (s *Sample) Like() string { return s.like.Name }

// New returns a new node with that name. It shares no memory with the state, nor with other new nodes.
func (s *Sample) New(name string) *Node {
	out := &Node{Node: Like(s.like, name), Reported: s.slices(name), CSINode: s.csiNode(name)}
	for _, c := range s.storage(out.Node) {
		out.Reported = append(out.Reported, c)
	}
	if topology := s.topology(name); topology != nil {
		out.Reported = append(out.Reported, topology)
	}
	out.Daemons = s.daemons(name)
	return out
}

// Leftover reports whether the state has devices or a CSINode of a node of that name, as it may after the node has gone. A new node of the
// name would come with them too.
func (s *Survey) Leftover(name string) bool {
	_, known := get[*storagev1.CSINode](s, csiNodeKind, "", name)
	return known || len(s.pools()[name]) > 0
}

// probe names a node that is made to be looked at.
const probe = "new"

// Kind is equal for nodes of which new ones bring the same devices, attach limits and classes of storage.
func (s *Survey) Kind(node *v1.Node) string {
	sample := s.Of(node)
	objects := sample.slices(probe)
	if csiNode := sample.csiNode(probe); csiNode != nil {
		objects = append(objects, csiNode)
	}
	kind, err := json.Marshal(objects)
	if err != nil {
		return node.Name // a kind of its own
	}
	var classes []string
	for _, c := range sample.storage(Like(node, probe)) {
		classes = append(classes, c.StorageClassName)
	}
	slices.Sort(classes)
	return string(kind) + strings.Join(classes, " ")
}

// Unknown is something that new nodes may bring and the state does not tell.
type Unknown struct {
	// Plugin rejects pods on a new node that lacks it; empty for what a new node may lack too much of, so that a pod fits
	// only in the answer.
	Plugin string
	Says   explain.Operands
}

// rename returns the name of something that belongs to a new node, if the one that belongs to the node like it has this name.
func rename(own, like, name string) string {
	rest, prefixed := strings.CutPrefix(own, like)
	if prefixed && (rest == "" || rest[0] == '-') {
		return name + rest
	}
	return fmt.Sprintf("%s-%s", name, own)
}

// Unknown returns what new nodes may bring and the state does not tell, as far as it may matter to the pod.
func (s *Sample) Unknown(pod *v1.Pod) []Unknown {
	out := append(s.unknownDevices(), s.unknownStorage()...)
	claims := func(v v1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }
	attaches := len(list[*storagev1.CSINode](s.survey, csiNodeKind))+len(list[*storagev1.CSIDriver](s.survey, driverKind)) > 0
	if s.csiNode(probe) == nil && attaches && slices.ContainsFunc(pod.Spec.Volumes, claims) {
		out = append(out, Unknown{Says: explain.AttachLimits{Like: s.like.Name}})
	}
	return out
}

// Said returns those unknowns that matter where these plugins reject the pod on new nodes.
func Said(unknown []Unknown, rejects func(plugin string) bool) []explain.Statement {
	var out []explain.Statement
	for _, u := range unknown {
		if u.Plugin == "" || rejects(u.Plugin) {
			out = append(out, explain.Statement{Operands: u.Says})
		}
	}
	return out
}
