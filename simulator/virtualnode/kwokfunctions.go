package virtualnode

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"

	"kube-scheduler-simulator/scheduler/standin"
)

// Templates of stages for kwok call functions that kwok's controllers add to those
// of its engine. They are all here, so that such stages work unchanged. The
// addresses are made up, as are all addresses here.

// nodeTemplateFunctions are the functions for nodes, besides the engine's own.
func nodeTemplateFunctions() gotpl.FuncMap {
	functions := boundedFunctions()
	maps.Copy(functions, nodeFunctions(time.Now))
	maps.Copy(functions, kwokNodeFunctions())
	maps.Copy(functions, closedFunctions())
	return functions
}

// podTemplateFunctions are the functions for pods. node looks up a node by name, and
// returns nil if it does not exist.
func podTemplateFunctions(node func(name string) *corev1.Node) gotpl.FuncMap {
	functions := boundedFunctions()
	maps.Copy(functions, podFunctions(time.Now))
	maps.Copy(functions, kwokPodFunctions(node))
	maps.Copy(functions, closedFunctions())
	return functions
}

// errClosed is the error of functions that would reach beyond the simulated cluster.
var errClosed = errors.New("a stage reads neither the environment nor name servers")

// closedFunctions replace those of the engine that ask a name server or read this program's
// environment.
func closedFunctions() gotpl.FuncMap {
	closed := func(string) (string, error) { return "", errClosed }
	return gotpl.FuncMap{"env": closed, "expandenv": closed, "getHostByName": closed}
}

// kwokNodeFunctions do not know the node of the template: like kwok, they return the
// same for all nodes.
func kwokNodeFunctions() gotpl.FuncMap {
	return gotpl.FuncMap{
		"NodeIP":   func() string { return standin.AddressOf("", standin.NodeNetwork) },
		"NodeName": func() string { return "" },
		"NodePort": func() int { return 0 },
	}
}

// kwokPodFunctions look up nodes by name; see podTemplateFunctions.
func kwokPodFunctions(node func(name string) *corev1.Node) gotpl.FuncMap {
	nodeIP := func(name string) string {
		if n := node(name); n != nil {
			for _, address := range n.Status.Addresses {
				if address.Type == corev1.NodeInternalIP {
					return address.Address
				}
			}
		}
		return standin.AddressOf(name, standin.NodeNetwork)
	}
	podIP := func(nodeName string, hostNetwork bool, uid, _, _ string) string {
		if hostNetwork {
			return nodeIP(nodeName)
		}
		return standin.AddressOf(uid, standin.PodNetwork)
	}
	return gotpl.FuncMap{
		"NodeIP":      func() string { return nodeIP("") },
		"NodeIPWith":  nodeIP,
		"NodeIPsWith": func(name string) []string { return []string{nodeIP(name)} },
		"PodIP":       func() string { return standin.AddressOf("", standin.PodNetwork) },
		"PodIPWith":   podIP,
		"PodIPsWith": func(nodeName string, hostNetwork bool, uid, name, namespace string) []string {
			return []string{podIP(nodeName, hostNetwork, uid, name, namespace)}
		},
	}
}

// checkTemplates finds templates that are malformed, or call unknown functions or those that are
// not allowed.
func checkTemplates(stage *internalversion.Stage, functions gotpl.FuncMap) error {
	renderer := gotpl.NewRenderer(functions)
	for i, step := range stage.Spec.Steps {
		if step.Patch == nil {
			continue
		}
		if err := checkCalls(step.Patch.Template); err != nil {
			return fmt.Errorf("the template of steps[%d]: %w", i, err)
		}
		// Its result without an object does not matter.
		_, err := renderer.ToText(step.Patch.Template, struct{}{})
		if err != nil && strings.Contains(err.Error(), "build template") {
			return fmt.Errorf("the template of steps[%d]: %s", i, withoutBuffer(err))
		}
		if tooMuch, ok := errors.AsType[*tooMuchError](err); ok {
			return fmt.Errorf("the template of steps[%d]: %w", i, tooMuch)
		}
	}
	return nil
}

// withoutBuffer returns a renderer's error without the empty buffer that it appends.
func withoutBuffer(err error) string {
	said, _, _ := strings.Cut(err.Error(), "\x00")
	return strings.TrimRight(said, ": ")
}
