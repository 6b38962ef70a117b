package claims

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// compared has the experiments for one list of result.Comparison.
type compared struct {
	// fields are those of an element whose claims the experiments try.
	fields string
	// rejected is for nodes that the plugin rejected, and passed for those that it let through; nil if the list is never set there.
	rejected, passed func(*lab, *result.Comparison)
}

var comparisons = map[string]compared{
	"Resources": {"Name Requested InUse Allocatable" + useFields, (*lab).shortResources, nil},
	"Taint":     {"Key Value Effect", (*lab).untoleratedTaint, nil},
	"Tolerated": {"Taint.Key Taint.Value Taint.Effect By.Key By.Operator By.Value By.Effect", nil, (*lab).toleratedTaints},
	"Terms":     {"Source Volume Claim Term Key Operator Values Actual", (*lab).unmetTerms, (*lab).metTerms},
	"PodTerms":  {"Rule TopologyKey Domain Selector SelectsNone Namespaces NamespaceCount NamespaceSelector Pod PodNode Pods First Terms Match.Pod Match.Node Match.Domain Match.All NoneMatches", (*lab).violatedPodTerms, (*lab).keptPodTerms},
	"Spread":    {"TopologyKey Domain Selector Matching Minimum Maximum Here Domains MinDomains Fewest.Name Fewest.Nodes Fewest.NodeCount FewestCount NodeAffinityPolicy NodeTaintsPolicy Self MaxSkew", (*lab).violatedSpread, (*lab).keptSpread},
	"Ports":     {"Protocol HostIP Port", (*lab).takenPorts, (*lab).freePorts},
	"Claims":    {"Claim StorageClass Requested Provisionable Largest Volume Bound Missing", (*lab).unboundClaims, (*lab).boundClaims},
	"Devices": {"Resource Claim Request DeviceClass Count Matching MatchingInUse Blocked Drivers.Driver Drivers.OnNode Drivers.InUse Allocated.Request Allocated.Driver Allocated.Pool Allocated.Device",
		(*lab).shortDevices, (*lab).gotDevices},
	"Alignment": {"Role Container Zones.Zone Zones.Short.Resource Zones.Short.Requested Zones.Short.Available Zones.Short.Absent ZonesDropped", (*lab).unaligned, nil},
	"Aligned":   {"Role Container Zone", nil, (*lab).aligned},
	"Limits":    {"Driver InUse Requested Limit Missing", (*lab).fullLimits, (*lab).openLimits},
	"Volumes":   {"Volume Claim InUse Pod", (*lab).usedVolumes, (*lab).unusedVolumes},
	"Features":  {"Name Declared", (*lab).missingFeatures, (*lab).declaredFeatures},
	// What the plugin would say without the pods of the node.
	"WithoutPods": {"", (*lab).withoutPods, nil},
}

func (l *lab) examineComparisons() {
	f := l.cycle.Filter
	if f == nil {
		return
	}
	for i := range f.Comparisons {
		for name, c := range comparisons {
			if c.rejected != nil && listed(&f.Comparisons[i], name) {
				c.rejected(l, &f.Comparisons[i])
			}
		}
	}
	if f.Passes == nil {
		return
	}
	l.passedResources(f.Passes)
	for i := range f.Passes.Comparisons {
		for name, c := range comparisons {
			if c.passed != nil && listed(&f.Passes.Comparisons[i], name) {
				c.passed(l, &f.Passes.Comparisons[i])
			}
		}
	}
}

// compare returns what the plugin compares for the node now, and whether it rejects it.
func (l *lab) compare(pod *v1.Pod, plugin, node string) (c *result.Comparison, rejected bool) {
	l.Helper()
	cycle := l.decide(pod)
	if cycle.Filter == nil {
		return nil, true
	}
	for _, list := range [][]result.Comparison{cycle.Filter.Comparisons, passesOf(cycle)} {
		for i := range list {
			if list[i].Plugin == plugin && list[i].Node == node {
				return &list[i], i < len(cycle.Filter.Comparisons) && &list[i] == &cycle.Filter.Comparisons[i]
			}
		}
	}
	return nil, l.rejects(pod, plugin, node) != nil
}

func passesOf(c *result.Cycle) []result.Comparison {
	if c.Filter == nil || c.Filter.Passes == nil {
		return nil
	}
	return c.Filter.Passes.Comparisons
}

// shortResources: "cpu: 1.5 in use + 1 requested = 2.5 of 2, 0.5 short". With so much more on the node, or so much less in the request,
// it is not short; with a hair less it is.
func (l *lab) shortResources(c *result.Comparison) {
	for _, r := range c.Resources {
		l.claim("comparison Resources rejected", c, func() error { return l.resourceIs(c.Plugin, c.Node, r) })
		if r.Use != nil {
			l.claim("comparison Resources use", c, func() error { return l.use(c.Node, r) })
		}
	}
}

// passedResources: what the node has is at least what is requested and in use.
func (l *lab) passedResources(p *result.Passes) {
	for _, r := range p.Resources {
		for i, node := range p.Nodes {
			if r.InUse[i] == 0 && r.Allocatable[i] == 0 {
				continue
			}
			one := result.ResourceComparison{Name: r.Name, Requested: r.Requested, InUse: r.InUse[i], Allocatable: r.Allocatable[i]}
			kind := "passes Resources"
			if slices.ContainsFunc(l.on(node), func(p *v1.Pod) bool { return p.Spec.NodeName == "" && priority(p) >= priority(l.pod) }) {
				kind += " beside nominated pods"
			}
			l.claim(kind, one, func() error {
				if one.Requested+one.InUse > one.Allocatable {
					return fmt.Errorf("%s: more is requested than there is", node)
				}
				return l.resourceIs(names.NodeResourcesFit, node, one)
			})
		}
	}
}

func (l *lab) resourceIs(plugin, node string, r result.ResourceComparison) error {
	lacks := func(pod *v1.Pod) bool { return lacks(l.rejects(pod, plugin, node), r.Name) }
	n := l.nodeNamed(node)
	if can := amountOf(n.Status.Allocatable, r.Name); can != r.Allocatable {
		return fmt.Errorf("%s has %d", node, can)
	}
	give := func(amount int64) { l.changeNode(node, func(n *v1.Node) { setAmount(n, r.Name, amount) }) }
	if give(r.Requested + r.InUse); lacks(l.pod) {
		return fmt.Errorf("%s lacks it with %d", node, r.Requested+r.InUse)
	}
	if give(r.Requested + r.InUse - 1); !lacks(l.pod) {
		return fmt.Errorf("%s does not lack it with %d", node, r.Requested+r.InUse-1)
	}
	if r.Name != string(v1.ResourcePods) {
		give(r.InUse + r.Requested)
		// A plain pod with the same request is treated alike, and a hair more is too much.
		if lacks(l.asking(r.Name, r.Requested)) {
			return fmt.Errorf("%s lacks it for a plain request of %d", node, r.Requested)
		}
		if !lacks(l.asking(r.Name, r.Requested+1)) {
			return fmt.Errorf("%s does not lack it for a request of %d", node, r.Requested+1)
		}
	}
	for _, p := range l.on(node) {
		l.remove(p.Namespace, p.Name)
	}
	if give(r.Requested); lacks(l.pod) {
		return fmt.Errorf("%s without pods lacks it with %d", node, r.Requested)
	}
	if give(r.Requested - 1); !lacks(l.pod) {
		return fmt.Errorf("%s without pods does not lack it with %d", node, r.Requested-1)
	}
	return nil
}

