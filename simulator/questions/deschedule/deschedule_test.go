package deschedule_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/questions/answertest"
	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// node writes a node of 4 CPU, 8 GiB and 20 pods. more are further lines of the object.
func node(name, zone string, more ...string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s, topology.kubernetes.io/zone: %s}}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "20"}, allocatable: {cpu: "4", memory: 8Gi, pods: "20"}, conditions: [{type: Ready, status: "True"}]}
%s
---`, name, zone, strings.Join(more, "\n"))
}

// pod writes a pod of the ReplicaSet app on a node, with a request of CPU. spec and status are further fields.
type pod struct {
	name, on, app, cpu string
	spec, status, meta string
}

func (p pod) String() string {
	owner := fmt.Sprintf("ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %s, uid: u-%[1]s, controller: true}]", p.app)
	if p.app == "" {
		owner = ""
	}
	status := p.status
	if status == "" {
		status = `phase: Running, conditions: [{type: Ready, status: "True"}]`
	}
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  name: %s
  labels: {app: %q}
  %s
  %s
spec:
  nodeName: %q
  containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: %q}}}]
  %s
status: {%s}
---`, p.name, p.app, owner, p.meta, p.on, p.cpu, p.spec, status)
}

func budget(app, rule string) string {
	return fmt.Sprintf(`
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %s}
spec: {selector: {matchLabels: {app: %[1]s}}, %s}
---`, app, rule)
}

// policy enables plugins. top are fields of the policy, and each plugin is "point: Name {args}".
func policy(top string, plugins ...string) string {
	var configs, deschedule, balance []string
	for _, p := range plugins {
		point, rest, _ := strings.Cut(p, ": ")
		name, args, _ := strings.Cut(rest, " ")
		if args == "" {
			args = "{}"
		}
		configs = append(configs, fmt.Sprintf("{name: %s, args: %s}", name, args))
		switch point {
		case "deschedule":
			deschedule = append(deschedule, name)
		case "balance":
			balance = append(balance, name)
		}
	}
	return fmt.Sprintf(`
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
%s
profiles:
- name: p
  pluginConfig: [%s]
  plugins: {deschedule: {enabled: [%s]}, balance: {enabled: [%s]}}
`, top, strings.Join(configs, ", "), strings.Join(deschedule, ", "), strings.Join(balance, ", "))
}

func ask(t *testing.T, state string, q deschedule.Question) (*deschedule.Answer, error) {
	t.Helper()
	return answertest.Open(t, state).Deschedule(t.Context(), q)
}

// transcript is an answer in a few words.
func transcript(a *deschedule.Answer) string {
	var b strings.Builder
	for _, r := range a.Rounds {
		if r.Skipped != "" || len(r.Failed) > 0 {
			fmt.Fprintf(&b, "round at %d: %s%s\n", r.At, r.Skipped, strings.Join(r.Failed, "; "))
		}
	}
	for _, e := range a.Evictions {
		fmt.Fprintf(&b, "%s %s from %s %s %s\n", e.Plugin, e.Name, e.Node, e.Fate, e.To)
	}
	for _, r := range a.Refused {
		fmt.Fprintf(&b, "%s %s refused by %s: %s\n", r.Plugin, r.Name, r.By, r.Text)
	}
	for _, p := range a.Protected {
		fmt.Fprintf(&b, "protected: %s: %s\n", p.Text, strings.Join(p.Pods, " "))
	}
	var dry []string
	for _, d := range a.DryRun {
		dry = append(dry, d.Name)
	}
	if a.Summary.Differs > 0 {
		fmt.Fprintf(&b, "dry run: %s\n", strings.Join(dry, " "))
	}
	return b.String()
}

// inZoneB requires a node of zone zb.
const inZoneB = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zb]}]}]}}}"

