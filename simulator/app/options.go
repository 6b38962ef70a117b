package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/plugins/argument"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/simulator/autoscaling/instances"
	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/cluster/controlplane/controllers"
	"kube-scheduler-simulator/simulator/cluster/definitions"
	"kube-scheduler-simulator/simulator/cluster/outbound"
	"kube-scheduler-simulator/simulator/cluster/virtualnode"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/elsewhere/mirror/following"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/lesson"
	"kube-scheduler-simulator/simulator/past/playback"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/server"
)

// DefaultListen is the default address of the web server.
const DefaultListen = "127.0.0.1:1212"

// Options configure a simulator. The zero value of a field means its default.
type Options struct {
	// Listen is the web server's address; DefaultListen by default. An address that is not loopback
	// requires TokenFile.
	Listen string
	// DataDir keeps the cluster; a restart continues from it. By default the cluster is in a
	// temporary directory that is removed at the end.
	DataDir string
	// SharedDataDir accepts a DataDir that belongs to another user, or that others may write to.
	SharedDataDir bool
	// Kubeconfig is the kubeconfig file of an existing cluster to use instead of starting one.
	// KubeContext is one of its contexts, the current one by default.
	Kubeconfig, KubeContext string
	// Etcd is an existing etcd; our own, in DataDir, by default.
	Etcd controlplane.Etcd
	// SchedulerConfig is a file with a KubeSchedulerConfiguration; Kubernetes' default by default.
	SchedulerConfig string
	// AnnotationBytes bounds the results in a pod's annotations; 0 writes none. It has no other
	// default: see annotation.DefaultBudget.
	AnnotationBytes int
	// ResultsMemory and ResultsDisk bound the results, in bytes. The simulator reads results that
	// do not fit in memory from disk.
	ResultsMemory, ResultsDisk int64
	// TimelineBytes bounds the time line on disk; 0 records none. It has no other default: see
	// timeline.DefaultBytes.
	TimelineBytes int64
	// Controllers are the Kubernetes controllers to run, in the syntax of kube-controller-manager's
	// flag; DefaultOptions has the usual ones.
	Controllers []string
	// NoVirtualNodes disables the stand-in for kubelets, which makes nodes Ready and makes pods run
	// and finish.
	NoVirtualNodes bool
	// Stages is a file of kwok Stages, which define how nodes and pods behave; our own by default.
	Stages string
	// Devices is a file with the devices that nodes publish for dynamic resource allocation; none
	// by default.
	Devices string
	// NUMA is a file that splits nodes into NUMA nodes; none by default.
	NUMA string
	// TieSeed decides among nodes that share the best total; see scheduler.Options. By default
	// (nil) chance decides, as in Kubernetes.
	TieSeed *int64
	// Definitions are the plugins whose custom resource definitions the simulator installs at the
	// start, or "all"; see definitions.Choose. By default they come with the configurations that
	// enable the plugins.
	Definitions []string
	// Kueue installs Kueue's kinds at the start, which begins its admission. By default a user
	// turns it on later, or an import brings the kinds.
	Kueue bool
	// KueueOff leaves the queues of this cluster to Kueue itself, which a user runs beside the simulator. Not with Kueue.
	KueueOff bool
	// Karpenter runs Karpenter's controllers, which add nodes and take them away. A user can turn them on and off later.
	Karpenter bool
	// InstanceTypes is a file with what Karpenter can buy, with its prices, in the format of its KWOK provider; by default a small set
	// with example prices.
	InstanceTypes string
	// Import is a file, directory or archive to import at the start; none by default. Reschedule
	// schedules its pods again.
	Import     string
	Reschedule bool
	// Source is another cluster to copy into this one; none by default. Reschedule applies to its
	// pods, too.
	Source following.Options
	// Replay plays a recording after the start; none by default.
	Replay *playback.Playback
	// Outbound says which webhooks, API servers of APIServices and extenders the simulator may
	// call; those on loopback addresses by default.
	Outbound outbound.Policy
	// ActivateImported activates those of them that an import brings. By default they stay inactive
	// until a user activates them.
	ActivateImported bool
	// ExampleExtender is the loopback address at which the example extender answers; none by
	// default.
	ExampleExtender string
	// Plugins are plugins beside Kubernetes'. A configuration enables them by name.
	Plugins frameworkruntime.Registry
	// SessionScheduler turns the session schedulers and the flow scheduler on, which serve the pods
	// whose schedulerName is kube-batch, volcano or poseidon. Users can do so later.
	SessionScheduler bool
	// Lessons is a directory with a teacher's lessons, which join the built-in ones; none by
	// default.
	Lessons string
	// Lesson is the id of the lesson whose sandbox this simulator is; none by default.
	Lesson string
	// TokenFile holds the token that every request must carry. Without it, a simulator of an
	// existing cluster makes a token and keeps it in DataDir.
	TokenFile string
	// Branch is the name of this branch; empty for the trunk. Only the trunk has branches.
	// BranchFlags are the flags of their command lines.
	Branch      string
	BranchFlags []string
	// Logger receives the simulator's own problems; by default they are discarded. Kubernetes'
	// components log to klog.
	Logger klog.Logger

	// Only tests, which run beside others on a busy machine, set stopTimeout. Default: the constant
	// of that name.
	stopTimeout time.Duration
}

