package controllers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/client-go/dynamic"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	"kube-scheduler-simulator/scheduler/plugins/capacityscheduling/v1alpha1"
)

// elasticQuotas keeps the status of the ElasticQuotas of the plugin CapacityScheduling, as the
// controller of kubernetes-sigs/scheduler-plugins does. Like that one, it writes to the first quota of
// a namespace only. It counts the pods that run, where the plugin counts those that have a node.
type elasticQuotas struct {
	client dynamic.NamespaceableResourceInterface
	pods   coreinformers.PodInformer
}

// control is the control of a customKind.
func (c *elasticQuotas) control(ctx context.Context) {
	(&statusOfPods[v1alpha1.ElasticQuota, *v1alpha1.ElasticQuota]{"elastic quotas", c.client, c.pods, func(pod *corev1.Pod) string {
		return pod.Namespace + "/"
	}, c.reconcile}).control(ctx)
}

func (c *elasticQuotas) reconcile(ctx context.Context, quotas cache.SharedIndexInformer, key string) error {
	namespace, _, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	objects, err := quotas.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	if err != nil || len(objects) == 0 {
		return err
	}
	quota := slices.MinFunc(objects, func(a, b any) int {
		return cmp.Compare(a.(*v1alpha1.ElasticQuota).Name, b.(*v1alpha1.ElasticQuota).Name)
	}).(*v1alpha1.ElasticQuota)
	objects, err = c.pods.Informer().GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		return err
	}
	used := usedOf(quota, objects)
	if quotav1.Equals(used, quota.Status.Used) {
		return nil
	}
	// A merge patch removes the names that it sets to null.
	status := map[corev1.ResourceName]any{}
	for name := range quota.Status.Used {
		status[name] = nil
	}
	for name, amount := range used {
		status[name] = amount
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"used": status}})
	if err != nil {
		return err
	}
	_, err = c.client.Namespace(namespace).Patch(ctx, quota.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write the status of elastic quota %s/%s: %w", namespace, quota.Name, err)
	}
	return nil
}

// usedOf returns the requests of the running pods, and a 0 for what none of them requests and the
// quota names.
func usedOf(quota *v1alpha1.ElasticQuota, pods []any) corev1.ResourceList {
	used := corev1.ResourceList{}
	for _, named := range []corev1.ResourceList{quota.Spec.Min, quota.Spec.Max} {
		for name, amount := range named {
			used[name] = *resource.NewQuantity(0, amount.Format)
		}
	}
	for _, object := range pods {
		if pod := object.(*corev1.Pod); pod.Status.Phase == corev1.PodRunning {
			used = quotav1.Add(used, requestsOf(pod))
		}
	}
	return used
}

// requestsOf are those of the pod's containers together or, where it is greater, of one init container.
func requestsOf(pod *corev1.Pod) corev1.ResourceList {
	requests := corev1.ResourceList{}
	for i := range pod.Spec.Containers {
		requests = quotav1.Add(requests, pod.Spec.Containers[i].Resources.Requests)
	}
	for i := range pod.Spec.InitContainers {
		requests = quotav1.Max(requests, pod.Spec.InitContainers[i].Resources.Requests)
	}
	return requests
}
