package claims

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	capacityv1alpha1 "kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
	groupv1alpha1 "kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
)

// The following themes add what the other clusters do not have.
func init() {
	themes = append(themes,
		theme{name: "pod groups", gates: map[string]bool{"GenericWorkload": true}, priorities: 20, special: gangs},
		theme{name: "Coscheduling", configuration: coscheduling, special: groups},
		theme{name: "quotas", configuration: capacityScheduling, priorities: 40, special: quotas},
		theme{name: "NUMA nodes", configuration: numa, special: topologies},
		theme{name: "features and panics", configuration: fragile, shapes: 20, special: (*generator).featuresAndPanics},
	)
}

const coscheduling = `profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
    score: {enabled: [` + thumbsEnabled + `]}
`

const capacityScheduling = `profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: CapacityScheduling}]}
    postFilter: {enabled: [{name: CapacityScheduling}], disabled: [{name: "*"}]}
    score: {enabled: [` + thumbsEnabled + `]}
`

const numa = `profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: NodeResourceTopologyMatch}]}
    score: {enabled: [` + thumbsEnabled + `]}
`

const fragile = `profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: Fragile}]}
    score: {enabled: [` + thumbsEnabled + `]}
`

// custom returns a custom resource as the scheduler reads it.
func custom(o runtime.Object) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: fields}
}

// gangs adds pod groups of Kubernetes with pending members.
func gangs(g *generator) {
	for i := range 1 + g.IntN(2) {
		name, priority := fmt.Sprint("gang-", i), one[int32](g, 0, 100)
		group := st.MakePodGroup().Name(name).Namespace("default").Priority(priority)
		if g.chance(15) {
			group.BasicPolicy()
		} else {
			group.MinCount(int32(2 + g.IntN(4)))
		}
		g.add(group.Obj())
		for range 1 + g.IntN(5) {
			p := g.pod()
			p.Namespace, p.OwnerReferences = "default", nil
			p.Spec.Priority, p.Spec.PriorityClassName, p.Spec.PreemptionPolicy = &priority, "", nil
			p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
			if n := one(g, g.nodes...); g.chance(20) && g.admits(n, p) {
				p.Spec.NodeName, p.Status.Phase = n.Name, v1.PodRunning
				g.bound = append(g.bound, p)
			} else {
				p.Status.Phase = v1.PodPending
				g.pending = append(g.pending, p)
			}
			g.add(p)
		}
	}
}

// groups adds pod groups of Coscheduling.
func groups(g *generator) {
	for i := range 2 {
		group := &groupv1alpha1.PodGroup{TypeMeta: metav1.TypeMeta{APIVersion: groupv1alpha1.GroupVersion.String(), Kind: "PodGroup"}}
		group.Namespace, group.Name = "default", fmt.Sprint("group-", i)
		group.CreationTimestamp = metav1.Unix(1_700_000_000, 0)
		group.Spec.MinMember = int32(2 + g.IntN(4))
		if g.chance(50) {
			group.Spec.MinResources = v1.ResourceList{v1.ResourceCPU: resource.MustParse(one(g, "1", "4", "64", "64")), v1.ResourceMemory: resource.MustParse("1Gi")}
		}
		g.add(custom(group))
		for range 1 + g.IntN(5) {
			p := g.pod()
			p.Namespace, p.OwnerReferences = "default", nil
			p.Labels[groupv1alpha1.PodGroupLabel] = group.Name
			p.Status.Phase = v1.PodPending
			if g.chance(30) {
				p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
			} else {
				g.pending = append(g.pending, p)
			}
			g.add(p)
		}
	}
}

