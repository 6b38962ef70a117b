package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"

	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

const PluginName = "KueueIntake"

// Register adds the plugin to those that an API server can run. It changes and refuses nothing while staysOut returns true:
// another Kueue has its webhooks for that. elastic says whether the number of a job's pods may change while it runs.
func Register(plugins *admission.Plugins, staysOut, elastic func() bool) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) {
		return &intake{staysOut: staysOut, elastic: elastic, defaults: utilcache.NewExpiring()}, nil
	})
}

type intake struct {
	client            kubernetes.Interface
	staysOut, elastic func() bool
	// defaults remembers for a moment which namespaces have a default queue: nearly every pod asks.
	defaults *utilcache.Expiring
}

var (
	_           admission.MutationInterface            = (*intake)(nil)
	_           admission.ValidationInterface          = (*intake)(nil)
	_           initializer.WantsExternalKubeClientSet = (*intake)(nil)
	_           admission.InitializationValidator      = (*intake)(nil)
	errNoClient error                                  = errors.New("the plugin needs a client")
)

func (i *intake) SetExternalKubeClientSet(client kubernetes.Interface) { i.client = client }

func (i *intake) ValidateInitialization() error {
	if i.client == nil {
		return errNoClient
	}
	return nil
}

func (i *intake) Handles(operation admission.Operation) bool {
	return (operation == admission.Create || operation == admission.Update) && !i.staysOut()
}

func (i *intake) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	create := a.GetOperation() == admission.Create
	switch o := a.GetObject().(type) {
	case *unstructured.Unstructured:
		switch {
		case create && isJob(o):
			return i.admitCustomJob(ctx, o)
		case o.GroupVersionKind() == lws.GroupVersion.WithKind("LeaderWorkerSet"):
			return i.admitLeaderSet(ctx, o)
		}
	case *batch.Job:
		if create {
			return i.admitJob(ctx, o)
		}
	case *core.Pod:
		if create {
			return i.admitPod(ctx, o)
		}
	case *apps.Deployment:
		if i.takes(ctx, o, create) {
			passOn(o.Labels, &o.Spec.Template.ObjectMeta)
		}
	case *apps.StatefulSet:
		if i.takes(ctx, o, create) {
			passOn(o.Labels, &o.Spec.Template.ObjectMeta)
			metav1.SetMetaDataLabel(&o.Spec.Template.ObjectMeta, podconstants.GroupNameLabel, jobs.GroupOfStatefulSet(o.Name))
			serve(&o.Spec.Template.ObjectMeta, int(o.Spec.Replicas))
		}
	}
	return nil
}

// passOn copies the labels that choose a queue to a template.
func passOn(labels map[string]string, template *metav1.ObjectMeta) {
	for _, label := range []string{controllerconstants.QueueLabel, controllerconstants.WorkloadPriorityClassLabel} {
		if value := labels[label]; value != "" && template.Labels[label] == "" {
			metav1.SetMetaDataLabel(template, label, value)
		}
	}
}

// admitJob suspends a job of a queue. The pods of an elastic one wait at a gate besides: later ones need quota of their own.
func (i *intake) admitJob(ctx context.Context, job *batch.Job) error {
	if !i.takes(ctx, job, true) {
		return nil
	}
	job.Spec.Suspend = ptr.To(true)
	if i.elastic() && jobs.Elastic(job) {
		gate(&job.Spec.Template.Spec, kueue.ElasticJobSchedulingGate)
	}
	return nil
}

// takes reports whether an object is work of a queue that nothing above it answers for.
func (i *intake) takes(ctx context.Context, o metav1.Object, create bool) bool {
	return i.queueOf(ctx, o, create) != "" && i.serves(ctx, o.GetNamespace()) && !i.managedAbove(ctx, o)
}

// isJob reports whether an object is a job of a kind that Kubernetes does not have itself, which can be suspended.
func isJob(o *unstructured.Unstructured) bool {
	return o.GroupVersionKind() == (jobs.Set{}).Kind() || o.GroupVersionKind() == (jobs.Wrapper{}).Kind()
}

