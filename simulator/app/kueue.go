package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	kueueconfiguration "kube-scheduler-simulator/simulator/batch/kueue/configuration"
	"kube-scheduler-simulator/simulator/batch/kueue/control"
	"kube-scheduler-simulator/simulator/batch/kueue/conversion"
	"kube-scheduler-simulator/simulator/batch/kueue/intake"
	"kube-scheduler-simulator/simulator/batch/kueue/ledger"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
	"kube-scheduler-simulator/simulator/batch/kueue/visibility"
	"kube-scheduler-simulator/simulator/batch/operators"
	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/cluster/definitions"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/server"
)

// queueing is Kueue's admission in the simulator. The ledger outlives the controllers, which a
// reset replaces.
type queueing struct {
	s      *simulator
	ledger *ledger.Ledger
	// running is nil while the controllers stay out.
	running atomic.Pointer[control.Queues]

	mu sync.Mutex // held while configuration changes
	// configuration is Kueue's, as the user wrote it.
	configuration atomic.Pointer[kueueconfiguration.Configuration]
}

var _ server.Kueue = (*queueing)(nil)

// webhooks are what those of batch systems do. Its conversion is answered even when another Kueue decides: it is the same.
func (q *queueing) webhooks() controlplane.Webhooks {
	return controlplane.Webhooks{
		Register: func(plugins *admission.Plugins) {
			operators.Register(plugins)
			intake.Register(plugins, q.staysOut, func() bool { return q.Configuration().Settings().ElasticJobs })
		},
		Plugins:    []string{operators.PluginName, intake.PluginName},
		Conversion: conversion.Transport{}, Namespace: conversion.ServiceNamespace, Service: conversion.ServiceName,
		Uncached: []string{v1beta1.GroupVersion.String()},
	}
}

// staysOut reports whether a Kueue beside the simulator has the queues of this cluster.
func (q *queueing) staysOut() bool {
	if q.s.options.KueueOff {
		return true
	}
	queues := q.running.Load()
	return queues != nil && queues.Original() != ""
}

func (s *simulator) newQueueing() *queueing {
	dir := ""
	if !s.prepared.temporary {
		dir = s.admissionsDir()
	}
	q := &queueing{s: s, ledger: ledger.New(ledger.Options{Dir: dir, Logger: s.options.Logger})}
	q.configuration.Store(&kueueconfiguration.Configuration{})
	return q
}

func (s *simulator) admissionsDir() string { return filepath.Join(s.prepared.dataDir, "admissions") }

func (s *simulator) kueueFile() string {
	return filepath.Join(s.prepared.dataDir, "kueue-configuration.yaml")
}

// resume restores Kueue's configuration of an earlier run. A broken one never prevents the start.
func (q *queueing) resume() {
	document, err := os.ReadFile(q.s.kueueFile())
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var c *kueueconfiguration.Configuration
	if err == nil {
		c, err = kueueconfiguration.Parse(document)
	}
	if err != nil {
		q.s.options.Logger.Error(err, "The kept configuration of Kueue no longer works", "file", q.s.kueueFile())
		return
	}
	q.configuration.Store(c)
}

func (q *queueing) Configuration() *kueueconfiguration.Configuration { return q.configuration.Load() }

func (q *queueing) Configure(document []byte) error {
	c, err := kueueconfiguration.Parse(document)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := datadir.WriteFile(q.s.kueueFile(), document); err != nil {
		return fmt.Errorf("keeping Kueue's configuration: %w", err)
	}
	q.configuration.Store(c)
	if queues := q.running.Load(); queues != nil {
		queues.Configure(c.Settings())
	}
	return nil
}

// unconfigure returns to Kueue's default. Running controllers do not notice.
func (q *queueing) unconfigure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.configuration.Store(&kueueconfiguration.Configuration{})
	return datadir.Remove(q.s.kueueFile())
}

// startQueues also installs Kueue's kinds if the options ask for them.
func (s *simulator) startQueues(ctx context.Context) error {
	s.queueing.resume()
	if err := s.queueing.ledger.Start(); err != nil {
		return fmt.Errorf("opening the admissions: %w", err)
	}
	s.onStopOf("writing the admissions", 0, func(ctx context.Context) error { return ends(ctx, s.queueing.ledger.Stop) })
	if err := s.runQueues(ctx); err != nil {
		return err
	}
	s.onStopOf("Kueue's controllers", 0, s.stopQueues)
	return s.installKueue(ctx)
}

