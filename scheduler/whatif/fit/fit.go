// Package fit answers "what is the least that must change for this pod to fit?". It looks
// at what each plugin compared when it rejected a node, derives changes from that, and
// offers those that the what-if engine has confirmed, the least disturbing first:
//
//   - changes of the pod: its requests, tolerations, node selector and affinity, spread
//     constraints, host ports and scheduling gates;
//   - changes of a node: its cordon, taints and labels;
//   - one more node like an existing one;
//   - evictions, only when no change of the pod or of a node helps: the fewest pods, of the
//     lowest priorities, none of a higher priority than the pod's, and within all
//     PodDisruptionBudgets;
//   - requests lowered by more than half, only when nothing gentler helps.
//
// Combinations are for pods that no single change helps.
//
// A suggestion's changes can be made for real. The API server lets an existing pod gain
// tolerations and lose scheduling gates, and nothing else of what matters here. So for other
// changes the pod's workload changes, or the pod is deleted and created again if it has
// none; see Suggestion.
//
// It may import scheduler/whatif, scheduler/result, scheduler/explain, scheduler/podrequest,
// scheduler/annotation and Kubernetes' scheduling framework.
package fit

import (
	"context"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Question asks what makes a pod fit. Exactly one of Pod and PodRef is set.
type Question struct {
	// Pod need not exist. The package does not change it.
	Pod *v1.Pod
	// PodRef names a pod of the state. One that is bound is asked about as if it were not
	// placed yet.
	PodRef *types.NamespacedName
	// Node is the name of the node on which the pod is to fit; empty means any.
	Node string
	// Changes, Configuration and Profile are as in whatif.Question. Suggestions come on top
	// of the changes.
	Changes       []whatif.Change
	Configuration *config.KubeSchedulerConfiguration
	Profile       string
	// Limit is how many suggestions are wanted: DefaultLimit for 0, and at most MaxLimit.
	Limit int
	// Workloads reads the owners of the pod that the state does not hold. If one of them is
	// not to be had, suggestions create the pod again. It may be nil.
	Workloads Workloads
	// Waiting says where an existing pod waits for its next attempt; nil if it does not wait. It may be nil.
	Waiting func(result.Pod) *result.QueueWait
}

// Bounds of Question.Limit.
const (
	DefaultLimit = 10
	MaxLimit     = 50
)

// Answer is the answer to a Question.
type Answer struct {
	// State is the one before all changes.
	State whatif.State `json:"state"`
	// Fits: the pod fits as it is. The only suggestion is then to wait, if the scheduler has yet to try the pod again.
	Fits bool `json:"fits"`
	// Suggestions are sorted by how much they disturb, the gentlest first.
	Suggestions []Suggestion `json:"suggestions"`
	// Incurable are the rejections that no change of the pod, of the node, and no eviction that may be made
	// takes out of the way, those of the most nodes first.
	Incurable []Incurable `json:"incurable"`
	// Complete is false when the question was too large to look at everything. LeftOut then
	// says what was not looked at, with the kinds that explain.Omissions lists.
	Complete bool                `json:"complete"`
	LeftOut  []explain.Statement `json:"leftOut,omitempty"`
	// NotAsked may still keep the pod away.
	whatif.NotAsked
}

// Kind is what a suggestion changes: of several things, the one that disturbs the most.
type Kind string

const (
	// KindWait: nothing changes.
	KindWait    Kind = "wait"
	KindPod     Kind = "pod"
	KindNode    Kind = "node"
	KindAddNode Kind = "addNode"
	KindEvict   Kind = "evict"
)

// Suggestion is a set of changes with which the pod fits.
//
// How the pod gets its part of a change depends on what the API server allows:
//   - Tolerations are added to the existing pod, and gates removed from it, by a patch.
//   - For everything else, the template of the topmost workload changes, by a patch. A
//     Deployment and a DaemonSet then replace the pod themselves. The pod of a StatefulSet,
//     a ReplicaSet, a ReplicationController, or a DaemonSet that updates on delete is deleted
//     too, so that it is made anew. A Job's template is immutable: the Job and the pod are
//     deleted, and the Job is created again.
//   - A pod without a known workload is deleted and created again.
//   - A pod that does not exist is created, if it is to change.
type Suggestion struct {
	Kind Kind `json:"kind"`
	// For are the objects that the pod waits for, and Until is when the wait ends at the latest; nil if nobody can
	// tell. They are set for KindWait only.
	For   []Awaited    `json:"for,omitempty"`
	Until *metav1.Time `json:"until,omitempty"`
	// Text renders Advice in English.
	Text string `json:"text"`
	// Advice is what the suggestion does, as data.
	explain.Advice
	// Changes are to be applied in order, each when the one before it has taken effect: a pod
	// that is deleted must be gone before one of the same name is created. Patches are
	// strategic merge patches.
	Changes []whatif.Change `json:"-"`
	// Hypothesis are changes for a whatif.Question with the same effect. They differ from
	// Changes when a workload changes, because the engine has no controllers.
	Hypothesis []whatif.Change `json:"-"`
	// Nodes are those on which the pod then fits, by name, and SelectedNode the one that the
	// scheduler would choose. There are none if that is up to chance, or the pod goes.
	Nodes        []string `json:"nodes"`
	SelectedNode string   `json:"selectedNode"`
}

// Incurable is a reason for which a plugin rejects nodes, and which no change takes away.
type Incurable struct {
	Plugin string `json:"plugin"`
	Reason string `json:"reason"`
	// Guarded: the plugin would let the pod through without other pods, of which some may not be evicted. They are more important than the
	// pod, of its own workload or of a DaemonSet, protected by a PodDisruptionBudget, or leave already.
	Guarded bool `json:"guarded,omitempty"`
	// Nodes are sorted by name.
	Nodes []string `json:"nodes"`
}

// Ask answers a question. Besides the errors of whatif.Engine.Try, they are those that whatif.Engine.Ask
// has for pods and changes, and a *whatif.NotFoundError for a node that does not exist.
func Ask(ctx context.Context, engine *whatif.Engine, q Question) (*Answer, error) {
	var answer *Answer
	err := engine.Try(ctx, q.Configuration, func(ctx context.Context, t *whatif.Trial) (err error) {
		answer, err = Find(ctx, t, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Find answers a question about the state of a trial, whose configuration decides. It leaves the trial with
// the question's changes.
func Find(ctx context.Context, t *whatif.Trial, q Question) (*Answer, error) {
	answer := &Answer{State: t.State(), Suggestions: []Suggestion{}, Incurable: []Incurable{}}
	if err := t.Apply(q.Changes...); err != nil {
		return nil, err
	}
	s, err := newSearch(ctx, t, q)
	if err != nil {
		return nil, err
	}
	if answer.NotAsked, err = t.NotAsked(s.pod, q.Profile); err != nil {
		return nil, err
	}
	var group *Incurable
	if answer.Fits = s.fits(); answer.Fits && whatif.GroupName(s.pod) != "" {
		if _, group, err = s.withGroup(ctx, s.pod); err != nil {
			return nil, err
		}
		answer.Fits = group == nil
	}
	if answer.Fits {
		waits, err := s.waitForAttempt(ctx, q)
		if err != nil {
			return nil, err
		}
		answer.Suggestions = append(answer.Suggestions, waits...)
	}
	if !answer.Fits {
		if err := s.run(ctx); err != nil {
			return nil, err
		}
		answer.Suggestions = append(answer.Suggestions, s.suggestions()...)
		s.nameControllers(&answer.NotAsked)
		lasting, err := s.incurable(ctx)
		if err != nil {
			return nil, err
		}
		answer.Incurable = append(answer.Incurable, lasting...)
		if group != nil && len(answer.Suggestions) == 0 {
			answer.Incurable = append(answer.Incurable, *group)
		}
		if len(s.nodes) == 0 {
			s.omit(explain.NoNodesToTry{})
		} else if len(answer.Suggestions)+len(answer.Incurable)+len(s.leftOut) == 0 {
			s.omit(explain.CombinationsNotTried{Steps: maxSteps}) // Each obstacle has a cure, and no few of them are enough.
		}
		answer.LeftOut = s.leftOut
	}
	answer.Complete = len(answer.LeftOut) == 0
	return answer, nil
}

func newSearch(ctx context.Context, t *whatif.Trial, q Question) (*search, error) {
	s := &search{trial: t, profile: q.Profile, limit: q.Limit, checks: maxChecks, placements: maxPlacements, pool: newPool(1 + mostOthers)}
	if s.limit <= 0 {
		s.limit = DefaultLimit
	}
	s.limit = min(s.limit, MaxLimit)
	if err := s.findPod(ctx, q); err != nil {
		return nil, err
	}
	s.writer.workload, s.ruled = workloadOf(ctx, s.pod, inTrial{t}, q.Workloads)
	s.siblings = siblingsOf(ctx, s.pod, s.writer.workload, t.Pods(), inTrial{t}, q.Workloads)
	s.writer.siblings = s.siblings
	for _, n := range t.Nodes() {
		s.all = append(s.all, n.Snapshot())
	}
	s.nodes = s.all
	if q.Node != "" {
		if err := s.only(q.Node); err != nil {
			return nil, err
		}
	}
	budgets, err := t.List(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"))
	if err != nil {
		return nil, err
	}
	for _, b := range budgets {
		s.budgets = append(s.budgets, b.(*policyv1.PodDisruptionBudget))
	}
	names := make([]string, len(s.nodes))
	for i, n := range s.nodes {
		names[i] = n.Node().Name
	}
	s.obstacles, err = s.obstaclesOf(ctx, s.pod, names...)
	return s, err
}

// findPod sets the pod as Decide expects it, and as the API server has it.
func (s *search) findPod(ctx context.Context, q Question) (err error) {
	if (q.Pod == nil) == (q.PodRef == nil) {
		return &whatif.InvalidError{Message: "want exactly one of pod and podRef"}
	}
	if q.PodRef == nil {
		s.pod, err = s.trial.New(q.Pod)
		s.writer.pod = s.pod
		return err
	}
	object, err := s.trial.Get(podKind, q.PodRef.Namespace, q.PodRef.Name)
	if err != nil {
		return err
	}
	s.writer.pod, s.writer.exists = object.(*v1.Pod), true
	s.pod, err = s.trial.Pod(q.PodRef.Namespace, q.PodRef.Name)
	return err
}

// only limits the search to one node.
func (s *search) only(name string) error {
	for _, n := range s.nodes {
		if n.Node().Name == name {
			s.target, s.nodes = name, []fwk.NodeInfo{n}
			return nil
		}
	}
	return &whatif.NotFoundError{ObjectRef: whatif.ObjectRef{GVK: nodeKind, Name: name}}
}

func byName(a, b Incurable) int {
	return strings.Compare(a.Plugin+"\x00"+a.Reason, b.Plugin+"\x00"+b.Reason)
}

// nameControllers names those that may do something else with the pods that suggestions change or
// delete, and those that a wait relies on.
func (s *search) nameControllers(n *whatif.NotAsked) {
	for _, o := range s.found {
		for _, r := range o.remedies {
			if r.pod != nil && s.ruled != nil {
				n.AddOwner(s.ruled)
			}
			if _, scales := r.says.(explain.ScaleDown); scales && scaled(s.writer.workload.object) {
				n.AddController("HorizontalPodAutoscaler.autoscaling")
			}
			switch says := r.says.(type) {
			case explain.Evict:
				s.nameOwners(n, says.Pods)
			case explain.RaisePriority:
				s.nameOwners(n, says.Pods)
			}
		}
	}
	if s.waits != nil && len(s.waits.Steps[0].Operands.(explain.Wait).Detaching) > 0 {
		n.AddController("persistentvolume-attach-detach-controller")
	}
}

// nameOwners names the owners of evicted pods for which no replacement was tried.
func (s *search) nameOwners(n *whatif.NotAsked, pods []explain.EvictedPod) {
	for _, p := range pods {
		if o, err := s.trial.Get(podKind, p.Namespace, p.Name); err == nil && p.Replacement == nil {
			n.AddOwner(o.(*v1.Pod))
		}
	}
}

// scaled reports whether an autoscaler has set the replicas of a workload. It does so as
// kube-controller-manager, through the workload's scale.
func scaled(workload runtime.Object) bool {
	accessor, err := meta.Accessor(workload)
	return err == nil && slices.ContainsFunc(accessor.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == "kube-controller-manager" && m.Subresource == "scale"
	})
}
