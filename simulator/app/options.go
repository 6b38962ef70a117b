package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/resultstore"
	"kube-scheduler-simulator/simulator/controlplane"
	"kube-scheduler-simulator/simulator/mirror"
	"kube-scheduler-simulator/simulator/replay"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/simulator/transfer/manifest"
	"kube-scheduler-simulator/simulator/virtualnode"
)

// DefaultListen is the address of the web server when none is given.
const DefaultListen = "127.0.0.1:1212"

// Options say what to run. The zero value of a field means its default.
type Options struct {
	// Listen is the web server's address; DefaultListen by default. An address
	// off loopback requires TokenFile.
	Listen string
	// DataDir keeps the cluster; a restart continues from it. By default the
	// cluster lives in a temporary directory that is removed at the end.
	DataDir string
	// Kubeconfig is a file with a cluster that is there already, in whose place none
	// is started; KubeContext one of its contexts, the current one by default.
	Kubeconfig, KubeContext string
	// Etcd is one that is there already; our own, in DataDir, by default.
	Etcd EtcdOptions
	// SchedulerConfig is a file with a KubeSchedulerConfiguration; Kubernetes'
	// default by default.
	SchedulerConfig string
	// AnnotationBytes bounds what is written to a pod's annotations; 0 writes
	// none. There is no default here: see annotation.DefaultBudget.
	AnnotationBytes int
	// ResultsMemory and ResultsDisk bound the results, in bytes. What memory has
	// no room for is read from disk.
	ResultsMemory, ResultsDisk int64
	// Controllers are those of Kubernetes that run, in the syntax of
	// kube-controller-manager's flag; DefaultOptions has the usual ones.
	Controllers []string
	// NoVirtualNodes leaves out what stands in for kubelets: nodes turning Ready,
	// pods running and ending.
	NoVirtualNodes bool
	// Stages is a file of kwok Stages, which say what nodes and pods do; our own
	// by default.
	Stages string
	// Devices is a file with the devices that nodes publish, for dynamic resource
	// allocation; none by default.
	Devices string
	// TieSeed decides among nodes that share the best total; see
	// scheduler.Options. nil leaves it to chance, as Kubernetes does.
	TieSeed *int64
	// Import is a file, directory or archive that is imported at the start; none by
	// default. Reschedule has its pods scheduled anew.
	Import     string
	Reschedule bool
	// Source is another cluster, whose objects come here; none by default.
	// Reschedule concerns its pods, too.
	Source SourceOptions
	// Replay plays a recording after the start; none by default.
	Replay *ReplayOptions
	// Plugins are those beside Kubernetes'. A configuration enables them by name.
	Plugins frameworkruntime.Registry
	// TokenFile holds the token that every request must carry.
	TokenFile string
	// Logger gets what the simulator itself finds wrong. Kubernetes' components
	// log to klog. Default: discards.
	Logger klog.Logger
}

// DefaultOptions returns the options of a simulator that is started without flags.
func DefaultOptions() Options {
	return Options{
		Listen:          DefaultListen,
		AnnotationBytes: annotation.DefaultBudget,
		ResultsMemory:   resultstore.DefaultMaxBytes,
		ResultsDisk:     resultstore.DefaultDiskBytes,
		Controllers:     []string{"*"},
	}
}

// prepared is what Options turn into before anything is started: all that can
// be wrong with them is found here.
type prepared struct {
	listener      net.Listener
	token         string
	dataDir       string
	temporary     bool
	registry      frameworkruntime.Registry
	configuration *config.Configuration // of the file, or nil
	stages        *virtualnode.Stages   // of the file, or nil
	devices       []virtualnode.NodeDevices
	// recordingFile is nil when there is none, or when it is a player's.
	recordingFile *os.File
	recording     *replay.Recording
	// imported is closed by the import.
	imported manifest.Source
	source   *mirror.Source // or nil
}

