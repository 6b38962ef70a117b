package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/awslabs/operatorpkg/status"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
	"kube-scheduler-simulator/simulator/cluster/objects"
)

// cloud launches and ends instances. The cluster says what exists: each NodeClaim with a provider ID is an instance until it
// ends, also if another cloud gave the ID. So a restart, or an import of a real cluster's NodeClaims, loses none.
type cloud struct {
	fixed *instances.Catalog // nil for the built-in types
	log   *Log
	names names
	// joining are the instances that are about to become nodes.
	joining sync.WaitGroup

	mu       sync.Mutex
	settings Settings
	// ctx ends with the manager whose client kube is.
	ctx  context.Context
	kube client.Client
	// ended are the provider IDs of instances that are gone.
	ended sets.Set[string]
	// lacking are offers that the cloud turned out not to have, until Karpenter may try them again.
	lacking map[provider.Offer]time.Time
	// types are those of the zones, with the offers that are lacking, of the last call.
	types []*cloudprovider.InstanceType
	of    string
}

var _ cloudprovider.CloudProvider = (*cloud)(nil)

// lackingFor is how long Karpenter leaves out an offer that the cloud did not have. The providers of real clouds do so, too.
const lackingFor = 3 * time.Minute

// idPrefix is that of the provider IDs of our instances.
const idPrefix = "simulator:///"

func newCloud(o Options) *cloud {
	return &cloud{fixed: o.Catalog, log: o.Log, settings: o.Settings, ended: sets.New[string](), lacking: map[provider.Offer]time.Time{}}
}

// serve makes the cloud serve the controllers of a manager.
func (c *cloud) serve(ctx context.Context, kube client.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ctx, c.kube = ctx, kube
}

// client returns the client of the running manager, and the context that ends with it.
func (c *cloud) client() (client.Client, context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kube, c.ctx
}

// Start goes on with the launches of an earlier run. It implements manager.Runnable.
func (c *cloud) Start(ctx context.Context) error {
	kube, _ := c.client()
	claims := &karpenter.NodeClaimList{}
	if err := kube.List(ctx, claims); err != nil {
		return fmt.Errorf("listing NodeClaims: %w", err)
	}
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	there := sets.New[string]()
	for _, node := range nodes {
		there.Insert(node.Spec.ProviderID)
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		c.names.taken(claim.Name)
		if id := claim.Status.ProviderID; !strings.HasPrefix(id, idPrefix) || there.Has(id) || claim.DeletionTimestamp != nil {
			continue
		}
		types, err := c.GetInstanceTypes(ctx, nil)
		if err != nil {
			return err
		}
		if node := launched(claim, types); node != nil {
			c.join(node, 0)
		}
	}
	<-ctx.Done()
	return nil
}

func (c *cloud) configure(s Settings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settings = s
	maps.DeleteFunc(c.lacking, func(o provider.Offer, _ time.Time) bool { return !s.lacks(o) })
}

func (c *cloud) nodes(ctx context.Context) ([]v1.Node, error) {
	kube, _ := c.client()
	all := &v1.NodeList{}
	if err := kube.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	return all.Items, nil
}

// catalog returns the types in the zones of the cluster's nodes and NodePools, and a key of them.
func (c *cloud) catalog(ctx context.Context) (of func() *instances.Catalog, key string, err error) {
	if c.fixed != nil {
		return func() *instances.Catalog { return c.fixed }, "", nil
	}
	kube, _ := c.client()
	pools := &karpenter.NodePoolList{}
	if err := kube.List(ctx, pools, client.UnsafeDisableDeepCopy); err != nil {
		return nil, "", fmt.Errorf("listing NodePools: %w", err)
	}
	nodes, err := c.nodes(ctx)
	if err != nil {
		return nil, "", err
	}
	zones := provider.Zones(each(nodes), each(pools.Items))
	return func() *instances.Catalog { return instances.BuiltIn(zones...) }, strings.Join(zones, ","), nil
}

func each[T any](items []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range items {
			if !yield(&items[i]) {
				return
			}
		}
	}
}

