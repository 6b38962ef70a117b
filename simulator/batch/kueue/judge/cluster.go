package judge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/judge/original"
)

// patience is how long anything may take before the judge gives up.
const patience = 2 * time.Minute

// cluster is a simulator that the judge watches. In one the original decides, in the other the built-in queues do.
type cluster struct {
	name, dir, url string
	config         *rest.Config
	client         client.Client
	cache          cache.Cache
	simulator      *original.Process
	// manager is the original, or nil.
	manager *original.Process
	cycles  cycles
	// pulses counts those that were added.
	pulses int
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), kueue.AddToScheme(scheme)); err != nil {
		panic(err) // constant
	}
	return scheme
}

// startCluster returns a simulator that is ready, with a value of its flag --kueue. If that is "off", define makes Kueue's definitions.
func startCluster(ctx context.Context, dir, program, name, mode string, define func(context.Context, client.Client) error) (*cluster, error) {
	c := &cluster{name: name, dir: dir}
	flags := []string{"--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, name), "--annotation-bytes", "0", "--timeline-bytes", "0", "--kueue=" + mode}
	ready := make(chan string, 1)
	var err error
	c.simulator, err = original.Launch(filepath.Join(dir, "simulator-"+name+".log"), func(line []byte) {
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
	case <-c.simulator.Exited:
		return c, fmt.Errorf("the simulator %s ended: see its log in %s", name, dir)
	case <-time.After(patience):
		return c, fmt.Errorf("the simulator %s is not ready", name)
	}
	c.config.QPS = -1 // no limit
	if c.client, err = client.New(c.config, client.Options{Scheme: newScheme()}); err != nil {
		return c, err
	}
	if mode == "off" {
		if err := define(ctx, c.client); err != nil {
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
		c.manager.Stop()
		c.simulator.Stop()
	}
}

// configuration is what both Kueues are configured with.
func configuration(fair bool) string {
	out := "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {SchedulingEquivalenceHashing: true, ElasticJobsViaWorkloadSlices: true}\n"
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

// startManager starts the original's manager with a configuration, in place of an earlier one. Its feature gates are on if later
// versions have them on.
func (c *cluster) startManager(ctx context.Context, kueue original.Kueue, program string, fair bool) error {
	c.manager.Stop()
	c.cycles.reset()
	dir := filepath.Join(c.dir, fmt.Sprintf("manager-fair-%t", fair))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var err error
	c.manager, err = kueue.Start(ctx, c.client, program, dir, c.kubeconfig(), configuration(fair)+`
integrations: {frameworks: [batch/job, pod, deployment, statefulset]}
controller: {groupKindConcurrency: {Job.batch: 5, Pod: 5, Workload.kueue.x-k8s.io: 5, LocalQueue.kueue.x-k8s.io: 1, Cohort.kueue.x-k8s.io: 1, ClusterQueue.kueue.x-k8s.io: 1, ResourceFlavor.kueue.x-k8s.io: 1}}
`, c.cycles.read)
	return err
}

// awaitControllers waits until the original makes workloads of pods and Jobs. Its webhooks answer before its controllers have begun, so the
// first objects of a scenario would seem to be left alone.
func (c *cluster) awaitControllers(ctx context.Context) error {
	template := `{restartPolicy: Never, containers: [{name: c, image: i}]}`
	for _, probe := range []*unstructured.Unstructured{
		object("Pod", "probe", parse(`{metadata: {namespace: default, labels: {kueue.x-k8s.io/queue-name: none}}, spec: %s}`, template)),
		object("Job", "probe", parse(`{metadata: {namespace: default, labels: {kueue.x-k8s.io/queue-name: none}}, spec: {suspend: true, template: {spec: %s}}}`, template)),
	} {
		if err := c.client.Create(ctx, probe); err != nil {
			return fmt.Errorf("probing the original with a %s: %w", probe.GetKind(), err)
		}
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
			var all kueue.WorkloadList
			err := c.cache.List(ctx, &all, client.InNamespace("default"))
			return slices.ContainsFunc(all.Items, func(w kueue.Workload) bool { return metav1.IsControlledBy(&w, probe) }), err
		})
		if err == nil {
			err = c.client.Delete(ctx, probe, client.GracePeriodSeconds(0), client.PropagationPolicy(metav1.DeletePropagationBackground))
		}
		if err != nil {
			return fmt.Errorf("waiting until the original takes a %s: %w", probe.GetKind(), err)
		}
	}
	return nil
}

// kubeconfig is the path of the one that the simulator writes.
func (c *cluster) kubeconfig() string { return filepath.Join(c.dir, c.name, "kubeconfig") }
