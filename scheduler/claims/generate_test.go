package claims

import (
	"fmt"
	"math/rand/v2"
	"strings"

	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	podresources "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

// cluster is a random state, and what is asked about it.
type cluster struct {
	name          string
	gates         map[string]bool
	configuration string
	objects       []runtime.Object
	// pods are those that are asked about, pending and bound.
	pods []types.NamespacedName
}

// theme says what the pods of a cluster have, in percent of them.
type theme struct {
	name          string
	gates         map[string]bool
	configuration string
	// each is the share of the pods with a trait.
	shapes, spread, affinity, taints, selectors, ports, volumes, devices, priorities, score int
	// exclusive is the share of the volumes that one pod may use at a time.
	exclusive int
	// special adds what only this theme has.
	special func(*generator)
}

var themes = []theme{
	{name: "mixed", shapes: 40, spread: 15, affinity: 20, taints: 25, selectors: 20, ports: 10, volumes: 15, devices: 10, priorities: 30, score: 30},
	{name: "resources", shapes: 90, taints: 5, priorities: 20},
	{name: "spread", spread: 90, taints: 40, selectors: 20, shapes: 10, priorities: 10},
	{name: "pod affinity", affinity: 90, priorities: 10, shapes: 10},
	{name: "taints and labels", taints: 80, selectors: 70, shapes: 10, ports: 10},
	{name: "storage", volumes: 90, selectors: 10, priorities: 40, special: attachments},
	{name: "devices", devices: 90, priorities: 20},
	{name: "preemption", priorities: 90, shapes: 20, ports: 20, affinity: 15, spread: 10},
	{name: "scores", score: 90, selectors: 10, shapes: 30, spread: 20, affinity: 20, volumes: 20},
	{name: "packing", configuration: packing, score: 60, shapes: 40, volumes: 40},
}

const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 1\n"

// thumbs weigh down the scales of the experiments; see thumbs.
const thumbsEnabled = "{name: Thumb, weight: 1}, {name: HeavyThumb, weight: 100}"

const plain = `profiles:
- schedulerName: default-scheduler
  plugins: {score: {enabled: [` + thumbsEnabled + `]}}
`

const packing = `profiles:
- schedulerName: default-scheduler
  plugins: {score: {enabled: [` + thumbsEnabled + `]}}
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: cpu, weight: 3}, {name: memory, weight: 1}, {name: example.com/card, weight: 2}]
        requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 70, score: 10}, {utilization: 100, score: 4}]}
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: NotIn, values: [closed]}]}]}
        preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}]
`

const (
	zone = v1.LabelTopologyZone
	host = v1.LabelHostname
	card = v1.ResourceName("example.com/card")
)

// namespaces are those of the cluster with their labels.
var namespaces = map[string]map[string]string{"default": {"team": "red"}, "blue": {"team": "blue"}, "green": {"team": "green", "stage": "production"}}

type generator struct {
	*rand.Rand
	theme
	cluster *cluster
	nodes   []*v1.Node
	bound   []*v1.Pod
	pending []*v1.Pod
	count   int
	// turn counts the clusters of the theme, for themes that aim at several kinds of statements.
	turn int
}

// generate returns the cluster of a seed.
func generate(seed uint64) *cluster {
	th := themes[seed%uint64(len(themes))]
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 43)), theme: th, turn: int(seed / uint64(len(themes))), cluster: &cluster{
		name: fmt.Sprintf("seed %d: %s", seed, th.name), gates: th.gates, configuration: header,
	}}
	if th.configuration == "" {
		g.cluster.configuration += plain
	}
	g.cluster.configuration += th.configuration
	g.base()
	for range 2 + g.IntN(5) {
		g.addNode()
	}
	g.storage()
	g.deviceClasses()
	for range 2 + g.IntN(3*len(g.nodes)) {
		g.addBound()
	}
	for range 1 + g.IntN(4) {
		g.addPending()
	}
	g.budgets()
	if th.special != nil {
		th.special(g)
	}
	g.ask()
	return g.cluster
}

