package control

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

const namespace = "default"

// stage is a cluster in memory in which the controllers run. The test plays all others: it suspends and gates what it
// creates, and plays the job controller and the nodes. Time passes only while all wait.
type stage struct {
	t       *testing.T
	queues  *Queues
	client  *fake.Clientset
	custom  *dynamicfake.FakeDynamicClient
	records []*admission.Record
	// told are the reasons of the events about each object.
	mu   sync.Mutex
	told map[string][]string
	// writes counts the requests that change anything, without events.
	writes atomic.Int64
	// observes makes the next controllers leave the decisions to another Kueue.
	observes bool
	stop     func()
}

// Append implements Ledger.
func (s *stage) Append(r *admission.Record) { s.records = append(s.records, r) }

// holdPods makes the cluster keep a deleted pod until its finalizers have gone, as an API server does.
func (s *stage) holdPods() {
	tracker := s.client.Tracker()
	gvr := corev1.SchemeGroupVersion.WithResource("pods")
	s.client.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		name := action.(clienttesting.DeleteAction).GetName()
		o, err := tracker.Get(gvr, namespace, name)
		if err != nil {
			return true, nil, err
		}
		pod := o.(*corev1.Pod).DeepCopy()
		if len(pod.Finalizers) == 0 {
			return false, nil, nil
		}
		s.writes.Add(1)
		if pod.DeletionTimestamp == nil {
			pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = ptr.To(metav1.NewTime(time.Now().Add(30*time.Second))), ptr.To[int64](30)
		}
		return true, nil, tracker.Update(gvr, pod, namespace)
	})
	patch := clienttesting.ObjectReaction(tracker)
	s.client.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		s.writes.Add(1)
		handled, o, err := patch(action)
		if pod, ok := o.(*corev1.Pod); err == nil && ok && pod.DeletionTimestamp != nil && len(pod.Finalizers) == 0 {
			return true, pod, tracker.Delete(gvr, namespace, pod.Name)
		}
		return handled, o, err
	})
}

// play runs a story in a cluster with these objects.
func play(t *testing.T, settings admission.Settings, objects []runtime.Object, story func(*stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, told: map[string][]string{}, client: fake.NewSimpleClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})}
		kinds := map[schema.GroupVersionResource]string{
			workloadResource: "WorkloadList", clusterQueueResource: "ClusterQueueList", localQueueResource: "LocalQueueList", cohortResource: "CohortList",
			flavorResource: "ResourceFlavorList", topologyResource: "TopologyList", priorityClassResource: "WorkloadPriorityClassList", checkResource: "AdmissionCheckList", jobSets: "JobSetList", leaderSets: "LeaderWorkerSetList", appWrappers: "AppWrapperList",
			requestResource: "ProvisioningRequestList", requestConfigResource: "ProvisioningRequestConfigList",
		}
		s.custom = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)
		for _, c := range []*clienttesting.Fake{&s.client.Fake, &s.custom.Fake} {
			c.PrependWatchReactor("*", listsFirst)
			c.PrependReactor("create", "*", s.identify)
			c.PrependReactor("create", "events", s.hear)
			c.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if verb := action.GetVerb(); verb != "get" && verb != "list" && verb != "watch" && action.GetResource().Resource != "events" {
					s.writes.Add(1)
				}
				return false, nil, nil
			})
		}
		for _, o := range objects {
			s.create(o)
		}
		s.begin(settings)
		defer func() { s.stop() }()
		story(s)
	})
}

// listsFirst refuses watches that begin with what exists, which the fakes cannot do.
func listsFirst(action clienttesting.Action) (bool, watch.Interface, error) {
	if w, ok := action.(clienttesting.WatchActionImpl); ok && w.ListOptions.SendInitialEvents != nil {
		return true, nil, apierrors.NewBadRequest("list first")
	}
	return false, nil, nil
}

