package whatif

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"kube-scheduler-simulator/scheduler/internal/upstream"
)

// Fill places pods like this one, one after the other, each where the scheduler would put it on the state that the ones before
// it left. It ends when one finds no node, or when most are placed. It returns the nodes, in the order of the pods. Each pod is a copy
// with a name and a UID of its own. profile is as in Question. It asks no extender. On an error, the pods that were placed stay placed.
func (t *Trial) Fill(ctx context.Context, pod *v1.Pod, profile string, most int) ([]string, error) {
	pod, err := t.Another(pod) // with another name: a caller may ask about its own pod afterwards
	if err != nil || most <= 0 {
		return nil, err
	}
	a, err := attemptOf(ctx, t, pod, profile)
	if err != nil || !a.status.IsSuccess() {
		return nil, err
	}
	if in(t).decides == nil && a.filtersLocally() {
		return fillLocally(ctx, t, a, most)
	}
	var out []string
	for {
		node, err := t.Choose(ctx, pod, profile)
		if err != nil || node == "" {
			return out, err
		}
		if err := t.Place(ctx, pod, profile, node); err != nil {
			return out, err
		}
		if out = append(out, node); len(out) == most {
			return out, nil
		}
		if pod, err = t.further(pod); err != nil {
			return out, err
		}
	}
}

// Where returns the nodes on which the pod fits, in the order of Nodes, and the one that the scheduler would choose; no node if it
// fits nowhere. It is Feasible and Choose in one, with one PreFilter for both, which it shares with Feasible and Obstacles. It asks no extender.
func (t *Trial) Where(ctx context.Context, pod *v1.Pod, profile string) (nodes []string, chosen string, err error) {
	a, err := attemptOf(ctx, t, pod, profile)
	if err != nil || !a.status.IsSuccess() {
		return nil, "", err
	}
	c := &candidates{attempt: a}
	if err := findCandidates(ctx, t, c); err != nil || len(c.nodes) == 0 {
		return nil, "", err
	}
	for _, n := range c.nodes {
		nodes = append(nodes, n.Node().Name)
	}
	chosen, err = choose(ctx, t, c)
	return nodes, chosen, err
}

// further returns a pod like this one, which New has made. It saves what another does again for each pod, if the pod allows
// it.
func (t *Trial) further(pod *v1.Pod) (*v1.Pod, error) {
	if makesClaims(pod) {
		return t.Another(pod)
	}
	next := *pod
	next.UID, next.ResourceVersion = in(t).nextUID(), in(t).nextVersion()
	next.Name = string(next.UID)
	return &next, nil
}

func makesClaims(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v v1.Volume) bool { return v.Ephemeral != nil }) ||
		slices.ContainsFunc(pod.Spec.ResourceClaims, func(c v1.PodResourceClaim) bool { return c.ResourceClaimTemplateName != nil })
}

// localPlugins are plugins of Kubernetes for which a pod without claims and without terms about other pods counts on its own
// node only: InterPodAffinity counts the pods of a domain, but no pods without terms for one without terms.
var localPlugins = []string{
	names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit, names.VolumeRestrictions,
	names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone, names.InterPodAffinity, names.NodeDeclaredFeatures, names.DeferredPodScheduling,
	names.NodeResourcesBalancedAllocation, names.ImageLocality, names.DefaultPreemption,
}

// filtersLocally reports whether a pod like this one on a node leaves the verdicts on the other nodes as they are for a
// further one. PodTopologySpread and DynamicResources must have nothing to do with the pod; of plugins that Kubernetes does not have,
// nothing is known.
func (a *attempt) filtersLocally() bool {
	spec := &a.pod.Spec
	if spec.SchedulingGroup != nil || len(spec.ResourceClaims) > 0 || makesClaims(a.pod) ||
		slices.ContainsFunc(spec.Volumes, func(v v1.Volume) bool { return v.PersistentVolumeClaim != nil }) {
		return false
	}
	if affinity := spec.Affinity; affinity != nil {
		if with := affinity.PodAffinity; with != nil && len(with.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
			return false
		}
		if without := affinity.PodAntiAffinity; without != nil && len(without.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
			return false
		}
	}
	plugins, skipped := a.framework.ListPlugins(), a.state.GetSkipFilterPlugins()
	for _, p := range slices.Concat(plugins.PreFilter.Enabled, plugins.Filter.Enabled, plugins.Reserve.Enabled) {
		if !slices.Contains(localPlugins, p.Name) && !skipped.Has(p.Name) {
			return false
		}
	}
	return true
}

