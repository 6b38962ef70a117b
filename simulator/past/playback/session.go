// Package playback loads and plays one recording at a time into a running simulator: one that
// people upload, or the one that the command line named.
//
// It knows the simulator around it only by the functions in Options; package replay does the
// playing. It may import simulator/past/replay and simulator/host.
package playback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/past/replay"
)

// Controllers are the controllers that run during a replay unless the user asks for others. The
// recording holds what the source's controllers did, but not what follows from simulated decisions.
// So these controllers bind claims whose volumes wait for the scheduler, and create generic
// ephemeral volumes and generated resource claims for the simulated pods.
func Controllers() []string {
	return []string{
		"persistentvolume-binder-controller", "external-provisioner", "ephemeral-volume-controller", "resourceclaim-controller",
		"namespace-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller", "podgroup-protection-controller",
	}
}

// Options connect a Session to its simulator. All fields are required. Any goroutine may call the
// functions, but only after the simulator has started.
type Options struct {
	// ClientConfig reaches the simulated cluster.
	ClientConfig func() *rest.Config
	Results      replay.Results
	// Define installs the definition of a custom kind, if the simulator has it, and reports whether
	// it does.
	Define func(ctx context.Context, kind schema.GroupKind) (bool, error)
	// Idle waits until the scheduler has seen the changes and has nothing to do.
	Idle func(ctx context.Context, changes []replay.Written) error
	// Profiles are the scheduler names of the simulator's scheduler.
	Profiles func() []string
	// Reset empties the cluster and the results.
	Reset func(ctx context.Context) error
	// External says that the cluster is not the simulator's own. A replay then never empties it,
	// and cannot seek backwards.
	External bool
	// Spool returns an unnamed file for an upload.
	Spool func() (*datadir.Spool, error)
	// Changed is called when the status has changed.
	Changed func()
	Logger  klog.Logger
}

// Session plays one recording at a time. Its methods are safe for concurrent use.
type Session struct {
	options Options

	// receiving is held during an upload; nothing waits for it.
	receiving sync.Mutex
	// turn has capacity 1: the goroutine that fills it may load and unload recordings. Nobody takes
	// it while a client is still sending.
	turn chan struct{}
	mu   sync.Mutex
	// player is nil when no recording is loaded.
	player *replay.Player
	file   *File
	// exclusive: only the recording and Controllers act on the cluster. It holds from the reset
	// before an uploaded recording to the reset after that recording is unloaded.
	exclusive bool
}

// New returns a session without a recording.
func New(o Options) *Session { return &Session{options: o, turn: make(chan struct{}, 1)} }

// take waits for the turn, unless ctx ends first.
func (s *Session) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("waiting until another recording is loaded or unloaded: %w", context.Cause(ctx))
	}
	if ctx.Err() != nil {
		s.release()
		return context.Cause(ctx)
	}
	return nil
}

func (s *Session) release() { <-s.turn }

// Status returns false when no recording is loaded.
func (s *Session) Status() (replay.Status, bool) {
	p := s.current()
	if p == nil {
		return replay.Status{}, false
	}
	return p.Status(), true
}

// Recording returns the loaded recording, readable until it is unloaded; nil when there is none.
func (s *Session) Recording() *replay.Recording {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	return s.file.recording
}

// Loaded reports whether a recording is loaded.
func (s *Session) Loaded() bool { return s.current() != nil }

func (s *Session) current() *replay.Player {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.player
}

func (s *Session) loaded() (*replay.Player, error) {
	if p := s.current(); p != nil {
		return p, nil
	}
	return nil, replay.ErrNoRecording
}

// Load reads an uploaded recording, empties the simulator and pauses at the start. It does nothing
// if ctx ends before it begins to empty the simulator.
func (s *Session) Load(ctx context.Context, name string, body io.Reader) (replay.Status, error) {
	if !s.receiving.TryLock() {
		return replay.Status{}, replay.ErrBusy
	}
	defer s.receiving.Unlock()
	file, err := s.receive(ctx, body)
	if err != nil {
		return replay.Status{}, err
	}
	if err := s.take(ctx); err != nil {
		return replay.Status{}, errors.Join(err, file.Close())
	}
	defer s.release()
	s.unload()
	s.setExclusive(true)
	status, err := s.useEmptied(ctx, file, replay.PlayerOptions{Name: name, Speed: 1, WaitForScheduler: true})
	if err != nil {
		s.setExclusive(false)
		return replay.Status{}, errors.Join(err, file.Close())
	}
	return status, nil
}

