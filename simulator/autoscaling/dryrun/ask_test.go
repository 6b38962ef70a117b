package dryrun_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

var builtIn = provider.New(instances.BuiltIn())

func ask(t *testing.T, q dryrun.Question) *dryrun.Answer {
	t.Helper()
	if q.Provider == nil {
		q.Provider = builtIn
	}
	answer, err := dryrun.Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// transcript writes an answer for people to read.
func transcript(a *dryrun.Answer) string {
	var b strings.Builder
	for _, p := range a.Pods {
		fmt.Fprintf(&b, "%s/%s: %s %s%s\n", p.Namespace, p.Name, p.Verdict, p.Node, p.Reason)
		for _, r := range p.Refused {
			fmt.Fprintf(&b, "  not %s (%s): %s", r.NodePool, r.Kind, r.Reason)
			if r.Otherwise != nil {
				fmt.Fprintf(&b, "; else %s", offer(*r.Otherwise))
			}
			b.WriteString("\n")
		}
	}
	for _, n := range a.NewNodes {
		fmt.Fprintf(&b, "%s: %s, one of %d types, for %s\n", n.Name, offer(n.Offer), n.Types, strings.Join(n.Pods, " "))
		for _, c := range n.Cheaper {
			fmt.Fprintf(&b, "  not %s: %s", offer(c.Offer), c.Reason)
			for _, s := range c.Short {
				fmt.Fprintf(&b, ", %s %s of %s", s.Resource, s.Has, s.Wanted)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func offer(o provider.Offer) string {
	return fmt.Sprintf("%s %s %s $%.4f", o.InstanceType, o.Zone, o.CapacityType, o.PricePerHour)
}

// nodePool returns a NodePool named name; each change makes it a particular one.
func nodePool(name string, changes ...func(*karpenter.NodePool)) *karpenter.NodePool {
	np := &karpenter.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	np.Spec.Template.Spec.NodeClassRef = &karpenter.NodeClassReference{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default"}
	for _, change := range changes {
		change(np)
	}
	return np
}

func requiring(key string, operator v1.NodeSelectorOperator, values ...string) func(*karpenter.NodePool) {
	return func(np *karpenter.NodePool) {
		np.Spec.Template.Spec.Requirements = append(np.Spec.Template.Spec.Requirements, karpenter.NodeSelectorRequirementWithMinValues{Key: key, Operator: operator, Values: values})
	}
}

func tainted(key string) func(*karpenter.NodePool) {
	return func(np *karpenter.NodePool) {
		np.Spec.Template.Spec.Taints = append(np.Spec.Template.Spec.Taints, v1.Taint{Key: key, Effect: v1.TaintEffectNoSchedule})
	}
}

func limited(name, quantity string) func(*karpenter.NodePool) {
	return func(np *karpenter.NodePool) {
		if np.Spec.Limits == nil {
			np.Spec.Limits = karpenter.Limits{}
		}
		np.Spec.Limits[v1.ResourceName(name)] = resource.MustParse(quantity)
	}
}

func weighing(weight int32) func(*karpenter.NodePool) {
	return func(np *karpenter.NodePool) { np.Spec.Weight = &weight }
}

func onDemand(np *karpenter.NodePool) {
	requiring(karpenter.CapacityTypeLabelKey, v1.NodeSelectorOpIn, "on-demand")(np)
}

// pod returns a pod that requests resources such as "cpu=2 memory=1Gi".
func pod(name, requests string, changes ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	p.Spec.Containers = []v1.Container{{Name: "c", Image: "i"}}
	p.Spec.Containers[0].Resources.Requests = list(requests)
	for _, change := range changes {
		change(p)
	}
	return p
}

func list(text string) v1.ResourceList {
	all := v1.ResourceList{}
	for _, one := range strings.Fields(text) {
		name, quantity, _ := strings.Cut(one, "=")
		all[v1.ResourceName(name)] = resource.MustParse(quantity)
	}
	return all
}

func selecting(key, value string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]string{}
		}
		p.Spec.NodeSelector[key] = value
	}
}

func tolerating(key string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: key, Operator: v1.TolerationOpExists})
	}
}

