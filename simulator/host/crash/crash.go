// Package crash remembers the crashes of the program in its data directory: panics and the
// runtime's fatal errors, but not a kill, which says nothing about the program. The next run reads
// what happened and can avoid the cause.
//
// It knows nothing of the simulator, and imports no package of ours.
package crash

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"
)

// The files in the directory: what the runtime writes when the program crashes, the same of the
// latest crash, and the list of crashes.
const (
	output   = "crash.log"
	previous = "crash.previous.log"
	list     = "crashes.json"
)

// maxKept bounds the crashes; the oldest are forgotten first.
const maxKept = 10

// Crash is one crash.
type Crash struct {
	Time time.Time `json:"time"`
	// Message is the first line that the program wrote.
	Message string `json:"message"`
}

// Log remembers the crashes of the programs that use one directory, one at a time.
type Log struct {
	dir     string
	crashes []Crash
}

// Open reads the crashes since the last Close and makes the runtime write the next one to dir. The
// runtime has one such file: if a process opens several logs, only the last one notices a crash.
// Use dir only while no other process does.
func Open(dir string) (*Log, error) {
	l := &Log{dir: dir}
	if err := l.read(); err != nil {
		return nil, fmt.Errorf("reading the crashes of earlier runs: %w", err)
	}
	f, err := os.OpenFile(l.path(output), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("preparing to note a crash: %w", err)
	}
	defer f.Close()
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil {
		return nil, fmt.Errorf("preparing to note a crash: %w", err)
	}
	return l, nil
}

// Crashes returns the crashes since the last Close, oldest first.
func (l *Log) Crashes() []Crash { return slices.Clone(l.crashes) }

// Details is the path of the file with the whole output of the latest crash.
func (l *Log) Details() string { return l.path(previous) }

// Close forgets the crashes, because the program ends in order. It does not record later ones.
func (l *Log) Close() error {
	err := debug.SetCrashOutput(nil, debug.CrashOptions{})
	for _, name := range []string{output, list} {
		if failed := os.Remove(l.path(name)); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }

// read also adds the crash of the last run, if it crashed.
func (l *Log) read() error {
	known, err := os.ReadFile(l.path(list))
	if err == nil && json.Unmarshal(known, &l.crashes) != nil {
		l.crashes = nil // half a file: the crashes before the last one are forgotten
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	info, err := os.Stat(l.path(output))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	said, err := os.ReadFile(l.path(output))
	if err != nil {
		return err
	}
	l.crashes = append(l.crashes, Crash{Time: info.ModTime(), Message: message(said)})
	l.crashes = l.crashes[max(0, len(l.crashes)-maxKept):]
	known, err = json.Marshal(l.crashes)
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.path(list), known, 0o600); err != nil {
		return err
	}
	return os.Rename(l.path(output), l.path(previous))
}

const maxMessage = 500

// message returns the first line of the runtime's output, which says why it ended.
func message(said []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(said))
	for lines.Scan() {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			return string(line[:min(len(line), maxMessage)])
		}
	}
	return "no message"
}
