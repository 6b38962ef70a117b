package jobs

import (
	"cmp"
	"slices"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"
)

// Submitted is one workload that objects would make, before they exist.
type Submitted struct {
	// Kind is that of the object, or PodGroup for several pods of a group.
	Kind string
	// Owner is the metadata of the object, or of the first pod of a group.
	Owner metav1.ObjectMeta
	// Name is that of the object or of the group, and Workload that of its Workload.
	Name, Workload string
	// PodSets are not adjusted yet; see NewWorkload.
	PodSets []kueue.PodSet
}

// Work returns the workloads that objects would make in a queue, in their order. It leaves out the objects of other kinds:
// this is the place that knows the kinds of jobs. The error is a *GroupError.
func Work(objects []runtime.Object) (out []Submitted, err error) {
	groups := map[string]bool{}
	for _, o := range objects {
		switch o := o.(type) {
		case *batchv1.Job:
			out = append(out, submitted(Batch{o}, o.ObjectMeta))
		case *jobset.JobSet:
			out = append(out, submitted(Set{o}, o.ObjectMeta))
		case *appwrapper.AppWrapper:
			out = append(out, submitted(Wrapper{o}, o.ObjectMeta))
		case *lws.LeaderWorkerSet:
			for index := range GroupsOf(o) {
				out = append(out, Submitted{"LeaderWorkerSet", o.ObjectMeta, o.Name, GroupOfSet(o.Name, index), LeaderPodSets(o)})
			}
		case *v1.Pod:
			group := GroupOf(o)
			switch {
			case group == "":
				out = append(out, Submitted{"Pod", o.ObjectMeta, cmp.Or(o.Name, o.GenerateName), PodWorkloadName(o), PodPodSets(o)})
			case !groups[o.Namespace+"/"+group]:
				groups[o.Namespace+"/"+group] = true
				sets, err := GroupPodSets(group, members(objects, o.Namespace, group))
				if err != nil {
					return nil, err
				}
				out = append(out, Submitted{"PodGroup", o.ObjectMeta, group, group, sets})
			}
		case *appsv1.Deployment:
			// Each pod is a workload of its own.
			pod := &v1.Pod{ObjectMeta: *o.Spec.Template.ObjectMeta.DeepCopy(), Spec: o.Spec.Template.Spec}
			pod.Namespace = o.Namespace
			for range ptr.Deref(o.Spec.Replicas, 1) {
				out = append(out, Submitted{"Deployment", o.ObjectMeta, o.Name, NameOf(podKind, o.Name, ""), PodPodSets(pod)})
			}
		case *appsv1.StatefulSet:
			pod := &v1.Pod{ObjectMeta: *o.Spec.Template.ObjectMeta.DeepCopy(), Spec: o.Spec.Template.Spec}
			sets := PodPodSets(pod)
			sets[0].Count = ptr.Deref(o.Spec.Replicas, 1)
			out = append(out, Submitted{"StatefulSet", o.ObjectMeta, o.Name, GroupOfStatefulSet(o.Name), sets})
		}
	}
	return out, nil
}

func submitted(job Job, owner metav1.ObjectMeta) Submitted {
	return Submitted{job.Kind().Kind, owner, owner.Name, WorkloadName(job), job.PodSets()}
}

// members are the pods of a group.
func members(objects []runtime.Object, namespace, group string) (pods []*v1.Pod) {
	for _, o := range objects {
		if pod, ok := o.(*v1.Pod); ok && pod.Namespace == namespace && GroupOf(pod) == group {
			pods = append(pods, pod)
		}
	}
	return slices.Clip(pods)
}
