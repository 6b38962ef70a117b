package plugins_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/scheduler"
	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/plugins"
	"kube-scheduler-simulator/scheduler/plugins/coscheduling/v1alpha1"
	"kube-scheduler-simulator/scheduler/recorder"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
)

// coscheduling is a configuration as people have it, with the given arguments.
func coscheduling(args string) string {
	return `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 1
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: Coscheduling}]
    queueSort:
      enabled: [{name: Coscheduling}]
      disabled: [{name: "*"}]
  pluginConfig:
  - name: Coscheduling
    args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: CoschedulingArgs, ` + args + `}
`
}

// story notes how the attempts of each pod end, with the time since the start.
type story struct {
	mu    sync.Mutex
	start time.Time
	lines []string
}

func (*story) NextAttempt(types.UID) int { return 1 }

func (s *story) Put(c *result.Cycle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(c.Message, "the scheduler stops") {
		return // the end of every story in which pods still wait
	}
	sentence := explain.Cycle(c).Sentence
	if c.Outcome == result.Scheduled {
		// Which node it is, is another story.
		sentence = "runs." + sentence[strings.Index(sentence, ".")+1:]
	}
	s.lines = append(s.lines, fmt.Sprintf("%ds %s: %s", int(time.Since(s.start).Seconds()), c.Pod.Name, strings.TrimPrefix(sentence, c.Pod.Name+" ")))
}

// ordered returns the lines. Pods whose attempts end in their binding cycles at the same time do so
// in any order, so those lines are sorted. So are those that say the same of several pods: an event
// moves the pods that it wakes into the queue in any order, and the scheduler takes the first at once.
func (s *story) ordered() []string {
	together := func(line string) string {
		at, rest, _ := strings.Cut(line, " ")
		for _, end := range []string{"lost its place", "did not allow it", "1 removed", ": runs."} {
			if strings.Contains(rest, end) {
				return at
			}
		}
		_, said, _ := strings.Cut(rest, ": ")
		return at + " " + said
	}
	lines := slices.Clone(s.lines)
	for i := 0; i < len(lines); {
		end := i + 1
		for what := together(lines[i]); end < len(lines) && together(lines[end]) == what; {
			end++
		}
		slices.Sort(lines[i:end])
		i = end
	}
	return lines
}

// theatre is a scheduler in a bubble, recorded or not, and a cluster that a test acts on.
type theatre struct {
	t      *testing.T
	ctx    context.Context
	server *schedulertest.APIServer
	client kubernetes.Interface
	*story
}

// play runs a scheduler with the plugin. act acts on the cluster, and lets time pass by sleeping.
// The API server does not know the unserved resources.
func play(t *testing.T, configuration string, recorded bool, act func(*theatre), unserved ...string) *story {
	t.Helper()
	parsed, err := config.ParseWith([]byte(configuration), config.Options{OutOfTree: slices.Collect(maps.Keys(plugins.Registry()))})
	if err != nil {
		t.Fatal(err)
	}
	notes := &story{}
	synctest.Test(t, func(t *testing.T) {
		ctx := klog.NewContext(t.Context(), logr.Discard())
		server := schedulertest.NewAPIServer()
		for _, resource := range unserved {
			server.Unserve(resource)
		}
		client, err := kubernetes.NewForConfig(server.Config("user"))
		if err != nil {
			t.Fatal(err)
		}
		notes.start = time.Now()
		var sink recorder.Sink
		if recorded {
			sink = notes
		}
		seed := int64(1)
		s := scheduler.New(scheduler.Options{Client: server.Config("scheduler"), Configuration: parsed.Internal, OutOfTree: plugins.Registry(), Sink: sink, TieSeed: &seed})
		if err := s.Start(ctx); err != nil {
			t.Fatal(err)
		}
		act(&theatre{t, ctx, server, client, notes})
		if err := s.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute) // upstream does not wait for some goroutines; they end on their own
	})
	return notes
}

func (x *theatre) create(objects ...runtime.Object) {
	x.t.Helper()
	if err := schedulertest.Fill(x.ctx, x.server, objects); err != nil {
		x.t.Fatal(err)
	}
}

func (x *theatre) delete(namespace string, names ...string) {
	x.t.Helper()
	for _, name := range names {
		if err := x.client.CoreV1().Pods(namespace).Delete(x.ctx, name, metav1.DeleteOptions{}); err != nil {
			x.t.Fatal(err)
		}
	}
}

func (x *theatre) deleteCustom(namespace string, kind schema.GroupVersionResource, name string) {
	x.t.Helper()
	err := x.client.Discovery().RESTClient().Delete().AbsPath("/apis", kind.Group, kind.Version, "namespaces", namespace, kind.Resource, name).Do(x.ctx).Error()
	if err != nil {
		x.t.Fatal(err)
	}
}

