package virtualnode

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"

	"kube-scheduler-simulator/scheduler/standin"
)

// podFunctions are functions for the templates of pod stages, besides kwok's. Each
// returns what a kubelet would write to the pod's status.
func podFunctions(now func() time.Time) gotpl.FuncMap {
	function := func(status func(*corev1.Pod, metav1.Time) (*standin.PodStatus, error)) func(any) (*standin.PodStatus, error) {
		return func(o any) (*standin.PodStatus, error) {
			pod, err := typed[corev1.Pod](o)
			if err != nil {
				return nil, err
			}
			return status(pod, metav1.NewTime(now()))
		}
	}
	return gotpl.FuncMap{
		"PodRunning": function(standin.PodRunning),
		"PodBack":    function(standin.PodBack),
		"PodEnded":   function(standin.PodEnded),
		"PodStopped": function(standin.PodStopped),
	}
}

// nodeFunctions are functions for the templates of node stages, besides kwok's. A
// template's object has been through JSON.
func nodeFunctions(now func() time.Time) gotpl.FuncMap {
	return gotpl.FuncMap{
		// NodeReady is a patch that makes a node Ready, or fail as its annotation
		// asks, and completes the fields that its author left out.
		"NodeReady": func(o any) (map[string]any, error) {
			node, err := typed[corev1.Node](o)
			if err != nil {
				return nil, err
			}
			return map[string]any{
				"metadata": map[string]any{"labels": standin.MissingLabels(node)},
				"status":   standin.StatusOf(node, now()),
			}, nil
		},
	}
}

// typed is an object that a template was given.
func typed[T any](o any) (*T, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	object := new(T)
	if err := json.Unmarshal(data, object); err != nil {
		return nil, fmt.Errorf("it is not a %T: %w", *object, err)
	}
	return object, nil
}

func firstOf(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
