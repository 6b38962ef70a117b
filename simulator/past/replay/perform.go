package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

const (
	// idleTimeout bounds how long a change waits for the scheduler: a pod may wait for a volume
	// or a permit for longer than a user would.
	idleTimeout = 15 * time.Second
	// gapWindow is the time after a gap in which the recorder listed the source again. A pod
	// that appears with a node in it was created and bound during the gap.
	gapWindow = 5 * time.Second
)

// stagedPod is the state of a recorded pod in the simulated cluster.
type stagedPod struct {
	// uid is the simulated pod's UID; empty before the pod is created.
	uid types.UID
	// asRecorded: the pod was created with its recorded node, so there is nothing to compare.
	asRecorded bool
	// held: the pod is not created until the recorded scheduler has tried it.
	held bool
}

// apply applies a change to the simulated cluster.
func (p *Player) apply(ctx context.Context, c Change) error {
	switch c.Verb {
	case Begun:
		return p.begin(ctx, c.Time)
	case Gap:
		p.gap = c.Time
		return nil
	case End:
		return nil
	}
	p.stage.learn(c, p.begun)
	if c.Kind == podKind {
		return p.applyPod(ctx, c)
	}
	return p.applyObject(ctx, c)
}

// begin ends the initial list: it creates the pending pods, in the order in which a scheduling
// queue would hold them.
func (p *Player) begin(ctx context.Context, at time.Time) error {
	if p.begun {
		return nil
	}
	p.begun = true
	slices.SortStableFunc(p.deferred, func(a, b Change) int {
		return cmp.Or(cmp.Compare(priority(b.Object), priority(a.Object)),
			strings.Compare(text(a.Object, "metadata", "creationTimestamp"), text(b.Object, "metadata", "creationTimestamp")))
	})
	var errs []error
	for _, c := range p.deferred {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.createPod(ctx, c, ""); err != nil {
			errs = append(errs, err)
		}
	}
	p.deferred = nil
	return errors.Join(errs...)
}

func priority(pod map[string]any) int64 {
	n, _, _ := unstructured.NestedInt64(pod, "spec", "priority")
	return n
}

// applyObject applies a change of an object that is not a pod.
func (p *Player) applyObject(ctx context.Context, c Change) error {
	before, after := p.stage.staged(c.Kind, c.Before), p.stage.staged(c.Kind, c.Object)
	switch {
	case before == nil && after == nil:
		return nil
	case after == nil:
		w, err := p.opts.Cluster.Delete(ctx, c.Kind, c.Namespace, c.Name)
		return p.wrote(ctx, c, w, err)
	case before == nil:
		return p.create(ctx, creation{
			object: after, kind: c.Kind,
			created: func(w Written, err error) error {
				if err == nil && hasStatusSubresource(c.Kind) {
					w, err = p.patch(ctx, c, "status", nil, onlyStatus(after))
				}
				return p.wrote(ctx, c, w, err)
			},
		})
	}
	w, err := p.patch(ctx, c, "", withoutStatus(before), withoutStatus(after))
	if err == nil {
		var status Written
		if status, err = p.patch(ctx, c, "status", onlyStatus(before), onlyStatus(after)); status != (Written{}) {
			w = status
		}
	}
	return p.wrote(ctx, c, w, err)
}

// hasStatusSubresource: the API server ignores the status on create; it must be written through
// the status subresource.
func hasStatusSubresource(kind Kind) bool {
	return kind.Kind == "PodDisruptionBudget" || kind.Kind == "ResourceClaim"
}

func withoutStatus(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for name, value := range object {
		if name != "status" {
			out[name] = value
		}
	}
	return out
}

func onlyStatus(object map[string]any) map[string]any {
	if object["status"] == nil {
		return map[string]any{}
	}
	return map[string]any{"status": object["status"]}
}

// patch writes the difference between two versions, if there is one.
func (p *Player) patch(ctx context.Context, c Change, subresource string, before, after map[string]any) (Written, error) {
	patch := objects.MergePatch(before, after)
	if len(patch) == 0 {
		return Written{}, nil
	}
	diff, err := json.Marshal(patch)
	if err != nil {
		return Written{}, err
	}
	return p.opts.Cluster.Patch(ctx, c.Kind, c.Namespace, c.Name, subresource, diff)
}

// wrote waits for the scheduler after a write, if the player is asked to. In the initial list no
// pod is pending yet, so one wait at its end is enough.
func (p *Player) wrote(ctx context.Context, c Change, w Written, err error) error {
	if err != nil {
		return fmt.Errorf("%s %s at %s: %w", c.Kind.Kind, joined(c.Namespace, c.Name), c.Time.Format(time.RFC3339), err)
	}
	if w != (Written{}) {
		p.written = append(p.written, w)
	}
	if !p.begun || len(p.written) == 0 {
		return nil
	}
	return p.settle(ctx)
}

