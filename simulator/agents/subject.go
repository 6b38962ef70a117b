package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

const (
	// maxName bounds a name that Kubernetes gives, in characters, and maxManifest a text in YAML.
	maxName     = 253
	maxManifest = 256 << 10
	// maxChanges bounds the changes of a question.
	maxChanges = 50
)

// subject is the pod, or the workload, that a question is about.
type subject struct {
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Workload  string `json:"workload,omitempty"`
	Manifest  string `json:"manifest,omitempty"`
}

func name(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: description, MinLength: new(1), MaxLength: new(maxName)}
}

func document(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: description, MinLength: new(1), MaxLength: new(maxManifest)}
}

func number(description string, least, most int) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Description: description, Minimum: new(float64(least)), Maximum: new(float64(most))}
}

// with adds the properties of a subject to others.
func with(properties map[string]*jsonschema.Schema, workloads bool) map[string]*jsonschema.Schema {
	properties["namespace"] = name("Namespace of the pod, and of objects that name none. Default: default.")
	properties["pod"] = name("Name of a pod of the cluster.")
	properties["manifest"] = document("Instead of pod: YAML of one pod or workload that need not exist, with any other objects to create before it.")
	if workloads {
		properties["workload"] = &jsonschema.Schema{
			Type: "string", MinLength: new(3), MaxLength: new(maxName + 64),
			Description: "Instead of pod: KIND/NAME of a workload of the cluster, such as Deployment/web. KIND is Deployment, StatefulSet, DaemonSet, Job, ReplicaSet or ReplicationController.",
		}
	}
	return properties
}

// question returns the question about the subject.
func (s subject) question(ctx context.Context) (why.Question, error) {
	var q why.Question
	namespace := s.Namespace
	if namespace == "" {
		namespace = "default"
	}
	given := 0
	for _, one := range []string{s.Pod, s.Workload, s.Manifest} {
		if one != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return q, errors.New("want exactly one of pod, workload and manifest; list what is pending with search_decisions, or with kubectl get pods -A")
	case s.Pod != "":
		q.PodRef = &hypothesis.PodName{Namespace: namespace, Name: s.Pod}
	case s.Workload != "":
		if !strings.Contains(s.Workload, "/") {
			return q, fmt.Errorf("%q does not name a workload: want KIND/NAME, such as Deployment/web", s.Workload)
		}
		questions, err := ask.ParseNames([]string{s.Workload}, namespace)
		if err != nil {
			return q, err
		}
		return questions[0], nil
	default:
		read, err := ask.ReadSubject(ctx, "-", namespace, strings.NewReader(s.Manifest))
		if err != nil {
			return q, fmt.Errorf("manifest: %w", err)
		}
		q.Pod, q.Changes, q.Replicas, q.Kind = read.Pod, read.Beside, read.Replicas, read.Kind
	}
	return q, nil
}
