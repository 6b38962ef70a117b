package resultstore

import (
	"fmt"
	"io"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"kube-scheduler-simulator/scheduler/blockfile"
	"kube-scheduler-simulator/scheduler/result"
)

// A record is a cycle in three rows: its summary, its tables, and its rest. The tables (lists of
// nodes, verdicts, scores) grow with the cluster and have a format that is fast to write and needs
// no compression. Summary and rest are CBOR by field name: new fields of result need no change
// here, and readers ignore removed ones. A test fills every field and reads it back.

// These types lack the methods that write the public form, which sorts.
type (
	plainFilter     result.Filter
	plainScore      result.Score
	plainRejections result.ExtenderRejections
)

type rest struct {
	Cycle  *result.Cycle
	Filter *plainFilter `cbor:",omitempty"`
	Score  *plainScore  `cbor:",omitempty"`
	// Rejections are those of Cycle.Extenders, nil for a call without any.
	Rejections []*plainRejections `cbor:",omitempty"`
}

// CBOR keeps types with a JSON form of their own as that JSON, and text even if it is not UTF-8.
// Only a list's bytes bound its length.
var (
	encoding = must(cbor.EncOptions{
		Time:                    cbor.TimeRFC3339Nano,
		JSONMarshalerTranscoder: wrapJSON{},
	}.UserBufferEncMode())
	decoding = must(cbor.DecOptions{
		UTF8:                      cbor.UTF8DecodeInvalid,
		MaxArrayElements:          maxListLength,
		MaxMapPairs:               maxListLength,
		JSONUnmarshalerTranscoder: unwrapJSON{},
	}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type wrapJSON struct{}

func (wrapJSON) Transcode(dst io.Writer, src io.Reader) error {
	document, err := io.ReadAll(src)
	if err != nil {
		return err
	}
	return encoding.NewEncoder(dst).Encode(document)
}

type unwrapJSON struct{}

func (unwrapJSON) Transcode(dst io.Writer, src io.Reader) error {
	var document []byte
	if err := decoding.NewDecoder(src).Decode(&document); err != nil {
		return err
	}
	_, err := dst.Write(document)
	return err
}

// encodeRecord adds a cycle to a block. It does not change c, and on failure not the block.
func (b *blockBuilder) encodeRecord(c *result.Cycle) (err error) {
	defer func() {
		if err != nil {
			b.summaries.undo()
			b.tables.undo()
			b.rests.undo()
		}
	}()
	if err := encoding.MarshalToBuffer(&c.Summary, &b.summaries.data); err != nil {
		return fmt.Errorf("encoding a summary: %w", err)
	}
	d := detach(c)
	b.tables.data.Write(b.takeTables(b.tables.data.AvailableBuffer(), d))
	r := rest{Cycle: d, Filter: (*plainFilter)(d.Filter), Score: (*plainScore)(d.Score)}
	for i := range d.Extenders {
		r.Rejections = append(r.Rejections, (*plainRejections)(d.Extenders[i].Rejected))
		d.Extenders[i].Rejected = nil
	}
	d.Summary, d.Filter, d.Score = result.Summary{}, nil, nil
	if err := encoding.MarshalToBuffer(&r, &b.rests.data); err != nil {
		return fmt.Errorf("encoding a cycle: %w", err)
	}
	if b.size() > maxPartBytes/2 {
		return fmt.Errorf("encoding a cycle: %d bytes are too many", b.size())
	}
	b.summaries.end()
	b.tables.end()
	b.rests.end()
	return nil
}

func (b *blockBuilder) takeTables(out []byte, d *result.Cycle) []byte {
	for _, list := range nodeLists(d) {
		out = b.names.appendList(out, list.get())
		list.set(nil)
	}
	if f := d.Filter; f != nil {
		out = appendInts(out, f.VerdictOf)
		f.VerdictOf = nil
	}
	if s := d.Score; s != nil {
		b.scores.from(s)
		out = b.scores.append(out)
		s.Raw, s.Normalized, s.Weighted, s.Totals = nil, nil, nil, result.Column{}
		for i := range s.Extenders {
			s.Extenders[i].Answered, s.Extenders[i].Counted = result.Column{}, result.Column{}
		}
	}
	for i := range d.Extenders {
		if r := d.Extenders[i].Rejected; r != nil {
			out = appendInts(out, r.ReasonOf)
			r.ReasonOf = nil
		}
	}
	return out
}

// detach copies what encodeRecord removes from a cycle.
func detach(c *result.Cycle) *result.Cycle {
	d := *c
	if c.Filter != nil {
		f := *c.Filter
		d.Filter = &f
	}
	if c.Score != nil {
		s := *c.Score
		s.Extenders = slices.Clone(s.Extenders)
		d.Score = &s
	}
	d.Extenders = slices.Clone(c.Extenders)
	for i := range d.Extenders {
		if r := d.Extenders[i].Rejected; r != nil {
			rejected := *r
			d.Extenders[i].Rejected = &rejected
		}
	}
	d.PreFilter = slices.Clone(c.PreFilter)
	if c.Preemption != nil {
		p := *c.Preemption
		p.Unhelpful = slices.Clone(p.Unhelpful)
		d.Preemption = &p
	}
	return &d
}

type listField interface {
	get() []string
	set(list []string)
}

type (
	namesField    struct{ to *[]string }
	nodeListField struct{ to *result.NodeList }
)

func (f namesField) get() []string     { return *f.to }
func (f namesField) set(list []string) { *f.to = list }

func (f nodeListField) get() []string     { return f.to.Names() }
func (f nodeListField) set(list []string) { *f.to = result.NewNodeList(list...) }

// nodeLists returns the lists that may name every node of the cluster. Their order does not depend
// on the tables. Other long lists take more bytes.
func nodeLists(c *result.Cycle) []listField {
	var lists []listField
	for i := range c.PreFilter {
		lists = append(lists, namesField{&c.PreFilter[i].Nodes})
	}
	if c.Filter != nil {
		lists = append(lists, nodeListField{&c.Filter.Nodes})
	}
	if c.Preemption != nil {
		for i := range c.Preemption.Unhelpful {
			lists = append(lists, namesField{&c.Preemption.Unhelpful[i].Nodes})
		}
	}
	if c.Score != nil {
		lists = append(lists, nodeListField{&c.Score.Nodes})
		for i := range c.Score.Extenders {
			lists = append(lists, namesField{&c.Score.Extenders[i].Unscored})
		}
	}
	for i := range c.Extenders {
		if r := c.Extenders[i].Rejected; r != nil {
			lists = append(lists, namesField{&r.Nodes})
		}
	}
	return lists
}

func decodeSummary(data []byte) (result.Summary, error) {
	var s result.Summary
	if err := decoding.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("decoding a summary: %w", err)
	}
	return s, nil
}

type record struct {
	summary, tables, rest []byte
}

func decodeRecord(in record, names []string) (*result.Cycle, error) {
	summary, err := decodeSummary(in.summary)
	if err != nil {
		return nil, err
	}
	var r rest
	if err := decoding.Unmarshal(in.rest, &r); err != nil {
		return nil, fmt.Errorf("decoding a cycle: %w", err)
	}
	if r.Cycle == nil {
		return nil, fmt.Errorf("decoding a cycle: %w", blockfile.ErrShort)
	}
	c := r.Cycle
	c.Summary, c.Filter, c.Score = summary, (*result.Filter)(r.Filter), (*result.Score)(r.Score)
	for i := range min(len(c.Extenders), len(r.Rejections)) {
		c.Extenders[i].Rejected = (*result.ExtenderRejections)(r.Rejections[i])
	}

	tables := newReader(in.tables)
	for _, list := range nodeLists(c) {
		list.set(tables.list(names))
	}
	if c.Filter != nil {
		c.Filter.VerdictOf = tables.indexes(c.Filter.Nodes.Len(), len(c.Filter.Verdicts))
	}
	if c.Score != nil {
		var scores scoreTable
		scores.read(&tables, c.Score)
		scores.to(c.Score)
	}
	for i := range c.Extenders {
		if r := c.Extenders[i].Rejected; r != nil {
			r.ReasonOf = tables.indexes(len(r.Nodes), len(r.Reasons))
		}
	}
	if tables.Err != nil {
		return nil, fmt.Errorf("decoding the tables of a cycle: %w", tables.Err)
	}
	return c, nil
}

// indexes reads a number per node; each must be a valid index into n elements.
func (r *reader) indexes(nodes, n int) []uint16 {
	values := r.ints(nil)
	if len(values) != nodes {
		r.fail()
		return nil
	}
	if values == nil {
		return nil
	}
	out := make([]uint16, len(values))
	for i, v := range values {
		if v < 0 || v >= int64(n) {
			r.fail()
			return nil
		}
		out[i] = uint16(v)
	}
	return out
}
