package virtualnode

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/apis/v1alpha1"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

//go:embed stages.yaml
var defaultStages []byte

// Stages are the stages of nodes and pods. The zero value stands for ours.
type Stages struct {
	// node and pod are nil for a kind without stages of its own.
	node, pod lifecycle.Lifecycle
}

// LoadStages reads a file of kwok Stages. It finds every mistake that can be found
// without an object.
func LoadStages(file string) (*Stages, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the stages: %w", err)
	}
	stages, err := parseStages(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return stages, nil
}

func parseStages(data []byte) (*Stages, error) {
	found, err := decodeStages(data)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("there is no Stage in it")
	}
	byKind := map[string][]*internalversion.Stage{}
	for _, stage := range found {
		internal, err := checkStage(stage)
		if err != nil {
			return nil, fmt.Errorf("stage %q: %w", stage.Name, err)
		}
		kind := stage.Spec.ResourceRef.Kind
		byKind[kind] = append(byKind[kind], internal)
	}
	s := &Stages{}
	if s.node, err = compile(byKind["Node"], &corev1.Node{}); err != nil {
		return nil, err
	}
	s.pod, err = compile(byKind["Pod"], &corev1.Pod{})
	return s, err
}

// withDefaults returns s with our stages for the kinds that have none in s.
func (s *Stages) withDefaults() (*Stages, error) {
	ours, err := parseStages(defaultStages)
	if err != nil {
		return nil, fmt.Errorf("built-in stages: %w", err)
	}
	if s.node != nil {
		ours.node = s.node
	}
	if s.pod != nil {
		ours.pod = s.pod
	}
	return ours, nil
}

// decodeStages reads YAML documents: Stages, and Lists of them.
func decodeStages(data []byte) ([]*v1alpha1.Stage, error) {
	documents, wrong := yamlsource.Documents(context.Background(), data, yamlsource.Settings)
	if wrong != nil {
		return nil, wrong
	}
	var found []*v1alpha1.Stage
	for i, document := range documents {
		stages, err := decodeDocument(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		found = append(found, stages...)
	}
	return found, nil
}

func decodeDocument(document *yaml.Node) ([]*v1alpha1.Stage, error) {
	var twice yamlsource.Mistakes
	if twice.Duplicates(document); len(twice.List) > 0 {
		return nil, &twice.List[0]
	}
	text, err := yaml.Marshal(document)
	if err != nil {
		return nil, err
	}
	data, wrong := yamlsource.JSON(text)
	if wrong != nil {
		return nil, wrong
	}
	return stagesIn(document, data)
}

// stagesIn decodes a Stage, or a List of them, which data is as JSON.
func stagesIn(n *yaml.Node, data []byte) ([]*v1alpha1.Stage, error) {
	var head struct {
		APIVersion string                 `json:"apiVersion"`
		Kind       string                 `json:"kind"`
		Items      []runtime.RawExtension `json:"items"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Kind == "" && head.APIVersion == "":
		return nil, nil // nothing but comments
	case head.Kind == "List" || head.Kind == "StageList":
		var stages []*v1alpha1.Stage
		for i, item := range head.Items {
			more, err := stagesIn(yamlsource.Target(yamlsource.Field(n, "items").Content[i]), item.Raw)
			if err != nil {
				return nil, fmt.Errorf("items[%d]: %w", i, err)
			}
			stages = append(stages, more...)
		}
		return stages, nil
	case head.Kind != v1alpha1.StageKind || head.APIVersion != v1alpha1.GroupVersion.String():
		return nil, fmt.Errorf("it is a %s of %s, not a Stage of %s", head.Kind, head.APIVersion, v1alpha1.GroupVersion)
	}
	stage := &v1alpha1.Stage{}
	if err := yamlsource.DecodeNode(n, data, stage).Err(); err != nil {
		return nil, err
	}
	return []*v1alpha1.Stage{stage}, nil
}

// checkStage converts a stage for kwok's engine.
func checkStage(stage *v1alpha1.Stage) (*internalversion.Stage, error) {
	ref := stage.Spec.ResourceRef
	if (ref.APIGroup != "" && ref.APIGroup != "v1") || (ref.Kind != "Node" && ref.Kind != "Pod") {
		return nil, fmt.Errorf("it is for %s of %q; only for Node and Pod of v1 are there stages", ref.Kind, ref.APIGroup)
	}
	if stage.Spec.Selector == nil {
		return nil, errors.New("it has no selector, so nothing would match")
	}
	internal, err := internalversion.ConvertToInternalStage(stage)
	if err != nil {
		return nil, err
	}
	for i, step := range internal.Spec.Steps {
		switch {
		case step.Apply != nil:
			return nil, fmt.Errorf("steps[%d].apply is not supported", i)
		case step.Patch != nil && step.Patch.Impersonation != nil:
			return nil, fmt.Errorf("steps[%d].patch.impersonation is not supported", i)
		}
	}
	if err := checkExpressions(internal); err != nil {
		return nil, err
	}
	functions := podTemplateFunctions(func(string) *corev1.Node { return nil })
	if ref.Kind == "Node" {
		functions = nodeTemplateFunctions()
	}
	return internal, checkTemplates(internal, functions)
}

// compile prepares the stages. kwok compiles the expressions of a stage when it is
// first matched, which must happen in one goroutine; compile matches them with the
// sample.
func compile(stages []*internalversion.Stage, sample any) (lifecycle.Lifecycle, error) {
	if len(stages) == 0 {
		return nil, nil
	}
	all, err := lifecycle.NewLifecycle(stages)
	if err != nil {
		return nil, err
	}
	for _, stage := range all {
		if _, err := (lifecycle.Lifecycle{stage}).Match(context.Background(), &lifecycle.Event{Data: sample}); err != nil {
			return nil, fmt.Errorf("stage %q: %w", stage.Name(), err)
		}
	}
	return all, nil
}
