package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/autoscaling/live"
	"kube-scheduler-simulator/simulator/server"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const (
	karpenterPath = "/api/v1/karpenter"
	noDelay       = `"registrationDelay": "0s"`
)

// nodePool buys small nodes of both capacity types in two zones, and lets them go at once when they are empty.
const nodePool = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %s}
spec:
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 0s}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [%s]}
      - {key: topology.kubernetes.io/zone, operator: In, values: [zone-a, zone-b]}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
`

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      nodeSelector: {karpenter.sh/nodepool: %[3]s}
      containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: "1500m"}}}]
`

// TestKarpenterActs needs a simulator of its own, because it resets the cluster and Karpenter looks at all pods.
func TestKarpenterActs(t *testing.T) {
	clustertest.Slow(t)
	s := launch(t, DefaultOptions())
	t.Run("bad settings are refused", func(t *testing.T) { badKarpenter(t, s) })
	t.Run("another Karpenter keeps it out", func(t *testing.T) { anotherKarpenter(t, s) })
	t.Run("nodes come and go", func(t *testing.T) { nodesComeAndGo(t, s) })
	t.Run("the cloud fails", func(t *testing.T) { cloudFails(t, s) })
	t.Run("a spot node is interrupted", func(t *testing.T) { spotInterrupted(t, s) })
	t.Run("it gives way to another Karpenter", func(t *testing.T) { givesWay(t, s) })
	t.Run("its nodes are exported and imported", func(t *testing.T) { nodesTransferred(t, s) })
	t.Run("off, nothing hangs", func(t *testing.T) { nothingHangs(t, s) })
}