// settle waits for the scheduler to become idle.
func (p *Player) settle(ctx context.Context) error {
	written := p.written
	p.written = nil
	p.mu.Lock()
	waiting := p.waiting || p.following
	p.mu.Unlock()
	if !waiting {
		return nil
	}
	idle, cancel := context.WithTimeout(ctx, idleTimeout)
	defer cancel()
	if err := p.opts.Cluster.Idle(idle, written); err != nil {
		p.mu.Lock()
		p.message = err.Error()
		p.mu.Unlock()
	}
	return nil
}

func joined(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// applyPod applies a change of a pod.
func (p *Player) applyPod(ctx context.Context, c Change) error {
	name := [2]string{c.Namespace, c.Name}
	switch {
	case c.Verb == Delete:
		return p.deletePod(ctx, c, name)
	case c.Before == nil:
		return p.newPod(ctx, c, name)
	}
	pod := p.stage.pods[name]
	if pod == nil || finished(c.Before) {
		return nil // the pod had finished before
	}
	if err := p.changePod(ctx, c, pod); err != nil {
		return err
	}
	node := text(c.Object, "spec", "nodeName")
	bound := node != "" && text(c.Before, "spec", "nodeName") == ""
	switch {
	case pod.held && (bound || tried(c.Object)):
		if err := p.createPod(ctx, c, ""); err != nil {
			return err
		}
		pod = p.stage.pods[name]
	case bound && pod.uid == "" && !pod.held:
		// A pod of another scheduler is created only after that scheduler has decided.
		return p.createBound(ctx, c, node, explain.OthersPod)
	}
	if bound && !pod.asRecorded {
		p.expect(pod.uid, node, c.Time)
		if err := p.follow(ctx, c, pod.uid, node); err != nil {
			return err
		}
	}
	if pod = p.stage.pods[name]; finished(c.Object) && pod.uid != "" {
		patch, err := json.Marshal(map[string]any{"status": map[string]any{"phase": text(c.Object, "status", "phase")}})
		if err != nil {
			return err
		}
		w, err := p.opts.Cluster.Patch(ctx, c.Kind, c.Namespace, c.Name, "status", patch)
		if w != (Written{}) {
			w.Certain, w.Deleted = true, true // the scheduler does not watch finished pods
		}
		return p.wrote(ctx, c, w, err)
	}
	return nil
}

// tried reports whether a scheduler has found no node for the pod.
func tried(pod map[string]any) bool { return len(items(child(pod, "status"), "conditions")) > 0 }

// follow moves a pod to its recorded node after the simulated scheduler has decided, if the player
// is asked to.
func (p *Player) follow(ctx context.Context, c Change, uid types.UID, node string) error {
	p.mu.Lock()
	following, simulated := p.following, p.comparison.byUID[uid].SimulatedNode
	p.mu.Unlock()
	if !following || simulated == node {
		return nil
	}
	w, err := p.opts.Cluster.Delete(ctx, c.Kind, c.Namespace, c.Name)
	if err := p.wrote(ctx, c, w, err); err != nil {
		return err
	}
	return p.createBound(ctx, c, node, "")
}

func finished(pod map[string]any) bool {
	phase := v1.PodPhase(text(pod, "status", "phase"))
	return phase == v1.PodSucceeded || phase == v1.PodFailed
}

func (p *Player) deletePod(ctx context.Context, c Change, name [2]string) error {
	pod := p.stage.pods[name]
	delete(p.stage.pods, name)
	p.deferred = slices.DeleteFunc(p.deferred, func(d Change) bool { return [2]string{d.Namespace, d.Name} == name })
	if pod == nil || pod.uid == "" {
		return nil
	}
	w, err := p.opts.Cluster.Delete(ctx, c.Kind, c.Namespace, c.Name)
	return p.wrote(ctx, c, w, err)
}

// newPod applies the first change of a recorded pod.
func (p *Player) newPod(ctx context.Context, c Change, name [2]string) error {
	if finished(c.Object) {
		return nil
	}
	node := text(c.Object, "spec", "nodeName")
	ours := slices.Contains(p.opts.Profiles(), cmp.Or(text(c.Object, "spec", "schedulerName"), v1.DefaultSchedulerName))
	missed := !p.gap.IsZero() && c.Time.Sub(p.gap) < gapWindow
	switch {
	case node != "" && !p.begun:
		return p.createBound(ctx, c, node, "")
	case node != "" && !ours:
		return p.createBound(ctx, c, node, explain.OthersPod)
	case node != "" && !missed:
		return p.createBound(ctx, c, node, explain.CreatedBound)
	case !ours:
		p.stage.pods[name] = &stagedPod{asRecorded: true}
		return nil
	case p.holds() && node == "" && !tried(c.Object):
		p.stage.pods[name] = &stagedPod{held: true}
		return nil
	case !p.begun:
		p.deferred = append(p.deferred, c)
		return nil
	}
	if err := p.createPod(ctx, c, node); err != nil || node == "" {
		return err
	}
	return p.follow(ctx, c, p.stage.pods[name].uid, node)
}

// holds reports whether pods are held until the recorded scheduler has tried them.
func (p *Player) holds() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.following
}