// lacks reports whether NodeResourcesFit says that a node lacks a resource, in its own words.
func lacks(o *whatif.Obstacle, resource string) bool {
	if o == nil {
		return false
	}
	if resource == string(v1.ResourcePods) {
		return slices.Contains(o.Reasons, "Too many pods")
	}
	return slices.Contains(o.Reasons, "Insufficient "+resource)
}

func amountOf(list v1.ResourceList, name string) int64 {
	q := list[v1.ResourceName(name)]
	if name == string(v1.ResourceCPU) {
		return q.MilliValue()
	}
	return q.Value()
}

func quantity(name string, amount int64) resource.Quantity {
	if name == string(v1.ResourceCPU) {
		return *resource.NewMilliQuantity(amount, resource.DecimalSI)
	}
	return *resource.NewQuantity(amount, resource.DecimalSI)
}

func setAmount(n *v1.Node, name string, amount int64) {
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = v1.ResourceList{}
	}
	n.Status.Allocatable[v1.ResourceName(name)], n.Status.Capacity[v1.ResourceName(name)] = quantity(name, amount), quantity(name, amount)
}

// asking returns the pod with a single container that requests only so much of one resource.
func (l *lab) asking(name string, amount int64) *v1.Pod {
	return l.as(func(p *v1.Pod) {
		claims := p.Spec.Containers[0].Resources.Claims
		p.Spec.InitContainers, p.Spec.Overhead, p.Spec.RuntimeClassName, p.Spec.Resources = nil, nil, nil, nil
		p.Spec.Containers = p.Spec.Containers[:1]
		list := v1.ResourceList{v1.ResourceName(name): quantity(name, amount)}
		p.Spec.Containers[0].Resources = v1.ResourceRequirements{Requests: list, Limits: list, Claims: claims}
	})
}

// untoleratedTaint: "the pod does not tolerate team=red:NoSchedule". Tolerating exactly that, the pod is let through or the next taint is named.
func (l *lab) untoleratedTaint(c *result.Comparison) {
	l.claim("comparison Taint rejected", c, func() error {
		tolerating := l.as(func(p *v1.Pod) {
			t := v1.Toleration{Key: c.Taint.Key, Operator: v1.TolerationOpEqual, Value: c.Taint.Value, Effect: v1.TaintEffect(c.Taint.Effect)}
			p.Spec.Tolerations = append(p.Spec.Tolerations, t)
		})
		if o := l.rejects(tolerating, c.Plugin, c.Node); o != nil && (o.Comparison == nil || o.Comparison.Taint == nil || *o.Comparison.Taint == *c.Taint) {
			return fmt.Errorf("tolerating it, the pod is rejected: %v", o.Reasons)
		}
		if c.Plugin == names.NodeUnschedulable {
			if l.changeNode(c.Node, func(n *v1.Node) { n.Spec.Unschedulable = false }); l.rejects(l.pod, c.Plugin, c.Node) != nil {
				return fmt.Errorf("uncordoned, the node is rejected")
			}
			return nil
		}
		for l.hasTaint(c.Node, *c.Taint) {
			l.dropTaint(c.Node, *c.Taint)
		}
		o := l.rejects(l.pod, c.Plugin, c.Node)
		if o != nil && *o.Comparison.Taint == *c.Taint {
			return fmt.Errorf("without it, it is named")
		}
		return nil
	})
}

func sameTaint(t v1.Taint, as result.Taint) bool {
	return t.Key == as.Key && t.Value == as.Value && string(t.Effect) == as.Effect
}

func (l *lab) hasTaint(node string, taint result.Taint) bool {
	return slices.ContainsFunc(l.nodeNamed(node).Spec.Taints, func(t v1.Taint) bool { return sameTaint(t, taint) })
}

func (l *lab) dropTaint(node string, taint result.Taint) {
	l.changeNode(node, func(n *v1.Node) {
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return sameTaint(t, taint) })
	})
}

// toleratedTaints: "tolerated by …". Without tolerations the node is rejected, and with that one alone the taint is tolerated.
func (l *lab) toleratedTaints(c *result.Comparison) {
	for _, t := range c.Tolerated {
		l.claim("comparison Tolerated passed", c, func() error {
			if c.Plugin != names.NodeUnschedulable && !l.hasTaint(c.Node, t.Taint) {
				return fmt.Errorf("the node has no such taint")
			}
			if l.rejects(l.as(func(p *v1.Pod) { p.Spec.Tolerations = nil }), c.Plugin, c.Node) == nil {
				return fmt.Errorf("without tolerations the node is let through")
			}
			alone := l.as(func(p *v1.Pod) {
				p.Spec.Tolerations = []v1.Toleration{{Key: t.By.Key, Operator: v1.TolerationOperator(t.By.Operator), Value: t.By.Value, Effect: v1.TaintEffect(t.By.Effect)}}
			})
			if o := l.rejects(alone, c.Plugin, c.Node); o != nil && *o.Comparison.Taint == t.Taint {
				return fmt.Errorf("with that toleration alone the taint is not tolerated")
			}
			return nil
		})
	}
}

// label returns a node's value.
func (l *lab) label(node, key string) *string {
	if key == metav1.ObjectNameField {
		return &node
	}
	if value, ok := l.nodeNamed(node).Labels[key]; ok {
		return &value
	}
	return nil
}

// meets changes a label so that the requirement is met, or is not. It reports false if that is impossible.
func meets(n *v1.Node, t result.TermComparison, meet bool) bool {
	if t.Key == "" || t.Key == metav1.ObjectNameField {
		return false
	}
	number := func(by int) string {
		i, _ := strconv.Atoi(t.Values[0])
		return strconv.Itoa(i + by)
	}
	set := func(value string) { n.Labels[t.Key] = value }
	switch v1.NodeSelectorOperator(t.Operator) {
	case v1.NodeSelectorOpIn:
		if meet {
			set(t.Values[0])
		} else {
			delete(n.Labels, t.Key)
		}
	case v1.NodeSelectorOpNotIn:
		if meet {
			delete(n.Labels, t.Key)
		} else {
			set(t.Values[0])
		}
	case v1.NodeSelectorOpExists:
		if meet {
			set("something")
		} else {
			delete(n.Labels, t.Key)
		}
	case v1.NodeSelectorOpDoesNotExist:
		if meet {
			delete(n.Labels, t.Key)
		} else {
			set("something")
		}
	case v1.NodeSelectorOpGt:
		if meet {
			set(number(1))
		} else {
			set(number(0))
		}
	case v1.NodeSelectorOpLt:
		if meet {
			set(number(-1))
		} else {
			set(number(0))
		}
	default:
		return false
	}
	return true
}

