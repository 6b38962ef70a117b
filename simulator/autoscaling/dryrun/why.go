package dryrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/awslabs/operatorpkg/serrors"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"kube-scheduler-simulator/simulator/autoscaling/provider"
)

// wish is what a pod wants of a node, without what it only prefers.
type wish struct {
	pod      *v1.Pod
	requests v1.ResourceList
	// terms are alternatives, and so are volumes; there is at least one of each.
	terms, volumes []requirements.Requirements
}

func (r *run) wishOf(ctx context.Context, pod *v1.Pod) (wish, error) {
	volumes, err := scheduling.NewVolumeTopology(r.snapshot).GetRequirements(ctx, pod)
	if err != nil {
		return wish{}, err
	}
	if len(volumes) == 0 {
		volumes = []requirements.Requirements{{}}
	}
	return wish{pod, resources.RequestsForPods(pod), terms(pod), volumes}, nil
}

// key is the same for pods that want the same.
func (w *wish) key() string {
	var b strings.Builder
	fmt.Fprint(&b, resources.String(w.requests), w.pod.Spec.Tolerations)
	for _, all := range [][]requirements.Requirements{w.terms, w.volumes} {
		for _, one := range all {
			fmt.Fprintf(&b, "|%s", exact(one))
		}
		b.WriteString("/")
	}
	return b.String()
}

