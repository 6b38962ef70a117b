package comparison

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/util"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler/result"
)

// ---- NodeResourcesFit

// cards are devices that DynamicResources provides as a resource.
const cards = "cards.example.com/card"

// cardClass maps cards to a device class.
type cardClass struct{ fwk.SharedDRAManager }

func (c cardClass) DeviceClassResolver() fwk.DeviceClassResolver { return c }
func (cardClass) GetDeviceClass(name v1.ResourceName) *resourceapi.DeviceClass {
	if name == cards {
		return &resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "card"}}
	}
	return nil
}

func TestResourcesAgreeWithThePlugin(t *testing.T) {
	agreement{
		plugin: names.NodeResourcesFit, clusters: 2000,
		generate: func(r random) *cluster {
			c := &cluster{
				gates: gates(r, features.InPlacePodVerticalScalingSchedulerPreemption),
				args: &config.NodeResourcesFitArgs{
					IgnoredResources: one(r, nil, []string{"gpus.example.com/gpu"}), IgnoredResourceGroups: one(r, nil, nil, []string{"tapes.example.com"}),
					ScoringStrategy: &config.ScoringStrategy{Type: config.LeastAllocated, Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}}},
				},
				dra: func(context.Context, *testing.T, informers.SharedInformerFactory) fwk.SharedDRAManager {
					return cardClass{}
				},
				pod: sized(r, "p", ""),
			}
			if r.in(3) {
				for _, gate := range []featuregate.Feature{
					features.PodLevelResources, features.InPlacePodLevelResourcesVerticalScaling,
					features.PodLevelResourcesFixDefaulting, features.PodLevelResourcesFixKubeletQOSClass,
				} {
					c.gates[gate] = false
				}
			}
			for i := range 4 {
				node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}, Status: v1.NodeStatus{Allocatable: amounts(r, 24, 8)}}
				node.Status.Allocatable[v1.ResourcePods] = *resource.NewQuantity(1+r.Int64N(5), resource.DecimalSI)
				c.nodes = append(c.nodes, node)
				for j := range r.IntN(4) {
					c.placed = append(c.placed, living(r, sized(r, fmt.Sprint("on-", i, "-", j), node.Name)))
				}
			}
			if r.in(4) {
				c.nominated = living(r, sized(r, "nominated", ""))
				c.nominated.Status.NominatedNodeName = "n1"
			}
			if running := c.placed; len(running) > 0 && r.in(4) {
				// The pod runs and waits for a resize, of which the cache may know.
				c.pod = one(r, running...).DeepCopy()
				c.pod.Spec.Containers = sized(r, "p", "").Spec.Containers
				c.pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: v1.PodReasonDeferred}}
			}
			return c
		},
		verify: verifyResources,
		// With one unit less than what is requested and in use, the node does not fit.
		passed: func(s *subject, a answer) error {
			all := a
			all.found = a.passed
			for _, r := range a.passed.Resources {
				if r.Name == cards && r.Requested+r.InUse == 1 {
					continue // DynamicResources provides them if the node has none.
				}
				if status := s.filter(s.cluster.pod, larger(all, r.Name)); status.IsSuccess() {
					return fmt.Errorf("with less than what is requested and in use of %s the node fits", r.Name)
				}
			}
			return nil
		},
	}.test(t)
}

func gates(r random, names ...featuregate.Feature) featuregatetesting.FeatureOverrides {
	out := featuregatetesting.FeatureOverrides{}
	for _, name := range names {
		out[name] = r.in(2)
	}
	return out
}

// amounts returns random amounts of random resources: each with a chance of 1 in n to
// be left out.
func amounts(r random, most int64, n int) v1.ResourceList {
	out := v1.ResourceList{}
	for _, name := range []v1.ResourceName{
		v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, "hugepages-2Mi", "gpus.example.com/gpu", "tapes.example.com/tape", cards,
	} {
		if !r.in(n) {
			out[name] = *resource.NewMilliQuantity(1000*r.Int64N(most), resource.DecimalSI)
		}
	}
	return out
}

