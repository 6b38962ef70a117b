package fit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// running returns a pod of app a that uses so much CPU.
func running(name, node, cpu string, priority int32) *v1.Pod {
	return st.MakePod().Namespace("default").Name(name).UID(name).Node(node).Label("app", "a").Priority(priority).Req(map[v1.ResourceName]string{"cpu": cpu}).Obj()
}

func TestVictims(t *testing.T) {
	pod := st.MakePod().Namespace("default").Name("web").UID("web").Priority(100).PVC("data").
		SpreadConstraint(1, "zone", v1.DoNotSchedule, st.MakeLabelSelector().Label("app", "a").Obj(), nil, nil, nil, nil).Obj()
	daemon := running("daemon", "n1", "1", 0)
	daemon.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: ptr.To(true)}}
	static := running("static", "n1", "1", 0)
	static.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x"}
	leaving := running("leaving", "n1", "1", 0)
	leaving.DeletionTimestamp = &metav1.Time{}
	onPort := func(name string, port, priority int32) *v1.Pod {
		p := running(name, "n1", "0", priority)
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{HostPort: port, Protocol: v1.ProtocolTCP}}
		return p
	}
	withClaim := running("reader", "n2", "0", 0)
	withClaim.Spec.Volumes = []v1.Volume{{VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	lacksCPU := func(requested, allocatable, inUse int64) whatif.Obstacle {
		return whatif.Obstacle{Plugin: "NodeResourcesFit", Comparison: &result.Comparison{
			Resources: []result.ResourceComparison{{Name: "cpu", Requested: requested, InUse: inUse, Allocatable: allocatable}},
		}}
	}
	budget := func(allowed int32) *policyv1.PodDisruptionBudget {
		return st.MakePDB().Name("budget").Namespace("default").MatchLabel("app", "a").DisruptionsAllowed(allowed).Obj()
	}
	ports := whatif.Obstacle{Plugin: "NodePorts", Comparison: &result.Comparison{Ports: []result.Port{{Protocol: "TCP", Port: 80}}}}
	next := func(p *v1.Pod) whatif.Obstacle {
		return whatif.Obstacle{Plugin: "InterPodAffinity", Comparison: &result.Comparison{PodTerms: []result.PodTermComparison{
			{Rule: "existingAntiAffinity", TopologyKey: "zone", Pod: &result.Pod{Namespace: p.Namespace, Name: p.Name, UID: p.UID}},
		}}}
	}
	skewed := whatif.Obstacle{Plugin: "PodTopologySpread", Comparison: &result.Comparison{Spread: []result.SpreadComparison{
		{TopologyKey: "zone", Domain: ptr.To("west"), Matching: 3, Minimum: 1, Self: 0, MaxSkew: 1},
	}}}

	for _, test := range []struct {
		name      string
		pods      []*v1.Pod
		budgets   []*policyv1.PodDisruptionBudget
		obstacles []whatif.Obstacle
		want      []string
		guessed   bool
	}{
		{
			name: "the one that is enough", obstacles: []whatif.Obstacle{lacksCPU(2000, 4000, 4000)}, want: []string{"large"},
			pods: []*v1.Pod{running("a", "n1", "1", 0), running("b", "n1", "1", 0), running("large", "n1", "2", 50)},
		},
		{
			name: "the lowest priority of several", obstacles: []whatif.Obstacle{lacksCPU(1000, 4000, 4000)}, want: []string{"low"},
			pods: []*v1.Pod{running("high", "n1", "1", 50), running("low", "n1", "1", 1), running("middle", "n1", "2", 20)},
		},
		{
			name: "two", obstacles: []whatif.Obstacle{lacksCPU(3000, 4000, 4000)}, want: []string{"a", "c"},
			pods: []*v1.Pod{running("a", "n1", "1", 0), running("b", "n1", "1", 0), running("c", "n1", "2", 0)},
		},
		{
			name: "never one of a higher priority", obstacles: []whatif.Obstacle{lacksCPU(1000, 4000, 4000)},
			pods: []*v1.Pod{running("a", "n1", "500m", 100), running("b", "n1", "4", 101)},
		},
		{
			name: "never one that comes back, or that goes anyway", obstacles: []whatif.Obstacle{lacksCPU(1000, 4000, 4000)},
			pods: []*v1.Pod{daemon, static, leaving},
		},
		{
			name: "never one that a budget protects", obstacles: []whatif.Obstacle{lacksCPU(1000, 4000, 4000)}, budgets: []*policyv1.PodDisruptionBudget{budget(0)},
			pods: []*v1.Pod{running("a", "n1", "1", 0)},
		},
		{
			name: "no more than a budget allows together", obstacles: []whatif.Obstacle{lacksCPU(2000, 4000, 4000)}, budgets: []*policyv1.PodDisruptionBudget{budget(1)},
			pods: []*v1.Pod{running("a", "n1", "1", 0), running("b", "n1", "1", 0)},
		},
		{
			name: "as many as a budget allows", obstacles: []whatif.Obstacle{lacksCPU(2000, 4000, 4000)}, budgets: []*policyv1.PodDisruptionBudget{budget(2)}, want: []string{"a", "b"},
			pods: []*v1.Pod{running("a", "n1", "1", 0), running("b", "n1", "1", 0)},
		},
		{name: "on the port", obstacles: []whatif.Obstacle{ports}, want: []string{"eighty"}, pods: []*v1.Pod{onPort("eighty", 80, 0), onPort("other", 81, 0)}},
		{name: "all on the port must go", obstacles: []whatif.Obstacle{ports}, pods: []*v1.Pod{onPort("eighty", 80, 101)}},
		{
			name: "one that makes room on the port, and further room", obstacles: []whatif.Obstacle{lacksCPU(1000, 4000, 4000), ports}, want: []string{"a", "eighty"},
			pods: []*v1.Pod{onPort("eighty", 80, 0), running("a", "n1", "1", 0), running("b", "n1", "1", 1)},
		},
		{
			name: "next to which the pod may not run, on any node", obstacles: []whatif.Obstacle{next(running("far", "n2", "1", 0))}, want: []string{"far"},
			pods: []*v1.Pod{running("far", "n2", "1", 0)},
		},
		{
			name: "the surplus of a domain, on the node first", obstacles: []whatif.Obstacle{skewed}, want: []string{"near"},
			pods: []*v1.Pod{running("far", "n2", "1", 0), running("near", "n1", "1", 0), running("other zone", "n3", "1", 0)},
		},
		{name: "the surplus cannot go", obstacles: []whatif.Obstacle{skewed}, pods: []*v1.Pod{running("a", "n1", "1", 101)}},
		{name: "with the same claim", obstacles: []whatif.Obstacle{{Plugin: "VolumeRestrictions"}}, want: []string{"reader"}, pods: []*v1.Pod{withClaim, running("a", "n1", "1", 0)}},
		{
			name: "all that may go, for a plugin that does not say", obstacles: []whatif.Obstacle{{Plugin: "Picky"}}, want: []string{"b", "a"}, guessed: true,
			pods: []*v1.Pod{running("a", "n1", "1", 2), running("b", "n1", "1", 1), running("c", "n1", "1", 101), running("d", "n2", "1", 0)},
		},
		{name: "no pod is to blame for a taint", obstacles: []whatif.Obstacle{{Plugin: "TaintToleration"}}, pods: []*v1.Pod{running("a", "n1", "1", 0)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			nodes := clusterOf(test.pods)
			victims, guessed := newEvictor(pod, nodes, test.budgets).victims(nodes[0], test.obstacles)
			var got []string
			for _, p := range victims {
				got = append(got, p.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if guessed != test.guessed {
				t.Errorf("guessed: %t", guessed)
			}
		})
	}
}

// clusterOf returns the nodes n1 and n2 in the west and n3 in the east, with the pods.
func clusterOf(pods []*v1.Pod) []fwk.NodeInfo {
	var out []fwk.NodeInfo
	for name, zone := range map[string]string{"n1": "west", "n2": "west", "n3": "east"} {
		n := framework.NewNodeInfo()
		n.SetNode(st.MakeNode().Name(name).Label("zone", zone).Obj())
		for _, p := range pods {
			if p.Spec.NodeName == name {
				n.AddPod(p)
			}
		}
		if name == "n1" {
			out = append([]fwk.NodeInfo{n}, out...)
		} else {
			out = append(out, n)
		}
	}
	return out
}
