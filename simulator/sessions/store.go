package sessions

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"kube-scheduler-simulator/simulator/datadir"
)

// Kind tells sessions from rounds.
type Kind string

// The kinds of records.
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

// The records are bounded: the oldest go first.
const (
	maxRecords     = 500
	maxRecordBytes = 64 << 20
)

// line is a record in the file.
type line struct {
	Entry  Entry           `json:"entry"`
	Record json.RawMessage `json:"record"`
}

// store keeps records in memory and in a file. Its methods may be called from any goroutine.
type store struct {
	path string

	mu    sync.Mutex
	file  *os.File
	lines []line // oldest first
	bytes int
	next  int64
	// written counts the lines of the file.
	written int
}

// openStore reads the records of an earlier run. A last line that was cut off is dropped.
func openStore(path string) (*store, error) {
	s := &store{path: path, next: 1}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading the records of sessions: %w", err)
	}
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, max(len(data), 1)+1)
	for scanner.Scan() {
		var l line
		if json.Unmarshal(scanner.Bytes(), &l) != nil {
			continue
		}
		s.keep(l)
	}
	if data == nil {
		return s, nil // the first record makes the file
	}
	return s, s.rewrite()
}

func (s *store) keep(l line) {
	s.lines, s.bytes, s.next = append(s.lines, l), s.bytes+len(l.Record), max(s.next, l.Entry.Number+1)
	for len(s.lines) > maxRecords || s.bytes > maxRecordBytes && len(s.lines) > 1 {
		s.bytes -= len(s.lines[0].Record)
		s.lines[0] = line{}
		s.lines = s.lines[1:]
	}
}

// rewrite makes the file hold exactly the records that are kept.
func (s *store) rewrite() error {
	if s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
	var out bytes.Buffer
	for _, l := range s.lines {
		data, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("keeping the records of sessions: %w", err)
		}
		out.Write(append(data, '\n'))
	}
	err := os.MkdirAll(filepath.Dir(s.path), 0o700)
	if err == nil {
		err = datadir.WriteFile(s.path, out.Bytes())
	}
	if err == nil {
		s.file, err = os.OpenFile(s.path, os.O_APPEND|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping the records of sessions: %w", err)
	}
	s.written = len(s.lines)
	return nil
}

// add keeps a record, which make encodes with its number.
func (s *store) add(e Entry, encode func(number int64) ([]byte, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Number = s.next
	data, err := encode(e.Number)
	if err != nil {
		return fmt.Errorf("keeping the record of a session: %w", err)
	}
	l := line{e, data}
	s.keep(l)
	if s.file == nil || s.written >= 2*maxRecords {
		return s.rewrite()
	}
	text, err := json.Marshal(l)
	if err == nil {
		_, err = s.file.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keeping the record of a session: %w", err)
	}
	s.written++
	return nil
}

func (s *store) list(kind Kind, before int64, limit int) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Entry{}
	for _, l := range slices.Backward(s.lines) {
		if len(out) == limit {
			break
		}
		if (kind == "" || l.Entry.Kind == kind) && (before == 0 || l.Entry.Number < before) {
			out = append(out, l.Entry)
		}
	}
	return out
}

func (s *store) get(number int64) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		if l.Entry.Number == number {
			return l.Record
		}
	}
	return nil
}

// reset forgets all records. The numbers go on.
func (s *store) reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines, s.bytes = nil, 0
	if s.file == nil {
		return nil
	}
	return s.rewrite()
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	defer func() { s.file = nil }()
	return s.file.Close()
}
