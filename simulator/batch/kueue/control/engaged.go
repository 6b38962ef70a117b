package control

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	autoscaling "k8s.io/autoscaler/cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"

	"kube-scheduler-simulator/scheduler/customresource"
	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// agent names the controllers in events and in the API server's log.
const agent = "kueue-admission"

// engaged are the controllers while the cluster has Kueue's kinds.
type engaged struct {
	*Queues
	// observes means that nothing is decided or written: another Kueue does that.
	observes bool
	client   kubernetes.Interface
	custom   dynamic.Interface

	mu    sync.Mutex // guards state
	state *admission.State
	// stamps say in which version queues and checks were reviewed last. mu guards them.
	stamps map[types.UID]string
	wake   chan struct{}
	// stale asks for the statuses of the queues to be written.
	stale chan struct{}

	workloads, clusterQueues, localQueues, cohorts cache.SharedIndexInformer
	flavors, topologies, classes, checks           cache.SharedIndexInformer
	pods                                           cache.SharedIndexInformer
	kinds                                          []*jobKind
	leaderSets                                     cache.SharedIndexInformer
	requests, requestConfigs                       cache.SharedIndexInformer

	workloadKeys, podKeys, leaderSetKeys, provisionKeys queue
	recorder                                            record.EventRecorder

	// told is what the ledger last heard of each head that has no quota. Only cycles reads it.
	told map[admission.Ref]string

	// problems are what the controllers cannot go on with. problemsMu guards them.
	problemsMu sync.Mutex
	problems   map[trouble]*admission.Problem
	ledgerMu   sync.Mutex // held while the ledger is appended to

	// undo removes the handlers of shared informers.
	undo   []func()
	synced []cache.InformerSynced
}

type queue = workqueue.TypedRateLimitingInterface[types.NamespacedName]

func newQueue() queue {
	return workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](10*time.Millisecond, 5*time.Second))
}

// byWorkload indexes the pods of queues by the key of their workload.
const byWorkload = "kueue-workload"

// byOwner indexes objects by the UID of their controller.
const byOwner = "kueue-owner"

func newEngaged(q *Queues, served func(schema.GroupVersionResource) bool) (*engaged, error) {
	config := rest.CopyConfig(q.opts.ClientConfig)
	config.UserAgent = agent
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	custom, err := customresource.NewClient(config)
	if err != nil {
		return nil, err
	}
	return engagedWith(q, client, custom, served)
}

// engagedWith are controllers that reach the cluster by these clients.
func engagedWith(q *Queues, client kubernetes.Interface, custom dynamic.Interface, served func(schema.GroupVersionResource) bool) (*engaged, error) {
	settings := *q.settings.Load()
	settings.FlushAfter = flushAfter
	e := &engaged{
		Queues: q, client: client, custom: custom, state: admission.New(settings),
		told: map[admission.Ref]string{}, stamps: map[types.UID]string{}, problems: map[trouble]*admission.Problem{},
		wake: make(chan struct{}, 1), stale: make(chan struct{}, 1),
		workloadKeys: newQueue(), podKeys: newQueue(), leaderSetKeys: newQueue(), provisionKeys: newQueue(),
		workloads:      customresource.NewInformer[kueue.Workload](custom.Resource(workloadResource)),
		clusterQueues:  customresource.NewInformer[kueue.ClusterQueue](custom.Resource(clusterQueueResource)),
		localQueues:    customresource.NewInformer[kueue.LocalQueue](custom.Resource(localQueueResource)),
		cohorts:        customresource.NewInformer[kueue.Cohort](custom.Resource(cohortResource)),
		flavors:        customresource.NewInformer[kueue.ResourceFlavor](custom.Resource(flavorResource)),
		topologies:     customresource.NewInformer[kueue.Topology](custom.Resource(topologyResource)),
		classes:        customresource.NewInformer[kueue.WorkloadPriorityClass](custom.Resource(priorityClassResource)),
		checks:         customresource.NewInformer[kueue.AdmissionCheck](custom.Resource(checkResource)),
		requests:       customresource.NewInformer[autoscaling.ProvisioningRequest](custom.Resource(requestResource)),
		requestConfigs: customresource.NewInformer[kueue.ProvisioningRequestConfig](custom.Resource(requestConfigResource)),
		pods:           q.opts.Informers.Core().V1().Pods().Informer(),
	}
	for _, owned := range []cache.SharedIndexInformer{e.workloads, e.requests} {
		if err := owned.AddIndexers(cache.Indexers{byOwner: controllerOf}); err != nil {
			return nil, fmt.Errorf("indexing by owner: %w", err)
		}
	}
	e.kinds = e.jobKinds(served)
	var leaders dynamic.NamespaceableResourceInterface
	if served(leaderSets) {
		leaders = custom.Resource(leaderSets)
	}
	e.leaderSets = customresource.NewInformer[lws.LeaderWorkerSet](leaders)
	if _, indexed := e.pods.GetIndexer().GetIndexers()[byWorkload]; !indexed {
		if err := e.pods.AddIndexers(cache.Indexers{byWorkload: workloadOfPod}); err != nil {
			return nil, fmt.Errorf("indexing pods: %w", err)
		}
	}
	return e, e.watch()
}

