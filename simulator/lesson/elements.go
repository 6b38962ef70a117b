package lesson

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// element adds what a plugin looks at, under the plugin's name. NodeName has none: a pod with a
// node never reaches the scheduler.
var element = map[string]func(d *draft){
	"NodeResourcesFit":                (*draft).resources,
	"NodeResourcesBalancedAllocation": (*draft).balance,
	"TaintToleration":                 (*draft).taints,
	"NodeAffinity":                    (*draft).labels,
	"InterPodAffinity":                (*draft).neighbours,
	"PodTopologySpread":               (*draft).spread,
	"ImageLocality":                   (*draft).images,
	"NodePorts":                       (*draft).ports,
	"NodeUnschedulable":               (*draft).cordons,
	"VolumeBinding":                   (*draft).volumes,
}

// ExercisePlugins are the plugins for which there are exercises, by name.
func ExercisePlugins() []string { return slices.Sorted(maps.Keys(element)) }

// draft is an exercise in the making. It draws from random in a fixed order.
type draft struct {
	*Exercise
	random *rand.Rand
	// core is CPU in use by node, in thousandths, and gib memory in GiB.
	core, gib map[string]int64
}

// sizes are the numbers of nodes by level.
var sizes = []int{4, 5, 6}

// What each node has, in thousandths of a core and GiB.
const nodeCore, nodeGiB = 8000, 16

const image = "registry.k8s.io/pause:3.10"

func newDraft(random *rand.Rand, k ExerciseKey) *Exercise {
	d := &draft{Exercise: &Exercise{ExerciseKey: k, Pods: []*v1.Pod{}}, random: random, core: map[string]int64{}, gib: map[string]int64{}}
	for i := range sizes[k.Level-1] {
		name := fmt.Sprintf("node-%d", i+1)
		d.Nodes = append(d.Nodes, &v1.Node{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name, v1.LabelTopologyZone: "zone-" + string(rune('a'+i%3))}},
			Status: v1.NodeStatus{
				Allocatable: v1.ResourceList{v1.ResourceCPU: *resource.NewMilliQuantity(nodeCore, resource.DecimalSI), v1.ResourceMemory: *resource.NewQuantity(nodeGiB<<30, resource.BinarySI), v1.ResourcePods: resource.MustParse("110")},
				Conditions:  []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
			},
		})
	}
	d.Pod = d.newPod("checkout", "", 1000, 2)
	d.Pod.Labels = map[string]string{"app": "checkout"}
	element[k.Plugin](d)
	d.mix()
	d.fill()
	slices.SortFunc(d.Pods, func(a, b *v1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return d.Exercise
}

// mix adds what other plugins look at, one for each level after the first.
func (d *draft) mix() {
	others := slices.DeleteFunc(ExercisePlugins(), func(p string) bool { return p == d.Plugin || p == "VolumeBinding" })
	d.random.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	for _, p := range others[:d.Level-1] {
		element[p](d)
	}
}

// The requests are in thousandths of a core and GiB.
func (d *draft) newPod(name, node string, core, gib int64) *v1.Pod {
	requests := v1.ResourceList{}
	if core > 0 {
		requests[v1.ResourceCPU] = *resource.NewMilliQuantity(core, resource.DecimalSI)
	}
	if gib > 0 {
		requests[v1.ResourceMemory] = *resource.NewQuantity(gib<<30, resource.BinarySI)
	}
	d.core[node] += core
	d.gib[node] += gib
	return &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec: v1.PodSpec{
			NodeName: node, SchedulerName: v1.DefaultSchedulerName,
			Containers: []v1.Container{{Name: "main", Image: image, Resources: v1.ResourceRequirements{Requests: requests}}},
		},
	}
}

// run adds a running pod. It requests at most what the node has left: the scheduler would not have
// placed it otherwise.
func (d *draft) run(name, node string, core, gib int64) *v1.Pod {
	if node != "" {
		core, gib = min(core, nodeCore-d.core[node]), min(gib, nodeGiB-d.gib[node])
	}
	p := d.newPod(fmt.Sprintf("%s-%d", name, len(d.Pods)+1), node, core, gib)
	if node != "" {
		p.Status.Phase = v1.PodRunning
	}
	d.Pods = append(d.Pods, p)
	return p
}

// between includes least and most.
func (d *draft) between(least, most int64) int64 { return least + d.random.Int64N(most-least+1) }

func (d *draft) chance(percent int) bool { return d.random.IntN(100) < percent }

func pick[T any](d *draft, of ...T) T { return of[d.random.IntN(len(of))] }

// some returns a random part of the nodes: at least one, and not all.
func (d *draft) some() []*v1.Node {
	nodes := slices.Clone(d.Nodes)
	d.random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	return nodes[:1+d.random.IntN(len(nodes)-1)]
}