func sameTerm(a, b result.TermComparison) bool {
	return a.Source == b.Source && a.Volume == b.Volume && a.Claim == b.Claim && a.Term == b.Term && a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
}

func (l *lab) actual(c *result.Comparison, t result.TermComparison) error {
	if t.Key == "" {
		return nil
	}
	if is := l.label(c.Node, t.Key); (is == nil) != (t.Actual == nil) || is != nil && *is != *t.Actual {
		return fmt.Errorf("%s of %s is %v", t.Key, c.Node, ptr.Deref(is, "absent"))
	}
	return nil
}

// unmetTerms: "the node's disk is hdd, not ssd". With a label that meets it, it is no longer named. If the node meets all that is named of one
// alternative of every source, it is let through.
func (l *lab) unmetTerms(c *result.Comparison) {
	for _, t := range c.Terms {
		l.claim("comparison Terms rejected", t, func() error {
			if err := l.actual(c, t); err != nil || t.Source == "nodeName" || t.Key == metav1.ObjectNameField || t.Key == "" {
				return err
			}
			l.changeNode(c.Node, func(n *v1.Node) { meets(n, t, true) })
			o := l.rejects(l.pod, c.Plugin, c.Node)
			if o != nil && o.Comparison != nil && slices.ContainsFunc(o.Comparison.Terms, func(other result.TermComparison) bool { return sameTerm(other, t) }) {
				return fmt.Errorf("it is named although the node meets it")
			}
			return nil
		})
	}
	l.claim("comparison Terms rejected", c, func() error {
		first, keys := map[string]int{}, map[string]bool{}
		n := l.nodeNamed(c.Node)
		for _, t := range c.Terms {
			source := t.Source + "/" + t.Claim + "/" + t.Volume
			if _, seen := first[source]; !seen {
				first[source] = t.Term
			}
			if first[source] != t.Term {
				continue
			}
			if keys[t.Key] || t.Source == "claim" || t.Source == "nodeName" {
				return errUntried // one change may undo the other
			}
			if keys[t.Key] = true; !meets(n, t, true) {
				return errUntried
			}
		}
		l.set(n)
		o := l.rejects(l.pod, c.Plugin, c.Node)
		if o == nil {
			return nil
		}
		if o.Comparison == nil || slices.ContainsFunc(o.Comparison.Terms, func(other result.TermComparison) bool {
			return !keys[other.Key] && first[other.Source+"/"+other.Claim+"/"+other.Volume] == other.Term && !changes(c.Terms, other)
		}) {
			return fmt.Errorf("the node meets all that is named of one alternative, and is rejected: %v", o.Reasons)
		}
		return nil
	})
}

// changes reports whether a label that a list is about decides another requirement too.
func changes(list []result.TermComparison, other result.TermComparison) bool {
	return slices.ContainsFunc(list, func(t result.TermComparison) bool { return t.Key == other.Key || t.Source != other.Source })
}

// metTerms: "the node's disk is ssd, as required". With another label the node is rejected, or it meets another alternative.
func (l *lab) metTerms(c *result.Comparison) {
	for _, t := range c.Terms {
		l.claim("comparison Terms passed", t, func() error {
			if err := l.actual(c, t); err != nil || t.Source == "claim" {
				return err
			}
			n := l.nodeNamed(c.Node)
			if !meets(n, t, false) {
				return nil
			}
			l.set(n)
			after, rejected := l.compare(l.pod, c.Plugin, c.Node)
			if rejected {
				return nil
			}
			if after != nil && slices.ContainsFunc(after.Terms, func(other result.TermComparison) bool { return sameTerm(other, t) }) {
				return fmt.Errorf("it is said to be met although the node does not meet it")
			}
			if t.Source == "nodeSelector" {
				return fmt.Errorf("the node does not meet the node selector and is let through")
			}
			return nil
		})
	}
}

// withoutPods: "removing the pods here would make room", or would not. The pods are removed.
func (l *lab) withoutPods(c *result.Comparison) {
	l.claim("comparison WithoutPods rejected: "+string(c.WithoutPods)+" "+c.Plugin, c, func() error {
		for _, p := range l.on(c.Node) {
			if p.Spec.NodeName == c.Node {
				l.remove(p.Namespace, p.Name)
			}
		}
		o := l.rejects(l.pod, c.Plugin, c.Node)
		if passes := c.WithoutPods == result.PassesWithoutPods; passes != (o == nil) {
			return fmt.Errorf("without the pods there, the plugin lets the node through: %v", o == nil)
		}
		return nil
	})
}

// whereItMatches: "no pod on any node matches", "default/first does, but its node has no label zone", "it matches this term, but not
// all".
func (l *lab) whereItMatches(t result.PodTermComparison) error {
	terms := l.pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	matchesThis := func(p *v1.Pod) bool {
		return slices.ContainsFunc(terms, func(term v1.PodAffinityTerm) bool {
			s, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
			l.must(err)
			return term.TopologyKey == t.TopologyKey && s.String() == t.Selector && l.matchesTerms([]v1.PodAffinityTerm{term}, p)
		})
	}
	for _, p := range l.trial.Pods() {
		switch {
		case p.Spec.NodeName == "" || p.UID == l.pod.UID:
		case t.NoneMatches && len(terms) == 1 && matchesThis(p):
			return fmt.Errorf("%s/%s matches", p.Namespace, p.Name)
		case t.NoneMatches && l.matchesTerms(terms, p):
			return fmt.Errorf("%s/%s matches all terms", p.Namespace, p.Name)
		case t.Match != nil && !t.Match.All && l.matchesTerms(terms, p):
			return fmt.Errorf("%s/%s matches all terms", p.Namespace, p.Name)
		case t.Match != nil && p.UID == t.Match.Pod.UID:
			if p.Spec.NodeName != t.Match.Node || !matchesThis(p) || t.Match.All && !l.matchesTerms(terms, p) {
				return fmt.Errorf("%s/%s on %s does not match", p.Namespace, p.Name, p.Spec.NodeName)
			}
			if err := l.domainIs(t.Match.Node, t.TopologyKey, t.Match.Domain); err != nil {
				return err
			}
		}
	}
	return nil
}