func controllerOf(obj any) ([]string, error) {
	if o, ok := obj.(metav1.Object); ok {
		if owner := metav1.GetControllerOf(o); owner != nil {
			return []string{string(owner.UID)}, nil
		}
	}
	return nil, nil
}

func workloadOfPod(obj any) ([]string, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod.Labels[constants.ManagedByKueueLabelKey] == "" || pod.Labels[controllerconstants.QueueLabel] == "" {
		return nil, nil
	}
	return []string{pod.Namespace + "/" + jobs.PodWorkloadName(pod)}, nil
}

// follow calls set, with the state locked, for each version of an object, and gone when it is deleted. after
// is called without the lock.
func follow[T any](e *engaged, informer cache.SharedIndexInformer, set, gone, after func(T)) {
	call := func(do func(T), obj any) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		typed, ok := obj.(T)
		if !ok {
			return
		}
		e.mu.Lock()
		do(typed)
		e.mu.Unlock()
		if after != nil {
			after(typed)
		}
	}
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { call(set, obj) }, UpdateFunc: func(_, obj any) { call(set, obj) }, DeleteFunc: func(obj any) { call(gone, obj) },
	})
	if err != nil {
		return // it has stopped
	}
	e.synced = append(e.synced, handler.HasSynced)
	e.undo = append(e.undo, func() { _ = informer.RemoveEventHandler(handler) })
}

// touched says that something may have changed on which admission depends.
func touched[T any](e *engaged) func(T) {
	return func(T) {
		signal(e.wake)
		signal(e.stale)
	}
}

