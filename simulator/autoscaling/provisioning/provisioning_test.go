package provisioning

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	autoscaling "k8s.io/autoscaler/cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/live"
)

// stage is a cluster in which one pod fits for each of free, and others on a node each that can be bought while sold is less than shop.
type stage struct {
	t          *testing.T
	client     client.Client
	clock      *clocktesting.FakeClock
	log        live.Log
	answers    *answers
	free, shop int
	sold       int
	// asked are the names of the pods of the last question.
	asked []string
}

const (
	check  = autoscaling.ProvisioningClassCheckCapacity
	atomic = autoscaling.ProvisioningClassBestEffortAtomicScaleUp
)

func newStage(t *testing.T, free, shop int) *stage {
	s := &stage{t: t, free: free, shop: shop, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	s.client = fake.NewClientBuilder().WithScheme(Scheme()).WithStatusSubresource(&autoscaling.ProvisioningRequest{}, &karpenter.NodeClaim{}).Build()
	s.answers = newAnswers(Options{Client: s.client, Ask: s.ask, Buy: s.buy, Log: &s.log, Clock: s.clock})
	s.create(&v1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "worker"}})
	return s
}

func (s *stage) create(objects ...client.Object) {
	s.t.Helper()
	for _, o := range objects {
		if err := s.client.Create(s.t.Context(), o); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *stage) ask(_ context.Context, pods []*v1.Pod) (*Room, error) {
	room := &Room{Pods: map[string]Pod{}}
	s.asked = nil
	for i, p := range pods {
		s.asked = append(s.asked, p.Name)
		of := Pod{Sentence: p.Name + " finds no node."}
		switch {
		case i < s.free:
			of.Fits = true
		case i < s.free+s.shop-s.sold:
			of.Then = true
			room.NewNodes = append(room.NewNodes, dryrun.NewNode{Claim: &karpenter.NodeClaim{ObjectMeta: metav1.ObjectMeta{GenerateName: "pool-"}}})
		}
		room.Pods[p.Namespace+"/"+p.Name] = of
	}
	return room, nil
}

func (s *stage) buy(ctx context.Context, claims []*karpenter.NodeClaim) error {
	for _, c := range claims {
		s.sold++
		c.Name, c.GenerateName = fmt.Sprintf("pool-%d", s.sold), ""
		if err := s.client.Create(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// request asks for the room of so many pods.
func (s *stage) request(name, class string, count int32, parameters ...string) {
	r := &autoscaling.ProvisioningRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(s.clock.Now())},
		Spec:       autoscaling.ProvisioningRequestSpec{ProvisioningClassName: class, PodSets: []autoscaling.PodSet{{PodTemplateRef: autoscaling.Reference{Name: "worker"}, Count: count}}},
	}
	for _, p := range parameters {
		r.Spec.Parameters = map[string]autoscaling.Parameter{p: "true"}
	}
	s.create(r)
}

// look looks after some time, and returns the conditions of a request.
func (s *stage) look(name string, after time.Duration) string {
	s.t.Helper()
	s.clock.Step(after)
	if err := s.answers.look(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	r := &autoscaling.ProvisioningRequest{}
	if err := s.client.Get(s.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, r); err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for _, c := range r.Status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	return strings.Join(all, ", ")
}

func (s *stage) want(name string, after time.Duration, want string) {
	s.t.Helper()
	if got := s.look(name, after); got != want {
		s.t.Errorf("%s is %q, want %q", name, got, want)
	}
}

// register makes the node of a NodeClaim come.
func (s *stage) register(name string) {
	s.t.Helper()
	c := s.claim(name)
	s.create(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: c.Annotations}})
	c.Status.NodeName = name
	c.Status.Conditions = []status.Condition{{Type: karpenter.ConditionTypeRegistered, Status: metav1.ConditionTrue}}
	if err := s.client.Status().Update(s.t.Context(), c); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) claim(name string) *karpenter.NodeClaim {
	s.t.Helper()
	c := &karpenter.NodeClaim{}
	if err := s.client.Get(s.t.Context(), client.ObjectKey{Name: name}, c); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// kept are the nodes and NodeClaims that Karpenter may not take.
func (s *stage) kept() (names []string) {
	var claims karpenter.NodeClaimList
	var nodes v1.NodeList
	for _, list := range []client.ObjectList{&claims, &nodes} {
		if err := s.client.List(s.t.Context(), list); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, c := range claims.Items {
		if c.Annotations[karpenter.DoNotDisruptAnnotationKey] != "" {
			names = append(names, "claim "+c.Name)
		}
	}
	for _, n := range nodes.Items {
		if n.Annotations[karpenter.DoNotDisruptAnnotationKey] != "" {
			names = append(names, "node "+n.Name)
		}
	}
	return names
}

const accepted = "Accepted=True Accepted"

func TestCheckCapacity(t *testing.T) {
	s := newStage(t, 3, 9)
	s.request("a", check, 2)
	s.want("a", 0, accepted)
	s.want("a", 0, accepted+", Provisioned=True CapacityIsFound")
	// Its room is kept: of three places, one is left.
	s.request("b", check, 2)
	s.want("b", time.Second, accepted)
	s.want("b", 0, accepted+", Provisioned=False CapacityIsNotFound")
	if want := []string{"a-0-0", "a-0-1", "b-0-0", "b-0-1"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked about %v, want %v", s.asked, want)
	}
	// It is asked again when a pod of the first has a node. That pod must not count twice.
	s.create(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Annotations: map[string]string{autoscaling.ProvisioningRequestPodAnnotationKey: "a"}}, Spec: v1.PodSpec{NodeName: "n"}})
	s.want("b", time.Second, accepted+", Provisioned=False CapacityIsNotFound")
	s.want("b", askEvery, accepted+", Provisioned=True CapacityIsFound")
	if want := []string{"a-0-1", "b-0-0", "b-0-1"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked about %v, want %v", s.asked, want)
	}
	s.want("a", bookedFor, accepted+", Provisioned=True CapacityIsFound, BookingExpired=True CapacityReservationTimeExpired")
	if s.sold > 0 {
		t.Errorf("%d nodes were bought", s.sold)
	}
}

func TestCheckCapacityOnce(t *testing.T) {
	s := newStage(t, 1, 0)
	s.request("a", check, 2, noRetry)
	s.look("a", 0)
	s.want("a", 0, accepted+", Failed=True CapacityIsNotFound")
	s.request("b", check, 2)
	s.look("b", 0)
	s.want("b", openFor+time.Second, accepted+", Failed=True Expired")
}

func TestScaleUp(t *testing.T) {
	s := newStage(t, 1, 2)
	s.request("a", atomic, 3)
	s.look("a", 0)
	const coming = accepted + ", Provisioned=False NodesAreComing"
	s.want("a", 0, coming)
	s.register("pool-1")
	s.want("a", time.Second, coming)
	s.register("pool-2")
	s.want("a", time.Second, accepted+", Provisioned=True CapacityIsProvisioned")
	if diff := cmp.Diff([]string{"claim pool-1", "claim pool-2", "node pool-1", "node pool-2"}, s.kept()); diff != "" {
		t.Error(diff)
	}
	for i := range 3 {
		s.create(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("p", i), Annotations: map[string]string{autoscaling.ProvisioningRequestPodAnnotationKey: "a"}}, Spec: v1.PodSpec{NodeName: "n"}})
	}
	s.want("a", time.Second, accepted+", Provisioned=True CapacityIsProvisioned, BookingExpired=True CapacityBookingConsumed")
	s.look("a", time.Second)
	if kept := s.kept(); len(kept) > 0 {
		t.Errorf("after the booking, Karpenter may not take %v", kept)
	}
	var said []string
	for _, e := range s.log.Latest(10) {
		said = append(said, string(e.Kind)+" "+e.Object.Kind+" "+e.Object.Name+" "+e.Reason+": "+e.Message)
	}
	slices.Reverse(said)
	if diff := cmp.Diff([]string{
		"answered ProvisioningRequest a Accepted: the simulator asks the scheduler and Karpenter",
		"answered ProvisioningRequest a NodesAreComing: Karpenter buys pool-1, pool-2",
		"answered ProvisioningRequest a CapacityIsProvisioned: the nodes pool-1, pool-2 are registered",
		"answered ProvisioningRequest a CapacityBookingConsumed: all of its pods have nodes",
	}, said); diff != "" {
		t.Error(diff)
	}
}