func (i *intake) admitCustomJob(ctx context.Context, job *unstructured.Unstructured) error {
	if !i.takes(ctx, job, true) {
		return nil
	}
	return unstructured.SetNestedField(job.Object, true, "spec", "suspend")
}

// admitLeaderSet lets the pods of a LeaderWorkerSet of a queue wait, group by group.
func (i *intake) admitLeaderSet(ctx context.Context, set *unstructured.Unstructured) error {
	if i.queueOf(ctx, set, true) == "" || !i.serves(ctx, set.GetNamespace()) {
		return nil
	}
	size, found, _ := unstructured.NestedInt64(set.Object, "spec", "leaderWorkerTemplate", "size")
	if !found {
		size = 1
	}
	_, separate, _ := unstructured.NestedMap(set.Object, "spec", "leaderWorkerTemplate", "leaderTemplate")
	for _, template := range []string{"leaderTemplate", "workerTemplate"} {
		if template == "leaderTemplate" && !separate {
			continue
		}
		meta := metav1.ObjectMeta{}
		path := []string{"spec", "leaderWorkerTemplate", template, "metadata"}
		meta.Labels, _, _ = unstructured.NestedStringMap(set.Object, append(path, "labels")...)
		meta.Annotations, _, _ = unstructured.NestedStringMap(set.Object, append(path, "annotations")...)
		passOn(set.GetLabels(), &meta)
		serve(&meta, int(size))
		metav1.SetMetaDataAnnotation(&meta, podconstants.RoleHashAnnotation, string(jobs.RoleOfTemplate(template == "leaderTemplate", separate)))
		if err := errors.Join(unstructured.SetNestedStringMap(set.Object, meta.Labels, append(path, "labels")...), unstructured.SetNestedStringMap(set.Object, meta.Annotations, append(path, "annotations")...)); err != nil {
			return err
		}
	}
	return nil
}

// serve marks a template as that of a group whose controller replaces its pods.
func serve(template *metav1.ObjectMeta, pods int) {
	metav1.SetMetaDataAnnotation(template, podconstants.GroupTotalCountAnnotation, strconv.Itoa(pods))
	metav1.SetMetaDataAnnotation(template, podconstants.GroupFastAdmissionAnnotationKey, "true")
	metav1.SetMetaDataAnnotation(template, podconstants.GroupServingAnnotationKey, "true")
}

// defaultFor is how long the plugin does not notice that a namespace has a default queue, or no longer has one. Kueue's own
// webhooks learn it from a watch, which is late by some moments, too.
const defaultFor = time.Second

// queueOf returns the queue of work. If create, work without any goes to the local queue named default, if its namespace has that,
// unless it belongs to a job that does.
func (i *intake) queueOf(ctx context.Context, o metav1.Object, create bool) string {
	if queue := o.GetLabels()[controllerconstants.QueueLabel]; queue != "" {
		return queue
	}
	if !create || o.GetNamespace() == metav1.NamespaceSystem {
		return ""
	}
	if owner := metav1.GetControllerOf(o); owner != nil && slices.Contains([]string{(jobs.Set{}).Kind().Kind, (jobs.Wrapper{}).Kind().Kind, "LeaderWorkerSet"}, owner.Kind) {
		return ""
	}
	has, known := i.defaults.Get(o.GetNamespace())
	if !known {
		has = i.hasDefault(ctx, o.GetNamespace())
		i.defaults.Set(o.GetNamespace(), has, defaultFor)
	}
	if has == false {
		return ""
	}
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[controllerconstants.QueueLabel] = string(controllerconstants.DefaultLocalQueueName)
	o.SetLabels(labels)
	return string(controllerconstants.DefaultLocalQueueName)
}