// violatedPodTerms: "p2 matches app=x in the zone". Without the pods that are named the term holds, and a pod is named as long as the node is rejected.
func (l *lab) violatedPodTerms(c *result.Comparison) {
	for _, t := range c.PodTerms {
		l.claim("comparison PodTerms rejected "+t.Rule, t, func() error {
			if err := l.domainIs(c.Node, t.TopologyKey, t.Domain); err != nil {
				return err
			}
			if t.Rule != "affinity" {
				return l.withoutNamed(c, t)
			}
			if err := l.whereItMatches(t); err != nil {
				return err
			}
			if t.Domain == nil {
				l.changeNode(c.Node, func(n *v1.Node) { n.Labels[t.TopologyKey] = "new" })
			}
			matching, ok := l.matchingPod(l.pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, c.Node)
			if !ok {
				return errUntried
			}
			l.set(matching)
			after, rejected := l.compare(l.pod, c.Plugin, c.Node)
			if rejected && slices.ContainsFunc(after.PodTerms, func(o result.PodTermComparison) bool {
				return o.Rule == t.Rule && o.TopologyKey == t.TopologyKey && o.Selector == t.Selector
			}) {
				return fmt.Errorf("with a pod on the node that matches every term, the term is not met")
			}
			return nil
		})
	}
}

// withoutNamed removes the pods that are named until none is.
func (l *lab) withoutNamed(c *result.Comparison, t result.PodTermComparison) error {
	if t.Pod == nil {
		return fmt.Errorf("no pod is named")
	}
	removed := map[types.UID]bool{}
	for named := c; ; {
		for _, term := range named.PodTerms {
			if term.Rule == "affinity" {
				return nil
			}
			if term.Pod == nil {
				return fmt.Errorf("after %d pods are gone, the node is rejected and no pod is named", len(removed))
			}
			if removed[term.Pod.UID] {
				continue
			}
			if removed[term.Pod.UID] = true; !l.remove(term.Pod.Namespace, term.Pod.Name) {
				return fmt.Errorf("%s does not exist", term.Pod.Name)
			}
		}
		o := l.rejects(l.pod, c.Plugin, c.Node)
		if o == nil {
			return nil
		}
		if o.Comparison == nil {
			return fmt.Errorf("after %d pods are gone, the node is rejected without a reason", len(removed))
		}
		if slices.ContainsFunc(o.Comparison.PodTerms, func(term result.PodTermComparison) bool { return term.Pod != nil && removed[term.Pod.UID] }) {
			return fmt.Errorf("a pod that is gone is named")
		}
		named = o.Comparison
	}
}

func (l *lab) domainIs(node, key string, domain *string) error {
	if is := l.label(node, key); (is == nil) != (domain == nil) || is != nil && *is != *domain {
		return fmt.Errorf("%s of %s is %s", key, node, ptr.Deref(is, "absent"))
	}
	return nil
}

// podLike returns a pod on a node with labels that a selector wants. It reports false if the selector wants what this does not know.
func (l *lab) podLike(name, namespace, node string, selectors ...labels.Selector) (*v1.Pod, bool) {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{}}}
	p.Spec = v1.PodSpec{NodeName: node, SchedulerName: v1.DefaultSchedulerName, Priority: ptr.To[int32](0), Containers: []v1.Container{{Name: "main", Image: "image-a:1"}}}
	for _, s := range selectors {
		requirements, _ := s.Requirements()
		for _, r := range requirements {
			if values := r.ValuesUnsorted(); len(values) > 0 {
				p.Labels[r.Key()] = values[0]
			} else if _, set := p.Labels[r.Key()]; !set {
				p.Labels[r.Key()] = "x"
			}
		}
	}
	for _, s := range selectors {
		if !s.Matches(labels.Set(p.Labels)) {
			return nil, false
		}
	}
	return p, true
}

// matchingPod returns a pod on a node that matches all terms of the pod.
func (l *lab) matchingPod(terms []v1.PodAffinityTerm, node string) (*v1.Pod, bool) {
	var selectors []labels.Selector
	common := map[string]bool{"default": true, "blue": true, "green": true}
	for i := range terms {
		s, err := metav1.LabelSelectorAsSelector(terms[i].LabelSelector)
		l.must(err)
		selectors = append(selectors, s)
		for name := range common {
			common[name] = common[name] && selectsNamespace(&terms[i], l.pod.Namespace, name)
		}
	}
	for _, name := range []string{"default", "blue", "green"} {
		if common[name] {
			return l.podLike("newcomer", name, node, selectors...)
		}
	}
	return nil, false
}

func selectsNamespace(t *v1.PodAffinityTerm, own, namespace string) bool {
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return namespace == own
	}
	if slices.Contains(t.Namespaces, namespace) {
		return true
	}
	if t.NamespaceSelector == nil {
		return false
	}
	s, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	set := labels.Set{v1.LabelMetadataName: namespace}
	for k, v := range namespaces[namespace] {
		set[k] = v
	}
	return err == nil && s.Matches(set)
}

// matchesTerms reports whether a pod matches all terms.
func (l *lab) matchesTerms(terms []v1.PodAffinityTerm, p *v1.Pod) bool {
	for i := range terms {
		s, err := metav1.LabelSelectorAsSelector(terms[i].LabelSelector)
		l.must(err)
		if !s.Matches(labels.Set(p.Labels)) || !selectsNamespace(&terms[i], l.pod.Namespace, p.Namespace) {
			return false
		}
	}
	return true
}

// keptPodTerms: "2 pods match", "no pod of the cluster matches yet, and this one does", "none of these is in the zone".
func (l *lab) keptPodTerms(c *result.Comparison) {
	for _, t := range c.PodTerms {
		l.claim("comparison PodTerms passed "+t.Rule, t, func() error {
			if err := l.domainIs(c.Node, t.TopologyKey, t.Domain); err != nil {
				return err
			}
			switch {
			case t.Rule == "affinity" && t.First:
				if err := l.whereItMatches(t); err != nil {
					return err
				}
				return l.firstOfItsGroup(c, t)
			case t.Rule == "affinity":
				return l.countedPods(c, t)
			case t.Rule == "antiAffinity":
				return l.clashing(c, t)
			}
			return nil
		})
	}
}