// chance returns true in percent of the cases.
func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// one returns one of the choices.
func one[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) add(objects ...runtime.Object) {
	g.cluster.objects = append(g.cluster.objects, objects...)
}

// base adds what every cluster has.
func (g *generator) base() {
	for _, name := range []string{"default", "blue", "green"} {
		labels := map[string]string{v1.LabelMetadataName: name}
		for k, v := range namespaces[name] {
			labels[k] = v
		}
		g.add(&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	for name, value := range map[string]int32{"low": 10, "middle": 100, "high": 1000} {
		g.add(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value})
	}
	g.add(&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "boxed"}, Handler: "boxed", Overhead: &nodev1.Overhead{PodFixed: overhead()}})
}

func overhead() v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: resource.MustParse("150m"), v1.ResourceMemory: resource.MustParse("64Mi")}
}

func (g *generator) addNode() {
	name := fmt.Sprint("n", len(g.nodes)+1)
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{host: name}}}
	if g.chance(85) {
		n.Labels[zone] = one(g, "a", "b", "c")
	}
	if g.chance(50) {
		n.Labels["disk"] = one(g, "ssd", "hdd")
	}
	if g.chance(40) {
		n.Labels["pool"] = one(g, "open", "closed")
	}
	if g.chance(30) {
		n.Labels["generation"] = one(g, "3", "7")
	}
	can := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(one(g, "1", "2", "3", "4")), v1.ResourceMemory: resource.MustParse(one(g, "1Gi", "2Gi", "4Gi")),
		v1.ResourcePods: resource.MustParse(one(g, "2", "4", "8", "16")), v1.ResourceEphemeralStorage: resource.MustParse("8Gi"),
	}
	if g.chance(35) {
		can[card] = resource.MustParse(one(g, "1", "2"))
	}
	n.Status.Capacity, n.Status.Allocatable = can, can.DeepCopy()
	n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
	for _, image := range []string{"image-a", "image-b"} {
		if g.chance(40) {
			n.Status.Images = append(n.Status.Images, v1.ContainerImage{Names: []string{image + ":1"}, SizeBytes: 400 << 20})
		}
	}
	if g.chance(g.taints) {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "team", Value: one(g, "red", "blue"), Effect: one(g, v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute)})
	}
	if g.chance(g.taints / 2) {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "outage", Effect: v1.TaintEffectNoSchedule})
	}
	if g.chance(g.taints/2 + g.score/3) {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "old", Effect: v1.TaintEffectPreferNoSchedule})
	}
	if g.chance(g.taints / 4) {
		n.Spec.Unschedulable = true
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	}
	g.nodes = append(g.nodes, n)
	g.add(n)
}

// addPending adds a pod without a node: one that waits, one that is nominated, or one of another owner.
func (g *generator) addPending() {
	p := g.pod()
	p.Status.Phase = v1.PodPending
	g.add(p)
	g.pending = append(g.pending, p)
	if g.chance(g.priorities / 4) {
		p.Status.NominatedNodeName = one(g, g.nodes...).Name
	}
}

// addBound adds a pod on a node, if it has room by the rules that a kubelet checks too.
func (g *generator) addBound() {
	p := g.pod()
	n := one(g, g.nodes...)
	if !g.admits(n, p) {
		g.add(p)
		g.pending = append(g.pending, p)
		p.Status.Phase = v1.PodPending
		return
	}
	p.Spec.NodeName = n.Name
	p.Status.Phase = one(g, v1.PodRunning, v1.PodRunning, v1.PodRunning, v1.PodPending)
	started := metav1.Unix(1_700_000_000+int64(60*g.IntN(3)), 0)
	p.Status.StartTime = &started
	switch {
	case g.chance(12):
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(metav1.Unix(4_000_000_000, 0)), ptr.To[int64](300)
	case g.chance(g.shapes / 3):
		g.resize(p)
	}
	g.use(p)
	g.bound = append(g.bound, p)
	g.add(p)
}

