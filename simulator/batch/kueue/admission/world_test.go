package admission

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
)

// world plays the API server and the job controllers: it keeps the objects, writes decisions and
// stops jobs. Its commands are lines of text, described at each method.
type world struct {
	t        *testing.T
	state    *State
	settings Settings
	now      time.Time
	objects  map[string]*kueue.Workload
	out      strings.Builder
	flavors  map[string]bool
	records  []*Record
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), objects: make(map[string]*kueue.Workload), flavors: make(map[string]bool)}
	w.reset(Settings{})
	return w
}

func (w *world) reset(settings Settings) {
	w.settings = settings
	w.state = New(settings)
	w.state.SetNamespace(&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{"team": "ml"}}})
	w.state.SetNamespace(&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
}

// do carries out one command.
func (w *world) do(line string) {
	w.t.Helper()
	words := splitQuoted(line)
	rest := words[1:]
	switch words[0] {
	case "settings":
		w.reset(settingsOf(w.t, rest))
	case "flavor":
		w.flavor(rest)
	case "topology":
		w.topology(rest)
	case "node":
		w.node(rest)
	case "cohort":
		w.cohort(rest)
	case "cq":
		w.clusterQueue(rest)
	case "wl":
		w.add(w.workload(rest))
	case "held":
		w.held(rest)
	case "cycle":
		w.cycle()
	case "settle":
		w.settle()
	case "finish":
		w.finish(rest[0])
	case "delete":
		w.state.DeleteWorkload(w.key(rest[0]))
		delete(w.objects, rest[0])
	case "reclaim":
		w.update(rest[0], func(o *kueue.Workload) {
			o.Status.ReclaimablePods = []kueue.ReclaimablePod{{Name: "main", Count: int32(atoi(w.t, rest[1]))}}
		})
	case "size":
		w.update(rest[0], func(o *kueue.Workload) { o.Spec.PodSets[0].Count = int32(atoi(w.t, rest[1])) })
	case "template":
		w.template(rest)
	case "class":
		w.state.SetDeviceClass(&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: rest[0]}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &rest[1]}})
	case "priority":
		w.update(rest[0], func(o *kueue.Workload) { o.Spec.Priority = ptr.To(int32(atoi(w.t, rest[1]))) })
	case "ready":
		w.update(rest[0], func(o *kueue.Workload) { w.condition(o, kueue.WorkloadPodsReady, metav1.ConditionTrue, "Started") })
	case "unready":
		w.update(rest[0], func(o *kueue.Workload) {
			w.condition(o, kueue.WorkloadPodsReady, metav1.ConditionFalse, reasonWaitForRecovery)
		})
	case "check":
		w.check(rest)
	case "admissioncheck":
		check := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: rest[0]}}
		meta.SetStatusCondition(&check.Status.Conditions, metav1.Condition{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active"})
		w.state.SetAdmissionCheck(check)
	case "activate", "deactivate":
		w.update(rest[0], func(o *kueue.Workload) { o.Spec.Active = ptr.To(words[0] == "activate") })
	case "localqueue":
		w.localQueue(rest)
	case "namespace":
		w.state.SetNamespace(&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: rest[0], Labels: pairs(rest[1:])}})
	case "unhealthy":
		w.update(rest[0], func(o *kueue.Workload) { o.Status.UnhealthyNodes = []kueue.UnhealthyNode{{Name: rest[1]}} })
	case "wait":
		w.now = w.now.Add(duration(w.t, rest[0]))
	case "review":
		w.review()
	case "sample":
		w.sample()
	case "consumed":
		w.consumed(rest)
	case "order":
		w.order(rest)
	case "why":
		w.why(rest)
	case "expect":
		w.expect(rest)
	case "quota":
		w.quota(rest)
	default:
		w.t.Fatalf("unknown command %q", line)
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// splitQuoted splits at spaces outside of double quotes.
func splitQuoted(line string) []string {
	var words []string
	quoted := false
	for _, word := range strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	}) {
		words = append(words, strings.Trim(word, `"`))
	}
	return words
}

func pairs(words []string) map[string]string {
	set := make(map[string]string)
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		set[key] = value
	}
	return set
}

