package app

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"kube-scheduler-simulator/scheduler/annotation"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/cluster/definitions"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// elsewhere is a control plane without a scheduler, behind a connection that tests
// can cut.
type elsewhere struct {
	kubeconfig string
	config     *rest.Config
	client     kubernetes.Interface
	way        *way
}

func startElsewhere(t *testing.T) *elsewhere {
	t.Helper()
	c := controlplane.New(controlplane.Options{DataDir: t.TempDir()})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	client, err := kubernetes.NewForConfig(c.ClientConfig())
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	cluster := config.Clusters[config.Contexts[config.CurrentContext].Cluster]
	server, err := url.Parse(cluster.Server)
	if err != nil {
		t.Fatal(err)
	}
	w := newWay(t, server.Host)
	cluster.Server = "https://" + w.address
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return &elsewhere{kubeconfig: path, config: c.ClientConfig(), client: client, way: w}
}

// way forwards connections to an address until it is cut.
type way struct {
	address, to string

	mu       sync.Mutex
	listener net.Listener
	conns    []net.Conn
	// isCut also ends a connection that was accepted just before the cut.
	isCut   bool
	running sync.WaitGroup
}

func newWay(t *testing.T, to string) *way {
	t.Helper()
	w := &way{address: "127.0.0.1:0", to: to}
	w.mend(t)
	t.Cleanup(w.cut)
	return w
}

// mend listens again at the same address.
func (w *way) mend(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", w.address)
	if err != nil {
		t.Fatal(err)
	}
	w.listener, w.address = l, l.Addr().String()
	w.mu.Lock()
	w.isCut = false
	w.mu.Unlock()
	w.running.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			w.join(from)
		}
	})
}

func (w *way) join(from net.Conn) {
	to, err := net.Dial("tcp", w.to)
	if err != nil {
		from.Close()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isCut {
		from.Close()
		to.Close()
		return
	}
	w.conns = append(w.conns, from, to)
	for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
		w.running.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			pair[0].Close()
		})
	}
}

func (w *way) cut() {
	w.listener.Close()
	w.mu.Lock()
	for _, c := range w.conns {
		c.Close()
	}
	w.conns, w.isCut = nil, true
	w.mu.Unlock()
	w.running.Wait()
}