// admits reports whether a kubelet would admit the pod beside the others.
func (g *generator) admits(n *v1.Node, p *v1.Pod) bool {
	sum := podresources.PodRequests(p, podresources.PodResourcesOptions{})
	pods := int64(1)
	for _, other := range g.bound {
		if other.Spec.NodeName != n.Name {
			continue
		}
		pods++
		for name, q := range podresources.PodRequests(other, podresources.PodResourcesOptions{UseStatusResources: true}) {
			total := sum[name]
			total.Add(q)
			sum[name] = total
		}
		for _, port := range hostPorts(p) {
			for _, taken := range hostPorts(other) {
				if port == taken {
					return false
				}
			}
		}
	}
	for name, q := range sum {
		if can := n.Status.Allocatable[name]; q.Cmp(can) > 0 {
			return false
		}
	}
	return pods <= n.Status.Allocatable.Pods().Value() && g.available(n, p)
}

func hostPorts(p *v1.Pod) []int32 {
	var out []int32
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				out = append(out, port.HostPort)
			}
		}
	}
	return out
}

// resize gives a running pod a resize in place that the kubelet has not made: its first container asks for more than was allocated.
func (g *generator) resize(p *v1.Pod) {
	c := &p.Spec.Containers[0]
	asked, ok := c.Resources.Requests[v1.ResourceCPU]
	if p.Spec.Resources != nil || p.Status.Phase != v1.PodRunning || !ok || ofDaemonSet(p) {
		return
	}
	had := c.Resources.Requests.DeepCopy()
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, v1.ContainerStatus{
			Name: c.Name, Image: c.Image, AllocatedResources: c.Resources.Requests.DeepCopy(),
			Resources: &v1.ResourceRequirements{Requests: c.Resources.Requests.DeepCopy()},
			State:     v1.ContainerState{Running: &v1.ContainerStateRunning{}},
		})
	}
	p.Status.ContainerStatuses[0].AllocatedResources = had
	p.Status.AllocatedResources = podresources.PodRequests(p, podresources.PodResourcesOptions{})
	p.Status.Resources = &v1.ResourceRequirements{Requests: p.Status.AllocatedResources.DeepCopy()}
	more := asked.DeepCopy()
	more.Add(resource.MustParse(one(g, "500m", "2", "100")))
	c.Resources.Requests[v1.ResourceCPU] = more
	p.Generation = 2
	p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
		Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: one(g, v1.PodReasonDeferred, v1.PodReasonInfeasible), ObservedGeneration: 2,
	})
}

// ofDaemonSet reports whether a DaemonSet would make a pod like this for a new node, from a template that knows of no resize.
func ofDaemonSet(p *v1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && owner.Kind == "DaemonSet"
}

// pod returns a pod that is neither bound nor part of the cluster yet.
func (g *generator) pod() *v1.Pod {
	g.count++
	name := fmt.Sprint("p", g.count)
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: g.namespace(), Labels: map[string]string{"app": one(g, "x", "y", "z")},
		CreationTimestamp: metav1.Unix(1_700_000_000+int64(g.count), 0), Generation: 1,
	}}
	p.UID = types.UID("uid-" + name)
	if g.chance(30) {
		p.Labels["tier"] = one(g, "front", "back")
	}
	p.Spec = v1.PodSpec{
		SchedulerName: v1.DefaultSchedulerName, RestartPolicy: v1.RestartPolicyAlways, DNSPolicy: v1.DNSClusterFirst,
		TerminationGracePeriodSeconds: ptr.To[int64](30), Priority: ptr.To[int32](0), EnableServiceLinks: ptr.To(true),
	}
	p.Spec.Containers = []v1.Container{g.container("main")}
	if g.chance(25) {
		p.Spec.Containers = append(p.Spec.Containers, g.container("second"))
	}
	g.shape(p)
	g.prioritize(p)
	g.constrain(p)
	if g.chance(g.ports) {
		port := int32(8080 + g.IntN(2))
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: port, HostPort: port, Protocol: one(g, v1.ProtocolTCP, v1.ProtocolTCP, v1.ProtocolUDP)}}
	}
	g.owner(p)
	if g.chance(g.volumes) {
		g.volume(p)
	}
	if g.chance(g.devices) {
		g.claim(p)
	}
	return p
}

