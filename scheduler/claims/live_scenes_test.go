package claims

import (
	"fmt"
	"math/rand/v2"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	groupv1alpha1 "kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// sceneTheme is what random scenes are about.
type sceneTheme struct {
	name          string
	configuration string
	gates         map[string]bool
	fill          func(*director)
}

var sceneThemes = []sceneTheme{
	{name: "permits", configuration: doorsOnly, fill: (*director).permits},
	{name: "groups that wait", configuration: waitingGroups, gates: patient, fill: (*director).groups},
	{name: "events", configuration: quick, fill: (*director).wakes},
	{name: "replicas", configuration: batching, gates: map[string]bool{"OpportunisticBatching": true}, fill: (*director).replicas},
	{name: "victims that stay", configuration: quick, gates: patient, fill: (*director).victims},
	{name: "no scores", configuration: unscored, fill: (*director).replicas},
	{name: "devices of running pods", configuration: quick, fill: (*director).deviceUsers},
}

// patient makes the scheduler wait for the end of each backoff even when it has nothing else to do.
var patient = map[string]bool{"SchedulerPopFromBackoffQ": false}

// Pods that were rejected are tried again soon.
const liveHeader = header + "podInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 2\n"

const quick = liveHeader + `profiles: [{schedulerName: default-scheduler}]
`

const doorsOnly = liveHeader + `profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [` + doorsEnabled + `]}}
`

// Pods with default spreading are not batched.
const batching = liveHeader + `profiles:
- schedulerName: default-scheduler
  plugins:
    score: {disabled: [{name: "*"}], enabled: [{name: Ranked, weight: 1}]}
  pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List}
`

const makesRoom = liveHeader + `profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: Door-A}], disabled: [{name: DefaultPreemption}]}
`

const unscored = liveHeader + `profiles:
- schedulerName: default-scheduler
  plugins: {score: {disabled: [{name: "*"}]}}
`

const waitingGroups = liveHeader + `profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
  pluginConfig:
  - name: Coscheduling
    args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: CoschedulingArgs, permitWaitingTimeSeconds: %d, podGroupBackoffSeconds: %d, podGroupRejectPercentage: %d}
`

// director makes a scene.
type director struct {
	*generator
	scene *scene
	at    time.Duration
}

// newScene returns the scene of a seed.
func newScene(seed uint64) *scene {
	th := sceneThemes[seed%uint64(len(sceneThemes))]
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 44)), cluster: &cluster{}}
	d := &director{generator: g, scene: &scene{
		name: fmt.Sprintf("seed %d: %s", seed, th.name), gates: th.gates, configuration: th.configuration, seed: ptr.To(int64(seed)), doors: doors{"Door-A": {}, "Door-B": {}},
	}}
	if th.configuration == batching {
		d.scene.seed = nil
	}
	th.fill(d)
	return d.scene
}

// later returns a time after those that it returned before.
func (d *director) later(most time.Duration) time.Duration {
	d.at += 200*time.Millisecond + time.Duration(d.Int64N(int64(most)))
	return d.at
}

func (d *director) existing(objects ...runtime.Object) {
	d.scene.objects = append(d.scene.objects, objects...)
}

func (d *director) happens(e event) { d.scene.events = append(d.scene.events, e) }

// machine returns a node that exists already.
func (d *director) machine(cpu string) *v1.Node {
	name := fmt.Sprint("n", len(d.nodes)+1)
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{host: name}}}
	n.Status.Allocatable = v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("4Gi"), v1.ResourcePods: resource.MustParse("20")}
	n.Status.Capacity = n.Status.Allocatable.DeepCopy()
	d.nodes = append(d.nodes, n)
	return n
}

// replica returns a pod that requests so much CPU, and nothing else.
func replica(name, cpu string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: schedulertest.Namespace, Name: name, Labels: map[string]string{"app": "x"}, Generation: 1}}
	p.UID = types.UID("uid-" + name)
	p.Spec = v1.PodSpec{
		SchedulerName: v1.DefaultSchedulerName, Priority: ptr.To[int32](0), RestartPolicy: v1.RestartPolicyAlways, DNSPolicy: v1.DNSClusterFirst,
		TerminationGracePeriodSeconds: ptr.To[int64](30), EnableServiceLinks: ptr.To(true),
	}
	p.Spec.Containers = []v1.Container{{
		Name: "main", Image: "image-a:1", ImagePullPolicy: v1.PullIfNotPresent, TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: v1.TerminationMessageReadFile,
	}}
	p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}
	p.Status.Phase = v1.PodPending
	return p
}

