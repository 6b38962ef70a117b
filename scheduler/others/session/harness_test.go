package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/whatif"
)

// stage is a cluster of a test. CPU is in CPUs; memory is 4 Gi for each, on nodes and in pods.
type stage struct {
	t       testing.TB
	rules   Rules
	nodes   []*v1.Node
	pods    []*v1.Pod
	objects Objects
	clock   time.Time
	number  int
	config  *Configuration
}

func newStage(t testing.TB, rules Rules, document string) *stage {
	t.Helper()
	s := &stage{t: t, rules: rules, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), config: Default(rules)}
	if document != "" {
		c, err := Parse([]byte(document), rules)
		if err != nil {
			t.Fatal(err)
		}
		s.config = c
	}
	s.queue("default", 1)
	for name, value := range map[string]int32{"p10": 10, "p20": 20, "p50": 50, "p100": 100} {
		s.objects.PriorityClasses = append(s.objects.PriorityClasses, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value})
	}
	return s
}

// meta gives every object a UID and a later time of creation.
func (s *stage) meta(namespace, name string) metav1.ObjectMeta {
	s.number++
	s.clock = s.clock.Add(time.Second)
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(fmt.Sprintf("uid-%04d", s.number)), ResourceVersion: fmt.Sprint(s.number),
		CreationTimestamp: metav1.NewTime(s.clock),
	}
}

func sized(cpu float64) v1.ResourceList {
	if cpu == 0 {
		return nil
	}
	return v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(int64(cpu*1000), resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(int64(cpu*4*(1<<30)), resource.BinarySI),
	}
}

func (s *stage) node(name string, cpu float64) *v1.Node {
	n := &v1.Node{ObjectMeta: s.meta("", name), Status: v1.NodeStatus{Allocatable: sized(cpu)}}
	n.Labels = map[string]string{v1.LabelHostname: name}
	n.Status.Allocatable[v1.ResourcePods] = resource.MustParse("110")
	n.Status.Capacity = n.Status.Allocatable
	s.nodes = append(s.nodes, n)
	return n
}

func (s *stage) queue(name string, weight int32) *Queue {
	q := &Queue{ObjectMeta: s.meta("", name), Spec: QueueSpec{Weight: weight}}
	s.objects.Queues = append(s.objects.Queues, q)
	return q
}

// group makes a job that may run already: in Volcano it has passed enqueue.
func (s *stage) group(name, queue string, least, priority int32) *PodGroup {
	g := &PodGroup{ObjectMeta: s.meta("default", name), Spec: PodGroupSpec{MinMember: least, Queue: queue}}
	if priority > 0 {
		g.Spec.PriorityClassName = fmt.Sprintf("p%d", priority)
	}
	if s.rules == Volcano {
		g.Status.Phase = PhaseInqueue
	}
	s.objects.Groups = append(s.objects.Groups, g)
	return g
}

// tasks adds count pods to a group, numbered on from those it has; on is the node of running ones.
func (s *stage) tasks(group string, count int, cpu float64, on string) []*v1.Pod {
	have := 0
	for _, p := range s.pods {
		if p.Annotations[GroupAnnotation] == group {
			have++
		}
	}
	var out []*v1.Pod
	for i := range count {
		p := s.pod(fmt.Sprintf("%s-%d", group, have+i), cpu, on)
		p.Annotations = map[string]string{GroupAnnotation: group}
		out = append(out, p)
	}
	return out
}

func (s *stage) pod(name string, cpu float64, on string) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: s.meta("default", name),
		Spec:       v1.PodSpec{SchedulerName: string(s.rules), NodeName: on, Containers: []v1.Container{{Name: "main", Image: "main", Resources: v1.ResourceRequirements{Requests: sized(cpu)}}}},
		Status:     v1.PodStatus{Phase: v1.PodPending},
	}
	if on != "" {
		p.Status.Phase = v1.PodRunning
	}
	s.pods = append(s.pods, p)
	return p
}

