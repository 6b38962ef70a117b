package mirror

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/elsewhere/redact"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestAClusterIsFollowed follows a small cluster through a day.
func TestAClusterIsFollowed(t *testing.T) {
	source, here := twoClusters(t)
	furnish(t, source)
	front := newFront(t, source)
	// Objects of the simulated cluster's own.
	here.createNode(t, node("own").Obj())
	here.createNode(t, node("n3").Label("made", "here").Obj())
	s := follow(t, front.source(t, SourceOptions{}), here, SyncOptions{hold: 300 * time.Millisecond})

	t.Run("what scheduling depends on is here", func(t *testing.T) {
		n1 := must[*corev1.Node](t)(here.client.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{}))
		if diff := cmp.Diff("west", n1.Labels[corev1.LabelTopologyZone]); diff != "" {
			t.Errorf("the zone (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(resource.MustParse("8"), n1.Status.Allocatable[corev1.ResourceCPU]); diff != "" {
			t.Errorf("the processors (-want +got):\n%s", diff)
		}
		web := here.hasPod(t, "shop", "web", "n1")
		if *web.Spec.Priority != 1000 {
			t.Errorf("the pod's priority is %d", *web.Spec.Priority)
		}
		there := must[*corev1.Pod](t)(source.client.CoreV1().Pods("shop").Get(t.Context(), "web", metav1.GetOptions{}))
		clustertest.Eventually(t, "it runs since it ran there", func(ctx context.Context) (bool, error) {
			p, err := here.client.CoreV1().Pods("shop").Get(ctx, "web", metav1.GetOptions{})
			return err == nil && p.Status.Phase == corev1.PodRunning && p.Status.StartTime.Equal(there.Status.StartTime), err
		})
		here.hasPod(t, "shop", "pending", "")
		clustertest.Eventually(t, "the claim is bound", func(ctx context.Context) (bool, error) {
			claim, err := here.client.CoreV1().PersistentVolumeClaims("shop").Get(ctx, "data", metav1.GetOptions{})
			return err == nil && claim.Status.Phase == corev1.ClaimBound && claim.Spec.VolumeName == "volume", err
		})
		budget := must[*policyv1.PodDisruptionBudget](t)(here.client.PolicyV1().PodDisruptionBudgets("shop").Get(t.Context(), "web", metav1.GetOptions{}))
		if diff := cmp.Diff(policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: budget.Spec.Selector}, budget.Spec); diff != "" {
			t.Errorf("the budget (-want +got):\n%s", diff)
		}
	})

	t.Run("nothing else is", func(t *testing.T) {
		if _, err := here.client.CoreV1().Secrets("shop").Get(t.Context(), "password", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the secret: %v", err)
		}
		deployments := must[int](t)(countDeployments(t.Context(), here))
		if deployments != 0 {
			t.Errorf("there are %d deployments", deployments)
		}
	})

	t.Run("what was made here stays", func(t *testing.T) {
		n3 := must[*corev1.Node](t)(here.client.CoreV1().Nodes().Get(t.Context(), "n3", metav1.GetOptions{}))
		if n3.Labels["made"] != "here" {
			t.Errorf("the node that was made here has labels %v", n3.Labels)
		}
		if message := s.Status().Message; !strings.Contains(message, "1 objects of the source have the names") {
			t.Errorf("the status says %q", message)
		}
	})

	t.Run("a change is here within a second", func(t *testing.T) {
		begin := time.Now()
		patchNode(t, source, "n1", `{"metadata":{"labels":{"disk":"ssd"}},"spec":{"taints":[{"key":"team","value":"a","effect":"NoSchedule"}]}}`)
		clustertest.Eventually(t, "label and taint are here", func(ctx context.Context) (bool, error) {
			n, err := here.client.CoreV1().Nodes().Get(ctx, "n1", metav1.GetOptions{})
			return err == nil && n.Labels["disk"] == "ssd" && hasTaint(n, "team"), err
		})
		took(t, "a node's change", begin)

		begin = time.Now()
		source.createPod(t, pod("shop", "fresh", "n2"))
		here.hasPod(t, "shop", "fresh", "n2")
		took(t, "a pod", begin)

		begin = time.Now()
		bind(t, source, "shop", "pending", "n2")
		here.hasPod(t, "shop", "pending", "n2")
		took(t, "a binding", begin)

		begin = time.Now()
		source.deletePod(t, "shop", "fresh")
		here.lacksPod(t, "shop", "fresh")
		took(t, "a deletion", begin)
	})

	t.Run("what a controller here does about a node is not fought over", func(t *testing.T) {
		patchNode(t, here, "n2", `{"spec":{"unschedulable":true}}`)
		patchNode(t, source, "n2", `{"metadata":{"labels":{"seen":"yes"}}}`)
		clustertest.Eventually(t, "the label is here", func(ctx context.Context) (bool, error) {
			n, err := here.client.CoreV1().Nodes().Get(ctx, "n2", metav1.GetOptions{})
			return err == nil && n.Labels["seen"] == "yes", err
		})
		n2 := must[*corev1.Node](t)(here.client.CoreV1().Nodes().Get(t.Context(), "n2", metav1.GetOptions{}))
		if !n2.Spec.Unschedulable {
			t.Error("the node was cordoned here, and is not any more")
		}
	})

	t.Run("heartbeats are not written", func(t *testing.T) {
		before := must[*corev1.Node](t)(here.client.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{}))
		there := must[*corev1.Node](t)(source.client.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{}))
		there.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(time.Now().Add(time.Minute))
		must[*corev1.Node](t)(source.client.CoreV1().Nodes().UpdateStatus(t.Context(), there, metav1.UpdateOptions{}))
		patchNode(t, source, "n1", `{"metadata":{"labels":{"after":"the-heartbeat"}}}`)
		clustertest.Eventually(t, "what came after it is here", func(ctx context.Context) (bool, error) {
			n, err := here.client.CoreV1().Nodes().Get(ctx, "n1", metav1.GetOptions{})
			return err == nil && n.Labels["after"] != "", err
		})
		after := must[*corev1.Node](t)(here.client.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{}))
		if diff := cmp.Diff(before.Status.Conditions, after.Status.Conditions); diff != "" {
			t.Errorf("the heartbeat was written (-before +after):\n%s", diff)
		}
	})

	t.Run("what was deleted here stays deleted", func(t *testing.T) {
		here.deletePod(t, "shop", "web")
		patch := []byte(`{"metadata":{"labels":{"changed":"there"}}}`)
		must[*corev1.Pod](t)(source.client.CoreV1().Pods("shop").Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}))
		source.createPod(t, pod("shop", "later", "n1"))
		here.hasPod(t, "shop", "later", "n1")
		if node, is := here.pods(t, "shop")["web"]; is {
			t.Errorf("it is back, on %s", node)
		}
	})

	t.Run("the source was only read, and no secret", func(t *testing.T) {
		onlyRead(t, front)
	})
}

