package app

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/scheduler/result"
)

// cycle waits for a cycle of a pod that ended in outcome.
func (k *kubectl) cycle(t *testing.T, pod string, outcome result.Outcome, filters ...string) *result.Cycle {
	t.Helper()
	p, err := k.simulator.client.CoreV1().Pods(k.namespace).Get(t.Context(), pod, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return await(t, k.simulator, p, outcome, filters...)
}

// rejected checks which plugin rejected a node, and why.
func (k *kubectl) rejected(t *testing.T, c *result.Cycle, node, want string) {
	t.Helper()
	got := "no plugin"
	if c.Filter != nil {
		if i := c.Filter.Nodes.Index(k.namespace + "-" + node); i >= 0 {
			v := c.Filter.Verdict(i)
			got = fmt.Sprintf("%s: %s", v.Plugin, strings.Join(v.Reasons, ", "))
		}
	}
	if got != want {
		t.Errorf("%s was rejected for %s by %q, want %q; %s: %s", node, c.Pod.Name, got, want, c.Outcome, c.Message)
	}
}

func (k *kubectl) selected(t *testing.T, c *result.Cycle, node string) {
	t.Helper()
	if c.SelectedNode != k.namespace+"-"+node {
		t.Errorf("%s went to %s, want %s: %s", c.Pod.Name, c.SelectedNode, node, c.Message)
	}
}

// podWithClaim is the manifest of a pod in the pool that uses a claim of the same name.
func podWithClaim(name, class, size string, lines ...string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %[1]s}
spec: {accessModes: [ReadWriteOnce], storageClassName: "%%s-%[2]s", resources: {requests: {storage: %[3]s}}}
---
apiVersion: v1
kind: Pod
metadata: {name: %[1]s}
spec:
  nodeSelector: {pool: %%s}
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: example.com/main}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: %[1]s}}]
%[4]s`, name, class, size, strings.Join(lines, "\n"))
}

func storageClass(name, provisioner string, lines ...string) string {
	return fmt.Sprintf(`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: "%%s-%s"}
provisioner: %s
volumeBindingMode: WaitForFirstConsumer
%s
---`, name, provisioner, strings.Join(lines, "\n"))
}

func volumeLimits(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1", "b-1")
	k.apply(t, `
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: %s-a-1}
spec: {drivers: [{name: csi.example.com, nodeID: a-1, allocatable: {count: 1}}]}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: %s-b-1}
spec: {drivers: [{name: csi.example.com, nodeID: b-1, allocatable: {count: 0}}]}
---`+storageClass("csi", "csi.example.com")+podWithClaim("first", "csi", "1Gi"))
	first := k.cycle(t, "first", result.Scheduled)
	k.selected(t, first, "a-1")
	k.rejected(t, first, "b-1", "NodeVolumeLimits: node(s) exceed max volume count")
	k.apply(t, podWithClaim("second", "csi", "1Gi"))
	k.rejected(t, k.cycle(t, "second", result.Unschedulable), "a-1", "NodeVolumeLimits: node(s) exceed max volume count")

	k.do(t, "patch", "csinode", k.namespace+"-b-1", "--type=json", `-p=[{"op": "replace", "path": "/spec/drivers/0/allocatable/count", "value": 1}]`)
	again := k.cycle(t, "second", result.Scheduled)
	k.selected(t, again, "b-1")
	if q := again.Queue; q == nil || q.RequeuedBy == nil || q.RequeuedBy.Kind != "CSINode" || q.RequeuedBy.Plugin != "NodeVolumeLimits" {
		t.Errorf("the limit's change did not requeue it: %+v", q)
	}
}

func zonesOfVolumes(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1", "b-1")
	const volume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: "%s-NAME", LABELS}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: "%s-local"
  csi: {driver: csi.example.com, volumeHandle: NAME}
  AFFINITY
---`
	const inZoneB = `nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [b]}]}]}}`
	k.apply(t, storageClass("local", "kubernetes.io/no-provisioner")+strings.NewReplacer("NAME", "bound", "LABELS", "", "AFFINITY", inZoneB).Replace(volume)+podWithClaim("app", "local", "1Gi"))
	app := k.cycle(t, "app", result.Scheduled)
	k.selected(t, app, "b-1")
	k.rejected(t, app, "a-1", "VolumeBinding: node(s) didn't find available persistent volumes to bind")
	k.shows(t, `
NAME STATUS VOLUME CAPACITY ACCESS MODES STORAGECLASS VOLUMEATTRIBUTESCLASS AGE
app Bound %s-bound 1Gi RWO %s-local <unset> …s`, "pvc")

	k.apply(t, `
apiVersion: v1
kind: Pod
metadata: {name: again}
spec:
  nodeSelector: {kubernetes.io/hostname: %s-a-1}
  containers: [{name: main, image: example.com/main}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: app}}]
`)
	k.rejected(t, k.cycle(t, "again", result.Unschedulable), "a-1", "VolumeBinding: node(s) didn't match PersistentVolume's node affinity")

	// VolumeZone handles volumes that are bound to a zone only by labels.
	labelled := strings.NewReplacer("NAME", "labelled", "LABELS", `labels: {topology.kubernetes.io/zone: b}`, "AFFINITY", "").Replace(volume)
	claim, pod, _ := strings.Cut(podWithClaim("labelled", "local", "1Gi"), "---")
	k.apply(t, strings.Replace(labelled, `capacity:`, "claimRef: {namespace: \"%s\", name: labelled}\n  capacity:", 1)+claim)
	k.prints(t, "Bound", "{.status.phase}", "pvc", "labelled")
	k.apply(t, pod)
	zoned := k.cycle(t, "labelled", result.Scheduled)
	k.selected(t, zoned, "b-1")
	k.rejected(t, zoned, "a-1", "VolumeZone: node(s) had no available volume zone")
}

func storageCapacity(t *testing.T, k *kubectl) {
	k.nodes(t, "a-1", "b-1", "c-1")
	capacity := func(zone, size string) string {
		return fmt.Sprintf(`
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata: {name: zone-%[1]s}
storageClassName: "%%s-measured"
nodeTopology: {matchLabels: {topology.kubernetes.io/zone: %[1]s}}
capacity: %[2]s
---`, zone, size)
	}
	k.apply(t, `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: "%s.example.com"}
spec: {storageCapacity: true}
---`+storageClass("measured", `"%s.example.com"`)+capacity("a", "1Gi")+capacity("b", "10Gi")+
		storageClass("zonal", "csi.example.com", "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [c]}]}]")+
		podWithClaim("large", "measured", "5Gi")+"---"+podWithClaim("zonal", "zonal", "5Gi"))
	large := k.cycle(t, "large", result.Scheduled)
	k.selected(t, large, "b-1")
	k.rejected(t, large, "a-1", "VolumeBinding: node(s) did not have enough free storage")
	k.rejected(t, large, "c-1", "VolumeBinding: node(s) did not have enough free storage")
	zonal := k.cycle(t, "zonal", result.Scheduled)
	k.selected(t, zonal, "c-1")
	k.rejected(t, zonal, "a-1", "VolumeBinding: node(s) didn't find available persistent volumes to bind")
}
