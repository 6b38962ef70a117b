package claims

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	podresources "k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"

	"kube-scheduler-simulator/scheduler/explain"
	capacityv1alpha1 "kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
	groupv1alpha1 "kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

func init() {
	for kind, experiment := range map[explain.Kind]func(*lab, explain.Operands) error{
		explain.KindOf(explain.HeldByGroup{}):         func(l *lab, s explain.Operands) error { return l.shortGroup(s.(explain.HeldByGroup).Group) },
		explain.KindOf(explain.NotTried{}):            func(l *lab, s explain.Operands) error { return l.shortGroup(s.(explain.NotTried).Group) },
		explain.KindOf(explain.GroupShort{}):          func(l *lab, s explain.Operands) error { return l.shortGroup(s.(explain.GroupShort).Group) },
		explain.KindOf(explain.GroupPlaced{}):         func(l *lab, s explain.Operands) error { return l.placedGroup(s.(explain.GroupPlaced)) },
		explain.KindOf(explain.GroupHasEnough{}):      func(l *lab, s explain.Operands) error { return l.enoughOfGroup(s.(explain.GroupHasEnough)) },
		explain.KindOf(explain.GroupVictims{}):        func(l *lab, s explain.Operands) error { return l.groupVictims(s.(explain.GroupVictims)) },
		explain.KindOf(explain.GroupFits{}):           func(l *lab, s explain.Operands) error { return l.groupFits() },
		explain.KindOf(explain.GroupRejected{}):       func(l *lab, s explain.Operands) error { return l.groupRejected() },
		explain.KindOf(explain.DevicesIncomplete{}):   func(l *lab, s explain.Operands) error { return l.devicesIncomplete(s.(explain.DevicesIncomplete)) },
		explain.KindOf(explain.GroupRoomImpossible{}): func(l *lab, s explain.Operands) error { return l.groupRoomImpossible(s.(explain.GroupRoomImpossible)) },
		explain.KindOf(explain.MembersMissing{}):      func(l *lab, s explain.Operands) error { return l.membersMissing(s.(explain.MembersMissing)) },
		explain.KindOf(explain.MembersGated{}):        func(l *lab, s explain.Operands) error { return l.membersGated(s.(explain.MembersGated)) },
		explain.KindOf(explain.GroupLacksResources{}): func(l *lab, s explain.Operands) error { return l.groupLacks(s.(explain.GroupLacksResources)) },
		explain.KindOf(explain.QuotaAtMax{}):          func(l *lab, s explain.Operands) error { return l.quotaAtMax(s.(explain.QuotaAtMax)) },
		explain.KindOf(explain.QuotasUsedUp{}):        func(l *lab, s explain.Operands) error { return l.quotasUsedUp(s.(explain.QuotasUsedUp)) },
		explain.KindOf(explain.QuotaBorrowers{}):      func(l *lab, s explain.Operands) error { return l.borrowers(s.(explain.QuotaBorrowers)) },
		explain.KindOf(explain.QuotaBorrows{}):        func(l *lab, s explain.Operands) error { return l.borrows(s.(explain.QuotaBorrows)) },
		explain.KindOf(explain.QuotaReclaims{}):       func(l *lab, s explain.Operands) error { return l.covered(true) },
		explain.KindOf(explain.QuotaAboveMin{}):       func(l *lab, s explain.Operands) error { return l.covered(false) },
		explain.KindOf(explain.QuotaNobody{}):         func(l *lab, s explain.Operands) error { return l.quotaNobody(s.(explain.QuotaNobody)) },
		explain.KindOf(explain.Unaligned{}):           func(l *lab, s explain.Operands) error { return l.unalignedOn(s.(explain.Unaligned)) },
		explain.KindOf(explain.PluginPanicked{}):      func(l *lab, s explain.Operands) error { return l.panicked() },
		explain.KindOf(explain.CycleError{}):          func(l *lab, s explain.Operands) error { return l.failed() },
	} {
		statements[kind] = experiment
	}
}