func sized(r random, name, node string) *v1.Pod {
	p := pod(name, node)
	for range 1 + r.IntN(2) {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Resources: v1.ResourceRequirements{Requests: amounts(r, 3, 2)}})
	}
	if r.in(3) {
		p.Spec.InitContainers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: amounts(r, 4, 2)}}}
	}
	if r.in(3) {
		p.Spec.Resources = &v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("4")}}
	}
	if r.in(4) {
		p.Spec.Overhead = v1.ResourceList{v1.ResourceMemory: resource.MustParse("1")}
	}
	return p
}

// verifyResources checks that the plugin names the same resources, and that the node
// fits once it has exactly what is missing.
func verifyResources(s *subject, a answer) error {
	var named []string
	for _, r := range a.found.Resources {
		named = append(named, r.Name)
	}
	var want []string
	for _, reason := range a.status.Reasons() {
		name, _ := strings.CutPrefix(reason, "Insufficient ")
		if reason == "Too many pods" {
			name = "pods"
		}
		want = append(want, name)
	}
	slices.Sort(named)
	slices.Sort(want)
	if !slices.Equal(named, want) {
		return fmt.Errorf("it names %v", named)
	}
	if status := s.filter(s.cluster.pod, larger(a, "")); !status.IsSuccess() {
		return fmt.Errorf("with what is missing the plugin says %v", status.Reasons())
	}
	for _, r := range a.found.Resources {
		if status := s.filter(s.cluster.pod, larger(a, r.Name)); status.IsSuccess() {
			return fmt.Errorf("with less than what is missing of %s the node fits", r.Name)
		}
	}
	if err := verifyUse(s, a); err != nil {
		return err
	}
	absent, half := 0, 0
	for _, r := range a.found.Resources {
		if r.Allocatable <= 0 {
			absent++
		}
		if 2*(r.Requested+r.InUse-r.Allocatable) > r.Requested {
			half = 1
		}
	}
	return a.isAsFarAs(absent*result.FarAway + half)
}

// larger returns the node with what is missing, but for one unit of a resource.
func larger(a answer, but string) *framework.NodeInfo {
	node := a.node.Node().DeepCopy()
	for _, r := range a.found.Resources {
		allocatable := r.Requested + r.InUse
		if r.Name == but {
			allocatable--
		}
		quantity := resource.NewQuantity(allocatable, resource.DecimalSI)
		if r.Name == string(v1.ResourceCPU) {
			quantity = resource.NewMilliQuantity(allocatable, resource.DecimalSI)
		}
		node.Status.Allocatable[v1.ResourceName(r.Name)] = *quantity
	}
	return withNode(a.node, node)
}

// withNode returns a copy of n with another object.
func withNode(n *framework.NodeInfo, node *v1.Node) *framework.NodeInfo {
	out := n.Snapshot().(*framework.NodeInfo)
	out.SetNode(node)
	return out
}

// ---- TaintToleration

