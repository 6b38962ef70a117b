package capacity_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

var (
	clusters = flag.Int("clusters", 120, "how many random clusters the test of counts runs")
	seed     = flag.Uint64("seed", 1, "the seed of the first random cluster")
)

func TestMain(m *testing.M) {
	schedulertest.Prepare()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

const (
	plain = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	// ranked leaves no ties, which the live scheduler would break differently.
	ranked = plain + "profiles:\n- schedulerName: default-scheduler\n  plugins: {score: {disabled: [{name: \"*\"}], enabled: [{name: Ranked, weight: 1}]}}\n"
)

// kinds are the pods that are counted.
var kinds = []struct {
	name string
	// ties: the count depends on which of several equal nodes a pod goes to.
	ties bool
	make func(*st.PodWrapper) *st.PodWrapper
}{
	{name: "plain", make: func(p *st.PodWrapper) *st.PodWrapper { return p }},
	{name: "host port", make: func(p *st.PodWrapper) *st.PodWrapper {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: v1.ProtocolTCP}}
		return p
	}},
	{name: "toleration", make: func(p *st.PodWrapper) *st.PodWrapper { return p.Toleration("dedicated") }},
	{name: "selector", make: func(p *st.PodWrapper) *st.PodWrapper { return p.NodeSelector(map[string]string{"disk": "ssd"}) }},
	{name: "extended resource", make: func(p *st.PodWrapper) *st.PodWrapper {
		r := &p.Spec.Containers[0].Resources
		r.Requests["example.com/gpu"], r.Limits = resource.MustParse("1"), v1.ResourceList{"example.com/gpu": resource.MustParse("1")}
		return p
	}},
	{name: "preferred spread", make: func(p *st.PodWrapper) *st.PodWrapper { return spread(p, 1, v1.LabelTopologyZone, v1.ScheduleAnyway) }},
	{name: "preferred anti-affinity", make: func(p *st.PodWrapper) *st.PodWrapper {
		return p.PodAntiAffinityIn("app", v1.LabelHostname, []string{"a"}, st.PodAntiAffinityWithPreferredReq)
	}},
	{name: "spread over zones", ties: true, make: func(p *st.PodWrapper) *st.PodWrapper { return spread(p, 2, v1.LabelTopologyZone, v1.DoNotSchedule) }},
	{name: "spread over nodes", ties: true, make: func(p *st.PodWrapper) *st.PodWrapper { return spread(p, 1, v1.LabelHostname, v1.DoNotSchedule) }},
	{name: "anti-affinity", ties: true, make: func(p *st.PodWrapper) *st.PodWrapper {
		return p.PodAntiAffinityIn("app", v1.LabelHostname, []string{"a"}, st.PodAntiAffinityWithRequiredReq)
	}},
	{name: "affinity", ties: true, make: func(p *st.PodWrapper) *st.PodWrapper {
		return p.PodAffinityIn("app", v1.LabelTopologyZone, []string{"a"}, st.PodAffinityWithRequiredReq)
	}},
	{name: "bound volume", ties: true, make: func(p *st.PodWrapper) *st.PodWrapper { return p.PVC("bound") }},
	{name: "volume to bind", ties: true, make: func(p *st.PodWrapper) *st.PodWrapper { return p.PVC("unbound") }},
	{name: "exclusive volume", ties: true, make: func(p *st.PodWrapper) *st.PodWrapper { return p.PVC("exclusive") }},
}

func spread(p *st.PodWrapper, skew int, key string, when v1.UnsatisfiableConstraintAction) *st.PodWrapper {
	return p.SpreadConstraint(skew, key, when, st.MakeLabelSelector().Label("app", "a").Obj(), nil, nil, nil, nil)
}