// TestTheSourceGoesAway: an outage of the source neither loses nor duplicates objects.
func TestTheSourceGoesAway(t *testing.T) {
	clustertest.Slow(t)
	source, here := twoClusters(t)
	furnish(t, source)
	source.createPod(t, pod("shop", "doomed", "n1"))
	front := newFront(t, source)
	s := follow(t, front.source(t, SourceOptions{}), here, SyncOptions{hold: 300 * time.Millisecond})
	here.hasPod(t, "shop", "doomed", "n1")
	web := here.hasPod(t, "shop", "web", "n1")
	here.createNode(t, node("own").Obj())

	front.goAway()
	waitState(t, s, Stale)
	here.hasPod(t, "shop", "doomed", "n1")
	source.deletePod(t, "shop", "doomed")
	source.createPod(t, pod("shop", "meanwhile", "n2"))
	patchNode(t, source, "n2", `{"metadata":{"labels":{"meanwhile":"yes"}}}`)

	front.come(t)
	begin := time.Now()
	waitState(t, s, Live)
	t.Logf("live again after %s", time.Since(begin).Round(time.Millisecond))
	here.lacksPod(t, "shop", "doomed")
	here.hasPod(t, "shop", "meanwhile", "n2")
	if again := here.hasPod(t, "shop", "web", "n1"); again.UID != web.UID {
		t.Error("a pod that was there all the time is another one")
	}
	if _, err := here.client.CoreV1().Nodes().Get(t.Context(), "own", metav1.GetOptions{}); err != nil {
		t.Errorf("the node that was made here: %v", err)
	}
	if diff := cmp.Diff(source.pods(t, "shop"), here.pods(t, "shop")); diff != "" {
		t.Errorf("the pods (-there +here):\n%s", diff)
	}
}

