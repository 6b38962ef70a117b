package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"kube-scheduler-simulator/simulator/host/datadir"
)

const (
	// The smallest sockaddr_un in use, without the terminating zero.
	maxSocketPath = 103
	etcdSocket    = "etcd.sock"
	// socketNote is a file beside etcd's data that names the directory of the socket, which a
	// program that is killed leaves behind.
	socketNote       = "etcd-socket"
	socketDirPattern = "simulator-etcd-*"
	// The largest quota that etcd recommends: several gigabytes of objects.
	etcdQuota = 8 << 30
	// etcd keeps so many entries in memory for slow followers, of which there are none. An entry
	// holds a whole object: the default of 5,000 would keep hundreds of megabytes of pods.
	etcdCatchUpEntries = 100
	// In milliseconds. A single member elects itself, so these only delay the start, by one to five
	// ticks. Each tick wakes the program; etcd requires an election timeout of five ticks.
	etcdTick     = 40
	etcdElection = 5 * etcdTick
)

// etcdServer listens on a unix socket.
type etcdServer struct {
	endpoint  string
	socketDir string
	quota     int64
	server    *embed.Etcd
	watcher   sync.WaitGroup
}

// The start takes a fraction of a second, and seconds with gigabytes of data.
const etcdStartTimeout = 30 * time.Second

// etcdAbandonTimeout bounds the wait for an etcd that nothing wants any more. Until it is closed,
// it writes to the directory, which the next control plane may use.
const etcdAbandonTimeout = 2 * time.Second

type etcdOptions struct {
	dataDir string
	durable bool
	quota   int64 // in bytes
}

// startEtcd returns when etcd accepts requests. fail is called, from any goroutine, when etcd ends
// before stop.
func startEtcd(ctx context.Context, opts etcdOptions, fail func(error)) (_ *etcdServer, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, etcdStartTimeout, &datadir.Damage{
		Path: opts.dataDir, Err: fmt.Errorf("etcd has not started on it within %v", etcdStartTimeout),
	})
	defer cancel()
	note := filepath.Join(filepath.Dir(opts.dataDir), socketNote)
	if err := removeSocketLeft(note); err != nil {
		return nil, err
	}
	socketDir, err := makeSocketDir()
	if err != nil {
		return nil, err
	}
	e := &etcdServer{
		endpoint:  "unix://" + filepath.Join(socketDir, etcdSocket),
		socketDir: socketDir,
		quota:     opts.quota,
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.stop(context.WithoutCancel(ctx)))
		}
	}()

	if err := datadir.WriteFile(note, []byte(socketDir)); err != nil {
		return nil, fmt.Errorf("record the directory of etcd's socket: %w", err)
	}
	broken := &etcdBroken{fail: fail}
	config, err := etcdConfig(e.endpoint, opts, broken)
	if err != nil {
		return nil, err
	}
	if e.server, err = runEmbedded(ctx, config, broken); err != nil {
		return nil, err
	}
	select {
	case <-e.server.Server.ReadyNotify():
	case err := <-e.server.Err():
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	e.watcher.Go(func() { e.watch(fail) })
	return e, nil
}

func etcdConfig(endpoint string, opts etcdOptions, broken *etcdBroken) (*embed.Config, error) {
	client, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("parse etcd endpoint: %w", err)
	}
	// Never dialled, but part of the member's identity: it must be the same at every start.
	peer := url.URL{Scheme: "http", Host: "localhost:2380"}

	config := embed.NewConfig()
	config.Name = "simulator"
	config.Dir = opts.dataDir
	config.ListenClientUrls = []url.URL{*client}
	config.AdvertiseClientUrls = []url.URL{*client}
	config.ListenPeerUrls = nil
	config.AdvertisePeerUrls = []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.EnableGRPCGateway = false
	config.UnsafeNoFsync = !opts.durable
	config.TickMs = etcdTick
	config.ElectionMs = etcdElection
	config.QuotaBackendBytes = opts.quota
	config.SnapshotCatchUpEntries = etcdCatchUpEntries
	// The API server compacts.
	config.AutoCompactionRetention = "0"
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(etcdLogger(broken))
	return config, nil
}

