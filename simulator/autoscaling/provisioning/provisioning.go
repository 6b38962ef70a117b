// Package provisioning answers ProvisioningRequests as cluster-autoscaler does, with Karpenter as what buys the nodes: Kueue's admission
// checks wait for these answers. It writes the conditions, and the reasons, that cluster-autoscaler writes.
//
// Of the class check-capacity it says whether the pods fit on the nodes that exist, and asks again until they do. Of the class
// best-effort-atomic-scale-up it has all nodes bought that the pods lack, or none, and says so when they are registered; where cluster-autoscaler
// would try again without an end, it fails the request with the reason. Requests of other classes are left alone.
//
// The room of an answered request is booked, until its pods have nodes or ten minutes have passed: other requests do not get it, and
// Karpenter does not take the nodes away. Pods without a request may.
//
// It may import simulator/autoscaling/dryrun and live, simulator/cluster/objects, and Karpenter's API.
package provisioning

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	autoscaling "k8s.io/autoscaler/cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/live"
)

// UserAgent is the name by which the answers are written.
const UserAgent = "provisioning-requests"

// Pod is what scheduler and autoscaler say about one pod.
type Pod struct {
	// Fits: the scheduler puts it on a node that exists. Then: it does so once the new nodes are there.
	Fits, Then bool
	// Sentence says it in English.
	Sentence string
}

// Room is what they say about pods together.
type Room struct {
	// Pods are by namespace/name.
	Pods map[string]Pod
	// NewNodes are those that the autoscaler would buy.
	NewNodes []dryrun.NewNode
}

// Options of the answers. Those without a default are required.
type Options struct {
	Client client.Client
	// Ask asks scheduler and autoscaler about pods that do not exist, the oldest first.
	Ask func(ctx context.Context, pods []*v1.Pod) (*Room, error)
	// Buy creates NodeClaims, and names them.
	Buy func(ctx context.Context, claims []*karpenter.NodeClaim) error
	Log *live.Log
	// Logger learns of failures.
	Logger klog.Logger
	// Clock is the real one by default.
	Clock clock.PassiveClock
}

// NewClient returns a client for Options. It needs no discovery, and finds nothing of a kind that the cluster does not serve.
func NewClient(config *rest.Config) (client.Client, error) {
	config = rest.CopyConfig(config)
	config.UserAgent, config.ContentType = UserAgent, runtime.ContentTypeJSON
	mapper := meta.NewDefaultRESTMapper(nil)
	for gvk, scope := range map[schema.GroupVersionKind]meta.RESTScope{
		v1.SchemeGroupVersion.WithKind("Node"):                         meta.RESTScopeRoot,
		v1.SchemeGroupVersion.WithKind("Pod"):                          meta.RESTScopeNamespace,
		v1.SchemeGroupVersion.WithKind("PodTemplate"):                  meta.RESTScopeNamespace,
		autoscaling.SchemeGroupVersion.WithKind("ProvisioningRequest"): meta.RESTScopeNamespace,
		dryrun.NodeClaimKind:                                           meta.RESTScopeRoot,
	} {
		mapper.Add(gvk, scope)
	}
	return client.New(config, client.Options{Scheme: Scheme(), Mapper: mapper})
}

// Scheme has the kinds of NewClient's client.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	// These fail only for kinds that differ under one name.
	_ = clientgoscheme.AddToScheme(s)
	_ = autoscaling.AddToScheme(s)
	s.AddKnownTypes(dryrun.NodeClaimKind.GroupVersion(), &karpenter.NodeClaim{}, &karpenter.NodeClaimList{})
	metav1.AddToGroupVersion(s, dryrun.NodeClaimKind.GroupVersion())
	return s
}

// lookEvery is how often the requests are looked at, and askEvery how often the same question is asked again.
const (
	lookEvery = 2 * time.Second
	askEvery  = 10 * time.Second
)

// Start answers requests until the function that it returns has been called, which waits for the last write.
func Start(ctx context.Context, o Options) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := newAnswers(o)
	var ended sync.WaitGroup
	ended.Go(func() {
		for failed := ""; ; {
			if err := a.look(ctx); err != nil && ctx.Err() == nil && err.Error() != failed {
				failed = err.Error()
				o.Logger.Error(err, "ProvisioningRequests are not answered")
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(lookEvery):
			}
		}
	})
	return func() {
		cancel()
		ended.Wait()
	}
}

// answers is what is remembered between two looks. All of it may be forgotten.
type answers struct {
	Options
	// asked is when the question of a request was last asked, and leftAlone are the requests of which the log says that they are.
	asked     map[types.UID]time.Time
	leftAlone map[types.UID]bool
}

func newAnswers(o Options) *answers {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &answers{Options: o, asked: map[types.UID]time.Time{}, leftAlone: map[types.UID]bool{}}
}

// state is what is there at one look.
type state struct {
	requests []*autoscaling.ProvisioningRequest
	// claims are NodeClaims that were bought for a request, by its namespace/name.
	claims map[string][]*karpenter.NodeClaim
	// placed counts the pods with a node that use a request, by its namespace/name.
	placed map[string]int
}

