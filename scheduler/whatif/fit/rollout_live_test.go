package fit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/scheduler/whatif/livetest"
)

// Each suggestion that changes the template of a Deployment ends, with the real scheduler, in a
// rollout in which all of its pods run. Others leave as many of its pods without a node as they
// say. With a little less, or one node fewer, more pods are left.
func TestRolloutsHoldForReal(t *testing.T) {
	rounds := *clusters / 2
	if testing.Short() {
		rounds = min(rounds, 6)
	}
	configuration := livetest.Configuration(t, plainConfiguration)
	tried, others, smaller := 0, 0, 0
	for n := range rounds {
		t.Run(fmt.Sprint("seed ", *seed+uint64(n)), func(t *testing.T) {
			random := rand.New(rand.NewPCG(*seed+uint64(n), 43))
			nodes, d, known, pods := randomDeployment(random)
			state := append(slices.Clone(nodes), pods...)
			pod := types.NamespacedName{Namespace: "default", Name: pods[len(pods)-1].(*v1.Pod).Name}
			answer, err := fit.Ask(t.Context(), livetest.Engine(t, configuration, state), fit.Question{PodRef: &pod, Workloads: known})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range answer.Suggestions {
				switch patch := s.Changes[len(s.Changes)-1].Patch; {
				case s.Kind == fit.KindNode || s.Kind == fit.KindAddNode || s.Kind == fit.KindEvict:
					others++
					expected := 0
					if s.Manner != nil {
						expected = s.Manner.Operands.(explain.Leaves).Pods
					}
					if left := waitingAfter(t, state, s.Changes); left != expected {
						t.Errorf("%s %d pods have no node in the end", s.Text, left)
					}
					if added, ok := s.Steps[0].Operands.(explain.AddNode); ok && len(added.More) > 0 {
						smaller++
						last := added.More[len(added.More)-1]
						fewer := slices.DeleteFunc(slices.Clone(s.Changes), func(c whatif.Change) bool {
							n, ok := c.Apply.(*v1.Node)
							return ok && n.Name == last
						})
						if left := waitingAfter(t, state, fewer); left <= expected {
							t.Errorf("%s %s need not join: %d pods have no node then", s.Text, last, left)
						}
					}
				case s.Manner != nil && len(s.Changes) == 1 && patch != nil && patch.GVK.Kind == "Deployment":
					tried++
					after := patched(t, d, patch.Patch)
					if left := rollOut(t, state, d, after); left > 0 {
						t.Errorf("%s %d of %d pods have no node in the end", s.Text, left, *d.Spec.Replicas)
					}
					if less(&d.Spec.Template.Spec, &after.Spec.Template.Spec) {
						smaller++
						if left := rollOut(t, state, d, after); left == 0 {
							t.Errorf("%s all pods find a node with a little less, too", s.Text)
						}
					}
				}
			}
		})
	}
	t.Logf("%d rollouts, %d changes of nodes, %d smaller ones", tried, others, smaller)
	if tried == 0 || others == 0 || smaller == 0 {
		t.Error("not every kind was tried")
	}
}

// randomDeployment returns a few nodes, and a Deployment of which some pods run and the last one does not.
func randomDeployment(random *rand.Rand) ([]runtime.Object, *appsv1.Deployment, workloads, []runtime.Object) {
	var nodes []runtime.Object
	count := 2 + random.IntN(3)
	for i := range count {
		n := node(fmt.Sprint("n", i+1)).Label("zone", string(rune('a'+i%3)))
		if i == count-1 && random.IntN(2) == 0 {
			n.Taints([]v1.Taint{{Key: "special", Effect: v1.TaintEffectNoSchedule}})
		}
		nodes = append(nodes, n.Obj())
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	spec := st.MakePod().SchedulerName(v1.DefaultSchedulerName).Priority(0).Req(map[v1.ResourceName]string{"cpu": []string{"100m", "900m", "2", "3"}[random.IntN(4)]}).Obj().Spec
	switch random.IntN(3) {
	case 0:
		spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: []string{"zone", v1.LabelHostname}[random.IntN(2)], WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: selector}}
		if random.IntN(2) == 0 {
			spec.TopologySpreadConstraints[0].MinDomains = ptr.To(int32(2 + random.IntN(3)))
		}
	case 1:
		spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: v1.LabelHostname, LabelSelector: selector}}}}
	}
	replicas := 3 + random.IntN(5)
	running := min(replicas-1, 1+random.IntN(2))
	var on []string
	for i := range running {
		on = append(on, nodes[i%max(count-1, 1)].(*v1.Node).Name)
	}
	known, pods := deployed(replicas, spec, on...)
	d := known[0].(*appsv1.Deployment)
	if random.IntN(2) == 0 {
		d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: ptr.To(intstr.FromInt32(int32(random.IntN(2)))), MaxUnavailable: ptr.To(intstr.FromInt32(int32(1 + random.IntN(2))))}
	}
	return nodes, d, known, pods
}

