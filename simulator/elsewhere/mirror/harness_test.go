package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/cluster/virtualnode"
	"kube-scheduler-simulator/simulator/host/quiet"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// shared are the clusters of all tests.
var shared clusters

func TestMain(m *testing.M) {
	if err := quiet.Klog(); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the clusters:", err)
		code = 1
	}
	os.Exit(code)
}

// clusters are a source without virtual nodes, so that its pods and nodes stay as a test makes them,
// and a simulator's cluster without a scheduler. They start when a test first uses them.
type clusters struct{ source, here *cluster }

// twoClusters returns the shared ones, both empty.
func twoClusters(t testing.TB) (source, here *cluster) {
	t.Helper()
	if shared.source == nil {
		shared.source = startCluster(t, controlplane.Options{})
	} else {
		shared.source.reset(t)
	}
	if shared.here == nil {
		shared.here = startCluster(t, controlplane.Options{Controllers: []string{"*"}, VirtualNodes: true})
	} else {
		shared.here.reset(t)
	}
	return shared.source, shared.here
}

func (c *clusters) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), clustertest.Timeout)
	defer cancel()
	var errs []error
	for _, started := range []*cluster{c.here, c.source} {
		if started != nil {
			errs = append(errs, started.stop(ctx))
		}
	}
	return errors.Join(errs...)
}

// cluster is a control plane.
type cluster struct {
	config  *rest.Config
	client  kubernetes.Interface
	control *controlplane.ControlPlane
	// nodes is nil where there are no virtual ones.
	nodes *virtualnode.Nodes
	dir   string
}

func startCluster(t testing.TB, o controlplane.Options) *cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clustertest.Timeout)
	defer cancel()
	var err error
	if o.DataDir, err = os.MkdirTemp("", "mirror-test-"); err != nil {
		t.Fatal(err)
	}
	c := &cluster{control: controlplane.New(o), dir: o.DataDir}
	if err := c.control.Start(ctx); err != nil {
		t.Fatal(errors.Join(err, os.RemoveAll(c.dir)))
	}
	c.config = c.control.ClientConfig()
	if c.client, err = kubernetes.NewForConfig(c.config); err == nil && o.VirtualNodes {
		err = c.startNodes(ctx)
	}
	if err != nil {
		t.Fatal(errors.Join(err, c.stop(ctx)))
	}
	return c
}

func (c *cluster) startNodes(ctx context.Context) error {
	c.nodes = virtualnode.New(virtualnode.Options{ClientConfig: c.config, Informers: c.control.Informers()})
	return c.nodes.Start(ctx)
}

func (c *cluster) stopNodes(ctx context.Context) error {
	if c.nodes == nil {
		return nil
	}
	return c.nodes.Stop(ctx)
}

func (c *cluster) stop(ctx context.Context) error {
	return errors.Join(c.stopNodes(ctx), c.control.Stop(ctx), os.RemoveAll(c.dir))
}

// reset removes everything that earlier tests made.
func (c *cluster) reset(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clustertest.Timeout)
	defer cancel()
	err := c.stopNodes(ctx)
	if err == nil {
		_, err = c.control.Reset(ctx)
	}
	if err == nil && c.nodes != nil {
		err = c.startNodes(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// front is a proxy before a source. It notes every request, and a test can take it away.
type front struct {
	handler http.Handler
	address string
	// forbid is a path to which front answers 403.
	forbid string

	mu       sync.Mutex
	requests []string
	server   *httptest.Server
}

func newFront(t testing.TB, to *cluster) *front {
	t.Helper()
	config := rest.CopyConfig(to.config)
	config.ContentType, config.AcceptContentTypes = "", ""
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	target.Scheme = "https"
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.FlushInterval = transport, -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	f := &front{address: "127.0.0.1:0"}
	f.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r.Method+" "+r.URL.RequestURI())
		f.mu.Unlock()
		if r.URL.Path == f.forbid {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`)
			return
		}
		proxy.ServeHTTP(w, r)
	})
	f.come(t)
	t.Cleanup(f.goAway)
	return f
}

// come makes the source reachable, at the same address as before.
func (f *front) come(t testing.TB) {
	t.Helper()
	listener, err := net.Listen("tcp", f.address)
	if err != nil {
		t.Fatal(err)
	}
	f.address = listener.Addr().String()
	server := httptest.NewUnstartedServer(f.handler)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	f.mu.Lock()
	f.server = server
	f.mu.Unlock()
}

func (f *front) goAway() {
	f.mu.Lock()
	server := f.server
	f.server = nil
	f.mu.Unlock()
	if server != nil {
		server.CloseClientConnections()
		server.Close()
	}
}

func (f *front) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.requests...)
}

// kubeconfig writes a kubeconfig that reaches the source through the front.
func (f *front) kubeconfig(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	f.writeKubeconfig(t, path)
	return path
}

func (f *front) writeKubeconfig(t testing.TB, path string) {
	t.Helper()
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://%s"}}]
users: [{name: u, user: {}}]
contexts:
- {name: production, context: {cluster: c, user: u}}
- {name: elsewhere, context: {cluster: c, user: u}}
current-context: production
`, f.address)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// source reads through the front, at a higher rate than the default.
func (f *front) source(t testing.TB, o SourceOptions) *Source {
	t.Helper()
	o.Kubeconfig = f.kubeconfig(t)
	if o.QPS == 0 {
		o.QPS = 200
	}
	s, err := NewSource(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// follow starts a mirror and waits until it is live.
func follow(t testing.TB, source *Source, to *cluster, o SyncOptions) *Sync {
	t.Helper()
	o.Source, o.Config = source, to.config
	s := NewSync(o)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { clustertest.Stop(t, s) })
	waitState(t, s, Live)
	return s
}

func waitState(t testing.TB, s *Sync, want State) {
	t.Helper()
	waitStateWithin(t, clustertest.Timeout, s, want)
}

func waitStateWithin(t testing.TB, timeout time.Duration, s *Sync, want State) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("the mirror: %+v", s.Status())
		}
	}()
	clustertest.EventuallyWithin(t, timeout, "the mirror is "+string(want), func(context.Context) (bool, error) {
		return s.Status().State == want, nil
	})
}

