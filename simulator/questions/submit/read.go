package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"

	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// MaxJobs bounds a question.
const MaxJobs = 100

// Question asks about jobs, in the order in which they are submitted.
type Question struct {
	// Objects are documents with jobs, and with what comes with them, such as a PodGroup. One in YAML may hold several.
	Objects []hypothesis.Document `json:"objects"`
	// Namespace is for objects without one; empty means "default".
	Namespace string `json:"namespace,omitempty"`
	// Runs is how often the queues are run forward at most; 0 means DefaultRuns.
	Runs int `json:"runs,omitempty"`
	// NoChanges leaves out the search for changes.
	NoChanges bool `json:"noChanges,omitempty"`
}

func refuse(format string, args ...any) error {
	return &hypothesis.Refused{Message: fmt.Sprintf(format, args...)}
}

// subject is a job that is asked about.
type subject struct {
	kind, namespace, name string
	// queue is the LocalQueue; "" without one.
	queue string
	// work are its workloads: one for each pod of a Deployment, and for each group of a LeaderWorkerSet.
	work []jobs.Submitted
	gang *Gang
	// native: the gang is one of Kubernetes' own.
	native bool
}

// reading is what the documents of a question hold.
type reading struct {
	subjects []*subject
	// beside are the other objects.
	beside []*unstructured.Unstructured
	// groups are PodGroups by API group, namespace and name.
	groups map[string]*unstructured.Unstructured
}

// the kinds that can be asked about, for messages.
const kindsOfJobs = "a Job, a Pod, a Deployment, a StatefulSet, a JobSet, a LeaderWorkerSet, an AppWrapper or the pods of a PodGroup"