// TestPlugins: each plugin, with what follows from its documentation, worked out by hand.
func TestPlugins(t *testing.T) {
	two := node("a", "za") + node("b", "zb")
	three := two + node("c", "zc")
	old := "creationTimestamp: " + time.Now().Add(-2*time.Hour).UTC().Format(time.RFC3339)
	young := "creationTimestamp: " + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	restarts := func(n int) string {
		return fmt.Sprintf(`phase: Running, conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: c, image: i, imageID: i, ready: true, restartCount: %d}]`, n)
	}
	spread := "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"
	apart := "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}"
	for name, tc := range map[string]struct {
		state, policy, want string
	}{
		// Two pods of one owner on three nodes: one may stay on a. c is emptier than b.
		"RemoveDuplicates": {
			three + pod{name: "w1", on: "a", app: "web", cpu: "1"}.String() + pod{name: "w2", on: "a", app: "web", cpu: "1"}.String() + pod{name: "x", on: "b", app: "x", cpu: "2"}.String(),
			policy("", "balance: RemoveDuplicates"),
			"RemoveDuplicates w2 from a moves c\n",
		},
		// a has 3.5 of 4 CPU, which is 87.5 %; b has 0. Pods go until a is not above 50 %, which is 2 CPU: 0.5 and 1 go.
		"LowNodeUtilization": {
			two + pod{name: "w1", on: "a", app: "web", cpu: "1"}.String() + pod{name: "w2", on: "a", app: "web", cpu: "1"}.String() +
				pod{name: "w3", on: "a", app: "web", cpu: "1"}.String() + pod{name: "w4", on: "a", app: "web", cpu: "500m"}.String(),
			policy("", "balance: LowNodeUtilization {thresholds: {cpu: 20}, targetThresholds: {cpu: 50}}"),
			"LowNodeUtilization w4 from a moves b\nLowNodeUtilization w3 from a moves b\n",
		},
		// b is below 30 %, a is not: what is on b goes. The scheduler spreads by default, so it comes back.
		"HighNodeUtilization": {
			two + pod{name: "w1", on: "a", app: "web", cpu: "2"}.String() + pod{name: "x1", on: "b", app: "x", cpu: "1"}.String(),
			policy("", "balance: HighNodeUtilization {thresholds: {cpu: 30}}"),
			"HighNodeUtilization x1 from b moves b\n",
		},
		// Zones have 3, 0 and 0 pods, so two of a go. The first finds the zones b and c even, and b emptier; then c is the only one that keeps the skew.
		"RemovePodsViolatingTopologySpreadConstraint": {
			three + pod{name: "w1", on: "a", app: "web", cpu: "1", spec: spread}.String() + pod{name: "w2", on: "a", app: "web", cpu: "1", spec: spread}.String() + pod{name: "w3", on: "a", app: "web", cpu: "1", spec: spread}.String() + pod{name: "x", on: "c", app: "x", cpu: "2"}.String(),
			policy("", "balance: RemovePodsViolatingTopologySpreadConstraint"),
			"RemovePodsViolatingTopologySpreadConstraint w1 from a moves b\nRemovePodsViolatingTopologySpreadConstraint w2 from a moves c\n",
		},
		"RemovePodsViolatingNodeAffinity": {
			two + pod{name: "w1", on: "a", app: "web", cpu: "1", spec: inZoneB}.String() + pod{name: "w2", on: "b", app: "web", cpu: "1", spec: inZoneB}.String(),
			policy("", "deschedule: RemovePodsViolatingNodeAffinity {nodeAffinityType: [requiredDuringSchedulingIgnoredDuringExecution]}"),
			"RemovePodsViolatingNodeAffinity w1 from a moves b\n",
		},
		"RemovePodsViolatingNodeTaints": {
			node("a", "za", "spec: {taints: [{key: gone, effect: NoSchedule}]}") + node("b", "zb") +
				pod{name: "w1", on: "a", app: "web", cpu: "1"}.String() + pod{name: "w2", on: "a", app: "web", cpu: "1", spec: "tolerations: [{operator: Exists}]"}.String(),
			policy("", "deschedule: RemovePodsViolatingNodeTaints"),
			"RemovePodsViolatingNodeTaints w1 from a moves b\n",
		},
		"RemovePodsViolatingInterPodAntiAffinity": {
			two + pod{name: "w1", on: "a", app: "web", cpu: "1", spec: apart}.String() + pod{name: "w2", on: "a", app: "web", cpu: "1", spec: apart}.String(),
			policy("", "deschedule: RemovePodsViolatingInterPodAntiAffinity"),
			"RemovePodsViolatingInterPodAntiAffinity w2 from a moves b\n",
		},
		// More than 99 restarts of 100 are asked for: at 100 a pod goes, at 99 it stays.
		"RemovePodsHavingTooManyRestarts": {
			two + pod{name: "w1", on: "a", app: "web", cpu: "1", status: restarts(99)}.String() + pod{name: "w2", on: "a", app: "web", cpu: "1", status: restarts(100)}.String(),
			policy("", "deschedule: RemovePodsHavingTooManyRestarts {podRestartThreshold: 100}"),
			"RemovePodsHavingTooManyRestarts w2 from a moves b\n",
		},
		"PodLifeTime": {
			two + pod{name: "w1", on: "a", app: "web", cpu: "1", meta: old}.String() + pod{name: "w2", on: "a", app: "web", cpu: "1", meta: young}.String(),
			policy("", "deschedule: PodLifeTime {maxPodLifeTimeSeconds: 600}"),
			"PodLifeTime w1 from a moves b\n",
		},
		"RemoveFailedPods": {
			two + pod{name: "w1", on: "a", app: "web", cpu: "1", status: "phase: Failed", meta: old}.String() + pod{name: "w2", on: "a", app: "web", cpu: "1"}.String(),
			policy("", "deschedule: RemoveFailedPods"),
			"RemoveFailedPods w1 from a ended \n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := ask(t, tc.state, deschedule.Question{Policy: tc.policy})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, transcript(a)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, a.Sentence)
			}
		})
	}
}