// createBound creates a pod on its recorded node. why says why its placement is not compared; empty
// for pods of the initial list.
func (p *Player) createBound(ctx context.Context, c Change, node string, why explain.LeftOutCause) error {
	object := p.stage.staged(c.Kind, c.Object)
	child(object, "spec")["nodeName"] = node
	delete(child(object, "spec"), "schedulingGates")
	return p.create(ctx, creation{
		object: object, kind: c.Kind,
		created: func(w Written, err error) error {
			if err == nil {
				w.Certain = true
				p.stage.pods[[2]string{c.Namespace, c.Name}] = &stagedPod{uid: w.UID, asRecorded: true}
			}
			if why != "" {
				p.mu.Lock()
				p.comparison.leftOut(c, w.UID, node, explain.LeftOut{Cause: why})
				p.mu.Unlock()
			}
			return p.wrote(ctx, c, w, err)
		},
	})
}

// createPod creates a pod for the simulated scheduler, after that has seen all earlier changes.
// node is the recorded node if it is already known.
func (p *Player) createPod(ctx context.Context, c Change, node string) error {
	if len(p.written) > 0 {
		if err := p.settle(ctx); err != nil {
			return err
		}
	}
	object := p.stage.staged(c.Kind, c.Object)
	w, err := p.opts.Cluster.Create(ctx, c.Kind, &unstructured.Unstructured{Object: object})
	if err != nil {
		p.mu.Lock()
		p.comparison.leftOut(c, "", node, explain.LeftOut{Cause: explain.NotCreated, Message: err.Error()})
		p.mu.Unlock()
		return p.wrote(ctx, c, w, err)
	}
	w.Certain = true
	p.stage.pods[[2]string{c.Namespace, c.Name}] = &stagedPod{uid: w.UID}
	p.mu.Lock()
	p.comparison.add(c, w.UID)
	p.mu.Unlock()
	// The scheduler may have decided before the pod was added to the comparison.
	if err := p.catchUp(w.UID); err != nil {
		return err
	}
	if node != "" {
		p.expect(w.UID, node, c.Time)
	}
	return p.wrote(ctx, c, w, nil)
}

func (p *Player) catchUp(uid types.UID) error {
	attempts, err := p.opts.Results.Attempts(uid)
	if err != nil {
		return fmt.Errorf("reading the results of a pod: %w", err)
	}
	for _, a := range attempts {
		cycle, err := p.opts.Results.Get(uid, a.Attempt)
		if err != nil {
			return fmt.Errorf("reading the results of a pod: %w", err)
		}
		if cycle != nil {
			p.mu.Lock()
			p.comparison.note(cycle)
			p.mu.Unlock()
		}
	}
	return nil
}

// expect notes the recorded node of a pod.
func (p *Player) expect(uid types.UID, node string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.comparison.expect(uid, node, at, p.stage.nodes[node])
}

// changePod writes the fields of a pod that may change: labels, annotations, gates, tolerations
// and, through the resize subresource, resources.
func (p *Player) changePod(ctx context.Context, c Change, pod *stagedPod) error {
	if pod.uid == "" {
		return nil
	}
	before, after := p.stage.staged(c.Kind, c.Before), p.stage.staged(c.Kind, c.Object)
	for _, object := range []map[string]any{before, after} {
		delete(child(object, "metadata"), "ownerReferences")
		if pod.asRecorded {
			delete(child(object, "spec"), "schedulingGates")
		}
	}
	resized, err := p.patch(ctx, c, "resize", containersOf(before), containersOf(after))
	if err != nil {
		return p.wrote(ctx, c, resized, err)
	}
	for _, object := range []map[string]any{before, after} {
		keep(child(object, "spec"), "schedulingGates", "tolerations")
	}
	w, err := p.patch(ctx, c, "", before, after)
	if w == (Written{}) {
		w = resized
	}
	return p.wrote(ctx, c, w, err)
}

func containersOf(pod map[string]any) map[string]any {
	return map[string]any{"spec": map[string]any{"containers": child(pod, "spec")["containers"]}}
}
