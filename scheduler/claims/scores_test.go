package claims

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/result"
)

// scored has the experiment for one kind of result.PluginScoreFacts.
type scored struct {
	// fields are those whose claims the experiment tries.
	fields string
	try    func(*lab, *result.ScoreFacts, *result.PluginScoreFacts)
}

// The agreement tests of scheduler/recorder/comparison compute each raw score again from the facts. Here, the input changes in the cluster, and
// the fact and the score must move as claimed.
var scores = map[string]scored{
	"Resources": {"Strategy Shape Resources.Name Resources.Weight Resources.Requested Resources.InUse Resources.Allocatable Resources.Own Resources.OwnContainers" +
		" Resources.Defaults.Amount Resources.Defaults.Containers Resources.Defaults.Pods Resources.Defaults.PodsDropped Resources.Defaults.Described", (*lab).scoredResources},
	"Images":      {"Containers ClusterNodes Images.Name Images.Times Images.Size Images.Nodes", (*lab).scoredImages},
	"Preferences": {"Terms.Source Terms.Weight Terms.Requirements.Key Terms.Requirements.Operator Terms.Requirements.Values Terms.Met", (*lab).scoredPreferences},
	"Taints":      {"Taints.Key Taints.Value Taints.On", (*lab).scoredTaints},
	"Spread": {"Source Constraints.TopologyKey Constraints.MaxSkew Constraints.Selector Constraints.Domains Constraints.Domain Constraints.Matching Ignored Lowest Highest",
		(*lab).scoredSpread},
	"PodTerms": {"HardWeight Domains.TopologyKey Domains.Domain Domains.Sum Terms.Rule Terms.TopologyKey Terms.Weight Terms.Selector Terms.Pods", (*lab).scoredPodTerms},
	"Volumes":  {"Shape Classes.StorageClass Classes.Requested Classes.Capacity", (*lab).scoredVolumes},
	"Devices":  {"Requests.Claim Requests.Request Requests.Alternatives Requests.Chosen", (*lab).scoredDevices},
}

func (l *lab) examineScores() {
	if l.cycle.Score == nil || l.cycle.Score.Facts == nil {
		return
	}
	facts := l.cycle.Score.Facts
	for i := range facts.Plugins {
		for name, s := range scores {
			if listed(&facts.Plugins[i], name) {
				s.try(l, facts, &facts.Plugins[i])
			}
		}
	}
}

// factsNow returns the facts and the raw scores of a plugin in the present state, nil if the node is not scored.
func (l *lab) factsNow(plugin, node string) (f *result.PluginScoreFacts, at int, raw int64) {
	l.Helper()
	cycle := l.decide(l.pod)
	if cycle.Score == nil || cycle.Score.Facts == nil {
		return nil, 0, 0
	}
	f = cycle.Score.Facts.Of(plugin)
	at = slices.Index(cycle.Score.Facts.Nodes, node)
	if f == nil || at < 0 {
		return nil, 0, 0
	}
	return f, at, rawOf(cycle, plugin, node)
}

func rawOf(c *result.Cycle, plugin, node string) int64 {
	p := slices.IndexFunc(c.Score.Plugins, func(s result.ScorePlugin) bool { return s.Name == plugin })
	return c.Score.Raw[p].At(c.Score.Nodes.Index(node))
}

// scoredResources: "0.6 in use". Without the node's pods, nothing is in use; what the node has is what is said.
func (l *lab) scoredResources(f *result.ScoreFacts, p *result.PluginScoreFacts) {
	for i, node := range f.Nodes {
		for _, r := range p.Resources.Resources {
			l.claim("score Resources", r, func() error {
				if r.Allocatable[i] != 0 && r.Allocatable[i] != amountOf(l.nodeNamed(node).Status.Allocatable, r.Name) {
					return fmt.Errorf("%s has %d", node, amountOf(l.nodeNamed(node).Status.Allocatable, r.Name))
				}
				if r.InUse[i] == 0 {
					return nil
				}
				if r.Defaults != nil && r.Defaults[i] != nil {
					if err := l.scoreDefaults(node, r.Name, r.Defaults[i]); err != nil {
						return err
					}
				}
				left := r.InUse[i]
				for _, pod := range l.on(node) {
					if pod.Spec.NodeName == "" {
						continue
					}
					l.remove(pod.Namespace, pod.Name)
					now, at, _ := l.factsNow(p.Plugin, node)
					if now == nil {
						return errUntried
					}
					j := slices.IndexFunc(now.Resources.Resources, func(o result.ScoredResource) bool { return o.Name == r.Name })
					if j < 0 {
						return errUntried
					}
					if now.Resources.Resources[j].InUse[at] > left {
						return fmt.Errorf("without %s, more is in use: %d", pod.Name, now.Resources.Resources[j].InUse[at])
					}
					left = now.Resources.Resources[j].InUse[at]
				}
				if left != 0 {
					return fmt.Errorf("without pods, %d is in use on %s", left, node)
				}
				return nil
			})
		}
	}
}

