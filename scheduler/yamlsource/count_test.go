package yamlsource

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestAtMostCountsEveryValue: whatever the style of a document, it counts at least as many values as
// the parser makes.
func TestAtMostCountsEveryValue(t *testing.T) {
	for name, text := range map[string]string{
		"a scalar": "a", "nothing": "", "a block list": strings.Repeat("- a\n", 100), "lists in a line": strings.Repeat("- ", 100) + "a",
		"a flow list": "[" + strings.Repeat("a,", 100) + "a]", "empty lists": "[" + strings.Repeat("[],", 100) + "[]]",
		"a block mapping": mapping(100, "k%d: v\n"), "a flow mapping": "{" + mapping(100, "k%d: v, ") + "}",
		"JSON without spaces": "{" + mapping(99, `"k%d":[{}],`) + `"k":1}`,
		"complex keys":        mapping(50, "? k%d\n: v\n"), "flow lists over lines": "[" + strings.Repeat("a\n,", 50) + "]",
		"carriage returns": strings.ReplaceAll(mapping(50, "k%d:\r\n- a\r\n"), "\n", "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			var root yaml.Node
			if err := yaml.Unmarshal([]byte(text), &root); err != nil {
				t.Fatal(err)
			}
			if n := nodes(&root); n > 1 && AtMost(n-1, []byte(text)) {
				t.Errorf("the parser makes %d values", n)
			}
		})
	}
}

// TestAtMostCountsAKeyWithoutAValueOnce is its one exception.
func TestAtMostCountsAKeyWithoutAValueOnce(t *testing.T) {
	text := []byte("{" + mapping(100, "k%d,") + "}")
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	if n := nodes(&root); AtMost(n/2-1, text) {
		t.Errorf("the parser makes %d values", n)
	}
}

// TestAtMostPermitsOrdinaryText: documents of people are far below one value for four bytes.
func TestAtMostPermitsOrdinaryText(t *testing.T) {
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web", "labels": map[string]string{"app": "web"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "registry.k8s.io/pause:3.10"}}}}
	data, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	if !AtMost(len(data)/4, data) {
		t.Errorf("%d bytes have more than %d values", len(data), len(data)/4)
	}
}

func mapping(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// nodes counts what the parser made, without the document itself.
func nodes(n *yaml.Node) int {
	count := 1
	if n.Kind == yaml.DocumentNode {
		count = 0
	}
	for _, child := range n.Content {
		count += nodes(child)
	}
	return count
}
