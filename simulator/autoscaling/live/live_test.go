package live

import (
	"errors"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/events"

	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

func claimOf(zones []string, types []string, cpu string) *karpenter.NodeClaim {
	in := func(key string, values ...string) karpenter.NodeSelectorRequirementWithMinValues {
		return karpenter.NodeSelectorRequirementWithMinValues{Key: key, Operator: v1.NodeSelectorOpIn, Values: values}
	}
	claim := &karpenter.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c-1", UID: "u", Labels: map[string]string{karpenter.NodePoolLabelKey: "c"}}}
	claim.Spec.Requirements = []karpenter.NodeSelectorRequirementWithMinValues{in(v1.LabelTopologyZone, zones...), in(v1.LabelInstanceTypeStable, types...)}
	claim.Spec.Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}
	return claim
}

// TestChoose: the cheapest offer that the cloud has, and what it lacks of those before it.
func TestChoose(t *testing.T) {
	types := instances.BuiltIn("zone-a", "zone-b").Karpenter()
	both := []string{"c-2x-amd64-linux", "c-4x-amd64-linux"}
	for _, c := range []struct {
		name     string
		claim    *karpenter.NodeClaim
		settings Settings
		want     string // type, capacity type and zone; empty for none
		lacking  int
	}{
		{"the cheapest", claimOf([]string{"zone-a", "zone-b"}, both, "1"), Settings{}, "c-2x-amd64-linux spot zone-a", 0},
		{"that holds the pods", claimOf([]string{"zone-b"}, both, "3"), Settings{}, "c-4x-amd64-linux spot zone-b", 0},
		{"no spot", claimOf([]string{"zone-a"}, both, "1"), Settings{NoCapacity: []Place{{CapacityType: "spot"}}}, "c-2x-amd64-linux on-demand zone-a", 1},
		{"no zone", claimOf([]string{"zone-a", "zone-b"}, both, "1"), Settings{NoCapacity: []Place{{Zone: "zone-a"}}}, "c-2x-amd64-linux spot zone-b", 1},
		{"nothing", claimOf([]string{"zone-a"}, both[:1], "1"), Settings{NoCapacity: []Place{{InstanceType: both[0]}}}, "", 2},
		{"no place of both values", claimOf([]string{"zone-a"}, both[:1], "1"), Settings{NoCapacity: []Place{{Zone: "zone-b", CapacityType: "spot"}}}, "c-2x-amd64-linux spot zone-a", 0},
	} {
		of, offer, lacking := choose(c.claim, types, c.settings)
		got := ""
		if offer != nil {
			got = offer.InstanceType + " " + offer.CapacityType + " " + offer.Zone
			if of.Name != offer.InstanceType {
				t.Errorf("%s: the type is %s", c.name, of.Name)
			}
		}
		if got != c.want || len(lacking) != c.lacking {
			t.Errorf("%s: %q with %v lacking, want %q with %d", c.name, got, lacking, c.want, c.lacking)
		}
	}
}

// TestANodeComesBack: after a restart, the node of an instance is the one that it was to be.
func TestANodeComesBack(t *testing.T) {
	types := instances.BuiltIn("zone-a").Karpenter()
	claim := claimOf([]string{"zone-a"}, []string{"c-2x-amd64-linux"}, "1")
	of, offer, _ := choose(claim, types, Settings{})
	node := newNode(claim, of, *offer)
	claim.Labels = node.Labels // as Karpenter does
	again := launched(claim, types)
	if again == nil || again.Spec.ProviderID != node.Spec.ProviderID || len(again.Labels) != len(node.Labels) {
		t.Errorf("%v, want %v", again, node)
	}
	if launched(claim, instances.BuiltIn("zone-a").Karpenter()[5:6]) != nil {
		t.Error("an instance of a type that is not there any more")
	}
}

