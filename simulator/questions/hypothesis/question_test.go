package hypothesis

import (
	"encoding/json"
	"testing"
)

// TestCounts: over HTTP as from the command line, a count is a number of new objects, and none is not zero.
func TestCounts(t *testing.T) {
	const apply = `{"apply": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}`
	for document, want := range map[string]int{
		apply + `}`: 0, apply + `, "count": null}`: 0, apply + `, "count": 1}`: 1, apply + `, "count": 2}`: 2, apply + `, "count": 5000}`: 5000,
		apply + `, "count": 0}`: -1, apply + `, "count": -1}`: -1, apply + `, "count": 5001}`: -1,
		`{"delete": {"apiVersion": "v1", "kind": "Node", "name": "a"}, "count": 1}`: -1,
		`{"delete": {"apiVersion": "v1", "kind": "Node", "name": "a"}}`:             0,
	} {
		var c Change
		if err := json.Unmarshal([]byte(document), &c); err != nil {
			t.Fatal(err)
		}
		got, err := c.Copies("changes[0]")
		if want < 0 {
			bad, refused := err.(*Refused)
			if !refused || bad.Mistakes[0].Field != "changes[0].count" {
				t.Errorf("%s: %d, %v", document, got, err)
			}
		} else if err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", document, got, err, want)
		}
	}
}
