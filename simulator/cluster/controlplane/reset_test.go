package controlplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/kubernetes/pkg/volume/util"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// values returns the contents of etcd, without the API server's own leases and the objects that it
// creates late or changes on its own.
func values(t *testing.T, c *ControlPlane) map[string]string {
	t.Helper()
	present, _, err := c.startState.registry.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range present {
		kind := c.startState.registry.kind(e.key)
		switch kind {
		case "serviceaccounts":
			continue // their controller creates them again, with other UIDs
		case "events":
			continue // a slow API server repairs the allocation of its own service's address, and says so; a reset removes all events
		}
		if !c.startState.registry.isIdentity(e.key) && !c.startState.registry.isOwnService(e.key) && kind != "flowschemas" && kind != "ranges" {
			out[e.key] = e.value
		}
	}
	return out
}

func reset(t *testing.T, c *ControlPlane) Reset {
	t.Helper()
	done, err := c.Reset(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// complete starts a control plane and waits until the API server has created all of its own objects.
func complete(t *testing.T, opts Options) *ControlPlane {
	t.Helper()
	c := clustertest.Start(t, New(opts))
	if err := c.startState.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	template := pod("", "").Spec
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: template},
		},
	}
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(made T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}

func TestResetRestoresTheStartState(t *testing.T) {
	c := complete(t, Options{DataDir: t.TempDir(), Controllers: []string{"*"}, VirtualNodes: true})
	before := values(t, c)
	client := clustertest.Client(t, c.ClientConfig())
	ctx := t.Context()

	must[*corev1.Namespace](t)(client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "extra"}}, metav1.CreateOptions{}))
	held := pod("held", "some-node")
	held.Finalizers = []string{"example.com/hold"}
	must[*corev1.Pod](t)(client.CoreV1().Pods("extra").Create(ctx, held, metav1.CreateOptions{}))
	must[*corev1.Node](t)(client.CoreV1().Nodes().Create(ctx, node("some-node", nil), metav1.CreateOptions{}))
	must[*corev1.Service](t)(client.CoreV1().Services("default").Create(ctx, nodePortService(), metav1.CreateOptions{}))
	if err := client.RbacV1().ClusterRoles().Delete(ctx, "view", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"metadata":{"labels":{"changed":"yes"}}}`)
	if _, err := client.CoreV1().Namespaces().Patch(ctx, "kube-public", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}

	if done := reset(t, c); done.Deleted < 4 {
		t.Errorf("it deleted %d", done.Deleted)
	}

	if diff := cmp.Diff(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(values(t, c)))); diff != "" {
		t.Errorf("keys (-at the start +after the reset):\n%s", diff)
	}
	if diff := cmp.Diff(before, values(t, c)); diff != "" {
		t.Errorf("values (-at the start +after the reset):\n%s", diff)
	}
	clustertest.Eventually(t, "the service accounts are there again", func(ctx context.Context) (bool, error) {
		accounts, err := client.CoreV1().ServiceAccounts("").List(ctx, metav1.ListOptions{})
		return err == nil && len(accounts.Items) == 4, err
	})
	// The allocated port is free again.
	must[*corev1.Service](t)(client.CoreV1().Services("default").Create(ctx, nodePortService(), metav1.CreateOptions{}))
	if again := reset(t, c); again.Deleted == 0 {
		t.Error("a second reset deleted nothing")
	}
}

func nodePortService() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "front"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, ClusterIP: "10.96.7.7",
			Ports: []corev1.ServicePort{{Port: 80, NodePort: 30080}},
		},
	}
}

// Watches miss no change and see none twice. That includes a client that the API server disconnects
// because it reads too slowly, and that continues from the last resource version.
func TestWatchesContinueThroughAReset(t *testing.T) {
	clustertest.Slow(t)
	const pods = 300
	c := complete(t, Options{DataDir: t.TempDir()})
	client := clustertest.Client(t, c.ClientConfig())
	for i := range pods {
		must[*corev1.Pod](t)(client.CoreV1().Pods("default").Create(t.Context(), pod(fmt.Sprintf("p%03d", i), ""), metav1.CreateOptions{}))
	}
	list, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := watchtools.NewRetryWatcherWithContext(t.Context(), list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return client.CoreV1().Pods("").Watch(ctx, options)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()

	reset(t, c)

	must[*corev1.Pod](t)(client.CoreV1().Pods("default").Create(t.Context(), pod("next", ""), metav1.CreateOptions{}))
	versions := map[string]bool{}
	for e := range w.ResultChan() {
		p, ok := e.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("the watch says %v", e)
		}
		if e.Type == watch.Added && p.Name == "next" {
			break
		}
		if e.Type != watch.Deleted || versions[p.ResourceVersion] {
			t.Errorf("%s of %s at %s, %d before it", e.Type, p.Name, p.ResourceVersion, len(versions))
		}
		versions[p.ResourceVersion] = true
	}
	if len(versions) != pods {
		t.Errorf("%d pods went, of %d", len(versions), pods)
	}
}

// The reset happens while controllers and clients keep writing.
func TestNothingComesBackAfterAReset(t *testing.T) {
	c := complete(t, Options{DataDir: t.TempDir(), Controllers: []string{"*"}, VirtualNodes: true})
	client := clustertest.Client(t, c.ClientConfig())
	for i := range 10 {
		must[*appsv1.Deployment](t)(client.AppsV1().Deployments("default").Create(t.Context(), deployment(fmt.Sprintf("d%d", i), 50), metav1.CreateOptions{}))
	}
	writing, stop := context.WithCancel(t.Context())
	defer stop()
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() { createUntilRefused(writing, client, w) })
	}
	clustertest.Eventually(t, "the controllers create pods", func(ctx context.Context) (bool, error) {
		l, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		return err == nil && len(l.Items) > 100, err
	})

	release, err := c.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reset(t, c)
	writers.Wait()
	release()

	// The controllers work, and their caches hold no earlier objects.
	must[*appsv1.Deployment](t)(client.AppsV1().Deployments("default").Create(t.Context(), deployment("next", 2), metav1.CreateOptions{}))
	var names []string
	clustertest.Eventually(t, "the next deployment has its pods", func(ctx context.Context) (bool, error) {
		l, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		names = nil
		for _, p := range l.Items {
			names = append(names, p.Labels["app"])
		}
		return len(names) >= 2, nil
	})
	if diff := cmp.Diff([]string{"next", "next"}, names); diff != "" {
		t.Errorf("pods of deployments (-want +got):\n%s", diff)
	}
}

// createUntilRefused creates pods until the API server refuses one with a conflict.
func createUntilRefused(ctx context.Context, client kubernetes.Interface, w int) {
	for i := 0; ; i++ {
		_, err := client.CoreV1().Pods("default").Create(ctx, pod(fmt.Sprintf("w%d-%d", w, i), ""), metav1.CreateOptions{})
		if err != nil {
			return
		}
	}
}

func TestACustomKindIsDeletedAndCanBeCreatedAgain(t *testing.T) {
	c := complete(t, Options{DataDir: t.TempDir(), Controllers: []string{"*"}})
	client, err := dynamic.NewForConfig(c.ClientConfig())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		createWidget(t, client)
		reset(t, c)
		clustertest.Eventually(t, "the kind is not served", func(ctx context.Context) (bool, error) {
			_, err := client.Resource(widgetResource).List(ctx, metav1.ListOptions{})
			return apierrors.IsNotFound(err), nil
		})
	}
}

var widgetResource = schema.GroupVersionResource{Group: testGroup, Version: "v1", Resource: "widgets"}

func createWidget(t *testing.T, client dynamic.Interface) {
	t.Helper()
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := definitions.Create(t.Context(), widgetDefinition(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	widget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": testGroup + "/v1", "kind": "Widget", "metadata": map[string]any{"name": "one"}}}
	clustertest.Eventually(t, "the kind is served", func(ctx context.Context) (bool, error) {
		_, err := client.Resource(widgetResource).Namespace("default").Create(ctx, widget, metav1.CreateOptions{})
		if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// TestTheStartStateIsKnownAfterARestart: a reset deletes new objects, and restores deleted ones such as
// the default StorageClass.
func TestTheStartStateIsKnownAfterARestart(t *testing.T) {
	clustertest.Slow(t)
	opts := Options{DataDir: t.TempDir(), Durable: true, DefaultStorageClass: true}
	first := complete(t, opts)
	before := values(t, first)
	if !hasDefaultClass(t, first) {
		t.Error("a new cluster has no default class")
	}
	for range 2 { // the second reset has nothing to do
		if err := first.DropDefaultStorageClass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	must[*corev1.ConfigMap](t)(clustertest.Client(t, first.ClientConfig()).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("extra"), metav1.CreateOptions{}))
	clustertest.Stop(t, first)

	second := complete(t, opts)
	if hasDefaultClass(t, second) {
		t.Error("the deleted default class exists again")
	}
	if done := reset(t, second); done.Deleted != 1 {
		t.Errorf("it deleted %d", done.Deleted)
	}
	if diff := cmp.Diff(before, values(t, second)); diff != "" {
		t.Errorf("values (-at the first start +after the reset):\n%s", diff)
	}
}

func hasDefaultClass(t *testing.T, c *ControlPlane) bool {
	t.Helper()
	class, err := clustertest.Client(t, c.ClientConfig()).StorageV1().StorageClasses().Get(t.Context(), "standard", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil && util.IsDefaultAnnotation(class.ObjectMeta)
}

func TestDataOfOtherProgramsIsNotReset(t *testing.T) {
	clustertest.Slow(t)
	dir := t.TempDir()
	first := complete(t, Options{DataDir: dir})
	if _, err := first.startState.registry.client.Delete(t.Context(), first.startState.registry.stateKey()); err != nil {
		t.Fatal(err)
	}
	clustertest.Stop(t, first)

	second := complete(t, Options{DataDir: dir})
	if _, err := second.Reset(t.Context()); !errors.Is(err, ErrNoStartState) {
		t.Errorf("Reset: %v", err)
	}
	if err := second.CanReset(t.Context()); !errors.Is(err, ErrNoStartState) {
		t.Errorf("CanReset: %v", err)
	}
}

func TestResetBeforeStart(t *testing.T) {
	if _, err := New(Options{}).Reset(t.Context()); err == nil {
		t.Error("a control plane that has not started was reset")
	}
}