// GetInstanceTypes returns all types, by name, whatever the NodePool. What the cloud turned out not to have is not available.
func (c *cloud) GetInstanceTypes(ctx context.Context, _ *karpenter.NodePool) ([]*cloudprovider.InstanceType, error) {
	catalog, key, err := c.catalog(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(c.lacking, func(_ provider.Offer, until time.Time) bool { return now.After(until) })
	lacking := slices.SortedFunc(maps.Keys(c.lacking), provider.Offer.Compare)
	if key = fmt.Sprint(key, lacking); c.types == nil || key != c.of {
		c.types, c.of = catalog().Karpenter(), key
		for _, t := range c.types {
			for _, o := range t.Offerings {
				_, lacks := c.lacking[provider.OfferOf(t, o)]
				o.Available = o.Available && !lacks
			}
		}
	}
	return slices.Clone(c.types), nil
}

// Create launches the cheapest instance that a NodeClaim allows and that the cloud has.
func (c *cloud) Create(ctx context.Context, claim *karpenter.NodeClaim) (*karpenter.NodeClaim, error) {
	types, err := c.GetInstanceTypes(ctx, nil)
	if err != nil {
		return nil, err
	}
	entry := Entry{Node: claim.Name, NodePool: claim.Labels[karpenter.NodePoolLabelKey]}
	c.mu.Lock()
	settings := c.settings
	c.mu.Unlock()
	if settings.LaunchFails != "" {
		entry.Kind, entry.Message = LaunchFailed, settings.LaunchFails
		c.log.Add(entry)
		return nil, cloudprovider.NewCreateError(errors.New(settings.LaunchFails), "LaunchFailed", settings.LaunchFails)
	}
	of, offer, lacking := choose(claim, types, settings)
	for _, lacks := range lacking {
		entry.Kind, entry.Offer = NoCapacity, &lacks
		c.log.Add(entry)
	}
	c.mu.Lock()
	for _, lacks := range lacking {
		c.lacking[lacks] = time.Now().Add(lackingFor)
	}
	c.mu.Unlock()
	if offer == nil {
		return nil, cloudprovider.NewInsufficientCapacityError(errors.New("the cloud has none of the instances that would do"))
	}
	node := newNode(claim, of, *offer)
	if settings.NeverReady {
		node.Annotations = map[string]string{objects.AnnotationFailure: objects.FailureNotReady}
	}
	delay, err := c.delay(ctx, claim, settings)
	if err != nil {
		return nil, err
	}
	c.join(node, delay)
	entry.Kind, entry.Offer = Launched, offer
	c.log.Add(entry)
	return &karpenter.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Labels: node.Labels},
		Status:     karpenter.NodeClaimStatus{ProviderID: node.Spec.ProviderID, Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable},
	}, nil
}

// choose returns the cheapest offer that a NodeClaim allows, and what the cloud lacks of those that come before it.
func choose(claim *karpenter.NodeClaim, types []*cloudprovider.InstanceType, settings Settings) (of *cloudprovider.InstanceType, best *provider.Offer, lacking []provider.Offer) {
	wants := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	type one struct {
		of *cloudprovider.InstanceType
		provider.Offer
	}
	var all []one
	for _, t := range types {
		if t.Requirements.Intersects(wants) != nil || !resources.Fits(claim.Spec.Resources.Requests, t.Allocatable()) {
			continue
		}
		for _, o := range t.Offerings.Available().Compatible(wants) {
			all = append(all, one{t, provider.OfferOf(t, o)})
		}
	}
	slices.SortFunc(all, func(a, b one) int { return a.Compare(b.Offer) })
	for i := range all {
		if !settings.lacks(all[i].Offer) {
			return all[i].of, &all[i].Offer, lacking
		}
		lacking = append(lacking, all[i].Offer)
	}
	return nil, nil, lacking
}

// delay is how long an instance takes to become a node. A class of nodes that says so counts more than the settings.
func (c *cloud) delay(ctx context.Context, claim *karpenter.NodeClaim, settings Settings) (time.Duration, error) {
	kube, _ := c.client()
	class := &v1alpha1.KWOKNodeClass{}
	if err := kube.Get(ctx, client.ObjectKey{Name: claim.Spec.NodeClassRef.Name}, class); err != nil {
		return 0, fmt.Errorf("reading the class of nodes: %w", err)
	}
	return cmp.Or(class.Spec.NodeRegistrationDelay.Duration, settings.delay()), nil
}