// settingsOf reads: fair[=STRATEGY,…] usage=HALFLIFE,INTERVAL[,RESOURCE:WEIGHT]… ready=TIMEOUT limit=N block ignore-undeclared exclude=PREFIX elastic
// devices=CLASS:RESOURCE,… extended.
func settingsOf(t *testing.T, words []string) Settings {
	var settings Settings
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "fair":
			settings.FairSharing = &FairSharing{}
			for strategy := range strings.SplitSeq(value, ",") {
				switch strategy {
				case "Final":
					settings.FairSharing.PreemptionStrategies = append(settings.FairSharing.PreemptionStrategies, LessThanOrEqualToFinalShare)
				case "Initial":
					settings.FairSharing.PreemptionStrategies = append(settings.FairSharing.PreemptionStrategies, LessThanInitialShare)
				}
			}
		case "usage":
			settings.AdmissionFairSharing = sharingOf(t, strings.Split(value, ","))
		case "ready":
			settings.WaitForPodsReady = &WaitForPodsReady{Timeout: duration(t, value)}
		case "limit":
			settings.WaitForPodsReady.BackoffLimit = ptr.To(int32(atoi(t, value)))
		case "block":
			settings.WaitForPodsReady.BlockAdmission = true
		case "elastic":
			settings.ElasticJobs = true
		case "devices":
			settings.Devices = &Devices{Classes: make(map[string]v1.ResourceName)}
			for pair := range strings.SplitSeq(value, ",") {
				class, resource, _ := strings.Cut(pair, ":")
				settings.Devices.Classes[class] = v1.ResourceName(resource)
			}
		case "extended":
			settings.Devices.Extended = true
		case "ignore-undeclared":
			settings.IgnoreUndeclared = true
		case "exclude":
			settings.ExcludeResourcePrefixes = []string{value}
		case "transform":
			settings.Transformations = []Transformation{{Input: "example.com/mig", Replace: true, Outputs: map[v1.ResourceName]resource.Quantity{"gpu": resource.MustParse("500m"), v1.ResourceName(value): resource.MustParse("2")}}}
		default:
			t.Fatalf("unknown setting %q", word)
		}
	}
	return settings
}

func sharingOf(t *testing.T, words []string) *AdmissionFairSharing {
	t.Helper()
	sharing := &AdmissionFairSharing{HalfLife: duration(t, words[0]), SamplingInterval: duration(t, words[1]), ResourceWeights: make(map[v1.ResourceName]float64)}
	for _, word := range words[2:] {
		name, text, _ := strings.Cut(word, ":")
		weight, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		sharing.ResourceWeights[v1.ResourceName(name)] = weight
	}
	return sharing
}

func duration(t *testing.T, s string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// flavor reads: NAME [label KEY=VALUE] [taint KEY=VALUE] [toleration KEY=VALUE] [topology NAME].
func (w *world) flavor(words []string) {
	f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: words[0]}}
	for i := 1; i+1 < len(words); i += 2 {
		key, value, _ := strings.Cut(words[i+1], "=")
		switch words[i] {
		case "label":
			if f.Spec.NodeLabels == nil {
				f.Spec.NodeLabels = make(map[string]string)
			}
			f.Spec.NodeLabels[key] = value
		case "taint":
			f.Spec.NodeTaints = append(f.Spec.NodeTaints, v1.Taint{Key: key, Value: value, Effect: v1.TaintEffectNoSchedule})
		case "toleration":
			f.Spec.Tolerations = append(f.Spec.Tolerations, v1.Toleration{Key: key, Value: value, Operator: v1.TolerationOpEqual})
		case "topology":
			f.Spec.TopologyName = ptr.To(kueue.TopologyReference(words[i+1]))
		default:
			w.t.Fatalf("unknown word %q", words[i])
		}
	}
	w.flavors[f.Name] = true
	w.state.SetFlavor(f)
}

// topology reads: NAME LEVEL….
func (w *world) topology(words []string) {
	topology := &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: words[0]}}
	for _, level := range words[1:] {
		topology.Spec.Levels = append(topology.Spec.Levels, kueue.TopologyLevel{NodeLabel: levelLabel(level)})
	}
	w.state.SetTopology(topology)
}

func levelLabel(level string) string {
	if level == "hostname" {
		return v1.LabelHostname
	}
	return level
}

// node reads: NAME CPU [LABEL=VALUE]….
func (w *world) node(words []string) {
	labels := pairs(words[2:])
	labels[v1.LabelHostname] = words[0]
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: words[0], Labels: labels}}
	if taint := labels["taint"]; taint != "" {
		node.Spec.Taints = []v1.Taint{{Key: taint, Effect: v1.TaintEffectNoSchedule}}
	}
	node.Status.Allocatable = v1.ResourceList{v1.ResourceCPU: resource.MustParse(words[1]), v1.ResourcePods: resource.MustParse("110")}
	node.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
	w.state.SetNode(node)
}

