package branch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"kube-scheduler-simulator/simulator/host/datadir"
)

// Files of a branch, in a directory of its name.
const (
	noteFile = "branch.json"
	// startFile holds the initial state until the child has loaded it.
	startFile = "start.json"
	// tokenFile holds the token of the child. Every start makes a new one.
	tokenFile = "token"
	dataName  = "data"
)

// Directories with these prefixes are half made or half removed. No branch has such a name.
const (
	newPrefix  = ".new-"
	gonePrefix = ".gone-"
)

const noteFormat = 1

// note is what the disk keeps about a branch.
type note struct {
	Format    int       `json:"format"`
	Title     string    `json:"title,omitempty"`
	Purpose   Purpose   `json:"purpose"`
	Lesson    string    `json:"lesson,omitempty"`
	Of        string    `json:"of,omitempty"`
	From      *Moment   `json:"from,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	Flags     []string  `json:"flags,omitempty"`
	// KubernetesVersion is that of Branch.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// Remark says what the child could not load.
	Remark string `json:"remark,omitempty"`
}

func (n note) write(dir string) error {
	n.Format = noteFormat
	content, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return datadir.WriteFile(filepath.Join(dir, noteFile), content)
}

// The error of readNote is one line.
func readNote(dir string) (note, error) {
	path := filepath.Join(dir, noteFile)
	const do = "restore it from a backup, or delete the branch"
	content, err := os.ReadFile(path)
	if err != nil {
		return note{}, &datadir.Damage{Path: path, Err: err, Do: do}
	}
	var n note
	if err := json.Unmarshal(content, &n); err != nil {
		return note{}, &datadir.Damage{Path: path, Err: fmt.Errorf("cannot be read: %w", err), Do: do}
	}
	if n.Format != noteFormat {
		return note{}, &datadir.Damage{Path: path, Err: fmt.Errorf("is in format %d; this version reads format %d", n.Format, noteFormat), Do: "use that version, or delete the branch"}
	}
	return n, nil
}

// readAll finds the branches in the directory. It removes lessons, and the half made and the half
// removed.
func (b *Branches) readAll() error {
	entries, err := os.ReadDir(b.opts.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the branches: %w", err)
	}
	for _, entry := range entries {
		name, dir := entry.Name(), filepath.Join(b.opts.Dir, entry.Name())
		if strings.HasPrefix(name, newPrefix) || strings.HasPrefix(name, gonePrefix) {
			b.discard(dir)
			continue
		}
		if !entry.IsDir() || checkName(name) != nil {
			continue // not ours
		}
		n, err := readNote(dir)
		if err != nil {
			b.opts.Logger.Info("Warning: a branch cannot be used", "branch", name, "err", err)
			b.all[name] = &kept{name: name, note: note{Purpose: Ordinary}, state: Failed, message: err.Error(), damaged: true}
			continue
		}
		if n.Purpose == Lesson {
			if err := b.remove(dir); err != nil {
				b.opts.Logger.Error(err, "Removing the branch of a lesson")
			}
			continue
		}
		b.all[name] = &kept{name: name, note: n, state: Stopped, message: n.Remark}
	}
	return nil
}

// remove makes a branch's directory disappear at once, and deletes it in the background.
func (b *Branches) remove(dir string) error {
	gone, err := os.MkdirTemp(b.opts.Dir, gonePrefix)
	if err == nil {
		err = os.Rename(dir, filepath.Join(gone, filepath.Base(dir)))
	}
	if err != nil {
		return fmt.Errorf("removing the branch: %w", err)
	}
	b.discard(gone)
	return nil
}

// discard deletes a directory that is no branch, in the background. What it cannot delete stays
// until the next start.
func (b *Branches) discard(dir string) {
	b.work.Go(func() {
		data, _ := filepath.Glob(filepath.Join(dir, "*", dataName))
		for _, d := range append(data, filepath.Join(dir, dataName)) {
			// A killed program may have left a child that is still stopping.
			if err := b.awaitUnlocked(b.closing, d); err != nil {
				return
			}
			if err := b.opts.Leftovers(d); err != nil {
				b.opts.Logger.V(1).Info("Cannot remove what a branch has left", "err", err)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			b.opts.Logger.Error(err, "Removing a branch")
		}
	})
}

// Names are path segments of the web, of files and of lessons.
func checkName(name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return refuse(Invalid, "%q cannot name a branch: %s", name, problems[0])
	}
	return nil
}

func checkTitle(title string) error {
	if utf8.RuneCountInString(title) > maxTitle {
		return refuse(Invalid, "title: want at most %d characters", maxTitle)
	}
	return nil
}