// must fails the test when a call fails.
func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func node(name string) *st.NodeWrapper {
	n := st.MakeNode().Name(name).Label(corev1.LabelHostname, name).
		Capacity(map[corev1.ResourceName]string{"cpu": "8", "memory": "32Gi", "pods": "110"})
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
	return n
}

func pod(namespace, name, node string) *corev1.Pod {
	return st.MakePod().Namespace(namespace).Name(name).Node(node).Label("app", "web").
		Container("registry.example/web:1").Req(map[corev1.ResourceName]string{"cpu": "100m"}).
		SchedulerName(corev1.DefaultSchedulerName).Obj()
}

func (c *cluster) createNode(t testing.TB, n *corev1.Node) *corev1.Node {
	t.Helper()
	return must[*corev1.Node](t)(c.client.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}))
}

// createPod also writes the status of a running pod, if the pod is on a node.
func (c *cluster) createPod(t testing.TB, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	var created *corev1.Pod
	// Admission sees a new priority class with a delay.
	clustertest.Eventually(t, "pod "+p.Name+" is admitted", func(ctx context.Context) (bool, error) {
		var err error
		created, err = c.client.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
		if p.Spec.PriorityClassName != "" && apierrors.IsForbidden(err) {
			return false, nil
		}
		return err == nil, err
	})
	if p.Spec.NodeName == "" {
		return created
	}
	now := metav1.Now().Rfc3339Copy()
	created.Status.Phase, created.Status.StartTime = corev1.PodRunning, &now
	created.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue},
	}
	return must[*corev1.Pod](t)(c.client.CoreV1().Pods(p.Namespace).UpdateStatus(t.Context(), created, metav1.UpdateOptions{}))
}

func (c *cluster) createNamespace(t testing.TB, name string) {
	t.Helper()
	must[*corev1.Namespace](t)(c.client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
}

func (c *cluster) deletePod(t testing.TB, namespace, name string) {
	t.Helper()
	zero := int64(0)
	if err := c.client.CoreV1().Pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
}

// pods are the pods of a namespace with their nodes.
func (c *cluster) pods(t testing.TB, namespace string) map[string]string {
	t.Helper()
	list := must[*corev1.PodList](t)(c.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{}))
	out := map[string]string{}
	for _, p := range list.Items {
		out[p.Name] = p.Spec.NodeName
	}
	return out
}

// hasPod waits until a pod is on a node.
func (c *cluster) hasPod(t testing.TB, namespace, name, node string) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	clustertest.Eventually(t, fmt.Sprintf("pod %s/%s is on %q", namespace, name, node), func(ctx context.Context) (bool, error) {
		p, err := c.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		found = p
		return err == nil && p.Spec.NodeName == node, err
	})
	return found
}

func (c *cluster) lacksPod(t testing.TB, namespace, name string) {
	t.Helper()
	clustertest.Eventually(t, fmt.Sprintf("pod %s/%s is gone", namespace, name), func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func isWatch(request string) bool { return strings.Contains(request, "watch=true") }
