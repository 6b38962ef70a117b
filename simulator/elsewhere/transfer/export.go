package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// Format is how an export is written.
type Format string

const (
	JSON Format = "json"
	YAML Format = "yaml"
)

// ExportOptions say what an export holds.
type ExportOptions struct {
	// Format is JSON by default.
	Format Format
	// Results adds the results of the pods that exist.
	Results bool
	// Redact removes all names, and all text that people have written.
	Redact bool
}

// Export returns ErrNoRedaction when it cannot redact.
var ErrNoRedaction = errors.New("exports cannot be redacted here")

// Export writes the cluster as one List that kubectl can apply, with the scheduler's configuration
// beside its items, which are in the order of their ranks. It keeps only the part of the status
// that an import or a scheduler uses, and leaves out secrets, events, objects that an API server or
// a controller creates by itself, and unchanged objects that every cluster has from the start.
//
// It reads objects a page at a time and writes them as they arrive, except for pods, which it sorts
// by creation time. After an error w has half a document.
func (cluster *Cluster) Export(ctx context.Context, w io.Writer, opts ExportOptions) error {
	if opts.Redact && cluster.opts.Redact == nil {
		return ErrNoRedaction
	}
	c, err := newClient(cluster.opts.Config)
	if err != nil {
		return err
	}
	if err := c.discover(); err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(w, 256<<10)
	e := &exporter{cluster: cluster, opts: opts, client: c, out: writerOf(opts.Format, buffered), uids: map[string]bool{}}
	if err := e.run(ctx); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("writing the export: %w", err)
	}
	return nil
}

type exporter struct {
	cluster *Cluster
	opts    ExportOptions
	client  *client
	out     listWriter
	uids    map[string]bool
	// leftOut are the custom resources that the API server cannot list.
	leftOut []omission
}

// omission is a kind that an export does not hold, or not all of.
type omission struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Message    string `json:"message"`
}

// leftOutField is the field of an export that names them. An import ignores it.
const leftOutField = "leftOut"

// customTimeout bounds listing the custom resources of a kind, whose conversion webhook may hang.
const customTimeout = 15 * time.Second

