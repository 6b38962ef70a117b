package judge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// elastic are Jobs that get more and fewer pods while they run.
const elastic = "Elastic Job"

// A scenario has so many steps of any kind, and then so many that press for preemption.
const stepCount, pressCount = 10, 3

// dice makes the choices of one seed.
type dice struct{ *rand.Rand }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

// maker makes one scenario.
type maker struct {
	dice
	*scenario
	flavors []string
	// queues are those of the cluster, and locals those of the namespace at the same index.
	queues, locals []string
	// preempting are the locals whose queue may preempt its own workloads.
	preempting []string
	// topology says that the first flavor has levels of nodes; mixed, that only it has the label pool.
	topology, mixed, memory bool
	// works are the names of what was created, by kind.
	works map[string][]string
	count int
}

// generate returns the scenario of a seed. Every third shares fairly.
func generate(seed uint64) *scenario {
	m := &maker{dice: dice{rand.New(rand.NewPCG(seed, 48))}, scenario: &scenario{Seed: seed, Fair: seed%3 == 0}, works: map[string][]string{}}
	m.topology, m.memory = m.chance(20), m.chance(40)
	m.addFlavors()
	m.addQueues()
	for n := range stepCount {
		m.addStep(n)
	}
	for range pressCount {
		m.addPress()
	}
	return m.scenario
}

func (m *maker) add(o *unstructured.Unstructured) { m.Objects = append(m.Objects, o) }

func (m *maker) addFlavors() {
	count := pick(m.dice, 1, 2, 2, 3)
	m.mixed = count > 1 && m.chance(10)
	for n := range count {
		name := fmt.Sprint("@f", n)
		m.flavors = append(m.flavors, name)
		labels := map[string]any{"judge.example.com/flavor": name}
		if !m.mixed || n == 0 {
			labels["judge.example.com/pool"] = fmt.Sprint("pool", n%2)
		}
		spec := map[string]any{"nodeLabels": labels}
		node := parse(`{metadata: {labels: {}}, status: {allocatable: {cpu: "64", memory: 256Gi, pods: "200"}, capacity: {cpu: "64", memory: 256Gi, pods: "200"}}}`)
		merge(node, map[string]any{"metadata": map[string]any{"labels": labels}})
		switch {
		case n == 0 && m.topology:
			m.add(object("Topology", "@t", parse(`spec: {levels: [{nodeLabel: judge.example.com/block}, {nodeLabel: kubernetes.io/hostname}]}`)))
			spec["topologyName"] = "@t"
			for host := range 4 {
				h := object("Node", fmt.Sprintf("@n0-%d", host), node, parse(`{metadata: {labels: {judge.example.com/block: b%d, kubernetes.io/hostname: "@n0-%d"}}, status: {allocatable: {cpu: %q}, capacity: {cpu: %[3]q}}}`, host/2, host, pick(m.dice, "2", "3")))
				m.add(h)
			}
		case m.chance(30):
			taint := parse(`{key: judge.example.com/taint, value: t%d, effect: NoSchedule}`, n)
			spec["nodeTaints"] = []any{taint}
			merge(node, map[string]any{"spec": map[string]any{"taints": []any{taint}}})
			fallthrough
		default:
			m.add(object("Node", fmt.Sprintf("@n%d", n), node))
		}
		m.add(object("ResourceFlavor", name, map[string]any{"spec": spec}))
	}
}

// groups are the resource groups of a queue or a cohort.
func (m *maker) groups(limits bool) []any {
	covered, flavors := []any{"cpu"}, []any{}
	if m.memory {
		covered = append(covered, "memory")
	}
	for _, f := range m.flavors {
		if len(flavors) > 0 && m.chance(20) {
			continue
		}
		var resources []any
		for _, r := range covered {
			nominal, unit := m.IntN(5), ""
			if r == "memory" {
				nominal, unit = 2*nominal, "Gi"
			}
			quota := map[string]any{"name": r, "nominalQuota": fmt.Sprint(nominal, unit)}
			if limits && m.chance(25) {
				quota["borrowingLimit"] = fmt.Sprint(m.IntN(4), unit)
			}
			if limits && m.chance(20) {
				quota["lendingLimit"] = fmt.Sprint(m.IntN(nominal+1), unit)
			}
			resources = append(resources, quota)
		}
		flavors = append(flavors, map[string]any{"name": f, "resources": resources})
	}
	return []any{map[string]any{"coveredResources": covered, "flavors": flavors}}
}

