package claims

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
)

// mostCounted bounds the pods that an experiment places.
const mostCounted = 40

// examineCapacity asks how many more pods fit, and how many nodes are needed for more.
func (l *lab) examineCapacity(name types.NamespacedName) {
	answer, err := capacity.Count(l.ctx, l.trial, capacity.Question{PodRef: &name, Limit: mostCounted})
	l.trial.Rollback(whatif.Mark{})
	if err != nil {
		if whatif.GroupName(l.pod) == "" {
			l.Errorf("%s: counting how many more fit: %v", name, err)
		}
		return
	}
	if answer.Group != nil {
		return
	}
	l.claim("capacity: fits", answer, func() error {
		placed, last := l.place(name, mostCounted)
		if len(placed) != answer.Fits {
			return fmt.Errorf("%d were placed: %v", len(placed), placed)
		}
		if answer.Complete != (answer.Fits < mostCounted) {
			return fmt.Errorf("complete is %t", answer.Complete)
		}
		if last == nil {
			return nil
		}
		for _, s := range answer.Stopped {
			for _, node := range s.Nodes {
				o := l.rejects(last, s.Plugin, node)
				// Some plugins name the pod.
				if o == nil || s.Reason != "" && !slices.Contains(o.Reasons, s.Reason) && !strings.Contains(s.Reason, name.Namespace+"/"+name.Name) {
					return fmt.Errorf("%s does not say %q of %s", s.Plugin, s.Reason, node)
				}
			}
		}
		for _, r := range answer.Resources {
			if r.Free != r.Allocatable-r.Requested || r.Stranded > max(r.Free, 0) && r.Free >= 0 {
				return fmt.Errorf("%s: the numbers do not add up", r.Name)
			}
		}
		return nil
	})
	like := l.nodes()[0]
	for _, n := range l.nodes() {
		if l.fits(l.asked(name), n) {
			like = n
		}
	}
	l.trial.Rollback(whatif.Mark{})
	wanted := answer.Fits + 2
	if !answer.Complete || wanted > mostCounted {
		return
	}
	question := capacity.Question{PodRef: &name, Limit: mostCounted, NodesNeeded: &capacity.NodesNeeded{Like: like, For: wanted}}
	more, err := capacity.Count(l.ctx, l.trial, question)
	l.trial.Rollback(whatif.Mark{})
	if err != nil {
		l.Errorf("%s: counting nodes: %v", name, err)
		return
	}
	need := more.NodesNeeded
	kind := "capacity: nodes"
	if !need.Enough {
		kind = "capacity: no number of nodes"
	}
	l.claim(kind, need, func() error {
		room := func(nodes int) int {
			mark := l.trial.Mark()
			defer l.trial.Rollback(mark)
			for i := range nodes {
				l.another(like, fmt.Sprint("another-", i))
			}
			placed, _ := l.place(name, wanted)
			return len(placed)
		}
		if n := room(need.Nodes); n != need.Fits || need.Enough != (n >= wanted) {
			return fmt.Errorf("with %d nodes %d fit", need.Nodes, n)
		}
		if need.Enough && need.Nodes > 0 {
			if n := room(need.Nodes - 1); n >= wanted {
				return fmt.Errorf("with %d nodes %d fit", need.Nodes-1, n)
			}
		}
		if !need.Enough {
			if n := room(need.Nodes + 3); n > need.Fits {
				return fmt.Errorf("with 3 nodes more %d fit", n)
			}
		}
		return nil
	})
}

// place places further pods like one, and returns their nodes and the first that fits nowhere.
func (l *lab) place(name types.NamespacedName, most int) (nodes []string, last *v1.Pod) {
	l.Helper()
	o, err := l.trial.Get(v1.SchemeGroupVersion.WithKind("Pod"), name.Namespace, name.Name)
	l.must(err)
	like := o.(*v1.Pod).DeepCopy()
	like.Spec.NodeName, like.Status = "", v1.PodStatus{}
	for range most {
		next, err := l.trial.Another(like)
		l.must(err)
		node, err := l.trial.Choose(l.ctx, next, "")
		l.must(err)
		if node == "" {
			return nodes, next
		}
		l.must(l.trial.Place(l.ctx, next, "", node))
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// another adds a node like an existing one, with everything that comes with it: its devices, its CSINode, and the pods of DaemonSets.
func (l *lab) another(like, name string) {
	n := l.nodeNamed(like)
	from := n.DeepCopy()
	n.ObjectMeta = metav1.ObjectMeta{Name: name, Labels: n.Labels, Annotations: n.Annotations}
	if n.Labels[host] == like {
		n.Labels[host] = name
	}
	n.Spec = v1.NodeSpec{Taints: slices.DeleteFunc(slices.Clone(from.Spec.Taints), func(t v1.Taint) bool { return t.Key == v1.TaintNodeUnschedulable })}
	n.Status.Images = nil
	l.set(n)
	all, err := l.trial.List(resourcev1.SchemeGroupVersion.WithKind("ResourceSlice"))
	l.must(err)
	for _, o := range all {
		if s := o.(*resourcev1.ResourceSlice); s.Spec.NodeName != nil && *s.Spec.NodeName == like {
			s = s.DeepCopy()
			s.ObjectMeta = metav1.ObjectMeta{Name: name + "-" + s.Name}
			s.Spec.NodeName, s.Spec.Pool.Name = &name, s.Name
			l.set(s)
		}
	}
	if o, err := l.trial.Get(storagev1.SchemeGroupVersion.WithKind("CSINode"), "", like); err == nil {
		on := o.(*storagev1.CSINode).DeepCopy()
		on.ObjectMeta = metav1.ObjectMeta{Name: name, Annotations: on.Annotations}
		l.set(on)
	}
	for _, p := range l.on(like) {
		if owner := metav1.GetControllerOf(p); owner != nil && owner.Kind == "DaemonSet" && p.Spec.NodeName == like {
			p = p.DeepCopy()
			p.Name, p.UID, p.ResourceVersion, p.Spec.NodeName = p.Name+"-on-"+name, "", "", name
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = nil, nil
			l.set(p)
		}
	}
}
