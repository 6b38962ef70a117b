package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/server"
)

func (s *simulator) newTransfers() *transfer.Cluster {
	options := transfer.Options{
		Config:        s.controlPlane.ClientConfig(),
		Configuration: adoptingConfiguration{configuration{s.scheduler}, s.parse, s.keptInactive()},
		Results:       cycles{s.store},
		Redact:        redacted(s.redactor),
		Kept:          filepath.Join(s.prepared.dataDir, "last-import.json"),
		Logger:        s.options.Logger,
		Activate:      s.options.ActivateImported,
		Callable:      s.options.Outbound.CheckURL,
		Define:        s.define,
		HoldPods: func() func() {
			if nodes := s.nodes.Load(); nodes != nil {
				return nodes.Hold()
			}
			return func() {}
		},
	}
	if s.embedded != nil {
		options.Clear = func(ctx context.Context) (int, error) {
			if err := s.markImport(); err != nil {
				return 0, err
			}
			done, err := s.reset(ctx, cluster)
			return done.Deleted, err
		}
	}
	return transfer.New(options)
}

// keptInactive returns nil when the extenders of imports become active at once.
func (s *simulator) keptInactive() *inactive {
	if s.options.ActivateImported {
		return nil
	}
	return s.inactive
}

// The filter drops objects of kinds that it cannot redact.
func redacted(r *redact.Redactor) func(*unstructured.Unstructured) bool {
	return func(u *unstructured.Unstructured) bool {
		if !redact.Covers(u.GroupVersionKind().GroupKind()) {
			return false
		}
		r.Object(u)
		return true
	}
}

// exclusiveTransfer refuses an import during another operation.
type exclusiveTransfer struct {
	*transfer.Cluster
	simulator *simulator
}

var _ server.Transfer = exclusiveTransfer{}

func (t exclusiveTransfer) Begin(src manifest.Source, opts transfer.ImportOptions) (*transfer.Run, error) {
	if t.simulator.replays.Operation() != nil {
		return nil, &operation.Busy{With: operation.Replay}
	}
	ctx, o, err := t.simulator.operations.Begin(context.Background(), operation.Import, string(transfer.Reading))
	if err != nil {
		return nil, err
	}
	tell := opts.Progress
	opts.Progress = func(p transfer.Progress) {
		message := string(p.Phase)
		if p.Kind != "" {
			message += " " + p.Kind
		}
		o.Show(message, p.Done, p.Total)
		if tell != nil {
			tell(p)
		}
	}
	told := func(_, _ int) {}
	if !opts.Untold {
		told = t.simulator.timeline.Begin(timeline.ImportStep, cmp.Or(opts.By, timeline.ByWeb))
	}
	// A client that has its answer may begin the next operation at once.
	opts.Ended = func() {
		t.simulator.endImport()
		t.simulator.inactive.recount(ctx)
		o.End()
	}
	run, err := t.Cluster.Begin(src, opts)
	if err != nil {
		told(0, 0)
		o.End()
		if errors.Is(err, transfer.ErrNotOurs) {
			return nil, &server.Forbidden{Message: err.Error()}
		}
		return nil, err
	}
	context.AfterFunc(ctx, func() { run.Cancel() }) // which does nothing when it has ended
	go func() {
		<-run.Done()
		if report, _ := run.Result(); report != nil {
			told(report.Created+report.Updated, report.Deleted)
		} else {
			told(0, 0)
		}
	}()
	return run, nil
}

func (t exclusiveTransfer) Spool() (server.Spool, error) {
	f, err := datadir.NewSpool(t.simulator.prepared.dataDir, "import")
	if err != nil {
		return nil, fmt.Errorf("creating a file for the import: %w", err)
	}
	return f, nil
}

// awaitImport cancels the import when ctx ends first.
func awaitImport(ctx context.Context, run *transfer.Run) (*transfer.Report, error) {
	select {
	case <-run.Done():
	case <-ctx.Done():
		run.Cancel()
		<-run.Done()
	}
	return run.Result()
}

// importAtStart logs the objects of the options' file or directory that fail; the web application
// shows them, too. A source that it cannot read is an error.
func (s *simulator) importAtStart(ctx context.Context) error {
	if s.embedded != nil {
		if err := s.transfers.Recover(ctx); err != nil {
			return fmt.Errorf("finishing an earlier import: %w", err)
		}
	}
	if s.options.Import == "" {
		return nil
	}
	s.setStatus(server.Starting, "importing "+s.options.Import)
	run, err := exclusiveTransfer{Cluster: s.transfers, simulator: s}.Begin(s.prepared.imported, transfer.ImportOptions{By: timeline.BySimulator, Mode: transfer.Merge, Reschedule: s.options.Reschedule})
	if err != nil {
		return fmt.Errorf("importing %s: %w", s.options.Import, err)
	}
	s.prepared.imported = manifest.Source{} // the import closes it
	report, err := awaitImport(ctx, run)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("importing %s: %w", s.options.Import, err)
	}
	s.logReport(report)
	return nil
}

func (s *simulator) importFromSource(ctx context.Context, src manifest.Source) (*transfer.Report, error) {
	run, err := exclusiveTransfer{Cluster: s.transfers, simulator: s}.Begin(src, transfer.ImportOptions{By: timeline.BySimulator, Mode: transfer.Merge, Reschedule: s.options.Reschedule})
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	report, err := awaitImport(ctx, run)
	if err != nil {
		return nil, err
	}
	s.logReport(report)
	return report, nil
}

// maxLogged bounds the lines in the log about one import; each cause has one.
const maxLogged = 20

func (s *simulator) logReport(report *transfer.Report) {
	log := s.options.Logger.WithName("import")
	for n, c := range report.Causes {
		if n == maxLogged {
			log.Error(nil, "More objects failed for other causes; GET /api/v1/import lists them", "failed", report.FailedTotal)
			break
		}
		log.Error(nil, "failed: "+c.Message, "count", c.Count, "kind", c.Kind, "namespace", c.First.Namespace, "first", c.First.Name, "source", c.First.Source)
	}
	if c := report.Configuration; c != nil && !c.Applied {
		log.Error(nil, "The scheduler configuration was not applied: "+c.Message)
	}
}

type cycles struct{ store *resultstore.Store }

var _ transfer.Results = cycles{}

// WriteCycles writes the results of the pods that exist, oldest first for each pod.
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
			continue // dropped from the store meanwhile
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