// groups reads resource groups: FLAVOR:RESOURCE=NOMINAL[/+BORROWING][/-LENDING],… with | between
// groups. A number alone is cpu.
func (w *world) groups(words []string) []kueue.ResourceGroup {
	var groups []kueue.ResourceGroup
	next := true
	for _, word := range words {
		if word == "|" {
			next = true
			continue
		}
		if next {
			groups = append(groups, kueue.ResourceGroup{})
			next = false
		}
		group := &groups[len(groups)-1]
		name, list, _ := strings.Cut(word, ":")
		flavor := kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(name)}
		var covered []v1.ResourceName
		for item := range strings.SplitSeq(list, ",") {
			resourceName, amount, named := strings.Cut(item, "=")
			if !named {
				resourceName, amount = "cpu", item
			}
			parts := strings.Split(amount, "/")
			q := kueue.ResourceQuota{Name: v1.ResourceName(resourceName), NominalQuota: resource.MustParse(parts[0])}
			for _, part := range parts[1:] {
				limit := resource.MustParse(part[1:])
				if part[0] == '+' {
					q.BorrowingLimit = &limit
				} else {
					q.LendingLimit = &limit
				}
			}
			flavor.Resources = append(flavor.Resources, q)
			covered = append(covered, q.Name)
		}
		group.CoveredResources = covered
		group.Flavors = append(group.Flavors, flavor)
		if !w.flavors[name] && name != "missing" {
			w.flavor([]string{name})
		}
	}
	return groups
}

// cohort reads: NAME [parent=NAME] [weight=N] [GROUPS].
func (w *world) cohort(words []string) {
	c := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: words[0]}}
	var groups []string
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case strings.Contains(word, ":") || word == "|":
			groups = append(groups, word)
		case key == "parent":
			c.Spec.ParentName = kueue.CohortReference(value)
		case key == "weight":
			c.Spec.FairSharing = &kueue.FairSharing{Weight: ptr.To(resource.MustParse(value))}
		default:
			w.t.Fatalf("unknown word %q", word)
		}
	}
	c.Spec.ResourceGroups = w.groups(groups)
	w.state.SetCohort(c)
}

// clusterQueue reads: NAME [OPTION=VALUE]… GROUPS, and makes a LocalQueue of the same name.
func (w *world) clusterQueue(words []string) {
	q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: words[0]}}
	q.Spec.NamespaceSelector = &metav1.LabelSelector{}
	q.Spec.Preemption = &kueue.ClusterQueuePreemption{}
	q.Spec.FlavorFungibility = &kueue.FlavorFungibility{}
	var groups []string
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case strings.Contains(word, ":") && key != "bwc" && key != "selector" && key != "check":
			groups = append(groups, word)
		case word == "|":
			groups = append(groups, word)
		case key == "co":
			q.Spec.CohortName = kueue.CohortReference(value)
		case word == "usage":
			q.Spec.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
		case word == "StrictFIFO":
			q.Spec.QueueingStrategy = kueue.StrictFIFO
		case key == "within":
			q.Spec.Preemption.WithinClusterQueue = kueue.PreemptionPolicy(value)
		case key == "reclaim":
			q.Spec.Preemption.ReclaimWithinCohort = kueue.PreemptionPolicy(value)
		case key == "bwc":
			q.Spec.Preemption.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyLowerPriority}
			if _, threshold, ok := strings.Cut(value, ":"); ok {
				q.Spec.Preemption.BorrowWithinCohort.MaxPriorityThreshold = ptr.To(int32(atoi(w.t, threshold)))
			}
		case key == "whenCanBorrow":
			q.Spec.FlavorFungibility.WhenCanBorrow = kueue.FlavorFungibilityPolicy(value)
		case key == "whenCanPreempt":
			q.Spec.FlavorFungibility.WhenCanPreempt = kueue.FlavorFungibilityPolicy(value)
		case key == "preference":
			q.Spec.FlavorFungibility.Preference = ptr.To(kueue.FlavorFungibilityPreference(value))
		case key == "weight":
			q.Spec.FairSharing = &kueue.FairSharing{Weight: ptr.To(resource.MustParse(value))}
		case key == "stop":
			q.Spec.StopPolicy = ptr.To(kueue.StopPolicy(value))
		case key == "selector":
			q.Spec.NamespaceSelector = nil
			if value != "nil" {
				q.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: pairs([]string{strings.Replace(value, ":", "=", 1)})}
			}
		case key == "check":
			name, flavor, _ := strings.Cut(value, ":")
			rule := kueue.AdmissionCheckStrategyRule{Name: kueue.AdmissionCheckReference(name)}
			if flavor != "" {
				rule.OnFlavors = []kueue.ResourceFlavorReference{kueue.ResourceFlavorReference(flavor)}
			}
			if q.Spec.AdmissionChecksStrategy == nil {
				q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{}
			}
			q.Spec.AdmissionChecksStrategy.AdmissionChecks = append(q.Spec.AdmissionChecksStrategy.AdmissionChecks, rule)
		default:
			w.t.Fatalf("unknown word %q", word)
		}
	}
	q.Spec.ResourceGroups = w.groups(groups)
	w.state.SetClusterQueue(q)
	w.localQueue([]string{words[0], words[0]})
	if w.state.localQueues[types.NamespacedName{Namespace: "other", Name: words[0]}] == nil {
		w.state.SetLocalQueue(&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: words[0]}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(words[0])}})
	}
}

