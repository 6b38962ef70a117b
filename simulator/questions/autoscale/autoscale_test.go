package autoscale_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/questions/answertest"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

const pool = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: topology.kubernetes.io/zone, operator: In, values: [zone-a, zone-b]}
---`

// managed is a node that Karpenter has bought.
const managed = `
apiVersion: v1
kind: Node
metadata:
  name: there
  labels: {kubernetes.io/hostname: there, kubernetes.io/arch: amd64, kubernetes.io/os: linux, topology.kubernetes.io/zone: zone-a, karpenter.sh/nodepool: general, karpenter.sh/registered: "true", karpenter.sh/initialized: "true",
    karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: s-4x-amd64-linux}
status:
  capacity: {cpu: "4", memory: 16Gi, pods: "110"}
  allocatable: {cpu: 3900m, memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---`

// added is a configuration whose NodeAffinity demands a label of every node, of which Karpenter knows nothing.
const added = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: approved, operator: Exists}]}]}}
---`

const ignoring = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {ignoredResources: [example.com/widget]}
---`

// pod writes a pod with requests such as "cpu: 1", and further lines of its spec.
func pod(name, requests string, spec ...string) string {
	return "\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec:\n  containers: [{name: c, image: i, resources: {requests: {" + requests + "}, limits: {" + requests + "}}}]\n  " + strings.Join(spec, "\n  ") + "\n---"
}

// document is a pod alone.
func document(pod string) hypothesis.Document {
	data, err := yaml.YAMLToJSON([]byte(strings.TrimSuffix(pod, "---")))
	if err != nil {
		panic(err)
	}
	return data
}

func ask(t *testing.T, state string, q autoscale.Question) *autoscale.Answer {
	t.Helper()
	answer, err := answertest.Open(t, state).Autoscale(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func of(t *testing.T, a *autoscale.Answer, name string) *autoscale.Pod {
	t.Helper()
	for i := range a.Pods {
		if a.Pods[i].Name == name {
			return &a.Pods[i]
		}
	}
	t.Fatalf("the answer has no pod %s", name)
	return nil
}

// TestDisagreements: an example of each class, and one in which the two agree.
func TestDisagreements(t *testing.T) {
	low := "\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 100\n---"
	for name, tc := range map[string]struct {
		state   string
		verdict dryrun.Verdict
		want    autoscale.DisagreementKind
		says    string
	}{
		"agree":        {pool + pod("p", "cpu: 1"), dryrun.OnNewNode, "", ""},
		"roomRefused":  {pool + managed + added + pod("p", "cpu: 1"), dryrun.OnExistingNode, autoscale.RoomRefused, "NodeAffinity says"},
		"nodeRefused":  {pool + added + pod("p", "cpu: 1"), dryrun.OnNewNode, autoscale.NodeRefused, "NodeAffinity says"},
		"nodeUnneeded": {pool + managed + pod("p", "cpu: 1", "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-b]}]}}]}}"), dryrun.OnNewNode, autoscale.NodeUnneeded, "binds it to there"},
		"preempts":     {low + pool + managed + pod("lower", "cpu: 3", "nodeName: there") + pod("p", "cpu: 3", "priorityClassName: high"), dryrun.OnNewNode, autoscale.Preempts, "on there by preemption"},
		"fitsAlready":  {pool + managed + ignoring + pod("p", "cpu: 1, example.com/widget: 1"), dryrun.OnNone, autoscale.FitsAlready, "binds the pod to there"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := ask(t, tc.state, autoscale.Question{})
			p := of(t, answer, "p")
			if p.Verdict != tc.verdict {
				t.Fatalf("Karpenter says %s, want %s: %s", p.Verdict, tc.verdict, p.Sentence)
			}
			var got autoscale.Disagreement
			if p.Disagreement != nil {
				got = *p.Disagreement
			}
			if got.Kind != tc.want || !strings.Contains(got.Sentence, tc.says) {
				t.Errorf("the disagreement is %q: %s", got.Kind, got.Sentence)
			}
			if counted := answer.Summary.Disagreements; counted != min(1, len(got.Kind)) {
				t.Errorf("%d disagreements are counted", counted)
			}
		})
	}
}

// TestDaemonsTakeRoomForTheScheduler: a pod that only fits beside no DaemonSet's pod is not put on the new node that Karpenter sized for both.
func TestDaemonsTakeRoomForTheScheduler(t *testing.T) {
	daemon := "\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}}}\n---"
	without, with := ask(t, pool+pod("p", "cpu: 1800m"), autoscale.Question{}), ask(t, pool+daemon+pod("p", "cpu: 1800m"), autoscale.Question{})
	if a, b := without.NewNodes[0], with.NewNodes[0]; a.InstanceType == b.InstanceType || len(b.Daemons) != 1 {
		t.Errorf("the node is %s without and %s with a DaemonSet, of which %d pods are on it", a.InstanceType, b.InstanceType, len(b.Daemons))
	}
	if d := of(t, with, "p").Disagreement; d != nil {
		t.Errorf("they disagree: %s", d.Sentence)
	}
}

// TestAChangedPool: NodePools of the question take the place of those of their name, and the answer says what was before.
func TestAChangedPool(t *testing.T) {
	spot := strings.Replace(pool, "[on-demand]", "[spot]", 1)
	answer := ask(t, pool+managed+pod("a", "cpu: 3")+pod("b", "cpu: 3"), autoscale.Question{Objects: []hypothesis.Document{hypothesis.Document(spot)}})
	if answer.Before == nil || answer.Before.Cost.NewPricePerHour <= answer.Cost.NewPricePerHour || answer.Cost.NewNodes != 1 {
		t.Errorf("before %+v, now %+v", answer.Before, answer.Cost)
	}
	if got := answer.NewNodes[0].CapacityType; got != "spot" {
		t.Errorf("the new node is %s", got)
	}
	if len(answer.Pools) != 1 {
		t.Errorf("there are %d NodePools", len(answer.Pools))
	}
}

func TestBadQuestions(t *testing.T) {
	c := answertest.Open(t, pool+managed)
	for name, tc := range map[string]struct {
		q    autoscale.Question
		want string
	}{
		"no pod":         {autoscale.Question{Pods: []hypothesis.PodName{{Name: "none"}}}, "there is no pod default/none"},
		"no node":        {autoscale.Question{Nodes: []string{"none"}}, "there is no node none"},
		"misspelt":       {autoscale.Question{Objects: []hypothesis.Document{hypothesis.Document(strings.Replace(pool, "limits", "limit", 1))}}, `unknown field "spec.limit"`},
		"older":          {autoscale.Question{Objects: []hypothesis.Document{hypothesis.Document(strings.Replace(pool, "sh/v1", "sh/v1beta1", 1))}}, "Karpenter 1.14.1 reads karpenter.sh/v1 only"},
		"other kind":     {autoscale.Question{Objects: []hypothesis.Document{hypothesis.Document(managed)}}, "want a NodePool or a Pod"},
		"not YAML":       {autoscale.Question{Objects: []hypothesis.Document{hypothesis.Document("{")}}, "objects[0]"},
		"three mistakes": {autoscale.Question{InstanceTypes: hypothesis.Document("- {name: a, size: 1}\n- {}\n"), InstanceTypesFrom: "types.yaml"}, "types.yaml"},
	} {
		_, err := c.Autoscale(t.Context(), tc.q)
		if refused := (*hypothesis.Refused)(nil); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		} else if !isRefused(err, &refused) {
			t.Errorf("%s: the error is a %T", name, err)
		}
	}
}

func isRefused(err error, into **hypothesis.Refused) (ok bool) {
	*into, ok = err.(*hypothesis.Refused)
	return ok
}

var (
	times = regexp.MustCompile(`\b\d\d:\d\d:\d\d UTC`)
	// The schedulers' numbers are those of its version.
	world = pool + strings.NewReplacer("general", "gpu", "[on-demand]", "[spot]", "cpu: \"100\"", "cpu: \"1\"").Replace(pool) + managed +
		pod("resident", "cpu: 2", "nodeName: there") + pod("small", "cpu: 1") + pod("wide", "cpu: 6") + pod("broad", "cpu: 5") + pod("gpu", "cpu: 1, nvidia.com/gpu: 1") + pod("cold", "cpu: 1", "nodeSelector: {topology.kubernetes.io/zone: zone-z}") +
		pod("gated", "cpu: 1", "schedulingGates: [{name: example.com/wait}]")
)

// TestGoldenAnswer: a difference is a change of what scripts, agents and people read: fields are added, and never change.
func TestGoldenAnswer(t *testing.T) {
	object := answertest.Object()
	schema := answertest.Schema[autoscale.Answer](t, autoscale.APIVersion, "answer.json", "What the autoscaler would do", map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[v1.Node](): object, reflect.TypeFor[v1.Taint](): object, reflect.TypeFor[v1.ResourceList](): object,
	})
	schema.Properties["kind"] = answertest.OneOf(autoscale.Kind)
	resolved := answertest.Save(t, schema, ".")
	for file, tc := range map[string]struct {
		state string
		q     autoscale.Question
	}{
		"pods":   {world, autoscale.Question{AllNodes: true}},
		"nopool": {managed + pod("p", "cpu: 8"), autoscale.Question{}},
		"idle":   {pool + managed, autoscale.Question{}},
		"change": {world, autoscale.Question{Rounds: true, Objects: []hypothesis.Document{hypothesis.Document(strings.Replace(pool, "[on-demand]", "[spot]", 1))}}},
		"add":    {pool, autoscale.Question{Objects: []hypothesis.Document{hypothesis.Document(pod("new", "cpu: 3"))}}},
	} {
		answer := ask(t, tc.state, tc.q)
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var instance any
		if err := json.Unmarshal(text, &instance); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(instance); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if nulls := regexp.MustCompile(`"(pods|newNodes|pools|nodes|notJudged|reasons)":null`).FindAll(text, -1); nulls != nil {
			t.Errorf("%s: lists are null: %s", file, nulls)
		}
		var out bytes.Buffer
		if err := autoscale.Print(&out, answer); err != nil {
			t.Fatal(err)
		}
		answertest.Golden(t, filepath.Join("testdata", file+".txt"), times.ReplaceAll(out.Bytes(), []byte("TIME")))
	}
}

// TestMakeItFitCarriesTheAutoscaler: the suggestions for a pod that fits nowhere, and kubectl why, say what the autoscaler would do.
func TestMakeItFitCarriesTheAutoscaler(t *testing.T) {
	for name, tc := range map[string]struct {
		state   string
		q       hypothesis.Question
		verdict string
		refused int
	}{
		"a pod that waits":   {pool + managed + pod("p", "cpu: 6"), hypothesis.Question{PodRef: &hypothesis.PodName{Name: "p"}}, "newNode", 0},
		"a new pod":          {pool + managed, hypothesis.Question{Pod: document(pod("p", "cpu: 6"))}, "newNode", 0},
		"one of that name":   {pool + managed + pod("p", "cpu: 1"), hypothesis.Question{Pod: document(pod("p", "cpu: 6"))}, "newNode", 0},
		"no NodePool helps":  {pool + managed, hypothesis.Question{Pod: document(pod("p", "cpu: 600"))}, "none", 1},
		"it fits":            {pool + managed, hypothesis.Question{Pod: document(pod("p", "cpu: 1"))}, "", 0},
		"without a NodePool": {managed, hypothesis.Question{Pod: document(pod("p", "cpu: 6"))}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := answertest.Open(t, tc.state)
			found, err := c.Fit(t.Context(), hypothesis.Fit{Question: tc.q})
			if err != nil {
				t.Fatal(err)
			}
			answer, err := c.Why(t.Context(), why.Question{Question: tc.q})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(found.Autoscaler, answer.Autoscaler); diff != "" {
				t.Errorf("make it fit and why differ:\n%s", diff)
			}
			got := hypothesis.Autoscaler{}
			if found.Autoscaler != nil {
				got = *found.Autoscaler
			}
			if got.Verdict != tc.verdict || len(got.Refused) != tc.refused || (got.Node != nil) != (tc.verdict == "newNode") {
				t.Errorf("the autoscaler says %+v", got)
			}
			for _, n := range answer.NotJudged {
				if n.What == string(whatif.OfAutoscalers) && found.Autoscaler != nil {
					t.Errorf("the answer has the autoscaler, and says: %s", n.Text)
				}
			}
		})
	}
}

// TestAWorkloadAsksForItsNextPod: of a workload, pods that fit count as placed before the autoscaler is asked.
func TestAWorkloadAsksForItsNextPod(t *testing.T) {
	c := answertest.Open(t, pool+managed)
	answer, err := c.Why(t.Context(), why.Question{Question: hypothesis.Question{Pod: document(pod("p", "cpu: 2"))}, Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	if s := answer.Autoscaler; s == nil || s.Node == nil || s.Disagreement != "" {
		t.Errorf("the autoscaler says %+v", s)
	}
}