// scoredImages: without the image on the node, its size is 0 there.
func (l *lab) scoredImages(f *result.ScoreFacts, p *result.PluginScoreFacts) {
	for i, node := range f.Nodes {
		for _, image := range p.Images.Images {
			l.claim("score Images", image, func() error {
				if image.Size[i] == 0 {
					return nil
				}
				have := int64(0)
				for _, n := range l.trial.Nodes() {
					if slices.ContainsFunc(n.Node().Status.Images, func(i v1.ContainerImage) bool { return slices.Contains(i.Names, image.Name) }) {
						have++
					}
				}
				if image.Nodes[i] != have {
					return fmt.Errorf("%d nodes have it", have)
				}
				l.changeNode(node, func(n *v1.Node) { n.Status.Images = nil })
				now, at, raw := l.factsNow(p.Plugin, node)
				if now == nil {
					return errUntried
				}
				if raw > rawOf(l.cycle, p.Plugin, node) {
					return fmt.Errorf("without the image the score is higher: %d", raw)
				}
				for _, after := range now.Images.Images {
					if after.Name == image.Name && after.Size[at] != 0 {
						return fmt.Errorf("without it, it is there")
					}
				}
				return nil
			})
		}
	}
}

// scoredPreferences: a node that meets a term gets its weight, and loses it with the label.
func (l *lab) scoredPreferences(f *result.ScoreFacts, p *result.PluginScoreFacts) {
	for i, node := range f.Nodes {
		sum := int64(0)
		for _, t := range p.Preferences.Terms {
			if t.Met[i] {
				sum += t.Weight
			}
		}
		l.claim("score Preferences", p, func() error {
			if raw := rawOf(l.cycle, p.Plugin, node); raw != sum {
				return fmt.Errorf("the score of %s is %d, not %d", node, raw, sum)
			}
			return nil
		})
		for j, t := range p.Preferences.Terms {
			l.claim("score Preferences", t, func() error {
				n := l.nodeNamed(node)
				for _, r := range t.Requirements {
					if !meets(n, result.TermComparison{Key: r.Key, Operator: r.Operator, Values: r.Values}, !t.Met[i]) {
						return errUntried
					}
					if t.Met[i] {
						break
					}
				}
				l.set(n)
				now, at, _ := l.factsNow(p.Plugin, node)
				if now == nil || len(t.Requirements) > 1 && !t.Met[i] {
					return errUntried // another filter, or the requirements contradict each other
				}
				if now.Preferences.Terms[j].Met[at] == t.Met[i] {
					return fmt.Errorf("with the opposite label it is the same on %s", node)
				}
				return nil
			})
		}
	}
}

// scoredTaints: without the taint the score falls by one.
func (l *lab) scoredTaints(f *result.ScoreFacts, p *result.PluginScoreFacts) {
	for i, node := range f.Nodes {
		for _, t := range p.Taints.Taints {
			l.claim("score Taints", t, func() error {
				taint := result.Taint{Key: t.Key, Value: t.Value, Effect: string(v1.TaintEffectPreferNoSchedule)}
				if l.hasTaint(node, taint) != t.On[i] {
					return fmt.Errorf("that is not so on %s", node)
				}
				before := rawOf(l.cycle, p.Plugin, node)
				if t.On[i] {
					l.dropTaint(node, taint)
				} else {
					l.changeNode(node, func(n *v1.Node) {
						n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffectPreferNoSchedule})
					})
				}
				cycle := l.decide(l.pod)
				if cycle.Score == nil {
					return errUntried
				}
				if after := rawOf(cycle, p.Plugin, node); after-before != map[bool]int64{true: -1, false: 1}[t.On[i]] {
					return fmt.Errorf("the score of %s changes from %d to %d", node, before, after)
				}
				return nil
			})
		}
	}
}

// scoredSpread: another matching pod in the domain is counted.
func (l *lab) scoredSpread(f *result.ScoreFacts, p *result.PluginScoreFacts) {
	for i, node := range f.Nodes {
		for j, c := range p.Spread.Constraints {
			l.claim("score Spread", c, func() error {
				if err := l.domainIs(node, c.TopologyKey, c.Domain[i]); err != nil {
					return err
				}
				if c.Domain[i] == nil {
					return nil
				}
				selector, err := labels.Parse(c.Selector)
				l.must(err)
				newcomer, ok := l.podLike("newcomer", l.pod.Namespace, node, selector)
				if !ok {
					return errUntried
				}
				l.set(newcomer)
				now, at, _ := l.factsNow(p.Plugin, node)
				if now == nil {
					return errUntried
				}
				if got := now.Spread.Constraints[j].Matching[at]; got != c.Matching[i]+1 {
					return fmt.Errorf("with one more on %s, %d match", node, got)
				}
				return nil
			})
		}
	}
}

// scoredPodTerms: with one more pod that a preferred term selects, the score changes by its weight.
func (l *lab) scoredPodTerms(f *result.ScoreFacts, p *result.PluginScoreFacts) {
	for i, node := range f.Nodes {
		l.claim("score PodTerms", p, func() error {
			sum := int64(0)
			for _, d := range p.PodTerms.Domains {
				sum += d.Sum[i]
			}
			if raw := rawOf(l.cycle, p.Plugin, node); raw != sum {
				return fmt.Errorf("the score of %s is %d, not %d", node, raw, sum)
			}
			return nil
		})
		for _, t := range p.PodTerms.Terms {
			l.claim("score PodTerms", t, func() error { return l.scoredPodTerm(p, t, node, i) })
		}
	}
}