func TestTaintsAgreeWithThePlugin(t *testing.T) {
	taint := func(r random) v1.Taint {
		return v1.Taint{Key: one(r, "a", "b"), Value: one(r, "", "x", "5", "9"), Effect: one(r, v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute, v1.TaintEffectPreferNoSchedule)}
	}
	agreement{
		plugin: names.TaintToleration, clusters: 2000,
		generate: func(r random) *cluster {
			c := &cluster{gates: gates(r, features.TaintTolerationComparisonOperators), pod: pod("p", "")}
			for range r.IntN(4) {
				c.pod.Spec.Tolerations = append(c.pod.Spec.Tolerations, v1.Toleration{
					Key: one(r, "a", "b", ""), Operator: one(r, v1.TolerationOpEqual, v1.TolerationOpExists, "", v1.TolerationOpGt, v1.TolerationOpLt),
					Value: one(r, "", "x", "7"), Effect: one(r, "", v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute),
				})
			}
			for i := range 6 {
				node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}}
				for range r.IntN(4) {
					node.Spec.Taints = append(node.Spec.Taints, taint(r))
				}
				c.nodes = append(c.nodes, node)
			}
			return c
		},
		verify: func(s *subject, a answer) error {
			// Without the taint, the next one is in the way, as often as the distance says.
			removed := 0
			for at := a; !at.status.IsSuccess(); removed++ {
				taint := at.found.Taint
				node := at.node.Node().DeepCopy()
				i := slices.IndexFunc(node.Spec.Taints, func(t v1.Taint) bool {
					return t.Key == taint.Key && t.Value == taint.Value && string(t.Effect) == taint.Effect
				})
				if i < 0 {
					return fmt.Errorf("the node has no taint %v", taint)
				}
				node.Spec.Taints = slices.Delete(node.Spec.Taints, i, i+1)
				at.node = withNode(at.node, node)
				at.status = s.filter(s.cluster.pod, at.node)
				at.found = compare(s.comparer.Begin(nil, s.cluster.pod), nil, at.node)
				if !at.status.IsSuccess() && at.found == nil {
					return fmt.Errorf("it does not name the next taint")
				}
			}
			if float64(removed) != a.distance {
				return fmt.Errorf("%d taints are in the way, the distance is %v", removed, a.distance)
			}
			return nil
		},
		// Without any of the tolerations that are named, the taint is in the way.
		passed: func(s *subject, a answer) error {
			taints := slices.DeleteFunc(slices.Clone(a.node.Node().Spec.Taints), func(t v1.Taint) bool { return t.Effect == v1.TaintEffectPreferNoSchedule })
			if len(taints) != len(a.passed.Tolerated) {
				return fmt.Errorf("of %d taints it names %d", len(taints), len(a.passed.Tolerated))
			}
			for _, tolerated := range a.passed.Tolerated {
				by := v1.Toleration{Key: tolerated.By.Key, Operator: v1.TolerationOperator(tolerated.By.Operator), Value: tolerated.By.Value, Effect: v1.TaintEffect(tolerated.By.Effect)}
				alone := &v1.Node{Spec: v1.NodeSpec{Taints: []v1.Taint{{Key: tolerated.Key, Value: tolerated.Value, Effect: v1.TaintEffect(tolerated.Effect)}}}}
				p := pod("p", "")
				if status := s.filter(p, withNode(a.node, alone)); status.IsSuccess() {
					return fmt.Errorf("without tolerations the plugin lets %v through", tolerated.Taint)
				}
				p.Spec.Tolerations = []v1.Toleration{by}
				if status := s.filter(p, withNode(a.node, alone)); !status.IsSuccess() {
					return fmt.Errorf("%v does not tolerate %v", by, tolerated.Taint)
				}
			}
			return nil
		},
	}.test(t)
}

// ---- NodeAffinity

func TestNodeAffinityAgreesWithThePlugin(t *testing.T) {
	agreement{
		plugin: names.NodeAffinity, clusters: 2000,
		generate: func(r random) *cluster {
			c := &cluster{pod: pod("p", ""), args: &config.NodeAffinityArgs{}}
			if r.in(3) {
				c.args = &config.NodeAffinityArgs{AddedAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: nodeSelector(r, true)}}
			}
			if r.in(2) {
				c.pod.Spec.NodeSelector = map[string]string{one(r, "disk", "zone"): one(r, "a", "b")}
			}
			if r.in(2) {
				c.pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: nodeSelector(r, false)}}
			}
			for i := range 6 {
				node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: longName(i), Labels: map[string]string{}}}
				for _, key := range []string{"disk", "zone", "cores"} {
					if r.in(2) {
						node.Labels[key] = one(r, "a", "b", "3", "6")
					}
				}
				c.nodes = append(c.nodes, node)
			}
			return c
		},
		verify: verifyNodeAffinity,
		passed: func(s *subject, a answer) error {
			named := map[string]bool{}
			for _, term := range a.passed.Terms {
				named[term.Source] = true
			}
			own := s.cluster.pod.Spec
			for source, wanted := range map[string]bool{
				"addedAffinity": s.cluster.args.(*config.NodeAffinityArgs).AddedAffinity != nil, "nodeSelector": own.NodeSelector != nil, "nodeAffinity": own.Affinity != nil,
			} {
				if named[source] != wanted {
					return fmt.Errorf("it names terms of %s: %v", source, named[source])
				}
			}
			return nil
		},
	}.test(t)
}

