package branch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/host/datadir"
)

const (
	// MaxRunning is how many branches may run at the same time.
	MaxRunning = 4
	// MaxKept is how many may exist.
	MaxKept = 32
	// SleepAfter is how long a branch runs that no client asks for anything. Then it is stopped, and
	// keeps all that it has.
	SleepAfter = 30 * time.Minute
)

// Past rebuilds the states of past moments. Its method is safe for concurrent use.
type Past interface {
	// WriteState writes the state at a moment, in the format of an export. It returns the number of
	// that moment, and its time or the time that the caller named. The error wraps fs.ErrNotExist
	// when the moment is gone.
	WriteState(ctx context.Context, moment string, w io.Writer) (number int64, at time.Time, err error)
}

// Options of Branches. Dir and Present are required.
type Options struct {
	// Dir is the directory of all branches. The first one creates it.
	Dir string
	// Flags are those of every child's command line.
	Flags []string
	// DataDir is the trunk's data directory, and Inherited names the files of a data directory that a branch of the trunk, or of another
	// branch, has from the beginning: settings that are no objects. Branches of lessons and of given objects begin without them.
	DataDir   string
	Inherited []string
	// Present writes the state of the trunk, in the format of an export.
	Present func(ctx context.Context, w io.Writer) error
	// Past is nil when the trunk has no time line.
	Past Past
	// Lesson returns what a lesson starts from; its error wraps fs.ErrNotExist for an unknown one.
	// nil when there are no lessons.
	Lesson func(id string) (Start, error)
	// CheckConfiguration returns an error for an invalid KubeSchedulerConfiguration. Default: all
	// are valid.
	CheckConfiguration func(document []byte) error
	// CheckVersion returns an error for a minor version of Kubernetes that a branch cannot emulate. Default: it can emulate all.
	CheckVersion func(minor string) error
	// Leftovers removes what the control plane of a data directory has left elsewhere. Default:
	// nothing.
	Leftovers func(dataDir string) error
	// Logger receives warnings; by default they are discarded.
	Logger klog.Logger
	// Stderr receives the children's standard error, each line with the name of its branch.
	// Default: os.Stderr.
	Stderr io.Writer
	// Command returns a command that runs a simulator. Default: this executable.
	Command func(args []string) *exec.Cmd
	// Room says what the machine has left. Default: RoomOf.
	Room func(dir string) (Room, error)
	// Default: time.Now.
	Now func() time.Time
}

// Branches are the branches of a trunk. Methods are safe for concurrent use.
type Branches struct {
	opts    Options
	client  *http.Client
	closing context.Context
	quit    context.CancelFunc
	work    sync.WaitGroup

	mu  sync.Mutex
	all map[string]*kept
}

// The lock of Branches guards what changes in a kept branch.
type kept struct {
	name    string
	note    note
	state   State
	message string
	// child is nil when no process runs.
	child *child
	// making: its directory is not complete yet.
	making   bool
	deleting bool
	renaming bool
	damaged  bool
	// bytes is the size of its directory on disk when last measured.
	bytes    int64
	measured time.Time
	// users counts the requests of clients that it answers; used is the end of the last one, or its
	// start.
	users int
	used  time.Time
}

// measuresEvery is how often the sizes are measured, however often clients ask.
const measuresEvery = 10 * time.Second

