package app

import (
	"cmp"
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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/autoscaling/live"
	"kube-scheduler-simulator/simulator/cluster/definitions"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/server"
)

// autoscaler is Karpenter beside the scheduler. The log outlives the controllers, which a reset replaces.
type autoscaler struct {
	s   *simulator
	log live.Log
	// running is nil while they are off, or stay out.
	running atomic.Pointer[live.Karpenter]

	mu       sync.Mutex // held while they are turned on or off
	settings server.KarpenterSettings
	// finalizers lets deleted nodes go while they are off. It is nil while they run, or stay out.
	finalizers *live.Finalizers
	// stopAnswers ends the answers to ProvisioningRequests. It is nil while the controllers are off, or stay out.
	stopAnswers func()
}

var _ server.Karpenter = (*autoscaler)(nil)

func (s *simulator) newAutoscaler() *autoscaler {
	return &autoscaler{s: s, settings: server.KarpenterSettings{On: s.options.Karpenter}}
}

// karpenterSettings is the file of a data directory in which the settings are kept.
const karpenterSettings = "karpenter.json"

func (s *simulator) karpenterFile() string {
	return filepath.Join(s.prepared.dataDir, karpenterSettings)
}

// startKarpenter also restores the settings of an earlier run. Broken ones never prevent the start.
func (s *simulator) startKarpenter(ctx context.Context) error {
	a := s.autoscaler
	document, err := os.ReadFile(s.karpenterFile())
	if err == nil {
		var kept server.KarpenterSettings
		if err = errors.Join(json.Unmarshal(document, &kept), kept.Validate()); err == nil {
			kept.On = kept.On || s.options.Karpenter
			a.settings = kept
		}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.options.Logger.Error(err, "The kept settings of Karpenter no longer work", "file", s.karpenterFile())
	}
	s.onStopOf("Karpenter's controllers", 0, s.stopKarpenter)
	err = s.runKarpenter(ctx)
	if err != nil && !s.options.Karpenter {
		s.options.Logger.Error(err, "Karpenter was on and cannot start again, so it is off")
		a.settings.On = false
		err = s.runKarpenter(ctx)
	}
	return err
}

// mayRun says why Karpenter's controllers cannot run here; empty if they can.
func (a *autoscaler) mayRun() string {
	switch s := a.s; {
	case s.external != nil:
		return "In an existing cluster, the simulator runs no controllers: whatever adds nodes there goes on to. Ask what Karpenter would do instead."
	case s.follows():
		return "The objects come from another cluster, and so do its nodes. The simulator adds none itself."
	case s.embedded == nil, s.replays.Exclusive():
		return "While a recording is played, its nodes come and go as they did. The simulator adds none itself."
	}
	return ""
}

// runKarpenter starts the controllers if they are on, and else what lets deleted nodes go.
func (s *simulator) runKarpenter(ctx context.Context) error {
	a := s.autoscaler
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mayRun() != "" {
		return nil
	}
	return a.run(ctx)
}

// run is called with mu held.
func (a *autoscaler) run(ctx context.Context) error {
	s := a.s
	beside, err := a.beside(ctx)
	if err != nil {
		return err
	}
	if !a.settings.On || beside != "" {
		a.finalizers, err = live.StartFinalizers(ctx, live.FinalizersOptions{ClientConfig: s.embedded.ClientConfig(), Informers: s.embedded.Informers(), Logger: s.options.Logger})
		return err
	}
	if err := s.definitions.Keep(ctx, definitions.Of([]string{definitions.Karpenter})); err != nil {
		return err
	}
	if err := a.checkDefinitions(ctx); err != nil {
		return err
	}
	k := live.Start(ctx, live.Options{
		ClientConfig: s.embedded.ClientConfig(), Catalog: s.prepared.instances, Settings: a.settings.Settings, Log: &a.log, Logger: s.options.Logger,
		Displaced: func() { go a.restart(context.WithoutCancel(ctx)) },
	})
	a.running.Store(k)
	a.stopAnswers, err = a.answerRequests(ctx, k)
	return err
}

// restart stops the controllers, and starts them again if they still may run.
func (a *autoscaler) restart(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running.Load() == nil {
		return
	}
	if err := errors.Join(a.stop(ctx), a.run(ctx)); err != nil {
		a.s.options.Logger.Error(err, "Karpenter's controllers did not stay out of the way of another Karpenter")
	}
}

// checkDefinitions refuses the definitions of a Karpenter that does not have our version's API.
func (a *autoscaler) checkDefinitions(ctx context.Context) error {
	for _, d := range definitions.Of([]string{definitions.Karpenter}) {
		has, err := a.s.definitions.Versions(ctx, d)
		if err != nil {
			return err
		}
		if !slices.Contains(has, d.Kind.Version) {
			return &server.Forbidden{Message: fmt.Sprintf("The cluster's definition %s is that of another Karpenter: it serves %v, and Karpenter %s reads %s. Delete it, or apply the one of this version.", d.Name(), has, dryrun.Version, d.Kind.Version)}
		}
	}
	return nil
}

