package schedulertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"
)

// Namespace is the namespace of all namespaced objects of a generated cluster.
const Namespace = "default"

const (
	zoneLabel = v1.LabelTopologyZone
	hostLabel = v1.LabelHostname
)

// theme defines the features that the pods of a cluster use.
type theme struct {
	name          string
	gates         map[string]bool
	nodes, steps  int
	configuration string
	// share of the pods, in percent, that have each trait
	volumes, devices, groups, preemption, alike, twins int
}

var themes = []theme{
	{name: "mixed", nodes: 6, steps: 30, volumes: 15, devices: 10, preemption: 30},
	{name: "constraints", nodes: 8, steps: 30, preemption: 10},
	{name: "preemption", nodes: 4, steps: 30, preemption: 90},
	{name: "volumes", nodes: 6, steps: 25, volumes: 80, preemption: 10},
	{name: "devices", nodes: 4, steps: 25, devices: 80, preemption: 20},
	{name: "groups", nodes: 6, steps: 25, groups: 60, preemption: 40, gates: map[string]bool{"GenericWorkload": true}},
	{name: "sampling", nodes: 115, steps: 12, preemption: 10, configuration: "percentageOfNodesToScore: 50\n"},
	{name: "profiles", nodes: 6, steps: 30, preemption: 30, volumes: 10, configuration: twoProfiles},
	{name: "every gate", nodes: 5, steps: 25, volumes: 15, devices: 15, groups: 30, preemption: 30, gates: map[string]bool{"AllAlpha": true, "AllBeta": true}},
	{name: "asynchronous calls", nodes: 5, steps: 25, volumes: 10, devices: 10, preemption: 50, gates: map[string]bool{"SchedulerAsyncAPICalls": true}},
	{name: "synchronous preemption", nodes: 4, steps: 25, preemption: 80, gates: map[string]bool{"SchedulerAsyncPreemption": false, "OpportunisticBatching": false, "SchedulerPopFromBackoffQ": false}},
	{name: "batches", nodes: 5, steps: 25, preemption: 10, alike: 80, configuration: noDefaultSpreading},
	{name: "out of tree", nodes: 5, steps: 30, preemption: 25, volumes: 10, configuration: withOutOfTree},
	{name: "parallel", nodes: 12, steps: 25, volumes: 10, preemption: 30, configuration: "parallelism: 16\n"},
	{name: "nominations", nodes: 4, steps: 30, preemption: 95, configuration: withWitness},
	{name: "no scores", nodes: 8, steps: 25, preemption: 30, volumes: 10, configuration: withoutScores},
	{name: "batches that score again", nodes: 5, steps: 25, preemption: 10, twins: 85, configuration: noDefaultSpreading},
}

// withWitness lets Witness run before all other Filter plugins.
const withWitness = `profiles:
- schedulerName: default-scheduler
  plugins:
    filter:
      disabled: [{name: "*"}]
      enabled: [{name: Witness}, {name: NodeUnschedulable}, {name: NodeName}, {name: TaintToleration}, {name: NodeAffinity}, {name: NodePorts},
        {name: NodeResourcesFit}, {name: VolumeRestrictions}, {name: VolumeBinding}, {name: PodTopologySpread}, {name: InterPodAffinity}]
`

const withoutScores = `profiles:
- schedulerName: default-scheduler
  plugins: {score: {disabled: [{name: "*"}]}}
`

const twoProfiles = `profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      disabled: [{name: NodeResourcesFit}]
      enabled: [{name: NodeResourcesFit, weight: 7}, {name: ImageLocality, weight: 3}]
- schedulerName: packer
  plugins:
    filter:
      disabled: [{name: NodePorts}]
    multiPoint:
      disabled: [{name: PodTopologySpread}]
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}
- schedulerName: bare-bones
  plugins:
    multiPoint:
      enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: TaintToleration}, {name: DefaultBinder}]
      disabled: [{name: "*"}]
`

// noDefaultSpreading allows pods to be signed, which turns opportunistic batching
// on for them.
const noDefaultSpreading = `profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List}
`

const withOutOfTree = `profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: Picky}, {name: Patient}, {name: Thorough}, {name: Brisk}]
`

