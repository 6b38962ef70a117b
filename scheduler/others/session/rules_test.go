package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// bound returns the pods that an outcome binds, with their nodes.
func boundBy(out *Outcome) string {
	var all []string
	for _, b := range out.Binds {
		all = append(all, b.Pod.Name+" "+b.Node)
	}
	return strings.Join(all, ", ")
}

// What counts as used on a node, what a task asks for, and what a job without a group needs.
func TestTasksAndNodes(t *testing.T) {
	small := func(s *stage, name string, init float64) *v1.Pod {
		p := s.pod(name, 1, "")
		p.Spec.InitContainers = []v1.Container{{Name: "init", Image: "init", Resources: v1.ResourceRequirements{Requests: sized(init)}}}
		return p
	}
	for _, test := range []struct {
		name  string
		rules Rules
		stage func(*stage)
		want  string
	}{
		{"pods of other schedulers take room", KubeBatch, func(s *stage) {
			s.node("n1", 4)
			s.pod("other", 4, "n1").Spec.SchedulerName = "default-scheduler"
			s.pod("p", 2, "")
		}, ""},
		{"the largest init container must fit", KubeBatch, func(s *stage) { s.node("n1", 4); small(s, "p", 8) }, ""},
		{"kube-batch accounts the containers only", KubeBatch, func(s *stage) {
			s.node("n1", 4)
			small(s, "p", 4)
			small(s, "q", 3)
		}, "p n1, q n1"},
		{"kube-batch lets a task exceed the room by less than its slack", KubeBatch, func(s *stage) {
			s.node("n1", 4)
			s.pod("p", 4.009, "").Spec.Containers[0].Resources.Requests["memory"] = quantity("1Gi")
		}, "p n1"},
		{"by no more than that", KubeBatch, func(s *stage) {
			s.node("n1", 4)
			s.pod("p", 4.010, "").Spec.Containers[0].Resources.Requests["memory"] = quantity("1Gi")
		}, ""},
		{"a node that holds more than it has is left out", KubeBatch, func(s *stage) {
			s.node("n1", 4)
			s.pod("other", 5, "n1").Spec.SchedulerName = "default-scheduler"
			s.pod("p", 0, "")
		}, ""},
		{"a job without a group has the minimum of its pods' annotation", KubeBatch, func(s *stage) {
			s.node("n1", 4)
			s.pod("p", 1, "").Annotations = map[string]string{MinMemberAnnotation: "2"}
		}, ""},
		{"as soon as it is met, its pods are bound", KubeBatch, func(s *stage) {
			s.node("n1", 8)
			owner := metav1.OwnerReference{Kind: "ReplicaSet", Name: "web", UID: "web", Controller: ptr.To(true)}
			for _, name := range []string{"p", "q"} {
				p := s.pod(name, 1, "")
				p.Annotations, p.OwnerReferences = map[string]string{MinMemberAnnotation: "2"}, []metav1.OwnerReference{owner}
			}
		}, "p n1, q n1"},
		{"a group in a queue that does not exist is left out", KubeBatch, func(s *stage) {
			s.node("n1", 4)
			s.group("g", "nowhere", 1, 0)
			s.tasks("g", 1, 1, "")
		}, ""},
		{"a node has room for so many pods", KubeBatch, func(s *stage) {
			s.node("n1", 4).Status.Allocatable["pods"] = quantity("1")
			s.pod("p", 1, "")
			s.pod("q", 1, "")
		}, "p n1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, test.rules, "")
			test.stage(s)
			if diff := cmp.Diff(test.want, boundBy(s.run())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The priority of a job is that of its class, or that of the default class; a task without a priority has 1.
func TestPriorities(t *testing.T) {
	s := newStage(t, KubeBatch, "")
	s.group("named", "", 1, 50)
	s.group("plain", "", 1, 0)
	task := s.tasks("plain", 1, 1, "")[0]
	if got := bare(s).jobs[1].priority; got != 0 {
		t.Errorf("without a default class: %d", got)
	}
	s.objects.PriorityClasses = append(s.objects.PriorityClasses, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "standard"}, Value: 7, GlobalDefault: true})
	x := bare(s)
	if diff := cmp.Diff([]int32{50, 7, 1}, []int32{x.jobs[0].priority, x.jobs[1].priority, x.tasks[task].priority}); diff != "" {
		t.Error(diff)
	}
}

// x/0 is 1, and 0/0 is 0.
func TestShareOfNothing(t *testing.T) {
	if diff := cmp.Diff([]float64{0.5, 1, 0}, []float64{share(1, 2), share(1, 0), share(0, 0)}); diff != "" {
		t.Error(diff)
	}
}

// Volcano takes a node with room in Idle before one where others must leave first. A job that has room only once they have left
// is neither committed nor discarded, and nothing of it outlives the session.
func TestRoomThatOthersLeave(t *testing.T) {
	leaving := func(s *stage, node string) {
		p := s.pod("leaving-"+node, 4, node)
		now := metaNow(s)
		p.Spec.SchedulerName, p.DeletionTimestamp = "default-scheduler", &now
	}
	for _, test := range []struct {
		name  string
		nodes []string
		busy  []string
		want  string
	}{
		{"idle comes first", []string{"a", "b"}, []string{"a"}, "t-0 b"},
		{"kept for this session", []string{"a"}, []string{"a"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, Volcano, "{actions: allocate, tiers: [{plugins: [{name: gang}, {name: predicates}]}]}")
			for _, name := range test.nodes {
				s.node(name, 4)
			}
			for _, name := range test.busy {
				leaving(s, name)
			}
			s.group("t", "", 1, 0)
			s.tasks("t", 1, 4, "")
			out := s.run()
			if diff := cmp.Diff(test.want, boundBy(out)); diff != "" {
				t.Errorf("%s\n%s", diff, transcript(out))
			}
			kept := slices.ContainsFunc(out.Record.Actions[0].Decisions, func(d Decision) bool { return d.Kind == Kept && d.Reason == ReasonGangPipelined })
			if kept != (test.want == "") || out.Record.Pipelined != map[bool]int{true: 1}[kept] {
				t.Errorf("kept %v\n%s", kept, transcript(out))
			}
		})
	}
}

// preempt stays in its queue, and reclaim leaves it.
func TestVictimsByQueue(t *testing.T) {
	for _, rules := range Dialects {
		s := newStage(t, rules, preempts)
		s.node("n1", 8)
		s.queue("other", 1)
		s.group("low", "other", 1, 10)
		s.tasks("low", 2, 4, "n1")
		s.group("high", "", 1, 100)
		s.tasks("high", 1, 4, "")
		if out := s.run(); len(out.Evictions) > 0 {
			t.Errorf("%s preempts in another queue:\n%s", rules, transcript(out))
		}
		s = newStage(t, rules, "{actions: reclaim, tiers: [{plugins: [{name: predicates}, {name: proportion}]}]}")
		s.node("n1", 8)
		s.group("low", "", 1, 10)
		s.tasks("low", 2, 4, "n1")
		s.group("high", "", 1, 100)
		s.tasks("high", 1, 4, "")
		if out := s.run(); len(out.Evictions) > 0 {
			t.Errorf("%s reclaims in its own queue:\n%s", rules, transcript(out))
		}
	}
}

// A pod that stays pending gets the texts of its scheduler; a pod for which Volcano made room is nominated to its node.
func TestWhatPodsAreTold(t *testing.T) {
	told := func(out *Outcome) string {
		var all []string
		for _, u := range out.Pods {
			all = append(all, fmt.Sprintf("%s %s %q %s", u.Pod.Name, u.Reason, u.Message, u.NominatedNode))
		}
		return strings.Join(all, "\n")
	}
	gang := func(s *stage) {
		s.node("n1", 8).Status.Allocatable["memory"] = quantity("1Ti")
		s.group("t", "", 3, 0)
		s.tasks("t", 3, 4, "")
	}
	s := newStage(t, KubeBatch, "")
	gang(s)
	if diff := cmp.Diff(`t-0 Unschedulable "0 nodes are available" 
t-1 Unschedulable "0 nodes are available" 
t-2 Unschedulable "0 nodes are available" `, told(s.run())); diff != "" {
		t.Error(diff)
	}
	s = newStage(t, Volcano, "{actions: allocate, tiers: [{plugins: [{name: gang}, {name: predicates}]}]}")
	gang(s)
	if diff := cmp.Diff(`t-0 Schedulable "Pod default/t-0 can possibly be assigned to n1, once minAvailable is satisfied" 
t-1 Schedulable "Pod default/t-1 can possibly be assigned to n1, once minAvailable is satisfied" 
t-2 Unschedulable "0/1 nodes are unavailable: 1 Insufficient cpu." `, told(s.run())); diff != "" {
		t.Error(diff)
	}
	s = newStage(t, Volcano, preempts)
	s.node("n1", 8)
	s.group("low", "", 1, 10)
	s.tasks("low", 2, 4, "n1")
	s.group("high", "", 1, 100)
	s.tasks("high", 1, 4, "")
	if diff := cmp.Diff(`high-0 Unschedulable "Pod default/high-0 can possibly be assigned to n1, once resource is released and minAvailable is satisfied" n1`, told(s.run())); diff != "" {
		t.Error(diff)
	}
}

// kube-batch counts what the node that a task was pipelined onto lacks.
func TestFitTextOfAPipelinedTask(t *testing.T) {
	s := newStage(t, KubeBatch, "{actions: allocate, tiers: [{plugins: [{name: gang}, {name: predicates}]}]}")
	s.node("n1", 8).Status.Allocatable["memory"] = quantity("1Ti")
	now := metaNow(s)
	leaving := s.pod("leaving", 8, "n1")
	leaving.Spec.SchedulerName, leaving.DeletionTimestamp = "default-scheduler", &now
	s.group("t", "", 1, 0)
	s.tasks("t", 1, 4, "")
	out := s.run()
	if got := out.Groups[0].Status.Conditions[0].Message; got != "1/1 tasks in gang unschedulable: 0/1 nodes are available, 1 insufficient cpu." {
		t.Error(got)
	}
}

// Why a job does not run, in the order in which a person would look.
func TestWhy(t *testing.T) {
	for _, test := range []struct {
		name     string
		rules    Rules
		document string
		stage    func(*stage)
		want     WhyCode
	}{
		{"no queue of that name", KubeBatch, "", func(s *stage) { s.node("n1", 8); s.group("j", "nowhere", 1, 0) }, WhyNoQueue},
		{"fewer pods than the minimum", KubeBatch, "", func(s *stage) { s.node("n1", 8); s.group("j", "", 3, 0); s.tasks("j", 2, 1, "") }, WhyTooFewPods},
		{"the queue is overused", KubeBatch, "", func(s *stage) {
			s.node("n1", 8)
			s.queue("a", 1)
			s.group("old", "a", 1, 0)
			s.tasks("old", 1, 4, "n1")
			s.group("j", "a", 1, 0)
			s.tasks("j", 1, 4, "")
			s.queue("b", 1)
			s.group("rest", "b", 1, 0)
			s.tasks("rest", 2, 4, "")
		}, WhyOverused},
		{"a task would pass what the queue deserves", Volcano, allocating, func(s *stage) {
			s.node("n1", 8)
			s.queue("small", 1).Spec.Capability = v1.ResourceList{"cpu": quantity("1")}
			s.group("j", "small", 1, 0)
			s.tasks("j", 1, 2, "")
		}, WhyQueueLimit},
		{"the room is in pieces", KubeBatch, "", func(s *stage) {
			s.node("n1", 4)
			s.node("n2", 4)
			s.group("j", "", 1, 0)
			s.tasks("j", 1, 6, "")
		}, WhyPieces},
		{"the cluster lacks room", KubeBatch, "", func(s *stage) { s.node("n1", 4); s.group("j", "", 1, 0); s.tasks("j", 1, 6, "") }, WhyRoom},
		{"a predicate rejects the nodes", KubeBatch, "", func(s *stage) {
			s.node("n1", 8)
			s.group("j", "", 1, 0)
			s.tasks("j", 1, 1, "")[0].Spec.NodeSelector = map[string]string{"disk": "ssd"}
		}, WhyPredicates},
		{"victims must leave first", KubeBatch, preempts, func(s *stage) {
			s.node("n1", 8)
			s.group("low", "", 1, 10)
			s.tasks("low", 2, 4, "n1")
			s.group("j", "", 1, 100)
			s.tasks("j", 1, 4, "")
		}, WhyWaiting},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, test.rules, test.document)
			test.stage(s)
			out := s.run()
			at := slices.IndexFunc(out.Record.Jobs, func(r JobRecord) bool { return r.Name == "j" })
			if why := out.Record.Jobs[at].Why; why == nil || why.Code != test.want {
				t.Errorf("%+v, want %s\n%s", why, test.want, transcript(out))
			}
		})
	}
}

