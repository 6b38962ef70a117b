package operators

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// wrapped is an AppWrapper in a cluster in memory, with its controller. The test plays all others.
type wrapped struct {
	*testing.T
	client.WithWatch
	clock      *clocktesting.FakeClock
	controller *appWrappers
}

var key = client.ObjectKey{Namespace: "default", Name: "train"}

func wrap(t *testing.T, text string, others ...client.Object) *wrapped {
	t.Helper()
	known := runtime.NewScheme()
	if err := scheme.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	if err := appwrapper.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	w := &unstructured.Unstructured{Object: object(t, text)}
	w.SetAPIVersion(appwrapper.GroupVersion.String())
	w.SetKind("AppWrapper")
	w.SetNamespace(key.Namespace)
	w.SetName(key.Name)
	w.SetUID("train")
	typed, err := readWrapper(w)
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(known).WithStatusSubresource(typed).WithObjects(append(others, typed)...).Build()
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return &wrapped{t, c, clock, &appWrappers{c, record.NewFakeRecorder(100), clock}}
}

// settle lets the controller work until it waits, and returns the AppWrapper; nil if it has gone.
func (w *wrapped) settle() *appwrapper.AppWrapper {
	w.Helper()
	for before := ""; ; {
		if _, err := w.controller.Reconcile(w.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			w.Fatal(err)
		}
		now := &appwrapper.AppWrapper{}
		if err := w.Get(w.Context(), key, now); apierrors.IsNotFound(err) {
			return nil
		} else if err != nil {
			w.Fatal(err)
		}
		if now.ResourceVersion == before {
			return now
		}
		before = now.ResourceVersion
	}
}

// in checks the phase after the controller has worked.
func (w *wrapped) in(phase appwrapper.AppWrapperPhase) *appwrapper.AppWrapper {
	w.Helper()
	now := w.settle()
	if now == nil || now.Status.Phase != phase {
		w.Fatalf("the AppWrapper is not %s: %+v", phase, now)
	}
	return now
}

func (w *wrapped) suspend(suspend bool) {
	w.Helper()
	now := &appwrapper.AppWrapper{}
	err := w.Get(w.Context(), key, now)
	if err == nil {
		now.Spec.Suspend = suspend
		err = w.Update(w.Context(), now)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// pod plays a pod of the AppWrapper.
func (w *wrapped) pod(name string, phase v1.PodPhase, exitCode int32) {
	w.Helper()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name, Labels: map[string]string{appwrapper.AppWrapperLabel: key.Name}}}
	if err := client.IgnoreNotFound(w.Delete(w.Context(), pod)); err != nil {
		w.Fatal(err)
	}
	pod.ResourceVersion, pod.Status.Phase = "", phase
	pod.Status.ContainerStatuses = []v1.ContainerStatus{{State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: exitCode}}}}
	if err := w.Create(w.Context(), pod); err != nil {
		w.Fatal(err)
	}
}

func (w *wrapped) noPods() {
	w.Helper()
	if err := w.DeleteAllOf(w.Context(), &v1.Pod{}, client.InNamespace(key.Namespace)); err != nil {
		w.Fatal(err)
	}
}

func (w *wrapped) has(o client.Object, name string) bool {
	w.Helper()
	err := w.Get(w.Context(), client.ObjectKey{Namespace: key.Namespace, Name: name}, o)
	if client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	return err == nil
}

const podTemplate = `{metadata: {labels: {app: a}}, spec: {nodeSelector: {disk: ssd}, containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}}`

const aDeploymentAndAJob = `{spec: {suspend: true, components: [
  {template: {apiVersion: apps/v1, kind: Deployment, metadata: {name: serve}, spec: {replicas: 2, selector: {matchLabels: {app: a}}, template: ` + podTemplate + `}},
   podSetInfos: [{labels: {kueue.x-k8s.io/podset: train-0}, annotations: {a: b}, nodeSelector: {pool: f}, tolerations: [{key: f, operator: Exists}], schedulingGates: [{name: kueue.x-k8s.io/topology}]}]},
  {template: {apiVersion: batch/v1, kind: Job, metadata: {name: learn}, spec: {template: ` + podTemplate + `}}}]}}`