// Themes is the number of themes that Generate cycles through.
var Themes = len(themes)

// Generate returns the cluster of a seed. The same seed always gives the same
// cluster.
func Generate(seed uint64) *Cluster {
	th := themes[seed%uint64(len(themes))]
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 37)), theme: th}
	c := &Cluster{
		Name:          fmt.Sprintf("seed %d: %s", seed, th.name),
		Gates:         th.gates,
		Configuration: "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + th.configuration,
	}
	if !strings.Contains(th.configuration, "parallelism") {
		c.Configuration += "parallelism: 1\n"
	}
	if g.IntN(2) == 0 {
		c.Grace = 1500 * time.Millisecond
	}
	g.cluster = c
	g.seed()
	for range th.steps {
		c.Operations = append(c.Operations, g.operation())
	}
	if g.chance(30) {
		// The scheduler retries pods that are unschedulable for five minutes.
		c.Operations = append(c.Operations, Operation{Name: "let six minutes pass", Wait: 6 * time.Minute, Do: nothing})
	}
	return c
}

func nothing(context.Context, *Simulation) error { return nil }

type generator struct {
	*rand.Rand
	theme   theme
	cluster *Cluster

	nodes, pods, gated           []string
	nodeCount, podCount, pvCount int
	claims, groups               int
	priority                     int32 // of the latest group
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// seed creates the objects that exist before the scheduler starts.
func (g *generator) seed() {
	for range g.theme.nodes {
		g.cluster.Objects = append(g.cluster.Objects, g.node())
	}
	g.cluster.Objects = append(g.cluster.Objects,
		&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}},
		st.MakeStorageClass().Name("late").Provisioner("test.example/volumes").VolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).Obj(),
		st.MakeStorageClass().Name("local").Provisioner("kubernetes.io/no-provisioner").VolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).Obj(),
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{{
			CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example"`},
		}}}},
	)
	for _, app := range []string{"a", "b"} {
		pdb := st.MakePDB().Name("budget-"+app).Namespace(Namespace).MatchLabel("app", app).DisruptionsAllowed(int32(g.IntN(2))).Obj()
		pdb.Spec.MinAvailable = ptr.To(intstr.FromInt32(1))
		g.cluster.Objects = append(g.cluster.Objects, pdb)
	}
	if g.theme.devices > 0 {
		for _, node := range g.nodes {
			if g.chance(70) {
				g.cluster.Objects = append(g.cluster.Objects, st.MakeResourceSlice(node, "gpu.example").Devices("gpu-0", "gpu-1").Obj())
			}
		}
	}
	// Pods of a later group would be ordered at random.
	groups := g.theme.groups
	g.theme.groups = 0
	for range 1 + g.IntN(6) {
		g.cluster.Objects = append(g.cluster.Objects, g.pod(g.name())...)
	}
	g.theme.groups = groups
}

func (g *generator) node() *v1.Node {
	g.nodeCount++
	name := fmt.Sprintf("n%d", g.nodeCount)
	g.nodes = append(g.nodes, name)
	n := st.MakeNode().Name(name).
		Label(hostLabel, name).
		Label(zoneLabel, pick(g, "west", "east", "north")).
		Label("disk", pick(g, "ssd", "hdd")).
		Capacity(map[v1.ResourceName]string{"cpu": pick(g, "2", "4", "4"), "memory": pick(g, "4Gi", "8Gi"), "pods": pick(g, "4", "10", "20")}).
		Images(map[string]int64{pick(g, "image-a", "image-b"): 200 << 20})
	n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
	if g.chance(20) {
		n.Taints([]v1.Taint{{Key: "team", Value: pick(g, "red", "blue"), Effect: pick(g, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule)}})
	}
	if g.chance(5) {
		n.Unschedulable(true)
	}
	return n.Obj()
}

func (g *generator) name() string {
	g.podCount++
	name := fmt.Sprintf("p%d", g.podCount)
	g.pods = append(g.pods, name)
	return name
}

