package whatif_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	schedulerconfig "kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/shadow"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
)

// TestQuestionsEndWithTheirContext: a client that leaves ends its question in the middle, whatever it asks.
func TestQuestionsEndWithTheirContext(t *testing.T) {
	running, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	resources := func(cpu string) map[v1.ResourceName]string {
		return map[v1.ResourceName]string{"cpu": cpu, "memory": "1Gi", "pods": "100"}
	}
	pod := func(name, cpu string) *v1.Pod {
		return st.MakePod().Name(name).Namespace("default").UID(name).SchedulerName("default-scheduler").Req(map[v1.ResourceName]string{"cpu": cpu}).Obj()
	}
	objects := []runtime.Object{pod("small", "100m"), pod("large", "8")}
	for i := range 3 {
		objects = append(objects, st.MakeNode().Name(fmt.Sprint("n", i)).Capacity(resources("1")).Obj())
	}
	one := whatif.New(whatif.Options{Source: whatif.Objects(objects[:3]), Configuration: func() *config.KubeSchedulerConfiguration { return running.Internal }})
	defer one.Stop()
	engine := whatif.New(whatif.Options{Source: whatif.Objects(objects), Configuration: func() *config.KubeSchedulerConfiguration { return running.Internal }})
	defer engine.Stop()
	small, large := &types.NamespacedName{Namespace: "default", Name: "small"}, &types.NamespacedName{Namespace: "default", Name: "large"}
	decided := []result.Summary{
		{Pod: result.Pod{Namespace: "default", Name: "small", UID: "small"}}, {Pod: result.Pod{Namespace: "default", Name: "large", UID: "large"}},
	}
	for what, question := range map[string]struct {
		least int
		ask   func(context.Context) error
	}{
		"what if": {3, func(ctx context.Context) error {
			_, err := engine.Ask(ctx, whatif.Question{PodRef: small})
			return err
		}},
		"what to change": {10, func(ctx context.Context) error {
			_, err := fit.Ask(ctx, engine, fit.Question{PodRef: large})
			return err
		}},
		"how many more": {30, func(ctx context.Context) error {
			_, err := capacity.Ask(ctx, engine, capacity.Question{PodRef: small, NodesNeeded: &capacity.NodesNeeded{Like: "n0", For: 40}})
			return err
		}},
		"how many more on one node": {10, func(ctx context.Context) error {
			_, err := capacity.Ask(ctx, one, capacity.Question{PodRef: small})
			return err
		}},
		"what a draft would decide": {2, func(ctx context.Context) error {
			_, err := shadow.NewDrafts(engine).Judge(ctx, running.Internal.DeepCopy(), running.Internal, decided, time.Minute)
			return err
		}},
	} {
		t.Run(what, func(t *testing.T) {
			if err := question.ask(t.Context()); err != nil { // the engine is built
				t.Fatal(err)
			}
			bombs.EndsInTheMiddle(t, question.least, question.ask)
		})
	}
}