func (e *exporter) run(ctx context.Context) error {
	if err := e.out.begin(); err != nil {
		return err
	}
	custom, err := e.client.customKinds(ctx)
	if err != nil {
		return err
	}
	var exported []schema.GroupKind
	for _, k := range objects.Kinds(objects.Exported) {
		if !slices.Contains(custom, k.GroupKind()) {
			exported = append(exported, k.GroupKind())
		}
	}
	// Custom resources go where their rank says.
	slices.SortFunc(custom, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	exported = append(exported, custom...)
	slices.SortStableFunc(exported, func(a, b schema.GroupKind) int { return cmp.Compare(objects.RankOf(a), objects.RankOf(b)) })
	isCustom := map[schema.GroupKind]bool{}
	for _, gk := range custom {
		isCustom[gk] = true
	}
	for _, gk := range exported {
		r, served := e.client.preferredFor(gk)
		if !served || !r.listable {
			continue
		}
		if !isCustom[gk] {
			if err := e.kind(ctx, r, false); err != nil {
				return err
			}
			continue
		}
		if err := e.customKind(ctx, r); err != nil {
			return err
		}
	}
	if err := e.configuration(); err != nil {
		return err
	}
	if err := e.version(); err != nil {
		return err
	}
	if err := e.writeLeftOut(); err != nil {
		return err
	}
	if err := e.results(ctx); err != nil {
		return err
	}
	return e.out.end()
}

// If the API server cannot list a custom kind, for example because the conversion webhook of its
// definition is broken, customKind notes that, and the export goes on.
func (e *exporter) customKind(ctx context.Context, r resource) error {
	err := e.kind(ctx, r, true)
	why, unlistable := errors.AsType[*unlistableError](err)
	if !unlistable || ctx.Err() != nil {
		return err
	}
	version, kind := r.gvk.ToAPIVersionAndKind()
	e.leftOut = append(e.leftOut, omission{version, kind, why.Error()})
	e.cluster.opts.Logger.Error(err, "An export leaves a custom kind out", "kind", kind)
	return nil
}

type unlistableError struct{ error }

func (e *unlistableError) Unwrap() error { return e.error }

// For a custom kind, the error of page may be an *unlistableError.
func (e *exporter) page(ctx context.Context, r resource, next string, custom bool) (*page, error) {
	if !custom {
		return e.client.list(ctx, r, next)
	}
	ctx, cancel := context.WithTimeout(ctx, customTimeout)
	defer cancel()
	p, err := e.client.list(ctx, r, next)
	if _, refused := errors.AsType[*apierrors.StatusError](err); refused || err != nil && ctx.Err() != nil {
		return nil, &unlistableError{err}
	}
	return p, err
}

// versionField is the field of an export that has the version of Kubernetes that the API server reports. An import ignores it.
const versionField = "kubernetesVersion"

func (e *exporter) version() error {
	served, err := e.client.discovery.ServerVersion()
	if err != nil {
		return fmt.Errorf("asking for the version: %w", err)
	}
	data, err := json.Marshal(objects.ServedVersion(served))
	if err != nil {
		return fmt.Errorf("encoding the version: %w", err)
	}
	return e.out.field(versionField, data)
}

func (e *exporter) writeLeftOut() error {
	if len(e.leftOut) == 0 {
		return nil
	}
	if e.opts.Redact {
		for i := range e.leftOut {
			e.leftOut[i].Message = "the API server could not list the objects"
		}
	}
	data, err := json.Marshal(e.leftOut)
	if err != nil {
		return fmt.Errorf("encoding what was left out: %w", err)
	}
	return e.out.field(leftOutField, data)
}

// pageSize is how many objects a request asks for.
const pageSize = 500

func (e *exporter) kind(ctx context.Context, r resource, custom bool) error {
	var sorted []exportedPod
	for next := ""; ; {
		page, err := e.page(ctx, r, next, custom)
		if err != nil {
			return fmt.Errorf("listing %s: %w", r.gvr.Resource, err)
		}
		for _, raw := range page.Items {
			u := &unstructured.Unstructured{}
			if err := utiljson.Unmarshal(raw, &u.Object); err != nil {
				return fmt.Errorf("decoding %s: %w", r.gvr.Resource, err)
			}
			u.SetGroupVersionKind(r.gvk)
			// A redacted claim names its class differently from other clusters.
			if isStartState(u) && !(e.opts.Redact && u.GroupVersionKind().GroupKind() == objects.StorageClass) || leftOutOfExport(u) {
				continue
			}
			created := u.GetCreationTimestamp().Time
			uid := string(u.GetUID())
			if e.opts.Redact && !e.cluster.opts.Redact(u) {
				continue
			}
			data, err := item(u, custom)
			if err != nil {
				return err
			}
			if r.gvk.GroupKind() == (objects.Pod) {
				sorted = append(sorted, exportedPod{created.Unix(), u.GetNamespace() + "/" + u.GetName(), data})
				e.uids[uid] = true
				continue
			}
			if err := e.out.item(data); err != nil {
				return err
			}
		}
		if next = page.Metadata.Continue; next == "" {
			break
		}
	}
	slices.SortFunc(sorted, func(a, b exportedPod) int {
		return cmp.Or(cmp.Compare(a.created, b.created), strings.Compare(a.name, b.name))
	})
	for _, p := range sorted {
		if err := e.out.item(p.data); err != nil {
			return err
		}
	}
	return nil
}

type exportedPod struct {
	created int64
	name    string
	data    []byte
}

// item encodes the exported part of an object.
func item(u *unstructured.Unstructured, custom bool) ([]byte, error) {
	neutralForExport(u, custom)
	data, err := json.Marshal(u.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return data, nil
}

// neutralForExport leaves what kubectl can apply and an import uses.
func neutralForExport(u *unstructured.Unstructured, custom bool) {
	own, status := ownerOf(u), statusOf(u)
	Neutral(u)
	if u.GroupVersionKind().GroupKind() == objects.Definition {
		cleanDefinition(u)
	}
	if own != nil {
		noted, err := json.Marshal(own)
		if err == nil {
			annotations := u.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[objects.AnnotationOwner] = string(noted)
			u.SetAnnotations(annotations)
		}
	}
	delete(u.Object, "status")
	gk := u.GroupVersionKind().GroupKind()
	switch {
	case gk == objects.Pod:
		delete(status, "observedGeneration")
		delete(status, "ephemeralContainerStatuses")
	case gk == objects.PersistentVolume:
		// An import keeps a released volume from being bound again.
		if phase := phaseOf(status); phase != "Released" && phase != "Failed" {
			status = nil
		}
	case gk == objects.Job:
		if end := endOf(status); end != "" {
			status = finishedStatus(status, end)
			// kubectl apply sets no status, so the job must not run again.
			_ = unstructured.SetNestedField(u.Object, true, "spec", "suspend")
		} else {
			status = nil
		}
	case gk == objects.ResourceClaim:
		forgetConsumers(status)
	case gk == objects.PodDisruptionBudget:
		// An import leaves it to the controller. Where none runs, only the status says what may be
		// evicted.
		delete(status, "observedGeneration")
		delete(status, "conditions")
		delete(status, "disruptedPods")
	case gk == objects.Node, custom:
	default:
		status = nil
	}
	if gk != (objects.Pod) {
		unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	}
	if len(status) > 0 {
		u.Object["status"] = status
	}
}

// forgetConsumers removes the UIDs of the pods that a claim is reserved for, and keeps their names.
func forgetConsumers(status map[string]any) {
	consumers, _ := status["reservedFor"].([]any)
	for _, c := range consumers {
		if consumer, ok := c.(map[string]any); ok {
			delete(consumer, "uid")
		}
	}
}

// isStartState reports whether every cluster has the object from the start, unchanged. So has each
// simulated cluster its default StorageClass.
func isStartState(u *unstructured.Unstructured) bool {
	gk := u.GroupVersionKind().GroupKind()
	builtIn := objects.IsBuiltIn(gk, u.GetNamespace(), u.GetName())
	switch gk {
	case objects.StorageClass:
		return isOwnDefault(u)
	case objects.Namespace:
		return builtIn && len(u.GetLabels()) <= 1 && len(u.GetAnnotations()) == 0
	case schema.GroupKind{Kind: "ServiceAccount"}:
		// Controllers make their own in kube-system.
		return builtIn || u.GetNamespace() == "kube-system" && len(u.GetLabels()) == 0 && len(u.GetAnnotations()) == 0
	}
	return builtIn
}

// leftOutOfExport reports whether an import would leave the object out.
func leftOutOfExport(u *unstructured.Unstructured) bool {
	return isBeingDeleted(u) || u.GetLabels()[objects.LabelVirtualDriver] != ""
}

func (e *exporter) configuration() error {
	if e.cluster.opts.Configuration == nil {
		return nil
	}
	document, err := e.cluster.opts.Configuration.Current()
	if err != nil {
		return fmt.Errorf("reading the scheduler configuration: %w", err)
	}
	if document, err = ConfigurationJSON(document); err != nil {
		return err
	}
	if e.opts.Redact {
		u := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(document, &u.Object); err != nil {
			return fmt.Errorf("decoding the scheduler configuration: %w", err)
		}
		if !e.cluster.opts.Redact(u) {
			return nil
		}
		if document, err = json.Marshal(u.Object); err != nil {
			return fmt.Errorf("encoding the scheduler configuration: %w", err)
		}
	}
	return e.out.field(manifest.ConfigurationField, document)
}

// withoutKeys removes the private keys of extenders from a configuration, because people pass
// exports on.
func withoutKeys(document []byte) ([]byte, error) {
	if !bytes.Contains(document, []byte("keyData")) {
		return document, nil
	}
	var fields map[string]any
	if err := utiljson.Unmarshal(document, &fields); err != nil {
		return nil, fmt.Errorf("decoding the scheduler configuration: %w", err)
	}
	extenders, _ := fields["extenders"].([]any)
	for _, e := range extenders {
		extender, _ := e.(map[string]any)
		unstructured.RemoveNestedField(extender, "tlsConfig", "keyData")
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding the scheduler configuration: %w", err)
	}
	return data, nil
}

// results writes the cycles of the exported pods. They name pods and nodes, so a redacted export
// has none.
func (e *exporter) results(ctx context.Context) error {
	if !e.opts.Results || e.cluster.opts.Results == nil || e.opts.Redact {
		return nil
	}
	if err := e.out.beginField(manifest.ResultsField); err != nil {
		return err
	}
	return e.cluster.opts.Results.WriteCycles(ctx, func(uid string) bool { return e.uids[uid] }, e.out.item)
}

type page struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

func (c *client) list(ctx context.Context, r resource, next string) (*page, error) {
	request := c.rest.Get().AbsPath(r.path("", "")...).SetHeader("Accept", runtime.ContentTypeJSON).Param("limit", fmt.Sprint(pageSize))
	if next != "" {
		request.Param("continue", next)
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	data, err := result.Raw()
	if err != nil {
		return nil, err
	}
	p := &page{}
	return p, json.Unmarshal(data, p)
}
