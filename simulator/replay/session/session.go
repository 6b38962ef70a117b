package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/simulator/replay"
	"kube-scheduler-simulator/simulator/server"
)

// ReplayOptions say what to play after the start, and when to end.
type ReplayOptions struct {
	// File is the recording.
	File string
	// Speed is 1 for real time, and 0 for as fast as it goes.
	Speed float64
	// WaitForScheduler lets the scheduler become idle after each change.
	WaitForScheduler bool
	// FollowRecording asks for each decision in the state that the recording has.
	FollowRecording bool
	// Report is a file for the comparison, as text or, when its name ends in .json,
	// as JSON. Empty: none is written.
	Report string
	// Exit ends the simulator when the report is written.
	Exit bool
	// FailOnDifference makes that end an error when a placement does not match.
	FailOnDifference bool
}

// ReplayControllers are those that run in a replay unless others are asked for:
// what the source's controllers did is in the recording, and what follows from
// the simulated decisions is not. So claims whose volumes wait for the scheduler
// are bound here, and generic ephemeral volumes and generated resource claims are
// made here for the simulated pods.
func ReplayControllers() []string {
	return []string{
		"persistentvolume-binder-controller", "external-provisioner", "ephemeral-volume-controller", "resourceclaim-controller",
		"namespace-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller", "podgroup-protection-controller",
	}
}

// ErrDifferent is returned by Run when placements do not match and
// ReplayOptions.FailOnDifference asks for it.
var ErrDifferent = errors.New("placements differ from the recording")

// replays plays one recording at a time.
type replays struct {
	simulator *simulator

	// turn is held by who loads or unloads.
	turn sync.Mutex
	mu   sync.Mutex
	// player is nil when no recording is loaded.
	player *replay.Player
	file   *os.File
	// alone: nobody but the recording acts on the cluster, apart from
	// ReplayControllers. It is so from the reset before a recording that was sent
	// to the reset after it was unloaded.
	alone bool
}

var _ server.Replay = (*replays)(nil)

// Status returns false when no recording is loaded.
func (r *replays) Status() (replay.Status, bool) {
	p := r.current()
	if p == nil {
		return replay.Status{}, false
	}
	return p.Status(), true
}

func (r *replays) current() *replay.Player {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.player
}

func (r *replays) loaded() (*replay.Player, error) {
	if p := r.current(); p != nil {
		return p, nil
	}
	return nil, server.ErrNoRecording
}

// Load takes a recording that is sent, empties the simulator and is then paused at
// the start.
func (r *replays) Load(ctx context.Context, name string, body io.Reader) (replay.Status, error) {
	if !r.turn.TryLock() {
		return replay.Status{}, server.ErrReplayBusy
	}
	defer r.turn.Unlock()
	file, err := r.simulator.prepared.spool("recording")
	if err != nil {
		return replay.Status{}, fmt.Errorf("keeping the recording: %w", err)
	}
	if _, err := io.Copy(file, body); err != nil {
		return replay.Status{}, errors.Join(fmt.Errorf("reading the recording: %w", err), file.Close())
	}
	recording, err := open(file)
	if err != nil {
		return replay.Status{}, errors.Join(err, file.Close())
	}
	r.unload()
	r.setAlone(true)
	status, err := r.useEmptied(ctx, file, recording, replay.PlayerOptions{Name: name, Speed: 1, WaitForScheduler: true})
	if err != nil {
		r.setAlone(false)
		return replay.Status{}, errors.Join(err, file.Close())
	}
	return status, nil
}

// useEmptied is use, after the simulator has been emptied.
func (r *replays) useEmptied(ctx context.Context, file *os.File, recording *replay.Recording, o replay.PlayerOptions) (replay.Status, error) {
	if err := r.simulator.resetForReplay(ctx); err != nil {
		return replay.Status{}, fmt.Errorf("emptying the simulator for the recording: %w", err)
	}
	return r.use(file, recording, o)
}

func (r *replays) setAlone(alone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alone = alone
}

// open reads where a recording's parts are.
func open(file *os.File) (*replay.Recording, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the recording: %w", err)
	}
	return replay.Open(file, info.Size())
}

// use starts a player. The caller holds turn.
func (r *replays) use(file *os.File, recording *replay.Recording, o replay.PlayerOptions) (replay.Status, error) {
	s := r.simulator
	simulated, err := replay.NewCluster(s.controlPlane.ClientConfig(), r.idle)
	if err != nil {
		return replay.Status{}, err
	}
	o.Recording, o.Cluster, o.Results, o.Logger, o.Changed = recording, simulated, s.store, s.options.Logger, s.publish
	o.Profiles = func() []string { return s.scheduler.State().Profiles }
	if s.embedded != nil { // another's cluster is not emptied
		o.Reset = s.resetForReplay
	}
	player := replay.NewPlayer(o)
	player.Start(context.Background())
	r.mu.Lock()
	r.player, r.file = player, file
	r.mu.Unlock()
	s.publish()
	return player.Status(), nil
}

// idle asks the scheduler of the moment.
func (r *replays) idle(ctx context.Context, written []replay.Written) error {
	changes := make([]scheduler.Change, len(written))
	for i, w := range written {
		changes[i] = scheduler.Change{UID: w.UID, ResourceVersion: w.ResourceVersion, Deleted: w.Deleted, Certain: w.Certain}
	}
	return r.simulator.scheduler.Idle(ctx, changes)
}