// The count is the number of pods that the real scheduler places when they are created one by one, on the same nodes.
func TestCountsHoldForReal(t *testing.T) {
	rounds := *clusters
	if testing.Short() {
		rounds = min(rounds, 2*len(kinds))
	}
	total := 0
	for n := range rounds {
		kind := kinds[n%len(kinds)]
		random := rand.New(rand.NewPCG(*seed+uint64(n), 15))
		t.Run(fmt.Sprintf("%d: %s", n, kind.name), func(t *testing.T) {
			configuration := livetest.Configuration(t, plain)
			if kind.ties {
				configuration = livetest.Configuration(t, ranked)
			}
			state := cluster(random)
			pod := kind.make(st.MakePod().Namespace("default").Name("more").SchedulerName(v1.DefaultSchedulerName).Label("app", "a").
				Req(map[v1.ResourceName]string{"cpu": []string{"300m", "700m", "1"}[random.IntN(3)], "memory": "1Gi"})).Obj()
			answer, err := capacity.Ask(t.Context(), livetest.Engine(t, configuration, state), capacity.Question{Pod: pod})
			if err != nil {
				t.Fatal(err)
			}
			total += answer.Fits
			want := map[string]int{}
			for _, node := range answer.Nodes {
				want[node.Name] = node.Count
			}
			if diff := cmp.Diff(want, created(t, kind.ties, state, pod, answer.Fits+1)); diff != "" {
				t.Errorf("-counted +real:\n%s", diff)
			}
			if !answer.Complete || len(answer.Stopped) == 0 {
				t.Errorf("complete: %t, stopped: %v", answer.Complete, answer.Stopped)
			}
		})
	}
	if total < 10*rounds {
		t.Errorf("only %d pods were counted", total)
	}
}

// TestCountsOfGroupsHoldForReal: the members of a PodGroup of Kubernetes run together or not at all, also where they must share a zone.
func TestCountsOfGroupsHoldForReal(t *testing.T) {
	livetest.SetGates(t, map[string]bool{"GenericWorkload": true, "TopologyAwareWorkloadScheduling": true})
	rounds, started, not := 24, 0, 0
	if testing.Short() {
		rounds = 8
	}
	for n := range rounds {
		random := rand.New(rand.NewPCG(*seed+uint64(n), 37))
		least, inOneZone := 2+random.IntN(5), n%2 == 1
		t.Run(fmt.Sprintf("%d: %d members, in one zone: %t", n, least, inOneZone), func(t *testing.T) {
			group := st.MakePodGroup().Namespace("default").Name("gang").MinCount(int32(least))
			if inOneZone {
				group.TopologyKey(v1.LabelTopologyZone)
			}
			state := []runtime.Object{&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, group.Obj()}
			for i := range 3 {
				name := fmt.Sprint("n", i)
				state = append(state, st.MakeNode().Name(name).Label(v1.LabelHostname, name).Label(v1.LabelTopologyZone, fmt.Sprint("zone-", random.IntN(2))).
					Capacity(map[v1.ResourceName]string{"cpu": fmt.Sprint(1 + random.IntN(3)), "memory": "16Gi", "pods": "12"}).Obj())
			}
			pod := st.MakePod().Namespace("default").Name("more").SchedulerName(v1.DefaultSchedulerName).PodGroupName("gang").Priority(0).Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
			answer, err := capacity.Ask(t.Context(), livetest.Engine(t, livetest.Configuration(t, ranked), state), capacity.Question{Pod: pod})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int{}
			for _, node := range answer.Nodes {
				want[node.Name] = node.Count
			}
			if diff := cmp.Diff(want, created(t, true, state, pod, answer.Group.Places+1)); diff != "" {
				t.Errorf("%+v: -counted +real:\n%s", answer.Group, diff)
			}
			if answer.Fits > 0 {
				started++
			} else {
				not++
			}
		})
	}
	if started == 0 || not == 0 {
		t.Errorf("%d groups started, %d did not", started, not)
	}
}

