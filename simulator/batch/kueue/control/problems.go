package control

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// trouble is what one of the controllers has with one key of its own.
type trouble struct {
	by controller
	types.NamespacedName
}

// controller is one of the parts that write. Those that write the statuses of queues and others are named for the kind.
type controller string

const (
	jobController        controller = "jobs"
	jobSetController     controller = "jobsets"
	appWrapperController controller = "appwrappers"
	leaderSetController  controller = "leaderworkersets"
	podController        controller = "pods"
	workloadController   controller = "workloads"
	decisionWriter       controller = "decisions"
	// provisioningController asks an autoscaler.
	provisioningController controller = "provisioning"
)

// controllerError is the reason of the events about problems.
const controllerError = "ControllerError"

// tell says that a controller cannot go on with an object: in an event about it, whose count grows with each attempt,
// and once for each cause in the ledger and the log. A race is no problem.
func (e *engaged) tell(ctx context.Context, t trouble, err error) {
	if isRace(err) || ctx.Err() != nil {
		return
	}
	kind, o, workload := e.subject(t)
	now := e.clock.Now()
	e.problemsMu.Lock()
	p := e.problems[t]
	first := p == nil || p.Message != err.Error()
	if first {
		p = &admission.Problem{Kind: kind, Namespace: t.Namespace, Name: t.Name, Workload: workload, Message: err.Error(), Since: now}
		if o != nil {
			p.Name = o.GetName()
		}
		e.problems[t] = p
	}
	p.Count++
	told := *p
	e.problemsMu.Unlock()
	if o != nil {
		e.recorder.Event(o, corev1.EventTypeWarning, controllerError, "Kueue's controllers cannot go on, and try again: "+told.Message)
	}
	if !first {
		return
	}
	e.opts.Logger.Error(err, "Kueue's controllers cannot go on, and try again", "kind", kind, "object", t.NamespacedName)
	e.append(&admission.Record{Time: now, Heads: []admission.Head{}, Problem: &told})
	e.changed()
}

// untell ends what tell said, if it said anything.
func (e *engaged) untell(t trouble) {
	e.problemsMu.Lock()
	p := e.problems[t]
	delete(e.problems, t)
	e.problemsMu.Unlock()
	if p == nil {
		return
	}
	p.Over = true
	e.append(&admission.Record{Time: e.clock.Now(), Heads: []admission.Head{}, Problem: p})
	e.changed()
}

// subject returns the object that a trouble is about, nil if it has gone, its kind, and the name of its workload.
func (e *engaged) subject(t trouble) (kind string, o object, workload string) {
	w := cached[kueue.Workload](e.workloads, t.NamespacedName)
	switch t.by {
	case jobController, jobSetController, appWrapperController:
		for _, k := range e.kinds {
			if k.by != t.by {
				continue
			}
			if job := k.job(t.NamespacedName); job != nil {
				return k.Kind, job.Object(), jobs.WorkloadName(job)
			}
			return k.Kind, nil, ""
		}
	case leaderSetController:
		if set := cached[lws.LeaderWorkerSet](e.leaderSets, t.NamespacedName); set != nil {
			return "LeaderWorkerSet", set, ""
		}
		return "LeaderWorkerSet", nil, ""
	case podController:
		if pods := e.podsOf(t.NamespacedName); w == nil && len(pods) > 0 {
			return "Pod", pods[0], t.Name
		}
	case workloadController, decisionWriter, provisioningController:
	default:
		return string(t.by), e.queueObject(t), ""
	}
	if w == nil {
		return "Workload", nil, t.Name
	}
	return "Workload", w, t.Name
}

// queueObject returns an object whose status the controllers write; nil if it has gone.
func (e *engaged) queueObject(t trouble) object {
	switch string(t.by) {
	case "ClusterQueue":
		return orNil(cached[kueue.ClusterQueue](e.clusterQueues, t.NamespacedName))
	case "LocalQueue":
		return orNil(cached[kueue.LocalQueue](e.localQueues, t.NamespacedName))
	case "Cohort":
		return orNil(cached[kueue.Cohort](e.cohorts, t.NamespacedName))
	case "AdmissionCheck":
		return orNil(cached[kueue.AdmissionCheck](e.checks, t.NamespacedName))
	case "ResourceFlavor":
		return orNil(e.flavor(t.Name))
	case "Topology":
		return orNil(cached[kueue.Topology](e.topologies, t.NamespacedName))
	}
	return nil
}

// orNil returns an interface that is nil if the pointer is.
func orNil[T any, P interface {
	*T
	object
}](o P) object {
	if o == nil {
		return nil
	}
	return o
}

func (e *engaged) append(r *admission.Record) {
	e.ledgerMu.Lock()
	defer e.ledgerMu.Unlock()
	e.opts.Ledger.Append(r)
}

func (e *engaged) changed() {
	if e.opts.Changed != nil {
		e.opts.Changed()
	}
}

// problemsNow returns what the controllers cannot go on with now, the oldest first.
func (e *engaged) problemsNow() []admission.Problem {
	e.problemsMu.Lock()
	defer e.problemsMu.Unlock()
	out := make([]admission.Problem, 0, len(e.problems))
	for _, p := range e.problems {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b admission.Problem) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}