// Do changes how it plays.
func (r *replays) Do(c replay.Control) (replay.Status, error) {
	p, err := r.loaded()
	if err != nil {
		return replay.Status{}, err
	}
	return p.Do(c)
}

// Step applies the next changes that share an instant.
func (r *replays) Step(ctx context.Context) (replay.Status, error) {
	p, err := r.loaded()
	if err != nil {
		return replay.Status{}, err
	}
	return p.Step(ctx)
}

// Comparison compares what was decided so far.
func (r *replays) Comparison(q replay.ComparisonQuery) (replay.Comparison, error) {
	p, err := r.loaded()
	if err != nil {
		return replay.Comparison{}, err
	}
	return p.Comparison(q)
}

// Unload forgets the recording. What it has brought about stays.
func (r *replays) Unload() error {
	r.turn.Lock()
	defer r.turn.Unlock()
	if _, err := r.loaded(); err != nil {
		return err
	}
	r.unload()
	return nil
}

func (r *replays) unload() {
	r.mu.Lock()
	player, file := r.player, r.file
	r.player, r.file, r.alone = nil, nil, false
	r.mu.Unlock()
	if player == nil {
		return
	}
	player.Stop()
	_ = file.Close()
	r.simulator.publish()
}

func (r *replays) stop(context.Context) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.unload()
	return nil
}

// playsHere reports whether a recording takes the place of virtual nodes.
func (r *replays) playsHere() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.alone
}

// controllers are those that run from the next reset on.
func (r *replays) controllers() (list []string, virtualNodes bool) {
	o := r.simulator.options
	if r.playsHere() {
		return ReplayControllers(), false
	}
	return o.Controllers, !o.NoVirtualNodes
}

// operation is what the status shows of a replay; nil when none plays.
func (r *replays) operation() *server.Operation {
	status, loaded := r.Status()
	if !loaded || status.State != replay.Playing && status.State != replay.Seeking {
		return nil
	}
	return &server.Operation{Kind: server.OperationReplay, Message: string(status.State) + " " + status.Name, Done: status.Applied, Total: status.Changes}
}

// startReplay begins to play the recording that the options name.
func (s *simulator) startReplay() error {
	o := s.options.Replay
	if o == nil {
		return nil
	}
	s.replays.turn.Lock()
	defer s.replays.turn.Unlock()
	if !s.prepared.temporary { // a data directory that is kept may hold a cluster
		if err := s.resetForReplay(context.Background()); err != nil {
			return fmt.Errorf("emptying the cluster for the recording: %w", err)
		}
	} else if err := s.dropDefaultClass(); err != nil {
		return err
	}
	// It was opened while it could still be refused without a start.
	if _, err := s.replays.use(s.prepared.recordingFile, s.prepared.recording, replay.PlayerOptions{
		Name: filepath.Base(o.File), Speed: o.Speed, WaitForScheduler: o.WaitForScheduler, FollowRecording: o.FollowRecording,
	}); err != nil {
		return err
	}
	s.prepared.recordingFile = nil // the player's now
	playing := replay.Playing
	_, err := s.replays.Do(replay.Control{State: &playing})
	return err
}

// openRecording opens the recording that is to be played.
func (p *prepared) openRecording(o *ReplayOptions) (err error) {
	if o == nil {
		return nil
	}
	if p.recordingFile, err = os.Open(o.File); err != nil {
		return fmt.Errorf("opening the recording: %w", err)
	}
	if p.recording, err = open(p.recordingFile); err != nil {
		return fmt.Errorf("%s: %w", o.File, err)
	}
	return nil
}

// reportReplay sends when the replay has ended and its report is written, or could
// not be. Without Exit it sends failures only. It ends with ctx, or in stop.
func (s *simulator) reportReplay(ctx context.Context) <-chan error {
	o := s.options.Replay
	if o == nil || !o.Exit && o.Report == "" {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	played := make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() {
		err := s.finishReplay(ctx)
		if ctx.Err() == nil && (o.Exit || err != nil) {
			played <- err
		}
	})
	s.onStop(func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
	return played
}

// resetForReplay empties the cluster and the results. The scheduler configuration
// stays: what it would have done is what is being asked.
func (s *simulator) resetForReplay(ctx context.Context) error {
	ctx, o, err := s.operations.begin(ctx, server.OperationReplay, "the cluster is emptied for the recording")
	if err != nil {
		return err
	}
	defer o.end()
	if _, err := s.reset(ctx, cluster); err != nil {
		return err
	}
	return s.embedded.DropDefaultStorageClass(ctx)
}

// finishReplay waits for the end of the recording, and writes the report.
func (s *simulator) finishReplay(ctx context.Context) error {
	o := s.options.Replay
	player := s.replays.current()
	if err := player.Wait(ctx); err != nil {
		return err
	}
	report, err := player.Report()
	if err != nil {
		return err
	}
	if err := writeReport(o.Report, report); err != nil {
		return err
	}
	if c := report.Comparison.Counts; o.FailOnDifference && c.Matching != c.Compared {
		return fmt.Errorf("%w: %d of %d match", ErrDifferent, c.Matching, c.Compared)
	}
	return nil
}

func writeReport(path string, report replay.Report) (err error) {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if strings.HasSuffix(path, ".json") {
		return report.WriteJSON(file)
	}
	return report.WriteText(file)
}

// MaxReplaySpeed is the most that can be asked for, but for as fast as it goes.
const MaxReplaySpeed = replay.MaxSpeed