// waitingAfter carries a suggestion out that leaves the Deployment as it is, and returns how many of its pods have no node then.
func waitingAfter(t *testing.T, state []runtime.Object, changes []whatif.Change) (left int) {
	t.Helper()
	livetest.Run(t, livetest.Configuration(t, plainConfiguration), copies(state), func(ctx context.Context, c *livetest.Cluster) {
		if err := c.Apply(ctx, changes); err != nil {
			t.Fatal(err)
		}
		c.Settle()
		list, err := c.Client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Items {
			if p.Spec.NodeName == "" {
				left++
			}
		}
	})
	return left
}

// patched returns the Deployment after a patch.
func patched(t *testing.T, d *appsv1.Deployment, patch []byte) *appsv1.Deployment {
	t.Helper()
	before, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := strategicpatch.StrategicMergePatch(before, patch, appsv1.Deployment{})
	if err != nil {
		t.Fatal(err)
	}
	after := &appsv1.Deployment{}
	if err := json.Unmarshal(merged, after); err != nil {
		t.Fatal(err)
	}
	return after
}

// less takes a little back of the one amount in which two specs differ. It reports whether there is
// one.
func less(before, after *v1.PodSpec) bool {
	asked, asks := before.Containers[0].Resources.Requests.Cpu(), after.Containers[0].Resources.Requests.Cpu()
	if asks.Cmp(*asked) < 0 {
		after.Containers[0].Resources.Requests[v1.ResourceCPU] = *resource.NewMilliQuantity(asks.MilliValue()+1, resource.DecimalSI)
		return true
	}
	for i := range after.TopologySpreadConstraints {
		from, to := before.TopologySpreadConstraints[i], &after.TopologySpreadConstraints[i]
		switch domains := ptr.Deref(to.MinDomains, 1); {
		case to.WhenUnsatisfiable != from.WhenUnsatisfiable:
		case to.MaxSkew > from.MaxSkew:
			to.MaxSkew--
			return true
		case ptr.Deref(from.MinDomains, 1) > domains:
			to.MinDomains = ptr.To(domains + 1)
			return true
		}
	}
	return false
}

// rollOut plays the controllers of a Deployment and its ReplicaSets while the real scheduler runs,
// and returns how many of the new pods have no node in the end.
func rollOut(t *testing.T, state []runtime.Object, d, after *appsv1.Deployment) (left int) {
	t.Helper()
	replicas := int(*d.Spec.Replicas)
	surge, unavailable := (replicas+3)/4, replicas/4
	if u := d.Spec.Strategy.RollingUpdate; u != nil {
		surge, unavailable = u.MaxSurge.IntValue(), u.MaxUnavailable.IntValue()
	}
	livetest.Run(t, livetest.Configuration(t, plainConfiguration), copies(state), func(ctx context.Context, c *livetest.Cluster) {
		pods := c.Client.CoreV1().Pods("default")
		// Each round makes progress, or none does. After six minutes, client-go's broadcaster of
		// events holds a lock while it sleeps, which stops the bubble.
		for round := range 20 {
			list, err := pods.List(ctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var old, fresh []v1.Pod
			available, unready := 0, 0
			for _, p := range list.Items {
				if p.Spec.NodeName != "" {
					available++
				}
				if p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == "1" {
					old = append(old, p)
				} else if fresh = append(fresh, p); p.Spec.NodeName == "" {
					unready++
				}
			}
			// Those that wait go first.
			slices.SortStableFunc(old, func(a, b v1.Pod) int { return min(len(a.Spec.NodeName), 1) - min(len(b.Spec.NodeName), 1) })
			waiting := 0
			for _, p := range old {
				if p.Spec.NodeName == "" {
					waiting++
				}
			}
			spare := len(old) + len(fresh) - (replicas - unavailable) - unready
			gone := min(max(spare, 0), waiting)
			if spare > 0 {
				gone += min(max(available-(replicas-unavailable), 0), len(old)-waiting)
			}
			for _, p := range old[:gone] {
				if err := pods.Delete(ctx, p.Name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range max(min(replicas+surge-len(old)-len(fresh), replicas-len(fresh)), 0) {
				p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("new-%d-%d", round, i), Labels: map[string]string{"app": "web", appsv1.DefaultDeploymentUniqueLabelKey: "2"}}, Spec: *after.Spec.Template.Spec.DeepCopy()}
				if _, err := pods.Create(ctx, p, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			left = replicas - len(fresh) + unready
			if left == 0 && len(old) == 0 {
				return
			}
			time.Sleep(15 * time.Second)
		}
		left = max(left, 1)
	})
	return left
}
