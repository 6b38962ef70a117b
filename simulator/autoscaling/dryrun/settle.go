package dryrun

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

// maxAlternatives bounds the domains, or combinations of them, that a pod has an order of.
const maxAlternatives = 64

// settle returns copies of pods for which Karpenter chooses no domain at random.
//
// For a pod that spreads over zones Karpenter takes one of those that are used least, whichever a Go map yields first; for a pod whose
// affinity is to itself it takes any. settle gives each such pod the domains in an order, least used first and then by name, in a way
// that Karpenter tries one after the other: as the places of a volume, which narrow the node that is looked for, but not what the
// spread counts. So each domain is still judged by Karpenter's own count; only which of the equal ones comes first is settled. The last
// place is anywhere.
//
// The order follows where the pods before probably go, for these are not placed yet. Where that is wrong, and maxSkew is above 1, a
// domain may be taken that is not the least used. It is one that the spread permits.
func (r *run) settle(pods []*v1.Pod) []*v1.Pod {
	settled := make([]*v1.Pod, len(pods))
	for i, pod := range pods {
		settled[i] = pod.DeepCopy()
	}
	s := settling{run: r, moving: map[types.UID]bool{}, domains: map[string][]string{}, counts: map[string]*counted{}}
	for _, pod := range pods {
		s.moving[pod.UID] = true
	}
	for _, pod := range inQueue(settled) {
		if places := s.places(pod); len(places) > 0 {
			r.prefer(pod, places)
		}
	}
	return settled
}

// inQueue returns pods in the order in which Karpenter takes them.
func inQueue(pods []*v1.Pod) []*v1.Pod {
	pods = slices.Clone(pods)
	requests := map[*v1.Pod]v1.ResourceList{}
	for _, pod := range pods {
		requests[pod] = resources.RequestsForPods(pod)
	}
	slices.SortFunc(pods, func(a, b *v1.Pod) int {
		x, y := requests[a], requests[b]
		return cmp.Or(y.Cpu().Cmp(*x.Cpu()), y.Memory().Cmp(*x.Memory()),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(string(a.UID), string(b.UID)))
	})
	return pods
}

type settling struct {
	*run
	moving  map[types.UID]bool  // the pods that are placed, and so not counted where they are
	domains map[string][]string // by the key of the topology, sorted
	counts  map[string]*counted
}

// counted is how many pods that a selector matches are in each domain of a topology.
type counted struct {
	topology, namespace string
	selector            labels.Selector
	in                  map[string]int
}

// freedom is a topology in which Karpenter chooses a domain for a pod.
type freedom struct {
	topology string
	counted  *counted // nil if nothing is counted
}

// places returns the places of a pod in order, each as the values of some labels; none if Karpenter has no choice.
func (s *settling) places(pod *v1.Pod) (places []map[string]string) {
	strict := requirements.NewStrictPodRequirements(pod)
	places = []map[string]string{{}}
	for _, f := range s.freedoms(pod) {
		var domains []string
		for _, d := range s.domainsOf(f.topology) {
			if strict.Get(f.topology).Has(d) {
				domains = append(domains, d)
			}
		}
		if len(domains) < 2 || len(places)*len(domains) > maxAlternatives {
			continue
		}
		if f.counted != nil {
			slices.SortStableFunc(domains, func(a, b string) int { return cmp.Compare(f.counted.in[a], f.counted.in[b]) })
		}
		s.record(pod, f.topology, domains[0])
		var finer []map[string]string
		for _, place := range places {
			for _, d := range domains {
				one := maps.Clone(place)
				one[f.topology] = d
				finer = append(finer, one)
			}
		}
		places = finer
	}
	if len(places) == 1 {
		return nil
	}
	return places
}

// record counts a pod where it probably goes.
func (s *settling) record(pod *v1.Pod, topology, domain string) {
	for _, c := range s.counts {
		if c.topology == topology && c.namespace == pod.Namespace && c.selector.Matches(labels.Set(pod.Labels)) {
			c.in[domain]++
		}
	}
}