func labelled(key, value string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[key] = value
	}
}

// node returns a node with a zone and a host name.
func node(name, zone, allocatable string) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name, v1.LabelTopologyZone: zone}}}
	n.Status.Allocatable = list("pods=110 " + allocatable)
	n.Status.Capacity = n.Status.Allocatable.DeepCopy()
	return n
}

func on(node string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.NodeName, p.Status.Phase = node, v1.PodRunning }
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAsk: pods of all sorts, asked about together.
func TestAsk(t *testing.T) {
	answer := ask(t, dryrun.Question{
		State: dryrun.State{
			Nodes: []*v1.Node{node("n1", "zone-a", "cpu=4 memory=8Gi")},
			Pods:  []*v1.Pod{pod("old", "cpu=3", on("n1"))},
			NodePools: []*karpenter.NodePool{
				nodePool("batch", tainted("dedicated"), limited("cpu", "16")),
				nodePool("general", weighing(10), onDemand, requiring(v1.LabelInstanceTypeStable, v1.NodeSelectorOpNotIn, "gpu-1x-amd64-linux", "gpu-8x-amd64-linux")),
				nodePool("gpu", weighing(5), onDemand, tainted("nvidia.com/gpu")),
			},
		},
		Pods: []*v1.Pod{
			pod("small", "cpu=500m"),
			pod("pricing", "cpu=11.5 memory=24Gi"),
			pod("edge", "cpu=12 memory=20Gi", selecting(v1.LabelArchStable, "arm64")),
			pod("notebook", "cpu=1 memory=1Gi nvidia.com/gpu=1"),
			pod("trainer", "cpu=1 memory=1Gi nvidia.com/gpu=1", tolerating("nvidia.com/gpu")),
			pod("geo", "cpu=2", selecting(v1.LabelTopologyZone, "zone-d")),
			pod("disk", "cpu=2", selecting("disk", "ssd")),
			pod("huge", "cpu=70"),
			pod("big", "cpu=20", tolerating("dedicated"), selecting(karpenter.CapacityTypeLabelKey, "spot")),
		},
	})
	want(t, answer, `
default/small: existingNode n1
default/pricing: newNode general-1
  not gpu (taints): the pod does not tolerate the taint nvidia.com/gpu:NoSchedule; else c-16x-amd64-linux zone-a on-demand $0.4344
  not batch (taints): the pod does not tolerate the taint dedicated:NoSchedule; else c-16x-amd64-linux zone-a spot $0.3041
default/edge: newNode general-1
  not gpu (taints): the pod does not tolerate the taint nvidia.com/gpu:NoSchedule; else c-16x-arm64-linux zone-a on-demand $0.4344
  not batch (taints): the pod does not tolerate the taint dedicated:NoSchedule; else c-16x-arm64-linux zone-a spot $0.3041
default/notebook: none 
  not general (types): 36 types lack nvidia.com/gpu, 2 are not the type that is asked for
  not gpu (taints): the pod does not tolerate the taint nvidia.com/gpu:NoSchedule; else gpu-1x-amd64-linux zone-a on-demand $1.2344
  not batch (taints): the pod does not tolerate the taint dedicated:NoSchedule; else gpu-1x-amd64-linux zone-a spot $0.8641
default/trainer: newNode gpu-1
  not general (types): 36 types lack nvidia.com/gpu, 2 are not the type that is asked for
  not batch (taints): the pod does not tolerate the taint dedicated:NoSchedule; else gpu-1x-amd64-linux zone-a spot $0.8641
default/geo: none 
  not general (types): 30 types are not offered in zone-d, 6 have too little cpu, 2 are not the type that is asked for
  not gpu (taints): the pod does not tolerate the taint nvidia.com/gpu:NoSchedule
  not batch (taints): the pod does not tolerate the taint dedicated:NoSchedule
default/disk: none 
  not general (requirements): the pod wants disk In [ssd], and the NodePool gives its nodes no such label
  not gpu (taints): the pod does not tolerate the taint nvidia.com/gpu:NoSchedule
  not batch (taints): the pod does not tolerate the taint dedicated:NoSchedule
default/huge: none 
  not general (types): 36 types have too little cpu, 2 are not the type that is asked for
  not gpu (taints): the pod does not tolerate the taint nvidia.com/gpu:NoSchedule
  not batch (taints): the pod does not tolerate the taint dedicated:NoSchedule
default/big: none 
  not general (requirements): the pod wants karpenter.sh/capacity-type In [spot], and the NodePool has In [on-demand]
  not gpu (taints): the pod does not tolerate the taint nvidia.com/gpu:NoSchedule
  not batch (limits): 25 types have too little cpu, 13 exceed what the NodePool's limits leave of cpu; else c-32x-amd64-linux zone-a spot $0.6081
general-1: c-32x-arm64-linux zone-a on-demand $0.8687, one of 6 types, for default/edge default/pricing
  not gpu-1x-amd64-linux zone-a spot $0.8641: is amd64 and is not the type that is asked for
  not m-32x-amd64-linux zone-a spot $0.7524: is amd64
  not m-32x-arm64-linux zone-a spot $0.7524: the NodePool asks for on-demand
gpu-1: gpu-1x-amd64-linux zone-a on-demand $1.2344, one of 2 types, for default/trainer
  not c-64x-amd64-linux zone-a spot $1.2162: lacks nvidia.com/gpu, nvidia.com/gpu 0 of 1
  not gpu-1x-amd64-linux zone-a spot $0.8641: the NodePool asks for on-demand
`)
	if answer.State != (dryrun.Counts{Nodes: 1, Pods: 1, NodePools: 3, InstanceTypes: 38}) || answer.Prices != instances.BuiltInPrices {
		t.Errorf("the answer is about %+v with %v", answer.State, answer.Prices)
	}
}

