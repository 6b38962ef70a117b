package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/config/adopt"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/server"
)

const (
	extenderKind       = "Extender"
	extenderAPIVersion = "kubescheduler.config.k8s.io/v1"
)

// inactive holds the imported parts that stay inactive until a user activates them. The objects are
// in the cluster, the extenders of the latest import in a file.
type inactive struct {
	simulator *simulator
	// file holds the extenders as a JSON list, perhaps with their keys.
	file string

	mu sync.Mutex // held while the file is read or written
	// count is the latest count of inactive parts. The status reads it while mu is held.
	count atomic.Int64
}

var _ server.Inactive = (*inactive)(nil)

func (s *simulator) newInactive() *inactive {
	return &inactive{simulator: s, file: filepath.Join(s.prepared.dataDir, "inactive-extenders.json")}
}

func (i *inactive) List(ctx context.Context) ([]transfer.InactiveObject, error) {
	items, err := i.simulator.transfers.Inactive(ctx)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	extenders, err := i.read()
	if err != nil {
		return nil, err
	}
	for _, e := range extenders {
		url := urlOf(e)
		items = append(items, transfer.InactiveObject{APIVersion: extenderAPIVersion, Kind: extenderKind, Name: url, Calls: []string{url}})
	}
	i.count.Store(int64(len(items)))
	return items, nil
}

func (i *inactive) Activate(ctx context.Context, chosen func(kind, name string) bool) error {
	begun := time.Now()
	var written []timeline.Written
	err := errors.Join(i.simulator.transfers.Activate(ctx, func(kind, name string) bool {
		if !chosen(kind, name) {
			return false
		}
		written = append(written, writtenOf(kind, name))
		return true
	}), i.activateExtenders(ctx, chosen))
	i.simulator.wroteForUser(begun, verbActivate, written...)
	_, invalid := errors.AsType[*config.Error](err)
	if invalid || errors.Is(err, transfer.ErrNotCallable) {
		err = &server.Forbidden{Message: err.Error()}
	}
	i.recount(ctx)
	return err
}

func writtenOf(kind, name string) timeline.Written {
	for _, gk := range objects.CallingKinds() {
		if gk.Kind == kind {
			plural, _ := meta.UnsafeGuessKindToResource(gk.WithVersion(""))
			return timeline.Written{Group: gk.Group, Resource: plural.Resource, Name: name}
		}
	}
	return timeline.Written{}
}

func (i *inactive) activateExtenders(ctx context.Context, chosen func(kind, name string) bool) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	extenders, err := i.read()
	if err != nil {
		return err
	}
	var active, rest []json.RawMessage
	for _, e := range extenders {
		if chosen(extenderKind, urlOf(e)) {
			active = append(active, e)
		} else {
			rest = append(rest, e)
		}
	}
	if len(active) == 0 {
		return nil
	}
	more, err := json.Marshal(active)
	if err != nil {
		return err
	}
	scheduler := configuration{i.simulator.scheduler}
	document, err := scheduler.Current()
	if err != nil {
		return err
	}
	if document, err = adopt.WithExtenders(document, more); err != nil {
		return err
	}
	if _, err := scheduler.Apply(ctx, document); err != nil {
		return fmt.Errorf("activating extenders: %w", err)
	}
	return i.write(rest)
}

// The list is JSON, or nil. It replaces the extenders of an earlier import.
func (i *inactive) replaceExtenders(list []byte) error {
	var extenders []json.RawMessage
	if list != nil {
		if err := json.Unmarshal(list, &extenders); err != nil {
			return fmt.Errorf("reading extenders: %w", err)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.write(extenders)
}

func (i *inactive) read() (extenders []json.RawMessage, err error) {
	data, err := os.ReadFile(i.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &extenders)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the inactive extenders: %w", err)
	}
	return extenders, nil
}

func (i *inactive) write(extenders []json.RawMessage) error {
	if len(extenders) == 0 {
		if err := datadir.Remove(i.file); err != nil {
			return fmt.Errorf("removing the inactive extenders: %w", err)
		}
		return nil
	}
	data, err := json.Marshal(extenders)
	if err != nil {
		return err
	}
	if err := datadir.WriteFile(i.file, data); err != nil {
		return fmt.Errorf("keeping the inactive extenders: %w", err)
	}
	return nil
}

// recount publishes how many parts are inactive. Call it after whatever may change that.
func (i *inactive) recount(ctx context.Context) {
	if _, err := i.List(ctx); err != nil && ctx.Err() == nil {
		i.simulator.options.Logger.Error(err, "Cannot list what imports left inactive")
	}
	i.simulator.publish()
}

func (i *inactive) counted() int { return int(i.count.Load()) }

func urlOf(extender json.RawMessage) string {
	var e struct {
		URLPrefix string `json:"urlPrefix"`
	}
	_ = json.Unmarshal(extender, &e) // a list item of the wrong type has no URL
	return e.URLPrefix
}

// adoptingConfiguration adopts imported configurations of other versions, and applies them.
type adoptingConfiguration struct {
	configuration
	parse func(document []byte) (*config.Configuration, error)
	// A nil inactive leaves the extenders in the configuration.
	inactive *inactive
}

var _ transfer.Configuration = adoptingConfiguration{}

// Adopt applies the document without the parts that this scheduler does not know. Its extenders
// stay inactive.
func (a adoptingConfiguration) Adopt(ctx context.Context, document []byte) (adopted transfer.Adopted, err error) {
	var extenders []byte
	if a.inactive != nil {
		if document, extenders, err = adopt.WithoutExtenders(document); err != nil {
			return adopted, err
		}
	}
	data, left, err := adopt.Document(document, a.parse)
	for _, r := range left {
		adopted.Removed = append(adopted.Removed, transfer.RemovedField(r))
	}
	if err != nil {
		return adopted, err
	}
	applied, err := a.Apply(ctx, data)
	if err != nil {
		return adopted, err
	}
	adopted.Revision = applied.Revision.Number
	if a.inactive == nil {
		return adopted, nil
	}
	if err := a.inactive.replaceExtenders(extenders); err != nil {
		return adopted, err
	}
	var urls []struct{ URLPrefix string }
	_ = json.Unmarshal(extenders, &urls) // absent, or of the wrong type: without a URL
	for _, u := range urls {
		adopted.InactiveExtenders = append(adopted.InactiveExtenders, u.URLPrefix)
	}
	slices.Sort(adopted.InactiveExtenders)
	return adopted, nil
}
