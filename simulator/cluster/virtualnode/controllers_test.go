package virtualnode

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func TestPodsOfAReplicationControllerServe(t *testing.T) {
	ns := namespace(t, shared)
	pool(t, shared, ns, 1)
	apply(t, shared, ns, `
apiVersion: v1
kind: Service
metadata: {name: old}
spec: {selector: {app: old}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  replicas: 2
  selector: {app: old}
  template:
    metadata: {labels: {app: old}}
    spec:
      nodeSelector: {pool: %s}
      containers:
      - {name: web, image: example.com/old}
`)
	clustertest.Eventually(t, "the endpoints are those of two pods", func(ctx context.Context) (bool, error) {
		e, err := shared.client.CoreV1().Endpoints(ns).Get(ctx, "old", metav1.GetOptions{})
		if apierrors.IsNotFound(err) { // the controller has not created them yet
			return false, nil
		}
		return err == nil && len(e.Subsets) == 1 && len(e.Subsets[0].Addresses) == 2, err
	})
	clustertest.Eventually(t, "the endpoint slice has two endpoints", func(ctx context.Context) (bool, error) {
		return sliceHas(ctx, ns, "endpointslice-controller.k8s.io", 2)
	})
}

func TestEndpointsOfUsersAreMirrored(t *testing.T) {
	ns := namespace(t, shared)
	apply(t, shared, ns, `
apiVersion: v1
kind: Service
metadata: {name: outside}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: outside}
subsets: [{addresses: [{ip: 192.0.2.1}], ports: [{port: 80}]}]
`)
	clustertest.Eventually(t, "the endpoint slice has one endpoint", func(ctx context.Context) (bool, error) {
		return sliceHas(ctx, ns, "endpointslicemirroring-controller.k8s.io", 1)
	})
}

func TestAPodGetsAnEphemeralVolume(t *testing.T) {
	ns := namespace(t, shared)
	apply(t, shared, ns, `
apiVersion: v1
kind: Pod
metadata: {name: scratch}
spec:
  nodeSelector: {pool: none}
  containers:
  - {name: main, image: example.com/main}
  volumes:
  - name: data
    ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}
`)
	clustertest.Eventually(t, "the claim exists", func(ctx context.Context) (bool, error) {
		list, err := shared.client.CoreV1().PersistentVolumeClaims(ns).List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 1 && list.Items[0].Name == "scratch-data", err
	})
}

func TestVolumesAndClassesAreProtected(t *testing.T) {
	ns := namespace(t, shared)
	apply(t, shared, ns, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: %s-disk}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: none
  csi: {driver: csi.example.com, volumeHandle: disk}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttributesClass
metadata: {name: %s-gold}
driverName: csi.example.com
parameters: {iops: "4000"}
`)
	clustertest.Eventually(t, "the volume has its finalizer", func(ctx context.Context) (bool, error) {
		v, err := shared.client.CoreV1().PersistentVolumes().Get(ctx, ns+"-disk", metav1.GetOptions{})
		return err == nil && slices.Contains(v.Finalizers, "kubernetes.io/pv-protection"), err
	})
	clustertest.Eventually(t, "the class has its finalizer", func(ctx context.Context) (bool, error) {
		c, err := shared.client.StorageV1().VolumeAttributesClasses().Get(ctx, ns+"-gold", metav1.GetOptions{})
		return err == nil && slices.Contains(c.Finalizers, "kubernetes.io/vac-protection"), err
	})
}

func TestATaintedDeviceEvictsItsPod(t *testing.T) {
	ns := namespace(t, shared)
	node := pool(t, shared, ns, 1)[0]
	annotate(t, shared, node, "kube-scheduler-simulator.sigs.k8s.io/devices", `[{driver: tainted.example.com, count: 1, name: gpu}]`)
	apply(t, shared, ns, `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: %s-gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "tainted.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: %s-gpu}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  nodeSelector: {pool: %s}
  terminationGracePeriodSeconds: 1
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
  containers:
  - {name: main, image: example.com/train, resources: {claims: [{name: gpu}]}}
`)
	clustertest.Eventually(t, "the pod runs", func(ctx context.Context) (bool, error) {
		pod, err := shared.client.CoreV1().Pods(ns).Get(ctx, "train", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning, err
	})
	apply(t, shared, ns, `
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: %s-broken}
spec:
  deviceSelector: {driver: tainted.example.com}
  taint: {key: example.com/broken, effect: NoExecute}
`)
	clustertest.Eventually(t, "the pod is gone", gone(func(ctx context.Context) error {
		_, err := shared.client.CoreV1().Pods(ns).Get(ctx, "train", metav1.GetOptions{})
		return err
	}))
}

// TestUnusualControllers: these run only when they are named, as in this cluster.
func TestUnusualControllers(t *testing.T) {
	ns := namespace(t, shared)
	node := pool(t, shared, ns, 1)[0]
	apply(t, shared, ns, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %s-part, labels: {part-of: %s}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %s-whole}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {part-of: %s}}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %s-policy}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  validations: [{expression: "object.spec.replicas > 'one'"}]
`)
	clustertest.Eventually(t, "the role has the rules of its part", func(ctx context.Context) (bool, error) {
		r, err := shared.client.RbacV1().ClusterRoles().Get(ctx, ns+"-whole", metav1.GetOptions{})
		return err == nil && len(r.Rules) == 1, err
	})
	clustertest.Eventually(t, "the policy's mistake is found", func(ctx context.Context) (bool, error) {
		p, err := shared.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, ns+"-policy", metav1.GetOptions{})
		return err == nil && p.Status.TypeChecking != nil && len(p.Status.TypeChecking.ExpressionWarnings) == 1, err
	})
	clustertest.Eventually(t, "the node has a lifetime for caches", func(ctx context.Context) (bool, error) {
		n, err := shared.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		return err == nil && n.Annotations[corev1.ObjectTTLAnnotationKey] == "0", err
	})
}

// sliceHas reports whether the namespace has one endpoint slice of the manager, with that many
// endpoints.
func sliceHas(ctx context.Context, namespace, manager string, endpoints int) (bool, error) {
	list, err := shared.client.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelManagedBy + "=" + manager})
	return err == nil && len(list.Items) == 1 && len(list.Items[0].Endpoints) == endpoints, err
}
