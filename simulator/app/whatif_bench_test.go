package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"
)

// atRest waits until controllers have digested the cluster: until the process needs little of the processor for a while.
func atRest(b *testing.B) {
	used := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	const span = time.Second
	tick := time.NewTicker(span)
	defer tick.Stop()
	for before := used(); ; {
		<-tick.C
		now := used()
		if now-before < span/5 {
			return
		}
		before = now
	}
}

// BenchmarkQuestions measures the time from a question over HTTP to the last byte of its answer, in a cluster that is at rest.
func BenchmarkQuestions(b *testing.B) {
	pod := func(name, cpu, node string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": "default", "labels": map[string]any{"app": "web"}},
			"spec": map[string]any{"nodeName": node, "containers": []any{map[string]any{
				"name": "c", "image": "registry.example/app:1", "resources": map[string]any{"requests": map[string]any{"cpu": cpu, "memory": "1Gi"}},
			}}},
		}
	}
	for _, n := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, err := startInProcess(DefaultOptions())
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := s.stop(); err != nil {
					b.Error(err)
				}
			}()
			post := func(path string, body any) []byte {
				data, err := json.Marshal(body)
				if err != nil {
					b.Fatal(err)
				}
				response, err := http.Post(s.url+path, "application/json", bytes.NewReader(data))
				if err != nil {
					b.Fatal(err)
				}
				defer response.Body.Close()
				answer, err := io.ReadAll(response.Body)
				if err != nil || response.StatusCode != http.StatusOK {
					b.Fatalf("%s: %v %.500s", response.Status, err, answer)
				}
				return answer
			}
			items := []any{pod("web", "3500m", "node-0"), pod("large", "35", "")}
			for i := range n {
				name := fmt.Sprintf("node-%d", i)
				has := map[string]any{"cpu": "16", "memory": "32Gi", "pods": "110"}
				items = append(items, pod("on-"+name, fmt.Sprintf("%dm", 100*(1+i%8)), name), map[string]any{
					"apiVersion": "v1", "kind": "Node", "status": map[string]any{"capacity": has, "allocatable": has},
					"metadata": map[string]any{"name": name, "labels": map[string]any{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", i%3)}},
				})
			}
			post("/api/v1/import", map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
			ref := map[string]any{"podRef": map[string]any{"namespace": "default", "name": "web"}}
			for {
				var answer asked
				if err := json.Unmarshal(post(whatifPath, ref), &answer); err != nil {
					b.Fatal(err)
				}
				if answer.Decisions[0].Nodes.Feasible >= n-n/100 { // virtual nodes are ready
					break
				}
			}
			atRest(b)
			for _, question := range []struct {
				name, path string
				body       any
			}{
				{"existing", whatifPath, ref},
				{"new", whatifPath, map[string]any{"pod": pod("new", "3500m", "")}},
				{"fit", whatifPath + "/fit", map[string]any{"podRef": map[string]any{"namespace": "default", "name": "large"}}},
				{"capacity", whatifPath + "/capacity", map[string]any{"pod": pod("new", "3500m", ""), "limit": 1000}},
			} {
				b.Run(question.name, func(b *testing.B) {
					var took []time.Duration
					for b.Loop() {
						start := time.Now()
						post(question.path, question.body)
						took = append(took, time.Since(start))
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
				})
			}
		})
	}
}
