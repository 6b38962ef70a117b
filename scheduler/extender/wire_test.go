package extender

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// The record of a request or an answer of any size is bounded and valid JSON.
func TestDocumentsAreBoundedAndJSON(t *testing.T) {
	for _, n := range []int{0, 1, 100, 600, 5000} {
		for _, long := range []int{1, 300, maxBytes / 2, 2 * maxBytes} {
			var names []string
			failures, victims, scores := extenderv1.FailedNodesMap{}, map[string]*extenderv1.Victims{}, extenderv1.HostPriorityList{}
			for i := range n {
				name := fmt.Sprintf("node-%05d", i)
				names = append(names, name)
				failures[name] = strings.Repeat("é", long)
				victims[name] = &extenderv1.Victims{Pods: []*v1.Pod{podOf("x"), podOf("y")}}
				scores = append(scores, extenderv1.HostPriority{Host: name, Score: int64(i)})
			}
			nodes, pod := nodesOf(names...), podOf("p")
			pod.Annotations = map[string]string{"note": strings.Repeat("x", long)}
			for name, document := range map[string]func() (string, bool){
				"filter request":         func() (string, bool) { return nodesRequest(pod, nodes, false) },
				"filter request, whole":  func() (string, bool) { return nodesRequest(pod, nodes, true) },
				"filter response":        func() (string, bool) { return filterResponse(nodes, failures, failures, false) },
				"filter response, whole": func() (string, bool) { return filterResponse(nodes, nil, failures, true) },
				"prioritize response":    func() (string, bool) { return prioritizeResponse(scores) },
				"preempt request":        func() (string, bool) { return preemptRequest(pod, victims, false) },
				"preempt request, whole": func() (string, bool) { return preemptRequest(pod, victims, true) },
				"preempt response":       func() (string, bool) { return preemptResponse(victims) },
			} {
				text, cut := document()
				if len(text) > maxBytes || !json.Valid([]byte(text)) {
					t.Errorf("%s of %d nodes, %d long: %d bytes, JSON %t: %.100s", name, n, long, len(text), json.Valid([]byte(text)), text)
				}
				if n == 5000 && !cut {
					t.Errorf("%s of %d nodes is not marked as cut", name, n)
				}
				if n <= 1 && long == 1 && cut {
					t.Errorf("%s of %d nodes is marked as cut", name, n)
				}
			}
		}
	}
}

func TestLongPodIsKeptByName(t *testing.T) {
	pod := podOf("p")
	pod.Annotations = map[string]string{"note": strings.Repeat("x", maxBytes)}
	text, cut := nodesRequest(pod, nodesOf("a"), false)
	if want := `{"Pod":{"metadata":{"name":"p","namespace":"default","uid":"p"}},"NodeNames":["a"]}`; text != want || !cut {
		t.Errorf("cut %t: %s", cut, text)
	}
}