// longName is the name of a node that is too long for a label.
func longName(i int) string { return fmt.Sprint("n", i, strings.Repeat(".example", 10)) }

func nodeSelector(r random, valid bool) *v1.NodeSelector {
	out := &v1.NodeSelector{}
	for range 1 + r.IntN(3) {
		term := v1.NodeSelectorTerm{}
		for range r.IntN(3) {
			q := v1.NodeSelectorRequirement{Key: one(r, "disk", "zone", "cores"), Operator: one(r, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn, v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt)}
			switch q.Operator {
			case v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn:
				q.Values = []string{one(r, "a", "b"), one(r, "3", "6")}
			case v1.NodeSelectorOpGt, v1.NodeSelectorOpLt:
				q.Values = []string{one(r, "2", "4")}
			}
			if !valid && r.in(12) {
				q.Operator = "Near"
			}
			term.MatchExpressions = append(term.MatchExpressions, q)
		}
		if r.in(4) {
			term.MatchFields = []v1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: one(r, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn), Values: []string{longName(r.IntN(6))}}}
		}
		out.NodeSelectorTerms = append(out.NodeSelectorTerms, term)
	}
	return out
}

// verifyNodeAffinity checks each requirement alone, and that all alternatives are ruled
// out by those named and by nothing else.
func verifyNodeAffinity(s *subject, a answer) error {
	byTerm := map[string][]result.TermComparison{}
	for _, term := range a.found.Terms {
		if err := verifyTerm(term, a.node.Node()); err != nil {
			return err
		}
		byTerm[fmt.Sprint(term.Source, term.Term)] = append(byTerm[fmt.Sprint(term.Source, term.Term)], term)
	}
	enforced := strings.Contains(a.status.Reasons()[0], "scheduler-enforced")
	if enforced != (a.found.Terms[0].Source == "addedAffinity") {
		return fmt.Errorf("it names terms of %s", a.found.Terms[0].Source)
	}
	source, terms := "nodeAffinity", []v1.NodeSelectorTerm(nil)
	if affinity := s.cluster.pod.Spec.Affinity; affinity != nil {
		terms = affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	if enforced {
		source, terms = "addedAffinity", s.cluster.args.(*config.NodeAffinityArgs).AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	if want := requirementsMissing(s.cluster, a.node.Node()); a.distance != float64(want) {
		return fmt.Errorf("the node lacks %d requirements, the distance is %v", want, a.distance)
	}
	selectorAlone := len(byTerm["nodeSelector0"]) > 0
	for i, term := range terms {
		unmet := byTerm[fmt.Sprint(source, i)]
		if len(unmet) == 0 && !selectorAlone {
			return fmt.Errorf("it does not rule out term %d", i)
		}
		if !matches(without(term, unmet), a.node.Node()) && len(unmet) > 0 {
			return fmt.Errorf("more than %v rules out term %d", unmet, i)
		}
	}
	return nil
}

// requirementsMissing counts the requirements that a node lacks, of alternatives the fewest.
func requirementsMissing(c *cluster, n *v1.Node) int {
	missing := 0
	for key, value := range c.pod.Spec.NodeSelector {
		if actual, ok := n.Labels[key]; !ok || actual != value {
			missing++
		}
	}
	selectors := []*v1.NodeAffinity{c.args.(*config.NodeAffinityArgs).AddedAffinity}
	if own := c.pod.Spec.Affinity; own != nil {
		selectors = append(selectors, own.NodeAffinity)
	}
	for _, s := range selectors {
		if s == nil {
			continue
		}
		fewest := math.MaxInt
		for _, term := range s.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			lacks := 0
			for _, r := range term.MatchExpressions {
				if !matches(v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{r}}, n) {
					lacks++
				}
			}
			for _, r := range term.MatchFields {
				if !matches(v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{r}}, n) {
					lacks++
				}
			}
			if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
				lacks = 1 // no node meets an empty term
			}
			fewest = min(fewest, lacks)
		}
		missing += fewest
	}
	return missing
}

