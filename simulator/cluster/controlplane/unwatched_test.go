package controlplane

import (
	"context"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestPodsAreNotWatched checks that the API server's informers ask for pods only when somebody lists those of a namespace.
func TestPodsAreNotWatched(t *testing.T) {
	known := pod("known", "")
	known.Namespace = "default"
	client := fake.NewClientset(known)
	factory := informers.NewSharedInformerFactory(client, 0)
	tokenGetter(factory)
	factory.StartWithContext(t.Context())
	if synced := factory.WaitForCacheSyncWithContext(t.Context()); synced.Err != nil {
		t.Fatal(synced.Err)
	}
	asked := func() (n int) {
		for _, action := range client.Actions() {
			if action.GetResource().Resource == "pods" {
				n++
			}
		}
		return n
	}
	if n := asked(); n != 0 {
		t.Errorf("%d requests for pods before anybody asks", n)
	}
	for namespace, want := range map[string]int{"default": 1, "other": 0} {
		if pods, err := factory.Core().V1().Pods().Lister().Pods(namespace).List(labels.Everything()); err != nil || len(pods) != want {
			t.Errorf("%d pods in namespace %s, not %d, error %v", len(pods), namespace, want, err)
		}
	}
	if n := asked(); n != 2 {
		t.Errorf("%d requests for pods for two lists", n)
	}
	for _, action := range client.Actions() {
		// The API server's watch cache may lack a pod that was created just before.
		if list, ok := action.(clienttesting.ListActionImpl); ok && list.GetResource().Resource == "pods" && list.ListOptions.ResourceVersion != "" {
			t.Errorf("a list of pods may be older than the request: resource version %q", list.ListOptions.ResourceVersion)
		}
	}
}

// warnings keeps the warnings of the API server.
type warnings []string

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _ string, message string) {
	*w = append(*w, message)
}

// TestPodSecurityKnowsTheNamespacesPods checks that the answer to a change of a namespace names the pods that violate its new level.
func TestPodSecurityKnowsTheNamespacesPods(t *testing.T) {
	config := sharedControlPlane(t).ClientConfig()
	var warned warnings
	config.WarningHandlerWithContext = &warned
	client := clustertest.Client(t, config)
	violates(t, client, "secured", "too-free")

	patch := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	if _, err := client.CoreV1().Namespaces().Patch(t.Context(), "secured", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(warned, "\n"); !strings.Contains(all, "too-free") {
		t.Errorf("no warning names the pod: %q", all)
	}
}

// TestTokenEndsWithItsPod checks that a token that is bound to a pod is accepted as long as the pod exists.
func TestTokenEndsWithItsPod(t *testing.T) {
	controlPlane := sharedControlPlane(t)
	client := clustertest.Client(t, controlPlane.ClientConfig())
	pod := violates(t, client, "tokens", "holder")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "holder"}}
	if _, err := client.CoreV1().ServiceAccounts("tokens").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token := func() string {
		made, err := client.CoreV1().ServiceAccounts("tokens").CreateToken(t.Context(), account.Name, &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return made.Status.Token
	}
	review := func(token string) error {
		config := rest.AnonymousClientConfig(kubeconfigOf(t, controlPlane))
		config.BearerToken = token
		_, err := clustertest.Client(t, config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		return err
	}
	// The API server trusts a token that it has checked for a while, so each is used once.
	before, after := token(), token()
	if err := review(before); apierrors.IsUnauthorized(err) {
		t.Errorf("while the pod exists: %v", err)
	}
	if err := client.CoreV1().Pods("tokens").Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := review(after); !apierrors.IsUnauthorized(err) {
		t.Errorf("after the pod's end: %v, want unauthorized", err)
	}
}

// violates creates a pod, which only the level privileged allows, in a new namespace.
func violates(t *testing.T, client kubernetes.Interface, namespace, name string) *corev1.Pod {
	t.Helper()
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := pod(name, "")
	pod.Spec.ServiceAccountName = name
	created, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}