// New returns the branches of a directory. Open reads them.
func New(opts Options) *Branches {
	if opts.CheckVersion == nil {
		opts.CheckVersion = func(string) error { return nil }
	}
	if opts.CheckConfiguration == nil {
		opts.CheckConfiguration = func([]byte) error { return nil }
	}
	if opts.Leftovers == nil {
		opts.Leftovers = func(string) error { return nil }
	}
	if opts.Stderr == nil {
		opts.Stderr = os.Stderr
	}
	if opts.Command == nil {
		opts.Command = thisProgram
	}
	if opts.Room == nil {
		opts.Room = RoomOf
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	b := &Branches{opts: opts, all: map[string]*kept{}, client: &http.Client{
		Transport: &http.Transport{},
		// A child's answers come from its cluster, and lead nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	b.closing, b.quit = context.WithCancel(context.Background())
	return b
}

// Open finds the branches. Call it once, before the other methods. No branch starts by itself, and
// Open removes those of lessons.
func (b *Branches) Open() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.readAll(); err != nil {
		return err
	}
	b.work.Go(func() {
		for every := time.NewTicker(SleepAfter / 30); ; {
			select {
			case <-every.C:
				b.sleepUnused()
			case <-b.closing.Done():
				every.Stop()
				return
			}
		}
	})
	return nil
}

// Use records that a client's request to a branch has begun. The caller calls end after the answer.
func (b *Branches) Use(name string) (end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.all[name]
	if k == nil {
		return func() {}
	}
	k.users++
	k.used = b.opts.Now()
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		k.users--
		k.used = b.opts.Now()
	}
}

// sleepUnused stops the branches that no client has used for SleepAfter. It does not wait.
func (b *Branches) sleepUnused() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k := b.unused(); k != nil && b.opts.Now().Sub(k.used) >= SleepAfter; k = b.unused() {
		b.sleep(k.child)
	}
}

// unused returns the running branch that has been without clients the longest, or nil. The caller
// holds the lock.
func (b *Branches) unused() (found *kept) {
	for _, k := range b.all {
		if k.state == Running && k.child != nil && !k.child.asked && k.users == 0 && (found == nil || k.used.Before(found.used)) {
			found = k
		}
	}
	return found
}

// sleep ends a child in the background. The caller holds the lock.
func (b *Branches) sleep(c *child) {
	c.ask()
	b.work.Go(func() { b.awaitStop(c) })
}

// Quit asks all children to stop and refuses to start others. It does not wait.
func (b *Branches) Quit() {
	b.quit()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.all {
		if k.child != nil {
			k.child.ask()
		}
	}
}

// Stop is Quit, and returns when all children have ended. It kills those that still run when ctx
// ends.
func (b *Branches) Stop(ctx context.Context) error {
	b.Quit()
	b.mu.Lock()
	var running []*child
	for _, k := range b.all {
		if k.child != nil {
			running = append(running, k.child)
		}
	}
	b.mu.Unlock()
	for _, c := range running {
		b.end(ctx, c)
	}
	b.work.Wait()
	b.client.CloseIdleConnections()
	return nil
}

func (b *Branches) dirOf(name string) string { return filepath.Join(b.opts.Dir, name) }

// List returns the branches, the oldest first.
func (b *Branches) List() []Branch {
	b.mu.Lock()
	all := slices.Collect(maps.Values(b.all))
	b.mu.Unlock()
	items := make([]Branch, 0, len(all))
	for _, k := range all {
		items = append(items, b.measuredBranch(k))
	}
	slices.SortFunc(items, func(x, y Branch) int {
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt), strings.Compare(x.Name, y.Name))
	})
	return items
}

func (b *Branches) Get(name string) (Branch, error) {
	b.mu.Lock()
	k, err := b.named(name)
	b.mu.Unlock()
	if err != nil {
		return Branch{}, err
	}
	return b.measuredBranch(k), nil
}

func (b *Branches) named(name string) (*kept, error) {
	if k := b.all[name]; k != nil {
		return k, nil
	}
	return nil, refuse(Unknown, "there is no branch %q", name)
}

// shown leaves out the memory. The caller holds the lock.
func (b *Branches) shown(k *kept) Branch {
	shown := Branch{
		Name: k.name, Title: k.note.Title, Purpose: k.note.Purpose, Lesson: k.note.Lesson, Of: k.note.Of, From: k.note.From, CreatedAt: k.note.CreatedAt, KubernetesVersion: k.note.KubernetesVersion,
		State: k.state, Message: k.message, Bytes: k.bytes, Path: "/branches/" + k.name + "/", Kubeconfig: filepath.Join(b.dirOf(k.name), dataName, "kubeconfig"),
	}
	if !k.used.IsZero() {
		shown.UsedAt = new(k.used.UTC())
	}
	if k.child != nil && k.child.process != nil {
		shown.pid = k.child.process.Pid
	}
	return shown
}