// hear keeps an event. The fakes would refuse the second about an object at one time.
func (s *stage) hear(action clienttesting.Action) (bool, runtime.Object, error) {
	e := action.(clienttesting.CreateAction).GetObject().(*corev1.Event)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[e.InvolvedObject.Name] = append(s.told[e.InvolvedObject.Name], e.Reason)
	return true, e, nil
}

var uids atomic.Int64

// identify gives a new object what an API server gives it.
func (s *stage) identify(action clienttesting.Action) (bool, runtime.Object, error) {
	if o, err := meta.Accessor(action.(clienttesting.CreateAction).GetObject()); err == nil && o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprint("uid-", uids.Add(1))))
		o.SetCreationTimestamp(metav1.Now().Rfc3339Copy())
	}
	return false, nil, nil
}

// begin starts the controllers, which a restart does again.
func (s *stage) begin(settings admission.Settings) {
	factory := informers.NewSharedInformerFactory(s.client, 0)
	s.queues = New(Options{Informers: factory, Settings: settings, Ledger: s, Logger: klog.Background()})
	e, err := engagedWith(s.queues, s.client, s.custom, func(schema.GroupVersionResource) bool { return true })
	if err != nil {
		s.t.Fatal(err)
	}
	e.observes = s.observes
	s.queues.engaged.Store(e)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = e.run(ctx) })
	s.stop = func() {
		cancel()
		running.Wait()
		factory.Shutdown()
		s.stop = func() {}
	}
	s.settle()
}

// settle lets the controllers work until all have been still for a while.
func (s *stage) settle() {
	for before := int64(-1); before != s.writes.Load(); {
		before = s.writes.Load()
		time.Sleep(5 * time.Second) // of the bubble
		synctest.Wait()
	}
}

// resources of the kinds that a story creates.
var resources = map[string]schema.GroupVersionResource{
	"Workload": workloadResource, "ClusterQueue": clusterQueueResource, "LocalQueue": localQueueResource, "Cohort": cohortResource, "ResourceFlavor": flavorResource, "AdmissionCheck": checkResource,
	"WorkloadPriorityClass": priorityClassResource, "JobSet": jobSets, "LeaderWorkerSet": leaderSets, "AppWrapper": appWrappers, "ProvisioningRequest": requestResource, "ProvisioningRequestConfig": requestConfigResource,
}