// TestTheSourceMoves: the mirror keeps following a source that comes back at another address, once the
// kubeconfig has that address. Switching the kubeconfig's current context changes nothing.
func TestTheSourceMoves(t *testing.T) {
	clustertest.Slow(t)
	source, here := twoClusters(t)
	furnish(t, source)
	old := newFront(t, source)
	s := old.source(t, SourceOptions{})
	followed := follow(t, s, here, SyncOptions{hold: 300 * time.Millisecond})
	web := here.hasPod(t, "shop", "web", "n1")
	here.deletePod(t, "shop", "pending")
	old.goAway()
	waitState(t, followed, Stale)

	source.createPod(t, pod("shop", "meanwhile", "n2"))
	moved := newFront(t, source)
	moved.writeKubeconfig(t, s.options.Kubeconfig)
	here.hasPod(t, "shop", "meanwhile", "n2")
	waitState(t, followed, Live)
	if again := here.hasPod(t, "shop", "web", "n1"); again.UID != web.UID {
		t.Error("a pod that was there all the time is another one")
	}
	if node, is := here.pods(t, "shop")["pending"]; is {
		t.Errorf("a pod that was deleted here is back, on %q", node)
	}

	data := must[[]byte](t)(os.ReadFile(s.options.Kubeconfig))
	switched := strings.Replace(string(data), "current-context: production", "current-context: elsewhere", 1)
	if err := os.WriteFile(s.options.Kubeconfig, []byte(switched), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.reload() {
		t.Error("the current context was switched, and the mirror with it")
	}
}

// TestTheSimulatorRestarts: another mirror continues where the first ended.
func TestTheSimulatorRestarts(t *testing.T) {
	clustertest.Slow(t)
	source, here := twoClusters(t)
	furnish(t, source)
	source.createPod(t, pod("shop", "doomed", "n1"))
	front := newFront(t, source)
	first := follow(t, front.source(t, SourceOptions{}), here, SyncOptions{hold: 300 * time.Millisecond})
	here.hasPod(t, "shop", "doomed", "n1")
	web := here.hasPod(t, "shop", "web", "n1")
	here.hasPod(t, "shop", "pending", "")
	clustertest.Stop(t, first)

	source.deletePod(t, "shop", "doomed")
	source.deletePod(t, "shop", "pending")
	source.createPod(t, pod("shop", "pending", "n2")) // another one of that name
	patchNode(t, source, "n1", `{"metadata":{"labels":{"rack":null}},"spec":{"unschedulable":true}}`)
	patchNode(t, source, "n2", `{"spec":{"taints":null}}`)
	here.createNode(t, node("own").Obj())

	s := follow(t, front.source(t, SourceOptions{}), here, SyncOptions{hold: 300 * time.Millisecond})
	here.lacksPod(t, "shop", "doomed")
	here.hasPod(t, "shop", "pending", "n2")
	if again := here.hasPod(t, "shop", "web", "n1"); again.UID != web.UID {
		t.Error("a pod that was there all the time is another one")
	}
	clustertest.Eventually(t, "the nodes are as they are there", func(ctx context.Context) (bool, error) {
		n1, err := here.client.CoreV1().Nodes().Get(ctx, "n1", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		n2, err := here.client.CoreV1().Nodes().Get(ctx, "n2", metav1.GetOptions{})
		_, rack := n1.Labels["rack"]
		return err == nil && n1.Spec.Unschedulable && !rack && !hasTaint(n2, "team"), err
	})
	if _, err := here.client.CoreV1().Nodes().Get(t.Context(), "own", metav1.GetOptions{}); err != nil {
		t.Errorf("the node that was made here: %v", err)
	}
	if message := s.Status().Message; message != "" {
		t.Errorf("the status says %q", message)
	}
}

func TestPodsThatAreScheduledHere(t *testing.T) {
	source, here := twoClusters(t)
	furnish(t, source)
	front := newFront(t, source)
	follow(t, front.source(t, SourceOptions{}), here, SyncOptions{Reschedule: true})
	here.hasPod(t, "shop", "web", "")
	bind(t, here, "shop", "web", "n2")

	bind(t, source, "shop", "pending", "n1")
	patch := []byte(`{"metadata":{"labels":{"changed":"there"}}}`)
	for _, name := range []string{"web", "pending"} {
		must[*corev1.Pod](t)(source.client.CoreV1().Pods("shop").Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}))
		clustertest.Eventually(t, "the label is here", func(ctx context.Context) (bool, error) {
			p, err := here.client.CoreV1().Pods("shop").Get(ctx, name, metav1.GetOptions{})
			return err == nil && p.Labels["changed"] != "", err
		})
	}
	if diff := cmp.Diff(map[string]string{"web": "n2", "pending": ""}, here.pods(t, "shop")); diff != "" {
		t.Errorf("the nodes of the pods (-want +got):\n%s", diff)
	}
	// A pod that has finished in the source takes no resources here.
	p := must[*corev1.Pod](t)(source.client.CoreV1().Pods("shop").Get(t.Context(), "web", metav1.GetOptions{}))
	p.Status.Phase = corev1.PodSucceeded
	must[*corev1.Pod](t)(source.client.CoreV1().Pods("shop").UpdateStatus(t.Context(), p, metav1.UpdateOptions{}))
	clustertest.Eventually(t, "it has ended here", func(ctx context.Context) (bool, error) {
		p, err := here.client.CoreV1().Pods("shop").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && p.Status.Phase == corev1.PodSucceeded && p.Spec.NodeName == "n2", err
	})
}