// watch registers what is followed.
func (e *engaged) watch() error {
	s := e.state
	now := e.clock.Now
	key := func(o interface {
		GetNamespace() string
		GetName() string
	}) types.NamespacedName {
		return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	}
	shared := e.opts.Informers
	follow(e, e.clusterQueues, s.SetClusterQueue, func(o *kueue.ClusterQueue) { s.DeleteClusterQueue(o.Name); delete(e.stamps, o.UID) }, func(o *kueue.ClusterQueue) { e.renewed(o, o.Status.Conditions) })
	follow(e, e.cohorts, s.SetCohort, func(o *kueue.Cohort) { s.DeleteCohort(o.Name) }, touched[*kueue.Cohort](e))
	follow(e, e.localQueues, s.SetLocalQueue, func(o *kueue.LocalQueue) { s.DeleteLocalQueue(key(o)); delete(e.stamps, o.UID) }, func(o *kueue.LocalQueue) { e.renewed(o, o.Status.Conditions) })
	follow(e, e.flavors, s.SetFlavor, func(o *kueue.ResourceFlavor) { s.DeleteFlavor(o.Name) }, touched[*kueue.ResourceFlavor](e))
	follow(e, e.topologies, s.SetTopology, func(o *kueue.Topology) { s.DeleteTopology(o.Name) }, touched[*kueue.Topology](e))
	follow(e, e.checks, s.SetAdmissionCheck, func(o *kueue.AdmissionCheck) { s.DeleteAdmissionCheck(o.Name); delete(e.stamps, o.UID) }, func(o *kueue.AdmissionCheck) { e.renewed(o, o.Status.Conditions) })
	follow(e, e.classes, func(*kueue.WorkloadPriorityClass) {}, func(*kueue.WorkloadPriorityClass) {}, func(*kueue.WorkloadPriorityClass) { e.reviewAll(); e.retry() })
	follow(e, shared.Core().V1().Namespaces().Informer(), s.SetNamespace, func(o *corev1.Namespace) { s.DeleteNamespace(o.Name) }, e.namespaceChanged)
	follow(e, shared.Core().V1().LimitRanges().Informer(), s.SetLimitRange, func(o *corev1.LimitRange) { s.DeleteLimitRange(key(o)) }, touched[*corev1.LimitRange](e))
	follow(e, shared.Core().V1().Nodes().Informer(), s.SetNode, func(o *corev1.Node) { s.DeleteNode(o.Name) }, touched[*corev1.Node](e))
	// Before the workloads, whose jobs and pods they are.
	for _, k := range e.kinds {
		follow(e, k.informer, func(jobs.Object) {}, func(jobs.Object) {}, func(o jobs.Object) { k.keys.Add(key(o)) })
	}
	follow(e, e.leaderSets, func(*lws.LeaderWorkerSet) {}, func(*lws.LeaderWorkerSet) {}, func(o *lws.LeaderWorkerSet) { e.leaderSetKeys.Add(key(o)) })
	follow(e, e.pods, s.SetPod, func(o *corev1.Pod) { s.DeletePod(key(o)) }, e.podChanged)
	follow(e, e.requestConfigs, func(*kueue.ProvisioningRequestConfig) {}, func(*kueue.ProvisioningRequestConfig) {}, func(*kueue.ProvisioningRequestConfig) { e.reviewAll(); touched[any](e)(nil) })
	follow(e, e.requests, func(*autoscaling.ProvisioningRequest) {}, func(*autoscaling.ProvisioningRequest) {}, e.requestChanged)
	follow(e, e.workloads, func(o *kueue.Workload) { s.SetWorkload(o, now()) }, func(o *kueue.Workload) { s.DeleteWorkload(key(o)) }, e.workloadChanged)
	if e.settings.Load().Devices != nil {
		devices := shared.Resource().V1()
		follow(e, devices.ResourceClaimTemplates().Informer(), s.SetClaimTemplate, func(o *resourcev1.ResourceClaimTemplate) { s.DeleteClaimTemplate(key(o)) }, func(o *resourcev1.ResourceClaimTemplate) { e.reviewIn(o.Namespace); touched[any](e)(nil) })
		follow(e, devices.DeviceClasses().Informer(), s.SetDeviceClass, func(o *resourcev1.DeviceClass) { s.DeleteDeviceClass(o.Name) }, func(*resourcev1.DeviceClass) { e.reviewAll(); touched[any](e)(nil) })
	}
	// Read when workloads are made.
	for _, informer := range []cache.SharedIndexInformer{shared.Scheduling().V1().PriorityClasses().Informer(), shared.Node().V1().RuntimeClasses().Informer()} {
		e.synced = append(e.synced, informer.HasSynced)
	}
	return nil
}

// namespaceChanged lets the groups of a namespace go that is deleted.
func (e *engaged) namespaceChanged(o *corev1.Namespace) {
	touched[any](e)(nil)
	if o.DeletionTimestamp == nil {
		return
	}
	for _, w := range list[kueue.Workload](e.workloads) {
		if w.Namespace == o.Name {
			e.podKeys.Add(types.NamespacedName{Namespace: w.Namespace, Name: w.Name})
		}
	}
}