// firstOfItsGroup: no pod matches, and a pod that matches elsewhere keeps this one off the node.
func (l *lab) firstOfItsGroup(c *result.Comparison, t result.PodTermComparison) error {
	terms := l.pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for _, p := range l.trial.Pods() {
		if p.Spec.NodeName == "" || p.UID == l.pod.UID || !l.matchesTerms(terms, p) {
			continue
		}
		for i := range terms {
			if l.label(p.Spec.NodeName, terms[i].TopologyKey) != nil {
				return fmt.Errorf("%s/%s on %s matches all terms", p.Namespace, p.Name, p.Spec.NodeName)
			}
		}
	}
	if l.rejects(l.as(func(p *v1.Pod) { p.Labels = nil }), c.Plugin, c.Node) == nil && !l.matchesTerms(terms, l.as(func(p *v1.Pod) { p.Labels = nil })) {
		return fmt.Errorf("a pod that does not match its own terms is let through")
	}
	elsewhere := ""
	for _, name := range l.nodes() {
		if label := l.label(name, t.TopologyKey); label != nil && t.Domain != nil && *label != *t.Domain {
			elsewhere = name
		}
	}
	matching, ok := l.matchingPod(terms, elsewhere)
	if elsewhere == "" || !ok {
		return nil
	}
	if l.set(matching); l.rejects(l.pod, c.Plugin, c.Node) == nil {
		return fmt.Errorf("with a pod that matches on %s, the node is let through", elsewhere)
	}
	return nil
}

// countedPods: without the pods that match, the count is 0.
func (l *lab) countedPods(c *result.Comparison, t result.PodTermComparison) error {
	terms := l.pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	matching := int64(0)
	for _, p := range l.on(l.domain(t.TopologyKey, *t.Domain)...) {
		if !l.matchesTerms(terms, p) || p.Spec.NodeName == "" {
			continue
		}
		matching++
		l.remove(p.Namespace, p.Name)
	}
	if matching != t.Pods {
		return fmt.Errorf("%d pods match", matching)
	}
	after, rejected := l.compare(l.pod, c.Plugin, c.Node)
	if rejected || after == nil {
		return nil
	}
	for _, o := range after.PodTerms {
		if o.Rule == "affinity" && o.TopologyKey == t.TopologyKey && o.Pods > 0 {
			return fmt.Errorf("without them %d match", o.Pods)
		}
	}
	return nil
}

// clashing: a pod that matches the term keeps this one off the node.
func (l *lab) clashing(c *result.Comparison, t result.PodTermComparison) error {
	terms := l.pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for i := range terms {
		s, err := metav1.LabelSelectorAsSelector(terms[i].LabelSelector)
		l.must(err)
		if s.String() != t.Selector || terms[i].TopologyKey != t.TopologyKey || t.Domain == nil {
			continue
		}
		for _, p := range l.on(l.domain(t.TopologyKey, *t.Domain)...) {
			if p.Spec.NodeName != "" && l.matchesTerms(terms[i:i+1], p) {
				return fmt.Errorf("%s/%s matches", p.Namespace, p.Name)
			}
		}
		matching, ok := l.matchingPod(terms[i:i+1], c.Node)
		if !ok {
			return errUntried
		}
		if l.set(matching); l.rejects(l.pod, c.Plugin, c.Node) == nil {
			return fmt.Errorf("beside a pod that matches, the node is let through")
		}
		return nil
	}
	return nil
}

// constraint returns the pod's constraint over a key.
func constraint(p *v1.Pod, key string) *v1.TopologySpreadConstraint {
	for i := range p.Spec.TopologySpreadConstraints {
		if c := &p.Spec.TopologySpreadConstraints[i]; c.TopologyKey == key && c.WhenUnsatisfiable == v1.DoNotSchedule {
			return c
		}
	}
	return nil
}

func (l *lab) spreadOf(pod *v1.Pod, node, key string) (found *result.SpreadComparison, rejected bool) {
	c, rejected := l.compare(pod, names.PodTopologySpread, node)
	if c == nil {
		return nil, rejected
	}
	for i := range c.Spread {
		if c.Spread[i].TopologyKey == key {
			return &c.Spread[i], rejected
		}
	}
	return nil, rejected
}

// violatedSpread: "2 + 1 for this pod − 0 in the domain with the fewest = 3; maxSkew is 1". With a maxSkew of 3 the constraint is met, with one of 2 it is not.
func (l *lab) violatedSpread(c *result.Comparison) {
	for _, s := range c.Spread {
		if err := l.domainIs(c.Node, s.TopologyKey, s.Domain); err != nil || s.Domain == nil {
			l.claim("comparison Spread rejected", s, func() error { return l.unlabelled(c, s, err) })
			continue
		}
		l.claim("comparison Spread rejected", s, func() error {
			skew := int32(s.Matching + s.Self - s.Minimum)
			allowing := func(skew int32) *v1.Pod { return l.as(func(p *v1.Pod) { constraint(p, s.TopologyKey).MaxSkew = skew }) }
			if skew <= int32(s.MaxSkew) || constraint(l.pod, s.TopologyKey).MaxSkew != int32(s.MaxSkew) {
				return fmt.Errorf("the constraint is not violated")
			}
			if o := l.rejects(allowing(skew), c.Plugin, c.Node); o != nil && o.Comparison != nil && o.Comparison.Spread[0].TopologyKey == s.TopologyKey {
				return fmt.Errorf("with a maxSkew of %d it is violated", skew)
			}
			if skew > 1 {
				if o := l.rejects(allowing(skew-1), c.Plugin, c.Node); o == nil || o.Comparison == nil || o.Comparison.Spread[0].TopologyKey != s.TopologyKey {
					return fmt.Errorf("with a maxSkew of %d it is met", skew-1)
				}
			}
			return nil
		})
		l.claim("comparison Spread counts", s, func() error { return l.countedSpread(c.Node, s) })
		l.claim("comparison Spread minimum", s, func() error { return l.minimumOf(c.Node, s) })
	}
}

// minimumOf: "zone=c has the fewest: 0", and another matching pod there changes that. "2 domains are eligible, fewer than minDomains 3":
// with a minDomains of 2 there are enough.
func (l *lab) minimumOf(node string, s result.SpreadComparison) error {
	if s.Domains < s.MinDomains {
		enough := l.as(func(p *v1.Pod) { constraint(p, s.TopologyKey).MinDomains = ptr.To(int32(s.Domains)) })
		if after, _ := l.spreadOf(enough, node, s.TopologyKey); s.Minimum != 0 || s.Domains > 0 && after != nil && after.Domains != s.Domains {
			return fmt.Errorf("the minimum is %d", s.Minimum)
		}
		return nil
	}
	if s.FewestCount != 1 || s.Fewest[0].NodeCount != len(s.Fewest[0].Nodes) {
		return errUntried
	}
	mark := l.trial.Mark()
	for _, on := range s.Fewest[0].Nodes { // Some of them may not count.
		l.trial.Rollback(mark)
		if !l.addMatching(s.TopologyKey, on, "newcomer") {
			return errUntried
		}
		after, _ := l.spreadOf(l.pod, node, s.TopologyKey)
		if after == nil || after.Minimum > s.Minimum {
			return nil
		}
	}
	return fmt.Errorf("with another matching pod in %s the minimum is the same", s.Fewest[0].Name)
}

