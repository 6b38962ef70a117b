package controllers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	"kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
)

// podGroupIndex is the index of pods by the name of their group.
const podGroupIndex = "coscheduling/group"

// podGroups keeps the status of the PodGroups of the plugin Coscheduling, as the controller of
// kubernetes-sigs/scheduler-plugins does. Like that one, it counts the pods of a group's name in
// all namespaces, and never looks again at a group that has finished or failed.
type podGroups struct {
	client dynamic.NamespaceableResourceInterface
	pods   coreinformers.PodInformer
}

func newPodGroups(client dynamic.Interface, pods coreinformers.PodInformer) (*podGroups, error) {
	err := pods.Informer().AddIndexers(cache.Indexers{podGroupIndex: func(obj any) ([]string, error) {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Labels[v1alpha1.PodGroupLabel] != "" {
			return []string{pod.Labels[v1alpha1.PodGroupLabel]}, nil
		}
		return nil, nil
	}})
	return &podGroups{client.Resource(v1alpha1.PodGroups), pods}, err
}

// control is the control of a customKind.
func (c *podGroups) control(ctx context.Context) {
	(&statusOfPods[v1alpha1.PodGroup, *v1alpha1.PodGroup]{"pod groups", c.client, c.pods, func(pod *corev1.Pod) string {
		if pod.Labels[v1alpha1.PodGroupLabel] == "" {
			return ""
		}
		return pod.Namespace + "/" + pod.Labels[v1alpha1.PodGroupLabel]
	}, c.reconcile}).control(ctx)
}

func (c *podGroups) reconcile(ctx context.Context, groups cache.SharedIndexInformer, key string) error {
	object, exists, err := groups.GetStore().GetByKey(key)
	if err != nil || !exists {
		return err
	}
	group := object.(*v1alpha1.PodGroup)
	objects, err := c.pods.Informer().GetIndexer().ByIndex(podGroupIndex, group.Name)
	if err != nil {
		return err
	}
	var pods []*corev1.Pod
	for _, object := range objects {
		pods = append(pods, object.(*corev1.Pod))
	}
	before, after := group.Status, nextStatus(group, pods)
	if before == after {
		return nil
	}
	// null removes a field, so that a count that is 0 again does not stay.
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"phase": after.Phase, "occupiedBy": orNull(after.OccupiedBy),
		"running": orNull(after.Running), "succeeded": orNull(after.Succeeded), "failed": orNull(after.Failed),
	}})
	if err != nil {
		return err
	}
	_, err = c.client.Namespace(group.Namespace).Patch(ctx, group.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write the status of pod group %s: %w", key, err)
	}
	return nil
}

func orNull[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}

// nextStatus is the status that follows the group's. Each change of the status leads to another
// call, so one step is enough.
func nextStatus(group *v1alpha1.PodGroup, pods []*corev1.Pod) v1alpha1.PodGroupStatus {
	status := group.Status
	least := int(group.Spec.MinMember)
	switch status.Phase {
	case v1alpha1.PodGroupFinished, v1alpha1.PodGroupFailed:
		return status
	case "":
		status.Phase = v1alpha1.PodGroupPending
		return status
	case v1alpha1.PodGroupPending:
		if len(pods) >= least {
			status.Phase = v1alpha1.PodGroupScheduling
			if owners := occupiedBy(pods); owners != "" {
				status.OccupiedBy = owners
			}
		}
		return status
	}
	status.Running, status.Succeeded, status.Failed = 0, 0, 0
	for _, pod := range pods {
		switch pod.Status.Phase {
		case corev1.PodRunning:
			status.Running++
		case corev1.PodSucceeded:
			status.Succeeded++
		case corev1.PodFailed:
			status.Failed++
		}
	}
	running, succeeded, failed := int(status.Running), int(status.Succeeded), int(status.Failed)
	switch {
	case len(pods) < least:
		status.Phase = v1alpha1.PodGroupPending
		return status
	case running+succeeded < least:
		status.Phase = v1alpha1.PodGroupScheduling
	default:
		status.Phase = v1alpha1.PodGroupRunning
	}
	if failed > 0 && failed+running+succeeded >= least {
		status.Phase = v1alpha1.PodGroupFailed
	}
	if succeeded >= least {
		status.Phase = v1alpha1.PodGroupFinished
	}
	return status
}

// occupiedBy names the owners of the first pod; it is empty if there are none.
func occupiedBy(pods []*corev1.Pod) string {
	if len(pods) == 0 {
		return ""
	}
	first := slices.MinFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	var owners []string
	for _, owner := range first.OwnerReferences {
		owners = append(owners, first.Namespace+"/"+owner.Name)
	}
	slices.Sort(owners)
	return strings.Join(owners, ",")
}