// podChanged brings pods of queues, and those that wait for a place in a topology, to their reconciler.
func (e *engaged) podChanged(pod *corev1.Pod) {
	if keys, _ := workloadOfPod(pod); len(keys) > 0 {
		e.podKeys.Add(types.NamespacedName{Namespace: pod.Namespace, Name: jobs.PodWorkloadName(pod)})
	} else if name := pod.Annotations[kueue.WorkloadAnnotation]; name != "" && jobs.AwaitsPlace(pod) {
		e.podKeys.Add(types.NamespacedName{Namespace: pod.Namespace, Name: name})
	}
	if owner := metav1.GetControllerOf(pod); owner != nil && jobs.AwaitsSlice(pod) {
		e.reconcileOwner(pod.Namespace, *owner)
	}
}

// reconcileOwner brings an owner to its reconciler, if it is a job.
func (e *engaged) reconcileOwner(namespace string, owner metav1.OwnerReference) {
	if k := e.kindOf(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)); k != nil {
		k.keys.Add(types.NamespacedName{Namespace: namespace, Name: owner.Name})
	}
}

func (e *engaged) workloadChanged(w *kueue.Workload) {
	e.podKeys.Add(e.review(w))
	for _, owner := range w.OwnerReferences {
		if owner.Kind == "LeaderWorkerSet" {
			e.leaderSetKeys.Add(types.NamespacedName{Namespace: w.Namespace, Name: owner.Name})
		}
		e.reconcileOwner(w.Namespace, owner)
	}
	touched[any](e)(nil)
}

// renewed reviews all workloads if a queue or a check is new, or differs from before in more than its counts,
// which are written often.
func (e *engaged) renewed(o metav1.Object, conditions []metav1.Condition) {
	stamp := fmt.Sprint(o.GetGeneration(), o.GetDeletionTimestamp() != nil)
	for _, c := range conditions {
		stamp += fmt.Sprint(" ", c.Type, c.Status, c.Reason)
	}
	e.mu.Lock()
	same := e.stamps[o.GetUID()] == stamp
	e.stamps[o.GetUID()] = stamp
	e.mu.Unlock()
	if !same {
		e.reviewAll()
		touched[any](e)(nil)
	}
}

// reviewAll reviews every workload, after a change that may concern any.
func (e *engaged) reviewAll() { e.reviewIn(metav1.NamespaceAll) }

// reviewIn reviews the workloads of a namespace, or of all.
func (e *engaged) reviewIn(namespace string) {
	for _, w := range list[kueue.Workload](e.workloads) {
		if namespace == metav1.NamespaceAll || w.Namespace == namespace {
			e.review(w)
		}
	}
}

// review brings a workload to the reconcilers of its own.
func (e *engaged) review(w *kueue.Workload) types.NamespacedName {
	key := types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
	e.workloadKeys.Add(key)
	if len(w.Status.AdmissionChecks) > 0 {
		e.provisionKeys.Add(key)
	}
	return key
}

// retry tries at once again what the controllers could not go on with.
func (e *engaged) retry() {
	e.problemsMu.Lock()
	defer e.problemsMu.Unlock()
	for t := range e.problems {
		switch t.by {
		case podController:
			e.podKeys.Add(t.NamespacedName)
		case leaderSetController:
			e.leaderSetKeys.Add(t.NamespacedName)
		}
		for _, k := range e.kinds {
			if k.by == t.by {
				k.keys.Add(t.NamespacedName)
			}
		}
	}
}

// workers is the number of goroutines of each reconciler. Each request takes the API server about a millisecond.
const workers = 4