// pod returns a pod, preceded by the objects that it needs.
func (g *generator) pod(name string) []runtimeObject {
	if g.chance(g.theme.alike) {
		// Only one of them fits a node.
		return []runtimeObject{st.MakePod().Name(name).Namespace(Namespace).SchedulerName(v1.DefaultSchedulerName).
			Label("app", "c").Res(map[v1.ResourceName]string{"cpu": "1500m"}).HostPort(7070).Obj()}
	}
	if g.chance(g.theme.twins) {
		// Several of them fit a node.
		return []runtimeObject{st.MakePod().Name(name).Namespace(Namespace).SchedulerName(v1.DefaultSchedulerName).
			Label("app", "c").Res(map[v1.ResourceName]string{"cpu": "100m"}).Obj()}
	}
	p := st.MakePod().Name(name).Namespace(Namespace).SchedulerName(v1.DefaultSchedulerName).
		Label("app", pick(g, "a", "b", "c")).
		Container(pick(g, "image-a", "image-b", "image-c")).
		Res(map[v1.ResourceName]string{"cpu": pick(g, "100m", "500m", "1", "2"), "memory": pick(g, "128Mi", "512Mi", "1Gi")})
	if strings.Contains(g.theme.configuration, "packer") {
		p.SchedulerName(pick(g, v1.DefaultSchedulerName, "packer", "bare-bones"))
	}
	if g.chance(g.theme.preemption) {
		p.Priority(pick[int32](g, 0, 10, 100, 1000))
		if g.chance(10) {
			p.PreemptionPolicy(v1.PreemptNever)
		}
	}
	g.constrain(p)
	var needs []runtimeObject
	if g.chance(g.theme.volumes) {
		needs = append(needs, g.volume(p, name)...)
	}
	// Of several plugins that keep a pod out of the queue, a random one answers first, so each pod
	// involves at most one.
	switch {
	case g.chance(10):
		p.SchedulingGates([]string{"example.com/wait"})
		g.gated = append(g.gated, name)
	case g.chance(g.theme.groups):
		needs = append(needs, g.group(p)...)
	case g.chance(g.theme.devices):
		needs = append(needs, g.device(p)...)
	}
	return append(needs, p.Obj())
}

// constrain gives a pod the constraints that filter and score nodes.
func (g *generator) constrain(p *st.PodWrapper) {
	if g.chance(25) {
		p.Tolerations([]v1.Toleration{{Key: "team", Operator: v1.TolerationOpEqual, Value: pick(g, "red", "blue"), Effect: v1.TaintEffectNoSchedule}})
	}
	if g.chance(15) {
		p.NodeSelector(map[string]string{"disk": pick(g, "ssd", "hdd")})
	}
	switch g.IntN(12) {
	case 0:
		p.NodeAffinityIn(zoneLabel, []string{pick(g, "west", "east"), "north"}, st.NodeSelectorTypeMatchExpressions)
	case 1:
		p.NodeAffinityIn("metadata.name", []string{pick(g, g.nodes...)}, st.NodeSelectorTypeMatchFields)
	case 2:
		p.NodeAffinity(&v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{{
			Weight: int32(1 + g.IntN(50)),
			Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{
				Key: zoneLabel, Operator: v1.NodeSelectorOpIn, Values: []string{pick(g, "west", "east")},
			}}},
		}}})
	}
	topology := pick(g, zoneLabel, hostLabel)
	switch g.IntN(10) {
	case 0:
		p.PodAffinityIn("app", topology, []string{pick(g, "a", "b")}, st.PodAffinityWithRequiredReq)
	case 1:
		p.PodAntiAffinityIn("app", topology, []string{pick(g, "a", "b", "c")}, st.PodAntiAffinityWithRequiredReq)
	case 2:
		p.PodAffinityIn("app", topology, []string{pick(g, "a", "b")}, st.PodAffinityWithPreferredReq)
	case 3:
		p.PodAntiAffinityIn("app", topology, []string{pick(g, "a", "b")}, st.PodAntiAffinityWithPreferredReq)
	case 4, 5:
		app := p.Obj().Labels["app"]
		p.SpreadConstraint(1+g.IntN(2), topology, pick(g, v1.DoNotSchedule, v1.DoNotSchedule, v1.ScheduleAnyway),
			st.MakeLabelSelector().Label("app", app).Obj(), nil, nil, nil, nil)
	}
	if g.chance(12) {
		p.HostPort(int32(8080 + g.IntN(2)))
	}
}

