package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/newnode"
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
			if r.Free < r.Allocatable-r.Requested || r.Stranded > r.Free {
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
	for _, s := range need.NotCounted {
		l.state(s)
	}
	kind := "capacity: nodes"
	if !need.Enough {
		kind = "capacity: no number of nodes"
	}
	if strings.Contains(l.cluster.configuration, "NodeResourceTopologyMatch") {
		kind += ", with NUMA nodes"
	}
	l.claim(kind, need, func() error {
		room := func(nodes int) int {
			mark := l.trial.Mark()
			defer l.trial.Rollback(mark)
			for range nodes {
				// Among equal nodes the first by name is taken, so the names matter.
				l.another(like, newnode.Name(like, func(name string) bool { return slices.Contains(l.nodes(), name) }))
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
	pools := map[string]string{} // the new ones by those of like
	all, err := l.trial.List(resourcev1.SchemeGroupVersion.WithKind("ResourceSlice"))
	l.must(err)
	for _, o := range all {
		if s := o.(*resourcev1.ResourceSlice); s.Spec.NodeName != nil && *s.Spec.NodeName == like {
			s = s.DeepCopy()
			s.ObjectMeta = metav1.ObjectMeta{Name: name + "-" + s.Name}
			pools[s.Spec.Pool.Name] = s.Name
			s.Spec.NodeName, s.Spec.Pool.Name = &name, s.Name
			l.set(s)
		}
	}
	if o, err := l.trial.Get(storagev1.SchemeGroupVersion.WithKind("CSINode"), "", like); err == nil {
		on := o.(*storagev1.CSINode).DeepCopy()
		on.ObjectMeta = metav1.ObjectMeta{Name: name, Annotations: on.Annotations}
		l.set(on)
	}
	if strings.Contains(l.cluster.configuration, "NodeResourceTopologyMatch") {
		gvk := v1alpha2.NodeResourceTopologies.GroupVersion().WithKind("NodeResourceTopology")
		if o, err := l.trial.Get(gvk, "", like); err == nil {
			u := o.(*unstructured.Unstructured).DeepCopy()
			u.SetName(name)
			u.SetUID("")
			l.set(u)
		}
	}
	// Of several pods of a DaemonSet, the new node gets one like the latest that stays.
	latest := map[string]*v1.Pod{}
	for _, p := range l.trial.Pods() {
		owner := metav1.GetControllerOf(p)
		if owner == nil || owner.Kind != "DaemonSet" || p.Spec.NodeName != like && !forNode(p, like) {
			continue
		}
		key := p.Namespace + "/" + string(owner.UID)
		if other := latest[key]; other == nil || cmp.Or(
			cmp.Compare(leaving(other), leaving(p)), p.CreationTimestamp.Compare(other.CreationTimestamp.Time), strings.Compare(p.Name, other.Name)) > 0 {
			latest[key] = p
		}
	}
	for _, p := range latest {
		p = p.DeepCopy()
		p.Name, p.UID, p.ResourceVersion, p.Spec.NodeName = p.Name+"-on-"+name, "", "", name
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = nil, nil
		for i, of := range p.Status.ResourceClaimStatuses {
			if of.ResourceClaimName != nil {
				p.Status.ResourceClaimStatuses[i].ResourceClaimName = l.claimOn(p, *of.ResourceClaimName, pools)
			}
		}
		l.set(p)
	}
}

// claimOn gives a pod on a new node a claim like one of the pod that it is like, with the same devices of the node's own pools, and returns
// its name.
func (l *lab) claimOn(p *v1.Pod, like string, pools map[string]string) *string {
	o, err := l.trial.Get(resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"), p.Namespace, like)
	l.must(err)
	claim := o.(*resourcev1.ResourceClaim).DeepCopy()
	claim.ObjectMeta = metav1.ObjectMeta{Namespace: p.Namespace, Name: like + "-of-" + p.Name, UID: types.UID(like + "-of-" + p.Name), OwnerReferences: claim.OwnerReferences}
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: p.Name, UID: p.UID}}
	if a := claim.Status.Allocation; a != nil {
		for i := range a.Devices.Results {
			if pool, own := pools[a.Devices.Results[i].Pool]; own {
				a.Devices.Results[i].Pool = pool
			}
		}
	}
	l.set(claim)
	return &claim.Name
}

// forNode reports whether a DaemonSet has made a pod for a node that it has not reached.
func forNode(p *v1.Pod, node string) bool {
	required := p.Spec.Affinity
	return p.Spec.NodeName == "" && required != nil && required.NodeAffinity != nil && required.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil &&
		slices.ContainsFunc(required.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(term v1.NodeSelectorTerm) bool {
			return slices.ContainsFunc(term.MatchFields, func(r v1.NodeSelectorRequirement) bool { return slices.Equal(r.Values, []string{node}) })
		})
}

func leaving(p *v1.Pod) int {
	if p.DeletionTimestamp != nil {
		return 1
	}
	return 0
}

func init() {
	statements[explain.KindOf(explain.DevicesShared{})] = func(l *lab, s explain.Operands) error { return l.notOfOneNode(s.(explain.DevicesShared)) }
	statements[explain.KindOf(explain.StorageNotReported{})] = func(l *lab, s explain.Operands) error { return l.notReported(s.(explain.StorageNotReported)) }
	statements[explain.KindOf(explain.LocalVolumes{})] = func(l *lab, s explain.Operands) error { return l.hasLocalVolumes(s.(explain.LocalVolumes)) }
	statements[explain.KindOf(explain.AttachLimits{})] = func(l *lab, s explain.Operands) error { return l.hasNoCSINode(s.(explain.AttachLimits)) }
}

// notOfOneNode: the devices of the pool are not of the node alone.
func (l *lab) notOfOneNode(s explain.DevicesShared) error {
	slice := l.sliceOf(s.Pool)
	if slice == nil || slice.Spec.Driver != s.Driver || slice.Spec.NodeName != nil && *slice.Spec.NodeName == s.Like {
		return fmt.Errorf("they are of %s alone", s.Like)
	}
	return nil
}

// notReported: no capacity of the class is for a node with these labels but another name.
func (l *lab) notReported(s explain.StorageNotReported) error {
	all, err := l.trial.List(storagev1.SchemeGroupVersion.WithKind("CSIStorageCapacity"))
	l.must(err)
	labels := l.nodeNamed(s.Like).Labels
	for _, o := range all {
		c := o.(*storagev1.CSIStorageCapacity)
		reached := c.StorageClassName == s.Class
		for key, value := range c.NodeTopology.MatchLabels {
			reached = reached && labels[key] == value && value != s.Like
		}
		if reached {
			return fmt.Errorf("%s reports it", c.Name)
		}
	}
	return nil
}

// hasLocalVolumes: the node can reach a volume of the class.
func (l *lab) hasLocalVolumes(s explain.LocalVolumes) error {
	all, err := l.trial.List(v1.SchemeGroupVersion.WithKind("PersistentVolume"))
	l.must(err)
	for _, o := range all {
		pv := o.(*v1.PersistentVolume)
		if r := pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]; pv.Spec.StorageClassName == s.Class && slices.Contains(r.Values, l.nodeNamed(s.Like).Labels[r.Key]) {
			return nil
		}
	}
	return fmt.Errorf("%s has none", s.Like)
}

func (l *lab) hasNoCSINode(s explain.AttachLimits) error {
	if _, err := l.trial.Get(storagev1.SchemeGroupVersion.WithKind("CSINode"), "", s.Like); err == nil {
		return fmt.Errorf("%s has a CSINode", s.Like)
	}
	return nil
}