// unlabelled: "the node has no label zone". With the label, something else is said of the node.
func (l *lab) unlabelled(c *result.Comparison, s result.SpreadComparison, err error) error {
	if err != nil {
		return err
	}
	l.changeNode(c.Node, func(n *v1.Node) { n.Labels[s.TopologyKey] = "new" })
	o := l.rejects(l.pod, c.Plugin, c.Node)
	if o != nil && o.Comparison != nil && o.Comparison.Spread[0].TopologyKey == s.TopologyKey && o.Comparison.Spread[0].Domain == nil {
		return fmt.Errorf("it is said of a node that has the label")
	}
	return nil
}

func (l *lab) keptSpread(c *result.Comparison) {
	for _, s := range c.Spread {
		l.claim("comparison Spread passed", s, func() error {
			if err := l.domainIs(c.Node, s.TopologyKey, s.Domain); err != nil || s.Domain == nil {
				return err
			}
			if s.Matching+s.Self-s.Minimum > s.MaxSkew {
				return fmt.Errorf("the constraint is violated")
			}
			more := s.MaxSkew - (s.Matching + s.Self - s.Minimum) + 1
			for i := range more {
				if !l.addMatching(s.TopologyKey, c.Node, fmt.Sprint("newcomer-", i)) {
					return errUntried
				}
			}
			after, rejected := l.spreadOf(l.pod, c.Node, s.TopologyKey)
			if after == nil {
				return nil // another constraint is violated
			}
			if !rejected && after.Minimum == s.Minimum {
				return fmt.Errorf("with %d more pods in the domain it is not violated", more)
			}
			return nil
		})
		l.claim("comparison Spread counts", s, func() error {
			if s.Domain == nil {
				return errUntried
			}
			return l.countedSpread(c.Node, s)
		})
	}
}

// addMatching adds a pod on a node that a constraint of the pod counts.
func (l *lab) addMatching(key, node, name string) bool {
	c := constraint(l.pod, key)
	s, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	l.must(err)
	matching, ok := l.podLike(name, l.pod.Namespace, node, s)
	if !ok {
		return false
	}
	for _, key := range c.MatchLabelKeys {
		if value, has := l.pod.Labels[key]; has {
			matching.Labels[key] = value
		}
	}
	l.set(matching)
	return true
}

// countedSpread removes the matching pods of the domain one by one: each time the count falls by one, down to 0.
func (l *lab) countedSpread(node string, s result.SpreadComparison) error {
	c := constraint(l.pod, s.TopologyKey)
	selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	l.must(err)
	counts := func(p *v1.Pod) bool {
		if p.Namespace != l.pod.Namespace || !selector.Matches(labels.Set(p.Labels)) {
			return false
		}
		for _, key := range c.MatchLabelKeys {
			if value, has := l.pod.Labels[key]; has && p.Labels[key] != value {
				return false
			}
		}
		return true
	}
	left := s.Matching
	for _, p := range l.on(l.domain(s.TopologyKey, *s.Domain)...) {
		if !counts(p) {
			continue
		}
		l.remove(p.Namespace, p.Name)
		after, _ := l.spreadOf(l.pod, node, s.TopologyKey)
		if after == nil {
			return errUntried // another constraint is violated first
		}
		if after.Matching != left && after.Matching != left-1 {
			return fmt.Errorf("without %s/%s, %d match", p.Namespace, p.Name, after.Matching)
		}
		left = after.Matching
	}
	if left != 0 {
		return fmt.Errorf("without all that match, %d match", left)
	}
	return nil
}

// takenPorts: "8080/TCP is in use". Without the pods that use the port it is free, and the pod passes without its own.
func (l *lab) takenPorts(c *result.Comparison) {
	for _, port := range c.Ports {
		l.claim("comparison Ports rejected", port, func() error {
			named := func(pod *v1.Pod) bool {
				o := l.rejects(pod, c.Plugin, c.Node)
				return o != nil && slices.Contains(o.Comparison.Ports, port)
			}
			if named(l.as(func(p *v1.Pod) { dropPort(p, port) })) {
				return fmt.Errorf("a pod that does not want it is kept off")
			}
			for _, p := range l.on(c.Node) {
				if uses(p, port) {
					l.remove(p.Namespace, p.Name)
				}
			}
			if named(l.pod) {
				return fmt.Errorf("without the pods that use it, it is in use")
			}
			return nil
		})
	}
}

func uses(p *v1.Pod, port result.Port) bool {
	return slices.ContainsFunc(p.Spec.Containers, func(c v1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(own v1.ContainerPort) bool {
			return own.HostPort == port.Port && string(own.Protocol) == port.Protocol
		})
	})
}

func dropPort(p *v1.Pod, port result.Port) {
	for i := range p.Spec.Containers {
		p.Spec.Containers[i].Ports = slices.DeleteFunc(p.Spec.Containers[i].Ports, func(own v1.ContainerPort) bool {
			return own.HostPort == port.Port && string(own.Protocol) == port.Protocol
		})
	}
}

// freePorts: a pod that takes the port keeps this one off.
func (l *lab) freePorts(c *result.Comparison) {
	for _, port := range c.Ports {
		l.claim("comparison Ports passed", port, func() error {
			if !uses(l.pod, port) {
				return fmt.Errorf("the pod does not want it")
			}
			other, _ := l.podLike("newcomer", "default", c.Node)
			other.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: port.Port, HostPort: port.Port, Protocol: v1.Protocol(port.Protocol)}}
			if l.set(other); l.rejects(l.pod, c.Plugin, c.Node) == nil {
				return fmt.Errorf("beside a pod that uses it, the node is let through")
			}
			return nil
		})
	}
}

// unboundClaims: "no volume of 3Gi is left that the node can reach", "the largest that can be made is 1Gi", "the volume does not exist".
func (l *lab) unboundClaims(c *result.Comparison) {
	for _, claim := range c.Claims {
		l.claim("comparison Claims rejected", claim, func() error {
			named := func() bool {
				o := l.rejects(l.pod, c.Plugin, c.Node)
				return o != nil && o.Comparison != nil && slices.ContainsFunc(o.Comparison.Claims, func(other result.ClaimComparison) bool { return other.Claim == claim.Claim })
			}
			switch {
			case claim.Missing:
				if _, err := l.trial.Get(v1.SchemeGroupVersion.WithKind("PersistentVolume"), "", claim.Volume); err == nil {
					return fmt.Errorf("the volume exists")
				}
				l.set(newVolume(claim.Volume, claim.StorageClass, claim.Requested))
			case claim.Provisionable:
				if claim.Largest >= claim.Requested {
					return fmt.Errorf("a volume that is large enough can be made")
				}
				can := func(size int64) {
					l.set(&storagev1.CSIStorageCapacity{
						ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "new"}, StorageClassName: claim.StorageClass,
						NodeTopology: &metav1.LabelSelector{MatchLabels: l.nodeNamed(c.Node).Labels}, Capacity: resource.NewQuantity(size, resource.BinarySI),
					})
				}
				if can(claim.Requested - 1); !named() {
					return fmt.Errorf("a volume one byte too small is large enough")
				}
				can(claim.Requested)
			default:
				if l.set(newVolume("new", claim.StorageClass, claim.Requested-1)); !named() {
					return fmt.Errorf("a volume one byte too small is large enough")
				}
				l.set(newVolume("new", claim.StorageClass, claim.Requested))
			}
			if named() {
				return fmt.Errorf("with the volume it is named")
			}
			return nil
		})
	}
}