func (s *simulator) stopKarpenter(ctx context.Context) error {
	a := s.autoscaler
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stop(ctx)
}

// stop is called with mu held.
func (a *autoscaler) stop(ctx context.Context) error {
	if a.finalizers != nil {
		a.finalizers.Stop()
		a.finalizers = nil
	}
	if a.stopAnswers != nil {
		a.stopAnswers()
		a.stopAnswers = nil
	}
	k := a.running.Swap(nil)
	if k == nil {
		return nil
	}
	return k.Stop(ctx)
}

// unconfigure returns to the state of a first start. Running controllers do not notice.
func (a *autoscaler) unconfigure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settings = server.KarpenterSettings{On: a.s.options.Karpenter}
	a.log.Clear()
	return datadir.Remove(a.s.karpenterFile())
}

func (a *autoscaler) Configure(ctx context.Context, settings server.KarpenterSettings) error {
	if why, err := a.foreign(ctx); err != nil {
		return err
	} else if why != "" && settings.On {
		return &server.Forbidden{Message: why}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	document, err := json.Marshal(settings)
	if err == nil {
		err = datadir.WriteFile(a.s.karpenterFile(), document)
	}
	if err != nil {
		return fmt.Errorf("keeping Karpenter's settings: %w", err)
	}
	was := a.settings
	a.settings = settings
	if a.mayRun() != "" {
		return nil
	}
	if settings.On == was.On {
		if k := a.running.Load(); k != nil {
			k.Configure(settings.Settings)
		}
		return nil
	}
	// What has begun ends even if the client goes away.
	ctx = context.WithoutCancel(ctx)
	if err := a.stop(ctx); err != nil {
		return err
	}
	if err := a.run(ctx); err != nil {
		a.settings = was
		return errors.Join(err, a.run(ctx))
	}
	return nil
}

// foreign says why our Karpenter may not add nodes to this cluster; empty if it may.
func (a *autoscaler) foreign(ctx context.Context) (string, error) {
	beside, err := a.beside(ctx)
	if err != nil {
		return "", err
	}
	return cmp.Or(beside, a.mayRun()), nil
}

// beside says which Karpenter runs beside the simulator; empty if none does.
func (a *autoscaler) beside(ctx context.Context) (string, error) {
	client, err := kubernetes.NewForConfig(a.s.controlPlane.ClientConfig())
	if err != nil {
		return "", err
	}
	lease, err := live.Beside(ctx, client)
	if err != nil || lease == "" {
		return "", err
	}
	return fmt.Sprintf("Karpenter itself runs in this cluster: it holds the Lease %s. The simulator adds no nodes, because the two would take each other's away.", lease), nil
}

func (a *autoscaler) State(ctx context.Context) (server.KarpenterState, error) {
	a.mu.Lock()
	state := server.KarpenterState{State: server.KarpenterOff, Version: dryrun.Version, Settings: a.settings}
	a.mu.Unlock()
	why, err := a.foreign(ctx)
	if err != nil {
		return state, err
	}
	switch {
	case a.running.Load() != nil:
		state.State = server.KarpenterOn
	case why != "" && why != a.mayRun():
		state.State, state.Message = server.KarpenterForeign, why
	case why != "":
		state.State, state.Message = server.KarpenterUnavailable, why
	}
	if state.Bare = live.Bare(nil, nil); state.State == server.KarpenterOff {
		state.Bare, err = a.bare(ctx)
	}
	return state, err
}

// bare counts the pods that an eviction would end for good.
func (a *autoscaler) bare(ctx context.Context) (live.BarePods, error) {
	pools, err := a.s.hypotheses.doors.List(ctx, dryrun.NodePoolKind, metav1.NamespaceAll)
	if err != nil {
		return live.BarePods{}, err
	}
	var state dryrun.State
	for _, pool := range pools {
		_ = state.Add(pool) // a NodePool that Karpenter cannot read takes no node away
	}
	pods, err := a.s.embedded.Informers().Core().V1().Pods().Lister().List(labels.Everything())
	return live.Bare(pods, state.NodePools), err
}

func (a *autoscaler) Interrupt(ctx context.Context, node string, notice time.Duration) error {
	k := a.running.Load()
	if k == nil {
		return &server.Forbidden{Message: "Karpenter is off, and only Karpenter moves the pods of a node that is interrupted. Turn it on first."}
	}
	return k.Interrupt(ctx, node, notice)
}

func (a *autoscaler) Log(most int) []live.Entry { return a.log.Latest(most) }