func matches(term v1.NodeSelectorTerm, n *v1.Node) bool {
	if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
		return true
	}
	met, _ := nodeaffinity.NewLazyErrorNodeSelector(&v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term}}).Match(n)
	return met
}

// verifyTerm checks that a node fails a requirement.
func verifyTerm(term result.TermComparison, n *v1.Node) error {
	r := v1.NodeSelectorRequirement{Key: term.Key, Operator: v1.NodeSelectorOperator(term.Operator), Values: term.Values}
	alone, actual := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{r}}, label(n, term.Key)
	switch {
	case term.Key == "" && term.Operator == "":
		return nil // an empty term
	case term.Key == metav1.ObjectNameField:
		alone, actual = v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{r}}, &n.Name
	}
	if matches(alone, n) {
		return fmt.Errorf("the node meets %v", term)
	}
	if (actual == nil) != (term.Actual == nil) || actual != nil && *actual != *term.Actual {
		return fmt.Errorf("the node has another %s than %v", term.Key, term)
	}
	return nil
}

// without returns a term without the requirements that a comparison names.
func without(term v1.NodeSelectorTerm, unmet []result.TermComparison) v1.NodeSelectorTerm {
	named := func(r v1.NodeSelectorRequirement) bool {
		return slices.ContainsFunc(unmet, func(u result.TermComparison) bool {
			return u.Key == r.Key && u.Operator == string(r.Operator) && slices.Equal(u.Values, r.Values)
		})
	}
	return v1.NodeSelectorTerm{
		MatchExpressions: slices.DeleteFunc(slices.Clone(term.MatchExpressions), named),
		MatchFields:      slices.DeleteFunc(slices.Clone(term.MatchFields), named),
	}
}

// ---- NodePorts

func TestPortsAgreeWithThePlugin(t *testing.T) {
	withPorts := func(r random, name, node string) *v1.Pod {
		p := pod(name, node)
		some := func(n int) (out []v1.ContainerPort) {
			for range r.IntN(n) {
				out = append(out, v1.ContainerPort{HostPort: one(r, int32(0), 80, 81, 82), Protocol: one(r, v1.ProtocolTCP, v1.ProtocolUDP, ""), HostIP: one(r, "", "0.0.0.0", "10.0.0.1", "10.0.0.2")})
			}
			return out
		}
		p.Spec.Containers = []v1.Container{{Ports: some(3)}, {Ports: some(3)}}
		p.Spec.InitContainers = []v1.Container{{Ports: some(3)}, {Ports: some(3), RestartPolicy: one(r, nil, ptr.To(v1.ContainerRestartPolicyAlways))}}
		return p
	}
	agreement{
		plugin: names.NodePorts, clusters: 2000,
		generate: func(r random) *cluster {
			c := &cluster{pod: withPorts(r, "p", "")}
			for i := range 6 {
				c.nodes = append(c.nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}})
				for j := range r.IntN(3) {
					c.placed = append(c.placed, withPorts(r, fmt.Sprint("on-", i, "-", j), fmt.Sprint("n", i)))
				}
			}
			return c
		},
		verify: func(s *subject, a answer) error {
			var free []v1.ContainerPort
			for _, p := range util.GetHostPorts(s.cluster.pod) {
				named := slices.Contains(a.found.Ports, result.Port{Protocol: string(p.Protocol), HostIP: p.HostIP, Port: p.HostPort})
				if alone := s.filter(wanting(p), a.node); alone.IsSuccess() == named {
					return fmt.Errorf("alone, port %v is free: %v", p, !named)
				}
				if !named {
					free = append(free, p)
				}
			}
			if status := s.filter(wanting(free...), a.node); !status.IsSuccess() {
				return fmt.Errorf("without the named ports the plugin says %v", status.Reasons())
			}
			return a.isAsFarAs(len(a.found.Ports))
		},
	}.test(t)
}