func want(t *testing.T, a *dryrun.Answer, text string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimPrefix(text, "\n"), transcript(a)); diff != "" {
		t.Error(diff)
	}
}

// general is a NodePool that takes anything.
func general(changes ...func(*karpenter.NodePool)) []*karpenter.NodePool {
	return []*karpenter.NodePool{nodePool("general", changes...)}
}

// TestPassedOver: what Karpenter never tries is not judged, and says why.
func TestPassedOver(t *testing.T) {
	gated := func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/quota"}} }
	nominated := func(p *v1.Pod) { p.Status.NominatedNodeName = "n1" }
	owned := func(p *v1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent"}}
	}
	claiming := func(p *v1.Pod) { p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu"}} }
	// Karpenter's Solve places such a pod all the same.
	mounting := func(p *v1.Pod) { mount(p, "data-store-0") }
	fields := func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
			NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{"n1"}}}}}}}}
	}
	want(t, ask(t, dryrun.Question{
		State: dryrun.State{Nodes: []*v1.Node{node("n1", "zone-a", "cpu=4 memory=8Gi")}, NodePools: general()},
		Pods: []*v1.Pod{pod("report", "cpu=1", gated), pod("ledger", "cpu=1", nominated), pod("agent", "cpu=1", owned), pod("device", "cpu=1", claiming),
			pod("store", "cpu=1", mounting), pod("pinned", "cpu=1", fields)},
	}), `
default/report: notJudged not looked at: gated by example.com/quota, so never marked Unschedulable
default/ledger: notJudged not looked at: the scheduler has nominated node n1 for it
default/agent: notJudged not looked at: a DaemonSet's pod comes with its node
default/device: notJudged not looked at: Karpenter buys no nodes for ResourceClaims
default/store: none getting persistent volume claim, persistentvolumeclaims "data-store-0" not found (PersistentVolumeClaim=data-store-0)
default/pinned: none node selector term with matchFields is not supported
`)
}

func mount(p *v1.Pod, claim string) {
	p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: claim, VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
}