// TestAllOrNothing: nothing is bought unless there is room for all, and what was bought goes when a node fails to come.
func TestAllOrNothing(t *testing.T) {
	s := newStage(t, 0, 2)
	s.request("a", atomic, 3)
	s.look("a", 0)
	s.want("a", 0, accepted+", Failed=True CapacityIsNotFound")
	if s.sold > 0 {
		t.Errorf("%d nodes were bought", s.sold)
	}
	s.request("b", atomic, 2)
	s.look("b", time.Second)
	s.want("b", 0, accepted+", Provisioned=False NodesAreComing")
	if err := s.client.Delete(t.Context(), s.claim("pool-1")); err != nil {
		t.Fatal(err)
	}
	s.want("b", time.Second, accepted+", Provisioned=False NodesAreComing, Failed=True CapacityIsNotFound")
	if kept := s.kept(); len(kept) > 0 {
		t.Errorf("after the failure there are %v", kept)
	}
}

func TestNodesLost(t *testing.T) {
	s := newStage(t, 0, 1)
	s.request("a", atomic, 1)
	s.look("a", 0)
	s.look("a", 0)
	s.register("pool-1")
	s.want("a", time.Second, accepted+", Provisioned=True CapacityIsProvisioned")
	if err := s.client.Delete(t.Context(), s.claim("pool-1")); err != nil {
		t.Fatal(err)
	}
	s.want("a", time.Second, accepted+", Provisioned=True CapacityIsProvisioned, CapacityRevoked=True NodesAreGone")
}

// TestForgotten: a request that is deleted keeps no node, and the answers may be forgotten at any time.
func TestForgotten(t *testing.T) {
	s := newStage(t, 0, 1)
	s.request("a", atomic, 1)
	s.look("a", 0)
	s.look("a", 0)
	s.answers = newAnswers(s.answers.Options)
	s.register("pool-1")
	s.want("a", time.Second, accepted+", Provisioned=True CapacityIsProvisioned")
	r := &autoscaling.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	if err := s.client.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := s.answers.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kept := s.kept(); len(kept) > 0 {
		t.Errorf("without its request, Karpenter may not take %v", kept)
	}
	if s.sold != 1 {
		t.Errorf("%d nodes were bought", s.sold)
	}
}

func TestOtherClasses(t *testing.T) {
	s := newStage(t, 9, 9)
	s.request("a", "queued-provisioning.example.com", 1)
	s.look("a", 0)
	s.want("a", time.Minute, "")
	said := s.log.Latest(10)
	if len(said) != 1 || said[0].Reason != reasonLeftAlone || !strings.Contains(said[0].Message, "queued-provisioning.example.com") {
		t.Errorf("the log says %+v", said)
	}
	s.request("b", check, 1)
	if err := s.client.Delete(t.Context(), &v1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "worker"}}); err != nil {
		t.Fatal(err)
	}
	s.look("b", 0)
	s.want("b", 0, accepted+", Failed=True FailedToCreatePods")
}