// DefaultOptions returns the options of a simulator that starts without flags.
func DefaultOptions() Options {
	return Options{
		Listen:          DefaultListen,
		AnnotationBytes: annotation.DefaultBudget,
		ResultsMemory:   resultstore.DefaultMaxBytes,
		ResultsDisk:     resultstore.DefaultDiskBytes,
		TimelineBytes:   timeline.DefaultBytes,
		Controllers:     []string{"*"},
	}
}

// prepared holds the files, directories and listeners that Options refer to, checked and opened
// before anything starts.
type prepared struct {
	listener net.Listener
	// extender is nil without an example extender.
	extender net.Listener
	token    string
	// ownToken: we made the token, not the user.
	ownToken  bool
	dataDir   string
	temporary bool
	// owner locks a temporary data directory; nil for others.
	owner         io.Closer
	registry      frameworkruntime.Registry
	configuration *config.Configuration // from the file, or nil
	stages        *virtualnode.Stages   // from the file, or nil
	devices       []virtualnode.NodeDevices
	numa          []virtualnode.NodeCut
	definitions   []definitions.Definition
	instances     *instances.Catalog // from the file, or nil
	lessons       []*lesson.Lesson   // a teacher's
	// recording is nil when there is none, and once the player has it.
	recording *playback.File
	// The import closes imported.
	imported manifest.Source
	source   *mirror.Source // or nil
}

func (o Options) prepare(ctx context.Context) (p *prepared, err error) {
	p = &prepared{}
	defer func() {
		if err != nil {
			_ = p.close()
		}
	}()
	if p.token, err = ReadToken(o.TokenFile); err != nil {
		return p, err
	}
	if p.registry, err = o.Registry(); err != nil {
		return p, err
	}
	if p.configuration, err = readConfiguration(o.SchedulerConfig, p.registry, o.Outbound); err != nil {
		return p, err
	}
	if err = o.checkControlPlane(); err != nil {
		return p, err
	}
	if err = controllers.Check(o.Controllers); err != nil {
		return p, err
	}
	if p.definitions, err = definitions.Choose(o.Definitions); err != nil {
		return p, fmt.Errorf("--crds: %w", err)
	}
	if o.Stages != "" {
		if p.stages, err = virtualnode.LoadStages(o.Stages); err != nil {
			return p, err
		}
	}
	if o.Devices != "" {
		if p.devices, err = virtualnode.LoadDevices(o.Devices); err != nil {
			return p, err
		}
	}
	if o.InstanceTypes != "" {
		if p.instances, err = readInstances(ctx, o.InstanceTypes); err != nil {
			return p, err
		}
	}
	if o.NUMA != "" {
		if p.numa, err = virtualnode.LoadNUMA(o.NUMA); err != nil {
			return p, err
		}
	}
	if o.Lessons != "" {
		if p.lessons, err = lesson.LoadDir(o.Lessons, o.ParseConfiguration); err != nil {
			return p, lesson.OneLine(err)
		}
	}
	if o.Replay != nil {
		if p.recording, err = playback.Open(ctx, o.Replay.File); err != nil {
			return p, err
		}
	}
	if o.Import != "" {
		if p.imported, err = manifest.OpenSource(o.Import); err != nil {
			return p, fmt.Errorf("opening the import: %w", err)
		}
	}
	if o.DataDir == "" {
		p.temporary = true
		p.dataDir, p.owner, err = makeTemporaryDir()
	} else {
		p.dataDir, err = makeDataDir(o.DataDir, o.SharedDataDir)
	}
	if err != nil {
		return p, err
	}
	if err := removeAbandoned(os.TempDir()); err != nil {
		o.Logger.V(1).Info("Cannot remove what killed programs have left", "err", err)
	}
	if p.source, err = following.Open(o.Source, p.keptDir()); err != nil {
		return p, err
	}
	if o.AnnotationBytes < 0 || o.TimelineBytes < 0 || o.ResultsMemory <= 0 || o.ResultsDisk <= 0 {
		return p, errors.New("a limit in bytes is negative, or is 0 but must be positive")
	}
	if err := server.CheckListen(o.Listen, p.token); err != nil {
		return p, err
	}
	// Every client of the server acts on the cluster with the rights of the kubeconfig, and other
	// users of this machine can connect, too.
	if o.Kubeconfig != "" && p.token == "" {
		if p.token, err = keptToken(p.dataDir); err != nil {
			return p, err
		}
		p.ownToken = true
	}
	if p.listener, err = net.Listen("tcp", o.Listen); err != nil {
		return p, fmt.Errorf("listening for the web: %w", err)
	}
	if o.ExampleExtender != "" {
		if p.extender, err = listenExampleExtender(o.ExampleExtender); err != nil {
			return p, err
		}
	}
	return p, nil
}

