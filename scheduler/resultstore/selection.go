package resultstore

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
)

// field is a field that a query selects by and that has a facet.
type field int

const (
	byOutcome field = iota
	byNamespace
	byPlugin
	byReason
	byNode
	byProfile
	byRevision
	byOwner
	fields
)

// selection is a query in terms of an index: it has numbers for strings, and answers a question
// about a string once. It is valid until the index changes.
type selection struct {
	index *index
	uid   types.UID
	name  string
	asked [fields]bool

	outcome                                         result.Outcome
	namespace, plugin, reason, node, profile, owner wanted
	revision                                        int32
	words                                           []word
	since, until                                    int64
	buckets                                         int
	rejects                                         []rejects
}

// wanted is a string that the query gives. nowhere: no entry has it.
type wanted struct {
	id      uint32
	nowhere bool
}

func (w wanted) is(id uint32) bool { return !w.nowhere && w.id == id }

type rejects struct{ known, plugin, reason bool }

type word struct {
	text string
	// namespace and name are the parts around the first slash, if there is one.
	namespace, name string
	slash           bool
	texts, refusals []answer
}

type answer uint8

const (
	notAsked answer = iota
	no
	yes
)

func newSelection(x *index, q result.Query) *selection {
	s := &selection{
		index: x, uid: q.UID, name: q.Name, outcome: q.Outcome, revision: int32(q.Revision),
		since: nanoseconds(q.Since), until: nanoseconds(q.Until), buckets: q.Buckets,
	}
	s.asked[byOutcome], s.asked[byRevision] = q.Outcome != "", q.Revision != 0
	for _, f := range []struct {
		field field
		text  string
		want  *wanted
	}{
		{byNamespace, q.Namespace, &s.namespace}, {byPlugin, q.Plugin, &s.plugin}, {byReason, q.Reason, &s.reason},
		{byNode, q.Node, &s.node}, {byProfile, q.Profile, &s.profile}, {byOwner, q.Owner, &s.owner},
	} {
		id, known := x.texts.find(f.text)
		*f.want = wanted{id: id, nowhere: !known}
		s.asked[f.field] = f.text != ""
	}
	if s.asked[byPlugin] || s.asked[byReason] {
		s.rejects = make([]rejects, len(x.refusalLists.strings))
	}
	for _, text := range strings.Fields(strings.ToLower(q.Text)) {
		w := word{text: text, texts: make([]answer, len(x.texts.strings)), refusals: make([]answer, len(x.refusalLists.strings))}
		w.namespace, w.name, w.slash = strings.Cut(text, "/")
		s.words = append(s.words, w)
	}
	return s
}

// misses returns how many fields with a facet do not match, and one of them; more than one if the
// rest of the query leaves the entry out.
func (s *selection) misses(e *entry) (n int, missed field) {
	const all = int(fields) + 1
	if s.name != "" && s.name != e.pod.Name || s.since != 0 && e.start < s.since || s.until != 0 && e.start >= s.until {
		return all, 0
	}
	for f := range fields {
		if !s.asked[f] || s.matches(e, f) {
			continue
		}
		if n++; n > 1 {
			return n, 0
		}
		missed = f
	}
	for i := range s.words {
		if !s.words[i].in(e, s.index) {
			return all, 0
		}
	}
	return n, missed
}

func (s *selection) matches(e *entry, f field) bool {
	switch f {
	case byOutcome:
		return e.outcome == s.outcome
	case byNamespace:
		return s.namespace.is(e.pod.namespace)
	case byPlugin:
		return s.rejectsOf(e.refusals).plugin
	case byReason:
		return s.rejectsOf(e.refusals).reason
	case byNode:
		return s.node.is(e.selected) || s.node.is(e.nominated)
	case byProfile:
		return s.profile.is(e.profile)
	case byRevision:
		return e.revision == s.revision
	default:
		return s.owner.is(e.pod.owner)
	}
}

func (s *selection) rejectsOf(list uint32) rejects {
	known := &s.rejects[list]
	if !known.known {
		known.known = true
		for r := range refusalsIn(s.index.refusalLists.text(list)) {
			known.plugin = known.plugin || s.plugin.is(r.plugin)
			known.reason = known.reason || s.reason.is(r.reason)
		}
	}
	return *known
}

func (w *word) in(e *entry, x *index) bool {
	switch p := e.pod; {
	case strings.Contains(p.Name, w.text), w.inText(p.namespace, x), w.inText(p.owner, x):
		return true
	case w.slash && strings.HasSuffix(p.Namespace, w.namespace) && strings.HasPrefix(p.Name, w.name):
		return true
	}
	return w.inText(e.selected, x) || w.inText(e.nominated, x) || w.inRefusals(e.refusals, x)
}

func (w *word) inText(id uint32, x *index) bool {
	if w.texts[id] == notAsked {
		w.texts[id] = said(strings.Contains(strings.ToLower(x.texts.text(id)), w.text))
	}
	return w.texts[id] == yes
}

func (w *word) inRefusals(list uint32, x *index) bool {
	if w.refusals[list] == notAsked {
		found := false
		for r := range refusalsIn(x.refusalLists.text(list)) {
			found = found || w.inText(r.plugin, x) || w.inText(r.reason, x)
		}
		w.refusals[list] = said(found)
	}
	return w.refusals[list] == yes
}

func said(b bool) answer {
	if b {
		return yes
	}
	return no
}