// receive verifies an uploaded recording and keeps it in a file.
func (s *Session) receive(ctx context.Context, body io.Reader) (*File, error) {
	spooled, err := s.options.Spool()
	if err != nil {
		return nil, fmt.Errorf("keeping the recording: %w", err)
	}
	size, err := io.Copy(spooled, body)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the recording: %w", err), spooled.Close())
	}
	file, err := newFile(spooled, size)
	if err == nil {
		err = file.recording.Verify(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, spooled.Close())
	}
	return file, nil
}

func (s *Session) useEmptied(ctx context.Context, file *File, o replay.PlayerOptions) (replay.Status, error) {
	if err := s.options.Reset(ctx); err != nil {
		return replay.Status{}, fmt.Errorf("emptying the simulator for the recording: %w", err)
	}
	return s.use(file, o)
}

func (s *Session) setExclusive(exclusive bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exclusive = exclusive
}

// Play plays a recording in the cluster as it is. It takes over the file unless it fails.
func (s *Session) Play(ctx context.Context, file *File, o Playback) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.release()
	if _, err := s.use(file, replay.PlayerOptions{
		Name: o.name(), Speed: o.Speed, WaitForScheduler: o.WaitForScheduler, FollowRecording: o.FollowRecording,
	}); err != nil {
		return err
	}
	playing := replay.Playing
	_, err := s.Do(replay.Control{State: &playing})
	return err
}

// use starts a player, paused. The caller has the turn.
func (s *Session) use(file *File, o replay.PlayerOptions) (replay.Status, error) {
	simulated, err := replay.NewCluster(s.options.ClientConfig(), s.options.Define, s.options.Idle)
	if err != nil {
		return replay.Status{}, err
	}
	o.Recording, o.Cluster, o.Results = file.recording, simulated, s.options.Results
	o.Logger, o.Changed, o.Profiles = s.options.Logger, s.options.Changed, s.options.Profiles
	if !s.options.External {
		o.Reset = s.options.Reset
	}
	player := replay.NewPlayer(o)
	player.Start(context.Background())
	s.mu.Lock()
	s.player, s.file = player, file
	s.mu.Unlock()
	s.options.Changed()
	return player.Status(), nil
}

// Do changes how the recording plays.
func (s *Session) Do(c replay.Control) (replay.Status, error) {
	p, err := s.loaded()
	if err != nil {
		return replay.Status{}, err
	}
	return p.Do(c)
}

// Step applies the next changes that share a point in time.
func (s *Session) Step(ctx context.Context) (replay.Status, error) {
	p, err := s.loaded()
	if err != nil {
		return replay.Status{}, err
	}
	return p.Step(ctx)
}

// Comparison compares the decisions made so far with the recording.
func (s *Session) Comparison(q replay.ComparisonQuery) (replay.Comparison, error) {
	p, err := s.loaded()
	if err != nil {
		return replay.Comparison{}, err
	}
	return p.Comparison(q)
}

// Unload drops the recording. The objects and results that it produced stay.
func (s *Session) Unload(ctx context.Context) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.release()
	if _, err := s.loaded(); err != nil {
		return err
	}
	s.unload()
	return nil
}

func (s *Session) unload() {
	s.mu.Lock()
	player, file := s.player, s.file
	s.player, s.file, s.exclusive = nil, nil, false
	s.mu.Unlock()
	if player == nil {
		return
	}
	player.Stop()
	_ = file.Close()
	s.options.Changed()
}

// Stop unloads the recording, if there is one. It gives up if ctx ends during another load or
// unload.
func (s *Session) Stop(ctx context.Context) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.release()
	s.unload()
	return nil
}

// Exclusive reports whether the recording acts on the cluster alone, in place of virtual nodes and
// of the controllers other than Controllers.
func (s *Session) Exclusive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exclusive
}

// Operation describes a playing replay for the simulator's status; nil when none is playing.
func (s *Session) Operation() *operation.Status {
	status, loaded := s.Status()
	if !loaded || status.State != replay.Playing && status.State != replay.Seeking {
		return nil
	}
	return &operation.Status{Kind: operation.Replay, Message: string(status.State) + " " + status.Name, Done: status.Applied, Total: status.Changes}
}
