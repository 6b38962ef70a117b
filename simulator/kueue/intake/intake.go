package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/kueue/api"
	"kube-scheduler-simulator/simulator/kueue/jobs"
)

// PluginName is the name of the admission plugin.
const PluginName = "KueueIntake"

// Register adds the plugin to those that an API server can run.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) { return &intake{}, nil })
}

type intake struct{ client kubernetes.Interface }

var (
	_           admission.MutationInterface            = (*intake)(nil)
	_           admission.ValidationInterface          = (*intake)(nil)
	_           initializer.WantsExternalKubeClientSet = (*intake)(nil)
	_           admission.InitializationValidator      = (*intake)(nil)
	_           func(*admission.Plugins)               = Register
	errNoClient error                                  = errors.New("the plugin needs a client")
)

// SetExternalKubeClientSet implements initializer.WantsExternalKubeClientSet.
func (i *intake) SetExternalKubeClientSet(client kubernetes.Interface) { i.client = client }

// ValidateInitialization implements admission.InitializationValidator.
func (i *intake) ValidateInitialization() error {
	if i.client == nil {
		return errNoClient
	}
	return nil
}

// Handles implements admission.Interface.
func (i *intake) Handles(operation admission.Operation) bool {
	return operation == admission.Create || operation == admission.Update
}

// Admit implements admission.MutationInterface.
func (i *intake) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	create := a.GetOperation() == admission.Create
	switch o := a.GetObject().(type) {
	case *batch.Job:
		if create {
			return i.admitJob(ctx, o)
		}
	case *core.Pod:
		if create {
			return i.admitPod(ctx, o)
		}
	case *apps.Deployment:
		if queue := o.Labels[api.QueueNameLabel]; queue != "" && i.serves(ctx, o.Namespace) {
			passOn(o.Labels, &o.Spec.Template.ObjectMeta)
		}
	case *apps.StatefulSet:
		if queue := o.Labels[api.QueueNameLabel]; queue != "" && i.serves(ctx, o.Namespace) {
			passOn(o.Labels, &o.Spec.Template.ObjectMeta)
			metav1.SetMetaDataLabel(&o.Spec.Template.ObjectMeta, api.PodGroupNameLabel, jobs.NameOf("statefulset", o.Name, "apps", ""))
			metav1.SetMetaDataAnnotation(&o.Spec.Template.ObjectMeta, jobs.GroupTotalCount, strconv.Itoa(int(o.Spec.Replicas)))
			metav1.SetMetaDataAnnotation(&o.Spec.Template.ObjectMeta, jobs.GroupFastAdmission, "true")
			metav1.SetMetaDataAnnotation(&o.Spec.Template.ObjectMeta, jobs.GroupServing, "true")
		}
	}
	return nil
}

// passOn copies the labels that choose a queue to a template.
func passOn(labels map[string]string, template *metav1.ObjectMeta) {
	for _, label := range []string{api.QueueNameLabel, api.PriorityClassLabel} {
		if value := labels[label]; value != "" && template.Labels[label] == "" {
			metav1.SetMetaDataLabel(template, label, value)
		}
	}
}

// admitJob suspends a job of a queue. A job without one goes to the local queue named default, if its
// namespace has that.
func (i *intake) admitJob(ctx context.Context, job *batch.Job) error {
	if job.Labels[api.QueueNameLabel] == "" {
		if !i.exists(ctx, job.Namespace, jobs.DefaultQueue) {
			return nil
		}
		metav1.SetMetaDataLabel(&job.ObjectMeta, api.QueueNameLabel, jobs.DefaultQueue)
	}
	if i.serves(ctx, job.Namespace) {
		job.Spec.Suspend = ptr.To(true)
	}
	return nil
}