// karpenter turns Karpenter on or off, and returns its answer.
func (s *running) karpenter(t *testing.T, settings string) (answer struct {
	server.KarpenterState
	Log []live.Entry
}) {
	t.Helper()
	code, body := s.send(t, http.MethodPut, karpenterPath, settings)
	if code != http.StatusOK {
		t.Fatalf("%s: %d %s", settings, code, body)
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// says waits for an entry of the log that is as wanted.
func (s *running) says(t *testing.T, what string, is func(live.Entry) bool) live.Entry {
	t.Helper()
	var found live.Entry
	clustertest.Eventually(t, what, func(context.Context) (bool, error) {
		var answer struct{ Log []live.Entry }
		s.get(t, karpenterPath, &answer)
		at := slices.IndexFunc(answer.Log, is)
		if at >= 0 {
			found = answer.Log[at]
		}
		return at >= 0, nil
	})
	return found
}

func (s *running) refusesKarpenter(t *testing.T, path, method, body string, want int, message string) {
	t.Helper()
	code, answer := s.send(t, method, path, body)
	if code != want || !strings.Contains(string(answer), message) {
		t.Errorf("%s: %d %s, want %d and %q", body, code, answer, want, message)
	}
}

func badKarpenter(t *testing.T, s *running) {
	for body, message := range map[string]string{
		`{"on": true, "registrationDelay": "1h"}`: "is not between 0s and 10m0s",
		`{"on": true, "noCapacity": [{}]}`:        "noCapacity[0] names no zone, instanceType or capacityType",
		`{"on": true, "launchFail": "x"}`:         "launchFail",
	} {
		s.refusesKarpenter(t, karpenterPath, http.MethodPut, body, http.StatusBadRequest, message)
	}
	s.refusesKarpenter(t, karpenterPath+"/interruptions", http.MethodPost, `{}`, http.StatusBadRequest, "node is missing")
	s.refusesKarpenter(t, karpenterPath+"/interruptions", http.MethodPost, `{"node": "n", "noticeSeconds": -1}`, http.StatusBadRequest, "is not between 0 and 3600")
	s.refusesKarpenter(t, karpenterPath+"/interruptions", http.MethodPost, `{"node": "n"}`, http.StatusConflict, "Karpenter is off")
}

func anotherKarpenter(t *testing.T, s *running) {
	end := s.leased(t)
	s.refusesKarpenter(t, karpenterPath, http.MethodPut, `{"on": true}`, http.StatusConflict, "Karpenter itself runs in this cluster: it holds the Lease kube-system/karpenter-leader-election")
	end()

	k := newKubectl(t, s)
	k.apply(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodepools.karpenter.sh}
spec:
  group: karpenter.sh
  scope: Cluster
  names: {kind: NodePool, plural: nodepools, singular: nodepool, listKind: NodePoolList}
  versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`)
	s.refusesKarpenter(t, karpenterPath, http.MethodPut, `{"on": true}`, http.StatusConflict, "The cluster's definition nodepools.karpenter.sh is that of another Karpenter: it serves [v1beta1]")
	var state server.KarpenterState
	if s.get(t, karpenterPath, &state); state.State != server.KarpenterOff || state.Settings.On {
		t.Errorf("after a refusal: %+v", state)
	}
	k.do(t, "delete", "crd", "nodepools.karpenter.sh")
}

// bought returns Karpenter's nodes of a NodePool, by name.
func (s *running) bought(t *testing.T, pool string) map[string]*v1.Node {
	t.Helper()
	list, err := s.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "karpenter.sh/nodepool=" + pool})
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]*v1.Node{}
	for i := range list.Items {
		nodes[list.Items[i].Name] = &list.Items[i]
	}
	return nodes
}

func nodesComeAndGo(t *testing.T, s *running) {
	if answer := s.karpenter(t, `{"on": true, `+noDelay+`}`); answer.State != server.KarpenterOn {
		t.Fatalf("%+v", answer.KarpenterState)
	}
	k := newKubectl(t, s)
	k.apply(t, fmt.Sprintf(nodePool, "come", "on-demand"))
	k.apply(t, fmt.Sprintf(deployment, "come", 4, "come"))
	k.do(t, "rollout", "status", "deployment", "come", "--timeout=60s")
	nodes := s.bought(t, "come")
	for _, name := range []string{"come-1", "come-2"} {
		node := nodes[name]
		if node == nil {
			t.Fatalf("the nodes are %v", nodes)
		}
		cpu := node.Status.Allocatable[v1.ResourceCPU]
		if node.Labels[v1.LabelHostname] != name || node.Labels[v1.LabelInstanceTypeStable] != "c-4x-amd64-linux" || cpu.String() != "3900m" {
			t.Errorf("the node %s has the labels %v and %s CPU", name, node.Labels, cpu.String())
		}
	}
	if e := s.says(t, "what was bought", func(e live.Entry) bool { return e.Kind == live.Launched && e.Node == "come-1" }); e.Offer == nil || e.Offer.Zone != "zone-a" || e.NodePool != "come" {
		t.Errorf("%+v", e)
	}
	k.do(t, "scale", "deployment", "come", "--replicas=0")
	clustertest.Eventually(t, "the empty nodes go", func(context.Context) (bool, error) { return len(s.bought(t, "come")) == 0, nil })
	s.says(t, "why they went", func(e live.Entry) bool {
		return e.Reason == "DisruptionTerminating" && strings.Contains(e.Message, "Empty")
	})
	s.says(t, "that they ended", func(e live.Entry) bool { return e.Kind == live.Ended && e.Node == "come-1" })
}

// asking is a queue whose jobs need an autoscaler's answer.
const asking = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata: {name: buy}
spec: {provisioningClassName: best-effort-atomic-scale-up.autoscaling.x-k8s.io, retryStrategy: {backoffLimitCount: 0}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: buy}
spec: {controllerName: kueue.x-k8s.io/provisioning-request, parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: buy}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: asked}
spec: {nodeLabels: {karpenter.sh/nodepool: asked}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: asked}
spec:
  namespaceSelector: {}
  admissionChecksStrategy: {admissionChecks: [{name: buy}]}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: asked, resources: [{name: cpu, nominalQuota: 100}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: asked}
spec: {clusterQueue: asked}
`

// askingJob is a job of that queue, with pods of so much CPU.
const askingJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: asked}}
spec:
  parallelism: 3
  completions: 3
  template:
    metadata: {annotations: {kube-scheduler-simulator.sigs.k8s.io/run-duration: 1s}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: registry.example.com/c:1, resources: {requests: {cpu: %q}}}]
