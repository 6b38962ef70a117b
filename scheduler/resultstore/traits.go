package resultstore

import (
	"encoding/binary"
	"time"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/scheduler/result"
)

// description is what queries select by, beside the pod. Keys on disk have it, so that a starting
// store need not read summaries.
type description struct {
	outcome                             result.Outcome
	start                               int64 // Unix, in nanoseconds
	revision                            int
	profile, selected, nominated, owner string
	refusals                            []refused
}

type refused struct{ plugin, reason string }

func describe(s *result.Summary) description {
	d := description{
		outcome: s.Outcome, start: nanoseconds(s.StartTime), revision: s.Revision,
		profile: s.Profile, selected: s.SelectedNode, nominated: s.NominatedNode, owner: s.Owner.String(),
	}
	if s.Refusal != nil {
		d.refusals = append(d.refusals, refused{s.Refusal.Plugin, s.Refusal.Reason})
		for _, f := range s.Refusal.Further {
			d.refusals = append(d.refusals, refused{f.Plugin, f.Reason})
		}
	}
	return d
}

// nanoseconds returns 0 for the zero time, which has no such number.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func (d *description) encode(out []byte) []byte {
	out = binary.AppendVarint(out, d.start)
	out = binary.AppendVarint(out, int64(d.revision))
	for _, s := range []string{d.profile, d.selected, d.nominated, d.owner} {
		out = blockfile.AppendBytes(out, s)
	}
	out = binary.AppendUvarint(out, uint64(len(d.refusals)))
	for _, r := range d.refusals {
		out = blockfile.AppendBytes(blockfile.AppendBytes(out, r.plugin), r.reason)
	}
	return out
}

// A block's keys repeat the same few strings, which share makes one.
func (d *description) decode(r *reader, share shared) {
	d.start, d.revision = r.Varint(), int(r.Varint())
	for _, s := range []*string{&d.profile, &d.selected, &d.nominated, &d.owner} {
		*s = share.string(r)
	}
	const least = 2 // bytes of a refusal
	n := r.count(least)
	if n == 0 {
		return
	}
	d.refusals = make([]refused, n)
	for i := range d.refusals {
		d.refusals[i] = refused{share.string(r), share.string(r)}
	}
}

// shared returns one string for equal bytes.
type shared map[string]string

func (h shared) string(r *reader) string {
	data := r.Take(r.Uvarint())
	if s, ok := h[string(data)]; ok {
		return s
	}
	s := string(data)
	h[s] = s
	return s
}

// traits are the description of an entry with numbers for strings.
type traits struct {
	start                        int64
	revision                     int32
	profile, selected, nominated uint32
	// refusals is a number in index.refusalLists.
	refusals uint32
}

type refusal struct{ plugin, reason uint32 }

// refusalBytes is the length of a refusal in a list, which is a string.
const refusalBytes = 8

func appendRefusal(list []byte, r refusal) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(list, r.plugin), r.reason)
}

func refusalsIn(list string) func(yield func(refusal) bool) {
	return func(yield func(refusal) bool) {
		for ; len(list) >= refusalBytes; list = list[refusalBytes:] {
			if !yield(refusal{number(list), number(list[4:])}) {
				return
			}
		}
	}
}

func number(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func (x *index) describe(e *entry, d description) {
	was, wasOwner := e.traits, e.pod.owner
	x.bytes -= x.internedBytes()
	e.outcome = d.outcome
	e.traits = traits{
		start: d.start, revision: int32(d.revision),
		profile: x.texts.hold(d.profile), selected: x.texts.hold(d.selected), nominated: x.texts.hold(d.nominated),
		refusals: x.holdRefusals(d.refusals),
	}
	e.pod.owner = x.texts.hold(d.owner)
	x.texts.release(wasOwner)
	x.release(was)
	x.bytes += x.internedBytes()
}

func (x *index) undescribe(e *entry) {
	x.bytes -= x.internedBytes()
	x.release(e.traits)
	e.traits = traits{}
	x.bytes += x.internedBytes()
}

func (x *index) internedBytes() int64 { return x.texts.bytes + x.refusalLists.bytes }

func (x *index) release(t traits) {
	for _, id := range []uint32{t.profile, t.selected, t.nominated} {
		x.texts.release(id)
	}
	list := x.refusalLists.text(t.refusals)
	if !x.refusalLists.release(t.refusals) {
		return
	}
	for r := range refusalsIn(list) {
		x.texts.release(r.plugin)
		x.texts.release(r.reason)
	}
}

// holdRefusals returns the number of a list. A list holds its strings once, however many uses it
// has.
func (x *index) holdRefusals(all []refused) uint32 {
	if len(all) == 0 {
		return 0
	}
	list := make([]byte, 0, refusalBytes*len(all))
	for _, r := range all {
		list = appendRefusal(list, refusal{x.texts.hold(r.plugin), x.texts.hold(r.reason)})
	}
	if _, known := x.refusalLists.ids[string(list)]; known {
		for _, r := range all {
			x.texts.release(x.texts.ids[r.plugin])
			x.texts.release(x.texts.ids[r.reason])
		}
	}
	return x.refusalLists.hold(string(list))
}