func (o Options) prepare() (p *prepared, err error) {
	p = &prepared{}
	defer func() {
		if err != nil {
			_ = p.close()
		}
	}()
	if p.token, err = readToken(o.TokenFile); err != nil {
		return p, err
	}
	if p.registry, err = o.registry(); err != nil {
		return p, err
	}
	if p.configuration, err = readConfiguration(o.SchedulerConfig, p.registry); err != nil {
		return p, err
	}
	if err = o.checkControlPlane(); err != nil {
		return p, err
	}
	if err = controlplane.CheckControllers(o.Controllers); err != nil {
		return p, err
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
	if err = p.openRecording(o.Replay); err != nil {
		return p, err
	}
	if o.Import != "" {
		if p.imported, err = manifest.OpenSource(o.Import); err != nil {
			return p, err
		}
	}
	if p.dataDir, p.temporary, err = makeDataDir(o.DataDir); err != nil {
		return p, err
	}
	if err = p.openSource(o.Source); err != nil {
		return p, err
	}
	if o.AnnotationBytes < 0 || o.ResultsMemory <= 0 || o.ResultsDisk <= 0 {
		return p, errors.New("a bound in bytes is negative, or 0 where something must be kept")
	}
	if err := server.CheckListen(o.Listen, p.token); err != nil {
		return p, err
	}
	if p.listener, err = net.Listen("tcp", o.Listen); err != nil {
		return p, fmt.Errorf("listening for the web: %w", err)
	}
	return p, nil
}

// close undoes prepare. The listener may have been closed by the server.
func (p *prepared) close() error {
	var err error
	if p.listener != nil {
		if e := p.listener.Close(); e != nil && !errors.Is(e, net.ErrClosed) {
			err = e
		}
	}
	if p.recordingFile != nil {
		err = errors.Join(err, p.recordingFile.Close())
	}
	err = errors.Join(err, p.imported.Close())
	if p.temporary {
		err = errors.Join(err, os.RemoveAll(p.dataDir))
	}
	return err
}

func readToken(file string) (string, error) {
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
	return token, nil
}

// registry has all plugins that are not of Kubernetes.
func (o Options) registry() (frameworkruntime.Registry, error) {
	registry := plugins.Registry()
	if err := registry.Merge(o.Plugins); err != nil {
		return nil, fmt.Errorf("registering plugins: %w", err)
	}
	return registry, nil
}

// readConfiguration returns nil when there is no file.
func readConfiguration(file string, registry frameworkruntime.Registry) (*config.Configuration, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the scheduler configuration: %w", err)
	}
	c, err := parseConfiguration(data, registry)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// parseConfiguration reads a document in which the plugins of registry may be
// enabled beside those of Kubernetes.
func parseConfiguration(document []byte, registry frameworkruntime.Registry) (*config.Configuration, error) {
	return config.ParseWith(document, config.Options{
		OutOfTree: slices.Sorted(maps.Keys(registry)),
		Arguments: func(plugin string, args runtime.Object) []config.Mistake {
			var out []config.Mistake
			for _, e := range plugins.Validate(context.Background(), plugin, args) {
				out = append(out, config.Mistake{Field: e.Field, Line: e.Line, Column: e.Column, Message: e.Message})
			}
			return out
		},
	})
}

// makeDataDir returns the absolute data directory, which exists and is writable.
func makeDataDir(dir string) (path string, temporary bool, err error) {
	if dir == "" {
		path, err = os.MkdirTemp("", "kube-scheduler-simulator-")
		if err != nil {
			return "", false, fmt.Errorf("making a temporary data directory: %w", err)
		}
		return path, true, nil
	}
	if path, err = filepath.Abs(dir); err != nil {
		return "", false, fmt.Errorf("data directory: %w", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", false, fmt.Errorf("making the data directory: %w", err)
	}
	probe, err := os.CreateTemp(path, ".writable-")
	if err != nil {
		return "", false, fmt.Errorf("the data directory is not writable: %w", err)
	}
	name := probe.Name()
	if err := errors.Join(probe.Close(), os.Remove(name)); err != nil {
		return "", false, fmt.Errorf("the data directory is not writable: %w", err)
	}
	return path, false, nil
}
