package claims

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"
)

// The following themes aim at kinds of statements that the others hardly ever reach.
func init() {
	themes = append(themes,
		theme{name: "volumes of one pod", volumes: 90, exclusive: 60},
		theme{name: "pools of devices", devices: 90, special: pools},
		theme{name: "few domains", special: fewDomains},
		theme{name: "workloads and gates", special: workloads},
		theme{name: "local volumes", volumes: 10, special: localVolumes},
		theme{name: "no nodes", special: noNodes},
		theme{name: "pod groups beside others", gates: map[string]bool{"GenericWorkload": true, "TopologyAwareWorkloadScheduling": true}, special: otherGangs},
	)
}

// pools makes pools of devices that several nodes have, or that are not complete.
func pools(g *generator) {
	for i, n := range g.nodes {
		s := newSlice(n.Name+"-more", gpuDriver, n.Name)
		s.Spec.Devices = []resourcev1.Device{{Name: "more-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"size": {StringValue: ptr.To("large")}}}}
		switch g.IntN(3) {
		case 0:
			s.Spec.Pool.ResourceSliceCount = 2
		case 1: // of this node and the next one
			s.Spec.NodeName = nil
			s.Spec.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
				{Key: host, Operator: v1.NodeSelectorOpIn, Values: []string{n.Name, g.nodes[(i+1)%len(g.nodes)].Name}},
			}}}}
		case 2:
			continue
		}
		g.add(s)
	}
}

// only replaces the pods of the cluster, and takes what nodes have that could keep pods off.
func (g *generator) only(pods ...*v1.Pod) {
	g.bound, g.pending = nil, nil
	g.cluster.objects = slices.DeleteFunc(g.cluster.objects, func(o runtime.Object) bool { _, pod := o.(*v1.Pod); return pod })
	for _, n := range g.nodes {
		n.Spec.Taints, n.Spec.Unschedulable = nil, false
	}
	for _, p := range pods {
		if g.add(p); p.Spec.NodeName != "" {
			p.Status.Phase = v1.PodRunning
			g.bound = append(g.bound, p)
		} else {
			g.pending = append(g.pending, p)
		}
	}
}

// fewDomains makes pods that ask for more domains than there are.
func fewDomains(g *generator) {
	var pods []*v1.Pod
	domains := 1 + g.IntN(2)
	for i, n := range g.nodes {
		n.Labels[zone] = string(rune('a' + i%domains))
		n.Status.Allocatable[v1.ResourcePods], n.Status.Allocatable[v1.ResourceCPU] = resource.MustParse("16"), resource.MustParse("4")
		if i < domains {
			p := replica(fmt.Sprint("old-", i), "100m")
			p.Spec.NodeName = n.Name
			pods = append(pods, p)
		}
	}
	p := replica("new", "100m")
	p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: v1.DoNotSchedule, MinDomains: ptr.To(int32(domains + 1 + g.IntN(2))),
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
	}}
	g.only(append(pods, p)...)
}

// workloads makes a workload of which not all replicas fit, a pod whose host port is taken everywhere, and one with gates.
func workloads(g *generator) {
	meta := metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-web"}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	var pods []*v1.Pod
	cpu, listening := one(g, "800m", "1500m"), []v1.ContainerPort{{ContainerPort: 8080, HostPort: 8080, Protocol: v1.ProtocolTCP}}
	for i, n := range g.nodes {
		n.Status.Allocatable[v1.ResourceCPU], n.Status.Allocatable[v1.ResourcePods] = resource.MustParse("2"), resource.MustParse("16")
		other := replica(fmt.Sprint("other-", i), one(g, "300m", "1300m"))
		other.Labels["app"], other.Spec.NodeName = "y", n.Name
		other.Spec.Containers[0].Ports = listening
		pods = append(pods, other)
	}
	like := replica("like", cpu)
	if g.chance(30) {
		like.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: host, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: selector}}
	}
	template := v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: like.Labels}, Spec: *like.Spec.DeepCopy()}
	template.Spec.Priority = nil
	kind, replicas := one(g, "ReplicaSet", "StatefulSet"), 2+g.IntN(5)
	for i := range replicas {
		p := replica(fmt.Sprint("web-", i), cpu)
		p.Spec = *like.Spec.DeepCopy()
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: meta.Name, UID: meta.UID, Controller: ptr.To(true)}}
		if n := g.nodes[i%len(g.nodes)]; i < len(g.nodes) && pods[i].Spec.Containers[0].Resources.Requests.Cpu().MilliValue() < 500 {
			p.Spec.NodeName = n.Name
		}
		pods = append(pods, p)
	}
	wanted := ptr.To(int32(replicas + g.IntN(3))) // some are still to be made
	listener := replica("listener", "100m")
	listener.Labels["app"], listener.Spec.Containers[0].Ports = "y", listening
	gated := replica("gated", "100m")
	gated.Labels["app"] = "y"
	gated.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
	if kind == "ReplicaSet" {
		g.add(&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector, Replicas: wanted, Template: template}})
	} else {
		g.add(&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector, Replicas: wanted, Template: template, ServiceName: "web", PodManagementPolicy: appsv1.ParallelPodManagement}})
	}
	g.only(append(pods, listener, gated)...)
}