// read reads the documents of a question. Errors are a *hypothesis.Refused.
func read(ctx context.Context, q Question) (*reading, error) {
	r := &reading{groups: map[string]*unstructured.Unstructured{}}
	namespace := q.Namespace
	if namespace == "" {
		namespace = v1.NamespaceDefault
	}
	var given []runtime.Object
	var others []string
	err := hypothesis.EachObject(ctx, "objects", q.Objects, "job", func(u *unstructured.Unstructured) error {
		if u.GetNamespace() == "" {
			u.SetNamespace(namespace)
		}
		job, err := typedJob(u)
		switch {
		case job != nil:
			given = append(given, job)
		case isJobless(u):
			others = append(others, u.GetKind()+" "+u.GetName())
		case err == nil:
			r.beside = append(r.beside, u)
			if u.GetKind() == "PodGroup" {
				r.groups[groupKey(u.GroupVersionKind().Group, u.GetNamespace(), u.GetName())] = u
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case len(others) > 0:
		return nil, refuse("%s: want %s; the simulator knows no other kind of job", strings.Join(others, ", "), kindsOfJobs)
	case len(given) == 0 && len(r.beside) == 0:
		return nil, refuse("there is nothing to ask about: want %s", kindsOfJobs)
	case len(given) == 0:
		return nil, refuse("%s %s is no workload: want %s", r.beside[0].GetKind(), r.beside[0].GetName(), kindsOfJobs)
	}
	work, err := jobs.Work(given)
	if err != nil {
		return nil, refuse("%v", err)
	}
	r.gather(work)
	if len(r.subjects) == 0 {
		return nil, refuse("the jobs want no pods")
	}
	if len(r.subjects) > MaxJobs {
		return nil, refuse("objects: %d jobs are more than %d", len(r.subjects), MaxJobs)
	}
	return r, nil
}

// gather makes subjects of workloads: the pods of a Deployment are one, and so are the pods of a gang without a queue.
func (r *reading) gather(work []jobs.Submitted) {
	at := map[string]*subject{}
	for _, w := range work {
		s := &subject{kind: w.Kind, namespace: w.Owner.Namespace, name: w.Name, queue: queueOf(w.Owner)}
		s.gang, s.native = gangOf(w)
		key := s.kind + "/" + s.namespace + "/" + s.name
		if s.gang != nil && s.kind == "Pod" && s.queue == "" {
			s.kind, s.name = "PodGroup", s.gang.Name
			key = groupKey(s.gang.Group, s.namespace, s.gang.Name)
		}
		if already := at[key]; already != nil {
			already.work = append(already.work, w)
			continue
		}
		s.work = append(s.work, w)
		at[key] = s
		r.subjects = append(r.subjects, s)
	}
}

func groupKey(group, namespace, name string) string { return group + "/" + namespace + "/" + name }

// jobKinds make an empty object of each kind that can be asked about.
var jobKinds = map[schema.GroupVersionKind]func() runtime.Object{
	batchv1.SchemeGroupVersion.WithKind("Job"):                  func() runtime.Object { return &batchv1.Job{} },
	v1.SchemeGroupVersion.WithKind("Pod"):                       func() runtime.Object { return &v1.Pod{} },
	appsv1.SchemeGroupVersion.WithKind("Deployment"):            func() runtime.Object { return &appsv1.Deployment{} },
	appsv1.SchemeGroupVersion.WithKind("StatefulSet"):           func() runtime.Object { return &appsv1.StatefulSet{} },
	jobset.SchemeGroupVersion.WithKind("JobSet"):                func() runtime.Object { return &jobset.JobSet{} },
	lws.GroupVersion.WithKind("LeaderWorkerSet"):                func() runtime.Object { return &lws.LeaderWorkerSet{} },
	appwrapper.GroupVersion.WithKind(appwrapper.AppWrapperKind): func() runtime.Object { return &appwrapper.AppWrapper{} },
}

// typedJob returns nil for an object that is no job.
func typedJob(u *unstructured.Unstructured) (runtime.Object, error) {
	empty := jobKinds[u.GroupVersionKind()]
	if empty == nil {
		return nil, nil
	}
	o := empty()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, o, true); err != nil {
		return nil, err
	}
	if set, ok := o.(*jobset.JobSet); ok {
		setReplicas(set, u)
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return nil, err
	}
	m.SetUID("")
	if pod, ok := o.(*v1.Pod); ok && len(pod.Spec.Containers) == 0 {
		return nil, errors.New("it has no containers")
	}
	work, _ := jobs.Work([]runtime.Object{o}) // the rest of a pod's group may follow
	for _, w := range work {
		if len(w.PodSets) == 0 {
			return nil, errors.New("it has no pods")
		}
		for _, set := range w.PodSets {
			if len(set.Template.Spec.Containers) == 0 {
				return nil, errors.New("it has no containers")
			}
		}
	}
	return o, nil
}

// setReplicas sets the default of the definition of JobSets, which says 1 where nothing is said.
func setReplicas(set *jobset.JobSet, u *unstructured.Unstructured) {
	given, _, _ := unstructured.NestedSlice(u.Object, "spec", "replicatedJobs")
	for i := range set.Spec.ReplicatedJobs {
		if job, ok := given[i].(map[string]any); ok && job["replicas"] == nil {
			set.Spec.ReplicatedJobs[i].Replicas = 1
		}
	}
}

// isJobless reports whether an object makes pods, and is of no kind that can be asked about.
func isJobless(u *unstructured.Unstructured) bool {
	switch u.GetKind() {
	case "CronJob", "ReplicaSet", "ReplicationController", "DaemonSet", "RayJob", "RayCluster", "MPIJob", "PyTorchJob", "TFJob":
		return true
	}
	return false
}

const (
	coschedulingGroup = "scheduling.x-k8s.io"
	nativeGroup       = "scheduling.k8s.io"
	coschedulingLabel = coschedulingGroup + "/pod-group"
	queueLabel        = "kueue.x-k8s.io/queue-name"
)

func queueOf(m metav1.ObjectMeta) string { return m.Labels[queueLabel] }

// gangOf returns the gang of a workload's pods, without what it needs; nil if there is none.
func gangOf(w jobs.Submitted) (gang *Gang, native bool) {
	template := w.PodSets[0].Template
	if g := template.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return &Gang{Group: nativeGroup, Name: *g.PodGroupName}, true
	}
	name := template.Labels[coschedulingLabel]
	if name == "" && w.Kind == "Pod" {
		name = w.Owner.Labels[coschedulingLabel]
	}
	if name != "" {
		return &Gang{Group: coschedulingGroup, Name: name}, false
	}
	return nil, false
}

// leastOf is how many members a PodGroup needs.
func leastOf(u *unstructured.Unstructured) int {
	path := []string{"spec", "minMember"}
	if u.GroupVersionKind().Group == nativeGroup {
		path = []string{"spec", "schedulingPolicy", "gang", "minCount"}
	}
	n, _, err := unstructured.NestedInt64(u.Object, path...)
	if err != nil {
		return 0
	}
	return int(n)
}

// asChange returns the creation of an object, for a question about nodes.
func asChange(o any) (hypothesis.Change, error) {
	data, err := json.Marshal(o)
	return hypothesis.Change{Apply: data}, err
}

// podOf is a pod of a pod set, with the metadata that its job's controller gives it.
func podOf(s *subject, set *kueue.PodSet, name string) *v1.Pod {
	pod := &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: *set.Template.ObjectMeta.DeepCopy(), Spec: *set.Template.Spec.DeepCopy(),
	}
	pod.Namespace, pod.Name, pod.GenerateName = s.namespace, name, ""
	if s.queue == "" {
		delete(pod.Labels, queueLabel)
	}
	pod.Spec.SchedulingGates = nil
	return pod
}
