package explain

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"k8s.io/utils/ptr"
)

// advised is an entry of testdata/advice.json, which the web reads too. Text is an
// advice's, or the one of an omission.
type advised struct {
	Name     string     `json:"name"`
	Text     string     `json:"text"`
	Advice   *Advice    `json:"advice,omitempty"`
	Omission *Statement `json:"omission,omitempty"`
}

const sharedAdvice = "testdata/advice.json"

func adviceCases() []advised {
	one := func(name string, step Operands) advised {
		return advised{Name: name, Advice: &Advice{Steps: []Statement{{step}}}}
	}
	with := func(name string, manner Operands, steps ...Operands) advised {
		a := &Advice{Manner: &Statement{manner}}
		for _, s := range steps {
			a.Steps = append(a.Steps, Statement{s})
		}
		return advised{Name: name, Advice: a}
	}
	omission := func(name string, o Operands) advised { return advised{Name: name, Omission: &Statement{o}} }
	cpu := RequestCut{Resource: "cpu", Container: "app", From: 7500, To: 6800}
	soon := time.Date(2026, 5, 1, 14, 3, 0, 0, time.UTC)
	old := PodName{"default", "old"}
	etl := EvictedPod{Namespace: "batch", Name: "etl-2", Priority: 100, Replacement: &Replacement{Node: "node-c1"}}
	pushed := EvictedPod{Namespace: "batch", Name: "etl-3", Priority: 100, Replacement: &Replacement{}}
	gpu := Tolerate{Taints: []string{"nvidia.com/gpu=present:NoSchedule"}}
	none := []string{}
	out := []advised{
		one("wait for a pod", Wait{Terminating: []PodName{old}, Nominated: []NominatedPod{}, Until: &soon}),
		one("wait for pods, without an end", Wait{Terminating: []PodName{old, {"default", "older"}}, Nominated: []NominatedPod{}}),
		one("wait for a nominated pod", Wait{Terminating: []PodName{old}, Nominated: []NominatedPod{{PodName{"default", "high"}, "node-b4"}}}),
		one("wait for a volume", Wait{Terminating: []PodName{old}, Nominated: []NominatedPod{}, Detaching: []AttachedVolume{{"data-old", "node-a1"}}}),
		one("wait for the scheduler's preemption", Wait{Terminating: []PodName{}, Nominated: []NominatedPod{}, Preempts: true}),
		one("wait for members", Wait{Terminating: []PodName{}, Nominated: []NominatedPod{}, Group: &ShortGroup{"batch", "train", 2}}),
		one("wait for the end of the backoff", Wait{Terminating: []PodName{}, Nominated: []NominatedPod{}, Queue: "backoff", Until: &soon}),
		one("wait for another attempt", Wait{Terminating: []PodName{}, Nominated: []NominatedPod{}, Queue: "unschedulable", Until: &soon}),
		with("lower a request", Recreated{Pod: "web"}, LowerRequests{Requests: []RequestCut{cpu}}),
		with("lower two requests, by a rollout", RolledOut{Pod: "web-7f9c-x2k4", WorkloadKind: "Deployment", Name: "web"},
			LowerRequests{Requests: []RequestCut{cpu, {Resource: "memory", Container: "log", Sidecar: true, Init: true, From: 24 << 30, To: 20 << 30}}}),
		with("drop a request, in a job", RestartedWorkload{Pod: "train-0", WorkloadKind: "Job", Name: "train"},
			LowerRequests{Requests: []RequestCut{{Resource: "nvidia.com/gpu", Container: "migrate", Init: true, From: 2, To: 0}, cpu}}),
		with("drop two requests", Recreated{Pod: "web"}, LowerRequests{Requests: []RequestCut{cpu, {Resource: "memory", From: 1 << 30, To: 0}}}),
		one("tolerate a taint", gpu),
		one("tolerate two taints", Tolerate{Taints: []string{"dedicated=batch:NoSchedule", "maintenance:NoExecute"}}),
		with("drop requirements", Recreated{Pod: "web"}, DropRequirements{Requirements: []LabelRequirement{
			{Key: "disk", Operator: "In", Values: []string{"ssd"}}, {Key: "gpu", Operator: "Exists", Values: none},
		}}),
		with("drop an empty term", Recreated{Pod: "web"}, DropRequirements{Requirements: []LabelRequirement{{Values: none}}}),
		with("accept another zone", Recreated{Pod: "web"}, AcceptValues{Key: "topology.kubernetes.io/zone", Value: "zone-b"}),
		with("raise the skew", Recreated{Pod: "web"}, RaiseMaxSkew{TopologyKey: "topology.kubernetes.io/zone", From: 1, To: 3}),
		with("count no tainted domains", RolledOut{Pod: "web-1", WorkloadKind: "Deployment", Name: "web"}, HonorPolicy{TopologyKey: "kubernetes.io/hostname", Policy: "nodeTaintsPolicy"}),
		with("ask for fewer domains", Recreated{Pod: "web"}, LowerMinDomains{TopologyKey: "topology.kubernetes.io/zone", From: 3, To: 2}),
		with("ask for no number of domains", Recreated{Pod: "web"}, LowerMinDomains{TopologyKey: "topology.kubernetes.io/zone", From: 2}),
		with("prefer anti-affinity", Recreated{Pod: "web"}, PreferPodTerms{Anti: true, Terms: []PodTerm{{TopologyKey: "kubernetes.io/hostname", Selector: "app=web"}}}),
		with("prefer affinity", Recreated{Pod: "web"}, PreferPodTerms{Terms: []PodTerm{{TopologyKey: "kubernetes.io/hostname"}}}),
		with("drop a term about other namespaces", Recreated{Pod: "web"}, DropPodTerms{Anti: true, Terms: []PodTerm{
			{TopologyKey: "kubernetes.io/hostname", Selector: "workload", Namespaces: []string{"team-y"}}, {TopologyKey: "kubernetes.io/hostname", Selector: "workload", NamespaceSelector: ptr.To("env=prod")},
			{TopologyKey: "kubernetes.io/hostname", Selector: "workload", Namespaces: []string{"a", "b"}, NamespaceSelector: ptr.To("")},
		}}),
		one("another storage class", ChangeStorageClass{Claim: "data", From: "zone-a", To: "zone-b"}),
		with("a higher priority", Recreated{Pod: "web"}, RaisePriority{Class: "urgent", To: 1000, Node: "node-b2", Pods: []EvictedPod{{Namespace: "batch", Name: "etl-2"}}}),
		one("take a resize back", TakeBackResize{Namespace: "default", Name: "db", Node: "node-b2", Requests: []RequestCut{{Resource: "cpu", Container: "c", From: 3500, To: 2000}}}),
		one("fewer replicas", ScaleDown{WorkloadKind: "Deployment", Name: "trio", From: 3, To: 2}),
		one("evict a pod that moves", Evict{Node: "node-b2", Pods: []EvictedPod{etl}}),
		one("evict a pod whose replacement waits", Evict{Node: "node-b2", Pods: []EvictedPod{pushed}}),
		one("evict pods of which one moves", Evict{Node: "node-b2", Pods: []EvictedPod{etl, pushed, {Namespace: "a", Name: "bare"}}}),
		with("prefer the spread", Recreated{Pod: "web"}, PreferSpread{TopologyKey: "rack"}),
		with("drop affinity", Recreated{Pod: "web"}, DropPodTerms{Terms: []PodTerm{{TopologyKey: "kubernetes.io/hostname", Selector: "app=cache"}}}),
		with("drop anti-affinity", Recreated{Pod: "web"}, DropPodTerms{Anti: true, Terms: []PodTerm{
			{TopologyKey: "kubernetes.io/hostname", Selector: "tier=store"}, {TopologyKey: "topology.kubernetes.io/zone", Selector: "app in (a,b)"},
		}}),
		with("give up a port", Recreated{Pod: "web"}, DropHostPorts{Ports: []string{"8080/TCP"}}),
		with("give up ports", Recreated{Pod: "web"}, DropHostPorts{Ports: []string{"8080/TCP", "10.0.0.1:53/UDP"}}),
		one("open a gate", OpenGates{Gates: []string{"example.com/quota"}}),
		one("open gates", OpenGates{Gates: []string{"example.com/quota", "example.com/review"}}),
		one("uncordon", Uncordon{Node: "node-b4", Others: none}),
		one("uncordon one of several", Uncordon{Node: "node-b4", Others: []string{"node-c1", "node-c2"}}),
		one("remove a taint", RemoveTaints{Node: "node-b4", Taints: gpu.Taints, Others: none}),
		one("remove taints", RemoveTaints{Node: "node-b4", Taints: []string{"a:NoSchedule", "b=c:NoExecute"}, Others: []string{"node-c1"}}),
		one("set a label", LabelNode{Node: "node-b4", Labels: []LabelChange{{Key: "disk", From: ptr.To("hdd"), To: ptr.To("ssd")}}, Others: none}),
		one("set and remove labels", LabelNode{Node: "node-b4", Labels: []LabelChange{{Key: "disk", To: ptr.To("ssd")}, {Key: "old", From: ptr.To("")}, {Key: "rack", To: ptr.To("4")}},
			Others: []string{"node-c1"}}),
		one("evict a pod", Evict{Node: "node-b2", Pods: []EvictedPod{{Namespace: "batch", Name: "etl-2", Priority: 100}}}),
		one("evict many pods", Evict{Node: "node-b2", Pods: []EvictedPod{
			{Namespace: "a", Name: "1"}, {Namespace: "a", Name: "2"}, {Namespace: "a", Name: "3"}, {Namespace: "a", Name: "4"}, {Namespace: "a", Name: "5"},
		}}),
		one("add a node", AddNode{Name: "node-b5", Like: "node-b2", Others: []string{"node-b1", "node-b3"}}),
		one("add nodes", AddNode{Name: "node-b5", More: []string{"node-b6", "node-b7"}, Like: "node-b2", Others: none}),
		with("one pod is left", Leaves{Pods: 1, WorkloadKind: "Deployment", Name: "web"}, AddNode{Name: "node-b5", Like: "node-b2", Others: none}),
		with("pods are left", Leaves{Pods: 3, WorkloadKind: "Deployment", Name: "web"}, Uncordon{Node: "node-b4", Others: none}),
		with("two steps", Recreated{Pod: "web"}, LowerRequests{Requests: []RequestCut{cpu}}, gpu),
		omission("one change not tried", ChangesNotTried{Changes: 1}),
		omission("changes not tried", ChangesNotTried{Changes: 12}),
		omission("combinations not tried", CombinationsNotTried{Steps: 3}),
		omission("new nodes not tried", NewNodesNotTried{Kinds: 2}),
		omission("evictions not tried", EvictionsNotTried{Nodes: 14}),
		omission("a shared pool", DevicesShared{Like: "g1", Driver: "gpu.example.com", Pool: "rack-1"}),
		omission("an incomplete pool", DevicesIncomplete{Like: "g1", Driver: "gpu.example.com", Pool: "g1"}),
		omission("storage that nobody reports", StorageNotReported{Like: "g1", Class: "local"}),
		omission("volumes that nobody provisions", LocalVolumes{Like: "g1", Class: "local"}),
		omission("no CSINode", AttachLimits{Like: "g1"}),
		omission("a rollout not tried", RolloutNotTried{Pods: 64}),
		omission("no nodes", NoNodesToTry{}),
	}
	for i := range out {
		if out[i].Advice != nil {
			out[i].Text = out[i].Advice.String()
		} else {
			out[i].Text = out[i].Omission.String()
		}
	}
	return out
}

