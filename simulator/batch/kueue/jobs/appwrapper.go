package jobs

import (
	"fmt"
	"strconv"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	"github.com/project-codeflare/appwrapper/pkg/utils"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
)

// Wrapper is an AppWrapper. The pod sets of its components are its own, numbered. Its controller injects what Start leaves in the
// components.
type Wrapper struct{ *appwrapper.AppWrapper }

var _ Job = Wrapper{}

func (w Wrapper) Object() Object { return w.AppWrapper }
func (w Wrapper) Copy() Job      { return Wrapper{w.DeepCopy()} }
func (Wrapper) Kind() schema.GroupVersionKind {
	return appwrapper.GroupVersion.WithKind(appwrapper.AppWrapperKind)
}
func (w Wrapper) Suspended() bool                          { return w.Spec.Suspend }
func (w Wrapper) Suspend()                                 { w.Spec.Suspend = true }
func (Wrapper) Vary() bool                                 { return false }
func (Wrapper) Rewind() bool                               { return false }
func (Wrapper) Reclaimable() (none []kueue.ReclaimablePod) { return nil }

func (w Wrapper) HasPods() bool { return w.is(appwrapper.QuotaReserved) }
func (w Wrapper) Ready() bool   { return w.is(appwrapper.PodsReady) }

func (w Wrapper) is(condition appwrapper.AppWrapperCondition) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, string(condition))
}

func (w Wrapper) setName(at int) kueue.PodSetReference {
	return kueue.NewPodSetReference(w.Name + "-" + strconv.Itoa(at))
}

// PodSets returns none if a template cannot be read, which admission refuses.
func (w Wrapper) PodSets() (sets []kueue.PodSet) {
	templates, declared, err := utils.GetComponentPodSpecs(w.DeepCopy()) // which fills in a status
	if err != nil {
		return nil
	}
	for i, template := range templates {
		request := TopologyOf(template.Annotations)
		if label := declared[i].Annotations[utils.PodSetAnnotationTASPodIndexLabel]; label != "" {
			request = indexed(request, label)
		}
		if label, count := subGroups(declared[i]); request != nil && label != "" {
			request.SubGroupIndexLabel, request.SubGroupCount = &label, &count
		}
		sets = append(sets, kueue.PodSet{Name: w.setName(i), Count: ptr.Deref(declared[i].Replicas, 1), Template: *template, TopologyRequest: request})
	}
	return sets
}

// subGroups returns the label by which the pods of a set are in groups, and how many groups there are; "" without groups.
func subGroups(set appwrapper.AppWrapperPodSet) (label string, count int32) {
	n, err := strconv.ParseInt(set.Annotations[utils.PodSetAnnotationTASSubGroupCount], 10, 32)
	if err != nil || n < 1 {
		return "", 0
	}
	return set.Annotations[utils.PodSetAnnotationTASSubGroupIndexLabel], int32(n)
}

func (w Wrapper) PodsOf(set kueue.PodSetReference) labels.Set {
	return labels.Set{appwrapper.AppWrapperLabel: w.Name, constants.PodSetLabel: string(set)}
}

// Rank counts over the groups of the pod set, if it has any. A running AppWrapper has its pod sets in its status.
func (w Wrapper) Rank(name kueue.PodSetReference, pod *v1.Pod) (int, bool) {
	at := 0
	for i := range w.Status.ComponentStatus {
		for _, set := range w.Status.ComponentStatus[i].PodSets {
			if at++; w.setName(at-1) != name {
				continue
			}
			rank, ok := rankBy(pod, set.Annotations[utils.PodSetAnnotationTASPodIndexLabel])
			label, groups := subGroups(set)
			if label == "" {
				return rank, ok
			}
			group, in := rankBy(pod, label)
			return group*int(ptr.Deref(set.Replicas, 1)/groups) + rank, ok && in
		}
	}
	return 0, false
}

func (w Wrapper) Start(infos []Info) error {
	out := make([]appwrapper.AppWrapperPodSetInfo, 0, len(infos))
	for _, info := range infos {
		out = append(out, appwrapper.AppWrapperPodSetInfo{Annotations: info.Annotations, Labels: info.Labels, NodeSelector: info.NodeLabels, Tolerations: info.Tolerations, SchedulingGates: info.Gates})
	}
	if err := utils.SetPodSetInfos(w.AppWrapper, out); err != nil {
		return fmt.Errorf("%w the AppWrapper with its pod sets: %w", ErrConflict, err)
	}
	w.Spec.Suspend = false
	return nil
}

func (w Wrapper) Restore([]kueue.PodSet) (changed bool) {
	for i := range w.Spec.Components {
		changed = changed || len(w.Spec.Components[i].PodSetInfos) > 0
	}
	utils.ClearPodSetInfos(w.AppWrapper)
	return changed
}

// Finished: a failed AppWrapper holds its quota until its components have gone.
func (w Wrapper) Finished() (message string, success, finished bool) {
	switch {
	case w.Status.Phase == appwrapper.AppWrapperSucceeded:
		return "AppWrapper finished successfully", true, true
	case w.Status.Phase == appwrapper.AppWrapperFailed && !w.is(appwrapper.ResourcesDeployed):
		return "AppWrapper failed", false, true
	}
	return "", false, false
}