// TestAnAppWrapperRuns: its components come when it is resumed, as it says and with what admission has injected, and go when it is
// suspended again.
func TestAnAppWrapperRuns(t *testing.T) {
	w := wrap(t, aDeploymentAndAJob)
	w.in(appwrapper.AppWrapperSuspended)
	deployment, job := &appsv1.Deployment{}, &batchv1.Job{}
	if w.has(deployment, "serve") {
		t.Error("a suspended AppWrapper has its components")
	}
	w.suspend(false)
	w.in(appwrapper.AppWrapperRunning)
	if !w.has(deployment, "serve") || !w.has(job, "learn") {
		t.Fatal("the components are missing")
	}
	want := v1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a", "kueue.x-k8s.io/podset": "train-0", appwrapper.AppWrapperLabel: "train"}, Annotations: map[string]string{"a": "b"}},
		Spec: v1.PodSpec{
			NodeSelector: map[string]string{"disk": "ssd", "pool": "f"}, Tolerations: []v1.Toleration{{Key: "f", Operator: v1.TolerationOpExists}},
			SchedulingGates: []v1.PodSchedulingGate{{Name: "kueue.x-k8s.io/topology"}}, Containers: deployment.Spec.Template.Spec.Containers,
		},
	}
	if diff := cmp.Diff(want, deployment.Spec.Template); diff != "" {
		t.Error(diff)
	}
	if owner := metav1.GetControllerOf(job); owner == nil || owner.Name != "train" || job.Labels[appwrapper.AppWrapperLabel] != "train" {
		t.Errorf("the job belongs to %+v", owner)
	}
	for i := range 3 {
		w.pod(fmt.Sprint("pod-", i), v1.PodRunning, 0)
	}
	if now := w.in(appwrapper.AppWrapperRunning); !is(&wrapper{AppWrapper: now}, appwrapper.PodsReady) {
		t.Errorf("the pods are not ready: %+v", now.Status.Conditions)
	}

	w.suspend(true)
	w.in(appwrapper.AppWrapperSuspending) // its pods are there
	w.noPods()
	now := w.in(appwrapper.AppWrapperSuspended)
	if w.has(deployment, "serve") || w.has(job, "learn") || is(&wrapper{AppWrapper: now}, appwrapper.QuotaReserved) {
		t.Errorf("the AppWrapper holds on to what it had: %+v", now.Status)
	}
	w.suspend(false)
	w.in(appwrapper.AppWrapperRunning)
	if err := w.Delete(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if w.settle() != nil || w.has(deployment, "serve") {
		t.Error("a deleted AppWrapper stays, or leaves components behind")
	}
}

const aJob = `{metadata: {annotations: {%s}}, spec: {components: [{template: {apiVersion: batch/v1, kind: Job, metadata: {name: learn}, spec: {template: ` + podTemplate + `}}}]}}`

// TestAnAppWrapperEnds: it succeeds when all its pods have and its jobs are complete, and fails after its last attempt.
func TestAnAppWrapperEnds(t *testing.T) {
	w := wrap(t, fmt.Sprintf(aJob, ""))
	w.in(appwrapper.AppWrapperRunning)
	w.pod("pod", v1.PodSucceeded, 0)
	w.in(appwrapper.AppWrapperRunning) // the job has not said that this was its last pod
	job := &batchv1.Job{}
	w.has(job, "learn")
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: v1.ConditionTrue}}
	if err := w.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	w.in(appwrapper.AppWrapperSucceeded)
	w.noPods()
	w.clock.Step(longestTimeToLive)
	w.settle()
	if w.has(job, "learn") {
		t.Error("the components stay for more than a week")
	}

	w = wrap(t, fmt.Sprintf(aJob, `workload.codeflare.dev.appwrapper/retryLimit: "1"`))
	for attempt := range 2 {
		w.in(appwrapper.AppWrapperRunning)
		w.pod("pod", v1.PodFailed, 1)
		w.in(appwrapper.AppWrapperRunning) // its job may make another
		w.clock.Step(time.Minute)
		if attempt == 0 {
			w.in(appwrapper.AppWrapperResetting)
			w.noPods()
			w.in(appwrapper.AppWrapperResetting) // a pause
			w.clock.Step(90 * time.Second)
		}
	}
	w.in(appwrapper.AppWrapperFailed)
	w.noPods()
	if now := w.in(appwrapper.AppWrapperFailed); w.has(job, "learn") || is(&wrapper{AppWrapper: now}, appwrapper.ResourcesDeployed) || now.Status.Retries != 1 {
		t.Errorf("the failed AppWrapper keeps its components: %+v", now.Status)
	}

	w = wrap(t, fmt.Sprintf(aJob, `workload.codeflare.dev.appwrapper/terminalExitCodes: "3,4"`))
	w.in(appwrapper.AppWrapperRunning)
	w.pod("pod", v1.PodFailed, 4)
	w.settle()
	w.clock.Step(time.Minute)
	w.in(appwrapper.AppWrapperFailed)
}