// volume gives a pod a claim: one to be provisioned, one to be bound to a volume of
// a zone, a bound one, or a missing one.
func (g *generator) volume(p *st.PodWrapper, name string) []runtimeObject {
	g.pvCount++
	claim := "claim-" + name
	p.PVC(claim)
	class := pick(g, "late", "late", "local", "bound", "none")
	if class == "none" {
		return nil
	}
	size := v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	pvc := st.MakePersistentVolumeClaim().Name(claim).Namespace(Namespace).
		AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}).
		Resources(v1.VolumeResourceRequirements{Requests: size})
	if class == "late" {
		return []runtimeObject{pvc.StorageClassName(ptr.To("late")).Obj()}
	}
	// The binder takes the smallest volume that fits. Among volumes of the same
	// size the choice is random.
	larger := v1.ResourceList{v1.ResourceStorage: resource.MustParse(fmt.Sprintf("%dMi", 1100+g.pvCount))}
	pv := st.MakePersistentVolume().Name(fmt.Sprintf("volume-%d", g.pvCount)).StorageClassName("local").
		AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}).Capacity(larger).
		HostPathVolumeSource(&v1.HostPathVolumeSource{Path: "/volume"}).
		NodeAffinityIn(zoneLabel, []string{pick(g, "west", "east", "north")}).
		Label(zoneLabel, pick(g, "west", "east", "north"))
	pv.Obj().Status.Phase = v1.VolumeAvailable
	pvc.StorageClassName(ptr.To("local"))
	if class == "local" {
		if g.chance(30) {
			return []runtimeObject{pvc.Obj()} // its volume comes with another pod
		}
		delete(pv.PersistentVolume.Labels, zoneLabel)
		return []runtimeObject{pv.Obj(), pvc.Obj()}
	}
	pvc.VolumeName(pv.Obj().Name).Annotation("pv.kubernetes.io/bind-completed", "yes")
	bound := pv.Obj()
	bound.Spec.ClaimRef = &v1.ObjectReference{Namespace: Namespace, Name: claim, UID: types.UID("persistentvolumeclaims/" + Namespace + "/" + claim + "#1")}
	return []runtimeObject{bound, pvc.Obj()}
}

// device gives a pod a resource claim: one of its own or another pod's.
func (g *generator) device(p *st.PodWrapper) []runtimeObject {
	if g.claims > 0 && g.chance(20) {
		claim := fmt.Sprintf("device-%d", 1+g.IntN(g.claims))
		p.PodResourceClaims(v1.PodResourceClaim{Name: "gpu", ResourceClaimName: &claim})
		return nil
	}
	g.claims++
	claim := fmt.Sprintf("device-%d", g.claims)
	p.PodResourceClaims(v1.PodResourceClaim{Name: "gpu", ResourceClaimName: &claim})
	return []runtimeObject{st.MakeResourceClaim().Name(claim).Namespace(Namespace).Request("gpu").Obj()}
}

// group puts a pod into a pod group, which the later pods join too.
func (g *generator) group(p *st.PodWrapper) []runtimeObject {
	p.Spec.PreemptionPolicy = nil
	if g.groups > 0 && g.chance(75) {
		p.PodGroupName(fmt.Sprintf("g%d", g.groups)).Priority(g.priority)
		return nil
	}
	g.groups++
	g.priority = pick[int32](g, 0, 10, 500)
	name := fmt.Sprintf("g%d", g.groups)
	p.PodGroupName(name).Priority(g.priority)
	group := st.MakePodGroup().Name(name).Namespace(Namespace).Priority(g.priority)
	if g.chance(20) {
		group.BasicPolicy()
	} else {
		group.MinCount(int32(2 + g.IntN(3)))
	}
	if g.theme.gates["AllAlpha"] && g.chance(60) {
		group.TopologyKey(zoneLabel)
	}
	return []runtimeObject{group.Obj()}
}
