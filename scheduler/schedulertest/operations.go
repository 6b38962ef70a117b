package schedulertest

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type runtimeObject = runtime.Object

// operation returns a random operation. It need not know which objects exist when
// it runs.
func (g *generator) operation() Operation {
	switch n := g.IntN(100); {
	case n < 42:
		return g.addPods(1 + g.IntN(4))
	case n < 52:
		return g.deletePod()
	case n < 56:
		return g.recreatePod()
	case n < 62:
		return g.patchPod()
	case n < 67:
		return g.openGate()
	case n < 83:
		return g.patchNode()
	case n < 88:
		return g.addNode()
	case n < 91:
		return g.deleteNode()
	case n < 94:
		return g.nominate()
	case n < 97:
		return g.failBinding()
	case n < 98:
		return g.bindElsewhere()
	}
	return Operation{Name: "let a minute pass", Wait: time.Minute, Do: nothing}
}

func (g *generator) addPods(n int) Operation {
	var objects []runtimeObject
	name := "add"
	for range n {
		pod := g.name()
		name += " " + pod
		objects = append(objects, g.pod(pod)...)
	}
	return Operation{Name: name, Do: func(ctx context.Context, s *Simulation) error { return createAll(ctx, s, objects) }}
}

func createAll(ctx context.Context, s *Simulation, objects []runtimeObject) error {
	for _, o := range objects {
		if err := s.Create(ctx, o.DeepCopyObject()); err != nil {
			return err
		}
	}
	return nil
}

func deletePod(ctx context.Context, s *Simulation, name string) error {
	return quiet(s.Client.CoreV1().Pods(Namespace).Delete(ctx, name, metav1.DeleteOptions{}))
}

func (g *generator) deletePod() Operation {
	name := pick(g, g.pods...)
	return Operation{Name: "delete " + name, Do: func(ctx context.Context, s *Simulation) error { return deletePod(ctx, s, name) }}
}

func (g *generator) recreatePod() Operation {
	name := pick(g, g.pods...)
	objects := g.pod(name)
	pod := objects[len(objects)-1]
	grace := g.cluster.Grace
	return Operation{Name: "recreate " + name, Do: func(ctx context.Context, s *Simulation) error {
		if err := deletePod(ctx, s, name); err != nil {
			return err
		}
		time.Sleep(grace + pause)
		return createAll(ctx, s, []runtimeObject{pod})
	}}
}

func (g *generator) patchPod() Operation {
	name := pick(g, g.pods...)
	patch := pick(g,
		`{"metadata":{"labels":{"app":"a"}}}`,
		`{"metadata":{"labels":{"app":"c"}}}`,
		`{"metadata":{"annotations":{"example.com/note":"seen"}}}`,
		`{"spec":{"tolerations":[{"key":"team","operator":"Exists"}]}}`,
	)
	return Operation{Name: fmt.Sprintf("patch pod %s with %s", name, patch), Do: func(ctx context.Context, s *Simulation) error {
		return s.PatchPod(ctx, name, patch)
	}}
}

func (g *generator) openGate() Operation {
	name := pick(g, g.pods...)
	if len(g.gated) > 0 {
		i := g.IntN(len(g.gated))
		name = g.gated[i]
		g.gated = slices.Delete(g.gated, i, i+1)
	}
	return Operation{Name: "open the gate of " + name, Do: func(ctx context.Context, s *Simulation) error {
		return s.PatchPod(ctx, name, `{"spec":{"schedulingGates":null}}`)
	}}
}

func (g *generator) patchNode() Operation {
	name := pick(g, g.nodes...)
	type change struct{ patch, subresource string }
	c := pick(g,
		change{`{"spec":{"unschedulable":true}}`, ""},
		change{`{"spec":{"unschedulable":null}}`, ""},
		change{`{"spec":{"taints":[{"key":"team","value":"red","effect":"NoSchedule"}]}}`, ""},
		change{`{"spec":{"taints":null}}`, ""},
		change{`{"metadata":{"labels":{"disk":"ssd"}}}`, ""},
		change{`{"metadata":{"labels":{"` + zoneLabel + `":"east"}}}`, ""},
		change{`{"status":{"allocatable":{"cpu":"6","memory":"12Gi","pods":"30"}}}`, "status"},
		change{`{"status":{"allocatable":{"cpu":"1"}}}`, "status"},
	)
	return Operation{Name: fmt.Sprintf("patch node %s with %s", name, c.patch), Do: func(ctx context.Context, s *Simulation) error {
		if c.subresource != "" {
			return s.PatchNode(ctx, name, c.patch, c.subresource)
		}
		return s.PatchNode(ctx, name, c.patch)
	}}
}

func (g *generator) addNode() Operation {
	node := g.node()
	return Operation{Name: "add node " + node.Name, Do: func(ctx context.Context, s *Simulation) error {
		return createAll(ctx, s, []runtimeObject{node})
	}}
}

func (g *generator) deleteNode() Operation {
	name := pick(g, g.nodes...)
	return Operation{Name: "delete node " + name, Do: func(ctx context.Context, s *Simulation) error {
		return quiet(s.Client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}))
	}}
}

// nominate nominates a node for a pod, as an autoscaler may.
func (g *generator) nominate() Operation {
	pod, node := pick(g, g.pods...), pick(g, g.nodes...)
	return Operation{Name: fmt.Sprintf("nominate %s for %s", node, pod), Do: func(ctx context.Context, s *Simulation) error {
		return s.PatchPod(ctx, pod, fmt.Sprintf(`{"status":{"nominatedNodeName":%q}}`, node), "status")
	}}
}

func (g *generator) failBinding() Operation {
	name := g.name()
	objects := g.pod(name)
	times := 1 + g.IntN(2)
	return Operation{
		Name: fmt.Sprintf("add %s, whose binding fails %d times", name, times),
		Wait: 10 * time.Second,
		Do: func(ctx context.Context, s *Simulation) error {
			s.FailBinding(name, times)
			return createAll(ctx, s, objects)
		},
	}
}

// bindElsewhere binds one of our pods, as another scheduler may.
func (g *generator) bindElsewhere() Operation {
	pod, node := pick(g, g.pods...), pick(g, g.nodes...)
	return Operation{Name: fmt.Sprintf("bind %s to %s from elsewhere", pod, node), Do: func(ctx context.Context, s *Simulation) error {
		err := s.Client.CoreV1().Pods(Namespace).Bind(ctx, &v1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: pod},
			Target:     v1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})
		if err != nil {
			return nil // already bound, or deleted
		}
		return nil
	}}
}
