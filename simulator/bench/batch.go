package bench

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	quotas "kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
	groups "kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	topologies "kube-scheduler-simulator/scheduler/plugins/noderesourcetopology/v1alpha2"
	"kube-scheduler-simulator/simulator/cluster/definitions"
)

const batchProfile = `profiles:
- plugins:
    multiPoint: {enabled: [{name: Coscheduling}, {name: CapacityScheduling}, {name: NodeResourceTopologyMatch}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
    postFilter: {enabled: [{name: CapacityScheduling}, {name: Coscheduling}], disabled: [{name: "*"}]}
    reserve: {enabled: [{name: Coscheduling}, {name: CapacityScheduling}], disabled: [{name: NodeResourceTopologyMatch}]}
`

const (
	gangSize        = 10
	quotaNamespaces = 20
)

func gangName(i int) string { return fmt.Sprintf("gang-%04d", i/gangSize) }

func gangNamespace(i int) string { return fmt.Sprintf("batch-%02d", i/gangSize%quotaNamespaces) }

func (l Load) namespace(i int) string {
	if l == Batch {
		return gangNamespace(i)
	}
	return metav1.NamespaceDefault
}

// The i-th pod of Batch is Guaranteed. Its name begins with that of its gang, as the pods of a job
// have the job's name: groups of the same second stand in the queue by the names of their pods.
func batchPod(pod *v1.Pod, i int) {
	pod.GenerateName = gangName(i) + "-"
	pod.Labels[groups.PodGroupLabel] = gangName(i)
	r := requests("1", "1Gi")
	r.Limits = r.Requests
	pod.Spec.Containers[0].Resources = r
}

func (b *bench) createBatch(ctx context.Context) error {
	cluster, err := definitions.NewCluster(b.controlPlane.ClientConfig())
	if err != nil {
		return err
	}
	if err := cluster.Keep(ctx, definitions.All()); err != nil {
		return err
	}
	config := rest.CopyConfig(b.controlPlane.ClientConfig())
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	create := func(ctx context.Context, resource schema.GroupVersionResource, namespace string, object runtime.Object) error {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return err
		}
		_, err = client.Resource(resource).Namespace(namespace).Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		return err
	}
	err = inParallel(ctx, b.Nodes, func(ctx context.Context, i int) error {
		return create(ctx, topologies.NodeResourceTopologies, "", batchTopology(i))
	})
	if err != nil {
		return fmt.Errorf("creating the topologies: %w", err)
	}
	err = inParallel(ctx, quotaNamespaces, func(ctx context.Context, i int) error {
		namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: gangNamespace(i * gangSize)}}
		if _, err := b.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return err
		}
		all := v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(int64(b.Pods), resource.DecimalSI), v1.ResourceMemory: resource.MustParse("1Pi")}
		return create(ctx, quotas.ElasticQuotas, namespace.Name, &quotas.ElasticQuota{
			TypeMeta:   metav1.TypeMeta{APIVersion: quotas.ElasticQuotas.GroupVersion().String(), Kind: "ElasticQuota"},
			ObjectMeta: metav1.ObjectMeta{Name: "quota"},
			Spec:       quotas.ElasticQuotaSpec{Min: all},
		})
	})
	if err != nil {
		return fmt.Errorf("creating the quotas: %w", err)
	}
	err = inParallel(ctx, (b.Pods+gangSize-1)/gangSize, func(ctx context.Context, n int) error {
		i := n * gangSize
		return create(ctx, groups.PodGroups, gangNamespace(i), &groups.PodGroup{
			TypeMeta:   metav1.TypeMeta{APIVersion: groups.GroupVersion.String(), Kind: "PodGroup"},
			ObjectMeta: metav1.ObjectMeta{Name: gangName(i)},
			Spec:       groups.PodGroupSpec{MinMember: int32(min(gangSize, b.Pods-i))},
		})
	})
	if err != nil {
		return fmt.Errorf("creating the groups: %w", err)
	}
	return nil
}

// batchTopology belongs to an empty node.
func batchTopology(node int) *topologies.NodeResourceTopology {
	t := &topologies.NodeResourceTopology{
		TypeMeta:   metav1.TypeMeta{APIVersion: topologies.NodeResourceTopologies.GroupVersion().String(), Kind: "NodeResourceTopology"},
		ObjectMeta: metav1.ObjectMeta{Name: nodeName(node)},
		Attributes: []topologies.Attribute{
			{Name: topologies.AttributePolicy, Value: topologies.PolicySingleNUMANode}, {Name: topologies.AttributeScope, Value: topologies.ScopePod},
		},
	}
	amounts := func(name v1.ResourceName, amount string) topologies.Amounts {
		q := resource.MustParse(amount)
		return topologies.Amounts{Name: string(name), Capacity: q, Allocatable: q, Available: q}
	}
	for id := range 2 {
		t.Zones = append(t.Zones, topologies.Zone{
			Name: fmt.Sprint(topologies.ZonePrefix, id), Type: topologies.ZoneType,
			Resources: []topologies.Amounts{amounts(v1.ResourceCPU, "16"), amounts(v1.ResourceMemory, "128Gi")},
		})
	}
	return t
}