// localQueue reads: NAME CLUSTERQUEUE [STOPPOLICY] [weight=N] [used=RESOURCE:QUANTITY]…, where used is what its status says.
func (w *world) localQueue(words []string) {
	l := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: words[0]}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(words[1])}}
	consumed := make(v1.ResourceList)
	for _, word := range words[2:] {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "weight":
			l.Spec.FairSharing = &kueue.FairSharing{Weight: ptr.To(resource.MustParse(value))}
		case "used":
			name, amount, _ := strings.Cut(value, ":")
			consumed[v1.ResourceName(name)] = resource.MustParse(amount)
		default:
			l.Spec.StopPolicy = ptr.To(kueue.StopPolicy(word))
		}
	}
	if len(consumed) > 0 {
		l.Status.FairSharing = &kueue.LocalQueueFairSharingStatus{AdmissionFairSharingStatus: &kueue.LocalQueueAdmissionFairSharingStatus{ConsumedResources: consumed, LastUpdate: metav1.NewTime(w.now)}}
	}
	w.state.SetLocalQueue(l)
}

// sample samples what the LocalQueues have used, and says when to do so again.
func (w *world) sample() {
	turned, next := w.state.Sample(w.now)
	fmt.Fprintf(&w.out, "sample, again in %s", next)
	if turned {
		fmt.Fprint(&w.out, ", and the order has turned")
	}
	fmt.Fprintln(&w.out)
}

// consumed reads: LOCALQUEUE [RESOURCE=QUANTITY]…, which is all that the status of the LocalQueue says.
func (w *world) consumed(words []string) {
	w.t.Helper()
	got := make(map[string]string)
	if sharing := w.state.LocalQueueStatus(types.NamespacedName{Namespace: "ns", Name: words[0]}, w.now).FairSharing; sharing != nil {
		for name, q := range sharing.AdmissionFairSharingStatus.ConsumedResources {
			got[string(name)] = q.String()
		}
	}
	if want := pairs(words[1:]); !maps.Equal(got, want) {
		w.t.Errorf("%s has consumed %v, want %v", words[0], got, want)
	}
}

// why reads: WORKLOAD SENTENCE, which is the whole of why it waits.
func (w *world) why(words []string) {
	w.t.Helper()
	if p, _ := w.pending(words[0]); p.Reason.String() != words[1] {
		w.t.Errorf("%s waits because of %q, want %q", words[0], p.Reason, words[1])
	}
}

// order reads: CLUSTERQUEUE WORKLOAD…, which are all that wait, in order. WORKLOAD>OTHER means that it goes after the other for
// what its LocalQueue has used, and for nothing else.
func (w *world) order(words []string) {
	w.t.Helper()
	var got []string
	for _, p := range w.state.Pending(words[0], w.now) {
		name := p.Workload.Name
		if p.UsedMore != nil {
			name += ">" + p.UsedMore.First.Name
		}
		got = append(got, name)
	}
	if !slices.Equal(got, words[1:]) {
		w.t.Errorf("%s has the order %v, want %v", words[0], got, words[1:])
	}
}