// TestWhoRefuses: budgets, limits of the policy, the API server, and the evictor's filters.
func TestWhoRefuses(t *testing.T) {
	two := node("a", "za") + node("b", "zb")
	restarts := `phase: Running, conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: c, image: i, imageID: i, ready: true, restartCount: 9}]`
	web := func(n int, app, cpu, spec string) (out string) {
		for i := range n {
			out += pod{name: fmt.Sprintf("%s%d", app, i+1), on: "a", app: app, cpu: cpu, status: restarts, spec: spec}.String()
		}
		return out
	}
	const plugin = "deschedule: RemovePodsHavingTooManyRestarts {podRestartThreshold: 5}"
	for name, tc := range map[string]struct{ state, policy, want string }{
		// One pod may be missing; its replacement is not ready within the cycle.
		"a budget": {two + web(3, "web", "500m", "") + budget("web", "maxUnavailable: 1"), policy("", plugin), `
RemovePodsHavingTooManyRestarts web1 from a moves b
RemovePodsHavingTooManyRestarts web2 refused by budget: default/web
RemovePodsHavingTooManyRestarts web3 refused by budget: default/web
dry run: web1 web2 web3
`},
		"two budgets": {two + web(1, "web", "500m", "") + budget("web", "maxUnavailable: 1") + strings.Replace(budget("web", "maxUnavailable: 1"), "name: web", "name: more", 1), policy("", plugin), `
RemovePodsHavingTooManyRestarts web1 refused by server: This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.
dry run: web1
`},
		"a limit of all": {two + web(2, "web", "500m", ""), policy("maxNoOfPodsToEvictTotal: 1", plugin), `
RemovePodsHavingTooManyRestarts web1 from a moves b
RemovePodsHavingTooManyRestarts web2 refused by limit: maximum number of evicted pods per a descheduling cycle reached
`},
		"a limit of a node": {two + web(2, "web", "500m", ""), policy("maxNoOfPodsToEvictPerNode: 1", plugin), `
RemovePodsHavingTooManyRestarts web1 from a moves b
RemovePodsHavingTooManyRestarts web2 refused by limit: maximum number of evicted pods per node reached
`},
		"a limit of a namespace": {two + web(2, "web", "500m", ""), policy("maxNoOfPodsToEvictPerNamespace: 1", plugin), `
RemovePodsHavingTooManyRestarts web1 from a moves b
RemovePodsHavingTooManyRestarts web2 refused by limit: maximum number of evicted pods per namespace reached
`},
		"the evictor": {two + web(1, "web", "500m", "volumes: [{name: v, emptyDir: {}}]") + pod{name: "bare", on: "a", cpu: "500m", status: restarts}.String() +
			web(1, "high", "500m", "priorityClassName: system-cluster-critical"), policy("", plugin), `
protected: pod does not have any ownerRefs: default/bare
protected: pod has system critical priority and is protected against eviction: default/high1
protected: pod has higher priority than specified priority class threshold: default/high1
protected: pod has local storage and is protected against eviction: default/web1
`},
		// No node but a has room, so nodeFit keeps the pod; without it, it would be pending until the old one has left.
		"nodeFit": {two + web(1, "web", "3", "") + pod{name: "x", on: "b", app: "x", cpu: "2"}.String(), policy("", "deschedule: RemovePodsHavingTooManyRestarts {podRestartThreshold: 5}", "filter: DefaultEvictor {nodeFit: true}"), `
protected: pod does not fit on any other node because of nodeSelector(s), Taint(s), or nodes marked as unschedulable: default/web1 default/x
`},
		"comes back": {two + web(1, "web", "3", "") + pod{name: "x", on: "b", app: "x", cpu: "2"}.String(), policy("", plugin), `
RemovePodsHavingTooManyRestarts web1 from a moves a
`},
		"pending": {node("a", "za", "spec: {unschedulable: true}") + node("b", "zb") + web(1, "web", "3", "") + pod{name: "x", on: "b", app: "x", cpu: "2"}.String(), policy("", plugin), `
RemovePodsHavingTooManyRestarts web1 from a pending 
`},
		"gone": {two + pod{name: "bare", on: "a", cpu: "500m", status: restarts, meta: `annotations: {descheduler.alpha.kubernetes.io/evict: ""}`}.String(), policy("", plugin), `
RemovePodsHavingTooManyRestarts bare from a gone 
`},
		"one node": {node("a", "za") + web(1, "web", "500m", ""), policy("", plugin), `
round at 0: the descheduler wants at least two ready nodes, and there is one
`},
		"other nodes": {two + node("c", "zc") + web(1, "web", "500m", ""), policy(`nodeSelector: "topology.kubernetes.io/zone!=za"`, plugin), "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := ask(t, tc.state, deschedule.Question{Policy: tc.policy})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), transcript(a)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, a.Sentence)
			}
		})
	}
}