// decideGroup decides about the pod's group again, and reports whether it is scheduled.
func (l *lab) decideGroup(minCount int) bool {
	l.Helper()
	if minCount > 0 {
		o, err := l.trial.Get(schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup"), l.pod.Namespace, whatif.GroupName(l.pod))
		l.must(err)
		group := o.(*schedulingv1beta1.PodGroup).DeepCopy()
		if group.Spec.SchedulingPolicy.Gang == nil {
			return false
		}
		group.Spec.SchedulingPolicy.Gang.MinCount = int32(minCount)
		l.set(group)
	}
	cycles, err := l.trial.DecideGroup(l.ctx, l.pod, "")
	l.must(err)
	group := cycles[0].PodGroup
	// Of a group whose minimum is placed already, the scheduler only says whether it places further members.
	return group != nil && (group.Outcome == result.Scheduled || minCount > 0 && group.AlreadyScheduled >= minCount)
}

// shortGroup: "its pod group needs 3 members, and nodes were found for only 2". If it needs no more than that, it is placed.
func (l *lab) shortGroup(g explain.GroupShortfall) error {
	if g.Needs == 0 {
		return nil
	}
	if g.Found >= g.Needs {
		return fmt.Errorf("it found enough")
	}
	if g.Found > 0 && !l.decideGroup(g.Found) {
		return fmt.Errorf("a group that needs %d is not placed", g.Found)
	}
	if l.decideGroup(g.Needs) {
		return fmt.Errorf("the group is placed")
	}
	for _, b := range g.Blockers {
		if b.Members < 1 {
			return fmt.Errorf("%s rejects nodes for nobody", b.Plugin)
		}
	}
	return nil
}

// placedGroup: "has nodes for 3 of 4 members". If it needs as many it is placed, and if it needs one more it is not.
func (l *lab) placedGroup(g explain.GroupPlaced) error {
	if g.Needs == 0 {
		return nil
	}
	if !l.decideGroup(g.Has) {
		return fmt.Errorf("a group that needs %d is not placed", g.Has)
	}
	if l.decideGroup(g.Has + 1) {
		return fmt.Errorf("a group that needs %d is placed", g.Has+1)
	}
	return nil
}

// members counts the pods of the pod's group that have a node.
func (l *lab) members() int {
	n := 0
	for _, p := range l.trial.Pods() {
		if p.Spec.NodeName != "" && p.Namespace == l.pod.Namespace && whatif.GroupName(p) == whatif.GroupName(l.pod) {
			n++
		}
	}
	return n
}

func (l *lab) enoughOfGroup(g explain.GroupHasEnough) error {
	if l.members() != g.Has || g.Has < g.Needs {
		return fmt.Errorf("%d members have a node", l.members())
	}
	return nil
}

// groupVictims: without the victims the group is placed.
func (l *lab) groupVictims(g explain.GroupVictims) error {
	p := l.cycle.PodGroup.Preemption
	if p.VictimCount != g.Victims || g.Victims == 0 {
		return fmt.Errorf("there are %d", p.VictimCount)
	}
	for _, v := range p.Victims {
		if v.Priority >= priority(l.pod) {
			return fmt.Errorf("%s is as important", v.Pod.Name)
		}
		l.remove(v.Pod.Namespace, v.Pod.Name)
	}
	if !l.decideGroup(0) {
		return fmt.Errorf("without them the group is not placed")
	}
	return nil
}

// groupFits: "in its dry run, DefaultPreemption found nodes for the group without removing a pod". With the members nominated to these nodes,
// the group is placed.
func (l *lab) groupFits() error {
	cycles, err := l.trial.DecideGroup(l.ctx, l.pod, "")
	l.must(err)
	defer func(pod *v1.Pod) { l.pod = pod }(l.pod)
	for _, c := range cycles {
		o, err := l.trial.Get(v1.SchemeGroupVersion.WithKind("Pod"), c.Pod.Namespace, c.Pod.Name)
		l.must(err)
		p := o.(*v1.Pod).DeepCopy()
		if p.Status.NominatedNodeName = c.NominatedNode; c.NominatedNode == "" {
			return fmt.Errorf("%s is nominated nowhere", c.Pod.Name)
		}
		l.set(p)
		if p.UID == l.pod.UID {
			l.pod = p
		}
	}
	if !l.decideGroup(0) {
		return fmt.Errorf("nominated to these nodes, the group is not placed")
	}
	return nil
}

// groupRejected: "rejected before any member was tried: no feasible placements found". When the group does not ask for a topology, its members
// are tried.
func (l *lab) groupRejected() error {
	o, err := l.trial.Get(schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup"), l.pod.Namespace, whatif.GroupName(l.pod))
	l.must(err)
	group := o.(*schedulingv1beta1.PodGroup).DeepCopy()
	group.Spec.SchedulingConstraints = nil
	l.set(group)
	cycles, err := l.trial.DecideGroup(l.ctx, l.pod, "")
	l.must(err)
	if _, again := explain.Cycle(cycles[0]).Headline.Operands.(explain.GroupRejected); again {
		return fmt.Errorf("without a topology it is rejected, too")
	}
	return nil
}

// devicesIncomplete: the pool says that it has more slices than there are.
func (l *lab) devicesIncomplete(s explain.DevicesIncomplete) error {
	all, err := l.trial.List(resourcev1.SchemeGroupVersion.WithKind("ResourceSlice"))
	l.must(err)
	published, announced := int64(0), int64(0)
	for _, o := range all {
		if slice := o.(*resourcev1.ResourceSlice); slice.Spec.Driver == s.Driver && slice.Spec.Pool.Name == s.Pool {
			published, announced = published+1, slice.Spec.Pool.ResourceSliceCount
		}
	}
	if published >= announced {
		return fmt.Errorf("%d of %d slices are published", published, announced)
	}
	return nil
}

// groupRoomImpossible: without all pods that are less important the group is not placed.
func (l *lab) groupRoomImpossible(g explain.GroupRoomImpossible) error {
	n := 0
	for _, p := range l.trial.Pods() {
		if p.Spec.NodeName != "" && priority(p) < priority(l.pod) {
			n++
			l.remove(p.Namespace, p.Name)
		}
	}
	if n != g.Pods {
		return fmt.Errorf("%d pods are less important", n)
	}
	if l.decideGroup(0) {
		return fmt.Errorf("without them the group is placed")
	}
	return nil
}

// setCustom changes a custom resource.
func setCustom[T any](l *lab, gvk schema.GroupVersionKind, namespace, name string, change func(*T)) {
	l.Helper()
	o, err := l.trial.Get(gvk, namespace, name)
	l.must(err)
	u := o.(*unstructured.Unstructured)
	typed := new(T)
	l.must(runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed))
	change(typed)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	l.must(err)
	l.set(&unstructured.Unstructured{Object: fields})
}

// headline returns what is said first in the present state.
func (l *lab) headline() explain.Operands {
	l.Helper()
	return explain.Cycle(l.decide(l.pod)).Headline.Operands
}

func (l *lab) remarks() []explain.Statement { return explain.Cycle(l.decide(l.pod)).Remarks }

func (l *lab) group(change func(*groupv1alpha1.PodGroup)) explain.Operands {
	setCustom(l, groupv1alpha1.PodGroupKind, l.pod.Namespace, l.pod.Labels[groupv1alpha1.PodGroupLabel], change)
	return l.headline()
}

// membersMissing: "needs 3 pods and has only 2". If it needs 2, that is not said, and if it needs 3 it is.
func (l *lab) membersMissing(s explain.MembersMissing) error {
	needs := func(n int) bool {
		_, missing := l.group(func(g *groupv1alpha1.PodGroup) { g.Spec.MinMember = int32(n) }).(explain.MembersMissing)
		return missing
	}
	if needs(s.Members) {
		return fmt.Errorf("members are missing of a group that needs %d", s.Members)
	}
	if !needs(s.Members + 1) {
		return fmt.Errorf("none is missing of a group that needs %d", s.Members+1)
	}
	return nil
}

// membersGated: "2 of its 4 have scheduling gates". If it needs the others only, that is not said.
func (l *lab) membersGated(s explain.MembersGated) error {
	needs := func(n int) bool {
		_, gated := l.group(func(g *groupv1alpha1.PodGroup) { g.Spec.MinMember = int32(n) }).(explain.MembersGated)
		return gated
	}
	if needs(s.Members - s.Gated) {
		return fmt.Errorf("too many are gated of a group that needs %d", s.Members-s.Gated)
	}
	if !needs(s.Members - s.Gated + 1) {
		return fmt.Errorf("enough are not gated of a group that needs %d", s.Members-s.Gated+1)
	}
	return nil
}

// groupLacks: "all nodes together lack cpu 2". With so much less in minResources, that is not said of the resource.
func (l *lab) groupLacks(s explain.GroupLacksResources) error {
	for _, lack := range strings.Split(s.Lacking, ", ") {
		name, amount, _ := strings.Cut(lack, " ")
		q, err := resource.ParseQuantity(amount)
		l.must(err)
		said := func(less int64) bool {
			g, ok := l.group(func(g *groupv1alpha1.PodGroup) {
				if name == string(v1.ResourcePods) { // which Coscheduling takes from the minimum of members
					g.Spec.MinMember -= int32(less)
					return
				}
				had := g.Spec.MinResources[v1.ResourceName(name)]
				value := amountOf(v1.ResourceList{v1.ResourceName(name): had}, name) - less
				g.Spec.MinResources[v1.ResourceName(name)] = quantity(name, value)
			}).(explain.GroupLacksResources)
			return ok && strings.Contains(g.Lacking, name+" ")
		}
		short := amountOf(v1.ResourceList{v1.ResourceName(name): q}, name)
		mark := l.trial.Mark()
		if said(short) {
			return fmt.Errorf("with %s less %s, it is said", amount, name)
		}
		l.trial.Rollback(mark)
		if !said(short - 1) {
			return fmt.Errorf("with a hair less than %s less %s, it is not said", amount, name)
		}
		l.trial.Rollback(mark)
	}
	return nil
}

func (l *lab) quota(namespace string, change func(*capacityv1alpha1.ElasticQuota)) {
	setCustom(l, capacityv1alpha1.ElasticQuotas.GroupVersion().WithKind("ElasticQuota"), namespace, "quota", change)
}

// quotaAtMax: "1 used + 1 requested > 1". With a max of 2 that is not said, and with a hair less it is.
func (l *lab) quotaAtMax(s explain.QuotaAtMax) error {
	said := func(less int64) bool {
		l.quota(s.Namespace, func(q *capacityv1alpha1.ElasticQuota) {
			for _, short := range s.Short {
				q.Spec.Max[v1.ResourceName(short.Resource)] = quantity(short.Resource, short.Used+short.Nominated+short.Requested-less)
			}
		})
		_, at := l.headline().(explain.QuotaAtMax)
		return at
	}
	for _, short := range s.Short {
		if used := l.usedIn(s.Namespace, short.Resource); used != short.Used {
			return fmt.Errorf("pods of %s use %d of %s", s.Namespace, used, short.Resource)
		}
	}
	if said(0) {
		return fmt.Errorf("with a max of just that, it is above its max")
	}
	if !said(1) {
		return fmt.Errorf("with a max of a hair less, it is not above its max")
	}
	return nil
}

// usedIn sums up what the pods of a namespace use.
func (l *lab) usedIn(namespace, resource string) int64 {
	sum := int64(0)
	for _, p := range l.trial.Pods() {
		if p.Namespace == namespace && p.Spec.NodeName != "" && p.UID != l.pod.UID {
			sum += amountOf(podresources.PodRequests(p, podresources.PodResourcesOptions{}), resource)
		}
	}
	return sum
}

// quotasUsedUp: with a min that is larger by what is missing, that is not said.
func (l *lab) quotasUsedUp(s explain.QuotasUsedUp) error {
	said := func(less int64) bool {
		mark := l.trial.Mark()
		defer l.trial.Rollback(mark)
		l.quota(s.Namespace, func(q *capacityv1alpha1.ElasticQuota) {
			for _, short := range s.Short {
				had := amountOf(q.Spec.Min, short.Resource)
				q.Spec.Min[v1.ResourceName(short.Resource)] = quantity(short.Resource, had+short.Used+short.Nominated+short.Requested-short.Limit-less)
			}
		})
		_, up := l.headline().(explain.QuotasUsedUp)
		return up
	}
	if said(0) {
		return fmt.Errorf("with as much more in the mins, they are used up")
	}
	if !said(1) {
		return fmt.Errorf("with a hair less than that, they are not used up")
	}
	return nil
}

// borrowers: "blue 2 cpu" is what its pods use above its min.
func (l *lab) borrowers(s explain.QuotaBorrowers) error {
	for _, loan := range s.Loans {
		min := int64(0)
		l.quota(loan.Namespace, func(q *capacityv1alpha1.ElasticQuota) { min = amountOf(q.Spec.Min, loan.Resource) })
		if used := l.usedIn(loan.Namespace, loan.Resource); used-min != loan.Amount || loan.Namespace == l.pod.Namespace {
			return fmt.Errorf("pods of %s use %d of %s, of a min of %d", loan.Namespace, used, loan.Resource, min)
		}
	}
	return nil
}

// borrows: with a min that is larger by the loan, nothing is borrowed.
func (l *lab) borrows(s explain.QuotaBorrows) error {
	said := func(less int64) bool {
		mark := l.trial.Mark()
		defer l.trial.Rollback(mark)
		l.quota(s.Namespace, func(q *capacityv1alpha1.ElasticQuota) {
			for _, loan := range s.Loans {
				q.Spec.Min[v1.ResourceName(loan.Resource)] = quantity(loan.Resource, amountOf(q.Spec.Min, loan.Resource)+loan.Amount-less)
			}
		})
		return slices.ContainsFunc(l.remarks(), func(s explain.Statement) bool { _, borrows := s.Operands.(explain.QuotaBorrows); return borrows })
	}
	if said(0) {
		return fmt.Errorf("with a min as large, it borrows")
	}
	if !said(1) {
		return fmt.Errorf("with a hair less, it does not borrow")
	}
	return nil
}

// covered: whether the min of the namespace covers the pod is the sum of what its pods use, what those ask for that are
// nominated and not less important, and what this one asks for.
func (l *lab) covered(is bool) error {
	asked := []v1.ResourceList{podresources.PodRequests(l.pod, podresources.PodResourcesOptions{})}
	for _, p := range l.trial.Pods() {
		if p.Namespace == l.pod.Namespace && p.Spec.NodeName == "" && p.Status.NominatedNodeName != "" && p.UID != l.pod.UID && priority(p) >= priority(l.pod) {
			asked = append(asked, podresources.PodRequests(p, podresources.PodResourcesOptions{}))
		}
	}
	// The namespace can be above its min of what the pod does not ask for.
	sums := map[v1.ResourceName]int64{v1.ResourceCPU: 0, v1.ResourceMemory: 0, v1.ResourceEphemeralStorage: 0}
	for _, list := range asked {
		for name := range list {
			sums[name] += amountOf(list, string(name))
		}
	}
	covers := true
	l.quota(l.pod.Namespace, func(q *capacityv1alpha1.ElasticQuota) {
		for name, sum := range sums {
			covers = covers && l.usedIn(l.pod.Namespace, string(name))+sum <= amountOf(q.Spec.Min, string(name))
		}
	})
	if covers != is {
		return fmt.Errorf("the min covers it: %t", covers)
	}
	return nil
}

// quotaNobody: there are at least so many nodes on which no pod is less important or of another namespace with a quota.
func (l *lab) quotaNobody(s explain.QuotaNobody) error {
	reclaims := slices.ContainsFunc(l.said.Remarks, func(s explain.Statement) bool { _, ok := s.Operands.(explain.QuotaReclaims); return ok })
	nodes := 0
	for _, node := range l.nodes() {
		if !slices.ContainsFunc(l.on(node), func(p *v1.Pod) bool {
			own := p.Namespace == l.pod.Namespace
			return p.Spec.NodeName == node && (!reclaims && own && priority(p) < priority(l.pod) || reclaims && !own && l.borrowing(p.Namespace))
		}) {
			nodes++
		}
	}
	if nodes < s.Nodes {
		return fmt.Errorf("there are %d such nodes", nodes)
	}
	return nil
}

func (l *lab) borrowing(namespace string) bool {
	if namespace == "green" {
		return false // it has no quota
	}
	borrows := false
	l.quota(namespace, func(q *capacityv1alpha1.ElasticQuota) {
		for _, name := range []string{"cpu", "memory", "ephemeral-storage", string(card)} {
			borrows = borrows || l.usedIn(namespace, name) > amountOf(q.Spec.Min, name)
		}
	})
	return borrows
}

func (l *lab) topology(node string, change func(*v1alpha2.NodeResourceTopology)) {
	setCustom(l, v1alpha2.NodeResourceTopologies.GroupVersion().WithKind("NodeResourceTopology"), "", node, change)
}

func setAvailable(t *v1alpha2.NodeResourceTopology, zone, name string, amount int64) {
	for i := range t.Zones {
		if t.Zones[i].Name != zone && t.Zones[i].Name != v1alpha2.ZonePrefix+zone {
			continue
		}
		for j := range t.Zones[i].Resources {
			if r := &t.Zones[i].Resources[j]; r.Name == name {
				r.Available, r.Allocatable, r.Capacity = quantity(name, amount), quantity(name, amount), quantity(name, amount)
			}
		}
	}
}

// unaligned: "node-0 has 0.5 of 1 cpu". With as much as is requested the NUMA node does not lack it, and with a hair less it does.
func (l *lab) unaligned(c *result.Comparison) {
	for _, z := range c.Alignment.Zones {
		for _, short := range z.Short {
			l.claim("comparison Alignment rejected", c, func() error {
				if short.Absent || c.Alignment.Container != "" && c.Alignment.Container != l.pod.Spec.Containers[0].Name {
					return errUntried // with more there, an earlier container may go there
				}
				lacks := func() bool {
					o := l.rejects(l.pod, c.Plugin, c.Node)
					if o == nil || o.Comparison == nil || o.Comparison.Alignment == nil || o.Comparison.Alignment.Container != c.Alignment.Container {
						return false
					}
					for _, other := range o.Comparison.Alignment.Zones {
						if other.Zone == z.Zone {
							return slices.ContainsFunc(other.Short, func(s result.ZoneShortage) bool { return s.Resource == short.Resource })
						}
					}
					return false
				}
				change := func(less int64) {
					l.topology(c.Node, func(t *v1alpha2.NodeResourceTopology) {
						taken := int64(0)
						for _, zone := range t.Zones {
							if zone.Name != z.Zone && zone.Name != v1alpha2.ZonePrefix+z.Zone {
								continue
							}
							for _, r := range zone.Resources {
								if r.Name == short.Resource {
									taken = amountOf(v1.ResourceList{v1.ResourceName(r.Name): r.Available}, r.Name) - short.Available
								}
							}
						}
						setAvailable(t, z.Zone, short.Resource, short.Requested+taken-less)
					})
				}
				mark := l.trial.Mark()
				if change(0); lacks() {
					return fmt.Errorf("with as much as is requested, %s lacks %s", z.Zone, short.Resource)
				}
				l.trial.Rollback(mark)
				if change(1); !lacks() {
					return fmt.Errorf("with a hair less than is requested, %s does not lack %s", z.Zone, short.Resource)
				}
				return nil
			})
		}
	}
}

// aligned: "container main gets node-1". Without anything there, it gets another one, or the node is rejected.
func (l *lab) aligned(c *result.Comparison) {
	for _, part := range c.Aligned {
		kind := "comparison Aligned passed"
		if qos.GetPodQOS(l.pod) != v1.PodQOSGuaranteed {
			kind = "comparison Aligned of a pod that is not Guaranteed"
		}
		l.claim(kind, part, func() error {
			l.topology(c.Node, func(t *v1alpha2.NodeResourceTopology) {
				for _, name := range []string{"cpu", "memory"} {
					setAvailable(t, part.Zone, name, 0)
				}
			})
			after, rejected := l.compare(l.pod, c.Plugin, c.Node)
			if !rejected && after != nil && slices.Contains(after.Aligned, part) {
				return fmt.Errorf("with nothing in the NUMA node, it gets it")
			}
			return nil
		})
	}
}

// unalignedOn repeats what the comparison says of the nearest node.
func (l *lab) unalignedOn(s explain.Unaligned) error {
	if len(s.Zones) == 0 {
		return fmt.Errorf("no NUMA node is named")
	}
	nodes := 0
	for _, node := range l.nodes() {
		if l.rejects(l.pod, "NodeResourceTopologyMatch", node) != nil {
			nodes++
		}
	}
	if nodes != s.Nodes {
		return fmt.Errorf("%d nodes cannot align it", nodes)
	}
	return nil
}

// missingFeatures: a node that declares the feature lacks it no more.
func (l *lab) missingFeatures(c *result.Comparison) {
	for _, f := range c.Features {
		l.claim("comparison Features rejected", f, func() error {
			l.changeNode(c.Node, func(n *v1.Node) { n.Status.DeclaredFeatures = append(n.Status.DeclaredFeatures, f.Name) })
			o := l.rejects(l.pod, c.Plugin, c.Node)
			if f.Declared || o != nil && o.Comparison != nil && slices.Contains(o.Comparison.Features, f) {
				return fmt.Errorf("it lacks a feature that it declares")
			}
			return nil
		})
	}
}

// declaredFeatures: a node that does not declare the feature is rejected.
func (l *lab) declaredFeatures(c *result.Comparison) {
	for _, f := range c.Features {
		l.claim("comparison Features passed", f, func() error {
			l.changeNode(c.Node, func(n *v1.Node) { n.Status.DeclaredFeatures = nil })
			if l.rejects(l.pod, c.Plugin, c.Node) == nil {
				return fmt.Errorf("without it the node is let through")
			}
			return nil
		})
	}
}

// panicked: a pod that the plugin can bear is not said to have made it panic.
func (l *lab) panicked() error {
	sturdy := l.as(func(p *v1.Pod) { delete(p.Labels, "fragile") })
	for _, s := range explain.Cycle(l.decide(sturdy)).Remarks {
		if _, panics := s.Operands.(explain.PluginPanicked); panics {
			return fmt.Errorf("the plugin panics for any pod")
		}
	}
	return nil
}

// failed: the error is that of the plugin that panicked.
func (l *lab) failed() error {
	if _, failed := explain.Cycle(l.decide(l.as(func(p *v1.Pod) { delete(p.Labels, "fragile") }))).Headline.Operands.(explain.CycleError); failed {
		return fmt.Errorf("a pod that no plugin fails on fails")
	}
	return nil
}

// brittle is a Filter plugin that panics for some pods.
type brittle struct{}

var _ fwk.FilterPlugin = brittle{}

func (brittle) Name() string { return "Fragile" }

func (brittle) Filter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ fwk.NodeInfo) *fwk.Status {
	if pod.Labels["fragile"] == "filter" {
		panic("it breaks")
	}
	return nil
}