func TestASelection(t *testing.T) {
	source, here := twoClusters(t)
	furnish(t, source)
	source.createNamespace(t, "bank")
	other := pod("bank", "teller", "n1")
	other.Labels["app"] = "teller"
	source.createPod(t, other)
	source.createPod(t, pod("bank", "clerk", "n1"))
	source.createPod(t, pod("default", "aside", "n1"))
	front := newFront(t, source)
	follow(t, front.source(t, SourceOptions{Selection: Selection{Namespaces: []string{"bank"}, Pods: "app!=teller"}}), here, SyncOptions{})
	here.hasPod(t, "bank", "clerk", "n1")
	if diff := cmp.Diff(map[string]string{"clerk": "n1"}, here.pods(t, "")); diff != "" {
		t.Errorf("the pods (-want +got):\n%s", diff)
	}
	if _, err := here.client.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the other namespace: %v", err)
	}
	source.createPod(t, pod("bank", "second", "n2"))
	here.hasPod(t, "bank", "second", "n2")
}

func TestARedactedMirror(t *testing.T) {
	source, here := twoClusters(t)
	furnish(t, source)
	front := newFront(t, source)
	r := redact.New([]byte("for a test"))
	follow(t, front.source(t, SourceOptions{Redactor: r}), here, SyncOptions{hold: 300 * time.Millisecond})
	source.createPod(t, pod("shop", "fresh", "n2"))
	clustertest.Eventually(t, "three pods are here", func(context.Context) (bool, error) { return len(here.pods(t, "")) == 3, nil })
	source.deletePod(t, "shop", "fresh")
	clustertest.Eventually(t, "two pods are here", func(context.Context) (bool, error) { return len(here.pods(t, "")) == 2, nil })

	nodes := must[*corev1.NodeList](t)(here.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}))
	pods := must[*corev1.PodList](t)(here.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}))
	claims := must[*corev1.PersistentVolumeClaimList](t)(here.client.CoreV1().PersistentVolumeClaims("").List(t.Context(), metav1.ListOptions{}))
	namespaces := must[*corev1.NamespaceList](t)(here.client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}))
	for _, found := range []any{nodes, pods, claims, namespaces} {
		data := must[[]byte](t)(json.Marshal(found))
		for _, word := range []string{"shop", "registry.example", `"n1"`, "west", `"web"`, "rack"} {
			if strings.Contains(string(data), word) {
				t.Errorf("%T has %s: %s", found, word, regexp.MustCompile(`.{0,60}`+word+`.{0,60}`).FindString(string(data)))
			}
		}
	}
	if len(nodes.Items) != 3 || len(pods.Items) != 2 {
		t.Fatalf("there are %d nodes and %d pods", len(nodes.Items), len(pods.Items))
	}
	on := map[string]bool{}
	for _, n := range nodes.Items {
		on[n.Name] = true
	}
	for _, p := range pods.Items {
		if p.Spec.NodeName != "" && !on[p.Spec.NodeName] {
			t.Errorf("a pod is on %s, which is not there", p.Spec.NodeName)
		}
	}
}

