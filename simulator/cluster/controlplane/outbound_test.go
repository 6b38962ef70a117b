package controlplane

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// elsewhere is an address that belongs to no machine.
const elsewhere = "192.0.2.1"

// TestNoKubeletStandsBehindAVirtualNode: requests that a real API server would pass on to a kubelet
// or a pod get an answer at once, although the node and the pod have addresses.
func TestNoKubeletStandsBehindAVirtualNode(t *testing.T) {
	client := clustertest.Client(t, kubeconfigOf(t, sharedControlPlane(t)))
	ctx := t.Context()
	addressed := node("addressed", nil)
	addressed.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: elsewhere}}
	if _, err := client.CoreV1().Nodes().Create(ctx, addressed, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods("default").Create(ctx, pod("unbound", ""), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ran, err := client.CoreV1().Pods("default").Create(ctx, pod("ran", addressed.Name), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	start := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	container := ran.Spec.Containers[0].Name
	ran.Status.PodIP, ran.Status.PodIPs = elsewhere, []corev1.PodIP{{IP: elsewhere}}
	ran.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		StartedAt: start, FinishedAt: metav1.NewTime(start.Add(30 * time.Second)), Reason: "Completed",
	}}}}
	if _, err := client.CoreV1().Pods("default").UpdateStatus(ctx, ran, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "served"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	if _, err := client.CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	const noKubelet = `no kubelet stands behind virtual node "addressed"`
	for _, test := range []struct {
		method, path string
		code         int
		message      string
	}{
		{http.MethodPost, "/api/v1/namespaces/default/pods/ran/exec?command=ls&stdout=true", http.StatusNotImplemented, noKubelet + `, so no program runs in pod "ran"`},
		{http.MethodPost, "/api/v1/namespaces/default/pods/ran/attach", http.StatusNotImplemented, noKubelet},
		{http.MethodPost, "/api/v1/namespaces/default/pods/ran/portforward?ports=80", http.StatusNotImplemented, noKubelet},
		{http.MethodGet, "/api/v1/namespaces/default/pods/ran/proxy/", http.StatusNotImplemented, noKubelet},
		{http.MethodGet, "/api/v1/namespaces/default/pods/https:ran:8443/proxy/a/b", http.StatusNotImplemented, noKubelet},
		{http.MethodGet, "/api/v1/nodes/addressed/proxy/metrics", http.StatusNotImplemented, noKubelet},
		{http.MethodGet, "/api/v1/nodes/addressed:10250/proxy/logs/", http.StatusNotImplemented, noKubelet},
		{http.MethodGet, "/api/v1/namespaces/default/services/served:80/proxy/", http.StatusNotImplemented, `no program runs behind service "served"`},
		{http.MethodPost, "/api/v1/namespaces/default/pods/unbound/exec?command=ls", http.StatusBadRequest, `pod "unbound" is not on a node yet`},
		{http.MethodGet, "/api/v1/namespaces/default/pods/missing/log", http.StatusNotFound, `pods "missing" not found`},
		{http.MethodGet, "/api/v1/nodes/missing/proxy/", http.StatusNotFound, `nodes "missing" not found`},
		{http.MethodGet, "/api/v1/namespaces/default/services/missing/proxy/", http.StatusNotFound, `services "missing" not found`},
		{http.MethodGet, "/api/v1/namespaces/default/pods/unbound/log", http.StatusBadRequest, "is waiting to start: the pod is not on a node yet"},
		{http.MethodGet, "/api/v1/namespaces/default/pods/ran/log?container=other", http.StatusBadRequest, "container other is not valid for pod ran"},
		{http.MethodGet, "/api/v1/namespaces/default/pods/ran/log?previous=true", http.StatusBadRequest, "previous terminated container"},
		{http.MethodGet, "/api/v1/namespaces/default/pods/ran/log?tailLines=x", http.StatusBadRequest, "not a number of lines"},
	} {
		err := client.CoreV1().RESTClient().Verb(test.method).RequestURI(test.path).Do(ctx).Error()
		status, ok := err.(apierrors.APIStatus)
		if !ok {
			t.Errorf("%s %s: %v", test.method, test.path, err)
			continue
		}
		if got := status.Status(); int(got.Code) != test.code || !strings.Contains(got.Message, test.message) {
			t.Errorf("%s %s: %d %s", test.method, test.path, got.Code, got.Message)
		}
	}

	started := `container "` + container + `" started on virtual node "addressed", where no program runs, so it writes no log` + "\n"
	ended := `container "` + container + `" ran 30s and exited 0 (Completed)` + "\n"
	for _, test := range []struct {
		name    string
		options corev1.PodLogOptions
		want    string
	}{
		{"all", corev1.PodLogOptions{}, started + ended},
		{"followed", corev1.PodLogOptions{Follow: true, Container: container}, started + ended},
		{"the last line", corev1.PodLogOptions{TailLines: ptr.To(int64(1))}, ended},
		{"no line", corev1.PodLogOptions{TailLines: ptr.To(int64(0))}, ""},
		{"with times", corev1.PodLogOptions{Timestamps: true}, "2026-01-02T03:04:05Z " + started + "2026-01-02T03:04:35Z " + ended},
	} {
		text, err := client.CoreV1().Pods("default").GetLogs("ran", &test.options).Do(ctx).Raw()
		if err != nil || string(text) != test.want {
			t.Errorf("%s: %v\n%s", test.name, err, text)
		}
	}
}

