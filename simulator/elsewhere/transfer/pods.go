package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// podHead holds the fields of a pod that the plan looks at.
type podHead struct {
	Metadata struct {
		Annotations     map[string]string `json:"annotations"`
		OwnerReferences []struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Name       string `json:"name"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		NodeName          string         `json:"nodeName"`
		PriorityClassName string         `json:"priorityClassName"`
		Priority          *int64         `json:"priority"`
		PreemptionPolicy  string         `json:"preemptionPolicy"`
		RuntimeClassName  string         `json:"runtimeClassName"`
		Overhead          map[string]any `json:"overhead"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// mirrored marks static pods, which their node runs without a scheduler.
const mirrored = "kubernetes.io/config.mirror"

// podPlan is the order in which to create pods. Bound and finished pods come first, in parallel.
// Pods that a scheduler is to place come last, one by one, in the order of their creation in the
// source cluster, or else in the order of the input. The scheduling queue then has the same order
// among pods of equal priority.
//
// When workloads will adopt pods, the last pods wait behind a scheduling gate until they have done
// so. Otherwise a scheduler that spreads pods by their owners would decide before they have any.
type podPlan struct {
	placed, waiting []*manifest.Object
	gated           bool
	heads           map[*manifest.Object]*podHead
	jobs            map[key]*job
	nodes           map[string]int

	mu sync.Mutex
	// held are the pods that were created behind the gate.
	held map[*manifest.Object]*write
}

func (i *importer) planPods() *podPlan {
	p := &podPlan{heads: map[*manifest.Object]*podHead{}, nodes: map[string]int{}, held: map[*manifest.Object]*write{}, jobs: i.unfinishedJobs()}
	for _, o := range i.objects {
		gk := o.GVK.GroupKind()
		p.gated = p.gated || objects.RankOf(gk) == objects.RankWorkload
		if gk != objects.Pod {
			continue
		}
		head := &podHead{}
		if err := json.Unmarshal(o.JSON, head); err != nil {
			// The API server will say what is wrong with it.
			head = &podHead{}
		}
		p.heads[o] = head
		p.countForJob(o, head)
		node := i.nodeOf(head)
		if node != "" {
			p.nodes[node]++
		}
		if node != "" || isFinishedPod(head.Status.Phase) {
			p.placed = append(p.placed, o)
		} else {
			p.waiting = append(p.waiting, o)
		}
	}
	p.gated = p.gated && len(p.waiting) > 0
	for _, pods := range [][]*manifest.Object{p.placed, p.waiting} {
		slices.SortStableFunc(pods, func(a, b *manifest.Object) int {
			return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Order, b.Order))
		})
	}
	i.warnOfJobs(p)
	return p
}

func (i *importer) nodeOf(head *podHead) string {
	_, isMirror := head.Metadata.Annotations[mirrored]
	if i.opts.Reschedule && !isFinishedPod(head.Status.Phase) && !isMirror {
		return ""
	}
	return head.Spec.NodeName
}

// jobOf returns the unfinished job of the input that a pod belongs to; nil if there is none.
func (p *podPlan) jobOf(o *manifest.Object, head *podHead) *job {
	own := head.owner()
	if own == nil {
		return nil
	}
	return p.jobs[own.key(o.Namespace)]
}

func (h *podHead) owner() *owner {
	for _, r := range h.Metadata.OwnerReferences {
		if r.Controller {
			return &owner{r.APIVersion, r.Kind, r.Name}
		}
	}
	var noted owner
	if json.Unmarshal([]byte(h.Metadata.Annotations[objects.AnnotationOwner]), &noted) == nil && noted.Kind != "" {
		return &noted
	}
	return nil
}

func (p *podPlan) countForJob(o *manifest.Object, head *podHead) {
	if j := p.jobOf(o, head); j != nil && head.Status.Phase == "Succeeded" {
		j.there++
	}
}

// warnOfJobs warns of jobs that will repeat work: a job learns its progress from its pods.
func (i *importer) warnOfJobs(p *podPlan) {
	for _, j := range p.jobs {
		if j.counted > j.there {
			i.rec.warn(itemOf(j.object, fmt.Sprintf("%d of its pods had succeeded but only %d of them are in the input; the others run again", j.counted, j.there)))
		}
	}
}

