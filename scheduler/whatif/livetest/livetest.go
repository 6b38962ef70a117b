// Package livetest runs the real, recorded scheduler on an API server in memory, for tests that compare
// what it does with the answers of the what-if engine.
//
// Only tests import it. It may import scheduler, scheduler/config, scheduler/schedulertest and
// scheduler/whatif.
package livetest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Cluster is a cluster with its scheduler. Its methods must be called within the bubble of Run.
type Cluster struct {
	Client kubernetes.Interface
	server *schedulertest.APIServer
}

// drop is a sink that keeps nothing.
type drop struct{}

func (drop) NextAttempt(types.UID) int { return 1 }
func (drop) Put(*result.Cycle)         {}

// Run creates the objects, starts a scheduler of the configuration, and calls do once the scheduler has tried every pod. It
// does so in a bubble of testing/synctest, so waiting takes no time. Pods that were running stay where they are.
func Run(t *testing.T, configuration *schedulerconfig.KubeSchedulerConfiguration, objects []runtime.Object, do func(context.Context, *Cluster)) {
	t.Helper()
	Watch(t, scheduler.Options{Configuration: configuration, Sink: drop{}, OutOfTree: outOfTree(), TieSeed: new(int64)}, objects, do)
}

// Watch is Run with options of the caller, who has to set all but the client.
func Watch(t *testing.T, options scheduler.Options, objects []runtime.Object, do func(context.Context, *Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := klog.NewContext(t.Context(), logr.Discard())
		c := &Cluster{server: schedulertest.NewAPIServer()}
		var err error
		if c.Client, err = kubernetes.NewForConfig(c.server.Config("user")); err != nil {
			t.Fatal(err)
		}
		if err := schedulertest.Fill(ctx, c.server, objects); err != nil {
			t.Fatal(err)
		}
		options.Client = c.server.Config("scheduler")
		s := scheduler.New(options)
		if err := s.Start(ctx); err != nil {
			t.Fatal(err)
		}
		c.Settle()
		do(ctx, c)
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
		// Goroutines that Kubernetes does not wait for end on their own.
		time.Sleep(time.Minute)
	})
}

// Settle waits until the scheduler has tried every pod that an event moved.
func (c *Cluster) Settle() { time.Sleep(30 * time.Second) }

// Simulation acts on the cluster as users and failures do.
func (c *Cluster) Simulation() *schedulertest.Simulation {
	return &schedulertest.Simulation{Server: c.server, Client: c.Client}
}

// Operate runs the operations of a generated cluster, and lets the scheduler settle after each.
func (c *Cluster) Operate(ctx context.Context, operations []schedulertest.Operation) error {
	sim := c.Simulation()
	for _, o := range operations {
		if err := o.Do(ctx, sim); err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
		time.Sleep(schedulertest.DefaultWait)
	}
	c.Settle()
	return nil
}

// State returns all objects that matter to the scheduler.
func (c *Cluster) State(ctx context.Context) ([]runtime.Object, error) {
	all := metav1.ListOptions{}
	var out []runtime.Object
	for _, list := range []func() (runtime.Object, error){
		func() (runtime.Object, error) { return c.Client.CoreV1().Namespaces().List(ctx, all) },
		func() (runtime.Object, error) { return c.Client.CoreV1().Nodes().List(ctx, all) },
		func() (runtime.Object, error) { return c.Client.StorageV1().StorageClasses().List(ctx, all) },
		func() (runtime.Object, error) { return c.Client.CoreV1().PersistentVolumes().List(ctx, all) },
		func() (runtime.Object, error) { return c.Client.CoreV1().PersistentVolumeClaims("").List(ctx, all) },
		func() (runtime.Object, error) { return c.Client.StorageV1().CSINodes().List(ctx, all) },
		func() (runtime.Object, error) { return c.Client.PolicyV1().PodDisruptionBudgets("").List(ctx, all) },
		func() (runtime.Object, error) { return c.Client.ResourceV1().DeviceClasses().List(ctx, all) },
		func() (runtime.Object, error) { return c.Client.ResourceV1().ResourceSlices().List(ctx, all) },
		func() (runtime.Object, error) { return c.Client.ResourceV1().ResourceClaims("").List(ctx, all) },
		func() (runtime.Object, error) { return c.Client.CoreV1().Pods("").List(ctx, all) },
	} {
		l, err := list()
		if err != nil {
			return nil, err
		}
		items, err := meta.ExtractList(l)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
	}
	return out, nil
}