// Kueue's controllers act while the cluster has the definitions. They only observe when the objects come from elsewhere,
// where a Kueue has decided, and when Kueue itself runs beside the simulator. In a cluster that is not ours there are none.
func (s *simulator) runQueues(ctx context.Context) error {
	s.queueing.running.Store(nil)
	if s.embedded == nil || s.replays.Exclusive() {
		return nil
	}
	queues := control.New(control.Options{
		ClientConfig: s.embedded.ClientConfig(), Informers: s.embedded.Informers(), Settings: s.queueing.Configuration().Settings(),
		Observe: s.options.KueueOff || s.follows(),
		Ledger:  s.queueing.ledger, Logger: s.options.Logger,
	})
	if err := queues.Start(ctx); err != nil {
		return fmt.Errorf("starting Kueue's controllers: %w", err)
	}
	s.queueing.running.Store(queues)
	return nil
}

// follows reports whether the simulator continuously copies the objects of another cluster.
func (s *simulator) follows() bool { return s.options.Source.SyncKubeconfig != "" }

func (s *simulator) stopQueues(ctx context.Context) error {
	if queues := s.queueing.running.Load(); queues != nil {
		return queues.Stop(ctx)
	}
	return nil
}

// installKueue does so only if the options ask for it.
func (s *simulator) installKueue(ctx context.Context) error {
	if !s.options.Kueue {
		return nil
	}
	return s.definitions.Keep(ctx, definitions.Of([]string{definitions.Kueue}))
}

func (s *simulator) visibility() visibility.Handler {
	return visibility.Handler{Source: func() visibility.Source {
		if queues := s.queueing.running.Load(); queues != nil {
			return queues
		}
		return nil
	}}
}

func (q *queueing) TurnOn(ctx context.Context) error {
	return userDefinitions{q.s.definitions, q.s}.Keep(ctx, definitions.Of([]string{definitions.Kueue}))
}

func (q *queueing) State() (server.KueueState, string) {
	queues := q.running.Load()
	switch {
	case q.s.external != nil && q.s.servesKueue():
		return server.KueueForeign, "Kueue manages this cluster, so the simulator admits nothing here itself. Its queues and workloads are among the objects."
	case q.s.external != nil:
		return server.KueueUnavailable, "In an existing cluster, the simulator runs no controllers. Install Kueue there, or use the simulator's own cluster."
	case q.s.follows():
		return server.KueueForeign, "The objects come from another cluster, and so do the decisions of its Kueue. The simulator admits nothing itself."
	case q.s.options.KueueOff:
		return server.KueueForeign, "The simulator was started with --kueue=off, so it admits nothing itself. What you see here is what Kueue writes."
	case queues != nil && queues.Original() != "":
		return server.KueueForeign, fmt.Sprintf("Kueue itself is in this cluster (%s), so the simulator admits nothing. To let it admit again, delete these.", queues.Original())
	case queues == nil:
		return server.KueueUnavailable, "While a recording is played, its objects hold the decisions. The simulator admits nothing itself."
	case queues.On():
		return server.KueueOn, ""
	}
	return server.KueueOff, ""
}

func (s *simulator) servesKueue() bool {
	client, err := discovery.NewDiscoveryClientForConfig(s.controlPlane.ClientConfig())
	if err != nil {
		return false
	}
	_, err = client.ServerResourcesForGroupVersion(kueue.GroupVersion.String())
	return err == nil
}

// doing says what Kueue's controllers are about to do; "" for nothing.
func (q *queueing) doing() string {
	if queues := q.running.Load(); queues != nil {
		return queues.Doing()
	}
	return ""
}

func (q *queueing) View() (*control.View, error) {
	queues := q.running.Load()
	if queues == nil {
		return nil, control.ErrOff
	}
	return queues.View()
}

func (q *queueing) Admissions(query ledger.Query) (ledger.Page, error) { return q.ledger.List(query) }

func (q *queueing) Flip(ctx context.Context, workload types.NamespacedName, check string, state kueue.CheckState, message string) error {
	queues := q.running.Load()
	if queues == nil {
		return control.ErrOff
	}
	begun := time.Now()
	err := queues.Flip(ctx, workload, check, state, message)
	q.s.wroteForUser(begun, verbJudge, timeline.Written{Group: kueue.GroupVersion.Group, Resource: "workloads", Namespace: workload.Namespace, Name: workload.Name})
	return err
}

func (q *queueing) Suggest(ctx context.Context, workload types.NamespacedName) (suggest.Answer, error) {
	queues := q.running.Load()
	if queues == nil {
		return suggest.Answer{}, control.ErrOff
	}
	return queues.Suggest(ctx, workload)
}
