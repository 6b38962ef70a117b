package judge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// patience is how long anything may take before the judge gives up.
const patience = 2 * time.Minute

// process is a program that runs until it is stopped.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// buildManager compiles the original's manager into a directory and returns the program's path. Its main file is in no package that can
// be imported. The judge changes one path in it: without its own management of certificates, the manager reads those of its metrics, even
// if it serves none, from a directory that only a container has.
func buildManager(dir string) (string, error) {
	sources, err := module()
	if err != nil {
		return "", err
	}
	const path = `"/etc/kueue/metrics/certs"`
	text, err := os.ReadFile(filepath.Join(sources, "cmd/kueue/main.go"))
	if err != nil {
		return "", err
	}
	if bytes.Count(text, []byte(path)) != 1 {
		return "", fmt.Errorf("the original's main.go no longer has the path %s once", path)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	changed, overlay, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "manager")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "manager", "main.go"): changed}})
	if err != nil {
		return "", err
	}
	text = bytes.ReplaceAll(text, []byte(path), []byte(strconv.Quote(dir)))
	if err := errors.Join(os.WriteFile(changed, text, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", program, "./manager").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the original: %w\n%s", err, out)
	}
	return program, nil
}

// launch starts a program. What it writes goes to a file of the name, and each line of the stream to each as well.
func launch(dir, name string, each func(line []byte), path string, args ...string) (*process, error) {
	file, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(path, args...), exited: make(chan struct{})}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = in, in
	err = p.cmd.Start()
	in.Close()
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(p.exited)
		defer file.Close()
		lines := bufio.NewReaderSize(io.TeeReader(out, file), 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			each(line)
		}
		_ = p.cmd.Wait()
	}()
	return p, nil
}

func (p *process) stop() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// cluster is a simulator that the judge watches. In one the original decides, in the other the built-in queues do.
type cluster struct {
	name, dir, url string
	config         *rest.Config
	client         client.Client
	cache          cache.Cache
	simulator      *process
	// manager is the original, or nil.
	manager *process
	cycles  cycles
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), kueue.AddToScheme(scheme)); err != nil {
		panic(err) // constant
	}
	return scheme
}

// startCluster returns a simulator that is ready. With original, it has the definitions of the original, whose process
// configure starts.
func startCluster(ctx context.Context, dir, program, name string, original bool) (*cluster, error) {
	c := &cluster{name: name, dir: dir}
	flags := []string{"--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, name), "--annotation-bytes", "0", "--timeline-bytes", "0", "--kueue=" + map[bool]string{true: "off", false: "true"}[original]}
	ready := make(chan string, 1)
	var err error
	c.simulator, err = launch(dir, "simulator-"+name, func(line []byte) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "ready: "); ok {
			ready <- rest
		}
	}, program, flags...)
	if err != nil {
		return nil, err
	}
	select {
	case line := <-ready:
		address, kubeconfig, _ := strings.Cut(line, " kubeconfig ")
		c.url, _, _ = strings.Cut(address, "?")
		if c.config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
			return c, err
		}
	case <-c.simulator.exited:
		return c, fmt.Errorf("the simulator %s ended: see its log in %s", name, dir)
	case <-time.After(patience):
		return c, fmt.Errorf("the simulator %s is not ready", name)
	}
	c.config.QPS = -1 // no limit
	if c.client, err = client.New(c.config, client.Options{Scheme: newScheme()}); err != nil {
		return c, err
	}
	if original {
		if err := c.define(ctx); err != nil {
			return c, err
		}
	}
	if c.cache, err = cache.New(c.config, cache.Options{Scheme: c.client.Scheme()}); err != nil {
		return c, err
	}
	for _, o := range []client.Object{&v1.Pod{}, &batchv1.Job{}, &appsv1.Deployment{}, &appsv1.StatefulSet{}, &kueue.Workload{}, &kueue.ClusterQueue{}, &kueue.LocalQueue{}, &kueue.Cohort{}} {
		if err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
			_, err := c.cache.GetInformer(ctx, o, cache.BlockUntilSynced(false))
			return err == nil, nil // the definitions may not be served yet
		}); err != nil {
			return c, fmt.Errorf("watching %T: %w", o, err)
		}
	}
	go func() { _ = c.cache.Start(ctx) }()
	if !c.cache.WaitForCacheSync(ctx) {
		return c, errors.New("the judge's cache does not fill")
	}
	return c, nil
}

func (c *cluster) stop() {
	if c != nil {
		c.manager.stop()
		c.simulator.stop()
	}
}