func TestAnotherControlPlane(t *testing.T) {
	clustertest.Slow(t)
	there := startElsewhere(t)
	options := DefaultOptions()
	options.Kubeconfig, options.Definitions = there.kubeconfig, []string{"CapacityScheduling"}
	s := startApart(t, options)
	// Of definitions, it gets those that are asked for, and none with a configuration.
	s.wantInstalled(t, "with --crds", "ElasticQuota", definitions.ForConfiguration)
	s.applied(t, http.MethodPut, configurationPath, coscheduling(""))
	s.wantInstalled(t, "with the plugin", "PodGroup", definitions.Absent)
	s.applied(t, http.MethodDelete, configurationPath, "")
	s.wantInstalled(t, "with another configuration", "ElasticQuota", definitions.ForConfiguration)
	if s.kubeconfig != there.kubeconfig {
		t.Errorf("the ready line names %s", s.kubeconfig)
	}
	// Other users of this machine can connect to loopback, too.
	stranger := &running{url: s.url}
	for _, path := range []string{"/api/v1/status", "/kubernetes/api/v1/secrets", "/"} {
		if code, answer := stranger.send(t, http.MethodGet, path, ""); code != http.StatusUnauthorized {
			t.Errorf("%s without the token: %d %s", path, code, answer)
		}
	}
	ctx := t.Context()
	if _, err := there.client.CoreV1().Nodes().Create(ctx, roomyNode("n"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	created, err := there.client.CoreV1().Pods("default").Create(ctx, pod("web", "reset", "1"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if cycle := await(t, s, created, result.Scheduled); cycle.SelectedNode != "n" {
		t.Errorf("scheduled on %s", cycle.SelectedNode)
	}
	clustertest.Eventually(t, "it is bound and annotated there", func(ctx context.Context) (bool, error) {
		p, err := there.client.CoreV1().Pods("default").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && p.Spec.NodeName == "n" && p.Annotations[annotation.Prefix+"selected-node"] == "n", err
	})
	// The web application reaches the API server by this path.
	var list metav1.PartialObjectMetadataList
	s.get(t, "/kubernetes/api/v1/pods", &list)
	if len(list.Items) != 1 {
		t.Errorf("through the proxy there are %d pods", len(list.Items))
	}

	code, answer := s.put(t, "/api/v1/reset", "")
	if code != http.StatusForbidden || !strings.Contains(string(answer), "does not own this cluster") {
		t.Errorf("reset: %d %s", code, answer)
	}
	var status server.Status
	s.get(t, "/api/v1/status", &status)
	if status.ControlPlane != server.External || !status.Ready {
		t.Errorf("status: %+v", status)
	}
}

// TestAKueueElsewhere: in an existing cluster the simulator admits nothing, and says why: a Kueue there does, or
// there is none.
func TestAKueueElsewhere(t *testing.T) {
	clustertest.Slow(t)
	there := startElsewhere(t)
	options := DefaultOptions()
	options.Kubeconfig = there.kubeconfig
	s := startApart(t, options)
	state := func(want server.KueueState) {
		t.Helper()
		var answer struct {
			State   server.KueueState
			Message string
			View    any
		}
		s.get(t, "/api/v1/kueue", &answer)
		if answer.State != want || answer.Message == "" || answer.View != nil {
			t.Errorf("it says %+v, want %s", answer, want)
		}
		for path, body := range map[string]string{"/api/v1/kueue": "", "/api/v1/kueue/configuration": "fairSharing: {}"} {
			if code, text := s.put(t, path, body); code != http.StatusConflict {
				t.Errorf("PUT %s: %d %s", path, code, text)
			}
		}
	}
	state(server.KueueUnavailable)
	cluster, err := definitions.NewCluster(there.config)
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Keep(t.Context(), definitions.Of([]string{definitions.Kueue})); err != nil {
		t.Fatal(err)
	}
	state(server.KueueForeign)
}

// TestAKarpenterElsewhere: in an existing cluster the simulator adds no nodes, and says why: a Karpenter there does, or there is none. What it
// would do can be asked of both.
func TestAKarpenterElsewhere(t *testing.T) {
	clustertest.Slow(t)
	there := startElsewhere(t)
	options := DefaultOptions()
	options.Kubeconfig = there.kubeconfig
	s := startApart(t, options)
	refuses := func(want server.KarpenterPhase, message string) {
		t.Helper()
		var state server.KarpenterState
		if s.get(t, karpenterPath, &state); state.State != want || !strings.Contains(state.Message, message) {
			t.Errorf("it says %+v, want %s", state, want)
		}
		s.refusesKarpenter(t, karpenterPath, http.MethodPut, `{"on": true}`, http.StatusConflict, message)
		if code, answer := s.send(t, http.MethodPost, "/api/v1/autoscale", "{}"); code != http.StatusOK {
			t.Errorf("what an autoscaler would do: %d %s", code, answer)
		}
	}
	refuses(server.KarpenterUnavailable, "the simulator runs no controllers")
	s.client = there.client
	s.leased(t)
	refuses(server.KarpenterForeign, "Karpenter itself runs in this cluster: it holds the Lease kube-system/karpenter-leader-election")
}

func TestAnotherControlPlaneThatDisconnectsAndReturns(t *testing.T) {
	clustertest.Slow(t)
	there := startElsewhere(t)
	options := DefaultOptions()
	options.Kubeconfig = there.kubeconfig
	s := startApart(t, options)
	there.way.cut()
	var status server.Status
	clustertest.Eventually(t, "the status says so", func(context.Context) (bool, error) {
		s.get(t, "/api/v1/status", &status)
		return !status.Ready && strings.Contains(status.Message, "does not answer"), nil
	})

	there.way.mend(t)
	clustertest.Eventually(t, "the status is ready again", func(context.Context) (bool, error) {
		s.get(t, "/api/v1/status", &status)
		return status.Ready && status.Message == "", nil
	})
	if _, err := there.client.CoreV1().Nodes().Create(t.Context(), roomyNode("n"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	created, err := there.client.CoreV1().Pods("default").Create(t.Context(), pod("web", "reset", "1"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	await(t, s, created, result.Scheduled)
}

func TestOptionsOfTheControlPlaneThatExcludeEachOther(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"both", func(o *Options) { o.Kubeconfig, o.Etcd.Servers = kubeconfig, []string{"http://e:2379"} }, "--etcd-servers exclude each other"},
		{"controllers", func(o *Options) { o.Kubeconfig, o.Controllers = kubeconfig, []string{"job"} }, "--controllers exclude each other"},
		{"stages", func(o *Options) { o.Kubeconfig, o.Stages = kubeconfig, "x" }, "--stages exclude each other"},
		{"sync", func(o *Options) { o.Kubeconfig, o.Source.SyncKubeconfig = kubeconfig, "x" }, "--sync-kubeconfig exclude each other"},
		{"no file", func(o *Options) { o.Kubeconfig = kubeconfig + "x" }, "no such file"},
		{"context alone", func(o *Options) { o.KubeContext = "x" }, "--context needs --kubeconfig"},
		{"prefix alone", func(o *Options) { o.Etcd.Prefix = "x" }, "need --etcd-servers"},
		{"no address", func(o *Options) { o.Etcd.Servers = []string{"localhost"} }, "is not an address"},
		{"certificate without TLS", func(o *Options) { o.Etcd = controlplane.Etcd{Servers: []string{"http://e"}, CAFile: kubeconfig} }, "with https"},
		{"certificate without key", func(o *Options) { o.Etcd = controlplane.Etcd{Servers: []string{"https://e"}, CertFile: kubeconfig} }, "given together"},
		{"mixed", func(o *Options) { o.Etcd.Servers = []string{"https://e", "http://f"} }, "all or none"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			options := DefaultOptions()
			test.change(&options)
			if err := options.checkControlPlane(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("it said %v", err)
			}
		})
	}
}