// admitPod gates a pod of a queue, unless it belongs to a job that a queue has admitted as a whole, or
// has been through the gate in the cluster from which it was copied.
func (i *intake) admitPod(ctx context.Context, pod *core.Pod) error {
	if pod.Labels[constants.ManagedByKueueLabelKey] == constants.ManagedByKueueLabelValue || pod.Spec.NodeName != "" {
		return nil
	}
	// The controller of AppWrappers labels the pods below them, so the other pods need no look at their owners.
	owner := metav1.GetControllerOf(pod)
	ofJob := owner != nil && owner.Kind == "Job"
	wrapped := owner != nil && pod.Labels[appwrapper.AppWrapperLabel] != ""
	if wrapped && i.managedAbove(ctx, pod) {
		return nil
	}
	if i.queueOf(ctx, pod, !ofJob) == "" || !i.serves(ctx, pod.Namespace) {
		return nil
	}
	if ofJob && !wrapped && i.managedAbove(ctx, pod) {
		return nil
	}
	metav1.SetMetaDataLabel(&pod.ObjectMeta, constants.ManagedByKueueLabelKey, constants.ManagedByKueueLabelValue)
	// A label can be selected by, so the group's name is one in any case.
	if group := pod.Annotations[podconstants.GroupNameLabel]; group != "" {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, podconstants.GroupNameLabel, group)
	}
	if !slices.Contains(pod.Finalizers, podconstants.PodFinalizer) {
		pod.Finalizers = append(pod.Finalizers, podconstants.PodFinalizer)
	}
	gate(&pod.Spec, podconstants.SchedulingGateName)
	// Kueue gates every pod for its place in a topology: which flavor it gets, and so whether it needs a place, is known later.
	gate(&pod.Spec, kueue.TopologySchedulingGate)
	if group := jobs.GroupOfMember(pod); group != "" {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, podconstants.GroupNameLabel, group)
		return nil // its template has its role
	}
	spec, err := specOf(&pod.Spec)
	if err != nil {
		return fmt.Errorf("reading the shape of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	role := jobs.RoleOfSpec(*spec)
	if pod.Annotations[podconstants.GroupServingAnnotationKey] == "true" {
		role = string(kueue.DefaultPodSetName) // whatever its shape: all have that of the StatefulSet
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, podconstants.RoleHashAnnotation, role)
	return nil
}

func gate(spec *core.PodSpec, name string) {
	if !slices.ContainsFunc(spec.SchedulingGates, func(g core.PodSchedulingGate) bool { return g.Name == name }) {
		spec.SchedulingGates = append(spec.SchedulingGates, core.PodSchedulingGate{Name: name})
	}
}

// owners are the kinds between a pod and the job that a queue admits, and where the API server has them. Those with a true value are
// admitted as a whole, so what is below them is not work of its own.
var owners = map[schema.GroupKind]struct {
	path     string
	admitted bool
}{
	{Group: apps.GroupName, Kind: "ReplicaSet"}:              {"/apis/apps/v1/namespaces/%s/replicasets/%s", false},
	{Group: apps.GroupName, Kind: "Deployment"}:              {"/apis/apps/v1/namespaces/%s/deployments/%s", false},
	{Group: apps.GroupName, Kind: "StatefulSet"}:             {"/apis/apps/v1/namespaces/%s/statefulsets/%s", false},
	{Group: lws.GroupVersion.Group, Kind: "LeaderWorkerSet"}: {"/apis/leaderworkerset.x-k8s.io/v1/namespaces/%s/leaderworkersets/%s", false},
	(jobs.Batch{}).Kind().GroupKind():                        {"/apis/batch/v1/namespaces/%s/jobs/%s", true},
	(jobs.Set{}).Kind().GroupKind():                          {"/apis/jobset.x-k8s.io/v1alpha2/namespaces/%s/jobsets/%s", true},
	(jobs.Wrapper{}).Kind().GroupKind():                      {"/apis/workload.codeflare.dev/v1beta2/namespaces/%s/appwrappers/%s", true},
}

// managedAbove asks the API server for the owners.
func (i *intake) managedAbove(ctx context.Context, o metav1.Object) bool {
	return jobs.ManagedAbove(o, func(namespace string, owner *metav1.OwnerReference) (metav1.Object, bool) {
		kind := owners[schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()]
		if kind.path == "" {
			return nil, false
		}
		above := &metav1.PartialObjectMetadata{}
		text, err := i.client.CoreV1().RESTClient().Get().RequestURI(fmt.Sprintf(kind.path, namespace, owner.Name)).SetHeader("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").Do(ctx).Raw()
		if err != nil || json.Unmarshal(text, above) != nil {
			return nil, false
		}
		return above, kind.admitted
	})
}

// specOf returns the spec of a pod as clients read it.
func specOf(pod *core.PodSpec) (*v1.PodSpec, error) {
	out := &v1.PodSpec{}
	if err := corev1.Convert_core_PodSpec_To_v1_PodSpec(pod, out, nil); err != nil {
		return nil, err
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	read := &v1.PodSpec{} // without empty lists, which nobody reads
	return read, json.Unmarshal(text, read)
}

const queues = "/apis/kueue.x-k8s.io/v1beta2/namespaces/%s/localqueues"

// serves reports whether the cluster has Kueue's kinds.
func (i *intake) serves(ctx context.Context, namespace string) bool {
	_, err := i.get(ctx, fmt.Sprintf(queues, namespace)+"?limit=1")
	return err == nil
}

// hasDefault reports whether work without a queue goes to the local queue named default. As in Kueue, one that is stopped takes none.
func (i *intake) hasDefault(ctx context.Context, namespace string) bool {
	raw, err := i.get(ctx, fmt.Sprintf(queues, namespace)+"/"+string(controllerconstants.DefaultLocalQueueName))
	if err != nil {
		return false
	}
	queue := &unstructured.Unstructured{}
	if err := runtime.DecodeInto(unstructured.UnstructuredJSONScheme, raw, queue); err != nil {
		return false
	}
	policy, _, _ := unstructured.NestedString(queue.Object, "spec", "stopPolicy")
	return policy == "" || policy == string(kueue.None)
}

func (i *intake) get(ctx context.Context, uri string) ([]byte, error) {
	return i.client.CoreV1().RESTClient().Get().RequestURI(uri).SetHeader("Accept", "application/json").Do(ctx).Raw()
}

func (i *intake) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	var mistakes field.ErrorList
	switch o := a.GetObject().(type) {
	case *unstructured.Unstructured:
		before, _ := a.GetOldObject().(*unstructured.Unstructured)
		switch {
		case isJob(o) && a.GetSubresource() == "":
			mistakes = checkCustomJob(o, before)
			if len(mistakes) > 0 && !i.serves(ctx, a.GetNamespace()) {
				return nil
			}
		case o.GroupVersionKind().Group == kueue.GroupVersion.Group:
			mistakes = checkCustom(o, before, i.elastic())
		}
	case metav1.Object:
		// What controllers report about a job or a pod is theirs.
		if a.GetSubresource() != "" {
			return nil
		}
		before, _ := a.GetOldObject().(metav1.Object)
		mistakes = checkOwner(o, before)
		if job, ok := o.(*batch.Job); ok && i.elastic() {
			before, _ := before.(*batch.Job)
			mistakes = append(mistakes, checkElastic(job, before)...)
		}
		if i.leavesDefaultQueue(ctx, o, before) {
			mistakes = append(mistakes, field.Invalid(labels.Key(controllerconstants.QueueLabel), "", "queue-name must not be empty in namespace with default queue"))
		}
		if len(mistakes) > 0 && !i.serves(ctx, a.GetNamespace()) {
			return nil
		}
	}
	if len(mistakes) > 0 {
		return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), mistakes)
	}
	return nil
}

// leavesDefaultQueue reports whether a job or a pod gives its queue up where the default one would take it.
func (i *intake) leavesDefaultQueue(ctx context.Context, o, before metav1.Object) bool {
	switch before.(type) {
	case *batch.Job, *core.Pod:
		return o.GetLabels()[controllerconstants.QueueLabel] == "" && before.GetLabels()[controllerconstants.QueueLabel] != "" && i.hasDefault(ctx, o.GetNamespace())
	}
	return false
}
