package submit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
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
	// work are its workloads: one for each pod of a Deployment.
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
const kindsOfJobs = "a Job, a Pod, a Deployment, a StatefulSet or the pods of a PodGroup"

// read reads the documents of a question. Errors are a *hypothesis.Refused.
func read(ctx context.Context, q Question) (*reading, error) {
	r := &reading{groups: map[string]*unstructured.Unstructured{}}
	namespace := q.Namespace
	if namespace == "" {
		namespace = v1.NamespaceDefault
	}
	var given []runtime.Object
	var wrong, others []string
	for i, document := range q.Objects {
		name := fmt.Sprintf("objects[%d]", i)
		source := manifest.NewSource(manifest.Part{Name: name, Content: bytes.NewReader(document), Size: int64(len(document))})
		err := manifest.Read(ctx, source, manifest.Content{
			Object: func(o *manifest.Object) error {
				u, err := o.Unstructured()
				if err != nil {
					return err
				}
				if u.GetNamespace() == "" {
					u.SetNamespace(namespace)
				}
				job, err := typedJob(u)
				if err != nil {
					wrong = append(wrong, fmt.Sprintf("%s %s: %v", u.GetKind(), u.GetName(), err))
				}
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
				return nil
			},
			Configuration: func(string, []byte) { wrong = append(wrong, name+": it is a scheduler configuration, and no job") },
			Unreadable:    func(at, message string) { wrong = append(wrong, at+": "+message) },
		})
		if err != nil {
			return nil, refuse("%s: %v", name, err)
		}
	}
	switch {
	case len(wrong) > 0:
		return nil, refuse("%s", strings.Join(wrong, "; "))
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

// typedJob returns nil for an object that is no job.
func typedJob(u *unstructured.Unstructured) (runtime.Object, error) {
	switch u.GroupVersionKind() {
	case batchv1.SchemeGroupVersion.WithKind("Job"), v1.SchemeGroupVersion.WithKind("Pod"), appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithKind("StatefulSet"):
	default:
		return nil, nil
	}
	o, err := scheme.Scheme.New(u.GroupVersionKind())
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, o, true)
	}
	if err != nil {
		return nil, err
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return nil, err
	}
	m.SetUID("")
	if spec := specOf(o); len(spec.Containers) == 0 {
		return nil, fmt.Errorf("it has no containers")
	}
	return o, nil
}

func specOf(o runtime.Object) *v1.PodSpec {
	switch o := o.(type) {
	case *batchv1.Job:
		return &o.Spec.Template.Spec
	case *appsv1.Deployment:
		return &o.Spec.Template.Spec
	case *appsv1.StatefulSet:
		return &o.Spec.Template.Spec
	}
	return &o.(*v1.Pod).Spec
}

// isJobless reports whether an object makes pods, and is of no kind that can be asked about.
func isJobless(u *unstructured.Unstructured) bool {
	switch u.GetKind() {
	case "JobSet", "LeaderWorkerSet", "AppWrapper", "CronJob", "ReplicaSet", "ReplicationController", "DaemonSet", "RayJob", "RayCluster", "MPIJob", "PyTorchJob", "TFJob":
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