func newVolume(name, class string, size int64) *v1.PersistentVolume {
	pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pv.Spec = v1.PersistentVolumeSpec{
		StorageClassName: class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce, v1.ReadWriteMany, v1.ReadWriteOncePod}, VolumeMode: ptr.To(v1.PersistentVolumeFilesystem),
		Capacity:               v1.ResourceList{v1.ResourceStorage: *resource.NewQuantity(size, resource.BinarySI)},
		PersistentVolumeSource: v1.PersistentVolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/new"}},
	}
	pv.Status.Phase = v1.VolumeAvailable
	return pv
}

// boundClaims: "bound to pv1", "can be bound to pv1", "a volume can be made".
func (l *lab) boundClaims(c *result.Comparison) {
	for _, claim := range c.Claims {
		l.claim("comparison Claims passed", claim, func() error {
			o, err := l.trial.Get(v1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), l.pod.Namespace, claim.Claim)
			l.must(err)
			pvc := o.(*v1.PersistentVolumeClaim)
			if pvc.Spec.Resources.Requests.Storage().Value() != claim.Requested || claim.Bound != (pvc.Spec.VolumeName != "") || ptr.Deref(pvc.Spec.StorageClassName, "") != claim.StorageClass {
				return fmt.Errorf("the claim is another one: %v", pvc.Spec)
			}
			if claim.Volume == "" {
				if !claim.Provisionable {
					return fmt.Errorf("no volume is named, and none can be made")
				}
				if claim.Largest > 0 && claim.Largest < claim.Requested {
					return fmt.Errorf("none so large can be made")
				}
				l.apply(whatif.Change{Delete: &whatif.ObjectRef{GVK: storagev1.SchemeGroupVersion.WithKind("StorageClass"), Name: claim.StorageClass}})
				if l.rejects(l.pod, c.Plugin, c.Node) == nil {
					return fmt.Errorf("without the class the node is let through")
				}
				return nil
			}
			l.apply(whatif.Change{Delete: &whatif.ObjectRef{GVK: v1.SchemeGroupVersion.WithKind("PersistentVolume"), Name: claim.Volume}})
			after, rejected := l.compare(l.pod, c.Plugin, c.Node)
			if !rejected && after != nil && slices.ContainsFunc(after.Claims, func(o result.ClaimComparison) bool { return o.Claim == claim.Claim && o.Volume == claim.Volume }) {
				return fmt.Errorf("without the volume, it is named")
			}
			if !rejected && claim.Bound {
				return fmt.Errorf("without the volume the node is let through")
			}
			return nil
		})
	}
}

// fullLimits: "1 in use + 1 of the pod of 1". With a limit of 2 the node is let through, and with one less it is not.
func (l *lab) fullLimits(c *result.Comparison) {
	for _, limit := range c.Limits {
		l.claim("comparison Limits rejected", limit, func() error {
			if limit.Missing {
				return errUntried
			}
			return l.limitIs(c, limit)
		})
	}
}

func (l *lab) openLimits(c *result.Comparison) {
	for _, limit := range c.Limits {
		l.claim("comparison Limits passed", limit, func() error {
			if limit.Limit == nil || limit.Requested == 0 {
				return errUntried
			}
			return l.limitIs(c, limit)
		})
	}
}

func (l *lab) limitIs(c *result.Comparison, limit result.VolumeLimit) error {
	allow := func(n int) {
		o, err := l.trial.Get(storagev1.SchemeGroupVersion.WithKind("CSINode"), "", c.Node)
		l.must(err)
		on := o.(*storagev1.CSINode).DeepCopy()
		for i := range on.Spec.Drivers {
			if on.Spec.Drivers[i].Name == limit.Driver {
				on.Spec.Drivers[i].Allocatable = &storagev1.VolumeNodeResources{Count: ptr.To(int32(n))}
			}
		}
		l.set(on)
	}
	full := func() bool {
		o := l.rejects(l.pod, c.Plugin, c.Node)
		return o != nil && o.Comparison != nil && slices.ContainsFunc(o.Comparison.Limits, func(other result.VolumeLimit) bool { return other.Driver == limit.Driver })
	}
	if allow(limit.InUse + limit.Requested); full() {
		return fmt.Errorf("with a limit of %d the node is full", limit.InUse+limit.Requested)
	}
	if allow(limit.InUse + limit.Requested - 1); !full() {
		return fmt.Errorf("with a limit of %d the node is not full", limit.InUse+limit.Requested-1)
	}
	for _, p := range l.on(c.Node) {
		l.remove(p.Namespace, p.Name)
	}
	l.detach(func(a storagev1.VolumeAttachmentSpec) bool { return a.NodeName == c.Node })
	if allow(limit.Requested); full() && limit.InUse > 0 {
		return fmt.Errorf("without pods, and with a limit of %d, the node is full", limit.Requested)
	}
	return nil
}

// usedVolumes: "p2 uses it". Without the pod it is free, or another pod is named.
func (l *lab) usedVolumes(c *result.Comparison) {
	for _, v := range c.Volumes {
		l.claim("comparison Volumes rejected", v, func() error {
			if !v.InUse {
				return fmt.Errorf("it is not in use, and the node is rejected")
			}
			named := func() *result.ExclusiveVolume {
				o := l.rejects(l.pod, c.Plugin, c.Node)
				if o == nil || o.Comparison == nil {
					return nil
				}
				if i := slices.IndexFunc(o.Comparison.Volumes, func(other result.ExclusiveVolume) bool { return other.Volume == v.Volume }); i >= 0 {
					return &o.Comparison.Volumes[i]
				}
				return nil
			}
			if v.Pod != nil {
				if l.remove(v.Pod.Namespace, v.Pod.Name); named() != nil && named().Pod != nil && named().Pod.UID == v.Pod.UID {
					return fmt.Errorf("a pod that is gone is named")
				}
			}
			if v.Claim != "" {
				for _, p := range l.trial.Pods() {
					if p.UID != l.pod.UID && p.Spec.NodeName != "" {
						l.remove(p.Namespace, p.Name)
					}
				}
			} else {
				for _, p := range l.on(c.Node) {
					l.remove(p.Namespace, p.Name)
				}
			}
			if named() != nil {
				return fmt.Errorf("without other pods it is in use")
			}
			return nil
		})
	}
}