func prioritized(p *v1.Pod, priority int32) *v1.Pod {
	p.Spec.Priority = &priority
	return p
}

// permits makes pods that plugins hold, let go, reject and forget, and some that are deleted or preempted meanwhile.
func (d *director) permits() {
	for range 1 + d.IntN(2) {
		d.existing(d.machine(one(d.generator, "1", "2", "3")))
	}
	for i := range 3 + d.IntN(4) {
		p := replica(fmt.Sprint("p", i+1), one(d.generator, "300m", "600m", "1"))
		if d.chance(30) {
			prioritized(p, 100)
		}
		d.happens(event{at: d.later(3 * time.Second), create: p})
		for name := range d.scene.doors {
			if !d.chance(55) {
				continue
			}
			r := rule{}
			switch d.IntN(8) {
			case 0, 1:
				r.hold, r.allow = 20*time.Second, time.Duration(1+d.IntN(8))*time.Second
			case 2, 3:
				r.hold = time.Duration(2+d.IntN(6)) * time.Second
			case 4:
				r.hold, r.reject = 20*time.Second, time.Duration(1+d.IntN(5))*time.Second
			case 5:
				r.hold = 100 * time.Second
			case 6:
				r.refuse = one(d.generator, "Reserve", "Permit", "PreBind", "PreBindPreFlight")
			case 7:
				r.fail = one(d.generator, "Reserve", "Permit", "PreBind")
			}
			d.scene.doors[name][p.Name] = r
		}
		if d.chance(25) {
			d.happens(event{at: d.at + time.Second, delete: p.Name})
		}
	}
}

// groups makes members of groups of Coscheduling, one after the other.
func (d *director) groups() {
	d.scene.configuration = fmt.Sprintf(d.scene.configuration, one(d.generator, 4, 30), one(d.generator, 0, 5), one(d.generator, 0, 10, 50))
	for range 1 + d.IntN(2) {
		d.existing(d.machine(one(d.generator, "1", "2", "3")))
	}
	for i := range 1 + d.IntN(2) {
		name, least := fmt.Sprint("g", i+1), 1+d.IntN(4)
		group := &groupv1alpha1.PodGroup{
			TypeMeta:   metav1.TypeMeta{APIVersion: groupv1alpha1.GroupVersion.String(), Kind: "PodGroup"},
			ObjectMeta: metav1.ObjectMeta{Namespace: schedulertest.Namespace, Name: name}, Spec: groupv1alpha1.PodGroupSpec{MinMember: int32(least)},
		}
		if d.chance(85) {
			d.existing(group)
		} else {
			d.happens(event{at: 4 * time.Second, create: group})
		}
		for j := range max(1, least-1+d.IntN(3)) {
			p := replica(fmt.Sprint(name, "-", j), one(d.generator, "500m", "500m", "1", "4"))
			p.Labels[groupv1alpha1.PodGroupLabel] = name
			if i == 1 && d.chance(20) {
				p.Spec.NodeSelector = map[string]string{host: "nowhere"}
			}
			d.happens(event{at: d.later(time.Second), create: p})
			if d.chance(15) {
				d.happens(event{at: d.at + time.Duration(1+d.IntN(5))*time.Second, delete: p.Name})
			}
		}
	}
	// Something that makes the queue try them again.
	d.happens(event{at: d.later(4 * time.Second), create: replica("other", "100m")})
	d.happens(event{at: d.later(6 * time.Second), delete: "other"})
}

// replicas makes pods that are alike, most of which have a node of their own.
func (d *director) replicas() {
	for range 3 + d.IntN(3) {
		d.existing(d.machine(one(d.generator, "1", "1", "2")))
	}
	at := d.later(time.Second)
	for i := range 3 + d.IntN(4) {
		d.happens(event{at: at + time.Duration(i)*20*time.Millisecond, create: replica(fmt.Sprint("p", i+1), "700m")})
	}
}