// TestWhyItComesBack: a replacement that lands on the node that was left has the reason, either what no other node gives it, or what puts
// the node ahead of the next.
func TestWhyItComesBack(t *testing.T) {
	two := node("a", "za") + node("b", "zb")
	restarts := `phase: Running, conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: c, image: i, imageID: i, ready: true, restartCount: 9}]`
	for name, tc := range map[string]struct{ state, policy, want string }{
		"only node": {two + pod{name: "w", on: "a", app: "web", cpu: "1", spec: "nodeSelector: {kubernetes.io/hostname: a}", status: restarts}.String(),
			policy("", "deschedule: RemovePodsHavingTooManyRestarts {podRestartThreshold: 5}"), "the only feasible node of 2; NodeAffinity rejects b"},
		"ahead": {two + pod{name: "w1", on: "a", app: "web", cpu: "2"}.String() + pod{name: "x1", on: "b", app: "x", cpu: "1"}.String(),
			policy("", "balance: HighNodeUtilization {thresholds: {cpu: 30}}"), "ahead of a"},
		"moves": {two + pod{name: "w", on: "a", app: "web", cpu: "1", status: restarts}.String() + pod{name: "x", on: "a", app: "x", cpu: "2"}.String(),
			policy("", "deschedule: RemovePodsHavingTooManyRestarts {podRestartThreshold: 5}"), "no choice"},
	} {
		a, err := ask(t, tc.state, deschedule.Question{Policy: tc.policy})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Evictions) != 1 {
			t.Fatalf("%s: %s", name, a.Sentence)
		}
		e, got := a.Evictions[0], "no choice"
		if e.Choice != nil {
			got = e.Choice.Lead()
		}
		for _, r := range e.Reasons {
			got += fmt.Sprintf("; %s rejects %s", r.Plugin, strings.Join(r.Nodes, ", "))
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s: want %q, got %q", name, tc.want, got)
		}
	}
}