// address is the web address to open. It contains a token that we made, because its user has no
// other way to learn it.
func (p *prepared) address() string {
	u := url.URL{Scheme: "http", Host: p.listener.Addr().String()}
	if p.ownToken {
		u.Path, u.RawQuery = "/", url.Values{"token": {p.token}}.Encode()
	}
	return u.String()
}

// keptDir returns "" for a data directory that is removed at the end.
func (p *prepared) keptDir() string {
	if p.temporary {
		return ""
	}
	return p.dataDir
}

// close undoes prepare. The servers may have closed the listeners already.
func (p *prepared) close() error {
	var err error
	for _, l := range []net.Listener{p.listener, p.extender} {
		if l == nil {
			continue
		}
		if e := l.Close(); !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	err = errors.Join(err, p.recording.Close(), p.imported.Close())
	if p.owner != nil {
		// If something is still written there, the next start removes it.
		err = errors.Join(err, p.owner.Close())
		_ = os.RemoveAll(p.dataDir)
	}
	return err
}

// ReadToken returns the token in a file, or "" when file is empty.
func ReadToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the token file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", fmt.Errorf("the token file %s is empty", file)
	}
	if err := server.CheckToken(token); err != nil {
		return "", fmt.Errorf("the token file %s: %w", file, err)
	}
	return token, nil
}

// keptToken makes the token if the data directory has none. Only this user can read it.
func keptToken(dir string) (string, error) {
	file := filepath.Join(dir, "token")
	if _, err := os.Stat(file); err == nil {
		return ReadToken(file)
	}
	token := rand.Text()
	if err := datadir.WriteFile(file, []byte(token+"\n")); err != nil {
		return "", fmt.Errorf("keeping the token: %w", err)
	}
	return token, nil
}

// Registry returns the out-of-tree plugins: the simulator's and the user's.
func (o Options) Registry() (frameworkruntime.Registry, error) {
	registry := plugins.Registry()
	if err := registry.Merge(o.Plugins); err != nil {
		return nil, fmt.Errorf("registering plugins: %w", err)
	}
	return registry, nil
}

func readConfiguration(file string, registry frameworkruntime.Registry, policy outbound.Policy) (*config.Configuration, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the scheduler configuration: %w", err)
	}
	c, err := parseConfiguration(data, registry, policy)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// ParseConfiguration reads a document as a simulator with these options does. The error for an
// invalid one is a *config.Error.
func (o Options) ParseConfiguration(document []byte) (*config.Configuration, error) {
	registry, err := o.Registry()
	if err != nil {
		return nil, err
	}
	return parseConfiguration(document, registry, o.Outbound)
}

// The document may enable the plugins of registry beside Kubernetes', and name the extenders that
// policy allows.
func parseConfiguration(document []byte, registry frameworkruntime.Registry, policy outbound.Policy) (*config.Configuration, error) {
	return config.ParseWith(document, config.Options{
		Extender:  policy.CheckURL,
		OutOfTree: slices.Sorted(maps.Keys(registry)),
		Arguments: func(plugin string, args runtime.Object) []*argument.Error {
			return plugins.Validate(context.Background(), plugin, args)
		},
	})
}

func readInstances(ctx context.Context, file string) (*instances.Catalog, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the instance types: %w", err)
	}
	c, err := instances.Read(ctx, data, filepath.Base(file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

func makeDataDir(dir string, shared bool) (path string, err error) {
	if path, err = filepath.Abs(dir); err != nil {
		return "", fmt.Errorf("data directory: %w", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("creating the data directory: %w", err)
	}
	if err := datadir.CheckOwner(path); err != nil && !shared {
		return "", fmt.Errorf("%w, or insist with --allow-shared-data-dir", err)
	}
	probe, err := os.CreateTemp(path, ".writable-")
	if err != nil {
		return "", fmt.Errorf("the data directory is not writable: %w", err)
	}
	name := probe.Name()
	if err := errors.Join(probe.Close(), os.Remove(name)); err != nil {
		return "", fmt.Errorf("the data directory is not writable: %w", err)
	}
	return path, nil
}
