package sessions

import (
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"kube-scheduler-simulator/simulator/host/recordlog"
)

// Kind tells sessions from rounds.
type Kind string

const (
	SessionKind Kind = "session"
	RoundKind   Kind = "round"
)

// Entry is one line about a record.
type Entry struct {
	Number    int64     `json:"number"`
	Kind      Kind      `json:"kind"`
	Scheduler string    `json:"scheduler"`
	StartTime time.Time `json:"startTime"`
	Bound     int       `json:"bound"`
	Evicted   int       `json:"evicted"`
	Pipelined int       `json:"pipelined"`
}

// Beyond these bounds the oldest records go first.
const (
	maxRecords     = 500
	maxRecordBytes = 64 << 20
)

type line struct {
	Entry  Entry           `json:"entry"`
	Record json.RawMessage `json:"record"`
}

// store keeps records in memory and in files. Any goroutine may call its methods.
type store struct{ log *recordlog.Log[Entry] }

func openStore(dir string, logger klog.Logger) (*store, error) {
	s := &store{recordlog.New(recordlog.Options[Entry]{
		What: "the records of sessions", Magic: "KSES1\n", Suffix: ".sessions", Bytes: maxRecordBytes, Records: maxRecords, Dir: dir, Logger: logger,
		Read: func(text []byte) (int64, Entry, error) {
			var l line
			err := json.Unmarshal(text, &l)
			return l.Entry.Number, l.Entry, err
		},
	})}
	return s, s.log.Start()
}

// encode makes the record of its number.
func (s *store) add(e Entry, encode func(number int64) ([]byte, error)) error {
	return s.log.Append(func(number int64) (Entry, []byte, error) {
		e.Number = number
		record, err := encode(number)
		if err != nil {
			return e, nil, fmt.Errorf("keeping the record of a session: %w", err)
		}
		text, err := json.Marshal(line{e, record})
		return e, text, err
	})
}

func (s *store) list(kind Kind, before int64, limit int) []Entry {
	if before == 0 {
		before = -1
	}
	out := []Entry{}
	for r := range s.log.Newest(before) {
		if len(out) == limit {
			break
		}
		if kind == "" || r.Key.Kind == kind {
			out = append(out, r.Key)
		}
	}
	return out
}

func (s *store) get(number int64) json.RawMessage {
	var l line
	if json.Unmarshal(s.log.Get(number), &l) != nil {
		return nil
	}
	return l.Record
}
