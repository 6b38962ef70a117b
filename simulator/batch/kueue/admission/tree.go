package admission

import (
	"cmp"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

type flavorResource struct {
	flavor   string
	resource v1.ResourceName
}

func compareFlavorResources(a, b flavorResource) int {
	return cmp.Or(cmp.Compare(a.flavor, b.flavor), cmp.Compare(a.resource, b.resource))
}

// amounts are quantities by flavor and resource, cpu in thousandths of a core.
type amounts map[flavorResource]int64

func (a amounts) add(b amounts) {
	for fr, v := range b {
		a[fr] = saturatingAdd(a[fr], v)
	}
}

// list returns the amounts in a fixed order.
func (a amounts) list() []Amount {
	var list []Amount
	for fr, v := range a {
		list = append(list, Amount{Flavor: fr.flavor, Resource: fr.resource, Value: v})
	}
	slices.SortFunc(list, func(a, b Amount) int {
		return cmp.Or(cmp.Compare(a.Flavor, b.Flavor), cmp.Compare(a.Resource, b.Resource))
	})
	return list
}

// quota is what one node of the tree offers of its own.
type quota struct {
	nominal            int64
	borrowing, lending *int64
}

// node is a ClusterQueue or a Cohort in a tree of quota. The arithmetic is Kueue's; each flavor
// and resource is on its own.
type node struct {
	name     string
	cohort   bool
	parent   *node
	children []*node
	// height is 0 for a ClusterQueue, and one more than the highest child for a Cohort.
	height int
	weight float64

	quotas quotas
	// subtree is the quota of the node and of all below it that they lend, and usage what is
	// taken of it: by workloads for a ClusterQueue, by its children for a Cohort.
	subtree, usage amounts
}

type quotas map[flavorResource]quota

// local is the part of a node's quota that no other node may use.
func (n *node) local(fr flavorResource) int64 {
	if limit := n.quotas[fr].lending; limit != nil && n.parent != nil {
		return max(0, n.subtree[fr]-*limit)
	}
	return 0
}

func (n *node) localAvailable(fr flavorResource) int64 {
	return max(0, n.local(fr)-n.usage[fr])
}

// available is what can be taken now. It is negative after a quota was cut.
func (n *node) available(fr flavorResource) int64 {
	if n.parent == nil {
		return n.subtree[fr] - n.usage[fr]
	}
	above := n.parent.available(fr)
	if limit := n.quotas[fr].borrowing; limit != nil {
		local := n.local(fr)
		room := saturatingAdd(n.subtree[fr]-local-max(0, n.usage[fr]-local), *limit)
		above = min(above, room)
	}
	return saturatingAdd(n.localAvailable(fr), above)
}

// potential is what the node could take if no other node used anything.
func (n *node) potential(fr flavorResource) int64 {
	if n.parent == nil {
		return n.subtree[fr]
	}
	most := saturatingAdd(n.local(fr), n.parent.potential(fr))
	if limit := n.quotas[fr].borrowing; limit != nil {
		most = min(most, saturatingAdd(n.subtree[fr], *limit))
	}
	return most
}

// use takes v, which may be negative to give it back.
func (n *node) use(fr flavorResource, v int64) {
	before := max(0, n.usage[fr]-n.local(fr))
	n.usage[fr] = saturatingAdd(n.usage[fr], v)
	if n.parent == nil {
		return
	}
	if above := max(0, n.usage[fr]-n.local(fr)) - before; above != 0 {
		n.parent.use(fr, above)
	}
}

func (n *node) useAll(usage amounts) {
	for fr, v := range usage {
		n.use(fr, v)
	}
}

func (n *node) freeAll(usage amounts) {
	for fr, v := range usage {
		n.use(fr, -v)
	}
}

// fits reports whether all of usage can be taken now.
func (n *node) fits(usage amounts) bool {
	for fr, v := range usage {
		if v > max(0, n.available(fr)) {
			return false
		}
	}
	return true
}

// borrows reports whether the node exceeds its quota, with v more.
func (n *node) borrows(fr flavorResource, v int64) bool {
	return saturatingAdd(n.usage[fr], v) > n.subtree[fr]
}

func (n *node) withinQuota(frs frSet) bool {
	for fr := range frs {
		if n.borrows(fr, 0) {
			return false
		}
	}
	return true
}

type frSet map[flavorResource]bool

// level returns the height of the lowest subtree around a ClusterQueue whose quota holds v more,
// or the root's height if none does. smaller reports that one holds it that is less than the
// whole tree.
func (n *node) level(fr flavorResource, v int64) (height int, smaller bool) {
	if n.parent == nil {
		return 0, false
	}
	for at := n; ; at = at.parent {
		if !at.borrows(fr, v) {
			return at.height, at.parent != nil
		}
		if at.parent == nil {
			return at.height, false
		}
		v -= at.localAvailable(fr)
	}
}

func (n *node) root() *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// cohorts returns the names of the Cohorts above, the nearest first.
func (n *node) cohorts() []string {
	var names []string
	for at := n.parent; at != nil; at = at.parent {
		names = append(names, at.name)
	}
	return names
}

// share returns how much the node borrows of what its parent could lend, in thousandths: the
// largest over resources, divided by the weight.
func (n *node) share() share {
	if n.parent == nil {
		return share{}
	}
	borrowed := make(map[v1.ResourceName]int64)
	for fr, used := range n.usage {
		if over := used - n.subtree[fr]; over > 0 {
			borrowed[fr.resource] = saturatingAdd(borrowed[fr.resource], over)
		}
	}
	if len(borrowed) == 0 {
		return share{}
	}
	lendable := make(map[v1.ResourceName]int64, len(borrowed))
	for fr := range n.root().subtree {
		if borrowed[fr.resource] > 0 {
			lendable[fr.resource] = saturatingAdd(lendable[fr.resource], n.parent.potential(fr))
		}
	}
	var ratio float64
	for name, over := range borrowed {
		if lendable[name] > 0 {
			ratio = max(ratio, float64(over)*1000/float64(lendable[name]))
		}
	}
	if n.weight == 0 {
		return share{value: ratio, infinite: true}
	}
	return share{value: ratio / n.weight}
}

// share is a share of a cohort's quota. An infinite one, of a borrower of weight 0, exceeds every
// finite one; two infinite ones compare by the unweighted value.
type share struct {
	value    float64
	infinite bool
}

func compareShares(a, b share) int {
	switch {
	case a.infinite == b.infinite:
		return cmp.Compare(a.value, b.value)
	case a.infinite:
		return 1
	default:
		return -1
	}
}

func (s share) zero() bool { return s.value == 0 && !s.infinite }

// tree is every Cohort and ClusterQueue.
type tree struct {
	queues  map[string]*node
	cohorts map[string]*node
	// looped are the Cohorts that are their own ancestors, and those below them.
	looped map[string]bool
	// order are all nodes, each after its parent.
	order []*node
}

// newTree builds the trees of quota, without usage.
func newTree(queues map[string]*kueue.ClusterQueue, cohorts map[string]*kueue.Cohort) *tree {
	t := &tree{queues: make(map[string]*node), cohorts: make(map[string]*node), looped: make(map[string]bool)}
	parentOf := func(cohort string) string {
		if object := cohorts[cohort]; object != nil {
			return string(object.Spec.ParentName)
		}
		return ""
	}
	var cohort func(name string) *node
	cohort = func(name string) *node {
		if n := t.cohorts[name]; n != nil {
			return n
		}
		n := &node{name: name, cohort: true, weight: 1, quotas: make(quotas)}
		t.cohorts[name] = n
		if object := cohorts[name]; object != nil {
			n.quotas = quotasOf(object.Spec.ResourceGroups)
			n.weight = weightOf(object.Spec.FairSharing)
		}
		if looped(name, parentOf) {
			t.looped[name] = true
			return n
		}
		if parent := parentOf(name); parent != "" {
			n.parent = cohort(parent)
		}
		return n
	}
	for name := range cohorts {
		cohort(name)
	}
	for name, object := range queues {
		n := &node{name: name, weight: weightOf(object.Spec.FairSharing), quotas: quotasOf(object.Spec.ResourceGroups)}
		if object.Spec.CohortName != "" {
			n.parent = cohort(string(object.Spec.CohortName))
		}
		t.queues[name] = n
	}
	t.link()
	return t
}

// looped reports whether going up from a Cohort never ends.
func looped(name string, parentOf func(string) string) bool {
	seen := make(map[string]bool)
	for name != "" {
		if seen[name] {
			return true
		}
		seen[name] = true
		name = parentOf(name)
	}
	return false
}

// link sets the children, the order, the heights and the quota of subtrees.
func (t *tree) link() {
	var roots []*node
	for _, nodes := range []map[string]*node{t.cohorts, t.queues} {
		for _, n := range nodes {
			n.subtree, n.usage = make(amounts), make(amounts)
			if n.parent == nil {
				roots = append(roots, n)
				continue
			}
			n.parent.children = append(n.parent.children, n)
		}
	}
	var walk func(nodes []*node)
	walk = func(nodes []*node) {
		// Cohorts come first, so that an overview shows the shared part on top.
		slices.SortFunc(nodes, func(a, b *node) int {
			if a.cohort != b.cohort {
				if a.cohort {
					return -1
				}
				return 1
			}
			return cmp.Compare(a.name, b.name)
		})
		for _, n := range nodes {
			t.order = append(t.order, n)
			walk(n.children)
		}
	}
	walk(roots)
	for _, n := range slices.Backward(t.order) {
		for fr, q := range n.quotas {
			n.subtree[fr] = saturatingAdd(n.subtree[fr], q.nominal)
		}
		if n.cohort {
			n.height = max(n.height, 1)
		}
		if n.parent == nil {
			continue
		}
		n.parent.height = max(n.parent.height, n.height+1)
		for fr, v := range n.subtree {
			n.parent.subtree[fr] = saturatingAdd(n.parent.subtree[fr], v-n.local(fr))
		}
	}
}

// copy returns a tree whose usage changes on its own. Quotas are shared.
func (t *tree) copy() *tree {
	c := &tree{queues: make(map[string]*node, len(t.queues)), cohorts: make(map[string]*node, len(t.cohorts)), looped: t.looped, order: make([]*node, 0, len(t.order))}
	copies := make(map[*node]*node, len(t.order))
	for _, n := range t.order {
		m := *n
		m.children = nil
		m.usage = make(amounts, len(n.usage))
		for fr, v := range n.usage {
			m.usage[fr] = v
		}
		if n.parent != nil {
			m.parent = copies[n.parent]
			m.parent.children = append(m.parent.children, &m)
		}
		copies[n] = &m
		c.order = append(c.order, &m)
		if n.cohort {
			c.cohorts[n.name] = &m
		} else {
			c.queues[n.name] = &m
		}
	}
	return c
}

func quotasOf(groups []kueue.ResourceGroup) quotas {
	own := make(quotas)
	for _, group := range groups {
		for _, flavor := range group.Flavors {
			for _, r := range flavor.Resources {
				own[flavorResource{string(flavor.Name), r.Name}] = quota{
					nominal:   valueOf(r.Name, r.NominalQuota),
					borrowing: limitOf(r.Name, r.BorrowingLimit),
					lending:   limitOf(r.Name, r.LendingLimit),
				}
			}
		}
	}
	return own
}

func weightOf(sharing *kueue.FairSharing) float64 {
	if sharing == nil || sharing.Weight == nil {
		return 1
	}
	return sharing.Weight.AsApproximateFloat64()
}

func limitOf(name v1.ResourceName, limit *resource.Quantity) *int64 {
	if limit == nil {
		return nil
	}
	v := valueOf(name, *limit)
	return &v
}

// valueOf counts cpu in thousandths of a core, and everything else in units.
func valueOf(name v1.ResourceName, q resource.Quantity) int64 {
	if name == v1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// quantityOf is the reverse of valueOf.
func quantityOf(name v1.ResourceName, v int64) resource.Quantity {
	switch {
	case name == v1.ResourceCPU:
		return *resource.NewMilliQuantity(v, resource.DecimalSI)
	case name == v1.ResourceMemory || name == v1.ResourceEphemeralStorage || isHugePages(name):
		return *resource.NewQuantity(v, resource.BinarySI)
	default:
		return *resource.NewQuantity(v, resource.DecimalSI)
	}
}

func quantityText(name v1.ResourceName, v int64) string {
	q := quantityOf(name, v)
	return q.String()
}

func isHugePages(name v1.ResourceName) bool {
	return len(name) > len(v1.ResourceHugePagesPrefix) && name[:len(v1.ResourceHugePagesPrefix)] == v1.ResourceHugePagesPrefix
}

// saturatingAdd keeps sums of huge quotas at the largest value, which means unlimited.
func saturatingAdd(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}
