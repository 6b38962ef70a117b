package whatif_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"

	schedulerconfig "kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/scheduler/whatif"
)

func TestMain(m *testing.M) {
	schedulertest.Prepare()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

var (
	nodeKind = v1.SchemeGroupVersion.WithKind("Node")
	podKind  = v1.SchemeGroupVersion.WithKind("Pod")
	web      = &types.NamespacedName{Namespace: "default", Name: "web"}
)

func cores(n string) map[v1.ResourceName]string {
	return map[v1.ResourceName]string{"cpu": n, "memory": "8Gi", "pods": "10"}
}

// small has a node with two CPUs, one with four that is tainted, and the pods web, which needs three CPUs and waits, and
// placed, which runs on the small node.
func small() []runtime.Object {
	return []runtime.Object{
		st.MakeNode().Name("small").Label(v1.LabelHostname, "small").Capacity(cores("2")).Obj(),
		st.MakeNode().Name("tainted").Label(v1.LabelHostname, "tainted").Capacity(cores("4")).Taints([]v1.Taint{{Key: "team", Value: "red", Effect: v1.TaintEffectNoSchedule}}).Obj(),
		waiting("web", "3"),
		st.MakePod().Name("placed").Namespace("default").UID("placed").SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": "2"}).Node("small").Obj(),
	}
}

func waiting(name, cpu string) *v1.Pod {
	return st.MakePod().Name(name).Namespace("default").UID(name).SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": cpu}).Obj()
}

func engineOf(t *testing.T, options whatif.Options, objects ...runtime.Object) *whatif.Engine {
	t.Helper()
	if options.Source == nil {
		options.Source = whatif.Objects(objects)
	}
	options.Configuration = defaults(t)
	e := whatif.New(options)
	t.Cleanup(e.Stop)
	return e
}

// fates has the node of each decision, or its outcome.
func fates(a *whatif.Answer) []string {
	var out []string
	for _, c := range a.Decisions {
		if c.SelectedNode != "" {
			out = append(out, c.SelectedNode)
		} else {
			out = append(out, string(c.Outcome))
		}
	}
	return out
}

func apply(o runtime.Object) whatif.Change { return whatif.Change{Apply: o} }

func patch(gvk schema.GroupVersionKind, name, document string) whatif.Change {
	ref := whatif.ObjectRef{GVK: gvk, Name: name}
	return whatif.Change{Patch: &whatif.Patch{ObjectRef: ref, Patch: []byte(document)}}
}

func remove(gvk schema.GroupVersionKind, name string) whatif.Change {
	return whatif.Change{Delete: &whatif.ObjectRef{GVK: gvk, Name: name}}
}

// TestAnswers: what a question changes decides where its pod goes.
func TestAnswers(t *testing.T) {
	more := st.MakeNode().Name("more").Label(v1.LabelHostname, "more").Capacity(cores("3")).Obj()
	urgent := waiting("urgent", "1")
	urgent.Spec.PriorityClassName = "urgent"
	beside := waiting("beside", "1")
	beside.Spec.Affinity = st.MakePod().PodAffinityIn("app", v1.LabelHostname, []string{"db"}, st.PodAffinityWithRequiredReq).Obj().Spec.Affinity
	claiming := waiting("claiming", "1")
	claiming.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "own", ResourceClaimTemplateName: ptr.To("none")}}
	claimTemplate := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "none"}}
	noTaint := patch(nodeKind, "tainted", `{"spec": {"taints": null}}`)
	for name, test := range map[string]struct {
		question whatif.Question
		want     []string
	}{
		"as it is":                          {whatif.Question{PodRef: web}, []string{"unschedulable"}},
		"a taint removed":                   {whatif.Question{PodRef: web, Changes: []whatif.Change{noTaint}}, []string{"tainted"}},
		"a pod gone, and the request less":  {whatif.Question{PodRef: web, Changes: []whatif.Change{remove(podKind, "placed"), patch(podKind, "web", `{"spec": {"containers": [{"name": "con0", "resources": {"requests": {"cpu": "1"}}}]}}`)}}, []string{"small"}},
		"a node gone":                       {whatif.Question{PodRef: web, Changes: []whatif.Change{noTaint, remove(nodeKind, "tainted")}}, []string{"unschedulable"}},
		"an object in place of another":     {whatif.Question{PodRef: web, Changes: []whatif.Change{apply(st.MakeNode().Name("small").Capacity(cores("8")).Obj())}}, []string{"small"}},
		"two more nodes, three copies":      {whatif.Question{PodRef: web, Copies: 3, Changes: []whatif.Change{{Apply: more, Count: 2}}}, []string{"more-1", "more-2", "unschedulable"}},
		"a placed pod is asked anew":        {whatif.Question{PodRef: &types.NamespacedName{Namespace: "default", Name: "placed"}}, []string{"small"}},
		"copies of a placed pod":            {whatif.Question{PodRef: &types.NamespacedName{Namespace: "default", Name: "placed"}, Copies: 3, Changes: []whatif.Change{noTaint}}, []string{"tainted", "tainted", "small"}},
		"a pod that exists in the question": {whatif.Question{PodRef: &types.NamespacedName{Namespace: "default", Name: "beside"}, Changes: []whatif.Change{noTaint, apply(beside)}}, []string{"unschedulable"}},
		"a pod of the question with a claim of its own": {whatif.Question{
			PodRef: &types.NamespacedName{Namespace: "default", Name: "claiming"}, Changes: []whatif.Change{noTaint, apply(claimTemplate), apply(claiming)}}, []string{"tainted"}},
		"beside a pod of the question": {whatif.Question{Pod: beside, Changes: []whatif.Change{noTaint, apply(
			st.MakePod().Name("db").Namespace("default").Label("app", "db").Container("i").SchedulerName(v1.DefaultSchedulerName).Node("tainted").Obj())}}, []string{"tainted"}},
		"a class of the question": {whatif.Question{Pod: urgent, Changes: []whatif.Change{apply(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 10})}}, []string{"unschedulable"}},
		"no nodes at all":         {whatif.Question{PodRef: web, Changes: []whatif.Change{remove(nodeKind, "small"), remove(nodeKind, "tainted")}}, []string{"unschedulable"}},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := engineOf(t, whatif.Options{}, small()...).Ask(t.Context(), test.question)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, fates(answer)); diff != "" {
				t.Errorf("%s\n%s", diff, answer.Decisions[0].Message)
			}
			if answer.State.Nodes != 2 || answer.State.Pods != 2 {
				t.Errorf("the state before the changes is %+v", answer.State)
			}
		})
	}
}