func (m *maker) weigh(spec map[string]any) {
	if m.Fair && m.chance(60) {
		spec["fairSharing"] = map[string]any{"weight": pick(m.dice, "0", "500m", "1", "2", "3")}
	}
}

func (m *maker) addQueues() {
	parents := pick(m.dice, []string{""}, []string{"@c"}, []string{"@c"}, []string{"@c1", "@c2", "@root"}, []string{"@c1", "@c2"})
	if len(parents) > 1 {
		for _, name := range []string{"@root", "@c1", "@c2"} {
			spec := map[string]any{}
			if name != "@root" {
				spec["parentName"] = "@root"
				m.weigh(spec)
			}
			if m.chance(35) {
				spec["resourceGroups"] = m.groups(name != "@root")
			}
			m.add(object("Cohort", name, map[string]any{"spec": spec}))
		}
	}
	for n := range 1 + m.IntN(4) {
		name := fmt.Sprint("q", n)
		local := name
		if n == 0 && m.chance(15) {
			local = "default"
		}
		m.queues = append(m.queues, name)
		m.locals = append(m.locals, local)
		spec := parse(`{namespaceSelector: {}, queueingStrategy: %s}`, pick(m.dice, "BestEffortFIFO", "BestEffortFIFO", "StrictFIFO"))
		parent := pick(m.dice, parents...)
		if parent != "" {
			spec["cohortName"] = parent
		}
		spec["resourceGroups"] = m.groups(parent != "")
		preemption := map[string]any{
			"withinClusterQueue":  pick(m.dice, "Never", "LowerPriority", "LowerPriority", "LowerOrNewerEqualPriority"),
			"reclaimWithinCohort": pick(m.dice, "Never", "LowerPriority", "Any", "Any"),
		}
		if preemption["reclaimWithinCohort"] != "Never" && !m.Fair && m.chance(30) {
			preemption["borrowWithinCohort"] = pick(m.dice, parse(`{policy: LowerPriority}`), parse(`{policy: LowerPriority, maxPriorityThreshold: 100}`))
		}
		spec["preemption"] = preemption
		if m.Fair && parent == "" {
			// There 0.17.0 crashes when no preemption would be enough: it goes on to the cohort that is not there.
			preemption["withinClusterQueue"] = "Never"
		}
		if preemption["withinClusterQueue"] != "Never" {
			m.preempting = append(m.preempting, local)
		}
		fungibility := map[string]any{"whenCanBorrow": pick(m.dice, "MayStopSearch", "TryNextFlavor"), "whenCanPreempt": pick(m.dice, "MayStopSearch", "TryNextFlavor")}
		if fungibility["whenCanBorrow"] == "TryNextFlavor" && fungibility["whenCanPreempt"] == "TryNextFlavor" && m.chance(50) {
			fungibility["preference"] = pick(m.dice, "BorrowingOverPreemption", "PreemptionOverBorrowing")
		}
		spec["flavorFungibility"] = fungibility
		m.weigh(spec)
		m.add(object("ClusterQueue", "@"+name, map[string]any{"spec": spec}))
		m.add(object("LocalQueue", local, parse(`spec: {clusterQueue: "@%s"}`, name)))
	}
}