func (s *stage) create(o runtime.Object) {
	s.t.Helper()
	var err error
	switch o := o.(type) {
	case *batchv1.Job:
		_, err = s.client.BatchV1().Jobs(namespace).Create(context.Background(), o, metav1.CreateOptions{})
	case *corev1.Pod:
		_, err = s.client.CoreV1().Pods(namespace).Create(context.Background(), o, metav1.CreateOptions{})
	default:
		content, convertErr := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if convertErr != nil {
			s.t.Fatal(convertErr)
		}
		u := &unstructured.Unstructured{Object: content}
		_, err = s.at(u.GetKind()).Create(context.Background(), u, metav1.CreateOptions{})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) at(kind string) dynamic.ResourceInterface {
	switch kind {
	case "Workload", "LocalQueue", "JobSet", "LeaderWorkerSet", "AppWrapper", "ProvisioningRequest":
		return s.custom.Resource(resources[kind]).Namespace(namespace)
	}
	return s.custom.Resource(resources[kind])
}

func (s *stage) job(name string) *batchv1.Job {
	s.t.Helper()
	job, err := s.client.BatchV1().Jobs(namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return job
}

// change writes a change of a job, and lets the controllers follow.
func (s *stage) change(name string, do func(*batchv1.Job)) {
	s.t.Helper()
	job := s.job(name)
	do(job)
	if _, err := s.client.BatchV1().Jobs(namespace).Update(context.Background(), job, metav1.UpdateOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.settle()
}

// workload returns the workload that the owner has; nil if it has none.
func (s *stage) workload(owner string) *kueue.Workload {
	s.t.Helper()
	list, err := s.at("Workload").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, item := range list.Items {
		for _, o := range item.GetOwnerReferences() {
			if o.Name == owner {
				w := &kueue.Workload{}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, w); err != nil {
					s.t.Fatal(err)
				}
				return w
			}
		}
	}
	return nil
}

// has checks the conditions of the workload of an owner, each as Type=Status or Type=Status Reason.
func (s *stage) has(owner string, conditions ...string) {
	s.t.Helper()
	w := s.workload(owner)
	if w == nil {
		s.t.Fatalf("%s has no workload", owner)
	}
	for _, want := range conditions {
		found := false
		for _, c := range w.Status.Conditions {
			short := fmt.Sprintf("%s=%s", c.Type, c.Status)
			found = found || want == short || want == short+" "+c.Reason
		}
		if !found {
			s.t.Errorf("the workload of %s is not %s: %+v", owner, want, w.Status.Conditions)
		}
	}
}

// heard reports whether there was an event about an object.
func (s *stage) heard(name, reason string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.told[name], reason)
}

// reserved is what the status of a ClusterQueue says is reserved.
func (s *stage) reserved(queue string) string {
	s.t.Helper()
	u, err := s.at("ClusterQueue").Get(context.Background(), queue, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	q := &kueue.ClusterQueue{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, q); err != nil {
		s.t.Fatal(err)
	}
	for _, f := range q.Status.FlavorsReservation {
		for _, r := range f.Resources {
			return r.Total.String()
		}
	}
	return "nothing"
}

func aFlavor(name string) *kueue.ResourceFlavor {
	return &kueue.ResourceFlavor{
		TypeMeta: metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "ResourceFlavor"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: kueue.ResourceFlavorSpec{NodeLabels: map[string]string{"pool": name}, Tolerations: []corev1.Toleration{{Key: name, Operator: corev1.TolerationOpExists}}},
	}
}

// aQueue returns a ClusterQueue with cores of a flavor, and its LocalQueue of the same name.
func aQueue(name, flavor, cores string, change ...func(*kueue.ClusterQueueSpec)) []runtime.Object {
	q := &kueue.ClusterQueue{
		TypeMeta: metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "ClusterQueue"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: kueue.ClusterQueueSpec{NamespaceSelector: &metav1.LabelSelector{}, ResourceGroups: []kueue.ResourceGroup{{
			CoveredResources: []corev1.ResourceName{corev1.ResourceCPU},
			Flavors:          []kueue.FlavorQuotas{{Name: kueue.ResourceFlavorReference(flavor), Resources: []kueue.ResourceQuota{{Name: corev1.ResourceCPU, NominalQuota: resource.MustParse(cores)}}}},
		}}},
	}
	for _, do := range change {
		do(&q.Spec)
	}
	return []runtime.Object{q, &kueue.LocalQueue{
		TypeMeta: metav1.TypeMeta{APIVersion: kueue.GroupVersion.String(), Kind: "LocalQueue"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)},
	}}
}

func aSpec(cores string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "pause", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cores)}}}}}
}

// aJob is suspended, as a job of a queue is when it comes.
func aJob(name, queue string, pods int32, labels ...string) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{controllerconstants.QueueLabel: queue}},
		Spec:       batchv1.JobSpec{Parallelism: &pods, Completions: &pods, Suspend: ptr.To(true), Template: corev1.PodTemplateSpec{Spec: aSpec("1")}},
	}
	for i := 0; i < len(labels); i += 2 {
		job.Labels[labels[i]] = labels[i+1]
	}
	return job
}

// aPod is gated, as a pod of a queue is when it comes.
func aPod(name, queue string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{controllerconstants.QueueLabel: queue, constants.ManagedByKueueLabelKey: "true"}, Finalizers: []string{podconstants.PodFinalizer}},
		Spec:       aSpec("1"),
	}
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: podconstants.SchedulingGateName}}
	return pod
}
