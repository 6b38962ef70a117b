package doors

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"kube-scheduler-simulator/simulator/questions/why"
)

// obstacles are what the test puts in the way of the pod that random cases ask about. Each makes one plugin reject a
// node, whatever else is there: the hypothetical decision names every plugin that rejects a node.
var obstacles = []struct {
	plugin string
	// spec and status are of the node, label of its metadata; pods run on it.
	spec, label, pods string
	// full leaves less CPU than the pod asks for.
	full bool
}{
	{plugin: "NodeResourcesFit", full: true},
	{plugin: "TaintToleration", spec: "taints: [{key: dedicated, value: batch, effect: NoSchedule}]"},
	{plugin: "NodeUnschedulable", spec: "unschedulable: true"},
	{plugin: "NodeAffinity", label: "slow"},
	{plugin: "NodePorts", pods: "{name: c, image: x, ports: [{containerPort: 80, hostPort: 8080}]}"},
}

const randomPod = `
apiVersion: v1
kind: Pod
metadata: {name: asked}
spec:
  nodeSelector: {disk: fast}
  containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}, ports: [{containerPort: 80, hostPort: 8080}]}]
`

// randomCase has up to 12 nodes with any obstacles. The pod fits if one node has none.
func randomCase(seed uint64) graded {
	random := rand.New(rand.NewPCG(seed, 47))
	g := graded{name: fmt.Sprintf("random %d", seed), file: randomPod, truth: truth{rejects: map[string][]string{}}}
	var state strings.Builder
	var free []string
	for n := range 1 + random.IntN(12) {
		node := fmt.Sprintf("n%d", n)
		label, spec, allocatable, clear := "fast", []string{}, "4", true
		var pods []string
		for _, o := range obstacles {
			if random.IntN(4) > 0 {
				continue
			}
			clear = false
			g.truth.rejects[o.plugin] = append(g.truth.rejects[o.plugin], node)
			switch {
			case o.full:
				allocatable = "500m"
			case o.spec != "":
				spec = append(spec, o.spec)
			case o.label != "":
				label = o.label
			default:
				pods = append(pods, o.pods)
			}
		}
		if clear {
			free = append(free, node)
		}
		fmt.Fprintf(&state, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {disk: %s}}\nspec: {%s}\nstatus: {allocatable: {cpu: %s, memory: 8Gi, pods: \"20\"}}\n",
			node, label, strings.Join(spec, ", "), allocatable)
		for i, p := range pods {
			fmt.Fprintf(&state, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s-%d}\nspec: {nodeName: %s, containers: [%s]}\n", node, i, node, p)
		}
	}
	g.state = state.String()
	g.truth.verdict = why.DoesNotFit
	if len(free) > 0 {
		g.truth.verdict, g.truth.node = why.Fits, "?"
		if len(free) == 1 {
			g.truth.node = free[0]
		}
	}
	return g
}