// measuredBranch measures the branch's directory if that is due, without the lock.
func (b *Branches) measuredBranch(k *kept) Branch {
	now := b.opts.Now()
	b.mu.Lock()
	shown, due := b.shown(k), now.Sub(k.measured) >= measuresEvery
	b.mu.Unlock()
	if due {
		shown.Bytes = bytesOf(b.dirOf(shown.Name))
		b.mu.Lock()
		k.bytes, k.measured = shown.Bytes, now
		b.mu.Unlock()
	}
	if shown.pid != 0 {
		shown.MemoryBytes = memoryOf(shown.pid)
	}
	return shown
}

// Target returns where a branch answers. The error is a Refusal when the branch does not run.
func (b *Branches) Target(name string) (Target, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, err := b.named(name)
	switch {
	case err != nil:
		return Target{}, err
	case k.child != nil && k.child.address != nil && !k.child.asked:
		return Target{k.child.address, k.child.token}, nil
	case k.state == Starting:
		return Target{}, refuse(NotNow, "the branch %s is starting", name)
	case k.state == Failed:
		return Target{}, refuse(NotNow, "the branch %s has failed: %s", name, k.message)
	}
	return Target{}, refuse(NotNow, "the branch %s is stopped", name)
}

// Create makes a branch and starts it, unless it is to sleep. It returns while the branch is
// starting. A Refusal means that nothing has changed.
func (b *Branches) Create(ctx context.Context, q Request) (Branch, error) {
	start, err := b.check(&q)
	if err != nil {
		return Branch{}, err
	}
	k, err := b.reserve(q)
	if err != nil {
		return Branch{}, err
	}
	k.note.Flags, k.note.KubernetesVersion = start.flags, q.KubernetesVersion
	if err := b.fill(ctx, k, start, q.Setup); err != nil {
		b.mu.Lock()
		delete(b.all, k.name)
		b.mu.Unlock()
		return Branch{}, err
	}
	b.mu.Lock()
	k.making = false
	if q.Asleep {
		k.state, k.message = Stopped, ""
	} else {
		b.launch(k)
	}
	b.mu.Unlock()
	return b.Get(k.name)
}

type source struct {
	write func(ctx context.Context, w io.Writer) (*Moment, error)
	flags []string
	// data is the data directory that the branch inherits from; empty for none.
	data string
}

// check completes the request and returns where its state comes from.
func (b *Branches) check(q *Request) (source, error) {
	if q.Lesson != "" && q.Purpose == "" {
		q.Purpose = Lesson
	}
	q.Purpose = cmp.Or(q.Purpose, Ordinary)
	switch {
	case !slices.Contains(purposes, q.Purpose):
		return source{}, refuse(Invalid, "purpose: want one of %v, not %q", purposes, q.Purpose)
	case (q.Purpose == Lesson) != (q.Lesson != ""):
		return source{}, refuse(Invalid, "a branch for a lesson names the lesson, and no other branch does")
	case q.Lesson != "" && (q.At != "" || q.Of != "" || q.Objects != nil || q.Configuration != ""):
		return source{}, refuse(Invalid, "a lesson brings its own state: leave out of, at, objects and configuration")
	case q.Objects != nil && (q.At != "" || q.Of != ""):
		return source{}, refuse(Invalid, "give the objects to start from, or of and at, not both")
	case q.Objects == nil && q.Configuration != "":
		return source{}, refuse(Invalid, "a configuration needs objects: other states have their own")
	}
	if q.KubernetesVersion != "" {
		if err := b.opts.CheckVersion(q.KubernetesVersion); err != nil {
			return source{}, refuse(Invalid, "kubernetesVersion: %v", err)
		}
	}
	if err := cmp.Or(checkTitle(q.Title), checkSetup(q.Setup)); err != nil {
		return source{}, err
	}
	if q.Lesson != "" {
		q.Name = cmp.Or(q.Name, "lesson-"+q.Lesson)
	}
	if q.Name != "" {
		if err := checkName(q.Name); err != nil {
			return source{}, err
		}
	}
	switch {
	case q.Lesson != "":
		return b.ofLesson(q.Lesson)
	case q.Objects != nil:
		return b.ofObjects(q.Objects, q.Configuration)
	case q.Of != "":
		return b.ofBranch(q.Of, q.At)
	case q.At != "":
		return b.ofPast(q.At)
	}
	return source{data: b.opts.DataDir, write: func(ctx context.Context, w io.Writer) (*Moment, error) { return nil, b.opts.Present(ctx, w) }}, nil
}