// fill gives every node other pods, so that no two nodes are the same. A node that has much keeps
// what it has.
func (d *draft) fill() {
	if d.Plugin == "NodeResourcesBalancedAllocation" && d.Level == 1 {
		return // the means stay equal
	}
	for _, n := range d.Nodes {
		if d.core[n.Name] < 3000 {
			d.run("other", n.Name, 250*d.between(1, 8), d.between(1, 4))
		}
	}
}

// resources makes some nodes too full. From the second level on, limits and usage suggest the
// opposite of requests.
func (d *draft) resources() {
	want := d.between(2, 4)
	d.Pod.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = *resource.NewQuantity(want, resource.DecimalSI)
	d.Usage = map[string]float64{}
	for _, n := range d.Nodes {
		d.Usage[n.Name] = float64(d.between(10, 90)) / 100
	}
	for _, n := range d.some() {
		// The node is left with less than the pod requests, or with exactly that.
		core, gib := 8000-1000*want+500*d.between(0, 2), d.between(1, 6)
		if d.Level > 1 && d.chance(40) {
			core, gib = 1000*d.between(1, 3), 14+d.between(0, 1)
		}
		d.run("batch", n.Name, core, gib)
		d.Usage[n.Name] = float64(d.between(3, 25)) / 100
	}
	if d.Level == 1 {
		return
	}
	for _, n := range d.some() {
		p := d.run("burst", n.Name, 500, 1)
		p.Spec.Containers[0].Resources.Limits = v1.ResourceList{v1.ResourceCPU: resource.MustParse("8"), v1.ResourceMemory: resource.MustParse("16Gi")}
	}
}

// balance gives the nodes the same mean of CPU and memory, but different shares of each. The pod
// wants much CPU and little memory.
func (d *draft) balance() {
	requests := d.Pod.Spec.Containers[0].Resources.Requests
	requests[v1.ResourceCPU], requests[v1.ResourceMemory] = *resource.NewMilliQuantity(2500+50*d.between(0, 10), resource.DecimalSI), resource.MustParse("1Gi")
	off := []int64{-2, -1, 0, 1, 2, -1}
	d.random.Shuffle(len(off), func(i, j int) { off[i], off[j] = off[j], off[i] })
	const mean = 3 // eighths of a node
	for i, n := range d.Nodes {
		d.run("batch", n.Name, 1000*(mean+off[i]), 2*(mean-off[i]))
	}
}

var taintKeys = []string{"dedicated", "spot", "upgrade"}

// taints taints some nodes; the pod tolerates one key or none.
func (d *draft) taints() {
	effects := []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule}
	if d.Level > 1 {
		effects = append(effects, v1.TaintEffectNoExecute, v1.TaintEffectPreferNoSchedule)
	}
	for _, n := range d.some() {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: pick(d, taintKeys...), Value: pick(d, "true", "batch"), Effect: pick(d, effects...)})
	}
	if d.chance(70) {
		t := v1.Toleration{Key: pick(d, taintKeys...), Operator: v1.TolerationOpExists}
		if d.Level > 1 && d.chance(50) {
			t.Operator, t.Value = v1.TolerationOpEqual, pick(d, "true", "batch")
		}
		if d.Level == Levels && d.chance(40) {
			t.Effect = v1.TaintEffectNoSchedule
		}
		d.Pod.Spec.Tolerations = append(d.Pod.Spec.Tolerations, t)
	}
}

// labels labels the nodes; the pod selects or prefers some.
func (d *draft) labels() {
	for _, n := range d.Nodes {
		n.Labels["disk"] = pick(d, "ssd", "hdd")
		if d.chance(60) {
			n.Labels["gpus"] = fmt.Sprint(d.between(1, 4))
		}
	}
	affinity := &v1.NodeAffinity{}
	term := func(key string, op v1.NodeSelectorOperator, values ...string) v1.NodeSelectorTerm {
		return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	switch required := d.random.IntN(3); {
	case required == 0:
		d.Pod.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	case required == 1 && d.Level > 1:
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
			pick(d, term("gpus", v1.NodeSelectorOpGt, "1"), term("gpus", v1.NodeSelectorOpDoesNotExist), term("disk", v1.NodeSelectorOpNotIn, "hdd")),
		}}
	}
	if d.Pod.Spec.NodeSelector == nil || d.Level > 1 {
		affinity.PreferredDuringSchedulingIgnoredDuringExecution = []v1.PreferredSchedulingTerm{{
			Weight: int32(pick[int64](d, 1, 50, 100)), Preference: pick(d, term("disk", v1.NodeSelectorOpIn, "ssd"), term("gpus", v1.NodeSelectorOpExists)),
		}}
	}
	if affinity.RequiredDuringSchedulingIgnoredDuringExecution != nil || affinity.PreferredDuringSchedulingIgnoredDuringExecution != nil {
		d.affinity().NodeAffinity = affinity
	}
}

func (d *draft) affinity() *v1.Affinity {
	if d.Pod.Spec.Affinity == nil {
		d.Pod.Spec.Affinity = &v1.Affinity{}
	}
	return d.Pod.Spec.Affinity
}