// run runs one session on the present state.
func (s *stage) run() *Outcome {
	s.t.Helper()
	var out *Outcome
	s.try(func(ctx context.Context, trial *whatif.Trial, options Options) (err error) {
		out, err = Run(ctx, trial, s.objects, options)
		return err
	})
	return out
}

// try works on a copy of the present state.
func (s *stage) try(do func(context.Context, *whatif.Trial, Options) error) {
	s.t.Helper()
	judge, err := s.config.Judge()
	if err != nil {
		s.t.Fatal(err)
	}
	var objects []runtime.Object
	for _, n := range s.nodes {
		objects = append(objects, n)
	}
	for _, p := range s.pods {
		objects = append(objects, p)
	}
	board := NewBoard()
	engine := whatif.New(whatif.Options{
		Source: whatif.Objects(objects), Configuration: func() *config.KubeSchedulerConfiguration { return judge }, OutOfTree: board.Registry(), EndSearch: true,
		Clock: func() time.Time { return s.clock },
	})
	defer engine.Stop()
	err = engine.Try(context.Background(), nil, func(ctx context.Context, trial *whatif.Trial) error {
		return do(ctx, trial, Options{Configuration: s.config, Board: board, UID: "session", Clock: func() time.Time { return s.clock }})
	})
	if broken := (*whatif.PanicError)(nil); errors.As(err, &broken) {
		s.t.Fatal(broken.Stack)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// apply carries an outcome out: evicted pods are gone, bound ones run, and statuses are written.
func (s *stage) apply(out *Outcome) {
	for _, e := range out.Evictions {
		s.pods = slices.DeleteFunc(s.pods, func(p *v1.Pod) bool { return p.UID == e.Pod.UID })
	}
	for _, b := range out.Binds {
		at := slices.IndexFunc(s.pods, func(p *v1.Pod) bool { return p.UID == b.Pod.UID })
		p := s.pods[at].DeepCopy()
		p.Spec.NodeName, p.Status.Phase = b.Node, v1.PodRunning
		s.pods[at] = p
	}
	for _, u := range out.Groups {
		u.Group.Status = u.Status
	}
}

func short(name string) string { return strings.TrimPrefix(name, "default/") }

// transcript is an outcome as a person reviews it.
func transcript(out *Outcome) string {
	var b strings.Builder
	for _, a := range out.Record.Actions {
		fmt.Fprintf(&b, "%s\n", a.Name)
		for _, d := range a.Decisions {
			fmt.Fprintf(&b, "  %s", d.Kind)
			switch {
			case d.Task != "":
				fmt.Fprintf(&b, " %s", short(d.Task))
			case d.Job != "":
				fmt.Fprintf(&b, " %s", short(d.Job))
			default:
				fmt.Fprintf(&b, " queue %s", d.Queue)
			}
			if d.Node != "" && d.Kind != Refused {
				fmt.Fprintf(&b, " on %s", d.Node)
			}
			if d.Bound {
				b.WriteString(" bound")
			}
			fmt.Fprintf(&b, ": %s", d.Reason)
			if d.Plugin != "" {
				fmt.Fprintf(&b, " (%s)", d.Plugin)
			}
			for _, v := range d.Victims {
				fmt.Fprintf(&b, " -%s", short(v.Task))
			}
			b.WriteString("\n")
		}
	}
	for _, x := range out.Binds {
		fmt.Fprintf(&b, "bind %s to %s\n", x.Pod.Name, x.Node)
	}
	for _, e := range out.Evictions {
		fmt.Fprintf(&b, "evict %s (%s)\n", e.Pod.Name, e.Action)
	}
	for _, g := range out.Groups {
		fmt.Fprintf(&b, "%s %s", g.Group.Name, g.Status.Phase)
		for _, c := range g.Status.Conditions {
			fmt.Fprintf(&b, " %s %s %q", c.Type, c.Reason, c.Message)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

func metaNow(s *stage) metav1.Time { return metav1.NewTime(s.clock) }