func (b *Branches) ofLesson(id string) (source, error) {
	if b.opts.Lesson == nil {
		return source{}, refuse(Unknown, "this simulator has no lessons")
	}
	start, err := b.opts.Lesson(id)
	if errors.Is(err, fs.ErrNotExist) {
		return source{}, refuse(Unknown, "there is no lesson %q", id)
	}
	if err != nil {
		return source{}, err
	}
	return start.source(), nil
}

func (b *Branches) ofObjects(objects []json.RawMessage, configuration string) (source, error) {
	start := Start{Objects: objects}
	if configuration != "" {
		if err := b.opts.CheckConfiguration([]byte(configuration)); err != nil {
			return source{}, err
		}
		converted, wrong := yamlsource.JSON([]byte(configuration))
		if wrong != nil {
			return source{}, refuse(Invalid, "the configuration: %v", wrong)
		}
		start.Configuration = converted
	}
	return start.source(), nil
}

func (b *Branches) ofPast(at string) (source, error) {
	if b.opts.Past == nil {
		return source{}, refuse(Unknown, "this simulator has no time line")
	}
	return source{data: b.opts.DataDir, write: func(ctx context.Context, w io.Writer) (*Moment, error) {
		number, time, err := b.opts.Past.WriteState(ctx, at, w)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, refuse(Unknown, "%v", err)
		}
		return &Moment{time, number}, err
	}}, nil
}

// source returns nothing to write for an empty state.
func (s Start) source() source {
	if len(s.Objects) == 0 && s.Configuration == nil {
		return source{flags: s.Flags}
	}
	return source{flags: s.Flags, write: func(_ context.Context, w io.Writer) (*Moment, error) {
		return nil, json.NewEncoder(w).Encode(list{APIVersion: "v1", Kind: "List", Items: s.Objects, Configuration: s.Configuration})
	}}
}

type list struct {
	APIVersion    string            `json:"apiVersion"`
	Kind          string            `json:"kind"`
	Items         []json.RawMessage `json:"items"`
	Configuration json.RawMessage   `json:"schedulerConfiguration,omitempty"`
}

