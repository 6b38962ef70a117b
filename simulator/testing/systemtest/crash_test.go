package systemtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// statusOf is what a page shows of the simulator's status.
type statusOf struct {
	Ready     bool     `json:"ready"`
	Warnings  []string `json:"warnings"`
	Scheduler struct {
		Phase   string `json:"phase"`
		Message string `json:"message"`
	} `json:"scheduler"`
}

func (p *program) status(t *testing.T) statusOf {
	t.Helper()
	var s statusOf
	if err := p.get("/api/v1/status", &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// Kubernetes panics on a null in an extender's answer to a preemption. That must end the
// attempt and not the program, which would otherwise crash again at each start.
func TestAnExtenderOnWhichKubernetesPanics(t *testing.T) {
	clustertest.Slow(t)
	extender := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"NodeNameToMetaVictims":{"small-0":null}}`)
	}))
	defer extender.Close()
	h := newHome(t)
	p := start(t, h)
	create := func(name string, priority int32) {
		t.Helper()
		pod := newPod(name)
		pod.Spec.PriorityClassName = fmt.Sprintf("priority-%d", priority)
		pod.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse("20")
		if _, err := p.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, value := range []int32{1, 10} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("priority-%d", value)}, Value: value}
		if _, err := p.client.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	p.createNodes(t, "small", 1)
	create("low", 1)
	eventually(t, "low is bound", func() error { return p.isBound(t, "low") })
	if _, err := p.apply(configurationWith(1) + fmt.Sprintf("extenders:\n- urlPrefix: %s\n  preemptVerb: preempt\n", extender.URL)); err != nil {
		t.Fatal(err)
	}
	create("high", 10)

	panicked := func() error {
		var results struct {
			Items []struct {
				Pod     struct{ Name, UID string } `json:"pod"`
				Attempt int                        `json:"attempt"`
			} `json:"items"`
		}
		if err := p.get("/api/v1/results?name=high", &results); err != nil || len(results.Items) == 0 {
			return fmt.Errorf("no attempts yet: %w", err)
		}
		latest := results.Items[0]
		var cycle struct {
			Panics []struct{ Plugin, Call, Stack string } `json:"panics"`
		}
		if err := p.get(fmt.Sprintf("/api/v1/results/%s/%d", latest.Pod.UID, latest.Attempt), &cycle); err != nil {
			return err
		}
		if len(cycle.Panics) != 1 || cycle.Panics[0].Plugin != extender.URL || cycle.Panics[0].Call != "ProcessPreemption" || !strings.Contains(cycle.Panics[0].Stack, "convertToVictims") {
			return fmt.Errorf("the panics of attempt %d are %+v", latest.Attempt, cycle.Panics)
		}
		return nil
	}
	eventually(t, "the attempt shows the panic", panicked)
	eventually(t, "a warning names the extender", func() error {
		if s := p.status(t); !s.Ready || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], extender.URL+" panicked in ProcessPreemption") {
			return fmt.Errorf("the status is %+v", s)
		}
		return nil
	})
	p.stop(t)

	p = start(t, h)
	eventually(t, "the attempt after a restart shows the panic", panicked)
	p.alive(t)
	if _, err := p.apply(configurationWith(2)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "high is bound without the extender", func() error { return p.isBound(t, "high") })
	if s := p.status(t); len(s.Warnings) > 0 {
		t.Errorf("without the extender, the status is %+v", s)
	}
	p.stop(t)
}

func (p *program) isBound(t *testing.T, name string) error {
	t.Helper()
	pod, err := p.client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err == nil && pod.Spec.NodeName == "" {
		err = fmt.Errorf("%s is not bound", name)
	}
	return err
}

// After repeated crashes, the program starts with the scheduler paused, shows why, and
// runs it when a configuration is applied. SIGABRT makes Go's runtime crash, as a panic
// does.
func TestRepeatedCrashesPauseTheScheduler(t *testing.T) {
	clustertest.Slow(t) // starts the program six times
	h := newHome(t)
	p := start(t, h)
	if _, err := p.apply(configurationWith(5)); err != nil {
		t.Fatal(err)
	}
	crash := func() {
		t.Helper()
		if err := p.cmd.Process.Signal(syscall.SIGABRT); err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.exited:
		case <-time.After(patience):
			t.Fatal("it does not end")
		}
	}
	for i := range 3 {
		if s := p.status(t); !s.Ready || s.Scheduler.Phase != "running" {
			t.Errorf("after %d crashes the status is %+v", i, s)
		}
		crash()
		p = start(t, h)
	}
	s := p.status(t)
	if s.Ready || s.Scheduler.Phase != "paused" || !strings.Contains(s.Scheduler.Message, "crashed 3 times within an hour") || !strings.Contains(s.Scheduler.Message, "SIGABRT") || len(s.Warnings) != 1 {
		t.Errorf("after three crashes the status is %+v", s)
	}
	if a, err := p.request(http.MethodGet, "/readyz", nil, nil); err != nil || a.status != http.StatusServiceUnavailable {
		t.Errorf("GET /readyz: %d, %v", a.status, err)
	}
	var shown map[string]any
	if a, err := p.request(http.MethodGet, configurationURL, nil, nil); err != nil || json.Unmarshal(a.body, &shown) != nil || shown["parallelism"] != float64(13) {
		t.Errorf("the configuration of the last run is not shown: %d %s, %v", a.status, a.body, err)
	}
	if _, err := p.apply(configurationWith(6)); err != nil {
		t.Fatal(err)
	}
	p.createNodes(t, "n", 1)
	p.schedules(t, "after-the-pause")
	if s := p.status(t); !s.Ready || s.Scheduler.Phase != "running" || len(s.Warnings) > 0 {
		t.Errorf("after the apply the status is %+v", s)
	}
	p.stop(t)
	p = start(t, h)
	if s := p.status(t); !s.Ready || len(s.Warnings) > 0 {
		t.Errorf("after an orderly end the status is %+v", s)
	}
	p.stop(t)
}
