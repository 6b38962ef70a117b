package redact_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/schedulertest"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
)

func TestMain(m *testing.M) {
	schedulertest.Prepare()
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// TestRedactedClustersAreScheduledAlike runs random clusters, and then reschedules one pod at a time
// in the original cluster and in a redacted copy. Every plugin's verdict and score for every node
// must be the same. It compares first attempts only: here the names of nodes, which differ, decide
// between equal nodes.
func TestRedactedClustersAreScheduledAlike(t *testing.T) {
	attempts, rejected, scored := 0, 0, 0
	step := 1
	if testing.Short() {
		step = 3 // a third of the themes; make test-all runs all
	}
	for theme := 0; theme < schedulertest.Themes; theme += step {
		cluster := schedulertest.Generate(uint64(theme))
		t.Run(cluster.Name, func(t *testing.T) {
			if strings.Contains(cluster.Configuration, "Picky") {
				t.Skip("a plugin that looks for a certain label does not find it in a redacted cluster")
			}
			setGates(t, cluster.Gates)
			// The names of nodes decide which are evaluated first.
			cluster.Configuration = strings.Replace(cluster.Configuration, "percentageOfNodesToScore: 50", "percentageOfNodesToScore: 100", 1)
			objects := grown(t, cluster)
			r := redact.New(nil)
			configuration := redactConfiguration(t, r, cluster.Configuration)
			for _, pod := range triedAgain(objects) {
				original := decide(t, cluster.Configuration, objects, pod)
				shown := decide(t, configuration, redactAll(r, objects), redactOne(r, pod))
				if original != nil {
					attempts++
					rejected += len(original.Verdicts) - original.Feasible
					scored += len(original.Scores)
				}
				if diff := cmp.Diff(describe(r, original, true), describe(r, shown, false)); diff != "" {
					t.Errorf("%s is scheduled in another way (-original +redacted):\n%s", pod.GetName(), diff)
				}
			}
		})
	}
	t.Logf("%d attempts, %d nodes rejected, %d scored", attempts, rejected, scored)
	if attempts*step < 50 || rejected*step < 100 || scored*step < 200 {
		t.Error("too little was compared")
	}
}

// kept are the kinds of objects in the clusters that grown returns.
var kept = []schema.GroupVersionResource{
	{Version: "v1", Resource: "namespaces"}, {Version: "v1", Resource: "nodes"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "deviceclasses"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "resourceslices"},
	{Version: "v1", Resource: "persistentvolumes"}, {Version: "v1", Resource: "persistentvolumeclaims"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims"},
	{Version: "v1", Resource: "pods"},
}

// grown returns the objects of a random cluster after its run.
func grown(t *testing.T, cluster *schedulertest.Cluster) (objects []*unstructured.Unstructured) {
	t.Helper()
	sim := run(t, cluster)
	for _, gvr := range kept {
		objects = append(objects, list(t, sim, gvr)...)
	}
	return objects
}

func list(t *testing.T, sim *schedulertest.Simulation, gvr schema.GroupVersionResource) (out []*unstructured.Unstructured) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client, err := dynamic.NewForConfig(sim.Server.Config("user"))
		if err != nil {
			t.Fatal(err)
		}
		found, err := client.Resource(gvr).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range found.Items {
			out = append(out, &found.Items[i])
		}
	})
	return out
}

// triedAgain returns some of a cluster's pods, pending ones first.
func triedAgain(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var pods []*unstructured.Unstructured
	for _, o := range objects {
		group, _, _ := unstructured.NestedMap(o.Object, "spec", "schedulingGroup")
		if o.GetKind() == "Pod" && group == nil && o.GetDeletionTimestamp() == nil {
			pods = append(pods, o)
		}
	}
	slices.SortStableFunc(pods, func(a, b *unstructured.Unstructured) int { return strings.Compare(nodeOf(a), nodeOf(b)) })
	return pods[:min(5, len(pods))]
}

func nodeOf(pod *unstructured.Unstructured) string {
	node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	return node
}

// decide schedules one pod in a cluster in which all others are on nodes, and
// returns its first attempt.
func decide(t *testing.T, configuration string, objects []*unstructured.Unstructured, pod *unstructured.Unstructured) *schedulertest.Attempt {
	t.Helper()
	cluster := &schedulertest.Cluster{Name: pod.GetName(), Configuration: configuration}
	for _, o := range objects {
		switch {
		case o.GetKind() != "Pod":
		case o.GetName() == pod.GetName():
			continue
		case nodeOf(o) == "" || o.GetDeletionTimestamp() != nil:
			continue
		}
		cluster.Objects = append(cluster.Objects, typed(t, o))
	}
	alone := pod.DeepCopy()
	for _, field := range [][]string{{"spec", "nodeName"}, {"spec", "schedulingGates"}, {"status"}} {
		unstructured.RemoveNestedField(alone.Object, field...)
	}
	cluster.Objects = append(cluster.Objects, typed(t, alone))
	for _, attempt := range run(t, cluster).Observer.Attempts() {
		if attempt.Pod == schedulertest.Namespace+"/"+pod.GetName() {
			return attempt
		}
	}
	return nil
}