func TestNames(t *testing.T) {
	var n names
	for _, taken := range []string{"a-7", "a-b-2", "mine"} {
		n.taken(taken)
	}
	var got []string
	for _, prefix := range []string{"a-", "a-", "a-b-", "c-"} {
		got = append(got, n.next(prefix))
	}
	if want := []string{"a-8", "a-9", "a-b-3", "c-1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

type dropped struct{ events []events.Event }

func (d *dropped) Publish(all ...events.Event) { d.events = append(d.events, all...) }

// TestLog: what is said again counts, a NodeClaim does not repeat its node, and the log forgets the oldest.
func TestLog(t *testing.T) {
	var l Log
	next := &dropped{}
	r := l.recorder(next)
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	claim := &karpenter.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Status: karpenter.NodeClaimStatus{NodeName: "n"}}
	say := func(about ...events.Event) { r.Publish(about...) }
	for range 2 {
		say(events.Event{InvolvedObject: node, Reason: "Unconsolidatable", Message: "m"}, events.Event{InvolvedObject: claim, Reason: "Unconsolidatable", Message: "m"})
	}
	say(events.Event{InvolvedObject: node, Reason: "Unconsolidatable", Message: "another"})
	l.Add(Entry{Kind: Joined, Node: "n"})
	l.sink().Error(errors.New("e"), "m")
	l.sink().Error(nil, "could not schedule pod")
	all := l.Latest(10)
	var got []string
	for _, e := range all {
		got = append(got, string(e.Kind)+" "+e.Message)
	}
	if want := []string{"failed m: e", "joined ", "said another", "said m"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if e := all[3]; e.Count != 2 || e.Object.Kind != "Node" || e.Object.Name != "n" || e.First.After(e.Last.Time) {
		t.Errorf("%+v", e)
	}
	if len(next.events) != 5 {
		t.Errorf("%d events were handed on", len(next.events))
	}
	for range maxEntries {
		l.Add(Entry{Kind: Joined})
	}
	if all := l.Latest(2 * maxEntries); len(all) != maxEntries || all[0].Number-all[len(all)-1].Number != maxEntries-1 {
		t.Errorf("%d entries", len(all))
	}
}

func TestSettings(t *testing.T) {
	long := metav1.Duration{Duration: time.Hour}
	for _, wrong := range []Settings{{RegistrationDelay: &long}, {NoCapacity: []Place{{}}}} {
		if wrong.Validate() == nil {
			t.Errorf("%+v is valid", wrong)
		}
	}
	if (Settings{}).delay() != DefaultRegistrationDelay {
		t.Error("no default delay")
	}
	c := newCloud(Options{Log: &Log{}})
	a, b := provider.Offer{Zone: "a"}, provider.Offer{Zone: "b"}
	c.lacking[a], c.lacking[b] = time.Now().Add(time.Hour), time.Now().Add(time.Hour)
	c.configure(Settings{NoCapacity: []Place{{Zone: "b"}}})
	if _, lacks := c.lacking[a]; lacks || len(c.lacking) != 1 {
		t.Errorf("after zone a has capacity again: %v", c.lacking)
	}
}

func TestBare(t *testing.T) {
	pod := func(name string, change func(*v1.Pod)) *v1.Pod {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name}}
		change(p)
		return p
	}
	pools := []*karpenter.NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "saves"}}, {ObjectMeta: metav1.ObjectMeta{Name: "empty"}}}
	pools[1].Spec.Disruption.ConsolidationPolicy = karpenter.ConsolidationPolicyWhenEmpty
	yes := true
	got := Bare([]*v1.Pod{
		pod("b", func(*v1.Pod) {}), pod("a", func(*v1.Pod) {}),
		pod("owned", func(p *v1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Controller: &yes}} }),
		pod("kept", func(p *v1.Pod) { p.Annotations = map[string]string{karpenter.DoNotDisruptAnnotationKey: "true"} }),
		pod("done", func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded }),
	}, pools)
	if got.Pods != 2 || !slices.Equal(got.Examples, []string{"d/a", "d/b"}) || !slices.Equal(got.NodePools, []string{"saves"}) {
		t.Errorf("%+v", got)
	}
}