// workload reads: NAME QUEUE PODSET… [OPTION]…. A pod set is [NAME:][COUNTx]REQUESTS[>=MINCOUNT].
// REQUESTS are RESOURCE=QUANTITY,… or a quantity of cpu. Options: @PRIORITY, selector=KEY=VALUE,
// tolerate=KEY=VALUE, affinity=KEY=VALUE, not=KEY=VALUE, required=LEVEL, preferred=LEVEL, unconstrained, slice=LEVEL:SIZE,
// together, namespace=NAME, max=SECONDS, replaces=WORKLOAD, claims=TEMPLATE, claim=NAME. Options of pods apply to all pod sets.
func (w *world) workload(words []string) *kueue.Workload {
	w.now = w.now.Add(time.Second)
	o := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: words[0], UID: types.UID(words[0]), CreationTimestamp: metav1.NewTime(w.now)}}
	o.Spec.QueueName = kueue.LocalQueueName(words[1])
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		if o.Spec.PodSets == nil || isPodSet(word) {
			o.Spec.PodSets = append(o.Spec.PodSets, podSetFrom(w.t, word))
			continue
		}
		for i := range o.Spec.PodSets {
			p := &o.Spec.PodSets[i]
			spec := &p.Template.Spec
			if p.TopologyRequest == nil {
				p.TopologyRequest = &kueue.PodSetTopologyRequest{}
			}
			k, v, _ := strings.Cut(value, "=")
			switch key {
			case "selector":
				spec.NodeSelector = map[string]string{k: v}
			case "tolerate":
				spec.Tolerations = append(spec.Tolerations, v1.Toleration{Key: k, Value: v, Operator: v1.TolerationOpEqual})
			case "affinity":
				spec.Affinity = affinityTo(k, v1.NodeSelectorOpIn, v)
			case "not":
				spec.Affinity = affinityTo(k, v1.NodeSelectorOpNotIn, v)
			case "required":
				p.TopologyRequest.Required = ptr.To(levelLabel(value))
			case "preferred":
				p.TopologyRequest.Preferred = ptr.To(levelLabel(value))
			case "unconstrained":
				p.TopologyRequest.Unconstrained = ptr.To(true)
			case "together":
				p.TopologyRequest.PodSetGroupName = ptr.To("together")
			case "slice":
				level, size, _ := strings.Cut(value, ":")
				p.TopologyRequest.PodSetSliceRequiredTopology = ptr.To(levelLabel(level))
				p.TopologyRequest.PodSetSliceSize = ptr.To(int32(atoi(w.t, size)))
			case "limit":
				spec.Containers[0].Resources.Limits = v1.ResourceList{v1.ResourceCPU: resource.MustParse(value)}
			case "namespace":
				o.Namespace = value
			case "gated":
				o.Annotations = map[string]string{constants.AdmissionGatedByAnnotation: value}
			case "replaces":
				o.Annotations = map[string]string{ReplacementFor: "ns/" + value}
			case "claims":
				spec.ResourceClaims = append(spec.ResourceClaims, v1.PodResourceClaim{Name: value, ResourceClaimTemplateName: &value})
			case "claim":
				spec.ResourceClaims = append(spec.ResourceClaims, v1.PodResourceClaim{Name: value, ResourceClaimName: &value})
			case "max":
				o.Spec.MaximumExecutionTimeSeconds = ptr.To(int32(atoi(w.t, value)))
			default:
				if !strings.HasPrefix(word, "@") {
					w.t.Fatalf("unknown word %q", word)
				}
				o.Spec.Priority = ptr.To(int32(atoi(w.t, word[1:])))
			}
			if reflect.ValueOf(*p.TopologyRequest).IsZero() {
				p.TopologyRequest = nil
			}
		}
	}
	return o
}

// template reads: NAME CLASS=COUNT…, or CLASS=all, any, selected or admin for what cannot be counted, or constrained.
func (w *world) template(words []string) {
	claim := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: words[0]}}
	for _, word := range words[1:] {
		class, how, _ := strings.Cut(word, "=")
		request := resourcev1.DeviceRequest{Name: class, Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}
		switch how {
		case "":
			claim.Spec.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{}}
			continue
		case "all":
			request.Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
		case "any":
			request.Exactly, request.FirstAvailable = nil, []resourcev1.DeviceSubRequest{{DeviceClassName: class}}
		case "selected":
			request.Exactly.Selectors = []resourcev1.DeviceSelector{{}}
		case "admin":
			request.Exactly.AdminAccess = ptr.To(true)
		default:
			request.Exactly.Count = int64(atoi(w.t, how))
		}
		claim.Spec.Spec.Devices.Requests = append(claim.Spec.Spec.Devices.Requests, request)
	}
	w.state.SetClaimTemplate(claim)
}

func affinityTo(key string, operator v1.NodeSelectorOperator, value string) *v1.Affinity {
	term := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: []string{value}}}}
	return &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term}}}}
}

func isPodSet(word string) bool {
	name, _, named := strings.Cut(word, ":")
	return named && !strings.Contains(name, "=") || strings.HasPrefix(word, "+")
}