// victims makes pods that are to give way, some of which do not.
func (d *director) victims() {
	for range 1 + d.IntN(2) {
		n := d.machine("1")
		d.existing(n)
		for i := range 2 {
			p := replica(fmt.Sprint(n.Name, "-", i), "500m")
			p.Spec.NodeName, p.Status.Phase = n.Name, v1.PodRunning
			p.Status.StartTime = ptr.To(metav1.Unix(1_700_000_000, 0))
			d.existing(p)
			if d.chance(60) {
				d.scene.undeletable = append(d.scene.undeletable, p.Name)
			}
		}
	}
	for i := range 1 + d.IntN(2) {
		p := prioritized(replica(fmt.Sprint("p", i+1), one(d.generator, "500m", "1")), 100)
		d.happens(event{at: d.later(3 * time.Second), create: p})
		if i == 0 && d.chance(30) { // The plugin that makes room does not report its dry runs.
			d.scene.configuration, d.scene.undeletable = makesRoom, nil
			d.scene.doors["Door-A"][p.Name] = rule{clear: one(d.generator, d.nodes...).Name}
		}
	}
}

// deviceUsers makes pods that get devices.
func (d *director) deviceUsers() {
	d.existing(&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{{
		CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "` + gpuDriver + `"`},
	}}}})
	for range 1 + d.IntN(2) {
		n := d.machine("2")
		slice := newSlice(n.Name+"-gpu", gpuDriver, n.Name)
		for i := range 1 + d.IntN(3) {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("gpu-", i)})
		}
		d.existing(n, slice)
	}
	for i := range 2 + d.IntN(3) {
		p := replica(fmt.Sprint("p", i+1), "200m")
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name + "-gpus"}}
		claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{exactly("gpus", "gpu", int64(1+d.IntN(2)))}
		d.existing(claim)
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpus", ResourceClaimName: &claim.Name}}
		p.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "gpus"}}
		d.happens(event{at: d.later(2 * time.Second), create: p})
	}
}

// wakes makes pods that fit no node, and then events of which some help.
func (d *director) wakes() {
	for range 1 + d.IntN(2) {
		n := d.machine("1")
		if d.chance(40) {
			n.Spec.Taints = []v1.Taint{{Key: "team", Value: "red", Effect: v1.TaintEffectNoSchedule}}
		}
		d.existing(n)
		p := replica(n.Name+"-old", "800m")
		p.Spec.NodeName, p.Status.Phase = n.Name, v1.PodRunning
		if d.chance(40) {
			p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 8080, HostPort: 8080, Protocol: v1.ProtocolTCP}}
		}
		d.existing(p)
	}
	for i := range 2 + d.IntN(2) {
		p := replica(fmt.Sprint("p", i+1), one(d.generator, "100m", "500m", "500m"))
		switch d.IntN(5) {
		case 0:
			p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		case 1:
			p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 8080, HostPort: 8080, Protocol: v1.ProtocolTCP}}
		case 2:
			term := v1.PodAffinityTerm{TopologyKey: host, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}
			affinityOf(p).PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}
		}
		d.happens(event{at: d.later(time.Second), create: p})
	}
	for i := range 3 + d.IntN(3) {
		e := event{at: d.later(5*time.Second) + 8*time.Second, node: one(d.generator, d.nodes...).Name}
		d.at = e.at
		switch d.IntN(6) {
		case 0:
			e.delete = e.node + "-old"
		case 1:
			e.patch = `{"metadata":{"labels":{"disk":"ssd"}}}`
		case 2:
			e.patch = `{"spec":{"taints":[]}}`
		case 3:
			e.patch, e.status = fmt.Sprintf(`{"status":{"allocatable":{"cpu":"%d"},"capacity":{"cpu":"%d"}}}`, 3+i, 3+i), true
		case 4:
			e = event{at: e.at, create: d.machine("2")}
		case 5:
			e = event{at: e.at, pod: e.node + "-old", patch: `{"metadata":{"labels":{"app":"y"}}}`}
		}
		d.happens(e)
	}
}