// TestPoolsThatAreNotTried: each says why, and without any other there is no answer.
func TestPoolsThatAreNotTried(t *testing.T) {
	replicas := int64(3)
	static := func(np *karpenter.NodePool) { np.Spec.Replicas = &replicas }
	deleting := func(np *karpenter.NodePool) { np.DeletionTimestamp = &metav1.Time{} }
	unready := func(np *karpenter.NodePool) {
		np.StatusConditions().SetFalse(karpenter.ConditionTypeNodeClassReady, "NodeClassNotFound", "NodeClass default not found")
	}
	pools := []*karpenter.NodePool{
		nodePool("a", static), nodePool("b", deleting), nodePool("c", unready),
		nodePool("d", requiring("cpus", v1.NodeSelectorOpGt)), nodePool("e", requiring(karpenter.NodePoolLabelKey, v1.NodeSelectorOpIn, "x")),
	}
	want(t, ask(t, dryrun.Question{State: dryrun.State{NodePools: pools}, Pods: []*v1.Pod{pod("web", "cpu=1")}}), `
default/web: none there is no NodePool that is ready
  not e (invalid): Karpenter's validation refuses it: invalid key: "karpenter.sh/nodepool" in requirements, restricted
  not d (invalid): Karpenter's validation refuses it: invalid value: key cpus with operator Gt must have a single positive integer value in requirements, restricted
  not c (notReady): it is not ready: NodeClassReady is False, NodeClassNotFound NodeClass default not found
  not b (deleting): it is being deleted
  not a (static): it keeps 3 nodes, and grows for no pod
`)
	foreign := nodePool("f")
	foreign.Spec.Template.Spec.NodeClassRef = &karpenter.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	want(t, ask(t, dryrun.Question{State: dryrun.State{NodePools: append(pools, foreign)},
		Pods: []*v1.Pod{pod("web", "cpu=1", selecting("karpenter.k8s.aws/ec2nodeclass", "default"))}}), `
default/web: newNode f-1
  not e (invalid): Karpenter's validation refuses it: invalid key: "karpenter.sh/nodepool" in requirements, restricted
  not d (invalid): Karpenter's validation refuses it: invalid value: key cpus with operator Gt must have a single positive integer value in requirements, restricted
  not c (notReady): it is not ready: NodeClassReady is False, NodeClassNotFound NodeClass default not found
  not b (deleting): it is being deleted
  not a (static): it keeps 3 nodes, and grows for no pod
f-1: c-2x-amd64-linux zone-a spot $0.0380, one of 38 types, for default/web
`)
}

// TestDaemonSets: what an agent takes of each node counts, on nodes where it runs.
func TestDaemonSets(t *testing.T) {
	agent := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"}}
	agent.Spec.Template.Spec = pod("agent", "cpu=500m", selecting(v1.LabelArchStable, "amd64")).Spec
	state := dryrun.State{DaemonSets: []*appsv1.DaemonSet{agent}, NodePools: general(onDemand)}
	want(t, ask(t, dryrun.Question{State: state, Pods: []*v1.Pod{pod("web", "cpu=3500m", selecting(v1.LabelArchStable, "amd64"))}}), `
default/web: newNode general-1
general-1: c-8x-amd64-linux zone-a on-demand $0.2172, one of 14 types, for default/web
  not m-8x-amd64-linux zone-a spot $0.1881: the NodePool asks for on-demand
  not m-8x-arm64-linux zone-a spot $0.1881: is arm64
  not m-4x-amd64-linux zone-a on-demand $0.1344: has too little cpu, cpu 3900m of 4
`)
	want(t, ask(t, dryrun.Question{State: state, Pods: []*v1.Pod{pod("web", "cpu=3500m", selecting(v1.LabelArchStable, "arm64"))}}), `
default/web: newNode general-1
general-1: c-4x-arm64-linux zone-a on-demand $0.1086, one of 15 types, for default/web
  not m-4x-amd64-linux zone-a spot $0.0941: is amd64
  not m-4x-arm64-linux zone-a spot $0.0941: the NodePool asks for on-demand
  not m-2x-arm64-linux zone-a on-demand $0.0672: has too little cpu, cpu 1900m of 3500m
`)
	want(t, ask(t, dryrun.Question{State: state, Pods: []*v1.Pod{pod("web", "cpu=63500m", selecting(v1.LabelArchStable, "amd64"))}}), `
default/web: none 
  not general (types): 20 types have too little cpu, 18 are arm64
`)
}