func (m *maker) addStep(n int) {
	of := m.IntN(len(m.queues))
	queue, local := m.queues[of], m.locals[of]
	do := func(s step) { m.Steps = append(m.Steps, s) }
	change := func(of string, with map[string]any) { do(step{Patch: &patch{of, with}}) }
	switch roll := m.IntN(100); {
	case n < 4 || roll < 56:
		if name := m.anyOf(elastic); name != "" && m.chance(40) {
			change("Job/"+name, parse(`spec: {parallelism: %d}`, 1+m.IntN(5)))
			return
		}
		do(m.work(n, local))
	case roll < 66:
		if name := m.anyOf("Job", elastic, "Pod", "Group"); name != "" {
			do(step{Finish: name})
		}
	case roll < 75:
		if kind := pick(m.dice, "Job", "Job", elastic, "Pod", "Deployment", "StatefulSet"); len(m.works[kind]) > 0 {
			do(step{Delete: strings.TrimPrefix(kind, "Elastic ") + "/" + pick(m.dice, m.works[kind]...)})
		}
	case roll < 84:
		change("ClusterQueue/@"+queue, map[string]any{"spec": map[string]any{"resourceGroups": m.groups(false)}})
	case roll < 91:
		change("ClusterQueue/@"+queue, parse(`spec: {stopPolicy: %s}`, pick(m.dice, "None", "None", "Hold", "HoldAndDrain")))
	case roll < 94:
		change("LocalQueue/"+local, parse(`spec: {stopPolicy: %s}`, pick(m.dice, "None", "Hold", "HoldAndDrain")))
	default:
		if name := m.anyOf("Job", elastic); name != "" {
			change("Job/"+name, parse(`metadata: {labels: {kueue.x-k8s.io/priority-class: %s}}`, pick(m.dice, "low", "mid", "high")))
		}
	}
}

// addPress creates a Job that is more important than most, in a queue that preempts if there is one.
func (m *maker) addPress() {
	local := pick(m.dice, m.locals...)
	if len(m.preempting) > 0 {
		local = pick(m.dice, m.preempting...)
	}
	m.Steps = append(m.Steps, m.create("Job", local, "high"))
}

func (m *maker) anyOf(kinds ...string) string {
	var names []string
	for _, kind := range kinds {
		names = append(names, m.works[kind]...)
	}
	if len(names) == 0 {
		return ""
	}
	return pick(m.dice, names...)
}

// work creates something that needs quota. Later work is more important, so that it preempts.
func (m *maker) work(n int, queue string) step {
	kinds := []string{"Job", "Job", "Job", "Job", "Job", "Pod", "Group", "Group", "Deployment", "StatefulSet"}
	if !m.topology { // with one, Kueue calls elastic jobs unfinished
		kinds = append(kinds, elastic, elastic)
	}
	kind := pick(m.dice, kinds...)
	priority := pick(m.dice, "low", "low", "mid")
	if n > 3 {
		priority = pick(m.dice, "low", "mid", "high", "high")
	}
	return m.create(kind, queue, priority)
}

func (m *maker) create(kind, queue, priority string) step {
	name := fmt.Sprint("w", m.count)
	m.count++
	m.works[kind] = append(m.works[kind], name)
	labels := map[string]any{"kueue.x-k8s.io/queue-name": queue, "kueue.x-k8s.io/priority-class": priority}
	if queue == "default" && m.chance(50) {
		delete(labels, "kueue.x-k8s.io/queue-name")
	}
	meta := map[string]any{"metadata": map[string]any{"labels": labels}}
	switch kind {
	case "Job":
		parallelism := 1 + m.IntN(4)
		completions := parallelism
		if m.chance(30) {
			completions += 1 + m.IntN(2)
		}
		job := object(kind, name, meta, parse(`spec: {parallelism: %d, completions: %d}`, parallelism, completions), map[string]any{"spec": map[string]any{"template": m.pod("")}})
		if parallelism > 1 && m.chance(25) {
			merge(job.Object, parse(`metadata: {annotations: {kueue.x-k8s.io/job-min-parallelism: "%d"}}`, 1+m.IntN(parallelism-1)))
		}
		return step{Create: []*unstructured.Unstructured{job}}
	case elastic:
		return step{Create: []*unstructured.Unstructured{object("Job", name, meta, parse(`{metadata: {annotations: {kueue.x-k8s.io/elastic-job: "true"}}, spec: {parallelism: %d}}`, 1+m.IntN(3)), map[string]any{"spec": map[string]any{"template": m.pod("")}})}}
	case "Pod":
		return step{Create: []*unstructured.Unstructured{object(kind, name, meta, m.pod(""))}}
	case "Group":
		labels["kueue.x-k8s.io/pod-group-name"] = name
		roles := []map[string]any{m.pod(""), m.pod("")}
		var pods []*unstructured.Unstructured
		total := 2 + m.IntN(2)
		for i := range total {
			pods = append(pods, object("Pod", fmt.Sprintf("%s-%d", name, i), meta, pick(m.dice, roles...), parse(`metadata: {annotations: {kueue.x-k8s.io/pod-group-total-count: "%d"}}`, total)))
		}
		return step{Create: pods}
	default:
		set := object(kind, name, meta, parse(`spec: {replicas: %d, selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %[2]s}}}}`, 1+m.IntN(3), name), map[string]any{"spec": map[string]any{"template": m.pod("Always")}})
		return step{Create: []*unstructured.Unstructured{set}}
	}
}

