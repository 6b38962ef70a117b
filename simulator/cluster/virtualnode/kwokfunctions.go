package virtualnode

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kwok/pkg/consts"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/standin"
)

// Templates of stages for kwok call functions that kwok's controllers add to those
// of its engine. They are all here, so that such stages work unchanged. The
// addresses are made up, as are all addresses here.

func nodeTemplateFunctions() gotpl.FuncMap {
	functions := nodeFunctions(time.Now)
	maps.Copy(functions, kwokNodeFunctions())
	return functions
}

// node returns nil for a node that does not exist.
func podTemplateFunctions(node func(name string) *corev1.Node) gotpl.FuncMap {
	functions := podFunctions(time.Now)
	maps.Copy(functions, kwokPodFunctions(node))
	return functions
}

// Like kwok, they return the same for all nodes.
func kwokNodeFunctions() gotpl.FuncMap {
	return gotpl.FuncMap{
		"NodeIP":   func() string { return standin.AddressOf("", standin.NodeNetwork) },
		"NodeName": func() string { return "" },
		"NodePort": func() int { return 0 },
	}
}

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

var started = time.Now()

func genericFunctions() gotpl.FuncMap {
	stamp := func(t time.Time) string { return t.Format(time.RFC3339Nano) }
	return gotpl.FuncMap{
		"Now":       func() string { return stamp(time.Now()) },
		"StartTime": func() string { return stamp(started) },
		"Version":   func() string { return consts.Version },
		"Quote": func(value any) (string, error) {
			data, err := json.Marshal(value)
			if err != nil || bytes.HasPrefix(data, []byte{'"'}) {
				return string(data), err
			}
			return strconv.Quote(string(data)), nil
		},
		// YAML writes a value, indented by twice as many spaces as the number says.
		"YAML": func(value any, indent ...int) (string, error) {
			data, err := yaml.Marshal(value)
			if err != nil || len(indent) != 1 || indent[0] <= 0 {
				return string(data), err
			}
			line := "\n" + strings.Repeat(" ", 2*indent[0])
			return line + strings.ReplaceAll(string(data), "\n", line), nil
		},
		// NodeConditions are those of a node that is well, as a template ranges over them.
		"NodeConditions": sync.OnceValue(func() (out []any) {
			for _, c := range standin.ConditionsOf("") {
				out = append(out, map[string]any{"type": string(c.Type), "status": string(c.Status), "reason": c.Reason, "message": c.Message})
			}
			return out
		}),
	}
}