func (l *lab) scoredPodTerm(p *result.PluginScoreFacts, t result.ScoredPodTerm, node string, i int) error {
	domain := l.label(node, t.TopologyKey)
	if domain == nil {
		if t.Pods[i] != 0 {
			return fmt.Errorf("pods are counted for a node outside every domain")
		}
		return nil
	}
	if t.Rule != result.Preferred {
		// Without the pods of the domain none has the term.
		for _, other := range l.on(l.domain(t.TopologyKey, *domain)...) {
			l.remove(other.Namespace, other.Name)
		}
		now, at, _ := l.factsNow(p.Plugin, node)
		if now == nil {
			return nil
		}
		for _, after := range now.PodTerms.Terms {
			if after.Rule == t.Rule && after.TopologyKey == t.TopologyKey && after.Pods[at] != 0 {
				return fmt.Errorf("without the pods of the domain, %d have it", after.Pods[at])
			}
		}
		return nil
	}
	own := preferred(l.pod, t)
	if own == nil {
		return fmt.Errorf("the pod has no such term")
	}
	matching := int64(0)
	for _, other := range l.on(l.domain(t.TopologyKey, *domain)...) {
		if other.Spec.NodeName != "" && l.matchesTerms([]v1.PodAffinityTerm{*own}, other) {
			matching++
		}
	}
	if matching != t.Pods[i] {
		return fmt.Errorf("%d pods match in the domain of %s", matching, node)
	}
	newcomer, ok := l.matchingPod([]v1.PodAffinityTerm{*own}, node)
	if !ok {
		return errUntried
	}
	l.set(newcomer)
	cycle := l.decide(l.pod)
	if cycle.Score == nil || cycle.Score.Nodes.Index(node) < 0 {
		return errUntried
	}
	if d := rawOf(cycle, p.Plugin, node) - rawOf(l.cycle, p.Plugin, node); d != t.Weight && len(preferredTerms(l.pod)) == 1 {
		return fmt.Errorf("with one more pod the score of %s changes by %d", node, d)
	}
	return nil
}

func preferredTerms(p *v1.Pod) (out []v1.WeightedPodAffinityTerm) {
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		out = append(out, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, t := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			t.Weight = -t.Weight
			out = append(out, t)
		}
	}
	return out
}

// preferred returns the pod's own term.
func preferred(p *v1.Pod, t result.ScoredPodTerm) *v1.PodAffinityTerm {
	for _, own := range preferredTerms(p) {
		s, err := metav1.LabelSelectorAsSelector(own.PodAffinityTerm.LabelSelector)
		if err == nil && int64(own.Weight) == t.Weight && own.PodAffinityTerm.TopologyKey == t.TopologyKey && s.String() == t.Selector {
			return &own.PodAffinityTerm
		}
	}
	return nil
}

// scoredVolumes: what the claims of a class want is what is said.
func (l *lab) scoredVolumes(f *result.ScoreFacts, p *result.PluginScoreFacts) {
	for i, node := range f.Nodes {
		for _, class := range p.Volumes.Classes {
			l.claim("score Volumes", class, func() error {
				want := int64(0)
				for _, v := range l.pod.Spec.Volumes {
					if v.PersistentVolumeClaim == nil {
						continue
					}
					o, err := l.trial.Get(v1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), l.pod.Namespace, v.PersistentVolumeClaim.ClaimName)
					l.must(err)
					if c := o.(*v1.PersistentVolumeClaim); *c.Spec.StorageClassName == class.StorageClass {
						want += c.Spec.Resources.Requests.Storage().Value()
					}
				}
				if class.Requested[i] != 0 && class.Requested[i] != want {
					return fmt.Errorf("the claims want %d on %s", want, node)
				}
				if class.Requested[i] > 0 && class.Capacity[i] < class.Requested[i] {
					return fmt.Errorf("it does not fit on %s", node)
				}
				return nil
			})
		}
	}
}

// scoredDevices: the alternative that is chosen is the first that the node has devices for.
func (l *lab) scoredDevices(f *result.ScoreFacts, p *result.PluginScoreFacts) {
	for i, node := range f.Nodes {
		for _, r := range p.Devices.Requests {
			l.claim("score Devices", r, func() error {
				if r.Chosen[i] <= 0 {
					return nil
				}
				// With devices for every alternative, it is the first.
				l.giveDevices(node, 3)
				now, at, _ := l.factsNow(names.DynamicResources, node)
				if now == nil || now.Devices == nil {
					return errUntried
				}
				for _, after := range now.Devices.Requests {
					if after.Claim == r.Claim && after.Request == r.Request && after.Chosen[at] != 0 {
						return fmt.Errorf("with more devices, alternative %d is chosen on %s", after.Chosen[at], node)
					}
				}
				return nil
			})
		}
	}
}