// TestDryRunErrs: the descheduler's own dry run evicts nothing and schedules nothing, so what it says next is wrong. RemovePodsViolatingNodeAffinity
// sends w2 from a to b, the only node for it. That makes b fuller than 50 %, and LowNodeUtilization moves a pod from b to c; a dry run
// removes w2 from its view and does not place it on b, so it sees b as before.
func TestDryRunErrs(t *testing.T) {
	state := node("a", "za") + node("b", "zb") + strings.Replace(node("c", "zc"), `cpu: "4", memory: 8Gi`, `cpu: "8", memory: 8Gi`, 2) +
		pod{name: "w1", on: "a", app: "web", cpu: "1"}.String() + pod{name: "w2", on: "a", app: "web", cpu: "1", spec: inZoneB}.String() +
		pod{name: "x1", on: "b", app: "x", cpu: "1"}.String() + pod{name: "z1", on: "b", app: "z", cpu: "1"}.String()
	a, err := ask(t, state, deschedule.Question{Policy: policy("", "deschedule: RemovePodsViolatingNodeAffinity {nodeAffinityType: [requiredDuringSchedulingIgnoredDuringExecution]}",
		"balance: LowNodeUtilization {thresholds: {cpu: 30}, targetThresholds: {cpu: 50}}")})
	if err != nil {
		t.Fatal(err)
	}
	want := `RemovePodsViolatingNodeAffinity w2 from a moves b
LowNodeUtilization z1 from b moves c
dry run: w2
`
	if diff := cmp.Diff(want, transcript(a)); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, a.Sentence)
	}
	if !strings.HasSuffix(a.Sentence, " Its own dry run would say 1.") {
		t.Error(a.Sentence)
	}
}

// TestRounds: what a budget refuses in the first round goes in the next, when the replacement is ready; then it settles.
func TestRounds(t *testing.T) {
	state := node("a", "za", "spec: {taints: [{key: gone, effect: NoSchedule}]}") + node("b", "zb") + node("c", "zc") + budget("web", "maxUnavailable: 1")
	for i := range 2 {
		state += pod{name: fmt.Sprintf("w%d", i+1), on: "a", app: "web", cpu: "1"}.String()
	}
	a, err := ask(t, state, deschedule.Question{Policy: policy("", "deschedule: RemovePodsViolatingNodeTaints"), Rounds: 3, IntervalSeconds: 60})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]deschedule.Round{{At: 0, Evicted: 1}, {At: 60, Evicted: 1}, {At: 120}}, a.Rounds); diff != "" || !a.Summary.Settles || a.Summary.Emptied != 1 {
		t.Errorf("(-want +got):\n%s\n%+v", diff, a.Summary)
	}
	if a.Summary.Seconds != 70 {
		t.Errorf("the second replacement has a node at 60 s and is ready at 70 s, not at %d s", a.Summary.Seconds)
	}
}

// TestSameAnswer: what the descheduler leaves to chance has an order here.
func TestSameAnswer(t *testing.T) {
	state := ""
	for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
		state += node(n, "z"+n)
	}
	for i, on := range []string{"a", "a", "a", "b", "b", "b", "c", "c", "c"} {
		p := pod{name: fmt.Sprintf("p%d", i), on: on, app: []string{"web", "db"}[i%2], cpu: "1"}.String()
		state += strings.Replace(p, `requests: {cpu: "1"}`, `requests: {cpu: "1", memory: 1Gi}`, 1)
	}
	q := deschedule.Question{Policy: policy("maxNoOfPodsToEvictTotal: 2", "balance: RemoveDuplicates", "balance: LowNodeUtilization {thresholds: {cpu: 20}, targetThresholds: {cpu: 50}}")}
	first := ""
	for i := range 20 {
		a, err := ask(t, state, q)
		if err != nil {
			t.Fatal(err)
		}
		if got := transcript(a); i == 0 {
			first = got
		} else if diff := cmp.Diff(first, got); diff != "" {
			t.Fatalf("the same question has two answers:\n%s", diff)
		}
	}
}