// newNode is the node of an instance as its kubelet registers it. Karpenter adds the rest.
func newNode(claim *karpenter.NodeClaim, of *cloudprovider.InstanceType, offer provider.Offer) *v1.Node {
	wants := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Labels: provider.Labels(claim.Name, claim.Labels, wants, of, offer)},
		Spec: v1.NodeSpec{
			ProviderID: idPrefix + claim.Name + "/" + string(claim.UID),
			Taints:     []v1.Taint{karpenter.UnregisteredNoExecuteTaint},
		},
		Status: v1.NodeStatus{Capacity: of.Capacity.DeepCopy(), Allocatable: of.Allocatable().DeepCopy()},
	}
}

// launched is the node of a NodeClaim that was launched before; nil if there is no such type any more.
func launched(claim *karpenter.NodeClaim, types []*cloudprovider.InstanceType) *v1.Node {
	offer := provider.Offer{InstanceType: claim.Labels[v1.LabelInstanceTypeStable], Zone: claim.Labels[v1.LabelTopologyZone], CapacityType: claim.Labels[karpenter.CapacityTypeLabelKey]}
	at := slices.IndexFunc(types, func(t *cloudprovider.InstanceType) bool {
		return t.Name == offer.InstanceType && t.Requirements.Get(v1.LabelArchStable).Has(claim.Labels[v1.LabelArchStable])
	})
	if at < 0 {
		return nil
	}
	return newNode(claim, types[at], offer)
}

// join lets an instance become a node after a time, unless it ends before.
func (c *cloud) join(node *v1.Node, after time.Duration) {
	kube, ctx := c.client()
	c.joining.Go(func() {
		select {
		case <-time.After(after):
		case <-ctx.Done():
			return
		}
		for !c.hasEnded(node.Spec.ProviderID) {
			err := kube.Create(ctx, node.DeepCopy())
			if err == nil {
				c.log.Add(Entry{Kind: Joined, Node: node.Name, NodePool: node.Labels[karpenter.NodePoolLabelKey]})
				return
			}
			if apierrors.IsAlreadyExists(err) || ctx.Err() != nil {
				return
			}
			c.log.Add(Entry{Kind: Failed, Node: node.Name, Message: err.Error()})
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return
			}
		}
	})
}

func (c *cloud) hasEnded(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended.Has(id)
}

// end ends an instance. It reports whether it was there.
func (c *cloud) end(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.Has(id) {
		return false
	}
	c.ended.Insert(id)
	return true
}

// Delete ends an instance at once, with a node that Karpenter never came to know.
func (c *cloud) Delete(ctx context.Context, claim *karpenter.NodeClaim) error {
	id := claim.Status.ProviderID
	if c.end(id) {
		c.log.Add(Entry{Kind: Ended, Node: cmp.Or(claim.Status.NodeName, claim.Name), NodePool: claim.Labels[karpenter.NodePoolLabelKey]})
	}
	if claim.Status.NodeName == "" {
		kube, _ := c.client()
		node := &v1.Node{}
		err := kube.Get(ctx, client.ObjectKey{Name: claim.Name}, node)
		if err == nil && node.Spec.ProviderID == id {
			err = kube.Delete(ctx, node)
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting the node of an instance that has ended: %w", err)
		}
	}
	return errEnded(id)
}

func errEnded(id string) error {
	return cloudprovider.NewNodeClaimNotFoundError(fmt.Errorf("the instance %s has ended", id))
}

// lostNode is how long a NodeClaim may be without the node that it had. An import brings one before the other.
const lostNode = time.Minute

// exists reports whether the instance of a NodeClaim is there: it has not ended, and its node is still there.
func (c *cloud) exists(ctx context.Context, claim *karpenter.NodeClaim) (bool, error) {
	if claim.Status.ProviderID == "" || c.hasEnded(claim.Status.ProviderID) {
		return false, nil
	}
	if claim.Status.NodeName == "" || time.Since(claim.CreationTimestamp.Time) < lostNode {
		return true, nil
	}
	kube, _ := c.client()
	err := kube.Get(ctx, client.ObjectKey{Name: claim.Status.NodeName}, &v1.Node{})
	return err == nil, client.IgnoreNotFound(err)
}

// Get returns an instance.
func (c *cloud) Get(ctx context.Context, id string) (*karpenter.NodeClaim, error) {
	kube, _ := c.client()
	found := &karpenter.NodeClaimList{}
	if err := kube.List(ctx, found, client.MatchingFields{"status.providerID": id}); err != nil {
		return nil, fmt.Errorf("finding the instance %s: %w", id, err)
	}
	if len(found.Items) == 0 {
		return nil, errEnded(id)
	}
	claim := &found.Items[0]
	if exists, err := c.exists(ctx, claim); err != nil || !exists {
		return nil, cmp.Or(err, errEnded(id))
	}
	return claim, nil
}

