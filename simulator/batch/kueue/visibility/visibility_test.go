package visibility_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kueue/apis/visibility/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/visibility"
)

// queues has one ClusterQueue, cq, with the local queues ns/a and ns/b.
type queues struct{}

func (queues) Pending(queue string) ([]admission.Pending, bool) {
	var out []admission.Pending
	for i, local := range []string{"a", "b", "a"} {
		out = append(out, admission.Pending{Workload: admission.Ref{Namespace: "ns", Name: fmt.Sprint("w", i)}, LocalQueue: local, PositionInClusterQueue: int32(i), PositionInLocalQueue: int32(i / 2)})
	}
	return out, queue == "cq"
}

func (queues) LocalQueue(key types.NamespacedName) (string, bool) {
	return "cq", key.Namespace == "ns" && key.Name != "c"
}

func (queues) Owners(types.NamespacedName) []metav1.OwnerReference { return nil }

func TestPendingWorkloads(t *testing.T) {
	handler := visibility.Handler{Source: func() visibility.Source { return queues{} }}
	for _, c := range []struct {
		path string
		code int
		// want are name, position in the ClusterQueue and in the local queue.
		want []string
	}{
		{"/v1beta2/clusterqueues/cq/pendingworkloads", 200, []string{"w0 0 0", "w1 1 0", "w2 2 1"}},
		{"/v1beta1/clusterqueues/cq/pendingworkloads?offset=1&limit=1", 200, []string{"w1 1 0"}},
		{"/v1beta2/namespaces/ns/localqueues/a/pendingworkloads", 200, []string{"w0 0 0", "w2 2 1"}},
		{"/v1beta2/namespaces/ns/localqueues/a/pendingworkloads?offset=1", 200, []string{"w2 2 1"}},
		{"/v1beta2/clusterqueues/other/pendingworkloads", 404, nil},
		{"/v1beta2/namespaces/ns/localqueues/c/pendingworkloads", 404, nil},
		{"/v1beta2/clusterqueues/cq/pendingworkloads?limit=x", 400, nil},
		{"/v1/clusterqueues/cq/pendingworkloads", 404, nil},
		{"/v1beta2", 200, nil},
		{"", 200, nil},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, visibility.Prefix+c.path, nil))
		var got v1beta2.PendingWorkloadsSummary
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != c.code {
			t.Errorf("%s: %d %s", c.path, w.Code, w.Body)
			continue
		}
		var names []string
		for _, item := range got.Items {
			names = append(names, fmt.Sprint(item.Name, " ", item.PositionInClusterQueue, " ", item.PositionInLocalQueue))
		}
		if diff := cmp.Diff(c.want, names); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
	}
}