// reserve gives a request its name, if the bounds and the room allow.
func (b *Branches) reserve(q Request) (*kept, error) {
	if err := os.MkdirAll(b.opts.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of the branches: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.Name == "" {
		q.Name = b.freeName(q)
	}
	if b.all[q.Name] != nil {
		return nil, refuse(Taken, "there is a branch %q already", q.Name)
	}
	if len(b.all) >= MaxKept {
		return nil, refuse(TooMany, "there are %d branches, which is the limit: delete one", MaxKept)
	}
	var size int64
	for _, object := range q.Objects {
		size += int64(len(object))
	}
	if err := b.mayStart(size); err != nil {
		return nil, err
	}
	k := &kept{
		name: q.Name, state: Starting, message: "reading its state", making: true,
		note: note{Title: q.Title, Purpose: q.Purpose, Lesson: q.Lesson, Of: q.Of, CreatedAt: b.opts.Now().UTC()},
	}
	b.all[q.Name] = k
	return k, nil
}

// mayStart makes place for a branch: when as many run as may, the one that has been without clients
// the longest falls asleep. The caller holds the lock.
func (b *Branches) mayStart(state int64) error {
	if b.closing.Err() != nil {
		return refuse(NotNow, "the simulator is stopping")
	}
	running := 0
	for _, k := range b.all {
		if k.making || k.child != nil && !k.child.asked {
			running++
		}
	}
	if running < MaxRunning {
		return b.checkRoom(state)
	}
	if k := b.unused(); k != nil {
		b.sleep(k.child)
		return b.checkRoom(state)
	}
	return refuse(TooMany, "%d branches run, which is the limit, and all of them are in use: stop one", MaxRunning)
}

// freeName makes a DNS label of the title, or of the purpose.
func (b *Branches) freeName(q Request) string {
	label := strings.Trim(notOfALabel.ReplaceAllString(strings.ToLower(q.Title), "-"), "-")
	if label = strings.TrimRight(label[:min(len(label), 40)], "-"); label != "" && b.all[label] == nil {
		return label
	}
	label = cmp.Or(label, string(q.Purpose))
	for n := 1; ; n++ {
		if name := fmt.Sprintf("%s-%d", label, n); b.all[name] == nil {
			return name
		}
	}
}

var notOfALabel = regexp.MustCompile("[^a-z0-9]+")

// fill makes the directory of a branch under another name until it is complete, so that a crash
// leaves no half branch.
func (b *Branches) fill(ctx context.Context, k *kept, from source, setup []Call) (err error) {
	dir, err := os.MkdirTemp(b.opts.Dir, newPrefix)
	if err != nil {
		return fmt.Errorf("creating the branch: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if from.write != nil {
		if err := b.writeStart(ctx, k, filepath.Join(dir, startFile), from); err != nil {
			return err
		}
	}
	if err := errors.Join(k.note.write(dir), writeSetup(dir, setup), b.inherit(from.data, filepath.Join(dir, dataName))); err != nil {
		return fmt.Errorf("creating the branch: %w", err)
	}
	if err := os.Rename(dir, b.dirOf(k.name)); err != nil {
		return fmt.Errorf("creating the branch: %w", err)
	}
	return datadir.SyncDir(b.opts.Dir)
}

// inherit copies the settings of a data directory into another one.
func (b *Branches) inherit(from, to string) error {
	if from == "" {
		return nil
	}
	for _, name := range b.opts.Inherited {
		content, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.MkdirAll(to, 0o700)
		}
		if err == nil {
			err = datadir.WriteFile(filepath.Join(to, name), content)
		}
		if err != nil {
			return fmt.Errorf("inheriting %s: %w", name, err)
		}
	}
	return nil
}

func (b *Branches) writeStart(ctx context.Context, k *kept, path string, from source) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("creating the branch: %w", err)
	}
	moment, err := from.write(ctx, file)
	var size int64
	if info, e := file.Stat(); e == nil {
		size = info.Size()
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		if refusal, ok := errors.AsType[*Refusal](err); ok {
			return refusal
		}
		return fmt.Errorf("writing the state of the branch: %w", err)
	}
	b.mu.Lock()
	k.note.From = moment
	b.mu.Unlock()
	return b.checkRoom(size)
}

// WriteState writes the state of a running branch as it is, in the format of an export.
func (b *Branches) WriteState(ctx context.Context, name string, w io.Writer) error {
	from, err := b.ofBranch(name, "")
	if err == nil {
		_, err = from.write(ctx, w)
	}
	return err
}

