package jobs

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"
)

// The pod sets of a group of a LeaderWorkerSet whose leader has a template of its own. Otherwise there is one, with the usual name.
const (
	leaderPodSet kueue.PodSetReference = "leader"
	workerPodSet kueue.PodSetReference = "worker"
)

// GroupOfSet is the name of the workload of one group of a LeaderWorkerSet, and of the group of pods.
func GroupOfSet(set string, index int) string {
	return NameOf(lws.GroupVersion.WithKind("LeaderWorkerSet").GroupKind(), set+"-"+strconv.Itoa(index), "")
}

// GroupOfStatefulSet is the name of the workload of a StatefulSet, and of the group of its pods.
func GroupOfStatefulSet(set string) string {
	return NameOf(appsv1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind(), set, "")
}

// GroupOfMember is GroupOfSet for one of the pods; "" for others. Its labels are there before it is created.
func GroupOfMember(pod metav1.Object) string {
	index, err := strconv.Atoi(pod.GetLabels()[lws.GroupIndexLabelKey])
	if set := pod.GetLabels()[lws.SetNameLabelKey]; set != "" && err == nil {
		return GroupOfSet(set, index)
	}
	return ""
}

// RoleOfTemplate is the pod set of the pods of a template of a LeaderWorkerSet. separate says whether leaders have a template of
// their own.
func RoleOfTemplate(leader, separate bool) kueue.PodSetReference {
	switch {
	case !separate:
		return kueue.DefaultPodSetName
	case leader:
		return leaderPodSet
	}
	return workerPodSet
}

// GroupsOf is the number of groups that need workloads, those that a rolling update adds for a while included.
func GroupsOf(set *lws.LeaderWorkerSet) int {
	groups := ptr.Deref(set.Spec.Replicas, 1)
	update := set.Spec.RolloutStrategy.RollingUpdateConfiguration
	if update != nil && update.MaxSurge.IntValue() > 0 && set.Status.UpdatedReplicas < groups {
		groups = max(groups, set.Status.Replicas)
	}
	return int(groups)
}

// LeaderPodSets returns the pod sets of one group of a LeaderWorkerSet.
func LeaderPodSets(set *lws.LeaderWorkerSet) (sets []kueue.PodSet) {
	of := func(name kueue.PodSetReference, count int32, template *v1.PodTemplateSpec, rankLabel string) {
		request := TopologyOf(template.Annotations)
		if rankLabel != "" {
			request = indexed(request, rankLabel)
		}
		sets = append(sets, kueue.PodSet{Name: name, Count: count, Template: v1.PodTemplateSpec{Spec: *template.Spec.DeepCopy()}, TopologyRequest: request})
	}
	template := &set.Spec.LeaderWorkerTemplate
	workers, name := ptr.Deref(template.Size, 1), kueue.DefaultPodSetName
	if template.LeaderTemplate != nil {
		of(leaderPodSet, 1, template.LeaderTemplate, "")
		workers, name = workers-1, workerPodSet
	}
	of(name, workers, &template.WorkerTemplate, lws.WorkerIndexLabelKey)
	return sets
}
