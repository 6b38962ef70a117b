package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/others/flow"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/host/datadir"
)

// Sink receives the records of attempts.
type Sink interface {
	NextAttempt(uid types.UID) int
	Put(*result.Cycle)
}

// Options say what to run on. All fields are required but Period.
type Options struct {
	// ClientConfig reaches the cluster with the rights of an administrator.
	ClientConfig *rest.Config
	// Source hands out the state of kube-scheduler, so that no scheduler counts on room that it has
	// just given away.
	Source whatif.Source
	Sink   Sink
	// Install installs the custom resource definitions of both families, if they are missing.
	Install func(context.Context) error
	Dir     string
	Logger  klog.Logger
	// Period is the time between sessions, and between rounds; 1 s by default. The real flow
	// scheduler waits 10 s.
	Period time.Duration
}

const (
	defaultPeriod = time.Second
	// quietPeriods is how many periods pass between sessions while nothing changes.
	quietPeriods      = 30
	requestsPerSecond = 2000
)

// Service runs the schedulers. Any goroutine may call its methods, Start and Stop once each.
type Service struct {
	options Options
	client  kubernetes.Interface
	dynamic dynamic.Interface
	events  map[string]record.EventRecorder
	runners []*runner
	rounds  *rounds
	records *store
	stop    func()

	mu       sync.Mutex
	settings settings
	// ready: the definitions are installed.
	ready bool
	// resets counts the resets, which delete the definitions.
	resets int
}

type settings struct {
	// Enabled: the schedulers run.
	Enabled bool `json:"enabled"`
	// Configurations are the documents that users have applied, by dialect, with their revisions.
	Configurations map[session.Rules]document `json:"configurations,omitempty"`
	Flow           FlowSettings               `json:"flow"`
}

type document struct {
	Text     string `json:"text"`
	Revision int    `json:"revision"`
}

// FlowSettings are those of the flow scheduler.
type FlowSettings struct {
	Model      flow.Model `json:"model"`
	Seed       uint64     `json:"seed"`
	Preemption bool       `json:"preemption"`
}

// New returns a service that is not running, with what an earlier run has kept. A damaged file is
// an error.
func New(options Options) (*Service, error) {
	if options.Period == 0 {
		options.Period = defaultPeriod
	}
	c := rest.CopyConfig(options.ClientConfig)
	c.QPS, c.Burst, c.UserAgent = requestsPerSecond, 2*requestsPerSecond, "session-scheduler"
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("making the client of the session schedulers: %w", err)
	}
	custom, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("making the client of the session schedulers: %w", err)
	}
	s := &Service{options: options, client: client, dynamic: custom, settings: settings{Flow: FlowSettings{Model: flow.CPUMem}}}
	if err := s.load(); err != nil {
		return nil, err
	}
	if s.records, err = openStore(filepath.Join(options.Dir, "records"), options.Logger); err != nil {
		return nil, err
	}
	for _, rules := range session.Dialects {
		c := session.Default(rules)
		if kept, ok := s.settings.Configurations[rules]; ok {
			if c, err = session.Parse([]byte(kept.Text), rules); err != nil {
				return nil, fmt.Errorf("reading the kept configuration of %s: %w", rules, err)
			}
		}
		s.runners = append(s.runners, newRunner(s, c, max(1, s.settings.Configurations[rules].Revision)))
	}
	if s.rounds, err = newRounds(s); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Service) settingsFile() string { return filepath.Join(s.options.Dir, "settings.json") }

func (s *Service) load() error {
	data, err := os.ReadFile(s.settingsFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s.settings)
	}
	if err != nil {
		return fmt.Errorf("reading the settings of the session schedulers: %w", err)
	}
	return nil
}

// The caller of save holds the lock.
func (s *Service) save() error {
	data, err := json.Marshal(s.settings)
	if err == nil {
		err = os.MkdirAll(s.options.Dir, 0o700)
	}
	if err == nil {
		err = datadir.WriteFile(s.settingsFile(), data)
	}
	if err != nil {
		return fmt.Errorf("keeping the settings of the session schedulers: %w", err)
	}
	return nil
}

// Start runs the schedulers that are turned on.
func (s *Service) Start(ctx context.Context) {
	ctx, cancel := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), s.options.Logger))
	recorder, shutdown := newEvents(s.client)
	s.events = recorder
	var running sync.WaitGroup
	running.Go(func() { s.loop(ctx) })
	s.stop = func() {
		cancel()
		running.Wait()
		shutdown()
		for _, r := range s.runners {
			r.close()
		}
		s.rounds.engine.Stop()
	}
}

// Stop ends the schedulers and closes the records.
func (s *Service) Stop() error {
	if s.stop != nil {
		s.stop()
	}
	return s.records.log.Stop()
}

// loop runs a session of each dialect and a round in every period, one after the other, so that
// each sees what those before it decided.
func (s *Service) loop(ctx context.Context) {
	ticker := time.NewTicker(s.options.Period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !s.Enabled() {
			continue
		}
		if err := s.prepare(ctx); err != nil {
			s.failed(ctx, "preparing", err)
			continue
		}
		for _, r := range s.runners {
			s.failed(ctx, string(r.rules), r.turn(ctx))
		}
		s.failed(ctx, flow.SchedulerName, s.rounds.turn(ctx))
	}
}

