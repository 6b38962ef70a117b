package control

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"

	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// leaderSets is the resource of LeaderWorkerSets, whose definition a cluster may lack.
var leaderSets = lws.GroupVersion.WithResource("leaderworkersets")

// reconcileLeaderSet makes a workload for each group of a LeaderWorkerSet, before its pods come, and deletes those of groups that
// have gone. The pods join them by their names.
func (e *engaged) reconcileLeaderSet(ctx context.Context, key types.NamespacedName) error {
	set := cached[lws.LeaderWorkerSet](e.leaderSets, key)
	if set == nil || set.DeletionTimestamp != nil || set.Labels[controllerconstants.QueueLabel] == "" {
		return nil
	}
	wanted := map[string]bool{}
	for index := range jobs.GroupsOf(set) {
		name := jobs.GroupOfSet(set.Name, index)
		wanted[name] = true
		w := cached[kueue.Workload](e.workloads, types.NamespacedName{Namespace: set.Namespace, Name: name})
		if w != nil {
			if err := e.followLabel(ctx, w, set); err != nil {
				return err
			}
			continue
		}
		w, err := jobs.NewWorkload(surroundings{e}, name, set, jobs.LeaderPodSets(set))
		if err != nil {
			return err
		}
		w.OwnerReferences = []metav1.OwnerReference{{APIVersion: lws.GroupVersion.String(), Kind: "LeaderWorkerSet", Name: set.Name, UID: set.UID}}
		w.Annotations = map[string]string{kueue.GroupVersion.Group + "/is-group-workload": "true"}
		if err := e.create(ctx, workloadResource, w); err != nil {
			return fmt.Errorf("creating the workload of group %d of LeaderWorkerSet %s: %w", index, key, err)
		}
		e.recorder.Eventf(set, corev1.EventTypeNormal, "CreatedWorkload", "Created Workload: %s/%s", w.Namespace, w.Name)
	}
	for _, w := range list[kueue.Workload](e.workloads) {
		if !wanted[w.Name] && w.Namespace == set.Namespace && slices.ContainsFunc(w.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == set.UID }) {
			if err := e.remove(ctx, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofLeaderSet reports whether a LeaderWorkerSet that exists owns a workload.
func (e *engaged) ofLeaderSet(w *kueue.Workload) bool {
	return slices.ContainsFunc(w.OwnerReferences, func(o metav1.OwnerReference) bool {
		set := cached[lws.LeaderWorkerSet](e.leaderSets, types.NamespacedName{Namespace: w.Namespace, Name: o.Name})
		return o.Kind == "LeaderWorkerSet" && set != nil && set.UID == o.UID && set.DeletionTimestamp == nil
	})
}