// TestReadingOnce reads a cluster for an import, except for kinds that it may not read.
func TestReadingOnce(t *testing.T) {
	source, here := twoClusters(t)
	furnish(t, source)
	front := newFront(t, source)
	front.forbid = "/api/v1/services"
	kinds := map[string]int{}
	problems, err := front.source(t, SourceOptions{}).Read(t.Context(), here.config, nil, func(u *unstructured.Unstructured) error {
		kinds[u.GetKind()]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"Namespace": 1, "Node": 3, "Pod": 2, "PriorityClass": 1, "StorageClass": 1, "PersistentVolume": 1, "PersistentVolumeClaim": 1, "PodDisruptionBudget": 1,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("what was read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Service is left out: the kubeconfig does not allow listing it"}, problems); diff != "" {
		t.Errorf("the problems (-want +got):\n%s", diff)
	}
	onlyRead(t, front)

	front.goAway()
	_, err = front.source(t, SourceOptions{}).Read(t.Context(), here.config, nil, func(*unstructured.Unstructured) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("a source that is not there: %v", err)
	}
}

// TestAThousandNodes measures the first round, and the delay of a change after it.
func TestAThousandNodes(t *testing.T) {
	clustertest.Slow(t) // it takes half a minute
	const nodes, pods = measuredNodes, measuredPods
	source, here := twoClusters(t)
	inParallel(t, nodes, func(i int) { source.createNode(t, node(fmt.Sprintf("node-%d", i)).Obj()) })
	inParallel(t, pods, func(i int) {
		source.createPod(t, pod("default", fmt.Sprintf("pod-%d", i), fmt.Sprintf("node-%d", i%nodes)))
	})
	front := newFront(t, source)
	begin, busy := time.Now(), processorTime(t)
	s := NewSync(SyncOptions{Source: front.source(t, SourceOptions{QPS: DefaultQPS}), Config: here.config})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { clustertest.Stop(t, s) })
	waitStateWithin(t, 10*clustertest.Timeout, s, Live) // it takes minutes on a busy machine
	t.Logf("the first round of %d nodes and %d pods took %s, and %s of processors for both clusters",
		nodes, pods, time.Since(begin).Round(time.Millisecond), (processorTime(t) - busy).Round(time.Millisecond))
	if diff := cmp.Diff(source.pods(t, "default"), here.pods(t, "default")); diff != "" {
		t.Errorf("the pods (-there +here):\n%s", diff)
	}
	begin = time.Now()
	source.createPod(t, pod("default", "fresh", "node-7"))
	here.hasPod(t, "default", "fresh", "node-7")
	took(t, "a pod", begin)
	onlyRead(t, front)
	paged(t, front)
}