func (g *generator) namespace() string {
	if g.exclusive > 0 {
		return "default"
	}
	return one(g, "default", "default", "blue", "green")
}

func (g *generator) container(name string) v1.Container {
	c := v1.Container{
		Name: name, Image: one(g, "image-a", "image-b", "image-c") + ":1", ImagePullPolicy: v1.PullIfNotPresent,
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: v1.TerminationMessageReadFile,
	}
	c.Resources.Requests = v1.ResourceList{}
	if g.chance(85) {
		c.Resources.Requests[v1.ResourceCPU] = resource.MustParse(one(g, "100m", "300m", "500m", "1", "2"))
	}
	if g.chance(70) {
		c.Resources.Requests[v1.ResourceMemory] = resource.MustParse(one(g, "64Mi", "256Mi", "1Gi"))
	}
	if g.chance(8) {
		c.Resources.Requests[v1.ResourceEphemeralStorage] = resource.MustParse(one(g, "1Gi", "5Gi"))
	}
	if g.chance(10) {
		c.Resources.Requests[card] = resource.MustParse("1")
		c.Resources.Limits = v1.ResourceList{card: resource.MustParse("1")}
	}
	return c
}

// shape gives a pod what makes its request differ from the sum of its containers.
func (g *generator) shape(p *v1.Pod) {
	if !g.chance(g.shapes) {
		return
	}
	switch g.IntN(6) {
	case 0, 1:
		first := g.container("prepare")
		p.Spec.InitContainers = append(p.Spec.InitContainers, first)
	case 2:
		sidecar := g.container("sidecar")
		sidecar.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
		p.Spec.InitContainers = append(p.Spec.InitContainers, sidecar)
		if g.chance(60) {
			p.Spec.InitContainers = append(p.Spec.InitContainers, g.container("migrate"))
		}
	case 3:
		p.Spec.RuntimeClassName, p.Spec.Overhead = ptr.To("boxed"), overhead()
	case 4:
		// The request of the pod is at least the sum of those of its containers.
		sum := podresources.AggregateContainerRequests(p, podresources.PodResourcesOptions{})
		requests := v1.ResourceList{}
		for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
			q := sum[name].DeepCopy()
			q.Add(resource.MustParse(map[v1.ResourceName]string{v1.ResourceCPU: "200m", v1.ResourceMemory: "128Mi"}[name]))
			requests[name] = q
		}
		p.Spec.Resources = &v1.ResourceRequirements{Requests: requests}
	case 5:
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Resources = v1.ResourceRequirements{}
		}
	}
}

func (g *generator) prioritize(p *v1.Pod) {
	if !g.chance(g.priorities) {
		return
	}
	class := one(g, "low", "middle", "middle", "high")
	p.Spec.PriorityClassName, p.Spec.Priority = class, ptr.To(map[string]int32{"low": 10, "middle": 100, "high": 1000}[class])
	p.Spec.PreemptionPolicy = ptr.To(v1.PreemptLowerPriority)
	if g.chance(8) {
		p.Spec.PreemptionPolicy = ptr.To(v1.PreemptNever)
	}
}

// owner makes a pod one of the replicas of a workload, whose template it shows no sign of: only the reference counts.
func (g *generator) owner(p *v1.Pod) {
	kind := ""
	switch g.IntN(8) {
	case 0, 1:
		kind = "ReplicaSet"
	case 2:
		kind = "StatefulSet"
	case 3:
		kind = "DaemonSet"
	default:
		return
	}
	name := strings.ToLower(kind) + "-" + p.Labels["app"]
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: ptr.To(true)}}
}