// unusedVolumes: beside a pod that uses the volume, the node is rejected.
func (l *lab) unusedVolumes(c *result.Comparison) {
	for _, v := range c.Volumes {
		l.claim("comparison Volumes passed", v, func() error {
			i := slices.IndexFunc(l.pod.Spec.Volumes, func(own v1.Volume) bool { return own.Name == v.Volume })
			if i < 0 {
				return fmt.Errorf("the pod has no such volume")
			}
			other, _ := l.podLike("newcomer", l.pod.Namespace, c.Node)
			other.Spec.Volumes = []v1.Volume{l.pod.Spec.Volumes[i]}
			if l.set(other); l.rejects(l.pod, c.Plugin, c.Node) == nil {
				return fmt.Errorf("beside a pod that uses it, the node is let through")
			}
			return nil
		})
	}
}

// shortDevices: "2 gpu wanted; 3 match, 2 of them in use". With as many more as are missing the request is met, and with one fewer it is not.
func (l *lab) shortDevices(c *result.Comparison) {
	for _, d := range c.Devices {
		l.claim("comparison Devices rejected", d, func() error {
			if d.Resource != "" || d.Blocked || strings.Contains(d.Request, "/") || !l.poolsAreComplete() {
				return errUntried // an alternative need not be met
			}
			missing := d.Count - int64(d.Matching-d.MatchingInUse)
			if missing <= 0 || d.DeviceClass == "fabric" {
				return nil // met, together with others it is not
			}
			enough := func() bool {
				o := l.rejects(l.pod, c.Plugin, c.Node)
				if o == nil || o.Comparison == nil {
					return o == nil
				}
				i := slices.IndexFunc(o.Comparison.Devices, func(other result.DeviceComparison) bool { return other.Claim == d.Claim && other.Request == d.Request })
				return i < 0 || o.Comparison.Devices[i].Enough()
			}
			if l.giveDevices(c.Node, int(missing-1)); enough() {
				return fmt.Errorf("with %d more the request is met", missing-1)
			}
			if l.giveDevices(c.Node, int(missing)); !enough() {
				return fmt.Errorf("with %d more the request is not met", missing)
			}
			return nil
		})
		l.claim("comparison Devices in use", d, func() error { return l.devicesInUse(c, d) })
	}
}

// devicesInUse: without other claims, none of the matching devices is in use.
func (l *lab) devicesInUse(c *result.Comparison, d result.DeviceComparison) error {
	if d.Resource != "" {
		return errUntried
	}
	held := 0
	claims, err := l.trial.List(resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"))
	l.must(err)
	for _, o := range claims {
		claim := o.(*resourcev1.ResourceClaim)
		if claim.Status.Allocation == nil || claim.Namespace == l.pod.Namespace && claim.Name == claimName(l.pod, d.Claim) {
			continue
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			if s := l.sliceOf(r.Pool); s != nil && (s.Spec.NodeName == nil || *s.Spec.NodeName == c.Node) && deviceMatches(s, r.Device, d.DeviceClass) {
				held++
			}
		}
	}
	if held != d.MatchingInUse {
		return fmt.Errorf("other claims hold %d that match", held)
	}
	return nil
}

func claimName(p *v1.Pod, name string) string {
	for _, s := range p.Status.ResourceClaimStatuses {
		if s.Name == name {
			return ptr.Deref(s.ResourceClaimName, "")
		}
	}
	for _, c := range p.Spec.ResourceClaims {
		if c.Name == name && c.ResourceClaimName != nil {
			return *c.ResourceClaimName
		}
	}
	return name
}

func (l *lab) sliceOf(pool string) *resourcev1.ResourceSlice {
	o, err := l.trial.Get(resourcev1.SchemeGroupVersion.WithKind("ResourceSlice"), "", pool)
	if err != nil {
		return nil
	}
	return o.(*resourcev1.ResourceSlice)
}

func deviceMatches(s *resourcev1.ResourceSlice, device, class string) bool {
	i := slices.IndexFunc(s.Spec.Devices, func(d resourcev1.Device) bool { return d.Name == device })
	if i < 0 {
		return false
	}
	switch class {
	case "fabric":
		return s.Spec.Driver == fabricDriver
	case "gpu":
		return s.Spec.Driver == gpuDriver
	}
	return s.Spec.Driver == gpuDriver && *s.Spec.Devices[i].Attributes["size"].StringValue == "large"
}

// poolsAreComplete reports whether all drivers have published all slices. The scheduler does not allocate devices of an incomplete pool,
// though they match.
func (l *lab) poolsAreComplete() bool {
	all, err := l.trial.List(resourcev1.SchemeGroupVersion.WithKind("ResourceSlice"))
	l.must(err)
	return !slices.ContainsFunc(all, func(o runtime.Object) bool { return o.(*resourcev1.ResourceSlice).Spec.Pool.ResourceSliceCount > 1 })
}

// giveDevices gives the node so many more devices that match every class but fabric.
func (l *lab) giveDevices(node string, n int) {
	s := newSlice("more-"+node, gpuDriver, node)
	for i := range n {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("more-", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"size": {StringValue: ptr.To("large")},
		}})
	}
	l.set(s)
}

// gotDevices: the devices that the request would get exist for the node, match, and are free; without all that match it is not met.
func (l *lab) gotDevices(c *result.Comparison) {
	for _, d := range c.Devices {
		l.claim("comparison Devices passed", d, func() error {
			for _, a := range d.Allocated {
				s := l.sliceOf(a.Pool)
				if s == nil || s.Spec.Driver != a.Driver || s.Spec.NodeName != nil && *s.Spec.NodeName != c.Node || !deviceMatches(s, a.Device, d.DeviceClass) {
					return fmt.Errorf("%s of %s is none for this", a.Device, a.Pool)
				}
			}
			if len(d.Allocated) == 0 || strings.Contains(d.Request, "/") {
				return nil
			}
			if int64(len(d.Allocated)) != d.Count {
				return fmt.Errorf("%d devices are named", len(d.Allocated))
			}
			for _, a := range d.Allocated {
				s := l.sliceOf(a.Pool).DeepCopy()
				s.Spec.Devices = slices.DeleteFunc(s.Spec.Devices, func(own resourcev1.Device) bool { return own.Name == a.Device })
				l.set(s)
			}
			rejected := l.rejects(l.pod, c.Plugin, c.Node) != nil
			if free := int64(d.Matching-d.MatchingInUse) - d.Count; rejected != (free < d.Count) && len(c.Devices) == 1 && l.poolsAreComplete() {
				return fmt.Errorf("without them, of %d that are free: rejected is %t", free, rejected)
			}
			return nil
		})
		l.claim("comparison Devices in use", d, func() error { return l.devicesInUse(c, d) })
	}
}
