package decide

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"kube-scheduler-simulator/scheduler/memory"
	"kube-scheduler-simulator/scheduler/versions/wire"
)

var podKind = v1.SchemeGroupVersion.WithKind("Pod")

// decider is a scheduler that never runs, on a cluster in memory.
type decider struct {
	world     *memory.World
	scheduler *scheduler.Scheduler
	snapshot  *internalcache.Snapshot
	profiles  map[string]*recorded
	// index holds the place of each node in the snapshot, names the nodes in that order, and rank the place of each by name.
	index map[string]int
	names []string
	rank  []int
	// started counts the pods that got a start time.
	started int
	// latest is the latest decision, until another request than Place comes.
	latest *attempt
}

// attempt is a decision that can still be placed.
type attempt struct {
	before  memory.Mark
	pod     *v1.Pod
	profile *recorded
	state   fwk.CycleState
	fits    func(node string) bool
}

func newDecider(ctx context.Context, c *config.KubeSchedulerConfiguration) (*decider, error) {
	clientConfig := &rest.Config{Host: "http://none.invalid", Transport: swallow{}}
	client, err := kubernetes.NewForConfig(clientConfig)
	if err != nil {
		return nil, fmt.Errorf("making a client without a cluster: %w", err)
	}
	d := &decider{world: memory.NewOrderedWorld(client), profiles: map[string]*recorded{}}
	d.scheduler, err = scheduler.New(ctx, client, d.world.Informers(), d.world.DynamicInformers(), noEvents,
		scheduler.WithComponentConfigVersion(c.APIVersion),
		scheduler.WithKubeConfig(clientConfig),
		scheduler.WithProfiles(c.Profiles...),
		scheduler.WithPercentageOfNodesToScore(c.PercentageOfNodesToScore),
		scheduler.WithPodMaxBackoffSeconds(c.PodMaxBackoffSeconds),
		scheduler.WithPodInitialBackoffSeconds(c.PodInitialBackoffSeconds),
		scheduler.WithPodMaxInUnschedulablePodsDuration(internalqueue.DefaultPodMaxInUnschedulablePodsDuration),
		scheduler.WithExtenders(c.Extenders...),
		scheduler.WithParallelism(c.Parallelism),
	)
	if err != nil {
		return nil, err
	}
	for name, f := range d.scheduler.Profiles {
		snapshot, ok := f.SnapshotSharedLister().(*internalcache.Snapshot)
		if !ok {
			return nil, fmt.Errorf("the snapshot is a %T", f.SnapshotSharedLister())
		}
		d.snapshot = snapshot // all profiles share it
		if d.profiles[name], err = newRecorded(f); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// swallow answers writes, which change nothing, and refuses reads.
type swallow struct{}

func (swallow) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	if r.Method == http.MethodGet {
		return nil, fmt.Errorf("there is no cluster to read %s from", r.URL.Path)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(`{"apiVersion":"v1","kind":"Status","status":"Success"}`)),
	}, nil
}

// settle ends the latest decision and restores the state from before it.
func (d *decider) settle() {
	if d.latest != nil {
		d.world.Rollback(d.latest.before)
		d.latest = nil
	}
	d.world.Commit()
}

// readAs returns the apiVersion in which the scheduler reads a kind, if it does not read this one. It is empty for a kind that it does not read at
// all.
func (d *decider) readAs(gvk schema.GroupVersionKind) string {
	if d.world.Read(gvk) {
		return ""
	}
	for _, gv := range scheme.Scheme.VersionsForGroupKind(gvk.GroupKind()) {
		if d.world.Read(gv.WithKind(gvk.Kind)) {
			return gv.String()
		}
	}
	return ""
}

func (d *decider) set(o runtime.Object) error {
	err := d.world.Set(o)
	var unknown *memory.KindError
	if errors.As(err, &unknown) {
		return nil // an object that is no resource, such as a list
	}
	if err != nil {
		return fail(wire.Internal, fmt.Errorf("setting an object: %w", err))
	}
	return nil
}

func (d *decider) remove(ref *wire.Reference) error {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return fail(wire.BadRequest, fmt.Errorf("removing an object: %w", err))
	}
	d.world.Delete(gv.WithKind(ref.Kind), ref.Namespace, ref.Name)
	return nil
}

func (d *decider) claims() claimTracker {
	for _, f := range d.scheduler.Profiles {
		if manager := f.SharedDRAManager(); manager != nil && !reflect.ValueOf(manager).IsZero() {
			return manager.ResourceClaims() // all profiles share it
		}
	}
	return nil
}

func (d *decider) allocateClaim(o runtime.Object) error {
	claim, ok := o.(*resourcev1.ResourceClaim)
	if !ok {
		return fail(wire.BadRequest, fmt.Errorf("allocating a %T, which is no ResourceClaim", o))
	}
	claims := d.claims()
	if claims == nil {
		return nil
	}
	if err := claims.SignalClaimPendingAllocation(claim.UID, claim); err != nil {
		return fail(wire.Internal, fmt.Errorf("allocating claim %s: %w", klog.KObj(claim), err))
	}
	return nil
}

func (d *decider) release(uid string) error {
	if claims := d.claims(); claims != nil {
		forgetPending(claims, types.UID(uid))
	}
	return nil
}