// TestStrangersCannotConnect: these answers, too, are for those only who may ask.
func TestStrangersCannotConnect(t *testing.T) {
	config := kubeconfigOf(t, sharedControlPlane(t))
	config.CertData, config.KeyData, config.CertFile, config.KeyFile, config.BearerToken = nil, nil, "", "", ""
	client := clustertest.Client(t, config)
	for _, path := range []string{"/api/v1/nodes/n/proxy/", "/api/v1/namespaces/default/pods/p/log"} {
		if err := client.CoreV1().RESTClient().Get().RequestURI(path).Do(t.Context()).Error(); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// hook is a webhook of admission that counts its calls and admits everything.
func newHook(t *testing.T) (server *httptest.Server, calls *atomic.Int64) {
	t.Helper()
	calls = &atomic.Int64{}
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		var review admissionv1.AdmissionReview
		data, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(data, &review)
		}
		if err != nil {
			t.Error(err)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	return server, calls
}

// hookFor makes admission of ConfigMaps in a namespace call a webhook.
func hookFor(t *testing.T, client kubernetes.Interface, namespace string, to admissionregistrationv1.WebhookClientConfig) {
	t.Helper()
	fail, none := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "hook.example.com", ClientConfig: to, FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	hooks := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := hooks.Create(t.Context(), hook, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hooks.Delete(context.Background(), namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func createMap(ctx context.Context, client kubernetes.Interface, namespace string) error {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "map-"}}
	_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, m, metav1.CreateOptions{})
	return err
}

// TestWebhooksOnLoopbackOnly: those that a user runs on this machine are called, and no others.
func TestWebhooksOnLoopbackOnly(t *testing.T) {
	client := clustertest.Client(t, sharedControlPlane(t).ClientConfig())
	server, calls := newHook(t)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	hookFor(t, client, "near-hook", admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: ca})
	clustertest.Eventually(t, "the webhook on loopback is called", func(ctx context.Context) (bool, error) {
		return calls.Load() > 0, createMap(ctx, client, "near-hook")
	})

	local := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for name, test := range map[string]struct {
		to   admissionregistrationv1.WebhookClientConfig
		want string
	}{
		"far-address": {admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://" + elsewhere + "/hook")}, "calls to 192.0.2.1 are not allowed: without --allow-outbound"},
		"far-name":    {admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://hook.example.com")}, "calls to hook.example.com are not allowed"},
		"far-service": {admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "hook"}}, "no program runs behind the services of a simulated cluster"},
		// The certificate is for example.com and for addresses, so the call arrives and fails.
		"near-name": {admissionregistrationv1.WebhookClientConfig{URL: &local, CABundle: ca}, "certificate is valid for"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "far-service" {
				service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "hook"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}}}
				if _, err := client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			hookFor(t, client, name, test.to)
			var err error
			clustertest.Eventually(t, "admission knows the webhook and its service", func(ctx context.Context) (bool, error) {
				err = createMap(ctx, client, name)
				return err != nil && !strings.Contains(err.Error(), `service "hook" not found`), nil
			})
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("it said %v", err)
			}
		})
	}
}

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// TestConversionsOnLoopbackOnly: a custom resource cannot be read in another version if that would
// take a call to another machine.
func TestConversionsOnLoopbackOnly(t *testing.T) {
	client, err := dynamic.NewForConfig(sharedControlPlane(t).ClientConfig())
	if err != nil {
		t.Fatal(err)
	}
	version := func(name string, storage bool) any {
		return map[string]any{"name": name, "served": true, "storage": storage, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}
	}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "converts." + testGroup},
		"spec": map[string]any{
			"group": testGroup, "scope": "Cluster", "names": map[string]any{"plural": "converts", "kind": "Convert"},
			"versions":   []any{version("v1", true), version("v2", false)},
			"conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": "https://" + elsewhere}}},
		},
	}}
	if _, err := client.Resource(definitions).Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// A definition that cannot be read would disturb other tests.
	t.Cleanup(func() {
		if err := client.Resource(definitions).Delete(context.Background(), definition.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	resource := schema.GroupVersionResource{Group: testGroup, Version: "v1", Resource: "converts"}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": testGroup + "/v1", "kind": "Convert", "metadata": map[string]any{"name": "one"}}}
	clustertest.Eventually(t, "the kind is served", func(ctx context.Context) (bool, error) {
		_, err := client.Resource(resource).Create(ctx, object, metav1.CreateOptions{})
		return err == nil, nil
	})
	resource.Version = "v2"
	_, err = client.Resource(resource).Get(t.Context(), "one", metav1.GetOptions{})
	if err == nil || !strings.Contains(err.Error(), "calls to 192.0.2.1 are not allowed") {
		t.Errorf("read as v2: %v", err)
	}
}

// TestAPIServicesOnLoopbackOnly: the condition of the others says why they are not available.
func TestAPIServicesOnLoopbackOnly(t *testing.T) {
	controlPlane := sharedControlPlane(t)
	client := clustertest.Client(t, controlPlane.ClientConfig())
	dynamicClient, err := dynamic.NewForConfig(controlPlane.ClientConfig())
	if err != nil {
		t.Fatal(err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "extension"}, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeExternalName, ExternalName: "extension.example.com", Ports: []corev1.ServicePort{{Port: 443}},
	}}
	if _, err := client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	name := "v1.extension.example.com"
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": "extension.example.com", "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "default", "name": "extension"},
		},
	}}
	services := dynamicClient.Resource(apiServices)
	if _, err := services.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Discovery reports the missing API to other tests.
	t.Cleanup(func() {
		if err := services.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	clustertest.Eventually(t, "the condition says why", func(ctx context.Context) (bool, error) {
		found, err := services.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, err := unstructured.NestedSlice(found.Object, "status", "conditions")
		if err != nil || len(conditions) == 0 {
			return false, err
		}
		message, _, err := unstructured.NestedString(conditions[0].(map[string]any), "message")
		return strings.Contains(message, "calls to extension.example.com are not allowed"), err
	})
}

// TestVersion: clients parse the version of the API server.
func TestVersion(t *testing.T) {
	client := clustertest.Client(t, kubeconfigOf(t, sharedControlPlane(t)))
	info, err := client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := utilversion.ParseSemantic(info.GitVersion)
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Major() != 1 || parsed.Minor() < 37 || info.Major != "1" || info.Minor != "37" || strings.Contains(info.GitCommit, "$") {
		t.Errorf("%+v", info)
	}
}