// scene is a part of a transcript.
type scene struct {
	name string
	act  func(*theatre)
}

// tell plays each scene on two nodes and compares what is told with a file.
func tell(t *testing.T, file, configuration string, scenes []scene) {
	t.Helper()
	var told strings.Builder
	for _, s := range scenes {
		notes := play(t, configuration, true, func(x *theatre) {
			x.create(node("n1"), node("n2"))
			s.act(x)
		})
		fmt.Fprintf(&told, "# %s\n%s\n\n", s.name, strings.Join(notes.ordered(), "\n"))
	}
	compareTold(t, file, told.String())
}

func compareTold(t *testing.T, file, told string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(told), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), told); diff != "" {
		t.Error(diff)
	}
}

// bound returns the bound pods whose name has a prefix, of all namespaces.
func (x *theatre) bound(prefix string) (names []string) {
	x.t.Helper()
	pods, err := x.client.CoreV1().Pods("").List(x.ctx, metav1.ListOptions{})
	if err != nil {
		x.t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != "" && strings.HasPrefix(pod.Name, prefix) {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}

func gangOf(name string, least int32) *v1alpha1.PodGroup {
	return &v1alpha1.PodGroup{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PodGroup"},
		ObjectMeta: metav1.ObjectMeta{Namespace: schedulertest.Namespace, Name: name},
		Spec:       v1alpha1.PodGroupSpec{MinMember: least},
	}
}

// member is a pod that needs a CPU.
func member(name, group string) *st.PodWrapper {
	return st.MakePod().Name(name).Namespace(schedulertest.Namespace).Label(v1alpha1.PodGroupLabel, group).
		SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": "1"})
}

// foreign is a member that another scheduler is to place, and does not.
func foreign(name, group string) *v1.Pod { return member(name, group).SchedulerName("another").Obj() }

// members are n pods of a group.
func members(group string, n int) []runtime.Object {
	var out []runtime.Object
	for i := range n {
		out = append(out, member(fmt.Sprintf("%s-%02d", group, i), group).Obj())
	}
	return out
}

// TestGangs tells short stories, as the explanations of the attempts in their order. The node has
// 4 CPUs, and each pod needs one.
func TestGangs(t *testing.T) {
	var told strings.Builder
	for _, tc := range []struct {
		name string
		args string
		act  func(*theatre)
	}{
		{"members are created one by one", "", func(x *theatre) {
			x.create(gangOf("g", 3))
			x.create(members("g", 2)...)
			time.Sleep(time.Second)
			x.create(member("g-02", "g").Obj())
			time.Sleep(3 * time.Second)
		}},
		{"a member fits nowhere", "", func(x *theatre) {
			x.create(gangOf("g", 5))
			x.create(members("g", 5)...)
			time.Sleep(time.Second)
		}},
		{"a member fits nowhere, and the others may wait", "podGroupRejectPercentage: 100", func(x *theatre) {
			x.create(gangOf("g", 5))
			x.create(members("g", 5)...)
			time.Sleep(time.Second)
		}},
		{"a member times out", "", func(x *theatre) {
			g := gangOf("g", 3)
			g.Spec.ScheduleTimeoutSeconds = ptr.To[int32](5)
			x.create(g, foreign("g-02", "g"), foreign("g-03", "g"))
			x.create(member("g-00", "g").Obj())
			time.Sleep(2 * time.Second)
			x.create(member("g-01", "g").Obj())
			time.Sleep(3500 * time.Millisecond)
		}},
		{"a member that waits is deleted", "", func(x *theatre) {
			x.create(gangOf("g", 4), foreign("g-03", "g"))
			x.create(members("g", 3)...)
			time.Sleep(2500 * time.Millisecond)
			x.delete(schedulertest.Namespace, "g-00")
			time.Sleep(500 * time.Millisecond)
		}},
		{"the group is deleted while its members wait, and created again", "permitWaitingTimeSeconds: 5", func(x *theatre) {
			x.create(gangOf("g", 3), foreign("g-02", "g"), foreign("g-03", "g"))
			x.create(member("g-00", "g").Obj())
			time.Sleep(2 * time.Second)
			x.create(member("g-01", "g").Obj())
			time.Sleep(time.Second)
			x.deleteCustom(schedulertest.Namespace, v1alpha1.PodGroups, "g")
			time.Sleep(6 * time.Second)
			x.create(gangOf("g", 3))
			time.Sleep(3 * time.Second)
		}},
		{"the group does not exist yet", "", func(x *theatre) {
			x.create(members("g", 1)...)
			time.Sleep(time.Second)
			x.create(gangOf("g", 1))
			time.Sleep(3 * time.Second)
		}},
		{"groups do not reach into other namespaces", "", func(x *theatre) {
			x.create(gangOf("g", 2))
			x.create(members("g", 1)...)
			x.create(member("stranger", "g").Namespace("other").Obj())
			time.Sleep(time.Second)
		}},
		{"minMember 0 asks for nothing", "", func(x *theatre) {
			x.create(gangOf("g", 0))
			x.create(members("g", 1)...)
			time.Sleep(time.Second)
		}},
		{"a gate opens", "", func(x *theatre) {
			x.create(gangOf("g", 2))
			x.create(member("g-00", "g").Obj(), member("g-01", "g").SchedulingGates([]string{"example.com/hold"}).Obj())
			time.Sleep(time.Second)
			open := []byte(`{"spec":{"schedulingGates":null}}`)
			if _, err := x.client.CoreV1().Pods(schedulertest.Namespace).Patch(x.ctx, "g-01", types.MergePatchType, open, metav1.PatchOptions{}); err != nil {
				x.t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
		}},
		{"a backoff", "podGroupBackoffSeconds: 3", func(x *theatre) {
			x.create(gangOf("g", 5))
			x.create(members("g", 5)...)
			time.Sleep(500 * time.Millisecond)
			x.create(node("n2"))
			time.Sleep(time.Second)
			x.create(pod("wakes-them").Obj())
			time.Sleep(4 * time.Second)
			x.create(pod("wakes-them-again").Obj())
			time.Sleep(10 * time.Second)
		}},
		{"resources are lacking", "", func(x *theatre) {
			g := gangOf("g", 2)
			g.Spec.MinResources = v1.ResourceList{"cpu": resource.MustParse("6"), "memory": resource.MustParse("1Gi")}
			x.create(g)
			x.create(members("g", 2)...)
			time.Sleep(500 * time.Millisecond)
			x.create(node("n2"))
			x.create(pod("wakes-them").Obj())
			time.Sleep(5 * time.Second)
		}},
	} {
		notes := play(t, coscheduling(tc.args), true, func(x *theatre) {
			x.create(node("n1"))
			tc.act(x)
		})
		fmt.Fprintf(&told, "# %s\n%s\n\n", tc.name, strings.Join(notes.ordered(), "\n"))
	}
	compareTold(t, "testdata/coscheduling.txt", told.String())
}

var update = flag.Bool("update", false, "write the transcripts in testdata")

// TestTwoGangsTakeTurns: each of two gangs of 10 needs nearly all of a cluster for 12, so they can
// only run one after the other. They do, recorded or not, and never in part.
func TestTwoGangsTakeTurns(t *testing.T) {
	for _, tc := range []struct {
		name     string
		recorded bool
		// apart is the time between the creation of the two groups. Groups of the same second stand
		// in the queue as if they were one: here the pods' names mix them.
		apart time.Duration
	}{
		{"recorded", true, 2 * time.Second}, {"bare", false, 2 * time.Second}, {"mixed, recorded", true, 0}, {"mixed, bare", false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, coscheduling(""), tc.recorded, func(x *theatre) {
				x.create(node("n1"), node("n2"), node("n3"))
				x.create(gangOf("a", 10))
				time.Sleep(tc.apart)
				x.create(gangOf("b", 10))
				for i := range 10 {
					for _, group := range []string{"a", "b"} {
						x.create(member(fmt.Sprintf("%02d-%s", i, group), group).Label("gang", group).Obj())
					}
				}
				var turns []string
				done := map[string]bool{}
				for range 600 {
					time.Sleep(time.Second)
					running := map[string][]string{}
					for _, name := range x.bound("") {
						running[name[3:]] = append(running[name[3:]], name)
					}
					for group, pods := range running {
						if len(pods) != 10 {
							t.Fatalf("%d pods of group %s run", len(pods), group)
						}
						turns = append(turns, group)
						x.delete(schedulertest.Namespace, pods...)
						done[group] = true
					}
					if len(done) == 2 {
						break
					}
				}
				if len(turns) != 2 {
					t.Fatalf("the turns are %v", turns)
				}
				if tc.apart > 0 && turns[0] != "a" {
					t.Errorf("the younger group runs first: %v", turns)
				}
			})
		})
	}
}

// TestWithoutTheDefinition: the scheduler starts, and places pods that have no group.
func TestWithoutTheDefinition(t *testing.T) {
	notes := play(t, coscheduling(""), true, func(x *theatre) {
		x.create(node("n1"), pod("plain").Obj())
		time.Sleep(time.Second)
		x.create(members("g", 1)...)
		time.Sleep(time.Second)
	}, "podgroups")
	want := []string{
		"0s plain: runs.",
		"1s g-00: was assigned to n1 and then rejected: its pod group default/g does not exist.",
	}
	if diff := cmp.Diff(want, notes.lines); diff != "" {
		t.Error(diff)
	}
}