// ofBranch reads the state of another running branch.
func (b *Branches) ofBranch(name, at string) (source, error) {
	to, err := b.Target(name)
	if err != nil {
		return source{}, err
	}
	return source{data: filepath.Join(b.dirOf(name), dataName), write: func(ctx context.Context, w io.Writer) (*Moment, error) {
		path := to.URL.JoinPath("/api/v1/export")
		var moment *Moment
		if at != "" {
			path = to.URL.JoinPath("/api/v1/timeline/moments", at)
			moment = &Moment{}
			if err := b.fetch(ctx, to, path.String(), func(body io.Reader) error { return json.NewDecoder(body).Decode(moment) }); err != nil {
				return nil, err
			}
			if asked, err := time.Parse(time.RFC3339Nano, at); err == nil {
				moment.Time = asked
			}
			path = path.JoinPath("objects")
		}
		return moment, b.fetch(ctx, to, path.String(), func(body io.Reader) error {
			_, err := io.Copy(w, body)
			return err
		})
	}}, nil
}

// Configuration returns the scheduler configuration of a running branch.
func (b *Branches) Configuration(ctx context.Context, name string) (document []byte, err error) {
	to, err := b.Target(name)
	if err != nil {
		return nil, err
	}
	err = b.fetch(ctx, to, to.URL.JoinPath("/api/v1/schedulerconfiguration").String(), func(body io.Reader) error {
		document, err = io.ReadAll(body)
		return err
	})
	return document, err
}

func (b *Branches) fetch(ctx context.Context, to Target, address string, read func(io.Reader) error) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := b.do(to, r)
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(Unknown, "%v", err)
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return read(answer.Body)
}

// The caller of launch holds the lock.
func (b *Branches) launch(k *kept) {
	if b.closing.Err() != nil {
		k.state, k.message = Stopped, ""
		return
	}
	ctx, cancel := context.WithCancel(b.closing)
	c := &child{token: newToken(), cancel: cancel, exited: make(chan struct{})}
	k.child, k.state, k.message, k.used = c, Starting, "its control plane is starting", b.opts.Now()
	b.work.Go(func() { b.run(ctx, k, c) })
}

// Start starts a branch, and does nothing for one that runs. It returns while the branch is
// starting.
func (b *Branches) Start(name string) (Branch, error) {
	if err := b.start(name); err != nil {
		return Branch{}, err
	}
	return b.Get(name)
}

func (b *Branches) start(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, err := b.named(name)
	switch {
	case err != nil:
		return err
	case k.deleting:
		return refuse(NotNow, "the branch %s is being deleted", name)
	case k.renaming:
		return refuse(NotNow, "the branch %s is being renamed", name)
	case k.damaged:
		return refuse(NotNow, "%s", k.message)
	case k.child != nil && k.child.asked:
		return refuse(NotNow, "the branch %s is stopping", name)
	case k.child != nil || k.making:
		return nil
	}
	if err := b.mayStart(0); err != nil {
		return err
	}
	b.launch(k)
	return nil
}

// StopBranch stops a branch in order, and does nothing for one that does not run. It returns when
// the branch has stopped.
func (b *Branches) StopBranch(name string) (Branch, error) {
	if _, err := b.halt(name, false); err != nil {
		return Branch{}, err
	}
	return b.Get(name)
}

// Retitle changes what people call a branch, and nothing else.
func (b *Branches) Retitle(name, title string) (Branch, error) {
	if err := checkTitle(title); err != nil {
		return Branch{}, err
	}
	return b.got(name, b.retitle(name, title))
}

func (b *Branches) retitle(name, title string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, err := b.named(name)
	switch {
	case err != nil:
		return err
	case k.making, k.deleting, k.renaming, k.damaged:
		return refuse(NotNow, "the branch %s cannot be changed while it is being created, deleted or renamed, or when it is damaged", name)
	}
	k.note.Title = title
	return k.note.write(b.dirOf(name))
}