// exact is a text with all of the requirements; their own leaves out values.
func exact(of requirements.Requirements) string {
	var all []string
	for _, one := range of.NodeSelectorRequirements() {
		all = append(all, fmt.Sprint(one.Key, one.Operator, one.Values))
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

// refusals says why each NodePool did not help a pod, but for the one of its new node, which is nil if it has none.
func (r *run) refusals(ctx context.Context, pod *v1.Pod, on *NewNode) (all []Refusal) {
	w, err := r.wishOf(ctx, pod)
	if err != nil {
		return []Refusal{{Kind: Unsupported, Reason: said(err)}}
	}
	explained := r.explain(w)
	later := false
	for i, p := range r.pools {
		refusal := explained[i]
		switch {
		case on != nil && p.Name == on.NodePool:
			later = true
			continue
		case refusal.Kind != "":
		case later:
			refusal.Kind, refusal.Reason = Later, "not tried: "+on.NodePool+" comes first and helps"
			refusal.Otherwise = nil
		default:
			refusal = r.bySolving(ctx, pod, p)
		}
		all = append(all, refusal)
	}
	return all
}

// explain returns a refusal for each of the pools; one without a Kind where nothing speaks against the pool.
func (r *run) explain(w wish) []Refusal {
	key := w.key()
	known, ok := r.explained[key]
	if !ok {
		for _, p := range r.pools {
			known = append(known, r.explainPool(w, p))
		}
		r.explained[key] = known
	}
	return known
}

func (r *run) explainPool(w wish, p *pool) Refusal {
	if p.never != nil {
		return *p.never
	}
	refusal := Refusal{NodePool: p.Name}
	for _, taint := range p.template.Spec.Taints {
		// One that is only a preference gives way.
		if taint.Effect != v1.TaintEffectPreferNoSchedule && requirements.Taints([]v1.Taint{taint}).ToleratesPod(w.pod) != nil {
			refusal.Taints = append(refusal.Taints, taint)
		}
	}
	together, kind, conflicts := p.together(w)
	if len(refusal.Taints) > 0 {
		refusal.Kind, refusal.Reason = Tainted, "the pod does not tolerate "+taintTexts(refusal.Taints)
		for _, all := range together {
			if fit, _ := r.sift(w, p, all); len(fit) > 0 {
				_, refusal.Otherwise = provider.Cheapest(fit, all)
				break
			}
		}
		return refusal
	}
	if kind != "" {
		refusal.Kind, refusal.Conflicts = kind, conflicts
		refusal.Reason = conflictTexts(kind, conflicts)
		return refusal
	}
	var lacking []lacking
	for i, all := range together {
		fit, others := r.sift(w, p, all)
		if len(fit) > 0 {
			return refusal
		}
		if i == 0 {
			lacking = others
		}
	}
	return withTypes(refusal, lacking, together[0])
}

// together returns the requirements of the NodePool and the pod taken together, one for each alternative that goes together, or else
// what excludes each other.
func (p *pool) together(w wish) (all []requirements.Requirements, kind Kind, conflicts []Conflict) {
	var terms []requirements.Requirements
	for _, term := range w.terms {
		if found := conflictsOf(p.template.Requirements, term); len(found) > 0 {
			conflicts = cmpOr(conflicts, found)
			continue
		}
		one := requirements.NewRequirements(p.template.Requirements.Values()...)
		one.Add(term.Values()...)
		terms = append(terms, one)
	}
	if len(terms) == 0 {
		return nil, Requirements, conflicts
	}
	conflicts = nil
	for _, term := range terms {
		for _, volume := range w.volumes {
			if found := conflictsOf(term, volume); len(found) > 0 {
				conflicts = cmpOr(conflicts, found)
				continue
			}
			one := requirements.NewRequirements(term.Values()...)
			one.Add(volume.Values()...)
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return nil, Volumes, conflicts
	}
	return all, "", nil
}

func cmpOr[T any](a, b []T) []T {
	if len(a) > 0 {
		return a
	}
	return b
}

// conflictsOf returns the labels on which has cannot satisfy wants, by name.
func conflictsOf(has, wants requirements.Requirements) (found []Conflict) {
	for _, key := range slices.Sorted(maps.Keys(wants)) {
		one := requirements.NewRequirements(wants[key])
		if has.IsCompatible(one, requirements.AllowUndefinedWellKnownLabels) {
			continue
		}
		c := Conflict{Key: key, Wanted: condition(wants[key])}
		if has.Has(key) {
			c.Offered = condition(has[key])
		}
		found = append(found, c)
	}
	return found
}

// condition is a requirement without its key.
func condition(r *requirements.Requirement) string {
	return strings.TrimPrefix(r.String(), r.Key+" ")
}

func conflictTexts(kind Kind, all []Conflict) string {
	who := "the pod wants"
	if kind == Volumes {
		who = "its volumes want"
	}
	var texts []string
	for _, c := range all {
		if c.Offered == "" {
			texts = append(texts, fmt.Sprintf("%s %s %s, and the NodePool gives its nodes no such label", who, c.Key, c.Wanted))
		} else {
			texts = append(texts, fmt.Sprintf("%s %s %s, and the NodePool has %s", who, c.Key, c.Wanted, c.Offered))
		}
	}
	return strings.Join(texts, "; ")
}

func taintTexts(all []v1.Taint) string {
	var texts []string
	for _, t := range all {
		texts = append(texts, t.ToString())
	}
	return "the taint " + strings.Join(texts, ", ")
}

// lacking is an instance type and what it lacks.
type lacking struct {
	of    *cloudprovider.InstanceType
	lack  Lack
	names []string
	why   []phrase
	short []Shortage
}

// phrase says something of types: a verb in the plural, and the rest.
type phrase struct{ verb, rest string }

// text says it of so many types.
func text(count int, all []phrase) string {
	var texts []string
	for _, p := range all {
		verb := p.verb
		if count == 1 {
			switch verb {
			case "are":
				verb = "is"
			case "have":
				verb = "has"
			case "can":
			default:
				verb += "s"
			}
		}
		texts = append(texts, verb+" "+p.rest)
	}
	return strings.Join(texts, " and ")
}

// sift parts the types of a NodePool into those that hold a pod and the others.
func (r *run) sift(w wish, p *pool, all requirements.Requirements) (fit []*cloudprovider.InstanceType, others []lacking) {
	for _, of := range p.types {
		if l, lacks := lackOf(of, all, resources.Merge(w.requests, p.overhead(r.daemons, of)), p.left); lacks {
			others = append(others, l)
		} else {
			fit = append(fit, of)
		}
	}
	return fit, others
}

// lackOf returns what a type lacks. It looks at the parts of which Karpenter's filter is made, and names the first that fails.
func lackOf(of *cloudprovider.InstanceType, wants requirements.Requirements, requests, left v1.ResourceList) (lacking, bool) {
	l := lacking{of: of}
	var apart []string
	for _, key := range slices.Sorted(maps.Keys(of.Requirements)) {
		if want, has := wants[key]; has && of.Requirements.Intersects(requirements.NewRequirements(want)) != nil {
			apart = append(apart, key)
		}
	}
	offered := func(key string) bool { return key == v1.LabelTopologyZone || key == karpenter.CapacityTypeLabelKey }
	if labels := slices.DeleteFunc(slices.Clone(apart), offered); len(labels) > 0 {
		l.lack, l.names = LackLabel, labels
		for _, key := range labels {
			l.why = append(l.why, is(key, of.Requirements[key]))
		}
		return l, true
	}
	if !resources.Fits(requests, of.Allocatable()) {
		l.lack = LackResources
		l.names, l.why, l.short = shortages(requests, of.Allocatable())
		return l, true
	}
	all := of.Offerings
	if len(apart) > 0 || !all.HasCompatible(wants) {
		l.lack, l.names = LackOffering, cmpOr(apart, []string{v1.LabelTopologyZone, karpenter.CapacityTypeLabelKey})
		var texts []string
		for _, key := range l.names {
			texts = append(texts, offering(key, wants.Get(key)))
		}
		l.why = []phrase{{"are", "not offered " + strings.Join(texts, " ")}}
		return l, true
	}
	if !all.Available().HasCompatible(wants) {
		l.lack, l.names = LackAvailability, []string{v1.LabelTopologyZone, karpenter.CapacityTypeLabelKey}
		l.why = []phrase{{"are", "offered there, but none can be had now"}}
		return l, true
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if of.Capacity.Name(name, resource.DecimalSI).Cmp(left[name]) > 0 || name == resources.Node && left.Name(name, resource.DecimalSI).Sign() <= 0 {
			l.names = append(l.names, string(name))
		}
	}
	if len(l.names) > 0 {
		l.lack, l.why = LackLimit, []phrase{{"exceed", "what the NodePool's limits leave of " + strings.Join(l.names, " and ")}}
		return l, true
	}
	return l, false
}

// is says what a type is on a label.
func is(key string, has *requirements.Requirement) phrase {
	switch key {
	case v1.LabelOSStable:
		return phrase{"run", valuesOf(has)}
	case v1.LabelArchStable:
		return phrase{"are", valuesOf(has)}
	case v1.LabelInstanceTypeStable:
		return phrase{"are", "not the type that is asked for"}
	}
	return phrase{"have", key + " " + valuesOf(has)}
}

// offering says where or how a type would have to be offered.
func offering(key string, wants *requirements.Requirement) string {
	switch {
	case wants.Operator() != v1.NodeSelectorOpIn:
		return strings.TrimSpace("with " + key + " " + condition(wants))
	case key == v1.LabelTopologyZone:
		return "in " + valuesOf(wants)
	}
	return "as " + valuesOf(wants)
}

// valuesOf joins the values of a requirement, or says what it demands if it names none.
func valuesOf(r *requirements.Requirement) string {
	if r.Operator() != v1.NodeSelectorOpIn {
		return condition(r)
	}
	values := r.Values()
	slices.Sort(values)
	return strings.Join(values, " or ")
}

func shortages(requests, allocatable v1.ResourceList) (names []string, why []phrase, short []Shortage) {
	var none, little []string
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		wanted, has := requests[name], allocatable[name]
		if wanted.Cmp(has) <= 0 {
			continue
		}
		names = append(names, string(name))
		short = append(short, Shortage{name, wanted.String(), has.String()})
		if has.Sign() <= 0 {
			none = append(none, string(name))
		} else {
			little = append(little, string(name))
		}
	}
	if len(none) > 0 {
		why = append(why, phrase{"lack", strings.Join(none, " and ")})
	}
	if len(little) > 0 {
		why = append(why, phrase{"have", "too little " + strings.Join(little, " and ")})
	}
	if len(why) == 0 {
		why = []phrase{{"leave", "nothing to pods"}} // their overhead exceeds their capacity
	}
	return names, why, short
}

// withTypes completes a refusal with what the types lack.
func withTypes(refusal Refusal, all []lacking, wants requirements.Requirements) Refusal {
	refusal.Kind, refusal.Reason = Types, "there are no instance types"
	groups := map[string][]lacking{}
	var permitted []*cloudprovider.InstanceType
	for _, l := range all {
		groups[text(2, l.why)] = append(groups[text(2, l.why)], l)
		if l.lack == LackLimit {
			permitted = append(permitted, l.of)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		of := groups[key]
		g := TypeGroup{Lack: of[0].lack, Reason: text(len(of), of[0].why), Count: len(of), Names: append([]string{}, of[0].names...)}
		for _, l := range of[:min(3, len(of))] {
			g.Examples = append(g.Examples, l.of.Name)
		}
		refusal.Types = append(refusal.Types, g)
	}
	slices.SortStableFunc(refusal.Types, func(a, b TypeGroup) int { return cmp.Compare(b.Count, a.Count) })
	var texts []string
	for i, g := range refusal.Types {
		noun := ""
		switch {
		case i > 0:
		case g.Count == 1:
			noun = "type "
		default:
			noun = "types "
		}
		texts = append(texts, fmt.Sprintf("%d %s%s", g.Count, noun, g.Reason))
	}
	if len(texts) > 0 {
		refusal.Reason = strings.Join(texts, ", ")
	}
	if len(permitted) > 0 {
		refusal.Kind = Limits
		_, refusal.Otherwise = provider.Cheapest(permitted, wants)
	}
	return refusal
}

// bySolving asks Karpenter about one pod and one NodePool against which nothing speaks.
func (r *run) bySolving(ctx context.Context, pod *v1.Pod, p *pool) Refusal {
	refusal := Refusal{NodePool: p.Name, Kind: Other, Reason: "Karpenter finds no place for the pod on a node of it"}
	if r.solos == 0 {
		return refusal
	}
	r.solos--
	results, err := r.solve(ctx, r.alone(p), r.settle([]*v1.Pod{pod}))
	if err != nil {
		refusal.Said = said(err)
		return refusal
	}
	if len(results.PodErrors) == 0 {
		refusal.Kind, refusal.Reason = Batch, "it would help the pod alone, and not together with the other pods that were asked about"
		return refusal
	}
	for _, one := range results.PodErrors {
		err = one
	}
	var filter scheduling.InstanceTypeFilterError
	var structured *serrors.Error
	switch {
	case errors.As(err, &filter):
		refusal.Kind, refusal.Reason, refusal.Said = Ports, "no instance type is left once the ports of DaemonSets are counted", said(err)
		if p.template.Requirements.HasMinValues() {
			refusal.Kind, refusal.Reason = MinValues, "fewer values are left than the NodePool demands by minValues"
		}
	case errors.As(err, &structured) && p.left != nil:
		refusal.Kind, refusal.Reason, refusal.Said = Limits, "its limits permit no further node", said(err)
	case errors.As(err, &structured):
		refusal.Kind, refusal.Reason = MinValues, "fewer values are left than the NodePool demands by minValues"
	default:
		// Karpenter's text has the made-up name of a node, and counts in no order.
		refusal.Kind, refusal.Reason = Topology, "spread, affinity or anti-affinity between pods leaves no domain on a node of it"
		if refusal.Constraints = r.decisive(ctx, pod, p); len(refusal.Constraints) > 0 {
			refusal.Reason = "no domain is left on a node of it; without one of these there would be: " + strings.Join(refusal.Constraints, "; ")
		}
	}
	return refusal
}

// decisive names the constraints of a pod of which each, if it were not there, would let Karpenter use the NodePool.
func (r *run) decisive(ctx context.Context, pod *v1.Pod, p *pool) (names []string) {
	try := func(name string, without *v1.Pod) {
		if r.solos == 0 {
			return
		}
		r.solos--
		if results, err := r.solve(ctx, r.alone(p), r.settle([]*v1.Pod{without})); err == nil && len(results.PodErrors) == 0 {
			names = append(names, name)
		}
	}
	for i, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == v1.DoNotSchedule {
			without := pod.DeepCopy()
			without.Spec.TopologySpreadConstraints = slices.Delete(without.Spec.TopologySpreadConstraints, i, i+1)
			try("its spread over "+c.TopologyKey, without)
		}
	}
	if pod.Spec.Affinity == nil {
		return names
	}
	if near := pod.Spec.Affinity.PodAffinity; near != nil {
		for i, term := range near.RequiredDuringSchedulingIgnoredDuringExecution {
			without := pod.DeepCopy()
			of := &without.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			*of = slices.Delete(*of, i, i+1)
			try("its affinity by "+term.TopologyKey, without)
		}
	}
	if apart := pod.Spec.Affinity.PodAntiAffinity; apart != nil {
		for i, term := range apart.RequiredDuringSchedulingIgnoredDuringExecution {
			without := pod.DeepCopy()
			of := &without.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			*of = slices.Delete(*of, i, i+1)
			try("its anti-affinity by "+term.TopologyKey, without)
		}
	}
	return names
}

// maxCheaper is how many cheaper offers an answer has of a node.
const maxCheaper = 3

// offered is an offer of a NodePool's types.
type offered struct {
	provider.Offer
	of        *cloudprovider.InstanceType
	available bool
}

// byPrice returns all offers, the dearest first. They are the same for each new node, and a large cloud has ten thousand.
func (p *pool) byPrice() []offered {
	if p.offers == nil {
		for _, of := range p.types {
			for _, o := range of.Offerings {
				p.offers = append(p.offers, offered{provider.OfferOf(of, o), of, o.Available})
			}
		}
		slices.SortFunc(p.offers, func(a, b offered) int {
			return cmp.Or(cmp.Compare(b.PricePerHour, a.PricePerHour), a.Compare(b.Offer))
		})
	}
	return p.offers
}

// cheaper returns what the offers for less than a price lack. Of equal prices, what the requirements exclude comes last.
func (r *run) cheaper(claim *scheduling.NodeClaim, p *pool, requests v1.ResourceList, price float64) (found []Cheaper) {
	zones, capacityTypes := claim.Requirements.Get(v1.LabelTopologyZone), claim.Requirements.Get(karpenter.CapacityTypeLabelKey)
	elsewhere := func(o *offered) bool { return !zones.Has(o.Zone) || !capacityTypes.Has(o.CapacityType) }
	all := p.byPrice()
	from, _ := slices.BinarySearchFunc(all, price, func(o offered, price float64) int {
		if o.PricePerHour >= price {
			return -1
		}
		return 1
	})
	all = all[from:]
	inOrder := func(yield func(*offered) bool) {
		for i := 0; i < len(all); {
			end := i
			for end < len(all) && all[end].PricePerHour == all[i].PricePerHour {
				end++
			}
			for _, last := range []bool{false, true} {
				for j := i; j < end; j++ {
					if elsewhere(&all[j]) == last && !yield(&all[j]) {
						return
					}
				}
			}
			i = end
		}
	}
	seen := map[string]bool{}
	lacks := map[*cloudprovider.InstanceType]lacking{}
	for o := range inOrder {
		if len(found) == maxCheaper {
			break
		}
		l, known := lacks[o.of]
		if !known {
			l, _ = lackOf(o.of, claim.Requirements, resources.Merge(requests, p.overhead(r.daemons, o.of)), p.left)
			lacks[o.of] = l
		}
		c := Cheaper{Offer: o.Offer, Lack: l.lack, Reason: text(1, l.why), Short: l.short}
		switch {
		case l.lack == LackLabel || l.lack == LackResources:
		case !capacityTypes.Has(o.CapacityType):
			c.Lack, c.Reason = LackOffering, p.whoWants(karpenter.CapacityTypeLabelKey)+" "+valuesOf(capacityTypes)
		case !zones.Has(o.Zone):
			c.Lack, c.Reason = LackOffering, p.whoWants(v1.LabelTopologyZone)+" "+valuesOf(zones)
		case !o.available:
			c.Lack, c.Reason = LackAvailability, "cannot be had now"
		case l.lack == "":
			c.Lack, c.Reason = LackLimit, "is not among the types that Karpenter counted as holding all of the pods"
		}
		if key := string(c.Lack) + c.Reason; !seen[key] {
			seen[key] = true
			found = append(found, c)
		}
	}
	return found
}

// whoWants names the one whose requirement decides on a label.
func (p *pool) whoWants(key string) string {
	if p.template.Requirements.Has(key) {
		return "the NodePool asks for"
	}
	return "the pods ask for"
}
