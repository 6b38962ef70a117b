package standalone

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/scheduler/versions/wire"
	"kube-scheduler-simulator/simulator/past/replay"
	"kube-scheduler-simulator/simulator/questions/upgrade"
)

var _ upgrade.Cluster = (*Cluster)(nil)

// Load returns the decisions about the pods of the moment that was read.
func (c *Cluster) Load(ctx context.Context) (*upgrade.Load, error) {
	ops, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	l := &upgrade.Load{Source: upgrade.Moment(ops), Cluster: c.name, Version: c.reading.version, Configuration: c.reading.configuration}
	if source := c.reading.later.source; source != nil {
		if l.Version, err = source.Version(ctx); err != nil {
			return nil, fmt.Errorf("asking %s for its version: %w", c.name, err)
		}
	}
	for _, g := range c.Grounds().Missing {
		l.NotJudged = append(l.NotJudged, g.Text)
	}
	notes, further := c.Notes()
	l.NotJudged = append(l.NotJudged, notes...)
	if further > 0 {
		l.NotJudged = append(l.NotJudged, fmt.Sprintf("%d more objects were left out.", further))
	}
	return l, nil
}

// Upgrade compares the decisions of two versions; see upgrade.Ask.
func (c *Cluster) Upgrade(ctx context.Context, q upgrade.Question, progress func(upgrade.Progress)) (*upgrade.Answer, error) {
	return upgrade.Ask(ctx, c, q, progress)
}

// History is a whole recording: each decision that it holds, in the state of its moment.
type History struct {
	// File is the recording's path. Name is how its user calls it; empty for the path, and its last element as the cluster's name.
	File, Name string
}

var _ upgrade.Cluster = History{}

// Load reads the recording's header. Each pass over its source reads the changes from the file again.
func (h History) Load(ctx context.Context) (*upgrade.Load, error) {
	l := &upgrade.Load{Cluster: cmp.Or(h.Name, filepath.Base(h.File)), Source: func(ctx context.Context, do func(upgrade.Step) error) error {
		return h.open(func(r *replay.Recording) error { return decisions(ctx, r.Read(), do) })
	}}
	err := h.open(func(r *replay.Recording) error {
		l.Version = r.Header.SourceVersion
		if r.Header.Redacted {
			l.NotJudged = append(l.NotJudged, "The recording is redacted: plugins see other names and labels than the cluster had, in both versions the same.")
		}
		if r.Truncated {
			l.NotJudged = append(l.NotJudged, "The recording breaks off, because its recorder did not end it.")
		}
		return ctx.Err()
	})
	return l, err
}

// Upgrade compares the decisions of two versions; see upgrade.Ask.
func (h History) Upgrade(ctx context.Context, q upgrade.Question, progress func(upgrade.Progress)) (*upgrade.Answer, error) {
	return upgrade.Ask(ctx, h, q, progress)
}

func (h History) open(do func(*replay.Recording) error) error {
	file, err := os.Open(h.File)
	if err != nil {
		return err
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return err
	}
	recording, err := replay.Open(file, stat.Size())
	if err == nil {
		err = do(recording)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cmp.Or(h.Name, h.File), err)
	}
	return nil
}

// decisions yields the changes of a recording. The decision about a pod comes before the change that binds the pod to its node,
// and after the change that first marks the pod unschedulable.
func decisions(ctx context.Context, r *replay.Reader, do func(upgrade.Step) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, step := range stepsOf(c) {
			if err := do(step); err != nil {
				return err
			}
		}
	}
}

func stepsOf(c replay.Change) []upgrade.Step {
	switch c.Verb {
	case replay.Delete:
		return []upgrade.Step{{Delete: &wire.Reference{APIVersion: c.Kind.APIVersion, Kind: c.Kind.Kind, Namespace: c.Namespace, Name: c.Name}}}
	case replay.Set:
	default:
		return nil
	}
	set := upgrade.Step{Set: complete(c, c.Object)}
	if c.Kind.GVK() != corev1.SchemeGroupVersion.WithKind("Pod") || c.Before == nil {
		return []upgrade.Step{set}
	}
	switch before, after := nodeOf(c.Before), nodeOf(c.Object); {
	case before == "" && after != "":
		return []upgrade.Step{{Decide: encoded(complete(c, c.Before))}, set}
	case after == "" && isUnschedulable(c.Object) && !isUnschedulable(c.Before):
		return []upgrade.Step{set, {Decide: encoded(complete(c, c.Object))}}
	}
	return []upgrade.Step{set}
}

func nodeOf(pod map[string]any) string {
	node, _, _ := unstructured.NestedString(pod, "spec", "nodeName")
	return node
}

// isUnschedulable reports whether the scheduler has said so about a pod.
func isUnschedulable(pod map[string]any) bool {
	all, _, _ := unstructured.NestedFieldNoCopy(pod, "status", "conditions")
	conditions, _ := all.([]any)
	return slices.ContainsFunc(conditions, func(one any) bool {
		c, _ := one.(map[string]any)
		return c["type"] == string(corev1.PodScheduled) && c["status"] == string(corev1.ConditionFalse) && c["reason"] == corev1.PodReasonUnschedulable
	})
}

// encoded writes an object of a recording, which was JSON.
func encoded(object map[string]any) []byte {
	data, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return data
}

// complete gives an object the kind and name that a recording holds beside it.
func complete(c replay.Change, object map[string]any) map[string]any {
	object["apiVersion"], object["kind"] = c.Kind.APIVersion, c.Kind.Kind
	return object
}