func wanting(ports ...v1.ContainerPort) *v1.Pod {
	p := pod("p", "")
	p.Spec.Containers = []v1.Container{{Ports: ports}}
	return p
}

// ---- PodTopologySpread

func TestSpreadAgreesWithThePlugin(t *testing.T) {
	apps := func(r random, p *v1.Pod) *v1.Pod {
		p.Labels = map[string]string{"app": one(r, "web", "web", "db"), "version": one(r, "1", "2")}
		p.Namespace = one(r, "default", "default", "default", "other")
		return p
	}
	agreement{
		plugin: names.PodTopologySpread, clusters: 2000,
		generate: func(r random) *cluster {
			c := &cluster{pod: apps(r, pod("p", "")), nodes: labelledNodes(r, 7)}
			c.args = &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}
			if r.in(3) {
				c.gates = featuregatetesting.FeatureOverrides{
					features.MatchLabelKeysInPodTopologySpread: false, features.MatchLabelKeysInPodTopologySpreadSelectorMerge: false,
				}
			}
			for _, key := range []string{v1.LabelTopologyZone, v1.LabelHostname, "rack"} {
				constraint := v1.TopologySpreadConstraint{
					TopologyKey: key, MaxSkew: 1 + r.Int32N(2), WhenUnsatisfiable: one(r, v1.DoNotSchedule, v1.DoNotSchedule, v1.ScheduleAnyway),
					LabelSelector:    one(r, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, &metav1.LabelSelector{}, nil),
					MatchLabelKeys:   one(r, nil, nil, []string{"version"}),
					NodeTaintsPolicy: one(r, nil, ptr.To(v1.NodeInclusionPolicyHonor)), NodeAffinityPolicy: one(r, nil, ptr.To(v1.NodeInclusionPolicyIgnore)),
				}
				if constraint.WhenUnsatisfiable == v1.DoNotSchedule && r.in(3) {
					constraint.MinDomains = ptr.To(1 + r.Int32N(4))
				}
				if r.in(2) {
					c.pod.Spec.TopologySpreadConstraints = append(c.pod.Spec.TopologySpreadConstraints, constraint)
				}
			}
			if r.in(3) {
				c.pod.Spec.NodeSelector = map[string]string{"rack": "r0"}
			}
			for i, n := range c.nodes {
				if r.in(4) {
					n.Spec.Taints = []v1.Taint{{Key: "a", Effect: v1.TaintEffectNoSchedule}}
				}
				for j := range r.IntN(4) {
					p := apps(r, pod(fmt.Sprint("on-", i, "-", j), n.Name))
					if r.in(8) {
						p.DeletionTimestamp = &metav1.Time{}
					}
					c.placed = append(c.placed, p)
				}
			}
			if r.in(3) {
				c.nominated = apps(r, pod("nominated", ""))
				c.nominated.Status.NominatedNodeName = one(r, c.nodes...).Name
			}
			return c
		},
		verify: verifySpread,
		// Each constraint alone allows the skew that is named, and no smaller one.
		passed: func(s *subject, a answer) error {
			hard := slices.DeleteFunc(slices.Clone(s.cluster.pod.Spec.TopologySpreadConstraints), func(c v1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable != v1.DoNotSchedule })
			if len(hard) != len(a.passed.Spread) {
				return fmt.Errorf("of %d constraints it names %d", len(hard), len(a.passed.Spread))
			}
			for _, named := range a.passed.Spread {
				alone := a
				alone.found = &result.Comparison{Spread: []result.SpreadComparison{named}}
				if skew := named.Matching + named.Self - named.Minimum; skew > 1 {
					if err := verifySpread(s, alone); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}.test(t)
}

// verifyDomains counts the pods of the domains that are named again.
func verifyDomains(s *subject, a answer, found result.SpreadComparison) error {
	if s.isNominated(a.node) {
		return nil // The plugin's minimum may lag behind its counts.
	}
	if len(found.Fewest) != min(found.FewestCount, result.MaxFewest) || found.FewestCount > found.Domains {
		return fmt.Errorf("it names %d of %d of %d domains", len(found.Fewest), found.FewestCount, found.Domains)
	}
	if few := found.Domains < max(found.MinDomains, 1); few && found.Minimum != 0 {
		return fmt.Errorf("with %d domains the minimum is %d", found.Domains, found.Minimum)
	}
	own := slices.IndexFunc(s.cluster.pod.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool { return c.TopologyKey == found.TopologyKey })
	if own < 0 {
		return nil // a default constraint
	}
	selector, err := metav1.LabelSelectorAsSelector(s.cluster.pod.Spec.TopologySpreadConstraints[own].LabelSelector)
	if err != nil || selector.String() != found.Selector {
		return nil // two constraints over a key, or matchLabelKeys
	}
	here := 0
	for _, domain := range found.Fewest {
		pods := 0
		for _, n := range s.cluster.nodes {
			if n.Labels[found.TopologyKey] != domain.Name {
				continue
			}
			if domain.NodeCount > 0 && domain.NodeCount <= result.MaxDomainNodes && !slices.Contains(domain.Nodes, n.Name) {
				return fmt.Errorf("%s is in %s, and it does not say so", n.Name, domain.Name)
			}
			for _, p := range s.cluster.placed {
				if p.Spec.NodeName == n.Name && p.Namespace == s.cluster.pod.Namespace && p.DeletionTimestamp == nil && selector.Matches(labels.Set(p.Labels)) {
					pods++
				}
			}
		}
		// Nodes that do not count may have more.
		if found.Domains >= max(found.MinDomains, 1) && pods < found.Minimum {
			return fmt.Errorf("%s has %d matching pods, less than %d", domain.Name, pods, found.Minimum)
		}
	}
	for _, p := range s.cluster.placed {
		if p.Spec.NodeName == a.node.Node().Name && p.Namespace == s.cluster.pod.Namespace && p.DeletionTimestamp == nil && selector.Matches(labels.Set(p.Labels)) {
			here++
		}
	}
	if found.Here != here && found.Here != 0 || found.Here > found.Matching {
		return fmt.Errorf("%d of the %d matching pods run on the node, it says %d", here, found.Matching, found.Here)
	}
	return nil
}

// verifySpread checks that the node fits if only the violated constraint allows the
// skew, and no smaller one.
func verifySpread(s *subject, a answer) error {
	violated := a.found.Spread[0]
	if least := map[bool]float64{true: 2, false: 1}[violated.Domain == nil]; !a.status.IsSuccess() && a.distance < least {
		return fmt.Errorf("the distance is %v", a.distance)
	}
	if violated.Domain == nil {
		if _, labelled := a.node.Node().Labels[violated.TopologyKey]; labelled {
			return fmt.Errorf("the node has the label %s", violated.TopologyKey)
		}
		return nil
	}
	if err := verifyDomains(s, a, violated); err != nil {
		return err
	}
	if violated.Maximum < violated.Matching || violated.Minimum > violated.Maximum && violated.Maximum > 0 {
		return fmt.Errorf("the maximum is %d", violated.Maximum)
	}
	skew := violated.Matching + violated.Self - violated.Minimum
	for _, tc := range []struct {
		allowed int
		fits    bool
	}{{skew, true}, {skew - 1, false}} {
		p := s.cluster.pod.DeepCopy()
		for i := range p.Spec.TopologySpreadConstraints {
			constraint := &p.Spec.TopologySpreadConstraints[i]
			constraint.MaxSkew = math.MaxInt32 / 2
			if constraint.TopologyKey == violated.TopologyKey {
				constraint.MaxSkew = int32(tc.allowed)
			}
		}
		ctx := context.Background()
		state, status := s.preFilter(ctx, p)
		if status.IsSuccess() {
			status = s.framework.RunFilterPlugins(ctx, s.stateOn(ctx, p, state, a.node), p, a.node)
		}
		if status.Code() != fwk.UnschedulableAndUnresolvable && status.IsSuccess() != tc.fits {
			return fmt.Errorf("with a largest skew of %d the node fits: %v", tc.allowed, status.IsSuccess())
		}
	}
	return nil
}
