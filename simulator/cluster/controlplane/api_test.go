package controlplane

import (
	"context"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingapiv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	schedulingv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestKubeconfigGivesAnAdministrator(t *testing.T) {
	controlPlane := sharedControlPlane(t)
	client := clustertest.Client(t, kubeconfigOf(t, controlPlane))

	if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if groups := review.Status.UserInfo.Groups; !slices.Contains(groups, "system:masters") {
		t.Errorf("the kubeconfig's user is in groups %v", groups)
	}
	info, err := os.Stat(controlPlane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode(); mode != 0o600 {
		t.Errorf("the kubeconfig has mode %v", mode)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	anonymous := rest.AnonymousClientConfig(kubeconfigOf(t, sharedControlPlane(t)))
	_, err := clustertest.Client(t, anonymous).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("without credentials: %v, want forbidden", err)
	}

	withToken := rest.CopyConfig(anonymous)
	withToken.BearerToken = "wrong"
	_, err = clustertest.Client(t, withToken).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsUnauthorized(err) {
		t.Errorf("with a wrong token: %v, want unauthorized", err)
	}
}

// servedGroupVersions are all group versions of Kubernetes except alpha ones and
// scheduling.k8s.io/v1beta1, which is empty without the GenericWorkload feature gate.
var servedGroupVersions = []string{
	"admissionregistration.k8s.io/v1",
	"admissionregistration.k8s.io/v1beta1",
	"apiextensions.k8s.io/v1",
	"apiregistration.k8s.io/v1",
	"apps/v1",
	"authentication.k8s.io/v1",
	"authorization.k8s.io/v1",
	"autoscaling/v1",
	"autoscaling/v2",
	"batch/v1",
	"certificates.k8s.io/v1",
	"certificates.k8s.io/v1beta1",
	"coordination.k8s.io/v1",
	"coordination.k8s.io/v1beta1",
	"discovery.k8s.io/v1",
	"events.k8s.io/v1",
	"flowcontrol.apiserver.k8s.io/v1",
	"networking.k8s.io/v1",
	"node.k8s.io/v1",
	"policy/v1",
	"rbac.authorization.k8s.io/v1",
	"resource.k8s.io/v1",
	"resource.k8s.io/v1beta1",
	"resource.k8s.io/v1beta2",
	"scheduling.k8s.io/v1",
	"storage.k8s.io/v1",
	"storagemigration.k8s.io/v1",
	"storagemigration.k8s.io/v1beta1",
	"v1",
}

func TestEveryGAAndBetaAPIIsServed(t *testing.T) {
	client := clustertest.Client(t, kubeconfigOf(t, sharedControlPlane(t)))
	groups, err := client.Discovery().ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	var served []string
	for _, group := range groups.Groups {
		if group.Name == testGroup {
			continue
		}
		for _, version := range group.Versions {
			served = append(served, version.GroupVersion)
		}
	}
	slices.Sort(served)
	if diff := cmp.Diff(servedGroupVersions, served); diff != "" {
		t.Errorf("group versions (-want +got):\n%s", diff)
	}
}

func TestSystemObjectsExistAfterStart(t *testing.T) {
	client := clustertest.Client(t, clustertest.Start(t, New(Options{DataDir: t.TempDir()})).ClientConfig())
	for _, name := range systemNamespaces {
		if _, err := client.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
	list, err := client.SchedulingV1().PriorityClasses().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int32{}
	for _, class := range schedulingv1.SystemPriorityClasses() {
		want[class.Name] = class.Value
	}
	got := map[string]int32{}
	for _, class := range list.Items {
		got[class.Name] = class.Value
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("priority classes (-want +got):\n%s", diff)
	}
}

func TestNodeFromYAMLIsNotTainted(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	created, err := client.CoreV1().Nodes().Create(t.Context(), node("untainted", nil), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(created.Spec.Taints) > 0 {
		t.Errorf("taints %v", created.Spec.Taints)
	}
	if diff := cmp.Diff(created.Status.Capacity, created.Status.Allocatable); diff != "" {
		t.Errorf("a new node's status is not kept completely (-capacity +allocatable):\n%s", diff)
	}
}

func TestPodAdmission(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	class := &schedulingapiv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 7}
	if _, err := client.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	withClass := pod("with-class", "")
	withClass.Spec.PriorityClassName = class.Name

	type admitted struct {
		Priority    int32
		Tolerations []string
	}
	tolerations := []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}
	tests := []struct {
		pod  *corev1.Pod
		want admitted
	}{
		{pod("plain", ""), admitted{0, tolerations}},
		{withClass, admitted{7, tolerations}},
	}
	for _, test := range tests {
		t.Run(test.pod.Name, func(t *testing.T) {
			created, err := client.CoreV1().Pods("default").Create(t.Context(), test.pod, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := admitted{Priority: *created.Spec.Priority}
			for _, toleration := range created.Spec.Tolerations {
				got.Tolerations = append(got.Tolerations, toleration.Key)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("after admission (-want +got):\n%s", diff)
			}
		})
	}
}

const testGroup = "test.example.com"

func TestCustomResource(t *testing.T) {
	client, err := dynamic.NewForConfig(sharedControlPlane(t).ClientConfig())
	if err != nil {
		t.Fatal(err)
	}
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	_, err = definitions.Create(t.Context(), widgetDefinition(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}

	widgets := client.Resource(schema.GroupVersionResource{Group: testGroup, Version: "v1", Resource: "widgets"}).Namespace("default")
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": testGroup + "/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"name": "one"},
		"spec":       map[string]any{"size": "large"},
	}}
	clustertest.Eventually(t, "the new kind is served", func(ctx context.Context) (bool, error) {
		_, err := widgets.Create(ctx, widget, metav1.CreateOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	found, err := widgets.Get(t.Context(), "one", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(widget.Object["spec"], found.Object["spec"]); diff != "" {
		t.Errorf("custom resource (-want +got):\n%s", diff)
	}
}

func TestClientConfigIsACopy(t *testing.T) {
	controlPlane := sharedControlPlane(t)
	controlPlane.ClientConfig().Host = "elsewhere"
	if host := controlPlane.ClientConfig().Host; host == "elsewhere" {
		t.Error("a caller changed the configuration of all callers")
	}
	if config := New(Options{}).ClientConfig(); config != nil {
		t.Errorf("ClientConfig() before Start = %v", config)
	}
}

func node(name string, labels map[string]string) *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("4"),
		corev1.ResourceMemory: resource.MustParse("8Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status:     corev1.NodeStatus{Capacity: room, Allocatable: room},
	}
}

// pod returns a pod on the named node, or on none if the name is empty.
func pod(name, nodeName string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName:   nodeName,
			Containers: []corev1.Container{{Name: "main", Image: "example.com/image"}},
		},
	}
}

func widgetDefinition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "widgets." + testGroup},
		"spec": map[string]any{
			"group": testGroup,
			"scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type":       "object",
					"properties": map[string]any{"spec": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
				}},
			}},
		},
	}}
}

func TestOneConnectionCarriesTheWatchesOfAllControllers(t *testing.T) {
	config := sharedControlPlane(t).ClientConfig()
	var connections atomic.Int32
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		connections.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	client := clustertest.Client(t, config)
	for range 300 {
		w, err := client.CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("300 watches took %d connections, want 1: one that is full refuses requests at times", n)
	}
}