// TestEveryRejectionIsTold: no plugin goes without saying because an earlier one rejected the node.
func TestEveryRejectionIsTold(t *testing.T) {
	answer, err := engineOf(t, whatif.Options{}, small()...).Ask(t.Context(), whatif.Question{PodRef: web, Changes: []whatif.Change{
		patch(nodeKind, "tainted", `{"spec": {"unschedulable": true}, "status": {"allocatable": {"cpu": "1"}}}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	cycle := answer.Decisions[0]
	got := map[string][]string{}
	for i, node := range cycle.Filter.Nodes.All() {
		verdict := cycle.Filter.Verdict(i)
		for _, r := range verdict.Rejections() {
			got[node] = append(got[node], r.Plugin)
		}
	}
	want := map[string][]string{"small": {"NodeResourcesFit"}, "tainted": {"NodeUnschedulable", "TaintToleration", "NodeResourcesFit"}}
	if diff := cmp.Diff(want, got); diff != "" || !cycle.Hypothetical {
		t.Errorf("hypothetical %t: %s", cycle.Hypothetical, diff)
	}
}

// TestPreemptionIsADryRun: the nominated node, the victim and the rule are told, and nobody is evicted.
func TestPreemptionIsADryRun(t *testing.T) {
	pod := waiting("urgent", "2")
	priority := int32(100)
	pod.Spec.Priority = &priority
	answer, err := engineOf(t, whatif.Options{}, small()...).Ask(t.Context(), whatif.Question{Pod: pod, Copies: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range answer.Decisions {
		if c.NominatedNode != "small" || c.Preemption == nil || len(c.Preemption.Candidates) != 1 || c.Preemption.Candidates[0].Victims[0].Pod.Name != "placed" {
			t.Errorf("nominated to %q: %+v", c.NominatedNode, c.Preemption)
		}
	}
}

func TestBadQuestions(t *testing.T) {
	engine := engineOf(t, whatif.Options{}, small()...)
	lost := &types.NamespacedName{Namespace: "default", Name: "lost"}
	broken := waiting("broken", "1")
	broken.Spec.Containers[0].Name = "Not A Name"
	plugin, err := schedulerconfig.Parse([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: {score: {enabled: [{name: Mine}]}}}]"))
	if err != nil {
		t.Fatal(err)
	}
	changes := func(c ...whatif.Change) whatif.Question { return whatif.Question{PodRef: web, Changes: c} }
	for name, test := range map[string]struct {
		question whatif.Question
		want     error
	}{
		"no pod":                          {whatif.Question{}, new(whatif.InvalidError)},
		"two pods":                        {whatif.Question{Pod: waiting("a", "1"), PodRef: web}, new(whatif.InvalidError)},
		"a pod that is not there":         {whatif.Question{PodRef: lost}, new(whatif.NotFoundError)},
		"an invalid pod":                  {whatif.Question{Pod: broken}, new(whatif.InvalidError)},
		"too many copies":                 {whatif.Question{PodRef: web, Copies: 10_001}, new(whatif.InvalidError)},
		"another profile":                 {whatif.Question{PodRef: web, Profile: "other"}, new(whatif.ProfileError)},
		"an unknown plugin":               {whatif.Question{PodRef: web, Configuration: plugin.Internal}, new(whatif.ConfigurationError)},
		"a change of nothing":             {changes(whatif.Change{}), new(whatif.ChangeError)},
		"a change of two kinds":           {changes(whatif.Change{Apply: waiting("a", "1"), Delete: &whatif.ObjectRef{GVK: podKind, Name: "web"}}), new(whatif.ChangeError)},
		"a kind that nobody reads":        {changes(apply(&v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}})), new(whatif.KindError)},
		"a patch of what is not there":    {changes(patch(nodeKind, "lost", `{}`)), new(whatif.NotFoundError)},
		"a deletion of what is not there": {changes(remove(podKind, "lost")), new(whatif.NotFoundError)},
		"a patch that is no JSON":         {changes(patch(nodeKind, "small", `{`)), new(whatif.InvalidError)},
		"a patch of an unknown field":     {changes(patch(nodeKind, "small", `{"spec": {"tainted": true}}`)), new(whatif.InvalidError)},
		"a patch that renames":            {changes(patch(nodeKind, "small", `{"metadata": {"name": "big"}}`)), new(whatif.InvalidError)},
		"a patch with a wrong value":      {changes(patch(podKind, "web", `{"spec": {"priorityClassName": "lost", "priority": null}}`)), new(whatif.InvalidError)},
		"an object without a name":        {changes(apply(&v1.Node{})), new(whatif.InvalidError)},
		"copies of what is not copied":    {changes(whatif.Change{Apply: &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, Count: 2}), new(whatif.InvalidError)},
		"an unknown priority class":       {changes(apply(func() *v1.Pod { p := waiting("a", "1"); p.Spec.PriorityClassName = "x"; return p }())), new(whatif.InvalidError)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Ask(t.Context(), test.question)
			if target := reflect.New(reflect.TypeOf(test.want)).Interface(); !errors.As(err, target) {
				t.Errorf("want a %T, got %T: %v", test.want, err, err)
			}
		})
	}
	// The engine goes on, and no question has left anything behind.
	answer, err := engine.Ask(t.Context(), whatif.Question{PodRef: web})
	if err != nil || answer.State.Pods != 2 || fates(answer)[0] != "unschedulable" {
		t.Errorf("%v: %+v", err, answer)
	}
}

// moving is a source whose state changes.
type moving struct {
	log     *feed.Log
	objects []runtime.Object
}

func newMoving(objects ...runtime.Object) *moving {
	m := &moving{log: feed.NewLog(nil), objects: objects}
	m.restart()
	return m
}

func (m *moving) restart() {
	m.log.Restart(func(add func(feed.Operation)) {
		for _, o := range m.objects {
			add(feed.Operation{Set: o})
		}
	})
}

func (m *moving) Follow(context.Context) (*feed.Follower, error) { return m.log.Follow(false), nil }

func (m *moving) set(o runtime.Object) {
	m.log.Do(func(add func(feed.Operation)) { add(feed.Operation{Set: o}) })
}

// TestTheStateIsThePresentOne: each answer rests on all changes before the question, also when the scheduler has been replaced.
func TestTheStateIsThePresentOne(t *testing.T) {
	source := newMoving(versioned("a", "1", "2"), withVersion(waiting("web", "3"), "2"))
	engine := engineOf(t, whatif.Options{Source: source})
	want := func(fate, version string) {
		t.Helper()
		answer, err := engine.Ask(t.Context(), whatif.Question{PodRef: web})
		if err != nil {
			t.Fatal(err)
		}
		if fates(answer)[0] != fate || answer.State.ResourceVersion != version {
			t.Errorf("%v at %+v, want %s at %s", fates(answer), answer.State, fate, version)
		}
	}
	want("unschedulable", "2")
	source.set(versioned("a", "3", "4"))
	want("a", "3")
	source.objects = []runtime.Object{versioned("b", "4", "4"), withVersion(waiting("web", "3"), "2")}
	source.restart()
	want("b", "4")
}

func versioned(node, version, cpu string) *v1.Node {
	n := st.MakeNode().Name(node).UID(node).Capacity(cores(cpu)).Obj()
	n.ResourceVersion = version
	return n
}

func withVersion(p *v1.Pod, version string) *v1.Pod {
	p.ResourceVersion = version
	return p
}

// TestPanicsAreContained: one of a plugin makes the outcome an error; one elsewhere is the question's error. The engine goes on.
func TestPanicsAreContained(t *testing.T) {
	explode := true
	engine := engineOf(t, whatif.Options{BreakTie: func(_ fwk.CycleState, _ *v1.Pod, tied []string) string {
		if explode {
			panic("no way to choose")
		}
		return tied[0]
	}}, st.MakeNode().Name("a").Capacity(cores("4")).Obj(), st.MakeNode().Name("b").Capacity(cores("4")).Obj(), waiting("web", "3"))
	_, err := engine.Ask(t.Context(), whatif.Question{PodRef: web})
	if broken := (*whatif.PanicError)(nil); !errors.As(err, &broken) || broken.Stack == "" {
		t.Errorf("the error is %v", err)
	}
	explode = false
	if answer, err := engine.Ask(t.Context(), whatif.Question{PodRef: web}); err != nil || answer.Decisions[0].Outcome != result.Scheduled {
		t.Errorf("the next answer is %+v, %v", answer, err)
	}
}

// waits is a Permit plugin that a question must not ask.
type waits struct{ t *testing.T }

func (waits) Name() string { return "Waits" }

func (p waits) Permit(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.Status, time.Duration) {
	p.t.Error("Permit was asked")
	return nil, 0
}

// TestPermitIsNotAsked: the answer names the plugins whose say it lacks.
func TestPermitIsNotAsked(t *testing.T) {
	engine := engineOf(t, whatif.Options{OutOfTree: frameworkruntime.Registry{"Waits": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
		return waits{t}, nil
	}}}, st.MakeNode().Name("a").Capacity(cores("4")).Obj(), waiting("web", "3"))
	configuration := defaults(t)().DeepCopy()
	configuration.Profiles[0].Plugins.Permit.Enabled = []config.Plugin{{Name: "Waits"}}
	for _, tc := range []struct {
		configuration *config.KubeSchedulerConfiguration
		want          []string
	}{{nil, nil}, {configuration, []string{"Waits"}}} {
		answer, err := engine.Ask(t.Context(), whatif.Question{PodRef: web, Configuration: tc.configuration})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, answer.PermitNotAsked); diff != "" || answer.Decisions[0].SelectedNode != "a" {
			t.Errorf("%s%+v", diff, answer.Decisions[0].Summary)
		}
	}
}

// TestExtendersThatAreNotAskedAreNamed: those that are interested in the pod, unless the question asks them.
func TestExtendersThatAreNotAskedAreNamed(t *testing.T) {
	engine := engineOf(t, whatif.Options{}, st.MakeNode().Name("a").Capacity(cores("4")).Obj(), waiting("web", "3"))
	configuration := defaults(t)().DeepCopy()
	configuration.Extenders = []config.Extender{
		{URLPrefix: "http://127.0.0.1:1/x", FilterVerb: "filter", Ignorable: true, HTTPTimeout: metav1.Duration{Duration: time.Second}},
		{URLPrefix: "http://127.0.0.1:1/gpu", FilterVerb: "filter", Ignorable: true, ManagedResources: []config.ExtenderManagedResource{{Name: "example.com/gpu"}}},
	}
	for _, asks := range []bool{false, true} {
		var want []string
		if !asks {
			want = []string{"http://127.0.0.1:1/x"}
		}
		answer, err := engine.Ask(t.Context(), whatif.Question{PodRef: web, Configuration: configuration, AskExtenders: asks})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, answer.ExtendersNotAsked); diff != "" {
			t.Errorf("asked %t: %s", asks, diff)
		}
	}
}

// TestQuestionsWaitForTheirTurn: as many as may wait do; further ones are refused at once, and those whose callers leave go.
func TestQuestionsWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(t, whatif.Options{Waiting: 1}, small()...)
		release := make(chan struct{})
		answers := make(chan error, 2)
		go func() {
			answers <- engine.Try(context.Background(), nil, func(context.Context, *whatif.Trial) error {
				<-release
				return nil
			})
		}()
		synctest.Wait()
		impatient, leave := context.WithCancel(context.Background())
		go func() {
			_, err := engine.Ask(impatient, whatif.Question{PodRef: web})
			answers <- err
		}()
		synctest.Wait()
		if _, err := engine.Ask(context.Background(), whatif.Question{PodRef: web}); !errors.Is(err, whatif.ErrBusy) {
			t.Errorf("the third question's error is %v", err)
		}
		leave()
		if err := <-answers; !errors.Is(err, context.Canceled) {
			t.Errorf("the error of the one who left is %v", err)
		}
		close(release)
		if err := <-answers; err != nil {
			t.Errorf("the first question's error is %v", err)
		}
		if _, err := engine.Ask(context.Background(), whatif.Question{PodRef: web}); err != nil {
			t.Errorf("the next question's error is %v", err)
		}
		engine.Stop()
	})
}

// TestACancelledQuestionEnds: in the middle of its decisions.
func TestACancelledQuestionEnds(t *testing.T) {
	engine := engineOf(t, whatif.Options{}, small()...)
	ctx, cancel := context.WithCancel(t.Context())
	err := engine.Try(ctx, nil, func(ctx context.Context, trial *whatif.Trial) error {
		pod, err := trial.Pod("default", "web")
		if err != nil {
			return err
		}
		cancel()
		_, err = trial.Decide(ctx, pod, "")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestTheEngineLetsGo: of the configurations that were not used for the longest time, and of everything when nobody asks.
func TestTheEngineLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := newMoving(small()...)
		engine := engineOf(t, whatif.Options{Source: source, Kept: 2, Idle: time.Minute})
		following := func() int {
			all, _ := source.log.Followers()
			return all
		}
		for i := range 4 {
			c, err := schedulerconfig.Parse(fmt.Appendf(nil, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: %d\n", i+1))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := engine.Ask(context.Background(), whatif.Question{PodRef: web, Configuration: c.Internal}); err != nil {
					t.Fatal(err)
				}
			}
			if got := following(); got != min(i+1, 2) {
				t.Errorf("after %d configurations, %d follow", i+1, got)
			}
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if got := following(); got != 0 {
			t.Errorf("after a minute without a question, %d follow", got)
		}
		if _, err := engine.Ask(context.Background(), whatif.Question{PodRef: web}); err != nil || following() != 1 {
			t.Errorf("then %d follow: %v", following(), err)
		}
		engine.Stop()
	})
}

// TestTrialsReturn: within a question, a point of its state can be returned to.
func TestTrialsReturn(t *testing.T) {
	engine := engineOf(t, whatif.Options{}, st.MakeNode().Name("a").Capacity(cores("4")).Obj(), waiting("web", "3"))
	err := engine.Try(t.Context(), nil, func(ctx context.Context, trial *whatif.Trial) error {
		fits := func(want bool) {
			t.Helper()
			other, err := trial.New(waiting("other", "3"))
			if err != nil {
				t.Fatal(err)
			}
			nodes, err := trial.Feasible(ctx, other, "")
			if err != nil || (len(nodes) == 1) != want {
				t.Errorf("it fits on %v: %v", nodes, err)
			}
		}
		start := trial.Mark()
		fits(true)
		trial.Rollback(start)
		pod, err := trial.Pod("default", "web")
		if err != nil {
			return err
		}
		if err := trial.Place(ctx, pod, "", "a"); err != nil {
			return err
		}
		fits(false)
		trial.Rollback(start)
		fits(true)
		unfit := (*whatif.UnfitError)(nil)
		if err := trial.Place(ctx, must(trial.New(waiting("large", "5"))), "", "a"); !errors.As(err, &unfit) || unfit.Plugin != "NodeResourcesFit" {
			t.Errorf("placing what does not fit: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPluginsReadTheLatestPod: the queue may still hold an older version of a pod, which the scheduler decides about. Preemption reads
// from the newer one that the pod is no longer nominated, so that it need not wait for a victim that is terminating.
func TestPluginsReadTheLatestPod(t *testing.T) {
	urgent := waiting("urgent", "2")
	urgent.Spec.Priority = new(int32)
	*urgent.Spec.Priority = 100
	urgent.ResourceVersion = "3"
	queued := urgent.DeepCopy()
	queued.ResourceVersion, queued.Status.NominatedNodeName = "2", "small"
	victim := st.MakePod().Name("victim").Namespace("default").UID("victim").SchedulerName(v1.DefaultSchedulerName).Req(map[v1.ResourceName]string{"cpu": "2"}).Node("small").Terminating().Obj()
	victim.Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}}
	for name, test := range map[string]struct {
		known *v1.Pod
		want  string
	}{
		"a newer one": {urgent, "small"},
		"the same":    {queued, ""},
	} {
		t.Run(name, func(t *testing.T) {
			engine := engineOf(t, whatif.Options{}, st.MakeNode().Name("small").Capacity(cores("2")).Obj(), victim, test.known)
			err := engine.Try(t.Context(), nil, func(ctx context.Context, trial *whatif.Trial) error {
				cycle, err := trial.Decide(ctx, queued, "")
				if err == nil && cycle.NominatedNode != test.want {
					t.Errorf("it is nominated to %q, want %q: %s", cycle.NominatedNode, test.want, cycle.Message)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func must(p *v1.Pod, err error) *v1.Pod {
	if err != nil {
		panic(err)
	}
	return p
}