// TestZones: of the zones that are used least the first by name is taken, whatever Karpenter's maps yield.
func TestZones(t *testing.T) {
	state := dryrun.State{
		Nodes:     []*v1.Node{node("n1", "zone-a", "cpu=1"), node("n2", "zone-b", "cpu=1")},
		Pods:      []*v1.Pod{pod("old", "cpu=1", on("n1"), labelled("app", "web"))},
		NodePools: general(onDemand),
	}
	var pods []*v1.Pod
	for i := range 6 {
		pods = append(pods, pod(fmt.Sprintf("web-%d", i), "cpu=1500m", labelled("app", "web"), spread(v1.LabelTopologyZone, 1, v1.DoNotSchedule)))
	}
	want(t, ask(t, dryrun.Question{State: state, Pods: pods}), `
default/web-0: newNode general-1
default/web-1: newNode general-2
default/web-2: newNode general-1
default/web-3: newNode general-2
default/web-4: newNode general-3
default/web-5: newNode general-3
general-1: c-4x-amd64-linux zone-b on-demand $0.1086, one of 32 types, for default/web-0 default/web-2
  not m-4x-amd64-linux zone-a spot $0.0941: the NodePool asks for on-demand
  not m-2x-amd64-linux zone-b on-demand $0.0672: has too little cpu, cpu 1900m of 3
general-2: c-4x-amd64-linux zone-c on-demand $0.1086, one of 32 types, for default/web-1 default/web-3
  not m-4x-amd64-linux zone-a spot $0.0941: the NodePool asks for on-demand
  not m-2x-amd64-linux zone-c on-demand $0.0672: has too little cpu, cpu 1900m of 3
general-3: c-4x-amd64-linux zone-a on-demand $0.1086, one of 32 types, for default/web-4 default/web-5
  not m-4x-amd64-linux zone-a spot $0.0941: the NodePool asks for on-demand
  not m-2x-amd64-linux zone-a on-demand $0.0672: has too little cpu, cpu 1900m of 3
`)
	for i := range pods {
		pods[i] = pod(fmt.Sprintf("db-%d", i), "cpu=1500m", labelled("app", "db"), near(v1.LabelTopologyZone))
	}
	want(t, ask(t, dryrun.Question{State: state, Pods: pods[:2]}), `
default/db-0: newNode general-1
default/db-1: newNode general-1
general-1: c-4x-amd64-linux zone-a on-demand $0.1086, one of 32 types, for default/db-0 default/db-1
  not m-4x-amd64-linux zone-a spot $0.0941: the NodePool asks for on-demand
  not m-2x-amd64-linux zone-a on-demand $0.0672: has too little cpu, cpu 1900m of 3
`)
}

// TestVolumes: a bound volume decides on the zone.
func TestVolumes(t *testing.T) {
	volume := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk"}}
	volume.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpIn, Values: []string{"zone-b"}}}}}}}
	claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}}}
	claim.Spec.VolumeName = "disk"
	state := dryrun.State{
		PersistentVolumes: []*v1.PersistentVolume{volume}, PersistentVolumeClaims: []*v1.PersistentVolumeClaim{claim},
		NodePools: append(general(onDemand), nodePool("here", weighing(9), requiring(v1.LabelTopologyZone, v1.NodeSelectorOpIn, "zone-a"))),
	}
	want(t, ask(t, dryrun.Question{State: state, Pods: []*v1.Pod{pod("db", "cpu=1", func(p *v1.Pod) { mount(p, "data") })}}), `
default/db: newNode general-1
  not here (volumes): its volumes want topology.kubernetes.io/zone In [zone-b], and the NodePool has In [zone-a]
general-1: c-2x-amd64-linux zone-b on-demand $0.0543, one of 38 types, for default/db
  not m-2x-amd64-linux zone-a spot $0.0470: the NodePool asks for on-demand
`)
}

