package transfer

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest/manifesttest"
)

// TestWhatAnInputLacks: what its objects refer to is named, unless the input or the cluster has it. What
// nothing refers to may not exist.
func TestWhatAnInputLacks(t *testing.T) {
	const (
		perhaps = `
PodDisruptionBudget: kubectl get poddisruptionbudgets --all-namespaces -o yaml
Service: kubectl get services --all-namespaces -o yaml
KubeSchedulerConfiguration: kubectl get pods --namespace kube-system --selector component=kube-scheduler -o yaml
`
		web = "---\n{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}]}, spec: {nodeName: n1, priorityClassName: high}}\n"
		db  = "---\n{apiVersion: v1, kind: Pod, metadata: {name: db, namespace: default}, spec: {priorityClassName: high, runtimeClassName: gvisor, volumes: [{name: data, persistentVolumeClaim: {claimName: db}}, {name: tmp, ephemeral: {}}]}}\n"
	)
	for _, tc := range []struct{ name, input, want string }{
		{"what pods name", web + db, `
PriorityClass: 2 Pod name 1 [high]: kubectl get priorityclasses -o yaml
RuntimeClass: 1 Pod name 1 [gvisor]: kubectl get runtimeclasses -o yaml
PersistentVolumeClaim: 1 Pod name 2 [default/db default/db-tmp]: kubectl get persistentvolumeclaims --all-namespaces -o yaml
Node: 1 Pod name 1 [n1]: kubectl get nodes -o yaml
ReplicaSet: 1 Pod name 1 [default/web]: kubectl get replicasets --all-namespaces -o yaml` + perhaps},
		{"what is there", web + `---
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: default}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a, namespace: default}}
---
{apiVersion: v1, kind: Service, metadata: {name: a, namespace: default}}
---
{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}
`, "\n"},
		{"nodes without pods", "{apiVersion: v1, kind: Node, metadata: {name: n1}}", "\n"},
		{"a finished pod refers to nothing that matters", "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {nodeName: n9}, status: {phase: Succeeded}}", perhaps},
		{"what every cluster has", "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default, ownerReferences: [{apiVersion: v1, kind: Node, name: n9, controller: true}]}, spec: {priorityClassName: system-node-critical}}", perhaps},
		{"namespaces, and owners of other groups", "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Workflow, name: w, controller: true}]}}", `
Namespace: 1 Pod name 1 [shop]: kubectl get namespaces -o yaml
Workflow: 1 Pod name 1 [shop/w]: kubectl get workflows.argoproj.io --all-namespaces -o yaml` + perhaps},
		{"volumes", `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: default}, spec: {volumeName: pv1, storageClassName: fast}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: b, namespace: default}, spec: {storageClassName: slow}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv2}, spec: {csi: {driver: d, volumeHandle: h}}}
`, `
StorageClass: 1 PersistentVolumeClaim name 1 [slow]: kubectl get storageclasses -o yaml
PersistentVolume: 1 PersistentVolumeClaim name 1 [pv1]: kubectl get persistentvolumes -o yaml
CSINode: 1 PersistentVolume name 0 []: kubectl get csinodes -o yaml
`},
		{"devices", `{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a, namespace: default}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: default}, spec: {resourceClaims: [{name: one, resourceClaimName: a}, {name: two, resourceClaimTemplateName: t}, {name: three, resourceClaimTemplateName: t}]}, status: {resourceClaimStatuses: [{name: three, resourceClaimName: b-three-1}]}}
`, `
DeviceClass: 1 ResourceClaim name 1 [gpu]: kubectl get deviceclasses -o yaml
ResourceSlice: 1 ResourceClaim name 0 []: kubectl get resourceslices -o yaml
ResourceClaim: 1 Pod name 1 [default/b-three-1]: kubectl get resourceclaims --all-namespaces -o yaml
ResourceClaimTemplate: 1 Pod name 1 [default/t]: kubectl get resourceclaimtemplates --all-namespaces -o yaml` + perhaps},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i := New(Options{Config: &rest.Config{}}).newImporter(ImportOptions{Reschedule: true, Progress: func(Progress) {}})
			if err := i.read(t.Context(), manifest.NewSource(manifesttest.Part("f", tc.input))); err != nil {
				t.Fatal(err)
			}
			i.pods = i.planPods()
			got := "\n"
			for _, l := range i.lacks(func(k key) bool { return k.name == "default" }) {
				if l.By == "" {
					got += fmt.Sprintf("%s: %s\n", l.Kind, l.Command)
				} else {
					got += fmt.Sprintf("%s: %d %s name %d %v: %s\n", l.Kind, l.Count, l.By, l.Total, l.Names, l.Command)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
