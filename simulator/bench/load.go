package bench

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Load is a kind of cluster and of pods. Each is expensive for another part of the record.
type Load string

const (
	// Plain pods request CPU and memory, and every node has room for them. No plugin rejects
	// anything, so this load costs a recorder the least.
	Plain Load = "plain"
	// Rejecting: three nodes in ten have a taint that the pods do not tolerate.
	Rejecting Load = "rejecting"
	// Spread: the pods of each of ten applications spread over the nodes.
	Spread Load = "spread"
	// AntiAffinity: no two pods of an application may share a node.
	AntiAffinity Load = "antiaffinity"
	// Preempting: every pod has to preempt another one.
	Preempting Load = "preempting"
	// Waiting: a Permit plugin holds every pod until all of them wait.
	Waiting Load = "waiting"
	// Batch: gangs of ten, in namespaces under quota, on nodes with two NUMA nodes each, with the
	// plugins Coscheduling, CapacityScheduling and NodeResourceTopologyMatch. The pods exist before
	// the scheduler starts, or it would wait for members most of the time.
	Batch Load = "batch"
)

// Loads are all loads.
var Loads = []Load{Plain, Rejecting, Spread, AntiAffinity, Preempting, Waiting, Batch}

// applications is the smallest number of values of the pods' label app.
const applications = 10

const (
	// Each node of Preempting first runs that many victims. A preemptor needs the room of one.
	victims          = 2
	victimsNamespace = "victims"
	preemptorClass   = "preemptor"
)

// pods is the size of the load for a table. A run takes some seconds and collects garbage several
// times: in a shorter one, a collection more or less would decide the ratio.
func (l Load) pods(nodes int) int {
	switch {
	case l == Waiting:
		return 1000
	case l == Preempting:
		return min(nodes, 200)
	case l == Batch:
		return min(5*nodes, 1000)
	case nodes < 1000:
		return min(30*nodes, 3000)
	case nodes < 5000:
		return 2000
	}
	return 1000
}

// capacity returns how many pods of the load certainly fit.
func (l Load) capacity(nodes int) int {
	switch l {
	case Preempting:
		return nodes
	case Batch:
		return 20 * nodes
	}
	return 70 * nodes
}

func (l Load) configuration() string {
	const kind = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	switch l {
	case Waiting:
		return kind + "profiles:\n- plugins:\n    permit:\n      enabled:\n      - name: " + gateName + "\n"
	case Batch:
		return kind + batchProfile
	}
	return kind
}

func (l Load) node(i int) *v1.Node {
	name := nodeName(i)
	allocatable := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("32"), v1.ResourceMemory: resource.MustParse("256Gi"), v1.ResourcePods: resource.MustParse("110"),
	}
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1.LabelHostname: name, v1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3),
		}},
		Status: v1.NodeStatus{Allocatable: allocatable, Capacity: allocatable},
	}
	if l == Rejecting && i%10 < 3 {
		node.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "others", Effect: v1.TaintEffectNoSchedule}}
	}
	return node
}

func nodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

// pod returns the i-th pod of a load of that many pods.
func (l Load) pod(i, nodes, pods int) *v1.Pod {
	// As many pods of an application as there are nodes could share one only with each other.
	labels := map[string]string{"app": fmt.Sprintf("app-%d", i%max(applications, (2*pods+nodes-1)/nodes))}
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-", Labels: labels},
		Spec: v1.PodSpec{Containers: []v1.Container{{
			Name: "pause", Image: "registry.k8s.io/pause:3.10", Resources: requests("100m", "500Mi"),
		}}},
	}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	switch l {
	case Spread:
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: selector,
		}}
	case AntiAffinity:
		pod.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: v1.LabelHostname, LabelSelector: selector}},
		}}
	case Batch:
		batchPod(pod, i)
	case Preempting:
		pod.Spec.PriorityClassName = preemptorClass
		pod.Spec.Containers[0].Resources = requests("10", "1Gi")
	}
	return pod
}

func requests(cpu, memory string) v1.ResourceRequirements {
	return v1.ResourceRequirements{Requests: v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory),
	}}
}

func (b *bench) createCluster(ctx context.Context) error {
	err := inParallel(ctx, b.Nodes, func(ctx context.Context, i int) error {
		_, err := b.client.CoreV1().Nodes().Create(ctx, b.Load.node(i), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("creating the nodes: %w", err)
	}
	switch b.Load {
	case Preempting:
	case Batch:
		return b.createBatch(ctx)
	default:
		return nil
	}
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: preemptorClass}, Value: 1000}
	if _, err := b.client.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the priority class: %w", err)
	}
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: victimsNamespace}}
	if _, err := b.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the namespace of the victims: %w", err)
	}
	return b.createVictims(ctx)
}

// victimsInterval is the pause between two attempts to complete the victims: evicted ones keep
// their names for a moment.
const victimsInterval = 50 * time.Millisecond

// createVictims creates the missing victims of the load that needs them.
func (b *bench) createVictims(ctx context.Context) error {
	if b.Load != Preempting {
		return nil
	}
	err := wait.PollUntilContextCancel(ctx, victimsInterval, true, func(ctx context.Context) (bool, error) {
		missing, err := b.missingVictims(ctx)
		if err != nil || len(missing) == 0 {
			return len(missing) == 0, err
		}
		return false, inParallel(ctx, len(missing), func(ctx context.Context, i int) error {
			_, err := b.client.CoreV1().Pods(victimsNamespace).Create(ctx, missing[i], metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("creating the victims: %w", err)
	}
	return nil
}

func (b *bench) missingVictims(ctx context.Context) ([]*v1.Pod, error) {
	list, err := b.client.CoreV1().Pods(victimsNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	existing := sets.New[string]()
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			existing.Insert(pod.Name)
		}
	}
	var missing []*v1.Pod
	for i := range victims * b.Nodes {
		if pod := victim(i/victims, i%victims); !existing.Has(pod.Name) {
			missing = append(missing, pod)
		}
	}
	return missing, nil
}

func victim(node, j int) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("victim-%05d-%d", node, j)},
		Spec: v1.PodSpec{
			NodeName: nodeName(node),
			Containers: []v1.Container{{
				Name: "pause", Image: "registry.k8s.io/pause:3.10", Resources: requests("15", "1Gi"),
			}},
		},
	}
}