// List returns all instances.
func (c *cloud) List(ctx context.Context) ([]*karpenter.NodeClaim, error) {
	kube, _ := c.client()
	all := &karpenter.NodeClaimList{}
	if err := kube.List(ctx, all); err != nil {
		return nil, fmt.Errorf("listing instances: %w", err)
	}
	var found []*karpenter.NodeClaim
	for i := range all.Items {
		claim := &all.Items[i]
		exists, err := c.exists(ctx, claim)
		if err != nil {
			return nil, fmt.Errorf("listing instances: %w", err)
		}
		if exists {
			claim.DeletionTimestamp = nil // the instance is there until Delete
			found = append(found, claim)
		}
	}
	return found, nil
}

// interrupt tells Karpenter of the interruption as a real provider does: it deletes the NodeClaim, and Karpenter drains the node. What is
// left when the notice is over is lost with the instance.
func (c *cloud) interrupt(ctx context.Context, name string, notice time.Duration) error {
	kube, running := c.client()
	if kube == nil {
		return &NotInterruptedError{"Karpenter is starting; try again in a moment"}
	}
	node := &v1.Node{}
	if err := kube.Get(ctx, client.ObjectKey{Name: name}, node); apierrors.IsNotFound(err) {
		return &NotInterruptedError{fmt.Sprintf("there is no node %s", name)}
	} else if err != nil {
		return fmt.Errorf("reading the node: %w", err)
	}
	claims := &karpenter.NodeClaimList{}
	if err := kube.List(ctx, claims, client.MatchingFields{"status.providerID": node.Spec.ProviderID}); err != nil {
		return fmt.Errorf("finding the node's NodeClaim: %w", err)
	}
	switch {
	case node.Spec.ProviderID == "" || len(claims.Items) == 0:
		return &NotInterruptedError{fmt.Sprintf("Karpenter did not buy the node %s: it has no NodeClaim", name)}
	case node.Labels[karpenter.CapacityTypeLabelKey] != karpenter.CapacityTypeSpot:
		return &NotInterruptedError{fmt.Sprintf("the node %s is %s; a cloud takes back spot instances only", name, cmp.Or(node.Labels[karpenter.CapacityTypeLabelKey], "of no known capacity type"))}
	}
	claim := &claims.Items[0]
	c.log.Add(Entry{Kind: Interrupted, Node: name, NodePool: node.Labels[karpenter.NodePoolLabelKey], Seconds: notice.Seconds()})
	if err := kube.Delete(ctx, claim); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting the NodeClaim: %w", err)
	}
	c.joining.Go(func() {
		select {
		case <-time.After(notice):
		case <-running.Done():
			return
		}
		if c.end(claim.Status.ProviderID) {
			c.log.Add(Entry{Kind: Lost, Node: name, NodePool: node.Labels[karpenter.NodePoolLabelKey]})
			c.vanish(running, name)
		}
	})
	return nil
}

// vanish makes a node unreachable whose instance has ended. Karpenter then gives up to drain it.
func (c *cloud) vanish(ctx context.Context, name string) {
	kube, _ := c.client()
	node := &v1.Node{}
	if err := kube.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return // it is gone already
	}
	was := node.DeepCopy()
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[objects.AnnotationFailure] = objects.FailureUnreachable
	if err := kube.Patch(ctx, node, client.MergeFrom(was)); client.IgnoreNotFound(err) != nil {
		c.log.Add(Entry{Kind: Failed, Node: name, Message: err.Error()})
	}
}

// NotInterruptedError says why a node cannot be interrupted.
type NotInterruptedError struct{ why string }

func (e *NotInterruptedError) Error() string { return e.why }

// IsDrifted says that no NodeClaim has drifted from its class of nodes, which decides nothing here.
func (*cloud) IsDrifted(context.Context, *karpenter.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}

// RepairPolicies returns none: the feature gate is off, as by Karpenter's default.
func (*cloud) RepairPolicies() []cloudprovider.RepairPolicy { return nil }

// Name returns the name by which Karpenter's metrics know the cloud.
func (*cloud) Name() string { return "simulator" }

// GetSupportedNodeClasses returns KWOK's class, which stands for that of any cloud.
func (*cloud) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&v1alpha1.KWOKNodeClass{}}
}