// TestComponentsThatCannotCome: the controller leaves alone what another owner has created.
func TestComponentsThatCannotCome(t *testing.T) {
	theirs := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "learn"}}
	w := wrap(t, fmt.Sprintf(aJob, ""), theirs)
	now := w.in(appwrapper.AppWrapperFailed)
	if !w.has(&batchv1.Job{}, "learn") {
		t.Error("the job of somebody else was deleted")
	}
	if text := fmt.Sprint(now.Status.Conditions); !strings.Contains(text, "does not belong to the AppWrapper") {
		t.Errorf("nothing says why: %s", text)
	}
	w = wrap(t, strings.Replace(aDeploymentAndAJob, "pool: f", "disk: hdd", 1))
	w.settle()
	w.suspend(false)
	if now := w.in(appwrapper.AppWrapperFailed); !strings.Contains(fmt.Sprint(now.Status.Conditions), "disk has ssd already, and not hdd") {
		t.Errorf("nothing says what is in conflict: %+v", now.Status.Conditions)
	}
	w = wrap(t, aDeploymentAndAJob)
	w.suspend(false)
	w.in(appwrapper.AppWrapperRunning)
	if err := w.Delete(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "serve"}}); err != nil {
		t.Fatal(err)
	}
	w.in(appwrapper.AppWrapperFailed) // a component that a user has deleted does not come again
}

func TestAppWrappersThatAreRefused(t *testing.T) {
	check := func(text, before string) string {
		o := &unstructured.Unstructured{Object: object(t, text)}
		o.SetNamespace("default")
		if before == "" {
			return fmt.Sprint(checkAppWrapper(o, nil).ToAggregate())
		}
		old := &unstructured.Unstructured{Object: object(t, before)}
		old.SetNamespace("default")
		return fmt.Sprint(checkAppWrapper(o, old).ToAggregate())
	}
	const service = "{apiVersion: v1, kind: Service, metadata: {name: s}}"
	thing := "{apiVersion: example.com/v1, kind: Thing, metadata: {name: t}, spec: {workers: [{template: " + podTemplate + "}]}}"
	for text, want := range map[string]string{
		aDeploymentAndAJob: "<nil>",
		"{spec: {components: [{podSets: [{path: 'template.spec.workers[0].template', replicas: 3}], template: " + thing + "}]}}":                                                            "<nil>",
		"{spec: {components: [{podSets: [{path: 'template.spec.workers[1].template'}], template: " + thing + "}]}}":                                                                         "spec.components[0].podSets[0].path: Invalid value: \"template.spec.workers[1].template\": it does not lead to a template of pods",
		"{spec: {components: [{podSets: [{path: template.spec}], template: " + thing + "}]}}":                                                                                               "does not contain a spec",
		"{spec: {components: [{template: {kind: Job}}, {template: " + service + "}]}}":                                                                                                      "spec.components: Invalid value: no component has a pod set",
		"{spec: {components: [{template: {metadata: {name: x}}}]}}":                                                                                                                         "spec.components[0].template: Invalid value: no object can be read from it",
		"{spec: {components: [{template: " + service + "}]}}":                                                                                                                               "no component has a pod set",
		"{spec: {components: [{template: {apiVersion: v1, kind: Pod, metadata: {namespace: other}, spec: {containers: []}}}]}}":                                                             "spec.components[0].template.metadata.namespace: Forbidden",
		"{spec: {components: [{template: {apiVersion: v1, kind: Pod, spec: {containers: 5}}}]}}":                                                                                            "its pod sets cannot be read",
		"{spec: {components: [{template: {apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper}}]}}":                                                                                "an AppWrapper cannot be wrapped",
		strings.Replace(aDeploymentAndAJob, "components: [", "components: [{podSets: [{path: template, replicas: 2}], template: {apiVersion: v1, kind: Pod, spec: {containers: []}}}, ", 1): "replica count 2 differs from inferred count 1",
		"{spec: {components: [" + strings.Repeat("{template: {apiVersion: v1, kind: Pod, spec: {containers: []}}}, ", 9) + "]}}":                                                            "the components have 9 pod sets; an AppWrapper may have 8",
	} {
		if got := check(text, ""); !strings.Contains(got, want) {
			t.Errorf("%s\n  is answered %s\n  want        %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		strings.Replace(aDeploymentAndAJob, "suspend: true", "suspend: false", 1):      "<nil>",
		strings.Replace(aDeploymentAndAJob, "pool: f", "pool: g", 1):                   "<nil>",
		strings.Replace(aDeploymentAndAJob, "replicas: 2", "replicas: 3", 1):           "the templates and the pod sets of an AppWrapper cannot change",
		strings.Replace(aDeploymentAndAJob, "suspend: true", "managedBy: somebody", 1): "spec.managedBy: Forbidden",
	} {
		if got := check(text, aDeploymentAndAJob); !strings.Contains(got, want) {
			t.Errorf("the change to %s\n  is answered %s\n  want        %s", text, got, want)
		}
	}
}