// admitPod gates a pod of a queue, unless it belongs to a job that a queue has admitted as a whole, or
// has been through the gate in the cluster from which it was copied.
func (i *intake) admitPod(ctx context.Context, pod *core.Pod) error {
	if pod.Labels[api.QueueNameLabel] == "" || pod.Labels[api.ManagedLabel] != "" || pod.Spec.NodeName != "" || !i.serves(ctx, pod.Namespace) {
		return nil
	}
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "Job" {
		job, err := i.client.BatchV1().Jobs(pod.Namespace).Get(ctx, owner.Name, metav1.GetOptions{})
		if err == nil && job.Labels[api.QueueNameLabel] != "" {
			return nil
		}
	}
	metav1.SetMetaDataLabel(&pod.ObjectMeta, api.ManagedLabel, "true")
	// A label can be selected by, so the group's name is one in any case.
	if group := pod.Annotations[api.PodGroupNameLabel]; group != "" {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, api.PodGroupNameLabel, group)
	}
	if !slices.Contains(pod.Finalizers, api.ManagedFinalizer) {
		pod.Finalizers = append(pod.Finalizers, api.ManagedFinalizer)
	}
	gate := func(name string) {
		if !slices.ContainsFunc(pod.Spec.SchedulingGates, func(g core.PodSchedulingGate) bool { return g.Name == name }) {
			pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, core.PodSchedulingGate{Name: name})
		}
	}
	gate(api.AdmissionGate)
	if jobs.TopologyOf(pod.Annotations) != nil {
		gate(api.TopologyGate)
	}
	return nil
}

// queues is the path of the local queues of a namespace.
const queues = "/apis/kueue.x-k8s.io/v1beta2/namespaces/%s/localqueues"

// serves reports whether the cluster has Kueue's kinds.
func (i *intake) serves(ctx context.Context, namespace string) bool {
	return i.get(ctx, fmt.Sprintf(queues, namespace)+"?limit=1") == nil
}

func (i *intake) exists(ctx context.Context, namespace, queue string) bool {
	return i.get(ctx, fmt.Sprintf(queues, namespace)+"/"+queue) == nil
}

func (i *intake) get(ctx context.Context, uri string) error {
	return i.client.CoreV1().RESTClient().Get().RequestURI(uri).SetHeader("Accept", "application/json").Do(ctx).Error()
}

// Validate implements admission.ValidationInterface.
func (i *intake) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	var mistakes field.ErrorList
	switch o := a.GetObject().(type) {
	case *batch.Job:
		before, _ := a.GetOldObject().(*batch.Job)
		mistakes = checkJob(o, before)
	case *apps.StatefulSet:
		if before, ok := a.GetOldObject().(*apps.StatefulSet); ok && o.Labels[api.QueueNameLabel] != "" {
			mistakes = checkReplicas(o.Spec.Replicas, before.Spec.Replicas)
		}
	case *unstructured.Unstructured:
		if o.GroupVersionKind().Group != api.GroupName {
			return nil
		}
		before, _ := a.GetOldObject().(*unstructured.Unstructured)
		mistakes = checkCustom(o, before)
	}
	if len(mistakes) > 0 {
		return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), mistakes)
	}
	return nil
}

var labels = field.NewPath("metadata", "labels")

// checkJob checks a job; before is nil for a new one.
func checkJob(job, before *batch.Job) (mistakes field.ErrorList) {
	queue := labels.Key(api.QueueNameLabel)
	if before != nil && !ptr.Deref(before.Spec.Suspend, false) && !ptr.Deref(job.Spec.Suspend, false) && job.Labels[api.QueueNameLabel] != before.Labels[api.QueueNameLabel] {
		mistakes = append(mistakes, field.Invalid(queue, job.Labels[api.QueueNameLabel], "field is immutable"))
	}
	if job.Labels[api.QueueNameLabel] == "" {
		return mistakes
	}
	least, set := job.Annotations[jobs.MinParallelism]
	path := field.NewPath("metadata", "annotations").Key(jobs.MinParallelism)
	if !set {
		return mistakes
	}
	n, err := strconv.Atoi(least)
	switch {
	case err != nil:
		mistakes = append(mistakes, field.Invalid(path, least, err.Error()))
	case n <= 0 || n >= int(ptr.Deref(job.Spec.Parallelism, 1)):
		mistakes = append(mistakes, field.Invalid(path, n, fmt.Sprintf("should be between 0 and %d", ptr.Deref(job.Spec.Parallelism, 1)-1)))
	}
	return mistakes
}

// checkReplicas refuses to change the size of a group that is admitted as a whole.
func checkReplicas(now, before int32) field.ErrorList {
	if now == before || now == 0 || before == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "replicas"), now, "field is immutable")}
}