// constrain gives a pod the constraints on nodes and on other pods.
func (g *generator) constrain(p *v1.Pod) {
	if g.chance(g.taints / 2) {
		t := v1.Toleration{Key: "team", Operator: v1.TolerationOpEqual, Value: one(g, "red", "blue"), Effect: one(g, v1.TaintEffectNoSchedule, "", v1.TaintEffectNoExecute)}
		if g.chance(30) {
			t.Operator, t.Value = v1.TolerationOpExists, ""
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
	if g.chance(g.taints / 4) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: v1.TaintNodeUnschedulable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule})
	}
	if g.chance(g.selectors) {
		g.selectNodes(p)
	}
	if g.chance(g.score) {
		g.prefer(p)
	}
	if g.chance(g.affinity) {
		g.relate(p)
	}
	if g.chance(g.theme.spread) {
		for range 1 + g.IntN(2) {
			g.spreadOver(p)
		}
	}
}

func (g *generator) requirement() v1.NodeSelectorRequirement {
	return one(g,
		v1.NodeSelectorRequirement{Key: "disk", Operator: v1.NodeSelectorOpIn, Values: []string{one(g, "ssd", "hdd")}},
		v1.NodeSelectorRequirement{Key: zone, Operator: v1.NodeSelectorOpIn, Values: []string{one(g, "a", "b"), "c"}},
		v1.NodeSelectorRequirement{Key: zone, Operator: v1.NodeSelectorOpNotIn, Values: []string{one(g, "a", "b", "c")}},
		v1.NodeSelectorRequirement{Key: "pool", Operator: v1.NodeSelectorOpExists},
		v1.NodeSelectorRequirement{Key: "pool", Operator: v1.NodeSelectorOpDoesNotExist},
		v1.NodeSelectorRequirement{Key: "generation", Operator: v1.NodeSelectorOpGt, Values: []string{"5"}},
		v1.NodeSelectorRequirement{Key: "generation", Operator: v1.NodeSelectorOpLt, Values: []string{"5"}},
	)
}

func (g *generator) term() v1.NodeSelectorTerm {
	t := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{g.requirement()}}
	if g.chance(40) {
		t.MatchExpressions = append(t.MatchExpressions, g.requirement())
	}
	return t
}

func (g *generator) selectNodes(p *v1.Pod) {
	if g.chance(40) {
		p.Spec.NodeSelector = map[string]string{"disk": one(g, "ssd", "hdd")}
		if g.chance(30) {
			p.Spec.NodeSelector[zone] = one(g, "a", "b")
		}
		return
	}
	required := &v1.NodeSelector{}
	for range 1 + g.IntN(2) {
		required.NodeSelectorTerms = append(required.NodeSelectorTerms, g.term())
	}
	if g.chance(15) {
		required.NodeSelectorTerms = []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{one(g, g.nodes...).Name}},
		}}}
		if fields := &required.NodeSelectorTerms[0].MatchFields; g.chance(40) { // of two that differ, no node meets both
			*fields = append(*fields, v1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{one(g, g.nodes...).Name}})
		}
	}
	affinityOf(p).NodeAffinity = &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}
}

func affinityOf(p *v1.Pod) *v1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &v1.Affinity{}
	}
	return p.Spec.Affinity
}

// prefer gives a pod preferences.
func (g *generator) prefer(p *v1.Pod) {
	if g.chance(60) {
		a := affinityOf(p)
		if a.NodeAffinity == nil {
			a.NodeAffinity = &v1.NodeAffinity{}
		}
		for range 1 + g.IntN(2) {
			a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				v1.PreferredSchedulingTerm{Weight: int32(1 + g.IntN(60)), Preference: g.term()})
		}
	}
	if g.chance(60) {
		w := v1.WeightedPodAffinityTerm{Weight: int32(1 + g.IntN(60)), PodAffinityTerm: g.podTerm()}
		if a := affinityOf(p); g.chance(50) {
			a.PodAffinity = &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{w}}
		} else {
			a.PodAntiAffinity = &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{w}}
		}
	}
	if g.chance(40) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, v1.TopologySpreadConstraint{
			MaxSkew: 1 + int32(g.IntN(2)), TopologyKey: one(g, zone, host), WhenUnsatisfiable: v1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}},
		})
	}
}