// TestRefused: the mistakes of a policy, each at its field.
func TestRefused(t *testing.T) {
	state := node("a", "za") + node("b", "zb")
	for name, tc := range map[string]struct{ policy, field, says string }{
		"empty":            {"", "policy", "the policy is empty"},
		"no plugin":        {"apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\n", "policy.profiles", "no profile enables a plugin"},
		"old":              {"apiVersion: descheduler/v1alpha1\nkind: DeschedulerPolicy\nstrategies: {}\n", "policy.apiVersion", "no longer reads descheduler/v1alpha1"},
		"another kind":     {"apiVersion: v1\nkind: Pod\n", "policy.apiVersion", "want descheduler/v1alpha2, not v1"},
		"no YAML":          {"a: b: c", "policy", ""},
		"an unknown field": {policy("maxPods: 1", "balance: RemoveDuplicates"), "policy.maxPods", `unknown field "maxPods"`},
		"unknown plugin":   {policy("", "balance: RemoveDuplicate"), "policy.profiles[0].pluginConfig[0].name", "has no plugin \"RemoveDuplicate\", did you mean RemoveDuplicates?"},
		"wrong place":      {policy("", "deschedule: RemoveDuplicates"), "policy.profiles[0].plugins.deschedule.enabled[0]", "RemoveDuplicates is no plugin of deschedule; it is one of balance"},
		"not configured":   {strings.Replace(policy("", "balance: RemoveDuplicates"), "pluginConfig: [{name: RemoveDuplicates, args: {}}]", "pluginConfig: []", 1), "policy.profiles[0].plugins.balance.enabled[0]", "without an entry in pluginConfig"},
		"unknown argument": {policy("", "deschedule: PodLifeTime {maxPodLifetimeSeconds: 5}"), "policy.profiles[0].pluginConfig[0].args.maxPodLifetimeSeconds", "PodLifeTime: "},
		"a wrong argument": {policy("", "balance: LowNodeUtilization {thresholds: {cpu: 60}, targetThresholds: {cpu: 50}}"), "policy.profiles[0].pluginConfig[0].args", "LowNodeUtilization: thresholds' cpu percentage is greater than targetThresholds'"},
		"no argument":      {policy("", "balance: LowNodeUtilization"), "policy.profiles[0].pluginConfig[0].args", "no resource threshold is configured"},
		"metrics":          {policy("", "balance: LowNodeUtilization {thresholds: {cpu: 20}, targetThresholds: {cpu: 50}, metricsUtilization: {source: KubernetesMetrics}}"), "policy.profiles[0].pluginConfig[0].args.metricsUtilization", "metrics of what pods use"},
		"a selector":       {policy("nodeSelector: '=='", "balance: RemoveDuplicates"), "policy.nodeSelector", ""},
		"no such class":    {policy("", "balance: RemoveDuplicates", "filter: DefaultEvictor {priorityThreshold: {name: none}}"), "policy.profiles[0]", "DefaultEvictor: priorityThreshold: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ask(t, state, deschedule.Question{Policy: tc.policy})
			refused, is := errors.AsType[*hypothesis.Refused](err)
			if !is || len(refused.Mistakes) == 0 {
				t.Fatalf("not refused: %v", err)
			}
			if m := refused.Mistakes[0]; m.Field != tc.field || !strings.Contains(m.Message, tc.says) {
				t.Errorf("got %s: %s", m.Field, m.Message)
			}
		})
	}
	if _, err := ask(t, state, deschedule.Question{Policy: policy("", "balance: RemoveDuplicates"), Rounds: 21}); err == nil {
		t.Error("21 rounds are not refused")
	}
}