// cluster returns nodes that differ in size, some with taints and devices, with a few pods.
func cluster(random *rand.Rand) []runtime.Object {
	size := v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	claim := func(name string, mode v1.PersistentVolumeAccessMode) *v1.PersistentVolumeClaim {
		return st.MakePersistentVolumeClaim().Namespace("default").Name(name).StorageClassName(ptr.To("local")).
			AccessModes([]v1.PersistentVolumeAccessMode{mode}).Resources(v1.VolumeResourceRequirements{Requests: size}).Obj()
	}
	volume := func(name string, mode v1.PersistentVolumeAccessMode) *v1.PersistentVolume {
		pv := st.MakePersistentVolume().Name(name).StorageClassName("local").AccessModes([]v1.PersistentVolumeAccessMode{mode}).Capacity(size).
			HostPathVolumeSource(&v1.HostPathVolumeSource{Path: "/volume"}).NodeAffinityIn(v1.LabelTopologyZone, []string{fmt.Sprint("zone-", random.IntN(3))}).Obj()
		pv.Status.Phase = v1.VolumeAvailable
		return pv
	}
	bound, to := claim("bound", v1.ReadWriteMany), volume("bound", v1.ReadWriteMany)
	bound.Spec.VolumeName, bound.Annotations = to.Name, map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	to.Spec.ClaimRef = &v1.ObjectReference{Namespace: "default", Name: "bound", UID: types.UID("persistentvolumeclaims/default/bound#1")}
	bound.UID = to.Spec.ClaimRef.UID
	out := []runtime.Object{
		&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
		st.MakeStorageClass().Name("local").Provisioner("kubernetes.io/no-provisioner").VolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).Obj(),
		to, bound, claim("unbound", v1.ReadWriteMany), volume("free", v1.ReadWriteMany), claim("exclusive", v1.ReadWriteOncePod), volume("alone", v1.ReadWriteOncePod),
	}
	for i := range 3 + random.IntN(6) {
		name := fmt.Sprint("n", i)
		n := st.MakeNode().Name(name).Label(v1.LabelHostname, name).Label(v1.LabelTopologyZone, fmt.Sprint("zone-", random.IntN(3))).
			Label("disk", []string{"ssd", "hdd"}[random.IntN(2)]).
			Capacity(map[v1.ResourceName]string{"cpu": []string{"2", "4", "8"}[random.IntN(3)], "memory": "16Gi", "pods": "12", "example.com/gpu": fmt.Sprint(random.IntN(4))})
		if random.IntN(4) == 0 {
			n.Taints([]v1.Taint{{Key: "dedicated", Effect: v1.TaintEffectNoSchedule}})
		}
		out = append(out, n.Obj())
		for j := range random.IntN(3) {
			p := st.MakePod().Namespace("default").Name(fmt.Sprintf("p%d-%d", i, j)).UID(fmt.Sprintf("p%d-%d", i, j)).Node(name).SchedulerName(v1.DefaultSchedulerName).
				Label("app", []string{"a", "b"}[random.IntN(2)]).Req(map[v1.ResourceName]string{"cpu": "500m", "memory": "2Gi"})
			if random.IntN(3) == 0 {
				p.PodAntiAffinityIn("app", v1.LabelHostname, []string{"b"}, st.PodAntiAffinityWithRequiredReq)
			}
			out = append(out, p.Obj())
		}
	}
	return out
}

// created creates pods one by one, and returns how many of them are on each node.
func created(t *testing.T, rank bool, state []runtime.Object, pod *v1.Pod, n int) map[string]int {
	t.Helper()
	document := plain
	if rank {
		document = ranked
	}
	got := map[string]int{}
	livetest.Run(t, livetest.Configuration(t, document), state, func(ctx context.Context, c *livetest.Cluster) {
		for i := range n {
			p := pod.DeepCopy()
			p.Name = fmt.Sprint("more-", i)
			if err := schedulertest.Create(ctx, c.Client, p); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		c.Settle()
		pods, err := c.Client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods.Items {
			if p.Spec.NodeName != "" && strings.HasPrefix(p.Name, "more-") {
				got[p.Spec.NodeName]++
			}
		}
	})
	return got
}