func podSetFrom(t *testing.T, word string) kueue.PodSet {
	p := kueue.PodSet{Name: kueue.DefaultPodSetName, Count: 1}
	if name, rest, named := strings.Cut(word, ":"); named {
		p.Name, word = kueue.PodSetReference(name), rest
	}
	if rest, least, ok := strings.Cut(word, ">="); ok {
		word, p.MinCount = rest, ptr.To(int32(atoi(t, least)))
	}
	if count, rest, ok := strings.Cut(word, "x"); ok && !strings.Contains(count, "=") {
		word, p.Count = rest, int32(atoi(t, count))
	}
	requests := make(v1.ResourceList)
	for item := range strings.SplitSeq(word, ",") {
		name, amount, named := strings.Cut(item, "=")
		if !named {
			name, amount = "cpu", item
		}
		requests[v1.ResourceName(name)] = resource.MustParse(amount)
	}
	p.Template.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: requests}}}
	return p
}

func (w *world) add(o *kueue.Workload) {
	w.objects[o.Name] = o
	w.state.SetWorkload(o, w.now)
}

// held reads a workload whose pod sets have quota already, all of it on the flavor after "on".
func (w *world) held(words []string) {
	i := slices.Index(words, "on")
	flavor := "f"
	if i >= 0 {
		flavor = words[i+1]
		words = slices.Delete(words, i, i+2)
	}
	o := w.workload(words)
	queue := w.state.localQueues[types.NamespacedName{Namespace: o.Namespace, Name: string(o.Spec.QueueName)}].Spec.ClusterQueue
	admission := &kueue.Admission{ClusterQueue: queue}
	for _, p := range o.Spec.PodSets {
		assigned := kueue.PodSetAssignment{Name: p.Name, Count: ptr.To(p.Count), Flavors: make(map[v1.ResourceName]kueue.ResourceFlavorReference)}
		for name := range p.Template.Spec.Containers[0].Resources.Requests {
			assigned.Flavors[name] = kueue.ResourceFlavorReference(flavor)
		}
		admission.PodSetAssignments = append(admission.PodSetAssignments, assigned)
	}
	d := Decision{Verb: Reserve, Reason: reasonQuotaReserved, Message: "Quota reserved in ClusterQueue " + string(queue), Admission: admission}
	d.Apply(o, w.now)
	w.add(o)
}

func (w *world) key(name string) types.NamespacedName {
	o := w.objects[name]
	if o == nil {
		w.t.Fatalf("no workload %q", name)
	}
	return types.NamespacedName{Namespace: o.Namespace, Name: name}
}

func (w *world) update(name string, change func(*kueue.Workload)) {
	w.key(name)
	o := w.objects[name].DeepCopy()
	change(o)
	w.add(o)
}

func (w *world) condition(o *kueue.Workload, kind string, status metav1.ConditionStatus, reason string) {
	meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(w.now)})
}

func (w *world) finish(name string) {
	w.update(name, func(o *kueue.Workload) { w.condition(o, kueue.WorkloadFinished, metav1.ConditionTrue, "Succeeded") })
}

// check reads: WORKLOAD CHECK STATE [SECONDS].
func (w *world) check(words []string) {
	w.update(words[0], func(o *kueue.Workload) {
		for i := range o.Status.AdmissionChecks {
			c := &o.Status.AdmissionChecks[i]
			if string(c.Name) != words[1] {
				continue
			}
			c.State, c.Message = kueue.CheckState(words[2]), "said so"
			if len(words) > 3 {
				c.RequeueAfterSeconds = ptr.To(int32(atoi(w.t, words[3])))
			}
		}
	})
}

func (w *world) write(decisions []Decision) {
	for _, d := range decisions {
		w.update(d.Workload.Name, func(o *kueue.Workload) { d.Apply(o, w.now) })
	}
}

// settle stops the jobs of evicted workloads.
func (w *world) settle() {
	for _, name := range slices.Sorted(maps.Keys(w.objects)) {
		for _, d := range w.state.Released(w.key(name)) {
			fmt.Fprintf(&w.out, "%s releases its quota\n", name)
			w.write([]Decision{d})
		}
	}
}

// review asks for decisions outside of cycles until there are none.
func (w *world) review() {
	for range 10 {
		quiet := true
		for _, name := range slices.Sorted(maps.Keys(w.objects)) {
			decisions, next := w.state.Review(w.key(name), w.now)
			for _, d := range decisions {
				quiet = false
				fmt.Fprintf(&w.out, "review: %s %s %s: %s\n", name, d.Verb, d.Reason, d.Message)
			}
			if next > 0 && len(decisions) == 0 {
				fmt.Fprintf(&w.out, "review: %s again in %s\n", name, next)
			}
			w.write(decisions)
		}
		if quiet {
			return
		}
	}
	w.t.Fatal("reviewing does not end")
}