// localVolumes makes pods of which several nodes have volumes.
func localVolumes(g *generator) {
	var pods []*v1.Pod
	for _, n := range g.nodes {
		n.Status.Allocatable[v1.ResourcePods] = resource.MustParse("16")
		g.addVolume("local", "2Gi", nil, n)
		g.addVolume("local", one(g, "4Gi", "9Gi"), nil, n)
	}
	for i := range 2 {
		p := replica(fmt.Sprint("data-", i), "100m")
		claim := g.addClaim(p.Namespace, "data-of-"+p.Name, one(g, "1Gi", "3Gi"), "local")
		p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}}}
		pods = append(pods, p)
	}
	g.only(pods...)
}

// noNodes takes the nodes away, and what is on them.
func noNodes(g *generator) {
	g.only(replica("new", "100m"), prioritized(replica("important", "1"), 100))
	g.cluster.objects = slices.DeleteFunc(g.cluster.objects, func(o runtime.Object) bool { _, node := o.(*v1.Node); return node })
}

// otherGangs makes one of four pod groups: enough of its members run already; it does not fit, even without all other pods; some of its
// members find nodes; or no placement suits it.
func otherGangs(g *generator) {
	var pods []*v1.Pod
	members := func(name string, n int, cpu string, priority int32) {
		for i := range n {
			p := prioritized(replica(fmt.Sprint(name, "-", i), cpu), priority)
			p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
			pods = append(pods, p)
		}
	}
	for _, n := range g.nodes {
		n.Labels["rack"] = one(g, "r1", "r2")
		n.Status.Allocatable[v1.ResourceCPU], n.Status.Allocatable[v1.ResourcePods] = resource.MustParse("2"), resource.MustParse("16")
		n.Status.Allocatable[v1.ResourceMemory] = resource.MustParse("4Gi")
	}
	group := st.MakePodGroup().Name("gang").Namespace("default").Priority(100)
	switch g.turn % 6 { // there are two nodes at least
	case 0: // it has enough
		members("gang", 3, "500m", 100)
		pods[0].Spec.NodeName, pods[1].Spec.NodeName = g.nodes[0].Name, g.nodes[0].Name
		pods[2].Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse("8")
		g.add(group.MinCount(2).Obj())
	case 1: // preemption cannot make room
		members("gang", 2, "3", 100)
		g.add(group.MinCount(2).Obj())
	case 2: // some find a node
		members("gang", len(g.nodes)+1, "1500m", 100)
		if g.chance(40) {
			group = group.TopologyKey("rack")
		}
		g.add(group.MinCount(int32(len(g.nodes) + 1)).Obj())
	case 3: // there are no racks of that kind
		members("gang", 2, "500m", 100)
		g.add(group.MinCount(2).TopologyKey("example.com/row").Obj())
	case 5: // other pods give way
		members("gang", 2, "1500m", 100)
		for i, n := range g.nodes {
			low := replica(fmt.Sprint("low-", i), "1")
			low.Spec.NodeName = n.Name
			pods = append(pods, low)
		}
		g.add(group.MinCount(2).Obj())
	case 4: // the first member takes the only node for the second, unless a pod goes that may stay
		members("gang", 1, "1", 100)
		members("gang-more", 1, "2", 100)
		pods[1].Spec.SchedulingGroup = pods[0].Spec.SchedulingGroup
		for i, n := range g.nodes {
			n.Status.Images, n.Status.Allocatable[v1.ResourceCPU] = nil, resource.MustParse([]string{"2", "2200m", "100m"}[min(i, 2)])
		}
		low := replica("old", "1100m")
		low.Spec.NodeName = g.nodes[1].Name
		g.add(group.MinCount(2).Obj())
		g.only(append(pods, low)...)
		return
	}
	for i, n := range g.nodes {
		p := replica(fmt.Sprint("old-", i), one(g, "200m", "400m"))
		p.Spec.NodeName, p.UID = n.Name, types.UID(fmt.Sprint("uid-old-", i))
		pods = append(pods, p)
	}
	g.only(pods...)
}