// After an intended change, run with -update and review the difference.
func TestSharedAdvice(t *testing.T) { agreesWithFile(t, sharedAdvice, adviceCases(), "  ") }

func TestAdviceRendersFromTheData(t *testing.T) {
	document, err := os.ReadFile(sharedAdvice)
	if err != nil {
		t.Fatal(err)
	}
	var cases []advised
	if err := json.Unmarshal(document, &cases); err != nil {
		t.Fatal(err)
	}
	said := map[Kind]bool{}
	for _, c := range cases {
		var got string
		if c.Omission != nil {
			got = c.Omission.String()
			said[KindOf(c.Omission.Operands)] = true
		} else {
			got = c.Advice.String()
			for _, s := range c.Advice.Steps {
				said[KindOf(s.Operands)] = true
			}
			if c.Advice.Manner != nil {
				said[KindOf(c.Advice.Manner.Operands)] = true
			}
		}
		if got != c.Text {
			t.Errorf("%s:\n%s, want\n%s", c.Name, got, c.Text)
		}
	}
	for _, kinds := range [][]Operands{Steps(), Manners(), Omissions()} {
		for _, o := range kinds {
			if !said[KindOf(o)] {
				t.Errorf("no case has a statement of kind %q", KindOf(o))
			}
		}
	}
}