// pod is the part of a pod, or of a template, that decides about quota. It runs until a step ends it.
func (m *maker) pod(restart string) map[string]any {
	if restart == "" {
		restart = "Never"
	}
	requests := map[string]any{"cpu": pick(m.dice, "500m", "1", "1", "2")}
	if m.memory {
		requests["memory"] = pick(m.dice, "1Gi", "2Gi", "3Gi")
	}
	out := parse(`{metadata: {annotations: {kube-scheduler-simulator.sigs.k8s.io/run-duration: 24h}}, spec: {restartPolicy: %s}}`, restart)
	spec := out["spec"].(map[string]any)
	spec["containers"] = []any{map[string]any{"name": "c", "image": "registry.example.com/work:1", "resources": map[string]any{"requests": requests}}}
	if m.chance(60) {
		spec["tolerations"] = []any{parse(`{key: judge.example.com/taint, operator: Exists}`)}
	}
	if m.chance(12) {
		spec["nodeSelector"] = parse(`judge.example.com/pool: %s`, pick(m.dice, "pool0", "pool1"))
	}
	if m.topology && m.chance(60) {
		merge(out, parse(`metadata: {annotations: {%s: %s}}`, pick(m.dice, "kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology"), pick(m.dice, "judge.example.com/block", "kubernetes.io/hostname")))
	}
	return out
}

// elastic reports whether a job of the scenario is elastic.
func (s *scenario) elastic(job string) bool {
	return slices.ContainsFunc(s.Steps, func(step step) bool {
		return slices.ContainsFunc(step.Create, func(o *unstructured.Unstructured) bool {
			return o.GetName() == job && o.GetAnnotations()["kueue.x-k8s.io/elastic-job"] != ""
		})
	})
}

// selectsAKeyOfOthers reports whether a pod selects nodes by a label that only some flavors of the scenario have.
func (s *scenario) selectsAKeyOfOthers() bool {
	have, lack := false, false
	for _, o := range s.Objects {
		if o.GetKind() != "ResourceFlavor" {
			continue
		}
		labels, _, _ := unstructured.NestedMap(o.Object, "spec", "nodeLabels")
		_, has := labels["judge.example.com/pool"]
		have, lack = have || has, lack || !has
	}
	return have && lack
}

// changesQuota reports whether a step until then changes the quota of another ClusterQueue or Cohort than this one.
func (s *scenario) changesQuota(until int, but string) bool {
	return slices.ContainsFunc(s.Steps[:min(until+1, len(s.Steps))], func(step step) bool {
		if step.Patch == nil {
			return false
		}
		kind, name, _ := strings.Cut(step.Patch.Object, "/")
		_, quota, _ := unstructured.NestedFieldNoCopy(step.Patch.Merge, "spec", "resourceGroups")
		return quota && (kind == "ClusterQueue" || kind == "Cohort") && strings.TrimPrefix(name, "@") != but
	})
}

// prefersPreemption reports whether a ClusterQueue would rather preempt than borrow.
func (s *scenario) prefersPreemption(queue string) bool {
	return slices.ContainsFunc(s.Objects, func(o *unstructured.Unstructured) bool {
		preference, _, _ := unstructured.NestedString(o.Object, "spec", "flavorFungibility", "preference")
		return o.GetKind() == "ClusterQueue" && strings.TrimPrefix(o.GetName(), "@") == queue && preference == "PreemptionOverBorrowing"
	})
}
