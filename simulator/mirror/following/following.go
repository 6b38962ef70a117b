package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"kube-scheduler-simulator/simulator/mirror"
	"kube-scheduler-simulator/simulator/redact"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/simulator/transfer"
)

// SourceOptions say which other cluster comes into this one. It is only read, and
// never its secrets.
type SourceOptions struct {
	// ImportKubeconfig reaches a cluster that comes once, SyncKubeconfig one that is
	// followed. None by default, and not both.
	ImportKubeconfig, SyncKubeconfig string
	// Context is one of the kubeconfig's; its current one by default.
	Context string
	// Namespaces, when there are any, restrict what is in a namespace, and Selector
	// restricts pods.
	Namespaces []string
	Selector   string
	// Redact replaces whatever people have named.
	Redact bool
	// QPS bounds the requests per second; mirror.DefaultQPS by default.
	QPS float32
}

// DefaultSourceQPS is how many requests per second another cluster gets.
const DefaultSourceQPS = mirror.DefaultQPS

func (o SourceOptions) kubeconfig() string {
	if o.SyncKubeconfig != "" {
		return o.SyncKubeconfig
	}
	return o.ImportKubeconfig
}

// saltFile is in a data directory that redacted objects are in: the names of the
// next run must be those of this one.
const saltFile = "redaction-salt"

// openSource comes after the data directory.
func (p *prepared) openSource(o SourceOptions) (err error) {
	switch {
	case o.ImportKubeconfig != "" && o.SyncKubeconfig != "":
		return errors.New("a cluster is either imported or followed: --import-kubeconfig and --sync-kubeconfig exclude each other")
	case o.kubeconfig() == "" && (o.Context != "" || len(o.Namespaces) > 0 || o.Selector != "" || o.Redact):
		return errors.New("there is no cluster to read from: give --import-kubeconfig or --sync-kubeconfig")
	case o.kubeconfig() == "":
		return nil
	}
	options := mirror.SourceOptions{
		Kubeconfig: o.kubeconfig(), Context: o.Context, QPS: o.QPS,
		Selection: mirror.Selection{Namespaces: o.Namespaces, Pods: o.Selector},
	}
	if o.Redact {
		salt, err := p.salt()
		if err != nil {
			return err
		}
		options.Redactor = redact.New(salt)
	}
	p.source, err = mirror.NewSource(options)
	return err
}

// salt is nil, so that nobody knows it, in a directory that is thrown away.
func (p *prepared) salt() ([]byte, error) {
	if p.temporary {
		return nil, nil
	}
	path := filepath.Join(p.dataDir, saltFile)
	salt, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		salt = redact.NewSalt()
		err = os.WriteFile(path, salt, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("keeping what redacted names are made with: %w", err)
	}
	return salt, nil
}

// following is the other cluster, while the simulator runs.
type following struct {
	mu sync.Mutex
	// sync is nil when none is followed.
	sync *mirror.Sync
	// warning is what people should know of an import from a cluster.
	warning string
}

// startSource begins with the other cluster, after everything else runs: how long
// it takes to answer is no matter of the start.
func (s *simulator) startSource() error {
	switch {
	case s.prepared.source == nil:
		return nil
	case s.options.Source.SyncKubeconfig != "":
		s.onStop(s.stopSync)
		return s.startSync()
	}
	if err := s.dropDefaultClass(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.importFromSource(ctx) })
	s.onStop(func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
	return nil
}

// dropDefaultClass comes before the objects of another cluster, which has its own
// default StorageClass, or none.
func (s *simulator) dropDefaultClass() error {
	if s.embedded == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return s.embedded.DropDefaultStorageClass(ctx)
}

// startSync follows the other cluster, if one is to be followed. After a reset it
// brings everything in anew.
func (s *simulator) startSync() error {
	if s.prepared.source == nil || s.options.Source.SyncKubeconfig == "" {
		return nil
	}
	if err := s.dropDefaultClass(); err != nil {
		return err
	}
	followed := mirror.NewSync(mirror.SyncOptions{
		Source: s.prepared.source, Config: s.controlPlane.ClientConfig(), Reschedule: s.options.Reschedule,
		Changed: s.publish, Logger: s.options.Logger.WithName("sync"),
	})
	if err := followed.Start(); err != nil {
		return err
	}
	s.following.mu.Lock()
	defer s.following.mu.Unlock()
	s.following.sync = followed
	return nil
}

