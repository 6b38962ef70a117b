package kubectl

import (
	"context"
	"io"
	"slices"

	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

// ReadFiles reads the pods and the workloads of files, directories or archives, "-" for stdin, and returns a question
// about each.
func ReadFiles(ctx context.Context, files []string, namespace string, stdin io.Reader) ([]why.Question, error) {
	var out []why.Question
	for _, file := range files {
		subjects, err := ask.ReadSubjects(ctx, file, namespace, stdin)
		if err != nil {
			return nil, err
		}
		for _, s := range subjects {
			out = append(out, why.Question{
				Question: hypothesis.Question{Pod: s.Pod, Changes: slices.Clone(s.Beside)}, Replicas: s.Replicas, Kind: s.Kind,
			})
		}
	}
	return out, nil
}