// cycle runs one and prints it.
func (w *world) cycle() {
	w.now = w.now.Add(time.Second)
	record := w.state.Cycle(w.now)
	if record == nil {
		fmt.Fprintln(&w.out, "no heads")
		return
	}
	w.records = append(w.records, record)
	fmt.Fprintf(&w.out, "cycle %d\n", record.Cycle)
	for _, h := range record.Heads {
		w.printHead(h)
	}
	w.write(record.Decisions)
}

func (w *world) printHead(h Head) {
	order := "-"
	if h.Order > 0 {
		order = strconv.Itoa(h.Order)
	}
	fmt.Fprintf(&w.out, " %s %s in %s @%d, level %d", order, h.Workload.Name, h.ClusterQueue, h.Priority, h.Borrowing)
	for _, s := range h.Shares {
		fmt.Fprintf(&w.out, ", %s %.0f", s.Node, s.Share)
		if s.Infinite {
			fmt.Fprint(&w.out, " infinite")
		}
		if s.WithinNominal {
			fmt.Fprint(&w.out, " within")
		}
	}
	for _, used := range h.LocalQueues {
		fmt.Fprintf(&w.out, ", %s used %s", used.Name, used.text())
	}
	if h.Replaces != nil {
		fmt.Fprintf(&w.out, ", in place of %s", h.Replaces.Name)
	}
	fmt.Fprintf(&w.out, ": %s", h.Outcome)
	if h.Outcome != Reserved {
		fmt.Fprintf(&w.out, " %s", h.Condition)
		if h.Parked {
			fmt.Fprint(&w.out, " parked")
		}
	}
	fmt.Fprintln(&w.out)
	for _, p := range h.PodSets {
		for _, g := range p.Groups {
			for _, f := range g.Flavors {
				fmt.Fprintf(&w.out, "     %s ×%d %s: %s level %d", p.Name, p.Count, f.Flavor, f.Mode, f.Borrowing)
				for _, r := range f.Resources {
					fmt.Fprintf(&w.out, " [%s %d+%d of %d, %d used, %d available, %d at most]", r.Resource, r.Earlier, r.Requested, r.Nominal, r.Used, r.Available, r.Potential)
				}
				if f.Flavor == g.Chosen {
					fmt.Fprint(&w.out, " chosen")
				}
				fmt.Fprintln(&w.out)
			}
		}
		for _, d := range p.Topology {
			fmt.Fprintf(&w.out, "     %s: %d in %s\n", p.Name, d.Pods, strings.Join(d.Values, "/"))
		}
	}
	for _, v := range h.Victims {
		already := ""
		if v.AlreadyEvicted {
			already = " already"
		}
		fmt.Fprintf(&w.out, "     evicts%s %s of %s @%d: %s", already, v.Workload.Name, v.ClusterQueue, v.Priority, v.Reason)
		if v.Used != nil {
			fmt.Fprintf(&w.out, ", %s used %s", v.Used.Name, v.Used.text())
		}
		fmt.Fprintln(&w.out)
	}
	for _, r := range h.Reserves {
		fmt.Fprintf(&w.out, "     keeps %d %s of %s\n", r.Value, r.Resource, r.Flavor)
	}
	for _, other := range h.ParkedEquals {
		fmt.Fprintf(&w.out, "     parks %s along\n", other.Name)
	}
	if !h.Reason.IsZero() {
		fmt.Fprintf(&w.out, "     %q\n", h.Reason.String())
	}
}

// quota reads: NODE [FLAVOR:]RESOURCE FIELD=VALUE…, with fields of ResourceQuota in cores, or share=.
func (w *world) quota(words []string) {
	w.t.Helper()
	flavor, name, named := strings.Cut(words[1], ":")
	if !named {
		flavor, name = "f", words[1]
	}
	for _, n := range w.state.Quotas() {
		if n.ClusterQueue != words[0] && n.Cohort != words[0] {
			continue
		}
		for _, r := range n.Resources {
			if r.Flavor != flavor || string(r.Resource) != name {
				continue
			}
			got := map[string]int64{"used": r.Used, "borrowed": r.Borrowed, "lent": r.Lent, "available": r.Available, "potential": r.Potential, "subtree": r.Subtree}
			for field, want := range pairs(words[2:]) {
				if field == "share" {
					if text := fmt.Sprintf("%.0f", n.Share.Share); text != want {
						w.t.Errorf("%s: share is %s, want %s", words[0], text, want)
					}
					continue
				}
				q := resource.MustParse(want)
				if got[field] != valueOf(r.Resource, q) {
					w.t.Errorf("%s: %s of %s is %d, want %s", words[0], field, words[1], got[field], want)
				}
			}
			return
		}
	}
	w.t.Errorf("no quota %v", words)
}