func (s *settling) freedoms(pod *v1.Pod) (all []freedom) {
	seen := map[string]bool{v1.LabelHostname: true} // a new node is a domain of its own there
	add := func(topology string, of *counted) {
		if !seen[topology] {
			seen[topology] = true
			all = append(all, freedom{topology, of})
		}
	}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		add(c.TopologyKey, s.count(pod, c))
	}
	if pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAffinity != nil {
		for _, term := range pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			add(term.TopologyKey, nil)
		}
		for _, term := range pod.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			add(term.PodAffinityTerm.TopologyKey, nil)
		}
	}
	return all
}

// count counts the pods of a constraint that are on nodes.
func (s *settling) count(pod *v1.Pod, of v1.TopologySpreadConstraint) *counted {
	selector, err := metav1.LabelSelectorAsSelector(of.LabelSelector)
	if err != nil {
		selector = labels.Nothing()
	}
	for _, key := range of.MatchLabelKeys {
		if value, has := pod.Labels[key]; has {
			selector = labels.NewSelector().Add(requirementsOf(selector)...).Add(requirementsOf(labels.SelectorFromSet(labels.Set{key: value}))...)
		}
	}
	key := of.TopologyKey + "|" + pod.Namespace + "|" + selector.String()
	if known := s.counts[key]; known != nil {
		return known
	}
	c := &counted{of.TopologyKey, pod.Namespace, selector, map[string]int{}}
	s.counts[key] = c
	for _, p := range s.pods.all {
		node := s.nodes.byKey[client.ObjectKey{Name: p.Spec.NodeName}]
		if node == nil || s.moving[p.UID] || p.Namespace != pod.Namespace || podutils.IsTerminal(p) || podutils.IsTerminating(p) || !selector.Matches(labels.Set(p.Labels)) {
			continue
		}
		if domain, has := node.Labels[of.TopologyKey]; has {
			c.in[domain]++
		}
	}
	return c
}

func requirementsOf(s labels.Selector) labels.Requirements {
	all, _ := s.Requirements()
	return all
}

// domainsOf returns the values that nodes have or could have of a label.
func (s *settling) domainsOf(topology string) []string {
	if known, ok := s.domains[topology]; ok {
		return known
	}
	found := map[string]bool{}
	add := func(r requirements.Requirements) {
		if one, has := r[topology]; has && one.Operator() == v1.NodeSelectorOpIn {
			for _, value := range one.Values() {
				found[value] = true
			}
		}
	}
	for _, p := range s.pools {
		if p.never == nil {
			add(p.template.Requirements)
		}
		for _, of := range p.types {
			add(of.Requirements)
		}
	}
	for _, node := range s.nodes.all {
		if value, has := node.Labels[topology]; has {
			found[value] = true
		}
	}
	s.domains[topology] = slices.Sorted(maps.Keys(found))
	return s.domains[topology]
}

// prefer gives a pod a bound claim whose volume can be in any of the places, in their order, and at last anywhere.
func (r *run) prefer(pod *v1.Pod, places []map[string]string) {
	volume := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("order-of-%s", pod.UID)}}
	// Karpenter passes over the name of the node that has a local volume, so that such a term demands nothing.
	volume.Spec.Local = &v1.LocalVolumeSource{}
	var terms []v1.NodeSelectorTerm
	for _, place := range places {
		var term v1.NodeSelectorTerm
		for _, key := range slices.Sorted(maps.Keys(place)) {
			term.MatchExpressions = append(term.MatchExpressions, v1.NodeSelectorRequirement{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{place[key]}})
		}
		terms = append(terms, term)
	}
	terms = append(terms, v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpExists}}})
	volume.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: terms}}
	claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: volume.Name}}
	claim.Spec.VolumeName = volume.Name
	r.volumes.add(volume)
	r.claims.add(claim)
	source := v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}
	pod.Spec.Volumes = append([]v1.Volume{{Name: "order", VolumeSource: source}}, pod.Spec.Volumes...)
}