// TestTooFewPodsIsTried does what the reason says: with as many more pods as are missing the group starts, and with one less it
// does not.
func TestTooFewPodsIsTried(t *testing.T) {
	for _, test := range []struct {
		name  string
		least int32
		roles map[string]int32
		// have are the roles of the pods that exist, and missing is that of those that are missing.
		have    []string
		missing string
		want    Why
		said    string
	}{
		{"one of two", 2, nil, []string{""}, "", Why{Code: WhyTooFewPods, Needed: 2, Placed: 1}, "its group has 1 of the 2 pods that it needs"},
		{"two of five", 5, nil, []string{"", ""}, "", Why{Code: WhyTooFewPods, Needed: 5, Placed: 2}, "its group has 2 of the 5 pods that it needs"},
		{
			"enough in all, but not of a role", 2, map[string]int32{"ps": 2, "worker": 1}, []string{"worker", "worker"}, "ps",
			Why{Code: WhyTooFewPods, Needed: 2, Role: "ps"}, "its group has 0 of the 2 pods of the role ps that it needs",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			short := test.want.Needed - test.want.Placed
			for more := range short + 1 {
				s := newStage(t, Volcano, allocating)
				s.node("n1", 64)
				s.group("j", "", test.least, 0).Spec.MinTaskMember = test.roles
				for i, p := range s.tasks("j", len(test.have)+more, 1, "") {
					p.Annotations[RoleAnnotation] = test.missing
					if i < len(test.have) {
						p.Annotations[RoleAnnotation] = test.have[i]
					}
				}
				out := s.run()
				if more == short {
					if len(out.Binds) == 0 {
						t.Errorf("with %d more pods the group does not start\n%s", more, transcript(out))
					}
					continue
				}
				if len(out.Binds) > 0 {
					t.Errorf("with %d more pods the group starts\n%s", more, transcript(out))
				}
				if more > 0 {
					continue
				}
				why := *out.Record.Jobs[0].Why
				if got := (Why{Code: why.Code, Needed: why.Needed, Placed: why.Placed, Role: why.Role}); got.Code != test.want.Code || got.Needed != test.want.Needed || got.Placed != test.want.Placed || got.Role != test.want.Role {
					t.Errorf("%+v, want %+v", got, test.want)
				}
				if got := out.Cycles[0].PreFilter[0].Reasons[0]; got != test.said {
					t.Errorf("a pod hears %q, want %q", got, test.said)
				}
				// Volcano writes that the gang is not ready to the group and to its pods.
				message := fmt.Sprintf("%d/%d tasks in gang unschedulable: pod group is not ready, %[2]d Pending, %[3]d minAvailable", int(test.least), len(test.have), test.least)
				if c := out.Groups[0].Status.Conditions; len(c) != 1 || c[0].Type != ConditionUnschedulable || c[0].Reason != ReasonNotEnoughResources || c[0].Message != message {
					t.Errorf("the group's conditions are %+v, want %q", c, message)
				}
				if len(out.Pods) != len(test.have) || out.Pods[0].Reason != "Unschedulable" || out.Pods[0].Message != message {
					t.Errorf("the pods get %+v, want %q", out.Pods, message)
				}
			}
		})
	}
}

// TestWhyAPodWasNotTried: a pod for which no node was asked hears the cause, and that another pod found no node only if one did.
func TestWhyAPodWasNotTried(t *testing.T) {
	for _, test := range []struct {
		name, document, want string
		cpus                 []float64
	}{
		{"another task found no node", "", "another task of the job found no node", []float64{9, 1}},
		{"no action looks at it", `{actions: "backfill", tiers: [{plugins: [{name: predicates}]}]}`, "the session did not come to the pod", []float64{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, KubeBatch, test.document)
			s.node("n1", 8)
			s.group("j", "", 1, 0)
			for _, cpu := range test.cpus {
				s.tasks("j", 1, cpu, "")
			}
			out := s.run()
			last := out.Cycles[len(out.Cycles)-1]
			if len(last.PreFilter) == 0 || !strings.HasPrefix(last.PreFilter[0].Reasons[0], test.want) {
				t.Errorf("the pod hears %+v, want %q", last.PreFilter, test.want)
			}
		})
	}
}