// Apply makes the changes of a suggestion, one after the other. It refuses updates of pods that a real API server would
// refuse.
func (c *Cluster) Apply(ctx context.Context, changes []whatif.Change) error {
	for i, change := range changes {
		if err := c.apply(ctx, change); err != nil {
			return fmt.Errorf("change %d: %w", i+1, err)
		}
		// What is deleted gracefully must be gone.
		time.Sleep(5 * time.Second)
	}
	return nil
}

func (c *Cluster) apply(ctx context.Context, change whatif.Change) error {
	switch {
	case change.Apply != nil:
		return schedulertest.Create(ctx, c.Client, change.Apply)
	case change.Delete != nil:
		if change.Delete.GVK.Kind == "PersistentVolumeClaim" {
			return c.Client.CoreV1().PersistentVolumeClaims(change.Delete.Namespace).Delete(ctx, change.Delete.Name, metav1.DeleteOptions{})
		}
		err := c.Client.CoreV1().Pods(change.Delete.Namespace).Delete(ctx, change.Delete.Name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil // the scheduler has preempted it after an earlier change
		}
		return err
	case change.Patch.GVK.Kind == "Node":
		_, err := c.Client.CoreV1().Nodes().Patch(ctx, change.Patch.Name, types.StrategicMergePatchType, change.Patch.Patch, metav1.PatchOptions{})
		return err
	case change.Patch.GVK.Kind == "Pod":
		before, err := c.Client.CoreV1().Pods(change.Patch.Namespace).Get(ctx, change.Patch.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		after, err := c.Client.CoreV1().Pods(change.Patch.Namespace).Patch(ctx, change.Patch.Name, types.StrategicMergePatchType, change.Patch.Patch, metav1.PatchOptions{})
		if err != nil {
			return err
		}
		return validateUpdate(before, after)
	}
	return fmt.Errorf("%s cannot be patched here", change.Patch.GVK)
}

// validateUpdate returns the error of a real API server for an update of a pod.
func validateUpdate(before, after *v1.Pod) error {
	internal := func(p *v1.Pod) (*core.Pod, error) {
		p = p.DeepCopy()
		corev1.SetObjectDefaults_Pod(p)
		out := &core.Pod{}
		return out, corev1.Convert_v1_Pod_To_core_Pod(p, out, nil)
	}
	from, err := internal(before)
	if err != nil {
		return err
	}
	to, err := internal(after)
	if err != nil {
		return err
	}
	return validation.ValidatePodUpdate(to, from, podutil.GetValidationOptionsFromPodSpecAndMeta(&to.Spec, &from.Spec, &to.ObjectMeta, &from.ObjectMeta)).ToAggregate()
}

// outOfTree returns the plugins of schedulertest, and Ranked.
func outOfTree() frameworkruntime.Registry {
	out := schedulertest.NewObserver(&schedulertest.Transcript{}).OutOfTree()
	out["Ranked"] = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return ranked{}, nil }
	return out
}

// ranked scores each node differently: a node n1 more than n2. As the only Score plugin it leaves no ties, which the live
// scheduler breaks by chance.
type ranked struct{}

var _ fwk.ScorePlugin = ranked{}

func (ranked) Name() string { return "Ranked" }

func (ranked) Score(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	number, err := strconv.Atoi(strings.TrimPrefix(node.Node().Name, "n"))
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	return fwk.MaxScore - int64(number), nil
}

func (ranked) ScoreExtensions() fwk.ScoreExtensions { return nil }

// Configuration parses a KubeSchedulerConfiguration in YAML.
func Configuration(t testing.TB, document string) *schedulerconfig.KubeSchedulerConfiguration {
	t.Helper()
	c, err := config.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return c.Internal
}

// SetGates sets feature gates until the test ends.
func SetGates(t testing.TB, gates map[string]bool) {
	overrides := featuregatetesting.FeatureOverrides{}
	for name, on := range gates {
		overrides[featuregate.Feature(name)] = on
	}
	if len(gates) > 0 {
		featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, overrides)
	}
}

// Engine returns an engine on a state. It stops when the test ends.
func Engine(t testing.TB, configuration *schedulerconfig.KubeSchedulerConfiguration, objects []runtime.Object) *whatif.Engine {
	engine := whatif.New(whatif.Options{
		Source:        whatif.Objects(objects),
		Configuration: func() *schedulerconfig.KubeSchedulerConfiguration { return configuration },
		OutOfTree:     outOfTree(),
	})
	t.Cleanup(engine.Stop)
	return engine
}