// quotas adds an ElasticQuota to two namespaces.
func quotas(g *generator) {
	for _, namespace := range []string{"default", "blue"} {
		q := &capacityv1alpha1.ElasticQuota{TypeMeta: metav1.TypeMeta{APIVersion: capacityv1alpha1.ElasticQuotas.GroupVersion().String(), Kind: "ElasticQuota"}}
		q.Namespace, q.Name = namespace, "quota"
		cpus := func(n string) v1.ResourceList {
			return v1.ResourceList{v1.ResourceCPU: resource.MustParse(n), v1.ResourceMemory: resource.MustParse("16Gi")}
		}
		q.Spec.Min = cpus(one(g, "500m", "1", "3", "8"))
		if g.chance(60) {
			q.Spec.Max = cpus(one(g, "1", "3", "6"))
			q.Spec.Max[v1.ResourceEphemeralStorage] = resource.MustParse("100Gi")
		}
		g.add(custom(q))
	}
	// Pods that wait for their victims count against a quota, but not in a dry run of preemption.
	for range g.IntN(4) {
		p := g.pod()
		p.Namespace, p.OwnerReferences = one(g, "default", "blue"), nil
		p.Spec.Priority, p.Spec.PriorityClassName, p.Spec.PreemptionPolicy = ptr.To[int32](1000), "", nil
		p.Status.Phase, p.Status.NominatedNodeName = v1.PodPending, one(g, g.nodes...).Name
		g.pending = append(g.pending, p)
		g.add(p)
	}
}

// topologies cuts the nodes into NUMA nodes, and makes pods Guaranteed, so that they must be aligned.
func topologies(g *generator) {
	for _, n := range g.nodes {
		t := &v1alpha2.NodeResourceTopology{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha2.NodeResourceTopologies.GroupVersion().String(), Kind: "NodeResourceTopology"}}
		t.Name = n.Name
		t.Attributes = []v1alpha2.Attribute{
			{Name: v1alpha2.AttributePolicy, Value: v1alpha2.PolicySingleNUMANode},
			{Name: v1alpha2.AttributeScope, Value: one(g, v1alpha2.ScopeContainer, v1alpha2.ScopePod)},
		}
		for i := range 2 {
			z := v1alpha2.Zone{Name: fmt.Sprint(v1alpha2.ZonePrefix, i), Type: v1alpha2.ZoneType}
			for name, amount := range map[string]string{"cpu": one(g, "500m", "1", "2"), "memory": one(g, "256Mi", "1Gi", "2Gi")} {
				q := resource.MustParse(amount)
				z.Resources = append(z.Resources, v1alpha2.Amounts{Name: name, Capacity: q, Allocatable: q, Available: q})
			}
			if z.Resources[0].Name != "cpu" { // the order of a map
				z.Resources[0], z.Resources[1] = z.Resources[1], z.Resources[0]
			}
			t.Zones = append(t.Zones, z)
		}
		if g.chance(85) {
			g.add(custom(t))
		}
	}
	for _, p := range g.pending {
		for i := range p.Spec.Containers {
			r := &p.Spec.Containers[i].Resources
			r.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(one(g, "300m", "1", "2")), v1.ResourceMemory: resource.MustParse(one(g, "64Mi", "1Gi"))}
			r.Limits = r.Requests.DeepCopy()
		}
		p.Spec.InitContainers, p.Spec.Resources, p.Spec.Overhead, p.Spec.RuntimeClassName = nil, nil, nil, nil
	}
}

// featuresAndPanics gives pods what only some nodes can do, and what a plugin cannot bear.
func (g *generator) featuresAndPanics() {
	for _, n := range g.nodes {
		if g.chance(50) {
			n.Status.DeclaredFeatures = []string{"RestartAllContainersOnContainerExits"}
		}
	}
	for _, p := range g.pending {
		switch {
		case g.chance(50):
			c := &p.Spec.Containers[0]
			c.RestartPolicy = ptr.To(v1.ContainerRestartPolicyNever)
			c.RestartPolicyRules = []v1.ContainerRestartRule{{
				Action: v1.ContainerRestartRuleActionRestartAllContainers, ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: v1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
			}}
		case g.chance(30):
			p.Labels["fragile"] = "filter"
		}
	}
}
