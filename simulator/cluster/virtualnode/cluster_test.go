package virtualnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/cluster/controlplane"
	"kube-scheduler-simulator/simulator/host/quiet"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// everyController are the usual controllers and those that run only when they are named.
var everyController = []string{
	"*", "clusterrole-aggregation-controller", "endpointslice-mirroring-controller", "ttl-controller",
	"validatingadmissionpolicy-status-controller",
}

// shared is the cluster of all tests that do not start their own.
var shared *cluster

func TestMain(m *testing.M) {
	if err := quiet.Klog(); err != nil {
		panic(err)
	}
	os.Exit(func() int {
		var err error
		if shared, err = startCluster(clusterOptions{virtualNodes: true, controllers: everyController}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		if err := shared.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the cluster:", err)
			return 1
		}
		return code
	}())
}

type clusterOptions struct {
	virtualNodes bool
	controllers  []string
	nodes        Options
}

// cluster is a control plane with virtual nodes and Kubernetes' own scheduler.
type cluster struct {
	client kubernetes.Interface
	config *rest.Config
	undo   []func(context.Context) error
}

func startCluster(o clusterOptions) (_ *cluster, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), clustertest.Timeout)
	defer cancel()
	c := &cluster{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	dir, err := os.MkdirTemp("", "virtualnode-test-")
	if err != nil {
		return nil, err
	}
	c.undo = append(c.undo, func(context.Context) error { return os.RemoveAll(dir) })
	control := controlplane.New(controlplane.Options{DataDir: dir, Controllers: o.controllers, VirtualNodes: o.virtualNodes})
	if err := control.Start(ctx); err != nil {
		return nil, err
	}
	c.undo = append(c.undo, control.Stop)
	c.config = control.ClientConfig()
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		return nil, err
	}
	if o.virtualNodes {
		o.nodes.ClientConfig, o.nodes.Informers = c.config, control.Informers()
		nodes := New(o.nodes)
		if err := nodes.Start(ctx); err != nil {
			return nil, err
		}
		c.undo = append(c.undo, nodes.Stop)
	}
	return c, c.startScheduler(ctx)
}

func (c *cluster) startScheduler(startCtx context.Context) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(startCtx))
	informers := kubescheduler.NewInformerFactory(c.client, 0, nil)
	var dynamic dynamicinformer.DynamicSharedInformerFactory
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.client.EventsV1()})
	s, err := kubescheduler.New(ctx, c.client, informers, dynamic, profile.NewRecorderFactory(broadcaster))
	if err != nil {
		cancel()
		return err
	}
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(startCtx.Done())
	if err := s.WaitForHandlersSync(startCtx); err != nil {
		cancel()
		return err
	}
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	c.undo = append(c.undo, func(context.Context) error {
		cancel()
		running.Wait()
		broadcaster.Shutdown()
		informers.Shutdown()
		return nil
	})
	return nil
}

func (c *cluster) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), clustertest.Timeout)
	defer cancel()
	var errs []error
	for i := len(c.undo) - 1; i >= 0; i-- {
		errs = append(errs, c.undo[i](ctx))
	}
	return errors.Join(errs...)
}

// namespace creates a namespace for the test.
func namespace(t testing.TB, c *cluster) string {
	t.Helper()
	made, err := c.client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Name
}

// pool creates nodes that the test's pods select by the label pool, and deletes them after the test.
// They are in a zone of their own, because the rate of evictions depends on the zone.
func pool(t testing.TB, c *cluster, name string, count int, change ...func(*corev1.Node)) []string {
	t.Helper()
	var names []string
	for range count {
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-", Labels: map[string]string{"pool": name, corev1.LabelTopologyZone: name}, Annotations: map[string]string{}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"),
			}},
		}
		for _, f := range change {
			f(node)
		}
		made, err := c.client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, made.Name)
	}
	t.Cleanup(func() {
		for _, node := range names {
			_ = c.client.CoreV1().Nodes().Delete(context.Background(), node, metav1.DeleteOptions{})
		}
	})
	return names
}

// podSpec is the spec of pods that run in a pool and have a short grace period.
func podSpec(pool string) corev1.PodSpec {
	grace := int64(1)
	return corev1.PodSpec{
		NodeSelector:                  map[string]string{"pool": pool},
		TerminationGracePeriodSeconds: &grace,
		Containers: []corev1.Container{{
			Name: "main", Image: "example.com/image",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		}},
	}
}

// apply creates the objects of a manifest. %s in it stands for the name of the namespace and of the
// pool.
func apply(t testing.TB, c *cluster, namespace, manifest string) {
	t.Helper()
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(strings.ReplaceAll(manifest, "%s", namespace), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		var made dynamic.ResourceInterface = client.Resource(resource).Namespace(namespace)
		if strings.HasPrefix(object.GetName(), namespace+"-") {
			made = client.Resource(resource) // names of this form are cluster-scoped
		}
		if _, err := made.Create(t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
			t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

// annotate sets an annotation of a node, or removes it if the value is empty.
func annotate(t testing.TB, c *cluster, node, name, value string) {
	t.Helper()
	set := map[string]any{name: nil}
	if value != "" {
		set[name] = value
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": set}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.client.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// podsOf returns the pods of a namespace by name.
func podsOf(ctx context.Context, c *cluster, namespace string) (map[string]*corev1.Pod, error) {
	list, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := map[string]*corev1.Pod{}
	for i := range list.Items {
		found[list.Items[i].Name] = &list.Items[i]
	}
	return found, nil
}

// gone returns the condition that get does not find the object.
func gone(get func(context.Context) error) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		err := get(ctx)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	}
}
