// Package visibility serves visibility.kueue.x-k8s.io: the workloads that wait in a queue, with their
// positions. It may import the package admission of simulator/batch/kueue, Kueue's API packages and Kubernetes' API machinery.
package visibility

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/apis/visibility/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// Prefix is that of the paths that Handler serves.
const Prefix = "/apis/" + group

const group = "visibility.kueue.x-k8s.io"

var versions = []string{"v1beta2", "v1beta1"}

// The limits of a page, which are Kueue's.
const (
	defaultLimit = 1000
	maxLimit     = 100_000
)

// Source knows the queues. Its methods are safe for concurrent use.
type Source interface {
	// Pending returns the workloads that wait in a ClusterQueue, in order; false if there is no such queue.
	Pending(clusterQueue string) ([]admission.Pending, bool)
	// LocalQueue returns the ClusterQueue of a local queue; false if there is no such queue.
	LocalQueue(types.NamespacedName) (clusterQueue string, known bool)
	Owners(types.NamespacedName) []metav1.OwnerReference
}

// Handler serves the group. source returns nil while nothing is known.
type Handler struct{ Source func() Source }

var _ http.Handler = Handler{}

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := h.answer(r)
	code := http.StatusOK
	if err != nil {
		status := err.Status()
		code, answer = int(status.Code), &status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // the client has gone
}

func (h Handler) answer(r *http.Request) (any, *apierrors.StatusError) {
	path := strings.Trim(strings.TrimPrefix(r.URL.Path, Prefix), "/")
	parts := strings.Split(path, "/")
	switch {
	case r.Method != http.MethodGet:
		return nil, apierrors.NewMethodNotSupported(schema.GroupResource{Group: group, Resource: "pendingworkloads"}, strings.ToLower(r.Method))
	case path == "":
		return apiGroup(), nil
	case !slices.Contains(versions, parts[0]):
	case len(parts) == 1:
		return resources(parts[0]), nil
	case len(parts) == 4 && parts[1] == "clusterqueues" && parts[3] == "pendingworkloads":
		return h.summary(r, parts[0], parts[2], func(admission.Pending) bool { return true })
	case len(parts) == 6 && parts[1] == "namespaces" && parts[3] == "localqueues" && parts[5] == "pendingworkloads":
		return h.ofLocalQueue(r, parts[0], types.NamespacedName{Namespace: parts[2], Name: parts[4]})
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: group}, path)
}

func (h Handler) ofLocalQueue(r *http.Request, version string, key types.NamespacedName) (any, *apierrors.StatusError) {
	queue, known := "", false
	if source := h.Source(); source != nil {
		queue, known = source.LocalQueue(key)
	}
	if !known {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: "localqueue"}, key.Name)
	}
	return h.summary(r, version, queue, func(p admission.Pending) bool {
		return p.Workload.Namespace == key.Namespace && p.LocalQueue == key.Name
	})
}

func (h Handler) summary(r *http.Request, version, queue string, wanted func(admission.Pending) bool) (any, *apierrors.StatusError) {
	offset, err := number(r, "offset", 0)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", defaultLimit)
	if err != nil {
		return nil, err
	}
	source := h.Source()
	var pending []admission.Pending
	known := false
	if source != nil {
		pending, known = source.Pending(queue)
	}
	if !known {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: "clusterqueue"}, queue)
	}
	s := &v1beta2.PendingWorkloadsSummary{TypeMeta: metav1.TypeMeta{APIVersion: group + "/" + version, Kind: "PendingWorkloadsSummary"}, Items: []v1beta2.PendingWorkload{}}
	for _, p := range pending {
		if !wanted(p) {
			continue
		}
		if offset--; offset >= 0 {
			continue
		}
		if len(s.Items) == min(limit, maxLimit) {
			break
		}
		s.Items = append(s.Items, v1beta2.PendingWorkload{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: p.Workload.Namespace, Name: p.Workload.Name, CreationTimestamp: metav1.NewTime(p.Created), OwnerReferences: source.Owners(p.Workload.Key()),
			},
			Priority: p.Priority, LocalQueueName: kueue.LocalQueueName(p.LocalQueue), PositionInClusterQueue: p.PositionInClusterQueue, PositionInLocalQueue: p.PositionInLocalQueue,
		})
	}
	return s, nil
}

func number(r *http.Request, name string, standard int) (int, *apierrors.StatusError) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, apierrors.NewBadRequest(name + " must be a number that is not negative")
	}
	return n, nil
}

func apiGroup() *metav1.APIGroup {
	g := &metav1.APIGroup{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"}, Name: group}
	for _, v := range versions {
		g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + v, Version: v})
	}
	g.PreferredVersion = g.Versions[0]
	return g
}

func resources(version string) *metav1.APIResourceList {
	return &metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: group + "/" + version,
		APIResources: []metav1.APIResource{
			{Name: "clusterqueues/pendingworkloads", Kind: "PendingWorkloadsSummary", Verbs: metav1.Verbs{"get"}},
			{Name: "localqueues/pendingworkloads", Namespaced: true, Kind: "PendingWorkloadsSummary", Verbs: metav1.Verbs{"get"}},
		},
	}
}
