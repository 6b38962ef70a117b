package simulation_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"kube-scheduler-simulator/scheduler/simulation"
)

var openb = flag.String("openb", "", "a directory with nodes.json and pods.json, v1 Lists; without it, benchmarks run a made-up cluster of the size of openb")

// largeCluster returns the nodes and pods of a benchmark.
func largeCluster(b *testing.B) (nodes, pods []kruntime.Object) {
	if *openb == "" {
		return madeUp(1523, 8152)
	}
	var nodeList v1.NodeList
	var podList v1.PodList
	for name, into := range map[string]any{"nodes.json": &nodeList, "pods.json": &podList} {
		data, err := os.ReadFile(filepath.Join(*openb, name))
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for i := range nodeList.Items {
		nodes = append(nodes, &nodeList.Items[i])
	}
	for i := range podList.Items {
		pods = append(pods, &podList.Items[i])
	}
	return nodes, pods
}

// madeUp returns nodes with and without GPUs, and pods that fill them.
func madeUp(nodeCount, podCount int) (nodes, pods []kruntime.Object) {
	const gpu = "example.com/gpu-milli"
	r := rand.New(rand.NewPCG(1, 1))
	for i := range nodeCount {
		size := v1.ResourceList{v1.ResourceCPU: resource.MustParse("96"), v1.ResourceMemory: resource.MustParse("384Gi"), v1.ResourcePods: resource.MustParse("110")}
		if i%5 != 0 {
			size[gpu] = *resource.NewQuantity(int64(1000<<r.IntN(4)), resource.DecimalSI)
		}
		nodes = append(nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%04d", i)}, Status: v1.NodeStatus{Capacity: size, Allocatable: size}})
	}
	for i := range podCount {
		requests := v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(int64(2+r.IntN(12)), resource.DecimalSI), v1.ResourceMemory: resource.MustParse("16Gi")}
		if i%8 != 0 {
			requests[gpu] = *resource.NewQuantity(int64(100+100*r.IntN(10)), resource.DecimalSI)
		}
		pods = append(pods, &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%04d", i), Namespace: "default"},
			Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "i", Resources: v1.ResourceRequirements{Requests: requests, Limits: v1.ResourceList{gpu: requests[gpu]}}}}},
		})
		if _, has := requests[gpu]; !has {
			pods[i].(*v1.Pod).Spec.Containers[0].Resources.Limits = nil
		}
	}
	return nodes, pods
}

// run creates the nodes and then the pods, and settles.
func run(b *testing.B, keep simulation.Keep, nodes, pods []kruntime.Object) *simulation.Simulation {
	s := start(b, simulation.Options{Keep: keep})
	must(b, s.Create(b.Context(), nodes...))
	must(b, s.Create(b.Context(), pods...))
	must(b, s.Settle(b.Context()))
	return s
}

// BenchmarkRun runs a workload of the size of openb. Keeping costs the record of each decision.
func BenchmarkRun(b *testing.B) {
	nodes, pods := largeCluster(b)
	for name, keep := range map[string]simulation.Keep{"nothing": simulation.Nothing, "summaries": simulation.Summaries, "cycles": simulation.Cycles} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := run(b, keep, nodes, pods)
				bound := 0
				for _, p := range s.State().Pods {
					if p.Spec.NodeName != "" {
						bound++
					}
				}
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MiB")
				b.ReportMetric(float64(m.Sys)/(1<<20), "sys-MiB")
				b.ReportMetric(float64(bound), "bound")
				runtime.KeepAlive(s)
			}
		})
	}
}

// BenchmarkRunsBesideEachOther runs as many workloads at a time as there are processors.
func BenchmarkRunsBesideEachOther(b *testing.B) {
	nodes, pods := madeUp(200, 1000)
	for _, n := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			for b.Loop() {
				var running sync.WaitGroup
				for range n {
					running.Go(func() { run(b, simulation.Nothing, nodes, pods) })
				}
				running.Wait()
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}