func redactConfiguration(t *testing.T, r *redact.Redactor, document string) string {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	r.Object(u)
	if data, err = u.MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func redactOne(r *redact.Redactor, o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	r.Object(o)
	return o
}

func redactAll(r *redact.Redactor, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	out := make([]*unstructured.Unstructured, len(objects))
	for i, o := range objects {
		out[i] = redactOne(r, o)
	}
	return out
}

// typed also repairs references by UID, because the server assigns new UIDs.
func typed(t *testing.T, o *unstructured.Unstructured) runtime.Object {
	t.Helper()
	o = o.DeepCopy()
	o.SetResourceVersion("")
	if claim, ok, _ := unstructured.NestedMap(o.Object, "spec", "claimRef"); ok {
		claim["uid"] = fmt.Sprintf("persistentvolumeclaims/%s/%s#1", claim["namespace"], claim["name"])
		_ = unstructured.SetNestedMap(o.Object, claim, "spec", "claimRef")
	}
	if users, ok, _ := unstructured.NestedSlice(o.Object, "status", "reservedFor"); ok {
		for _, user := range users {
			user.(map[string]any)["uid"] = fmt.Sprintf("pods/%s/%s#1", o.GetNamespace(), user.(map[string]any)["name"])
		}
		_ = unstructured.SetNestedSlice(o.Object, users, "status", "reservedFor")
	}
	out, err := scheme.Scheme.New(o.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// describe renders a decision, with the redacted names of nodes.
func describe(r *redact.Redactor, a *schedulertest.Attempt, original bool) map[string]any {
	if a == nil {
		return nil
	}
	name := func(node string) string {
		if !original {
			return node
		}
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": node}}}
		r.Object(u)
		return u.GetName()
	}
	out := map[string]any{
		"preFilter": verdict(a.PreFilter), "points": a.Points, "skipped": slices.Sorted(maps.Keys(a.Skipped)), "feasible": a.Feasible,
	}
	for node, status := range a.Verdicts {
		out["filter "+name(node)] = verdict(status)
	}
	for _, s := range a.Scores {
		text := fmt.Sprint(s.TotalScore)
		for i, p := range s.Scores {
			text += fmt.Sprintf(" %s %d→%d", p.Name, s.RawScores[i].Score, p.Score)
		}
		out["score "+name(s.Name)] = text
	}
	return out
}

// verdict leaves out the message, which may contain names.
func verdict(s *fwk.Status) string {
	if s == nil {
		return fwk.Success.String()
	}
	return s.Code().String() + " by " + s.Plugin()
}

func run(t *testing.T, cluster *schedulertest.Cluster) (sim *schedulertest.Simulation) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if sim, err = cluster.Run(klog.NewContext(t.Context(), logr.Discard()), schedulertest.Hooks{Start: startBare(t, cluster)}); err != nil {
			t.Fatal(err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return sim
}

// startBare returns a function that starts Kubernetes' own scheduler.
func startBare(t *testing.T, cluster *schedulertest.Cluster) func(context.Context, *schedulertest.Simulation) (func(context.Context) error, error) {
	c, err := config.Parse([]byte(cluster.Configuration))
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, sim *schedulertest.Simulation) (func(context.Context) error, error) {
		ctx, cancel := context.WithCancel(ctx)
		client, err := kubernetes.NewForConfig(sim.Server.Config("kube-scheduler"))
		if err != nil {
			cancel()
			return nil, err
		}
		dynamicClient, err := dynamic.NewForConfig(sim.Server.Config("kube-scheduler"))
		if err != nil {
			cancel()
			return nil, err
		}
		informers, dynamicInformers := upstream.NewInformerFactory(client, 0, nil), dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
		k := c.Internal.DeepCopy()
		sched, err := upstream.New(ctx, client, informers, dynamicInformers, sim.Observer.Events(),
			upstream.WithComponentConfigVersion(k.APIVersion), upstream.WithProfiles(k.Profiles...), upstream.WithParallelism(k.Parallelism),
			upstream.WithPercentageOfNodesToScore(k.PercentageOfNodesToScore),
			upstream.WithPodInitialBackoffSeconds(k.PodInitialBackoffSeconds), upstream.WithPodMaxBackoffSeconds(k.PodMaxBackoffSeconds),
			upstream.WithFrameworkOutOfTreeRegistry(sim.Observer.OutOfTree()))
		if err != nil {
			cancel()
			return nil, err
		}
		sim.Attach(sched)
		informers.Start(ctx.Done())
		dynamicInformers.Start(ctx.Done())
		informers.WaitForCacheSync(ctx.Done())
		dynamicInformers.WaitForCacheSync(ctx.Done())
		synctest.Wait()
		if err := sched.WaitForHandlersSync(ctx); err != nil {
			cancel()
			return nil, err
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			sched.Run(ctx)
		}()
		return func(context.Context) error {
			cancel()
			<-done
			for _, f := range sched.Profiles {
				f.IterateOverWaitingPods(func(p fwk.WaitingPod) { p.Reject("", "the scheduler stops") })
			}
			informers.Shutdown()
			dynamicInformers.Shutdown()
			return nil
		}, nil
	}
}

func setGates(t *testing.T, gates map[string]bool) {
	if len(gates) == 0 {
		return
	}
	overrides := featuregatetesting.FeatureOverrides{}
	for name, on := range gates {
		overrides[featuregate.Feature(name)] = on
	}
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, overrides)
}