`

// TestQueuesAskForNodes: a workload starts on nodes that were bought for it, which go when it has ended; and one that no node would hold is told so.
func TestQueuesAskForNodes(t *testing.T) {
	clustertest.Slow(t)
	o := DefaultOptions()
	o.Karpenter, o.Kueue = true, true
	s := launch(t, o)
	s.karpenter(t, `{"on": true, `+noDelay+`}`)
	k := newKubectl(t, s)
	k.apply(t, fmt.Sprintf(nodePool, "asked", "on-demand")+"---"+asking)
	k.apply(t, fmt.Sprintf(askingJob, "asked", "1500m"))
	answer := func(reason string) live.Entry {
		return s.says(t, "the answer "+reason, func(e live.Entry) bool { return e.Kind == live.Answered && e.Reason == reason })
	}
	if e := answer("CapacityIsProvisioned"); e.Object == nil || e.Object.Kind != "ProvisioningRequest" || e.Message != "the nodes asked-1, asked-2 are registered" {
		t.Errorf("%+v", e)
	}
	k.do(t, "wait", "--for=condition=complete", "job/asked", "--timeout=90s")
	clustertest.Eventually(t, "the nodes of the job go", func(context.Context) (bool, error) { return len(s.bought(t, "asked")) == 0, nil })

	k.apply(t, fmt.Sprintf(askingJob, "huge", "4"))
	if e := answer("CapacityIsNotFound"); !strings.Contains(e.Message, "cpu") {
		t.Errorf("%+v", e)
	}
}

func cloudFails(t *testing.T, s *running) {
	k := newKubectl(t, s)
	k.apply(t, fmt.Sprintf(nodePool, "fails", "on-demand"))
	s.karpenter(t, `{"on": true, `+noDelay+`, "launchFails": "out of quota"}`)
	k.apply(t, fmt.Sprintf(deployment, "fails", 1, "fails"))
	s.says(t, "that the launch failed", func(e live.Entry) bool { return e.Kind == live.LaunchFailed && e.Message == "out of quota" })
	s.karpenter(t, `{"on": true, `+noDelay+`, "noCapacity": [{"zone": "zone-a"}]}`)
	k.do(t, "rollout", "status", "deployment", "fails", "--timeout=90s")
	for name, node := range s.bought(t, "fails") {
		if node.Labels[v1.LabelTopologyZone] != "zone-b" {
			t.Errorf("the node %s is in a zone without capacity", name)
		}
	}
	s.says(t, "that zone-a has none", func(e live.Entry) bool { return e.Kind == live.NoCapacity && e.Offer.Zone == "zone-a" })

	s.karpenter(t, `{"on": true, `+noDelay+`, "neverReady": true}`)
	k.do(t, "scale", "deployment", "fails", "--replicas=3")
	clustertest.Eventually(t, "a node that never gets ready", func(context.Context) (bool, error) {
		for _, node := range s.bought(t, "fails") {
			for _, c := range node.Status.Conditions {
				if c.Type == v1.NodeReady && c.Status != v1.ConditionTrue {
					return true, nil
				}
			}
		}
		return false, nil
	})
	k.do(t, "delete", "deployment", "fails")
	k.do(t, "delete", "nodepool", "fails")
	s.karpenter(t, `{"on": true, `+noDelay+`}`)
}

func spotInterrupted(t *testing.T, s *running) {
	k := newKubectl(t, s)
	k.apply(t, fmt.Sprintf(nodePool, "spot", "spot"))
	k.apply(t, fmt.Sprintf(deployment, "spot", 1, "spot"))
	k.do(t, "rollout", "status", "deployment", "spot", "--timeout=60s")
	s.refusesKarpenter(t, karpenterPath+"/interruptions", http.MethodPost, `{"node": "none"}`, http.StatusConflict, "there is no node none")
	code, body := s.send(t, http.MethodPost, karpenterPath+"/interruptions", `{"node": "spot-1", "noticeSeconds": 1}`)
	if code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	clustertest.Eventually(t, "another node", func(context.Context) (bool, error) {
		nodes := s.bought(t, "spot")
		return nodes["spot-1"] == nil && len(nodes) > 0, nil
	})
	k.do(t, "rollout", "status", "deployment", "spot", "--timeout=60s")
	s.says(t, "the interruption", func(e live.Entry) bool { return e.Kind == live.Interrupted && e.Node == "spot-1" && e.Seconds == 1 })
	k.do(t, "delete", "deployment", "spot")
	k.do(t, "delete", "nodepool", "spot")
}

// givesWay: the controllers stop when another Karpenter takes its lease, and their settings stay.
func givesWay(t *testing.T, s *running) {
	lease := s.leased(t)
	clustertest.Eventually(t, "that the controllers stay out", func(context.Context) (bool, error) {
		var state server.KarpenterState
		s.get(t, karpenterPath, &state)
		return state.State == server.KarpenterForeign && state.Settings.On, nil
	})
	lease()
	s.karpenter(t, `{"on": false}`)
	s.karpenter(t, `{"on": true, `+noDelay+`}`)
}

// leased makes the cluster look as if another Karpenter ran in it, until the function that it returns is called.
func (s *running) leased(t *testing.T) (end func()) {
	t.Helper()
	leases := s.client.CoordinationV1().Leases("kube-system")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "karpenter-leader-election"}, Spec: coordinationv1.LeaseSpec{RenewTime: ptr.To(metav1.NowMicro())}}
	if _, err := leases.Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := leases.Delete(t.Context(), lease.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// nodesTransferred: an export brings nodes and NodeClaims into a cluster where Karpenter acts, and there they are the same ones.
func nodesTransferred(t *testing.T, s *running) {
	k := newKubectl(t, s)
	k.apply(t, fmt.Sprintf(nodePool, "moved", "on-demand"))
	k.apply(t, fmt.Sprintf(deployment, "moved", 2, "moved"))
	k.do(t, "rollout", "status", "deployment", "moved", "--timeout=60s")
	code, export := s.send(t, http.MethodGet, "/api/v1/export", "")
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, export)
	}
	if code, report := s.send(t, http.MethodPost, "/api/v1/import?mode=replace", string(export)); code != http.StatusOK || !strings.Contains(string(report), `"failedTotal":0`) {
		t.Fatalf("%d %s", code, report)
	}
	var state server.KarpenterState
	if s.get(t, karpenterPath, &state); state.State != server.KarpenterOn {
		t.Errorf("after the import: %+v", state)
	}
	// What it would do wrong, it would do soon: the next node shows that it is at work.
	k.do(t, "scale", "deployment", "moved", "--replicas=4")
	k.do(t, "rollout", "status", "deployment", "moved", "--timeout=60s")
	nodes := s.bought(t, "moved")
	if len(nodes) != 2 || nodes["moved-1"] == nil || nodes["moved-1"].DeletionTimestamp != nil {
		t.Errorf("after the import, the nodes are %v", slices.Sorted(maps.Keys(nodes)))
	}
}

// nothingHangs: without Karpenter's controllers, nodes and NodeClaims go although they have its finalizer, and a reset leaves nothing.
func nothingHangs(t *testing.T, s *running) {
	s.karpenter(t, `{"on": false}`)
	nodes := s.bought(t, "moved")
	if len(nodes) == 0 {
		t.Fatal("no node is left to try with")
	}
	k := newKubectl(t, s)
	held := 0
	for name, node := range nodes {
		if slices.Contains(node.Finalizers, "karpenter.sh/termination") {
			held++
		}
		k.do(t, "delete", "node", name, "--timeout=30s")
	}
	if held == 0 {
		t.Error("no node had Karpenter's finalizer")
	}
	k.do(t, "delete", "nodeclaims", "--all", "--timeout=30s")
	// Before their nodes are missed.
	pods, err := s.client.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{LabelSelector: "app=moved"})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if err := s.client.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
			t.Fatal(err)
		}
	}
	s.karpenter(t, `{"on": true, `+noDelay+`}`)
	clustertest.Eventually(t, "a node again", func(context.Context) (bool, error) { return len(s.bought(t, "moved")) > 0, nil })
	begun := time.Now()
	if code, body := s.send(t, http.MethodPut, "/api/v1/reset", ""); code != http.StatusOK {
		t.Fatalf("%d: %s", code, body)
	}
	if nodes := s.bought(t, "moved"); len(nodes) > 0 {
		t.Errorf("%s after the reset began, there are nodes: %v", time.Since(begun), nodes)
	}
	var state server.KarpenterState
	if s.get(t, karpenterPath, &state); state.State != server.KarpenterOff {
		t.Errorf("after the reset: %+v", state)
	}
}