func (g *generator) podTerm() v1.PodAffinityTerm {
	t := v1.PodAffinityTerm{TopologyKey: one(g, zone, host), LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": one(g, "x", "y", "z")}}}
	if g.chance(20) {
		t.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}
	}
	switch g.IntN(6) {
	case 0:
		t.Namespaces = []string{one(g, "blue", "green")}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": one(g, "blue", "green")}}
	case 2:
		t.NamespaceSelector = &metav1.LabelSelector{}
	}
	return t
}

// relate gives a pod required terms of pod affinity: also several that differ in their namespaces alone.
func (g *generator) relate(p *v1.Pod) {
	terms := []v1.PodAffinityTerm{g.podTerm()}
	switch {
	case g.chance(25):
		other := *terms[0].DeepCopy()
		other.NamespaceSelector, other.Namespaces = nil, []string{one(g, "default", "blue", "green")}
		terms = append(terms, other)
	case g.chance(25):
		terms = append(terms, g.podTerm())
	}
	a := affinityOf(p)
	if g.chance(45) {
		if g.chance(50) {
			terms[0].LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}
			terms[0].Namespaces, terms[0].NamespaceSelector = nil, nil
			terms = terms[:1]
		}
		if a.PodAffinity == nil {
			a.PodAffinity = &v1.PodAffinity{}
		}
		a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = terms
		return
	}
	if a.PodAntiAffinity == nil {
		a.PodAntiAffinity = &v1.PodAntiAffinity{}
	}
	a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = terms
}

// spreadOver gives a pod a constraint, at most one for each topology key.
func (g *generator) spreadOver(p *v1.Pod) {
	c := v1.TopologySpreadConstraint{
		MaxSkew: 1 + int32(g.IntN(2)), TopologyKey: one(g, zone, zone, host), WhenUnsatisfiable: v1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": one(g, p.Labels["app"], p.Labels["app"], "x")}},
	}
	for _, other := range p.Spec.TopologySpreadConstraints {
		if other.TopologyKey == c.TopologyKey {
			return
		}
	}
	if g.chance(35) {
		c.MinDomains = ptr.To(int32(1 + g.IntN(4)))
	}
	if g.chance(50) {
		c.NodeTaintsPolicy = ptr.To(one(g, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore))
	}
	if g.chance(30) {
		c.NodeAffinityPolicy = ptr.To(one(g, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore))
	}
	if g.chance(20) {
		c.MatchLabelKeys = []string{"tier"}
	}
	p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
}

// budgets adds PodDisruptionBudgets, some of which allow nothing.
func (g *generator) budgets() {
	for _, app := range []string{"x", "y"} {
		if !g.chance(max(g.priorities, 20)) {
			continue
		}
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "budget-" + app, Namespace: "default"}}
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
		b.Spec.MinAvailable = ptr.To(intstr.FromInt32(1))
		b.Status.DisruptionsAllowed = int32(g.IntN(2))
		g.add(b)
	}
}

// ask chooses the pods that are asked about: all that are pending, and two that are bound.
func (g *generator) ask() {
	name := func(p *v1.Pod) types.NamespacedName {
		return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
	}
	for _, p := range g.pending {
		g.cluster.pods = append(g.cluster.pods, name(p))
	}
	g.Shuffle(len(g.bound), func(i, j int) { g.bound[i], g.bound[j] = g.bound[j], g.bound[i] })
	for _, p := range g.bound[:min(2, len(g.bound))] {
		if p.DeletionTimestamp == nil {
			g.cluster.pods = append(g.cluster.pods, name(p))
		}
	}
}