// TestBySolving: where nothing speaks against a NodePool and Karpenter refuses it, the answer says by which kind of count.
func TestBySolving(t *testing.T) {
	// The pod that is there keeps others out of its zone, and so does the new one.
	keepsOut := []*v1.Pod{pod("old", "cpu=1", on("n1"), labelled("app", "web"), apart(v1.LabelTopologyZone))}
	one := nodePool("one", requiring(v1.LabelTopologyZone, v1.NodeSelectorOpIn, "zone-a"))
	nodes := []*v1.Node{node("n1", "zone-a", "cpu=1")}
	want(t, ask(t, dryrun.Question{State: dryrun.State{Nodes: nodes, Pods: keepsOut, NodePools: []*karpenter.NodePool{one}},
		Pods: []*v1.Pod{pod("web", "cpu=1", labelled("app", "web"))}}), `
default/web: none 
  not one (topology): spread, affinity or anti-affinity between pods leaves no domain on a node of it
`)

	// In zone-a, the only zone of the NodePool, is a pod already; zone-b has none.
	there := append([]*v1.Pod{}, pod("old", "cpu=1", on("n1"), labelled("app", "web")))
	nodes = append(nodes, node("n2", "zone-b", "cpu=1"))
	want(t, ask(t, dryrun.Question{State: dryrun.State{Nodes: nodes, Pods: there, NodePools: []*karpenter.NodePool{one}},
		Pods: []*v1.Pod{pod("web", "cpu=2", labelled("app", "web"), spread(v1.LabelTopologyZone, 1, v1.DoNotSchedule), spread(v1.LabelHostname, 1, v1.DoNotSchedule))}}), `
default/web: none 
  not one (topology): no domain is left on a node of it; without one of these there would be: its spread over topology.kubernetes.io/zone
`)

	// Karpenter counts a new node as the largest type that it may become.
	tight := general(limited("cpu", "8"), requiring(v1.LabelInstanceTypeStable, v1.NodeSelectorOpIn, "c-4x-amd64-linux", "c-8x-amd64-linux"))
	want(t, ask(t, dryrun.Question{State: dryrun.State{NodePools: tight},
		Pods: []*v1.Pod{pod("first", "cpu=3 memory=6Gi"), pod("second", "cpu=3 memory=6Gi", selecting(v1.LabelTopologyZone, "zone-b")), pod("third", "cpu=3 memory=6Gi", selecting(v1.LabelTopologyZone, "zone-c"))}}), `
default/first: newNode general-1
default/second: newNode general-1
default/third: none 
  not general (batch): it would help the pod alone, and not together with the other pods that were asked about
general-1: c-8x-amd64-linux zone-b spot $0.1520, one of 1 types, for default/first default/second
  not m-4x-amd64-linux zone-b on-demand $0.1344: is not the type that is asked for
  not c-4x-amd64-linux zone-b on-demand $0.1086: has too little cpu and memory, cpu 3900m of 6, memory 8182Mi of 12Gi
`)

	three := 3
	flexible := nodePool("flexible")
	flexible.Spec.Template.Spec.Requirements = []karpenter.NodeSelectorRequirementWithMinValues{{Key: v1.LabelInstanceTypeStable, Operator: v1.NodeSelectorOpExists, MinValues: &three}}
	want(t, ask(t, dryrun.Question{State: dryrun.State{NodePools: []*karpenter.NodePool{flexible}}, Pods: []*v1.Pod{pod("gpu", "nvidia.com/gpu=1")}}), `
default/gpu: none 
  not flexible (minValues): fewer values are left than the NodePool demands by minValues
`)

	agent := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"}}
	port := func(p *v1.Pod) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{HostPort: 9100, ContainerPort: 9100}}
	}
	agent.Spec.Template.Spec = pod("agent", "cpu=100m", port).Spec
	want(t, ask(t, dryrun.Question{State: dryrun.State{DaemonSets: []*appsv1.DaemonSet{agent}, NodePools: general()}, Pods: []*v1.Pod{pod("exporter", "cpu=1", port)}}), `
default/exporter: none 
  not general (ports): no instance type is left once the ports of DaemonSets are counted
`)
}

