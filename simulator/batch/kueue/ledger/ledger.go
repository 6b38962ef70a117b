// Package ledger keeps what the cycles of Kueue's admission did, newest last, within bounds, and answers queries about them.
//
// The package decides nothing. It may import simulator/batch/kueue/admission and simulator/host/recordlog.
package ledger

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"

	"k8s.io/klog/v2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/host/recordlog"
)

// DefaultBytes bounds the ledger by default. An entry takes one to a few kilobytes.
const DefaultBytes = 32 << 20

type Options struct {
	// Bytes bounds the entries as JSON, in memory and on disk each. Default DefaultBytes.
	Bytes int64
	// Dir is the directory of the files, which Start creates. Default: there are none.
	Dir string
	// Logger receives problems of writing. The ledger goes on in memory.
	Logger klog.Logger
}

type Entry struct {
	// ID counts from 1, over restarts.
	ID int64 `json:"id"`
	admission.Record
}

// Ledger is safe for concurrent use.
type Ledger struct {
	opts Options
	log  *recordlog.Log[[]head]
}

type head struct {
	namespace, name, clusterQueue string
	outcome                       admission.Outcome
}

// New returns a ledger that has not started.
func New(options Options) *Ledger {
	if options.Bytes <= 0 {
		options.Bytes = DefaultBytes
	}
	return &Ledger{options, recordlog.New(recordlog.Options[[]head]{
		What: "the admissions", Magic: "KADM1\n", Suffix: ".admissions", Read: read, Bytes: options.Bytes, Dir: options.Dir, Logger: options.Logger,
	})}
}

func read(text []byte) (int64, []head, error) {
	var entry Entry
	err := json.Unmarshal(text, &entry)
	return entry.ID, headsOf(&entry.Record), err
}

func headsOf(record *admission.Record) []head {
	var out []head
	for _, h := range record.Heads {
		out = append(out, head{h.Workload.Namespace, h.Workload.Name, h.ClusterQueue, h.Outcome})
	}
	if p := record.Problem; p != nil {
		out = append(out, head{namespace: p.Namespace, name: p.Workload})
	}
	return out
}

// Start creates the directory and reads the files. A damaged entry costs no other one.
func (l *Ledger) Start() error {
	if l.opts.Dir != "" {
		if err := os.MkdirAll(l.opts.Dir, 0o700); err != nil {
			return fmt.Errorf("creating the directory of the admissions: %w", err)
		}
	}
	return l.log.Start()
}

func (l *Ledger) Stop() error { return l.log.Stop() }

// Reset removes all entries, in memory and on disk. IDs go on.
func (l *Ledger) Reset() error { return l.log.Reset() }

func (l *Ledger) Append(record *admission.Record) {
	err := l.log.Append(func(id int64) ([]head, []byte, error) {
		text, err := json.Marshal(Entry{id, *record})
		return headsOf(record), text, err
	})
	if err != nil {
		l.opts.Logger.Error(err, "A cycle of admission cannot be kept")
	}
}

// Query selects entries. Empty fields match everything; those that name a head must fit the same head.
type Query struct {
	Namespace, Name, ClusterQueue string
	Outcome                       admission.Outcome
	// Limit bounds the page; 0 means DefaultLimit.
	Limit int
	// Continue is that of the previous page.
	Continue string
}

// The limits of a page.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Page is a part of the ledger, newest first.
type Page struct {
	Items []json.RawMessage `json:"items"`
	// Continue is the Query's for the next page; "" on the last one.
	Continue string `json:"continue"`
}

// List returns a page. It fails if Continue does not come from an earlier one.
func (l *Ledger) List(q Query) (Page, error) {
	below := int64(-1)
	if q.Continue != "" {
		var err error
		if below, err = strconv.ParseInt(q.Continue, 10, 64); err != nil || below < 0 {
			return Page{}, fmt.Errorf("%q does not come from an earlier page", q.Continue)
		}
	}
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	page := Page{Items: []json.RawMessage{}}
	for r := range l.log.Newest(below) {
		if !q.fits(r.Key) {
			continue
		}
		if len(page.Items) == q.Limit {
			page.Continue = strconv.FormatInt(below, 10)
			return page, nil
		}
		page.Items = append(page.Items, r.Text)
		below = r.Number
	}
	return page, nil
}

func (q Query) fits(heads []head) bool {
	if q.Namespace == "" && q.Name == "" && q.ClusterQueue == "" && q.Outcome == "" {
		return true
	}
	return slices.ContainsFunc(heads, func(h head) bool {
		return (q.Namespace == "" || q.Namespace == h.namespace) && (q.Name == "" || q.Name == h.name) &&
			(q.ClusterQueue == "" || q.ClusterQueue == h.clusterQueue) && (q.Outcome == "" || q.Outcome == h.outcome)
	})
}