// update brings the snapshot up to date with the cluster. It copies only changes.
func (d *decider) update() ([]fwk.NodeInfo, error) {
	if err := d.scheduler.Cache.UpdateSnapshot(klog.Background(), d.snapshot); err != nil {
		return nil, fail(wire.Internal, fmt.Errorf("taking a snapshot: %w", err))
	}
	nodes, err := d.snapshot.NodeInfos().List()
	if err != nil {
		return nil, fail(wire.Internal, fmt.Errorf("listing the nodes: %w", err))
	}
	if !slices.EqualFunc(d.names, nodes, func(name string, n fwk.NodeInfo) bool { return name == n.Node().Name }) {
		d.note(nodes)
	}
	return nodes, nil
}

// note notes the places of nodes.
func (d *decider) note(nodes []fwk.NodeInfo) {
	d.index, d.names, d.rank = make(map[string]int, len(nodes)), make([]string, len(nodes)), make([]int, len(nodes))
	for i, n := range nodes {
		d.names[i] = n.Node().Name
		d.index[d.names[i]] = i
	}
	for place, name := range slices.Sorted(slices.Values(d.names)) {
		d.rank[d.index[name]] = place
	}
}

// decide decides about a pod. o is nil if this version does not know its kind.
func (d *decider) decide(ctx context.Context, request *wire.Decide, o runtime.Object) (*wire.Decision, error) {
	d.settle()
	pod, ok := o.(*v1.Pod)
	if !ok {
		return nil, fail(wire.BadRequest, fmt.Errorf("deciding about a %T, which is no pod", o))
	}
	name := request.Profile
	if name == "" {
		name = pod.Spec.SchedulerName
	}
	profile := d.profiles[name]
	if profile == nil {
		return nil, fail(wire.BadRequest, fmt.Errorf("the configuration has no profile %q", name))
	}
	if _, err := framework.NewPodInfo(pod); err != nil {
		return nil, fail(wire.BadRequest, fmt.Errorf("reading pod %s: %w", klog.KObj(pod), err))
	}
	before := d.world.Mark()
	if err := d.enter(pod); err != nil {
		return nil, err
	}
	nodes, err := d.update()
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	state.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
	rec := &record{request: request, pod: pod, state: state, nodes: nodes, index: d.index, rank: d.rank, verdicts: make([]*fwk.Status, len(nodes)), seen: make([]bool, len(nodes))}
	if request.Every {
		rec.further = make([][]*fwk.Status, len(nodes))
	}
	out, err := profile.decide(ctx, d.scheduler, rec)
	if err != nil {
		return nil, err
	}
	d.latest = &attempt{before: before, pod: pod, profile: profile, state: state, fits: rec.fits}
	return out, nil
}

// enter makes the pod a pending pod of the state, unless that has the same or a newer version of it.
func (d *decider) enter(pod *v1.Pod) error {
	pod.Spec.NodeName = ""
	if known, ok := d.world.Get(podKind, pod.Namespace, pod.Name).(*v1.Pod); ok && known.UID == pod.UID && known.Spec.NodeName == "" && !newer(pod, known) {
		return nil
	}
	return d.set(pod)
}

// place puts a pod on a node. If the latest decision allows it, it reserves what the pod's plugins hand out: volumes and devices. pod is nil
// for that of the latest decision.
func (d *decider) place(ctx context.Context, p *wire.Place, pod runtime.Object) (*wire.Placed, error) {
	a := d.latest
	if p.Pod != nil {
		d.settle()
		named, ok := pod.(*v1.Pod)
		if !ok {
			return nil, fail(wire.BadRequest, fmt.Errorf("placing a %T, which is no pod", pod))
		}
		a = &attempt{pod: named, fits: func(string) bool { return false }}
	}
	if a == nil {
		return nil, fail(wire.BadRequest, errors.New("there is no decision to place"))
	}
	d.latest = nil
	bound := d.bound(a.pod, p.Node)
	placed := &wire.Placed{Unasked: !a.fits(p.Node)}
	if !placed.Unasked {
		status := a.profile.Framework.RunReservePluginsReserve(ctx, a.state, bound, p.Node)
		if placed.Status = statusOf(status); status.IsSuccess() {
			if err := d.allocate(bound); err != nil {
				return nil, err
			}
		} else {
			a.profile.Framework.RunReservePluginsUnreserve(ctx, a.state, bound, p.Node)
		}
	}
	if err := d.set(bound); err != nil {
		return nil, err
	}
	d.world.Commit()
	return placed, nil
}

// bound returns a pod that runs on a node. Preemption takes the present for the start of a pod that has none, which would make its
// choice depend on the clock.
func (d *decider) bound(pod *v1.Pod, node string) *v1.Pod {
	pod = pod.DeepCopy()
	pod.Spec.NodeName, pod.Status.NominatedNodeName = node, ""
	pod.ResourceVersion = next(pod.ResourceVersion)
	if pod.Status.StartTime == nil {
		d.started++
		pod.Status.StartTime = &metav1.Time{Time: never.Add(time.Duration(d.started) * time.Second)}
	}
	return pod
}

// eventless drops all events.
type eventless struct{}

func (eventless) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