// neighbours runs caches and twins; the pod wants to be near the former and away from the latter.
func (d *draft) neighbours() {
	for _, n := range d.some() {
		if d.chance(60) {
			d.run("cache", n.Name, 500, 1).Labels = map[string]string{"app": "cache"}
		}
	}
	for _, n := range d.some() {
		if d.chance(60) {
			d.run("checkout", n.Name, 500, 1).Labels = map[string]string{"app": "checkout"}
		}
	}
	term := func(app, key string) v1.PodAffinityTerm {
		return v1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, TopologyKey: key}
	}
	near, away := term("cache", v1.LabelTopologyZone), term("checkout", v1.LabelHostname)
	if d.Level == Levels && d.chance(50) {
		away.TopologyKey = v1.LabelTopologyZone
	}
	a := d.affinity()
	if d.chance(60) {
		a.PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{away}}
	} else if d.Level > 1 {
		a.PodAntiAffinity = &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: away}}}
	}
	if d.chance(50) {
		a.PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{near}}
	} else if d.chance(60) || a.PodAntiAffinity == nil {
		a.PodAffinity = &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: near}}}
	}
}

// spread runs pods of the same app unevenly; the pod has a constraint.
func (d *draft) spread() {
	for _, n := range d.Nodes {
		for range d.between(0, 2) {
			d.run("checkout", n.Name, 250, 1).Labels = map[string]string{"app": "checkout"}
		}
	}
	c := v1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "checkout"}},
	}
	if d.Level > 1 {
		c.TopologyKey = pick(d, v1.LabelTopologyZone, v1.LabelHostname)
		c.MaxSkew = int32(d.between(1, 2))
		c.WhenUnsatisfiable = pick(d, v1.DoNotSchedule, v1.DoNotSchedule, v1.ScheduleAnyway)
	}
	d.Pod.Spec.TopologySpreadConstraints = append(d.Pod.Spec.TopologySpreadConstraints, c)
}

func (d *draft) images() {
	const model = "registry.example.com/checkout:2.0"
	d.Pod.Spec.Containers[0].Image = model
	size := 100 * d.between(3, 9) << 20
	for _, n := range d.some() {
		n.Status.Images = append(n.Status.Images, v1.ContainerImage{Names: []string{model}, SizeBytes: size})
	}
}

// ports runs pods with host ports; the pod wants one.
func (d *draft) ports() {
	port := pick[int32](d, 80, 443, 8080)
	d.Pod.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: port, HostPort: port, Protocol: v1.ProtocolTCP}}
	for _, n := range d.some() {
		p := v1.ContainerPort{ContainerPort: port, HostPort: port, Protocol: v1.ProtocolTCP}
		switch {
		case d.chance(25):
			p.HostPort = port + 1
		case d.Level > 1 && d.chance(35):
			p.Protocol = v1.ProtocolUDP
		case d.Level == Levels && d.chance(40):
			p.HostIP = "127.0.0.1"
		}
		d.run("proxy", n.Name, 250, 1).Spec.Containers[0].Ports = []v1.ContainerPort{p}
	}
}

// cordons cordons some nodes; at times the pod tolerates it.
func (d *draft) cordons() {
	for _, n := range d.some() {
		n.Spec.Unschedulable = true
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	}
	if d.Level > 1 && d.chance(25) {
		d.Pod.Spec.Tolerations = append(d.Pod.Spec.Tolerations, v1.Toleration{Key: v1.TaintNodeUnschedulable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule})
	}
}

// Only some nodes reach the pod's volume: those of a zone, or one.
func (d *draft) volumes() {
	key, value := v1.LabelTopologyZone, pick(d, "zone-a", "zone-b")
	if d.Level == 1 {
		value = "zone-a"
	}
	class := "regional"
	d.Objects = append(d.Objects,
		&storagev1.StorageClass{
			TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"}, ObjectMeta: metav1.ObjectMeta{Name: class},
			Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
		},
		&v1.PersistentVolume{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: "orders"},
			Spec: v1.PersistentVolumeSpec{
				Capacity: v1.ResourceList{v1.ResourceStorage: resource.MustParse("100Gi")}, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, StorageClassName: class,
				ClaimRef:               &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: metav1.NamespaceDefault, Name: "orders", UID: "orders"},
				PersistentVolumeSource: v1.PersistentVolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/orders"}},
				NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
					MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}}},
				}}}},
			},
			Status: v1.PersistentVolumeStatus{Phase: v1.VolumeBound},
		},
		&v1.PersistentVolumeClaim{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
			ObjectMeta: metav1.ObjectMeta{Name: "orders", Namespace: metav1.NamespaceDefault, UID: "orders", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
			Spec: v1.PersistentVolumeClaimSpec{
				AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, StorageClassName: &class, VolumeName: "orders",
				Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("100Gi")}},
			},
			Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimBound},
		})
	d.Pod.Spec.Volumes = []v1.Volume{{Name: "orders", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "orders"}}}}
}