// Rename gives a branch another name, and with it another address and another kubeconfig. It
// restarts a branch that runs.
func (b *Branches) Rename(name, to string) (Branch, error) {
	k, runs, err := b.beginRename(name, to)
	if err != nil || k == nil {
		return b.got(name, err)
	}
	_, err = b.halt(name, false)
	if err == nil {
		err = b.finishRename(k, to)
	}
	b.mu.Lock()
	k.renaming = false
	b.mu.Unlock()
	if err != nil {
		return Branch{}, err
	}
	if runs {
		if err := b.start(to); err != nil {
			// Another branch took its place meanwhile, and a user can start it later.
			b.opts.Logger.Info("Warning: a branch was renamed and does not run any more", "branch", to, "why", err.Error())
		}
	}
	return b.Get(to)
}

func (b *Branches) got(name string, err error) (Branch, error) {
	if err != nil {
		return Branch{}, err
	}
	return b.Get(name)
}

// beginRename keeps others from changing a branch, and reports whether it runs. It returns nil if
// there is nothing to do.
func (b *Branches) beginRename(name, to string) (k *kept, runs bool, err error) {
	if err := checkName(to); err != nil {
		return nil, false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	k, err = b.named(name)
	switch {
	case err != nil:
		return nil, false, err
	case name == to:
		return nil, false, nil
	case b.all[to] != nil:
		return nil, false, refuse(Taken, "there is a branch %q already", to)
	case k.note.Purpose == Lesson:
		return nil, false, refuse(NotNow, "the branch %s is the sandbox of a lesson, which finds it by its name", name)
	case k.making, k.deleting, k.renaming, k.damaged:
		return nil, false, refuse(NotNow, "the branch %s cannot be renamed while it is being created, deleted or renamed, or when it is damaged", name)
	}
	k.renaming = true
	return k, k.child != nil, nil
}

// The branch does not run.
func (b *Branches) finishRename(k *kept, to string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	from := k.name
	switch {
	case b.all[from] != k || k.deleting:
		return refuse(NotNow, "the branch %s is being deleted", from)
	case b.all[to] != nil:
		return refuse(Taken, "there is a branch %q already", to)
	}
	if err := b.opts.Leftovers(filepath.Join(b.dirOf(from), dataName)); err != nil {
		b.opts.Logger.V(1).Info("Cannot remove what a branch has left", "err", err)
	}
	if err := os.Rename(b.dirOf(from), b.dirOf(to)); err != nil {
		return fmt.Errorf("renaming the branch: %w", err)
	}
	delete(b.all, from)
	k.name, b.all[to] = to, k
	err := datadir.SyncDir(b.opts.Dir)
	for _, other := range b.all {
		if other.note.Of == from {
			other.note.Of = to
			err = errors.Join(err, other.note.write(b.dirOf(other.name)))
		}
	}
	return err
}

// Delete stops a branch and removes all of it.
func (b *Branches) Delete(name string) error {
	k, err := b.halt(name, true)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all[name] != k {
		return nil // another request was faster
	}
	if err := b.remove(b.dirOf(name)); err != nil {
		k.deleting = false
		return err
	}
	delete(b.all, name)
	return nil
}

// halt ends the process of a branch, if it has one.
func (b *Branches) halt(name string, deleting bool) (*kept, error) {
	b.mu.Lock()
	k, err := b.named(name)
	if err == nil && k.making {
		err = refuse(NotNow, "the branch %s is being created", name)
	}
	if err == nil && deleting && k.renaming {
		err = refuse(NotNow, "the branch %s is being renamed", name)
	}
	if err != nil {
		b.mu.Unlock()
		return nil, err
	}
	k.deleting = k.deleting || deleting
	c := k.child
	if c != nil {
		c.ask()
	}
	b.mu.Unlock()
	if c != nil {
		b.awaitStop(c)
	}
	return k, nil
}

// awaitStop returns when a child that was asked to stop has ended, at the latest after stopTime.
func (b *Branches) awaitStop(c *child) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	b.end(ctx, c)
}
