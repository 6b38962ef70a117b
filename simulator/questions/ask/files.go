package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// Subject is a pod, or a workload, of a file.
type Subject struct {
	// Pod is in JSON, and Name is its namespace and name, for people.
	Pod  hypothesis.Document
	Name string
	// Kind is Pod, or that of the workload.
	Kind string
	// Replicas is the number of copies of the workload that made the pod; 0 for a pod.
	Replicas int
	// Beside are the other objects of the file that matter to scheduling.
	Beside []hypothesis.Change
}

// ReadSubject reads a file that holds one pod, or one workload with a template for its pods, and
// other objects beside it. The name "-" stands for stdin. namespace is for objects without one.
func ReadSubject(ctx context.Context, file, namespace string, stdin io.Reader) (*Subject, error) {
	subjects, err := ReadSubjects(ctx, file, namespace, stdin)
	if err != nil {
		return nil, err
	}
	if len(subjects) > 1 {
		return nil, fmt.Errorf("%s has several pods; a question is about one", filepath.Base(file))
	}
	return &subjects[0], nil
}

// ReadSubjects reads the pods and workloads of a file, a directory or an archive. All have the same
// objects beside them. There is at least one.
func ReadSubjects(ctx context.Context, file, namespace string, stdin io.Reader) ([]Subject, error) {
	read, err := readObjects(ctx, file, stdin)
	if err != nil {
		return nil, err
	}
	var out []Subject
	var beside []hypothesis.Change
	for _, o := range read {
		u, err := inNamespace(o, namespace)
		if err != nil {
			return nil, err
		}
		template, replicas, isSubject := podOf(u)
		switch {
		case !isSubject && !matters(o.GVK.GroupKind()):
		case !isSubject:
			change, err := apply(u)
			if err != nil {
				return nil, err
			}
			beside = append(beside, change)
		default:
			s := Subject{Name: u.GetNamespace() + "/" + u.GetName(), Kind: u.GetKind(), Replicas: replicas}
			if s.Pod, err = json.Marshal(template); err != nil {
				return nil, err
			}
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no pod, and no workload with a template for pods", filepath.Base(file))
	}
	for i := range out {
		out[i].Beside = beside
	}
	return out, nil
}

func inNamespace(o *manifest.Object, namespace string) (*unstructured.Unstructured, error) {
	u, err := o.Unstructured()
	if err != nil {
		return nil, err
	}
	// Unknown kinds may have namespaces.
	k := objects.KindOf(o.GVK.GroupKind())
	if u.GetNamespace() == "" && (k.Namespaced || k.Rank == objects.RankOther) {
		u.SetNamespace(namespace)
	}
	return u, nil
}

// matters reports whether objects of the kind can change where pods go, so that a question may hold
// them.
func matters(gk schema.GroupKind) bool {
	return objects.KindOf(gk).Uses&objects.Recorded != 0 || gk == schema.GroupKind{Kind: "LimitRange"} || gk.Group == objects.PriorityClass.Group
}

func apply(u *unstructured.Unstructured) (hypothesis.Change, error) {
	document, err := json.Marshal(u.Object)
	return hypothesis.Change{Apply: document}, err
}

// templates are the fields of workloads that hold the template of their pods.
var templates = map[string][]string{
	"Deployment":            {"spec", "template"},
	"ReplicaSet":            {"spec", "template"},
	"ReplicationController": {"spec", "template"},
	"StatefulSet":           {"spec", "template"},
	"DaemonSet":             {"spec", "template"},
	"Job":                   {"spec", "template"},
	"CronJob":               {"spec", "jobTemplate", "spec", "template"},
}

// podOf returns a pod, or the one that a workload would create, and the number of them. It reports
// whether u is either.
func podOf(u *unstructured.Unstructured) (pod map[string]any, replicas int, is bool) {
	if u.GetKind() == "Pod" {
		return u.Object, 0, true
	}
	path := templates[u.GetKind()]
	template, found, err := unstructured.NestedMap(u.Object, path...)
	if path == nil || !found || err != nil {
		return nil, 0, false
	}
	p := unstructured.Unstructured{Object: template}
	p.SetAPIVersion("v1")
	p.SetKind("Pod")
	p.SetName(u.GetName())
	p.SetNamespace(u.GetNamespace())
	replicas = 1
	for _, field := range []string{"replicas", "parallelism"} {
		if n, set, err := unstructured.NestedInt64(u.Object, "spec", field); set && err == nil {
			replicas = int(n)
		}
	}
	return p.Object, replicas, true
}

// ReadChanges reads a file of objects to apply. count is how many copies of each to make; nil means
// the objects themselves. file, namespace and stdin are as for ReadSubject.
func ReadChanges(ctx context.Context, file, namespace string, count *int, stdin io.Reader) ([]hypothesis.Change, error) {
	read, err := readObjects(ctx, file, stdin)
	if err != nil {
		return nil, err
	}
	if len(read) == 0 {
		return nil, fmt.Errorf("%s has no objects", file)
	}
	var changes []hypothesis.Change
	for _, o := range read {
		u, err := inNamespace(o, namespace)
		if err != nil {
			return nil, err
		}
		change, err := apply(u)
		if err != nil {
			return nil, err
		}
		change.Count = count
		changes = append(changes, change)
	}
	return changes, nil
}

// ReadDocuments reads the objects of a file, as the documents of a question. file and stdin are as for ReadSubject.
func ReadDocuments(ctx context.Context, file string, stdin io.Reader) ([]hypothesis.Document, error) {
	read, err := readObjects(ctx, file, stdin)
	if err != nil {
		return nil, err
	}
	out := make([]hypothesis.Document, len(read))
	for i, o := range read {
		out[i] = o.JSON
	}
	return out, nil
}

// Every mistake in the file is an error.
func readObjects(ctx context.Context, file string, stdin io.Reader) ([]*manifest.Object, error) {
	source, err := open(file, stdin)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	var read []*manifest.Object
	var wrong []string
	err = manifest.Read(ctx, source, manifest.Content{
		Object: func(o *manifest.Object) error {
			read = append(read, o)
			return nil
		},
		Configuration: func(source string, _ []byte) {
			wrong = append(wrong, source+": a scheduler configuration belongs to --scheduler-config")
		},
		Unreadable: func(source, message string) { wrong = append(wrong, source+": "+message) },
	})
	if err == nil && len(wrong) > 0 {
		err = errors.New(strings.Join(wrong, "; "))
	}
	return read, err
}

func open(file string, stdin io.Reader) (manifest.Source, error) {
	if file != "-" {
		return manifest.OpenSource(file)
	}
	data, err := io.ReadAll(stdin)
	return manifest.NewSource(manifest.Part{Name: "stdin", Content: bytes.NewReader(data), Size: int64(len(data))}), err
}

// Node returns an existing node in JSON, of which a change makes copies.
func Node(ctx context.Context, target Target, name string) (hypothesis.Document, error) {
	data, err := target.Node(ctx, name)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, &u.Object); err != nil {
		return nil, fmt.Errorf("decoding the node %s: %w", name, err)
	}
	u.SetAPIVersion("v1")
	u.SetKind("Node")
	for _, field := range append(objects.ClusterMetadata(), "creationTimestamp") {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	return json.Marshal(u.Object)
}
