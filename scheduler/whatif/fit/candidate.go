package fit

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/component-helpers/scheduling/corev1"

	"kube-scheduler-simulator/scheduler/explain"
)

// candidate is a set of remedies that may make the pod fit on a node.
type candidate struct {
	// node is the name of the node; that of the new one if the remedies add one.
	node     string
	remedies []remedy
}

// with returns the candidate with further remedies. A remedy that it has already counts
// once.
func (c candidate) with(more ...remedy) candidate {
	out := candidate{c.node, slices.Clip(c.remedies)}
	for _, r := range more {
		if !slices.ContainsFunc(out.remedies, func(own remedy) bool { return own.key() == r.key() }) {
			out.remedies = append(out.remedies, r)
		}
	}
	slices.SortStableFunc(out.remedies, func(a, b remedy) int {
		return cmp.Or(cmp.Compare(a.disturbance, b.disturbance), strings.Compare(a.shape, b.shape))
	})
	return out
}

// key is the same for remedies that do the same.
func (r remedy) key() string { return r.shape + " " + r.detail }

func (c candidate) key() string { return c.join(remedy.key) }

// shape is shared by candidates that differ in amounts or in the node only.
func (c candidate) shape() string { return c.join(func(r remedy) string { return r.shape }) }

func (c candidate) join(of func(remedy) string) string {
	parts := make([]string, len(c.remedies))
	for i, r := range c.remedies {
		parts[i] = of(r)
	}
	return strings.Join(parts, "; ")
}

// disturbs returns the strongest disturbance of the remedies.
func (c candidate) disturbs() disturbance {
	out := ofNone
	for _, r := range c.remedies {
		out = max(out, r.disturbance)
	}
	return out
}

func (c candidate) cost() float64 { return cure(c.remedies).cost() }

// amount is what the remedies do together.
func (c candidate) amount() float64 {
	sum := 0.0
	for _, r := range c.remedies {
		sum += r.amount()
	}
	return sum
}

// victims counts the pods that the candidate evicts, with their highest priority and the
// sum of their priorities.
func (c candidate) victims() (pods int, highest int32, sum int64) {
	for _, r := range c.remedies {
		for _, p := range r.victims {
			priority := corev1.PodPriority(p)
			if pods == 0 || priority > highest {
				highest = priority
			}
			pods++
			sum += int64(priority)
		}
	}
	return pods, highest, sum
}

// pushed counts the evicted pods whose replacements then wait, as far as that is known.
func (c candidate) pushed() int {
	out := 0
	for _, r := range c.remedies {
		if says, ok := r.says.(explain.Evict); ok {
			for _, p := range says.Pods {
				if p.Replacement != nil && p.Replacement.Node == "" {
					out++
				}
			}
		}
	}
	return out
}

// size is how much of their nodes the evicted pods ask for.
func (c candidate) size() float64 {
	sum := 0.0
	for _, r := range c.remedies {
		sum += r.size
	}
	return sum
}

// compare orders candidates by how much they disturb: first by whom, then the one with
// fewer steps, with fewer victims, those of a lower priority, the smaller pods, and with the smaller
// changes. Equal ones are in the order of their nodes.
func (c candidate) compare(o candidate) int {
	pods, highest, sum := c.victims()
	otherPods, otherHighest, otherSum := o.victims()
	return cmp.Or(
		cmp.Compare(c.disturbs(), o.disturbs()),
		cmp.Compare(len(c.remedies), len(o.remedies)),
		cmp.Compare(pods, otherPods),
		cmp.Compare(highest, otherHighest),
		cmp.Compare(sum, otherSum),
		cmp.Compare(c.pushed(), o.pushed()),
		cmp.Compare(c.size(), o.size()),
		cmp.Compare(c.cost(), o.cost()),
		strings.Compare(c.node, o.node),
		strings.Compare(c.key(), o.key()),
	)
}

// steps returns what the candidate does, as data.
func (c candidate) steps() []explain.Statement {
	var out []explain.Statement
	for _, r := range c.remedies {
		out = append(out, explain.Statement{Operands: r.says})
	}
	return out
}

// combinations returns the candidates that choose one cure for each obstacle, with at most
// most remedies.
func combinations(base candidate, alternatives [][]cure, most int) []candidate {
	out := []candidate{base}
	for _, cures := range alternatives {
		var next []candidate
		for _, c := range out {
			for _, cure := range cures {
				if with := c.with(cure...); len(with.remedies) <= most {
					next = append(next, with)
				}
			}
		}
		out = next
	}
	return out
}

// pool holds candidates by their shape. Of each shape it keeps the best few.
type pool struct {
	byShape map[string][]candidate
	// kept counts those of each shape; further ones are dropped.
	kept int
	// done are the shapes that were tried.
	done map[string]bool
}

func newPool(kept int) *pool {
	return &pool{byShape: map[string][]candidate{}, kept: kept, done: map[string]bool{}}
}

func (p *pool) add(c candidate) {
	shape := c.shape()
	if p.done[shape] {
		return
	}
	all := p.byShape[shape]
	at, found := slices.BinarySearchFunc(all, c, candidate.compare)
	if found || at == p.kept {
		return
	}
	if all = slices.Insert(all, at, c); len(all) > p.kept {
		all = all[:p.kept]
	}
	p.byShape[shape] = all
}

// next removes and returns the candidates of the shape that is ahead, those with size
// steps that disturb no more than most. It returns nil when there are none.
func (p *pool) next(size int, most disturbance) []candidate {
	best := ""
	for shape, all := range p.byShape {
		if c := all[0]; len(c.remedies) == size && c.disturbs() <= most && (best == "" || c.compare(p.byShape[best][0]) < 0) {
			best = shape
		}
	}
	if best == "" {
		return nil
	}
	out := p.byShape[best]
	delete(p.byShape, best)
	p.done[best] = true
	return out
}

// left counts the shapes with size steps that were not tried.
func (p *pool) left(size int, most disturbance) int {
	n := 0
	for _, all := range p.byShape {
		if len(all[0].remedies) == size && all[0].disturbs() <= most {
			n++
		}
	}
	return n
}