// stopSync is safe to call when nothing is followed.
func (s *simulator) stopSync(ctx context.Context) error {
	s.following.mu.Lock()
	followed := s.following.sync
	s.following.sync = nil
	s.following.mu.Unlock()
	if followed == nil {
		return nil
	}
	return followed.Stop(ctx)
}

// status returns what is followed; nil when nothing is. first is the first round,
// while it is under way.
func (f *following) status() (shown *server.Sync, first *server.Operation) {
	f.mu.Lock()
	followed := f.sync
	f.mu.Unlock()
	if followed == nil {
		return nil, nil
	}
	now := followed.Status()
	shown = &server.Sync{Source: now.Source, State: server.SyncState(now.State), Message: now.Message, Objects: now.Objects}
	if !now.LastChange.IsZero() {
		at := now.LastChange.UTC().Truncate(time.Second)
		shown.LastChange = &at
	}
	if now.First {
		first = &server.Operation{Kind: server.OperationSync, Message: now.Message, Done: now.Done, Total: now.Total}
	}
	return shown, first
}

func (f *following) warn(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.warning = text
}

func (f *following) warnings() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.warning == "" {
		return nil
	}
	return []string{f.warning}
}

// importFromSource tries until it has worked.
func (s *simulator) importFromSource(ctx context.Context) {
	name := s.prepared.source.Name()
	backoff := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.3, Steps: 10, Cap: 30 * time.Second}
	for {
		problems, err := s.importOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && len(problems) == 0:
			s.following.warn("")
			return
		case err == nil:
			s.following.warn("imported from " + name + ", but " + strings.Join(problems, "; "))
			for _, problem := range problems {
				s.options.Logger.Info("Importing from " + name + ": " + problem)
			}
			return
		}
		s.options.Logger.Error(err, "Importing from "+name)
		s.following.warn(fmt.Sprintf("importing from %s: %v; trying again", name, err))
		s.publish()
		select {
		case <-time.After(backoff.Step()):
		case <-ctx.Done():
			return
		}
	}
}

// importOnce reads the other cluster into a file, and imports that as any other.
func (s *simulator) importOnce(ctx context.Context) (problems []string, err error) {
	road := transfer{s.snapshot, s}
	file, err := road.Spool()
	if err != nil {
		return nil, err
	}
	problems, err = s.readSource(ctx, file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	at, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	src := transfer.NewClosingSource(file.Close, transfer.Part{Name: s.prepared.source.Name(), Content: file, Size: at.Size()})
	run, err := road.Begin(src, transfer.ImportOptions{Mode: transfer.Merge, Reschedule: s.options.Reschedule})
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	report, err := awaitImport(ctx, run)
	if err != nil {
		return nil, err
	}
	logReport(s, report)
	if report.FailedTotal > 0 {
		problems = append(problems, fmt.Sprintf("%d objects were refused; GET /api/v1/import lists them", report.FailedTotal))
	}
	return problems, nil
}

// readSource writes the other cluster to a file as a List.
func (s *simulator) readSource(ctx context.Context, file *os.File) ([]string, error) {
	message := "reading " + s.prepared.source.Name()
	ctx, o, err := s.operations.begin(ctx, server.OperationImport, message)
	if err != nil {
		return nil, err
	}
	defer o.end()
	out := bufio.NewWriter(file)
	_, _ = out.WriteString(`{"apiVersion":"v1","kind":"List","items":[`) // Flush has the error
	read := 0
	problems, err := s.prepared.source.Read(ctx, s.controlPlane.ClientConfig(), func(u *unstructured.Unstructured) error {
		data, err := json.Marshal(u.Object)
		if err != nil {
			return fmt.Errorf("encoding %s %s: %w", u.GetKind(), u.GetName(), err)
		}
		if read > 0 {
			_ = out.WriteByte(',')
		}
		if read++; read%shownEvery == 0 {
			o.show(message+": "+u.GetKind(), read, 0)
		}
		_, err = out.Write(data)
		return err
	})
	if err != nil {
		return nil, err
	}
	_, _ = out.WriteString("]}")
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("keeping what is imported: %w", err)
	}
	return problems, nil
}

// shownEvery is how many objects are read between looks at the progress.
const shownEvery = 250
