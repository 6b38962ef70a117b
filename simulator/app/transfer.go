package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/simulator/redact"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/simulator/transfer"
)

// newSnapshot returns what imports and exports the cluster.
func (s *simulator) newSnapshot() *transfer.Snapshot {
	options := transfer.Options{
		Config: s.controlPlane.ClientConfig(),
		Configuration: adopted{configuration{s.scheduler}, func(document []byte) (*config.Configuration, error) {
			return parseConfiguration(document, s.prepared.registry)
		}},
		Results: cycles{s.store},
		Redact:  redacted(redact.New(nil)),
		Logger:  s.options.Logger,
		HoldPods: func() func() {
			if s.nodes == nil {
				return func() {}
			}
			return s.nodes.Hold()
		},
	}
	if s.embedded != nil {
		options.Clear = func(ctx context.Context) (int, error) {
			done, err := s.reset(ctx, cluster)
			return done.Deleted, err
		}
	}
	return transfer.New(options)
}

// redacted leaves out what could only be told by its name and kind.
func redacted(r *redact.Redactor) func(*unstructured.Unstructured) bool {
	return func(u *unstructured.Unstructured) bool {
		if !redact.Covers(u.GroupVersionKind().GroupKind()) {
			return false
		}
		r.Object(u)
		return true
	}
}

// transfer lets the server import and export, one import at a time, and none
// beside another operation.
type transfer struct {
	*transfer.Snapshot
	simulator *simulator
}

var _ server.Transfer = transfer{}

// Begin begins an import, unless something else is done to the whole cluster.
func (t transfer) Begin(src transfer.Source, opts transfer.ImportOptions) (*transfer.Run, error) {
	if t.simulator.replays.operation() != nil {
		return nil, &server.Busy{With: server.OperationReplay}
	}
	ctx, o, err := t.simulator.operations.begin(context.Background(), server.OperationImport, string(transfer.Reading))
	if err != nil {
		return nil, err
	}
	tell := opts.Progress
	opts.Progress = func(p transfer.Progress) {
		message := string(p.Phase)
		if p.Kind != "" {
			message += " " + p.Kind
		}
		o.show(message, p.Done, p.Total)
		if tell != nil {
			tell(p)
		}
	}
	run, err := t.Snapshot.Begin(src, opts)
	if err != nil {
		o.end()
		if errors.Is(err, transfer.ErrNotOurs) {
			return nil, &server.Forbidden{Message: err.Error()}
		}
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { run.Cancel() })
	go func() {
		<-run.Done()
		stop()
		o.end()
	}()
	return run, nil
}

// Spool returns a file for what is sent.
func (t transfer) Spool() (*os.File, error) {
	f, err := t.simulator.prepared.spool("import")
	if err != nil {
		return nil, fmt.Errorf("keeping what is imported: %w", err)
	}
	return f, nil
}

// spool returns a file for what is too large to hold. It has no name any more, so
// that nothing is left of it whatever happens.
func (p *prepared) spool(what string) (*os.File, error) {
	f, err := os.CreateTemp(p.dataDir, what+"-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// awaitImport returns what an import has done, which it cancels when ctx ends first.
func awaitImport(ctx context.Context, run *transfer.Run) (*transfer.Report, error) {
	select {
	case <-run.Done():
	case <-ctx.Done():
		run.Cancel()
		<-run.Done()
	}
	return run.Result()
}

// importAtStart imports what the options name. What fails in it is logged, as the
// page shows it too; what cannot be read at all is an error.
func (s *simulator) importAtStart(ctx context.Context) error {
	if s.embedded != nil {
		if err := s.snapshot.Recover(ctx); err != nil {
			return fmt.Errorf("finishing an earlier import: %w", err)
		}
	}
	if s.options.Import == "" {
		return nil
	}
	s.setStatus(server.Starting, "importing "+s.options.Import)
	run, err := transfer{s.snapshot, s}.Begin(s.prepared.imported, transfer.ImportOptions{Mode: transfer.Merge, Reschedule: s.options.Reschedule})
	if err != nil {
		return fmt.Errorf("importing %s: %w", s.options.Import, err)
	}
	s.prepared.imported = transfer.Source{} // the import closes it
	report, err := awaitImport(ctx, run)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("importing %s: %w", s.options.Import, err)
	}
	logReport(s, report)
	return nil
}

// logged bounds the lines of an import's report in the log.
const logged = 20

func logReport(s *simulator, report *transfer.Report) {
	log := s.options.Logger.WithName("import")
	for n, f := range report.Failed {
		if n == logged {
			log.Error(nil, "and more failed; GET /api/v1/import lists them", "failed", report.FailedTotal)
			break
		}
		log.Error(nil, "failed: "+f.Message, "source", f.Source, "kind", f.Kind, "namespace", f.Namespace, "name", f.Name)
	}
	if c := report.Configuration; c != nil && !c.Applied {
		log.Error(nil, "the scheduler configuration was not applied: "+c.Message)
	}
}

// cycles are the results that exports hold.
type cycles struct{ store *resultstore.Store }

var _ transfer.Results = cycles{}

// WriteCycles writes those of the pods that exist, oldest first of each pod.
func (c cycles) WriteCycles(ctx context.Context, exists func(uid string) bool, write func([]byte) error) error {
	seen := map[types.UID]bool{}
	for q := (result.Query{Limit: 1000}); ; {
		page, err := c.store.List(q)
		if err != nil {
			return fmt.Errorf("listing results: %w", err)
		}
		for _, summary := range page.Items {
			uid := summary.Pod.UID
			if seen[uid] || !exists(string(uid)) {
				continue
			}
			seen[uid] = true
			if err := c.writePod(ctx, uid, write); err != nil {
				return err
			}
		}
		if q.Continue = page.Continue; q.Continue == "" {
			return nil
		}
	}
}

func (c cycles) writePod(ctx context.Context, uid types.UID, write func([]byte) error) error {
	attempts, err := c.store.Attempts(uid)
	if err != nil {
		return fmt.Errorf("reading results: %w", err)
	}
	for _, a := range attempts {
		if err := ctx.Err(); err != nil {
			return err
		}
		cycle, err := c.store.Get(uid, a.Attempt)
		if err != nil {
			return fmt.Errorf("reading results: %w", err)
		}
		if cycle == nil {
			continue // forgotten meanwhile
		}
		data, err := json.Marshal(cycle)
		if err != nil {
			return fmt.Errorf("encoding a result: %w", err)
		}
		if err := write(data); err != nil {
			return err
		}
	}
	return nil
}