// expect checks one workload: NAME in [FLAVOR | PODSET:FLAVOR…] [×COUNT] [DOMAIN:PODS…], NAME untried [parked], NAME
// evicted [REASON], NAME CONDITION [parked | active] ["TEXT"]…, NAME outside CONDITION.
func (w *world) expect(words []string) {
	w.t.Helper()
	o := w.objects[words[0]]
	if o == nil {
		w.t.Fatalf("no workload %q", words[0])
	}
	name, what, rest := words[0], words[1], words[2:]
	c := meta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadQuotaReserved)
	pending, queued := w.pending(name)
	switch what {
	case "in", "admitted":
		if c == nil || c.Status != metav1.ConditionTrue || w.state.workloads[w.key(name)].place != reserved {
			w.t.Errorf("%s has no quota: %+v", name, c)
			return
		}
		if what == "admitted" && !meta.IsStatusConditionTrue(o.Status.Conditions, kueue.WorkloadAdmitted) {
			w.t.Errorf("%s is not admitted", name)
		}
		w.expectAdmission(o, rest)
	case "untried":
		if c != nil || !queued || pending.Cycle != 0 {
			w.t.Errorf("%s was tried: %+v", name, c)
		}
		if slices.Contains(rest, "parked") != pending.Parked {
			w.t.Errorf("%s is parked: %t", name, pending.Parked)
		}
	case "evicted":
		e := meta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadEvicted)
		p := meta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadPreempted)
		if e == nil || e.Status != metav1.ConditionTrue {
			w.t.Errorf("%s is not evicted", name)
			return
		}
		if len(rest) > 0 && e.Reason != rest[0] && (p == nil || p.Reason != rest[0]) {
			w.t.Errorf("%s is evicted for %s: %+v, want %s", name, e.Reason, p, rest[0])
		}
	case "replaced":
		if done := meta.FindStatusCondition(o.Status.Conditions, kueue.WorkloadFinished); done == nil || done.Reason != reasonSliceReplaced {
			w.t.Errorf("%s is not replaced: %+v", name, done)
		}
	case "kept":
		if meta.IsStatusConditionTrue(o.Status.Conditions, kueue.WorkloadEvicted) {
			w.t.Errorf("%s is evicted", name)
		}
	case "inactive":
		if isActive(o) {
			w.t.Errorf("%s is active", name)
		}
	default:
		if c == nil || c.Status != metav1.ConditionFalse || c.Reason != what {
			w.t.Errorf("%s has the condition %+v, want %s", name, c, what)
			return
		}
		for _, word := range rest {
			switch word {
			case "parked", "active":
				if !queued || pending.Parked != (word == "parked") {
					w.t.Errorf("%s is queued %t and parked %t, want %s", name, queued, pending.Parked, word)
				}
			default:
				if !strings.Contains(c.Message, word) {
					w.t.Errorf("%s: the message %q does not contain %q", name, c.Message, word)
				}
			}
		}
	}
}

func (w *world) expectAdmission(o *kueue.Workload, words []string) {
	w.t.Helper()
	var flavors, domains []string
	pods := int32(0)
	for _, assigned := range o.Status.Admission.PodSetAssignments {
		for _, name := range slices.Sorted(maps.Keys(assigned.Flavors)) {
			flavor := string(assigned.Flavors[name])
			flavors = append(flavors, string(assigned.Name)+":"+flavor, flavor, string(name)+":"+flavor)
		}
		pods += *assigned.Count
		if assigned.TopologyAssignment != nil {
			for _, d := range Domains(assigned.TopologyAssignment) {
				domains = append(domains, fmt.Sprintf("%s:%d", d.Values[len(d.Values)-1], d.Pods), fmt.Sprintf("%s/%s:%d", assigned.Name, d.Values[len(d.Values)-1], d.Pods))
			}
		}
	}
	for _, word := range words {
		count, isCount := strings.CutPrefix(word, "x")
		switch {
		case isCount && len(count) > 0 && count[0] >= '0' && count[0] <= '9':
			if pods != int32(atoi(w.t, count)) {
				w.t.Errorf("%s has %d pods, want %s", o.Name, pods, count)
			}
		case !slices.Contains(flavors, word) && !slices.Contains(domains, word):
			w.t.Errorf("%s has the flavors %v and domains %v, want %s", o.Name, flavors, domains, word)
		}
	}
}

func (w *world) pending(name string) (Pending, bool) {
	for queue := range w.state.queues {
		for _, p := range w.state.Pending(queue, w.now) {
			if p.Workload.Name == name {
				return p, true
			}
		}
	}
	return Pending{}, false
}
