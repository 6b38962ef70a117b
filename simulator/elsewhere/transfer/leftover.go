package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Recover removes the gate from pods of an import that the end of the program interrupted. Call it
// before any import.
func (cluster *Cluster) Recover(ctx context.Context) error {
	c, err := newClient(cluster.opts.Config)
	if err != nil {
		return err
	}
	r := resource{gvr: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, namespaced: true}
	result := c.rest.Get().AbsPath(r.path("", "")...).SetHeader("Accept", runtime.ContentTypeJSON).
		Param("fieldSelector", "spec.nodeName=,status.phase=Pending").Do(ctx)
	if err := result.Error(); err != nil {
		return fmt.Errorf("listing pending pods: %w", err)
	}
	data, err := result.Raw()
	if err != nil {
		return fmt.Errorf("listing pending pods: %w", err)
	}
	var list struct {
		Items []gatedPod `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("listing pending pods: %w", err)
	}
	for _, pod := range list.Items {
		left := slices.DeleteFunc(slices.Clone(pod.Spec.SchedulingGates), func(g gate) bool { return g.Name == objects.GateImport })
		if len(left) == len(pod.Spec.SchedulingGates) {
			continue
		}
		patch := map[string]any{"spec": map[string]any{"schedulingGates": left}}
		if _, err := c.patch(ctx, r, pod.Metadata.Namespace, pod.Metadata.Name, patch); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("removing the gate %s from pod %s/%s: %w", objects.GateImport, pod.Metadata.Namespace, pod.Metadata.Name, err)
		}
	}
	return nil
}

type gate struct {
	Name string `json:"name"`
}

type gatedPod struct {
	Metadata struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		SchedulingGates []gate `json:"schedulingGates"`
	} `json:"spec"`
}
