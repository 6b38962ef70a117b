package standalone

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/cluster/storedform"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/questions/submit"
	"kube-scheduler-simulator/simulator/questions/why"
)

// workloads reads the owners of pods that no scheduler reads, such as Deployments. Get's error is a
// *whatif.NotFoundError for one that does not exist.
type workloads = fit.Workloads

// configMap is of interest for the Configuration of Kueue only.
var configMap = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// fromFile holds them by kind, namespace and name, in JSON.
type fromFile map[key][]byte

func (f fromFile) add(o *manifest.Object) {
	_, known := why.WorkloadKinds[o.GVK.Kind]
	known = known || o.GVK == configMap && o.Namespace == submit.ConfigMap.Namespace && o.Name == submit.ConfigMap.Name
	if known && scheme.Scheme.Recognizes(o.GVK) {
		if u, err := o.Unstructured(); err == nil {
			f[key{o.GVK.GroupKind(), u.GetNamespace(), u.GetName()}] = o.JSON
		}
	}
}

func (f fromFile) Get(_ context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	data, known := f[key{gvk.GroupKind(), namespace, name}]
	if !known {
		return nil, notFound(gvk, namespace, name)
	}
	return decoded(data)
}

type fromCluster struct{ *mirror.Source }

func (f fromCluster) Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	u, err := f.Source.Get(ctx, gvk, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, notFound(gvk, namespace, name)
	}
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(u)
	if err != nil {
		return nil, err
	}
	return decoded(data)
}

func decoded(data []byte) (runtime.Object, error) {
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	return o, err
}

func notFound(gvk schema.GroupVersionKind, namespace, name string) error {
	return &whatif.NotFoundError{ObjectRef: whatif.ObjectRef{GVK: gvk, Namespace: namespace, Name: name}}
}

// Why answers why a pod is there, pending, or would fit. The error is as that of why.Ask.
func (c *Cluster) Why(ctx context.Context, q why.Question) (*why.Answer, error) {
	return why.Ask(ctx, c, q)
}

// Get returns an object of the moment that was read; a workload that no scheduler reads may be newer.
func (c *Cluster) Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	if !storedform.Reads(gvk.GroupKind()) {
		if c.reading.workloads == nil {
			return nil, notFound(gvk, namespace, name)
		}
		return c.reading.workloads.Get(ctx, gvk, namespace, name)
	}
	k := key{gvk.GroupKind(), namespace, name}
	for _, known := range []map[key]runtime.Object{c.state.objects, c.state.finished} {
		if o := known[k]; o != nil {
			return o, nil
		}
	}
	return nil, notFound(gvk, namespace, name)
}

// List returns the objects of a kind in a namespace; of all namespaces if it is empty.
func (c *Cluster) List(ctx context.Context, gvk schema.GroupVersionKind, namespace string) ([]runtime.Object, error) {
	if t := topicOf(gvk.GroupKind()); t != "" {
		return c.listLater(ctx, t, gvk.GroupKind(), namespace)
	}
	var out []runtime.Object
	for k, o := range c.state.objects {
		if k.GroupKind == gvk.GroupKind() && (namespace == "" || k.namespace == namespace) {
			out = append(out, o)
		}
	}
	return out, nil
}

// listLater returns the objects of a kind, typed if the kind is Kubernetes' own.
func (c *Cluster) listLater(ctx context.Context, t topic, gk schema.GroupKind, namespace string) (out []runtime.Object, err error) {
	all, err := c.reading.later.list(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, u := range all {
		if u.GroupVersionKind().GroupKind() != gk || namespace != "" && u.GetNamespace() != namespace {
			continue
		}
		if gk != daemonSet {
			out = append(out, u)
			continue
		}
		set := &appsv1.DaemonSet{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, set); err != nil {
			return nil, fmt.Errorf("%s %s: %w", u.GetKind(), u.GetName(), err)
		}
		out = append(out, set)
	}
	return out, nil
}

// Record returns nil: a cluster records no decisions.
func (c *Cluster) Record(context.Context, types.UID) (*result.Cycle, error) { return nil, nil }

func (c *Cluster) Grounds() why.Grounds {
	g := why.Grounds{Cluster: c.name, Version: c.version, Configuration: "default", ReadSeconds: c.took.Seconds()}
	if c.reading.configuration != nil {
		g.Configuration = "cluster"
	}
	for _, p := range c.reading.unread {
		g.Missing = append(g.Missing, why.NotJudged{What: p.Kind.String(), Text: fmt.Sprintf("%s: %s.", p.Text, effect(p.Kind))})
	}
	return g
}

// effects say what an answer lacks without a kind.
var effects = map[schema.GroupKind]string{
	objects.Pod:                   "all nodes count as empty, so no verdict about room can be trusted",
	objects.Node:                  "there is no node to place a pod on",
	objects.Namespace:             "namespace selectors of affinity match nothing",
	objects.PersistentVolume:      "volumes that exist are not judged",
	objects.PersistentVolumeClaim: "a pod with volume claims counts as one whose claims do not exist",
	objects.StorageClass:          "new volumes are not judged",
	objects.PriorityClass:         "a new pod with a priority class is refused, and preemption goes by the priorities of the pods that exist",
	{Group: "policy", Kind: "PodDisruptionBudget"}:        "who would be evicted is not judged by any budget",
	{Group: "storage.k8s.io", Kind: "CSINode"}:            "limits of attached volumes are not judged",
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:          "the capacity of storage is not judged",
	{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"}: "the capacity of storage is not judged",
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:     "devices are not judged: no node has any",
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:     "devices in use count as free",
	{Group: "resource.k8s.io", Kind: "DeviceClass"}:       "devices are not judged",
	{Kind: "Service"}:                    "default spreading goes by owners only",
	{Group: "apps", Kind: "ReplicaSet"}:  "default spreading, and the workloads of pods, are not judged",
	{Group: "apps", Kind: "StatefulSet"}: "default spreading is not judged",
	{Kind: "ReplicationController"}:      "default spreading is not judged",
}

func effect(gk schema.GroupKind) string {
	if said, known := effects[gk]; known {
		return said
	}
	return "what depends on it is not judged"
}