// TestAskChangesNothing: the objects of a question stay as they are, and several questions may share them.
func TestAskChangesNothing(t *testing.T) {
	c := randomCase(11)
	q := c.question()
	before := asJSON(t, q.State) + asJSON(t, q.Pods)
	first := asJSON(t, ask(t, q))
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			if diff := cmp.Diff(first, asJSON(t, ask(t, q))); diff != "" {
				t.Error(diff)
			}
		})
	}
	asking.Wait()
	if diff := cmp.Diff(before, asJSON(t, q.State)+asJSON(t, q.Pods)); diff != "" {
		t.Error(diff)
	}
}

// TestNewNode: the node that an answer has is one that the pods fit on.
func TestNewNode(t *testing.T) {
	rack := func(np *karpenter.NodePool) { requiring("rack", v1.NodeSelectorOpIn, "r2", "r1")(np) }
	answer := ask(t, dryrun.Question{State: dryrun.State{NodePools: general(onDemand, rack, tainted("team"))}, Pods: []*v1.Pod{pod("web", "cpu=3", tolerating("team"))}})
	got := answer.NewNodes[0].Node
	wanted := &v1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: "general-1", Labels: map[string]string{
			"karpenter.sh/nodepool": "general", "karpenter.kwok.sh/kwoknodeclass": "default", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
			"karpenter.sh/capacity-type": "on-demand", "topology.kubernetes.io/zone": "zone-a", "kubernetes.io/hostname": "general-1", "rack": "r1",
			"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "node.kubernetes.io/instance-type": "c-4x-amd64-linux",
			"eks-node-viewer/instance-price": "0.108589934592", "karpenter.kwok.sh/instance-family": "c", "karpenter.kwok.sh/instance-size": "4", "karpenter.kwok.sh/instance-cpu": "4", "karpenter.kwok.sh/instance-memory": "8Gi",
		}},
		Spec:   v1.NodeSpec{Taints: []v1.Taint{{Key: "team", Effect: v1.TaintEffectNoSchedule}}},
		Status: v1.NodeStatus{Capacity: list("cpu=4 memory=8Gi pods=110 ephemeral-storage=20Gi"), Allocatable: list("cpu=3900m memory=8182Mi pods=110 ephemeral-storage=20Gi")},
	}
	if diff := cmp.Diff(asJSON(t, wanted), asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
}

// TestPoolsThatBuyNothing: a NodePool that no instance type matches, and two whose limits leave nothing to each other, are told apart, and
// no round goes on for ever.
func TestPoolsThatBuyNothing(t *testing.T) {
	nothing := nodePool("nothing", requiring(v1.LabelInstanceTypeStable, v1.NodeSelectorOpIn, "x1.none"))
	want(t, ask(t, dryrun.Question{State: dryrun.State{NodePools: []*karpenter.NodePool{nothing}}, Pods: []*v1.Pod{pod("web", "cpu=1")}}), `
default/web: none 
  not nothing (types): 38 types are not the type that is asked for
`)
	first, second := nodePool("first", weighing(10), limited("cpu", "2")), nodePool("second", limited("cpu", "2"))
	pods := []*v1.Pod{pod("a", "cpu=1500m"), pod("b", "cpu=1500m"), pod("c", "cpu=1500m")}
	answer := ask(t, dryrun.Question{State: dryrun.State{NodePools: []*karpenter.NodePool{first, second}}, Pods: pods})
	var verdicts []string
	for _, p := range answer.Pods {
		text := p.Name + " " + p.Node
		for _, r := range p.Refused {
			text += fmt.Sprintf(" %s:%s", r.NodePool, r.Kind)
		}
		verdicts = append(verdicts, text)
	}
	if diff := cmp.Diff([]string{"a first-1 second:later", "b second-1 first:batch", "c  first:batch second:batch"}, verdicts); diff != "" {
		t.Error(diff)
	}
	for _, p := range pods {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable}}
	}
	rounds, _ := played(t, dryrun.State{NodePools: []*karpenter.NodePool{first, second, nothing}, Pods: pods})
	if !rounds.Complete || len(rounds.Pending) != 1 {
		t.Errorf("the rounds are\n%s", roundsText(rounds))
	}
}