// run returns when ctx has ended and nothing is written any more.
func (e *engaged) run(ctx context.Context) error {
	defer func() {
		for _, undo := range e.undo {
			undo()
		}
	}()
	if e.observes {
		return e.observe(ctx)
	}
	eventScheme := runtime.NewScheme()
	if err := scheme.AddToScheme(eventScheme); err != nil {
		return err
	}
	if err := kueue.AddToScheme(eventScheme); err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: e.client.CoreV1().Events("")})
	e.recorder = broadcaster.NewRecorder(eventScheme, corev1.EventSource{Component: agent})

	var running sync.WaitGroup
	defer running.Wait()
	e.runInformers(ctx, &running)
	if !cache.WaitForCacheSync(ctx.Done(), e.synced...) {
		return nil
	}
	start := func(by controller, keys queue, reconcile func(context.Context, types.NamespacedName) error) {
		for range workers {
			running.Go(func() { e.work(ctx, by, keys, reconcile) })
		}
	}
	start(workloadController, e.workloadKeys, e.reconcileWorkload)
	start(podController, e.podKeys, e.reconcilePods)
	start(leaderSetController, e.leaderSetKeys, e.reconcileLeaderSet)
	start(provisioningController, e.provisionKeys, e.reconcileProvisioning)
	for _, k := range e.kinds {
		start(k.by, k.keys, func(ctx context.Context, key types.NamespacedName) error { return e.reconcileJob(ctx, k, key) })
	}
	allGauges.engaged.Store(e)
	defer allGauges.engaged.CompareAndSwap(e, nil)
	running.Go(func() { e.cycles(ctx) })
	running.Go(func() { e.writeStatuses(ctx) })
	<-ctx.Done()
	e.close()
	return nil
}

// close ends the reconcilers' queues.
func (e *engaged) close() {
	e.workloadKeys.ShutDown()
	e.podKeys.ShutDown()
	e.leaderSetKeys.ShutDown()
	e.provisionKeys.ShutDown()
	for _, k := range e.kinds {
		k.keys.ShutDown()
	}
}

// observe follows the objects until ctx ends. It leaves the reconcilers' queues closed, so that nothing gathers there.
func (e *engaged) observe(ctx context.Context) error {
	e.close()
	var running sync.WaitGroup
	defer running.Wait()
	e.runInformers(ctx, &running)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.wake:
			e.changed()
		}
	}
}

// runInformers runs them until ctx ends.
func (e *engaged) runInformers(ctx context.Context, running *sync.WaitGroup) {
	e.opts.Informers.StartWithContext(ctx)
	for _, own := range []cache.SharedIndexInformer{e.workloads, e.clusterQueues, e.localQueues, e.cohorts, e.flavors, e.topologies, e.classes, e.checks, e.leaderSets, e.requests, e.requestConfigs} {
		running.Go(func() { own.RunWithContext(ctx) })
	}
	for _, k := range e.kinds {
		if k.by != jobController { // whose informer others share
			running.Go(func() { k.informer.RunWithContext(ctx) })
		}
	}
}

func (e *engaged) work(ctx context.Context, by controller, keys queue, reconcile func(context.Context, types.NamespacedName) error) {
	for {
		key, shutdown := keys.Get()
		if shutdown {
			return
		}
		if ctx.Err() == nil {
			if err := reconcile(ctx, key); err != nil {
				e.tell(ctx, trouble{by, key}, err)
				keys.AddRateLimited(key)
			} else {
				e.untell(trouble{by, key})
				keys.Forget(key)
			}
		}
		keys.Done(key)
	}
}

// cached returns the object of a key, nil if there is none.
func cached[T any](informer cache.SharedIndexInformer, key types.NamespacedName) *T {
	name := key.Name
	if key.Namespace != "" {
		name = key.String()
	}
	obj, exists, err := informer.GetIndexer().GetByKey(name)
	if err != nil || !exists {
		return nil
	}
	typed, _ := obj.(*T)
	return typed
}

func (e *engaged) flavor(name string) *kueue.ResourceFlavor {
	return cached[kueue.ResourceFlavor](e.flavors, types.NamespacedName{Name: name})
}

// podsOf returns the pods of a queue that belong to a workload, by name.
func (e *engaged) podsOf(key types.NamespacedName) []*corev1.Pod {
	list, _ := e.pods.GetIndexer().ByIndex(byWorkload, key.String())
	pods := make([]*corev1.Pod, 0, len(list))
	for _, obj := range list {
		pods = append(pods, obj.(*corev1.Pod))
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
			return compareNames(a, b)
		}
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	return pods
}