// furnish makes a small cluster: nodes, a running pod, an unschedulable pod, and the objects that
// they refer to.
func furnish(t testing.TB, c *cluster) {
	t.Helper()
	ctx, create := t.Context(), metav1.CreateOptions{}
	c.createNamespace(t, "shop")
	c.createNode(t, node("n1").Label(corev1.LabelTopologyZone, "west").Label("rack", "r1").Obj())
	c.createNode(t, node("n2").Taints([]corev1.Taint{{Key: "team", Value: "b", Effect: corev1.TaintEffectPreferNoSchedule}}).Obj())
	c.createNode(t, node("n3").Obj())
	must[*corev1.Secret](t)(c.client.CoreV1().Secrets("shop").Create(ctx,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: map[string]string{"password": "hunter2"}}, create))
	must[*schedulingv1.PriorityClass](t)(c.client.SchedulingV1().PriorityClasses().Create(ctx,
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}, create))
	must[*storagev1.StorageClass](t)(c.client.StorageV1().StorageClasses().Create(ctx,
		st.MakeStorageClass().Name("local").Provisioner("kubernetes.io/no-provisioner").VolumeBindingMode(storagev1.VolumeBindingImmediate).Obj(), create))
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	volume := st.MakePersistentVolume().Name("volume").StorageClassName("local").AccessModes([]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}).
		Capacity(size).HostPathVolumeSource(&corev1.HostPathVolumeSource{Path: "/volume"}).Obj()
	must[*corev1.PersistentVolume](t)(c.client.CoreV1().PersistentVolumes().Create(ctx, volume, create))
	claim := st.MakePersistentVolumeClaim().Name("data").Namespace("shop").StorageClassName(ptr.To("local")).
		AccessModes([]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}).Resources(corev1.VolumeResourceRequirements{Requests: size}).Obj()
	must[*corev1.PersistentVolumeClaim](t)(c.client.CoreV1().PersistentVolumeClaims("shop").Create(ctx, claim, create))
	clustertest.Eventually(t, "the claim is bound in the source", func(ctx context.Context) (bool, error) {
		claim, err := c.client.CoreV1().PersistentVolumeClaims("shop").Get(ctx, "data", metav1.GetOptions{})
		return err == nil && claim.Status.Phase == corev1.ClaimBound, err
	})
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: ptr.To(intstr.FromString("50%")), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}
	budget = must[*policyv1.PodDisruptionBudget](t)(c.client.PolicyV1().PodDisruptionBudgets("shop").Create(ctx, budget, create))
	budget.Status.DesiredHealthy, budget.Status.ObservedGeneration = 1, 1
	must[*policyv1.PodDisruptionBudget](t)(c.client.PolicyV1().PodDisruptionBudgets("shop").UpdateStatus(ctx, budget, metav1.UpdateOptions{}))

	web := pod("shop", "web", "n1")
	web.Spec.PriorityClassName = "high"
	web.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	web.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "of-the-source"}}
	c.createPod(t, web)
	pending := c.createPod(t, pod("shop", "pending", ""))
	pending.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	must[*corev1.Pod](t)(c.client.CoreV1().Pods("shop").UpdateStatus(ctx, pending, metav1.UpdateOptions{}))
}

func countDeployments(ctx context.Context, c *cluster) (int, error) {
	list, err := c.client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

func patchNode(t testing.TB, c *cluster, name, patch string) {
	t.Helper()
	must[*corev1.Node](t)(c.client.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}))
}

func bind(t testing.TB, c *cluster, namespace, pod, node string) {
	t.Helper()
	err := c.client.CoreV1().Pods(namespace).Bind(t.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: namespace}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func hasTaint(n *corev1.Node, key string) bool {
	for _, taint := range n.Spec.Taints {
		if taint.Key == key {
			return true
		}
	}
	return false
}

// took checks a promised delay, with some slack for a busy machine.
func took(t testing.TB, what string, since time.Time) {
	t.Helper()
	d := time.Since(since)
	t.Logf("%s was here after %s", what, d.Round(time.Millisecond))
	if d > 5*time.Second {
		t.Errorf("%s was here after %s", what, d)
	}
}

// onlyRead checks that every request to the source was allowed.
func onlyRead(t testing.TB, f *front) {
	t.Helper()
	seen := f.seen()
	if len(seen) < 20 {
		t.Errorf("the source has seen %d requests only", len(seen))
	}
	for _, request := range seen {
		if !strings.HasPrefix(request, "GET /") || strings.Contains(request, "secret") {
			t.Errorf("the source was sent %s", request)
		}
	}
}

// paged checks that every list was requested in pages.
func paged(t testing.TB, f *front) {
	t.Helper()
	pages := 0
	for _, request := range f.seen() {
		if strings.Contains(request, "/v1/pods?") && !isWatch(request) {
			pages++
			if !strings.Contains(request, "limit=500") {
				t.Errorf("pods were asked for without a limit: %s", request)
			}
		}
	}
	if want := (measuredPods + pageSize - 1) / pageSize; pages < want {
		t.Errorf("%d pods came in %d pages, want %d", measuredPods, pages, want)
	}
}

// processorTime returns the CPU time of this process, which says more than elapsed time on a busy
// machine.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// inParallel calls f with 0 to n-1.
func inParallel(t testing.TB, n int, f func(int)) {
	t.Helper()
	next := make(chan int)
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range next {
				f(i)
			}
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	for range 8 {
		<-done
	}
}