// module is the directory of the original's sources in the module cache.
func module() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	return strings.TrimSpace(string(out)), err
}

// manifests calls each with the objects of a file of the original's, below config/components.
func manifests(pattern string, each func(*unstructured.Unstructured) error) error {
	dir, err := module()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "config/components", pattern))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("the original has no manifests %s: %w", pattern, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, document := range bytes.Split(raw, []byte("\n---\n")) {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(document, &o.Object); err != nil {
				return err
			}
			if len(o.Object) > 0 {
				if err := each(o); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// define creates the original's definitions.
func (c *cluster) define(ctx context.Context) error {
	return manifests("crd/bases/*.yaml", func(o *unstructured.Unstructured) error { return c.client.Create(ctx, o) })
}

// answers returns once the original's webhooks do.
func (c *cluster) answers(ctx context.Context) error {
	probe := object("ResourceFlavor", "answers")
	return wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		select {
		case <-c.manager.exited:
			return false, fmt.Errorf("the original ended: see its log in %s", c.dir)
		default:
		}
		return c.client.Create(ctx, probe.DeepCopy(), client.DryRunAll) == nil, nil
	})
}

// configuration is what both Kueues are configured with.
func configuration(fair bool) string {
	out := "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
	if fair {
		out += "fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}\n"
	}
	return out
}

// configure gives the built-in queues a configuration.
func (c *cluster) configure(ctx context.Context, fair bool) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, c.url+"/api/v1/kueue/configuration", strings.NewReader(configuration(fair)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/yaml")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode/100 != 2 {
		return fmt.Errorf("configuring the queues: %s: %s", response.Status, body)
	}
	return nil
}

// startManager starts the original's manager with a configuration, in place of an earlier one, and waits until it answers.
// Its webhooks are the original's own, with URLs in place of the service. Its feature gates are on if later versions have them on.
func (c *cluster) startManager(ctx context.Context, program string, fair bool) error {
	c.manager.stop()
	certificates := filepath.Dir(program)
	certificate, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(certificates, "tls.crt"), certificate, 0o600), os.WriteFile(filepath.Join(certificates, "tls.key"), key, 0o600))
	}
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	if err := c.registerWebhooks(ctx, port, certificate); err != nil {
		return err
	}
	file := filepath.Join(c.dir, "configuration.yaml")
	full := configuration(fair) + fmt.Sprintf(`
health: {healthProbeBindAddress: "0"}
metrics: {bindAddress: "0"}
webhook: {port: %d, host: 127.0.0.1, certDir: %q}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
clientConnection: {qps: 500, burst: 1000}
integrations: {frameworks: [batch/job, pod, deployment, statefulset]}
featureGates: {VisibilityOnDemand: false, SchedulingEquivalenceHashing: true}
controller: {groupKindConcurrency: {Job.batch: 5, Pod: 5, Workload.kueue.x-k8s.io: 5, LocalQueue.kueue.x-k8s.io: 1, Cohort.kueue.x-k8s.io: 1, ClusterQueue.kueue.x-k8s.io: 1, ResourceFlavor.kueue.x-k8s.io: 1}}
`, port, certificates)
	if err := os.WriteFile(file, []byte(full), 0o600); err != nil {
		return err
	}
	c.cycles.reset()
	kubeconfig := filepath.Join(c.dir, c.name, "kubeconfig")
	if c.manager, err = launch(c.dir, fmt.Sprintf("manager-fair-%t", fair), c.cycles.read, program, "--config", file, "--kubeconfig", kubeconfig, "--zap-log-level=3"); err != nil {
		return err
	}
	return c.answers(ctx)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (c *cluster) registerWebhooks(ctx context.Context, port int, certificate []byte) error {
	return manifests("webhook/manifests.yaml", func(o *unstructured.Unstructured) error {
		hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
		if err != nil {
			return err
		}
		for _, hook := range hooks {
			hook := hook.(map[string]any)
			path, _, err := unstructured.NestedString(hook, "clientConfig", "service", "path")
			if err != nil {
				return err
			}
			hook["clientConfig"] = map[string]any{"url": fmt.Sprintf("https://127.0.0.1:%d%s", port, path), "caBundle": base64.StdEncoding.EncodeToString(certificate)}
			// As in the original's kustomization, which keeps its own namespace out.
			hook["namespaceSelector"] = parse(`matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, kueue-system]}]`)
		}
		o.Object["webhooks"] = hooks
		if err := c.client.Delete(ctx, o.DeepCopy()); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		return c.client.Create(ctx, o)
	})
}
