package kubectl

import (
	"context"
	"errors"
	"io"
	"slices"

	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

// Questions returns a question about each pod and workload: those that args name, or those of the files. in is stdin.
func Questions(ctx context.Context, args, files []string, namespace string, in io.Reader) ([]why.Question, error) {
	switch {
	case (len(args) > 0) == (len(files) > 0):
		return nil, errors.New("name either pods and workloads of the cluster, or files with -f (see --help)")
	case len(files) > 0:
		return ReadFiles(ctx, files, namespace, in)
	}
	return ask.ParseNames(args, namespace)
}

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