// scoresLocally reports, after PreScore, whether a pod like this one on a node leaves the raw scores of the other nodes as they
// are for a further one.
func (a *attempt) scoresLocally() bool {
	if affinity := a.pod.Spec.Affinity; affinity != nil && (affinity.PodAffinity != nil || affinity.PodAntiAffinity != nil) {
		return false
	}
	plugins, skipped := a.framework.ListPlugins(), a.state.GetSkipScorePlugins()
	for _, p := range slices.Concat(plugins.PreScore.Enabled, plugins.Score.Enabled) {
		// DynamicResources has no PreScore in which to skip a pod without claims. Such a pod it has skipped in PreFilter, and scores 0.
		withoutClaims := p.Name == names.DynamicResources && a.state.GetSkipFilterPlugins().Has(p.Name)
		if !slices.Contains(localPlugins, p.Name) && !skipped.Has(p.Name) && !withoutClaims {
			return false
		}
	}
	return true
}

type candidates struct {
	*attempt
	nodes []fwk.NodeInfo
	// rows are the nodes' scores. They are nil when the nodes must be scored anew.
	rows []fwk.NodePluginScores
}

// fillLocally is Fill for an attempt that filters locally. Only the node on which a pod is placed is filtered again. It alone is
// scored again if the scores are local too.
func fillLocally(ctx context.Context, t *Trial, a *attempt, most int) ([]string, error) {
	c := &candidates{attempt: a}
	if err := findCandidates(ctx, t, c); err != nil {
		return nil, err
	}
	var out []string
	for len(c.nodes) > 0 {
		node, err := choose(ctx, t, c)
		if err != nil {
			return out, err
		}
		if err := reserve(context.WithoutCancel(ctx), t, c.attempt, node); err != nil {
			return out, err
		}
		if out = append(out, node); len(out) == most {
			break
		}
		next, err := t.further(c.pod)
		if err != nil {
			return out, err
		}
		c.attempt = &attempt{pod: next, framework: a.framework, state: a.state, restriction: a.restriction}
		if err := reconsider(ctx, t, c, node); err != nil {
			return out, err
		}
	}
	return out, nil
}

// findCandidates filters all nodes.
func findCandidates(ctx context.Context, t *Trial, c *candidates) error {
	all := in(t).decider.Nodes()
	statuses := make([]*fwk.Status, len(all))
	c.framework.Parallelizer().Until(ctx, len(all), func(i int) { statuses[i] = c.filter(ctx, all[i]) }, metrics.Filter)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, status := range statuses {
		switch {
		case status.IsSuccess():
			c.nodes = append(c.nodes, all[i])
		case !status.IsRejected():
			return status.AsError()
		}
	}
	return nil
}

// choose returns the candidate with the best total, as the scheduler does.
func choose(ctx context.Context, t *Trial, c *candidates) (string, error) {
	if len(c.nodes) == 1 {
		c.rows = nil
		return c.nodes[0].Node().Name, nil
	}
	if err := c.score(ctx); err != nil {
		return "", err
	}
	tied := upstream.Best(c.rows)
	if len(tied) == 1 {
		return tied[0], nil
	}
	if choose := in(t).options.BreakTie; choose != nil {
		return choose(c.state, c.pod, tied), nil
	}
	return firstByName(c.state, c.pod, tied), nil
}

func (c *candidates) score(ctx context.Context) error {
	if c.rows == nil {
		if status := c.framework.RunPreScorePlugins(ctx, c.state, c.pod, c.nodes); !status.IsSuccess() {
			return status.AsError()
		}
		c.rows = make([]fwk.NodePluginScores, len(c.nodes))
		errs := make([]error, len(c.nodes))
		c.framework.Parallelizer().Until(ctx, len(c.nodes), func(i int) { errs[i] = c.scoreNode(ctx, i) }, metrics.Score)
		for _, err := range append(errs, ctx.Err()) {
			if err != nil {
				return err
			}
		}
	}
	if status := c.framework.NormalizeScores(ctx, c.state, c.pod, c.rows); !status.IsSuccess() {
		return status.AsError()
	}
	return ctx.Err()
}

func (c *candidates) scoreNode(ctx context.Context, i int) error {
	raw, status := c.framework.RunRawScorePlugins(ctx, c.state, c.pod, c.nodes[i])
	if !status.IsSuccess() {
		return status.AsError()
	}
	c.rows[i] = fwk.NodePluginScores{Name: c.nodes[i].Node().Name, RawScores: raw}
	return nil
}

// reconsider filters a node on which a pod was placed, and scores it again if the other scores stay.
func reconsider(ctx context.Context, t *Trial, c *candidates, node string) error {
	if err := t.refresh(ctx); err != nil {
		return err
	}
	i := slices.IndexFunc(c.nodes, func(n fwk.NodeInfo) bool { return n.Node().Name == node })
	c.nodes[i] = in(t).decider.Node(node)
	if c.rows != nil && !c.scoresLocally() {
		c.rows = nil
	}
	status := c.filter(ctx, c.nodes[i])
	switch {
	case status.IsSuccess() && c.rows != nil:
		return c.scoreNode(ctx, i)
	case status.IsSuccess():
		return nil
	case !status.IsRejected():
		return status.AsError()
	}
	c.nodes = slices.Delete(c.nodes, i, i+1)
	if c.rows != nil {
		c.rows = slices.Delete(c.rows, i, i+1)
	}
	return nil
}