// setPod decides what to import of a pod's status.
func (i *importer) setPod(w *write, status map[string]any, own *owner) {
	head := i.pods.heads[w.Object]
	if head == nil {
		return
	}
	if j := i.pods.jobOf(w.Object, head); j != nil {
		// The controller counts pods that have the finalizer, and removes it.
		w.create = func(u *unstructured.Unstructured) { u.SetFinalizers([]string{jobTracking}) }
	}
	delete(status, "observedGeneration")
	delete(status, "ephemeralContainerStatuses")
	node := i.nodeOf(head)
	switch phase := head.Status.Phase; {
	case isFinishedPod(phase), node != "" && phase == "Running":
		w.status = status
	default:
		w.status = pendingStatus(status, node == "" && !i.opts.Reschedule)
	}
	if node == "" {
		unstructured.RemoveNestedField(w.desired.Object, "spec", "nodeName")
		if head.Spec.NodeName != "" {
			// metadata is a map, as it has a name.
			_ = unstructured.SetNestedField(w.desired.Object, head.Spec.NodeName, "metadata", "annotations", objects.AnnotationImportedNode)
		}
	}
}

// pendingStatus is the part of the status of a pod that does not run: the claims that were made for
// it, so that nobody makes others, and the node that it is nominated for. It is nil when the pod
// has neither.
func pendingStatus(status map[string]any, nominated bool) map[string]any {
	kept := map[string]any{}
	if claims := status["resourceClaimStatuses"]; claims != nil {
		kept["resourceClaimStatuses"] = claims
	}
	if node := status["nominatedNodeName"]; node != nil && nominated {
		kept["nominatedNodeName"] = node
	}
	if len(kept) == 0 {
		return nil
	}
	// The write replaces the whole status.
	kept["phase"] = "Pending"
	return kept
}

// putPods creates the bound pods and, if there is a gate, the others behind it.
func (i *importer) putPods(ctx context.Context) {
	i.warnOfNodes(ctx)
	i.putPlaced(ctx)
	if !i.pods.gated {
		return
	}
	i.each(ctx, importWorkers, i.pods.waiting, func(ctx context.Context, o *manifest.Object) {
		isNew := false
		w := i.put(ctx, o, func(w *write) {
			before := w.create
			w.create = func(u *unstructured.Unstructured) {
				if before != nil {
					before(u)
				}
				gates, _, _ := unstructured.NestedSlice(u.Object, "spec", "schedulingGates")
				isNew = unstructured.SetNestedSlice(u.Object, append(gates, map[string]any{"name": objects.GateImport}), "spec", "schedulingGates") == nil
			}
		})
		if w != nil && isNew {
			i.pods.mu.Lock()
			defer i.pods.mu.Unlock()
			i.pods.held[o] = w
		}
	})
}

// putPlaced creates the bound pods, each in two writes: an API server ignores the status of a pod
// that is created.
func (i *importer) putPlaced(ctx context.Context) {
	defer i.cluster.opts.HoldPods()()
	i.each(ctx, importWorkers, i.pods.placed, func(ctx context.Context, o *manifest.Object) { i.put(ctx, o, nil) })
}

// putLastPods creates, one by one, the pods that have not waited behind a gate.
func (i *importer) putLastPods(ctx context.Context) {
	if i.pods.gated || len(i.pods.waiting) == 0 {
		return
	}
	i.makeReady(ctx)
	i.meter.turn(Applying)
	i.each(ctx, 1, i.pods.waiting, func(ctx context.Context, o *manifest.Object) { i.put(ctx, o, nil) })
}

// release removes the gate from the pods that wait behind it.
func (i *importer) release(ctx context.Context, workers int) {
	var held []*manifest.Object
	for _, o := range i.pods.waiting {
		if i.pods.held[o] != nil {
			held = append(held, o)
		}
	}
	i.each(ctx, workers, held, func(ctx context.Context, o *manifest.Object) {
		w := i.pods.held[o]
		if err := i.client.ungate(ctx, w); err != nil && !apierrors.IsNotFound(err) {
			i.rec.warn(itemOf(o, fmt.Sprintf("it waits behind the scheduling gate %s, which could not be removed: %v", objects.GateImport, err)))
			return
		}
	})
}

// ungate leaves a pod the gates that it had in the input.
func (c *client) ungate(ctx context.Context, w *write) error {
	gates, _, _ := unstructured.NestedFieldNoCopy(w.desired.Object, "spec", "schedulingGates")
	_, err := c.patch(ctx, w.resource, w.Namespace, w.Name, map[string]any{"spec": map[string]any{"schedulingGates": gates}})
	return err
}

// warnOfNodes warns of missing nodes to which pods are bound.
func (i *importer) warnOfNodes(ctx context.Context) {
	r, err := i.client.resourceFor(schema.GroupVersionKind{Version: "v1", Kind: "Node"})
	if err != nil {
		return
	}
	for name, pods := range i.pods.nodes {
		k := key{objects.Node, "", name}
		if i.index[k] == nil && i.uidOf(ctx, r, k) == "" && ctx.Err() == nil {
			i.rec.warn(Item{APIVersion: "v1", Kind: "Node", Name: name, Message: fmt.Sprintf(
				"%d pods are bound to it, but it is neither in the input nor in the cluster: Kubernetes will delete them", pods)})
		}
	}
}
