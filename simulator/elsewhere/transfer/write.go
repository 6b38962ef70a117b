package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

type write struct {
	*manifest.Object
	resource resource
	// desired has no status.
	desired *unstructured.Unstructured
	// status is for the subresource; nil if there is none, or if the object is created together
	// with its status.
	status map[string]any
	// create changes the object before its creation; then is merged into it afterwards. Neither
	// applies to an object that exists. Both may be nil.
	create func(*unstructured.Unstructured)
	then   map[string]any
	// inactive: the object was made inactive, and so is one that exists.
	inactive bool

	// uid is the object's, once it is in the cluster.
	uid string
}

// conflictRetries bounds how often to try an update when others change the object meanwhile.
const conflictRetries = 10

// put creates the object, or updates the existing one.
func (c *client) put(ctx context.Context, w *write) (outcome, error) {
	object := w.created()
	body, err := json.Marshal(object)
	if err != nil {
		return failed, err
	}
	meta, err := c.create(ctx, w.resource, w.Namespace, body)
	if err == nil {
		w.uid = string(meta.UID)
		w.Name = meta.Name // it may have been generated
		return created, c.complete(ctx, w, object, meta.ResourceVersion)
	}
	if !apierrors.IsAlreadyExists(err) {
		return failed, err
	}
	for range conflictRetries {
		what, err := c.merge(ctx, w)
		if !apierrors.IsConflict(err) {
			return what, err
		}
	}
	return failed, fmt.Errorf("other clients changed it during each of %d attempts to update it", conflictRetries)
}

// The caller does not change the result of created.
func (w *write) created() map[string]any {
	if w.create == nil {
		return w.desired.Object
	}
	changed := w.desired.DeepCopy()
	w.create(changed)
	return changed.Object
}

// complete writes what remains after an object was created.
func (c *client) complete(ctx context.Context, w *write, object map[string]any, resourceVersion string) error {
	if w.status != nil {
		if err := c.setStatus(ctx, w, object, resourceVersion); err != nil {
			return &statusError{err}
		}
	}
	if w.then != nil {
		if _, err := c.patch(ctx, w.resource, w.Namespace, w.Name, w.then); err != nil {
			return &statusError{err}
		}
	}
	return nil
}

// setStatus writes the status of an object that was just created, even if others have written to it
// since. That is rare, and an update costs an API server half as much as a patch.
func (c *client) setStatus(ctx context.Context, w *write, object map[string]any, resourceVersion string) error {
	// Copies, because a failed attempt is repeated with the same object.
	whole := maps.Clone(object)
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	metadata["name"], metadata["resourceVersion"] = w.Name, resourceVersion
	whole["metadata"], whole["status"] = metadata, w.status
	body, err := json.Marshal(whole)
	if err != nil {
		return err
	}
	_, err = c.update(ctx, w.resource, w.Namespace, w.Name, body, "status")
	if apierrors.IsConflict(err) {
		_, err = c.patch(ctx, w.resource, w.Namespace, w.Name, map[string]any{"status": w.status}, "status")
	}
	return err
}

// statusError: the object was written, but its status was not.
type statusError struct{ error }

func (e *statusError) Unwrap() error { return e.error }

func (c *client) merge(ctx context.Context, w *write) (outcome, error) {
	data, err := c.get(ctx, w.resource, w.Namespace, w.Name)
	if err != nil {
		return failed, err
	}
	existing := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &existing.Object); err != nil {
		return failed, fmt.Errorf("decoding the API server's answer: %w", err)
	}
	w.uid = string(existing.GetUID())
	what := unchanged
	deactivated := w.inactive && objects.Deactivate(existing)
	if deactivated || differs(existing.Object, w.desired.Object) {
		before := existing.GetResourceVersion()
		overlay(existing.Object, w.desired.Object)
		body, err := json.Marshal(existing.Object)
		if err != nil {
			return failed, err
		}
		after, err := c.update(ctx, w.resource, w.Namespace, w.Name, body)
		if err != nil {
			return failed, err
		}
		if after.ResourceVersion != before {
			what = updated
		}
	}
	return c.mergeStatus(ctx, w, existing, what)
}

func (c *client) mergeStatus(ctx context.Context, w *write, existing *unstructured.Unstructured, what outcome) (outcome, error) {
	status := w.status
	if status == nil && w.GVK.Kind == "Node" {
		// A node is created together with its status.
		status = statusOf(w.desired)
	}
	if status == nil || covers(existing.Object["status"], status, "status") || !w.mergesStatus(existing) {
		return what, nil
	}
	meta, err := c.patch(ctx, w.resource, w.Namespace, w.Name, map[string]any{"status": status}, "status")
	if err != nil {
		return failed, err
	}
	if meta.ResourceVersion != existing.GetResourceVersion() {
		what = updated
	}
	return what, nil
}

// mergesStatus reports whether the input's status replaces the cluster's. That of a pod here does
// so only when the pod has finished in the input.
func (w *write) mergesStatus(existing *unstructured.Unstructured) bool {
	if w.GVK.Kind != "Pod" || w.GVK.Group != "" {
		return true
	}
	return isFinishedPod(phaseOf(w.status)) && !isFinishedPod(phaseOf(statusOf(existing)))
}

func phaseOf(status map[string]any) string {
	phase, _ := status["phase"].(string)
	return phase
}

func isFinishedPod(phase string) bool { return phase == "Succeeded" || phase == "Failed" }
