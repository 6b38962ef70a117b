// Package clients uses a simulator as well-known programs do, through their libraries. It is a
// module of its own, so that these libraries do not choose versions for the simulator. The test
// TestOtherPrograms of package systemtest runs it and sets KUBECONFIG.
package clients

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/descheduler/cmd/descheduler/app/options"
	"sigs.k8s.io/descheduler/pkg/descheduler"
	"sigs.k8s.io/descheduler/pkg/features"
)

const patience = 2 * time.Minute

func newClient(t *testing.T) (client kubernetes.Interface, kubeconfig string) {
	t.Helper()
	kubeconfig = os.Getenv("KUBECONFIG")
	if kubeconfig == "" {
		t.Fatal("KUBECONFIG names no simulator; run TestOtherPrograms of package systemtest")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err = kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client, kubeconfig
}

func createNode(t *testing.T, client kubernetes.Interface, name, pool string) {
	t.Helper()
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("20")}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": pool}}, Status: corev1.NodeStatus{Capacity: room, Allocatable: room}}
	if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, condition func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = condition(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v", what, last)
	}
}

// shop is a chart of a Deployment with as many replicas as its values say.
func shop() *chart.Chart {
	return &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "shop", Version: "1.0.0"},
		Values:   map[string]any{"replicas": 1},
		Templates: []*common.File{{Name: "templates/deployment.yaml", Data: []byte(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {nodeSelector: {pool: helm}, containers: [{name: c, image: example.com/shop}]}
`)}},
	}
}

// TestHelm installs a chart, upgrades it, rolls it back and uninstalls it. Helm waits each time until
// the workload is ready.
func TestHelm(t *testing.T) {
	client, kubeconfig := newClient(t)
	createNode(t, client, "helm-node", "helm")
	namespace := "helm"
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = &kubeconfig, &namespace
	config := action.NewConfiguration()
	if err := config.Init(flags, namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	replicas := func(want int32) {
		t.Helper()
		d, err := client.AppsV1().Deployments(namespace).Get(t.Context(), "release", metav1.GetOptions{})
		if err != nil || d.Status.ReadyReplicas != want || *d.Spec.Replicas != want {
			t.Fatalf("want %d replicas: %v, %v", want, d, err)
		}
	}

	install := action.NewInstall(config)
	install.ReleaseName, install.Namespace, install.CreateNamespace = "release", namespace, true
	install.WaitStrategy, install.Timeout = kube.StatusWatcherStrategy, patience
	if _, err := install.RunWithContext(t.Context(), shop(), nil); err != nil {
		t.Fatal(err)
	}
	replicas(1)

	upgrade := action.NewUpgrade(config)
	upgrade.Namespace, upgrade.WaitStrategy, upgrade.Timeout = namespace, kube.StatusWatcherStrategy, patience
	if _, err := upgrade.RunWithContext(t.Context(), "release", shop(), map[string]any{"replicas": 3}); err != nil {
		t.Fatal(err)
	}
	replicas(3)

	rollback := action.NewRollback(config)
	rollback.Version, rollback.WaitStrategy, rollback.Timeout = 1, kube.StatusWatcherStrategy, patience
	if err := rollback.Run("release"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "there is one replica again", func(ctx context.Context) error {
		d, err := client.AppsV1().Deployments(namespace).Get(ctx, "release", metav1.GetOptions{})
		if err == nil && d.Status.Replicas != 1 {
			err = fmt.Errorf("there are %d", d.Status.Replicas)
		}
		return err
	})

	uninstall := action.NewUninstall(config)
	uninstall.WaitStrategy, uninstall.Timeout = kube.StatusWatcherStrategy, patience
	if _, err := uninstall.Run("release"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AppsV1().Deployments(namespace).Get(t.Context(), "release", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after uninstalling: %v", err)
	}
}

const policy = `
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: duplicates
  pluginConfig:
  - {name: DefaultEvictor, args: {nodeFit: false}}
  - {name: RemoveDuplicates, args: {namespaces: {include: [deschedule]}}}
  plugins:
    balance: {enabled: [RemoveDuplicates]}
`

// TestDescheduler: two pods of a Deployment are on the only node. After another node has come, the
// descheduler evicts one of them, and the scheduler places its successor there.
func TestDescheduler(t *testing.T) {
	client, kubeconfig := newClient(t)
	const namespace = "deschedule"
	createNode(t, client, "first", "deschedule")
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	two, labels := int32(2), map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: &two, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"pool": "deschedule"}, Containers: []corev1.Container{{Name: "c", Image: "example.com/web"}},
		}},
	}}
	if _, err := client.AppsV1().Deployments(namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	on := func(ctx context.Context) (map[string]int, error) {
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		running := map[string]int{}
		for _, pod := range pods.Items {
			if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
				running[pod.Spec.NodeName]++
			}
		}
		return running, nil
	}
	eventually(t, "both pods run on the only node", func(ctx context.Context) error {
		running, err := on(ctx)
		if err == nil && running["first"] != 2 {
			err = fmt.Errorf("running: %v", running)
		}
		return err
	})
	createNode(t, client, "second", "deschedule")
	eventually(t, "the other node is ready", func(ctx context.Context) error {
		node, err := client.CoreV1().Nodes().Get(ctx, "second", metav1.GetOptions{})
		if err == nil && len(node.Spec.Taints) > 0 {
			err = fmt.Errorf("its taints are %v", node.Spec.Taints)
		}
		return err
	})

	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := options.NewDeschedulerServer()
	if err != nil {
		t.Fatal(err)
	}
	server.PolicyConfigFile, server.ClientConnection.Kubeconfig = file, kubeconfig
	server.DefaultFeatureGates = features.DefaultMutableFeatureGate
	descheduler.SetupPlugins()
	if err := descheduler.Run(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	eventually(t, "each node has a pod", func(ctx context.Context) error {
		running, err := on(ctx)
		if err == nil && (running["first"] != 1 || running["second"] != 1) {
			err = fmt.Errorf("running: %v", running)
		}
		return err
	})
}