// look looks at all requests once.
func (a *answers) look(ctx context.Context) error {
	s, err := a.read(ctx)
	if err != nil || s == nil {
		return err
	}
	if err := a.release(ctx, s); err != nil {
		return err
	}
	for _, r := range s.requests {
		if err := a.answer(ctx, s, r); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return fmt.Errorf("ProvisioningRequest %s: %w", nameOf(r), err)
		}
	}
	return nil
}

// read returns nil if there is nothing to do.
func (a *answers) read(ctx context.Context) (*state, error) {
	list := &autoscaling.ProvisioningRequestList{}
	if err := a.Client.List(ctx, list); err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("listing ProvisioningRequests: %w", err)
	}
	s := &state{claims: map[string][]*karpenter.NodeClaim{}, placed: map[string]int{}}
	open := false
	for i := range list.Items {
		r := &list.Items[i]
		s.requests = append(s.requests, r)
		open = open || !isOver(r)
	}
	slices.SortFunc(s.requests, func(x, y *autoscaling.ProvisioningRequest) int {
		return cmp.Or(x.CreationTimestamp.Compare(y.CreationTimestamp.Time), strings.Compare(nameOf(x), nameOf(y)))
	})
	claims := &karpenter.NodeClaimList{}
	if err := a.Client.List(ctx, claims); err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("listing NodeClaims: %w", err)
	}
	for i := range claims.Items {
		if of := claims.Items[i].Annotations[annotationRequest]; of != "" {
			s.claims[of] = append(s.claims[of], &claims.Items[i])
		}
	}
	if !open {
		if len(s.claims) == 0 {
			return nil, nil
		}
		return s, nil
	}
	pods := &v1.PodList{}
	if err := a.Client.List(ctx, pods); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if of := p.Annotations[autoscaling.ProvisioningRequestPodAnnotationKey]; of != "" && p.Spec.NodeName != "" {
			s.placed[p.Namespace+"/"+of]++
		}
	}
	return s, nil
}

func nameOf(r *autoscaling.ProvisioningRequest) string { return r.Namespace + "/" + r.Name }

func has(r *autoscaling.ProvisioningRequest, condition string) bool {
	return meta.IsStatusConditionTrue(r.Status.Conditions, condition)
}

// isOver reports whether nothing about a request changes any more.
func isOver(r *autoscaling.ProvisioningRequest) bool {
	return r.DeletionTimestamp != nil || has(r, autoscaling.Failed) || has(r, autoscaling.BookingExpired) || has(r, autoscaling.CapacityRevoked)
}

// isBooked reports whether the room of a request is kept for its pods.
func isBooked(r *autoscaling.ProvisioningRequest) bool {
	return has(r, autoscaling.Provisioned) && !isOver(r)
}

// podsOf returns the pods that a request is about, but for the first few.
func (a *answers) podsOf(ctx context.Context, r *autoscaling.ProvisioningRequest, without int) (pods []*v1.Pod, err error) {
	for i, set := range r.Spec.PodSets {
		template := &v1.PodTemplate{}
		if err := a.Client.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: set.PodTemplateRef.Name}, template); err != nil {
			return nil, fmt.Errorf("reading the PodTemplate %s: %w", set.PodTemplateRef.Name, err)
		}
		for j := range set.Count {
			if without--; without >= 0 {
				continue
			}
			pod := &v1.Pod{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
				ObjectMeta: metav1.ObjectMeta{
					Namespace: r.Namespace, Name: fmt.Sprintf("%s-%d-%d", r.Name, i, j), CreationTimestamp: r.CreationTimestamp,
					Labels: template.Template.Labels, Annotations: template.Template.Annotations,
				},
				Spec: *template.Template.Spec.DeepCopy(),
			}
			pods = append(pods, pod)
		}
	}
	return pods, nil
}

// set makes a condition of a request hold, or not, and tells the log of it.
func (a *answers) set(ctx context.Context, r *autoscaling.ProvisioningRequest, condition string, status metav1.ConditionStatus, reason, message string, details ...string) error {
	after := r.DeepCopy()
	changed := meta.SetStatusCondition(&after.Status.Conditions, metav1.Condition{
		Type: condition, Status: status, ObservedGeneration: r.Generation, LastTransitionTime: metav1.NewTime(a.Clock.Now()), Reason: reason, Message: message,
	})
	if len(details) > 0 {
		after.Status.ProvisioningClassDetails = map[string]autoscaling.Detail{detailClaims: autoscaling.Detail(strings.Join(details, ","))}
		changed = true
	}
	if !changed {
		return nil
	}
	if err := a.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(r.DeepCopy(), client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	*r = *after
	a.say(r, reason, message)
	return nil
}

func (a *answers) say(r *autoscaling.ProvisioningRequest, reason, message string) {
	a.Log.Add(live.Entry{Kind: live.Answered, Object: &live.Object{Kind: "ProvisioningRequest", Namespace: r.Namespace, Name: r.Name}, Reason: reason, Message: message})
}
