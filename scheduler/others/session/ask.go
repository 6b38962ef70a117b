package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Turn says what a scheduler that decides about all of its pods at once did for a question: one turn on a copy of the state.
type Turn struct {
	Scheduler string   `json:"scheduler"`
	Kind      TurnKind `json:"kind"`
	// Actions are those of a session, in order.
	Actions []string `json:"actions,omitempty"`
	Model   string   `json:"model,omitempty"`
	// Job is that of the pod at the end of the session; nil for a round, and for a pod that no session looks at.
	Job *JobRecord `json:"job,omitempty"`
	// Evictions are pods that would have to leave, as NAMESPACE/NAME, for whichever job.
	Evictions []string `json:"evictions,omitempty"`
	// NotJudged is what the answer leaves open.
	NotJudged []NotJudged `json:"notJudged"`
}

// TurnKind is what a scheduler calls its turn.
type TurnKind string

// The kinds of turns.
const (
	SessionTurn TurnKind = "session"
	RoundTurn   TurnKind = "round"
)

// NotJudged is something that a turn on a copy leaves open.
type NotJudged string

const (
	// LaterTurns may decide otherwise: once victims have left, or when other jobs come or end.
	LaterTurns NotJudged = "laterTurns"
	// OtherSchedulers may take the room before the turn comes.
	OtherSchedulers NotJudged = "otherSchedulers"
)

// Open is what every turn on a copy leaves open.
var Open = []NotJudged{LaterTurns, OtherSchedulers}

// Snapshot names the part of a session that leaves out pods whose job it does not find.
const Snapshot = "snapshot"

// Ask runs a session as Run does, and returns what it decides about pods that the trial has as pending pods, one hypothetical record for each.
// Groups that Volcano's controller would make for the pods are there already.
func Ask(ctx context.Context, trial *whatif.Trial, objects Objects, options Options, pods []*v1.Pod) ([]*result.Cycle, *Turn, error) {
	if options.Configuration.Rules == Volcano {
		var err error
		if objects.Groups, err = withOwnGroups(ctx, trial, objects.Groups, options, pods); err != nil {
			return nil, nil, err
		}
	}
	s, err := run(ctx, trial, objects, options)
	if err != nil {
		return nil, nil, err
	}
	turn := &Turn{Scheduler: string(s.rules), Kind: SessionTurn, Actions: s.configuration.Actions, NotJudged: Open}
	for _, e := range s.out.Evictions {
		turn.Evictions = append(turn.Evictions, e.Pod.Namespace+"/"+e.Pod.Name)
	}
	cycles := map[types.UID]*result.Cycle{}
	for _, c := range s.out.Cycles {
		cycles[c.Pod.UID] = c
	}
	var out []*result.Cycle
	for _, p := range pods {
		c := cycles[p.UID]
		if c == nil {
			c = s.leftOut(p)
		}
		c.Hypothetical = true
		out = append(out, c)
	}
	turn.Job = s.jobOf(pods[0])
	return out, turn, nil
}

// jobOf returns the record of a pod's job; nil if it has none.
func (s *session) jobOf(pod *v1.Pod) *JobRecord {
	for _, t := range s.tasks {
		if t.pod.UID != pod.UID || t.job == nil {
			continue
		}
		at := slices.IndexFunc(s.record.Jobs, func(r JobRecord) bool {
			return r.Namespace+"/"+r.Name == t.job.name && r.Shadow == (t.job.group == nil)
		})
		return &s.record.Jobs[at]
	}
	return nil
}

// withOwnGroups does what Volcano's controller does for the pods: it makes groups, and the pods name them.
func withOwnGroups(ctx context.Context, trial *whatif.Trial, groups []*PodGroup, options Options, pods []*v1.Pod) ([]*PodGroup, error) {
	groups = slices.Clone(groups)
	for _, own := range ownGroups(pods, options.Annotations) {
		if !slices.ContainsFunc(groups, func(g *PodGroup) bool { return g.Namespace == own.Group.Namespace && g.Name == own.Group.Name }) {
			own.Group.UID, own.Group.CreationTimestamp = types.UID("hypothetical-"+own.Group.Name), own.Pods[0].CreationTimestamp
			groups = append(groups, own.Group)
		}
		for _, p := range own.Pods {
			named := p.DeepCopy()
			metav1.SetMetaDataAnnotation(&named.ObjectMeta, GroupAnnotation, own.Group.Name)
			if err := trial.Add(ctx, named); err != nil {
				return nil, err
			}
		}
	}
	return groups, nil
}

// leftOut is the record of a pod that the session does not look at.
func (s *session) leftOut(p *v1.Pod) *result.Cycle {
	group, missing := p.Annotations[GroupAnnotation], "queue "+DefaultQueue
	if at := slices.IndexFunc(s.orphans, func(g *PodGroup) bool { return g.Namespace == p.Namespace && g.Name == group }); at >= 0 {
		missing = "queue " + cmp.Or(s.orphans[at].Spec.Queue, DefaultQueue)
	} else if group != "" {
		missing = "PodGroup " + p.Namespace + "/" + group
	}
	reason := fmt.Sprintf("%s finds no %s, so its sessions do not look at the pod", s.rules, missing)
	if p.DeletionTimestamp != nil {
		reason = "the pod is being deleted"
	}
	c := &result.Cycle{Summary: result.Summary{
		Pod: result.Pod{Namespace: p.Namespace, Name: p.Name, UID: p.UID}, Profile: string(s.rules), StartTime: s.record.StartTime,
		Outcome: result.Unschedulable, Message: reason, Nodes: result.NodeCounts{Total: len(s.nodes)},
	}}
	c.PreFilter = []result.PluginResult{{Plugin: Snapshot, Status: "Unschedulable", Reasons: []string{reason}}}
	c.Refusal = result.FindRefusal(c)
	return c
}