// runEmbedded returns an error when etcd cannot read or write its data, where etcd itself would
// exit the process or panic. When ctx ends first, it waits a little for etcd, which is closed as
// soon as it has started.
func runEmbedded(ctx context.Context, config *embed.Config, broken *etcdBroken) (*embed.Etcd, error) {
	var server *embed.Etcd
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if reason := recover(); reason != nil {
				err = &datadir.Damage{Path: config.Dir, Err: fmt.Errorf("etcd cannot read it: %v", reason)}
			}
		}()
		server, err = embed.StartEtcd(config)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			<-ended
			if server != nil {
				server.Close()
			}
		}()
		select {
		case <-closed:
		case <-time.After(etcdAbandonTimeout):
		}
		return nil, context.Cause(ctx)
	}
	if err == nil && server == nil {
		err = broken.reason()
	}
	if err == nil {
		return server, nil
	}
	if damage, ok := errors.AsType[*datadir.Damage](err); ok {
		return nil, damage
	}
	return nil, &datadir.Damage{Path: config.Dir, Err: err, Do: datadir.DiskAdvice(err)}
}

// watch returns at the latest when stop has closed the server.
func (e *etcdServer) watch(fail func(error)) {
	select {
	case err, ok := <-e.server.Err():
		if ok {
			fail(fmt.Errorf("etcd: %w", err))
		}
	case <-e.server.Server.StopNotify():
		fail(errors.New("etcd ended"))
	}
}

func (e *etcdServer) stop(ctx context.Context) error {
	var err error
	if e.server != nil {
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			e.server.Close()
			e.watcher.Wait()
		}()
		err = waitUntil(ctx, closed, "etcd")
	}
	return errors.Join(err, os.RemoveAll(e.socketDir))
}

// makeSocketDir creates a directory with a short path. That of the data directory may be too long,
// and so may TMPDIR.
func makeSocketDir() (string, error) {
	dir, err := os.MkdirTemp("", socketDirPattern)
	if err != nil {
		return "", fmt.Errorf("create a directory for etcd's socket: %w", err)
	}
	if len(filepath.Join(dir, etcdSocket)) <= maxSocketPath {
		return dir, nil
	}
	if err := os.Remove(dir); err != nil {
		return "", fmt.Errorf("remove a directory whose path is too long for a socket: %w", err)
	}
	if dir, err = os.MkdirTemp("/tmp", socketDirPattern); err != nil {
		return "", fmt.Errorf("create a directory for etcd's socket: %w", err)
	}
	return dir, nil
}

// RemoveLeftovers removes what a killed control plane has left outside its data directory, which no
// other may be using.
func RemoveLeftovers(dataDir string) error {
	return removeSocketLeft(filepath.Join(dataDir, socketNote))
}

// removeSocketLeft removes the directory that note names if we created it and no server listens
// there: the data directory may be a copy of one in use.
func removeSocketLeft(note string) error {
	dir, err := os.ReadFile(note)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &datadir.Damage{Path: note, Err: err, Do: "remove it and start again: it only names a directory of an earlier run"}
	}
	if ours, _ := filepath.Match(socketDirPattern, filepath.Base(string(dir))); !ours {
		return nil
	}
	path := filepath.Join(string(dir), etcdSocket)
	if conn, err := net.Dial("unix", path); err == nil {
		return conn.Close()
	}
	// It does no harm.
	_ = os.Remove(path)
	_ = os.Remove(string(dir))
	return nil
}

// etcdLogger writes nothing: etcd's errors occur at every start and stop, or reach the clients.
func etcdLogger(broken *etcdBroken) *zap.Logger {
	return zap.New(zapcore.NewNopCore(), zap.WithFatalHook(broken), zap.WithPanicHook(broken))
}

// etcdBroken replaces os.Exit and panic when etcd cannot continue. It ends the calling goroutine,
// as the caller relies on the call not to return.
type etcdBroken struct {
	fail func(error)

	mu  sync.Mutex
	err error
}

var _ zapcore.CheckWriteHook = (*etcdBroken)(nil)

func (b *etcdBroken) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	err := fmt.Errorf("etcd: %s", entry.Message)
	for _, field := range fields {
		if cause, ok := field.Interface.(error); ok {
			err = fmt.Errorf("%w: %w", err, cause)
		}
	}
	b.mu.Lock()
	b.err = err
	b.mu.Unlock()
	if do := datadir.DiskAdvice(err); do != "" {
		err = fmt.Errorf("%w; %s", err, do)
	}
	b.fail(err)
	runtime.Goexit()
}

func (b *etcdBroken) reason() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		return errors.New("ended while starting")
	}
	return b.err
}