func (s *Service) failed(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		s.options.Logger.Error(err, "A session scheduler failed; it tries again", "scheduler", what)
	}
}

// prepare installs the definitions, and the queue of jobs without one.
func (s *Service) prepare(ctx context.Context) error {
	s.mu.Lock()
	ready, resets := s.ready, s.resets
	s.mu.Unlock()
	if ready {
		return nil
	}
	if err := s.options.Install(ctx); err != nil {
		return err
	}
	for _, rules := range session.Dialects {
		if err := s.makeDefaultQueue(ctx, rules); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.ready = s.resets == resets
	s.mu.Unlock()
	return nil
}

func (s *Service) Enabled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.Enabled
}

func (s *Service) Enable(on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings.Enabled = on
	return s.save()
}

// Reset forgets all records: the cluster is empty, and has no definitions.
func (s *Service) Reset() error {
	for _, r := range s.runners {
		r.latest.forget()
	}
	s.rounds.latest.forget()
	s.mu.Lock()
	s.ready = false
	s.resets++
	s.mu.Unlock()
	return s.records.log.Reset()
}

// Defaults returns to the built-in configurations and settings, and turns the schedulers on or off.
func (s *Service) Defaults(on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runners {
		r.use(session.Default(r.rules), 1)
	}
	s.settings = settings{Enabled: on, Flow: FlowSettings{Model: flow.CPUMem}}
	if _, err := os.Stat(s.options.Dir); errors.Is(err, os.ErrNotExist) {
		return nil // nothing was ever chosen
	}
	return s.save()
}

func (s *Service) Flow() FlowSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.Flow
}

// SetFlow changes them. The error is a *config.Error.
func (s *Service) SetFlow(settings FlowSettings) error {
	if !slices.Contains(flow.Models, settings.Model) {
		var names []string
		for _, m := range flow.Models {
			names = append(names, string(m))
		}
		return &config.Error{Mistakes: []config.Mistake{{Field: "model", Message: "want one of " + strings.Join(names, ", ")}}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings.Flow = settings
	return s.save()
}

type Configuration struct {
	Rules    session.Rules `json:"rules"`
	Revision int           `json:"revision"`
	Document string        `json:"document"`
}

func (s *Service) runner(rules session.Rules) *runner {
	for _, r := range s.runners {
		if r.rules == rules {
			return r
		}
	}
	return nil
}

func (s *Service) Configurations() []Configuration {
	var out []Configuration
	for _, r := range s.runners {
		c, revision := r.configured()
		out = append(out, Configuration{r.rules, revision, string(c.YAML)})
	}
	return out
}

// Apply makes a document the configuration of a dialect from the next session on. An invalid
// document, or one that makes no working predicates, changes nothing: the error is then a
// *config.Error.
func (s *Service) Apply(ctx context.Context, rules session.Rules, text []byte) (Configuration, error) {
	r := s.runner(rules)
	if r == nil {
		return Configuration{}, &config.Error{Mistakes: []config.Mistake{{Field: "rules", Message: "want kube-batch or volcano"}}}
	}
	c, err := session.Parse(text, rules)
	if err != nil {
		return Configuration{}, err
	}
	judge, err := c.Judge()
	if err != nil {
		return Configuration{}, err
	}
	// Build it before the one in force goes.
	replica, err := whatif.NewReplica(ctx, judge, whatif.Options{OutOfTree: session.NewBoard().Registry()})
	if err != nil {
		return Configuration{}, &config.Error{Mistakes: []config.Mistake{{Message: err.Error()}}}
	}
	if err := replica.Close(); err != nil {
		return Configuration{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, revision := r.configured()
	if s.settings.Configurations == nil {
		s.settings.Configurations = map[session.Rules]document{}
	}
	before, had := s.settings.Configurations[rules]
	s.settings.Configurations[rules] = document{string(text), revision + 1}
	if err := s.save(); err != nil {
		if had {
			s.settings.Configurations[rules] = before
		} else {
			delete(s.settings.Configurations, rules)
		}
		return Configuration{}, err
	}
	r.use(c, revision+1)
	return Configuration{rules, revision + 1, string(text)}, nil
}

// List returns at most limit of the latest records, newest first, before a number (0 for the
// newest).
func (s *Service) List(kind Kind, before int64, limit int) []Entry {
	return s.records.list(kind, before, limit)
}

// Get returns a record as JSON, or nil.
func (s *Service) Get(number int64) json.RawMessage { return s.records.get(number) }

// Compare prices the placement of pods by a cost model of the flow scheduler. scheduler and
// namespace select the pods; an empty namespace means all of them.
func (s *Service) Compare(ctx context.Context, model flow.Model, scheduler, namespace string) (*flow.Comparison, error) {
	return s.rounds.compare(ctx, model, scheduler, namespace)
}

func newUID() string { return string(uuid.NewUUID()) }

// endSearch is as in whatif.Options; board may be nil.
func (s *Service) engine(board *session.Board, judge *schedulerconfig.KubeSchedulerConfiguration, endSearch bool) *whatif.Engine {
	o := whatif.Options{Source: s.options.Source, ClientConfig: s.options.ClientConfig, EndSearch: endSearch, Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return judge }}
	if board != nil {
		o.OutOfTree = board.Registry()
	}
	return whatif.New(o)
}
