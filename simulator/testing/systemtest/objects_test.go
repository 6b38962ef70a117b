package systemtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	namespace = "default"
	// annotationPrefix is the prefix of the simulator's annotations.
	annotationPrefix = "kube-scheduler-simulator.sigs.k8s.io/"
	configurationURL = "/api/v1/schedulerconfiguration"
)

func newNode(name string) *v1.Node {
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: v1.NodeStatus{Capacity: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse("32"), v1.ResourceMemory: resource.MustParse("64Gi"), v1.ResourcePods: resource.MustParse("110"),
		}},
	}
}

func newPod(name string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "systemtest"}},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "pause", Resources: v1.ResourceRequirements{
			Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("10m")},
		}}}},
	}
}

// createNodes returns when the nodes are ready.
func (p *program) createNodes(t *testing.T, prefix string, n int) {
	t.Helper()
	for i := range n {
		if _, err := p.client.CoreV1().Nodes().Create(t.Context(), newNode(fmt.Sprintf("%s-%d", prefix, i)), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the nodes are ready", func() error { return p.nodesReady(t.Context(), n) })
}

// nodesReady returns nil when at least n nodes have no taints.
func (p *program) nodesReady(ctx context.Context, n int) error {
	nodes, err := p.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	ready := 0
	for _, node := range nodes.Items {
		if len(node.Spec.Taints) == 0 {
			ready++
		}
	}
	if ready < n {
		return fmt.Errorf("%d of %d nodes are ready", ready, n)
	}
	return nil
}

// configurationWith returns a configuration in which only a number of little effect differs.
func configurationWith(number int) string {
	return fmt.Sprintf(`# number %d
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: %d
`, number, 8+number%8)
}

// applied is the answer to applying a configuration.
type applied struct {
	Revision revision `json:"revision"`
}

type revision struct {
	Number   int    `json:"number"`
	State    string `json:"state"`
	Document string `json:"document"`
}

// apply applies a configuration and returns its revision. The error is a *refusal if the program
// refused it.
func (p *program) apply(document string) (int, error) {
	a, err := p.request(http.MethodPut, configurationURL, bytes.NewReader([]byte(document)), nil)
	if err != nil {
		return 0, err
	}
	if a.status != http.StatusOK {
		return 0, readRefusal(a)
	}
	var got applied
	if err := json.Unmarshal(a.body, &got); err != nil {
		return 0, err
	}
	return got.Revision.Number, nil
}

// refusal is an error response.
type refusal struct {
	status  int
	Message string `json:"message"`
	Details []any  `json:"details"`
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.status, r.Message) }

// readRefusal returns a *refusal, or another error when the answer is not a message in JSON.
func readRefusal(a answer) error {
	r := &refusal{status: a.status}
	if err := json.Unmarshal(a.body, r); err != nil {
		return fmt.Errorf("%d, which is not JSON: %w: %.200s", a.status, err, a.body)
	}
	if r.Message == "" || r.Details == nil {
		return fmt.Errorf("%d without a message or details: %.200s", a.status, a.body)
	}
	return r
}

// isRefusal reports whether err is a *refusal with one of the codes.
func isRefusal(err error, codes ...int) bool {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		return false
	}
	for _, code := range codes {
		if r.status == code {
			return true
		}
	}
	return false
}

// schedules checks that a new pod is bound.
func (p *program) schedules(t *testing.T, name string) {
	t.Helper()
	if _, err := p.client.CoreV1().Pods(namespace).Create(t.Context(), newPod(name), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, name+" is bound", func() error {
		got, err := p.client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && got.Spec.NodeName == "" {
			err = errors.New("it is not")
		}
		return err
	})
}
