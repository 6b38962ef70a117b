package control

import (
	"context"
	"fmt"
	"testing"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// anAppWrapper has a Deployment with pods, and a Job of one. It is suspended, as one of a queue is when it comes.
func anAppWrapper(name, queue string, pods int, labels ...string) *appwrapper.AppWrapper {
	const template = `{"spec":{"containers":[{"name":"c","image":"pause","resources":{"requests":{"cpu":"1"}}}]}}`
	component := func(text string, args ...any) appwrapper.AppWrapperComponent {
		return appwrapper.AppWrapperComponent{Template: runtime.RawExtension{Raw: fmt.Appendf(nil, text, args...)}}
	}
	w := &appwrapper.AppWrapper{
		TypeMeta:   metav1.TypeMeta{APIVersion: appwrapper.GroupVersion.String(), Kind: "AppWrapper"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{controllerconstants.QueueLabel: queue}},
		Spec: appwrapper.AppWrapperSpec{Suspend: true, Components: []appwrapper.AppWrapperComponent{
			component(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"serve"},"spec":{"replicas":%d,"template":%s}}`, pods, template),
			component(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"learn"},"spec":{"template":%s}}`, template),
		}},
	}
	for i := 0; i < len(labels); i += 2 {
		w.Labels[labels[i]] = labels[i+1]
	}
	return w
}

func (s *stage) appWrapper(name string) *appwrapper.AppWrapper {
	s.t.Helper()
	o, err := s.at("AppWrapper").Get(context.Background(), name, metav1.GetOptions{})
	w := &appwrapper.AppWrapper{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, w)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// report plays the controller of an AppWrapper, which writes its phase and its conditions.
func (s *stage) report(name string, phase appwrapper.AppWrapperPhase, conditions map[appwrapper.AppWrapperCondition]metav1.ConditionStatus) {
	s.t.Helper()
	w := s.appWrapper(name)
	w.Status.Phase, w.Status.Conditions = phase, nil
	for kind, status := range conditions {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: string(kind), Status: status, Reason: "Played"})
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w)
	if err == nil {
		_, err = s.at("AppWrapper").Update(context.Background(), &unstructured.Unstructured{Object: content}, metav1.UpdateOptions{})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.settle()
}

// TestAppWrapper: an AppWrapper is admitted as a whole, with a pod set for each of its components. When it is preempted, it keeps its
// quota until its controller has deleted them.
func TestAppWrapper(t *testing.T) {
	on := map[appwrapper.AppWrapperCondition]metav1.ConditionStatus{appwrapper.QuotaReserved: metav1.ConditionTrue, appwrapper.ResourcesDeployed: metav1.ConditionTrue}
	objects := append(aQueue("a", "f", "4", preempts), aFlavor("f"), urgent)
	play(t, admission.Settings{}, objects, func(s *stage) {
		s.create(anAppWrapper("train", "a", 2))
		s.settle()
		s.has("train", "Admitted=True")
		w := s.appWrapper("train")
		for i, component := range w.Spec.Components {
			if infos := component.PodSetInfos; w.Spec.Suspend || len(infos) != 1 || infos[0].NodeSelector["pool"] != "f" || len(infos[0].Tolerations) != 1 {
				t.Errorf("component %d does not run as admitted: %+v", i, infos)
			}
		}
		var sets []string
		for _, set := range s.workload("train").Spec.PodSets {
			sets = append(sets, fmt.Sprint(set.Name, " ", set.Count))
		}
		if got := fmt.Sprint(sets); got != "[train-0 2 train-1 1]" {
			t.Errorf("the pod sets are %s", got)
		}
		s.report("train", appwrapper.AppWrapperRunning, on)

		s.create(anAppWrapper("urgent", "a", 3, controllerconstants.WorkloadPriorityClassLabel, "urgent"))
		s.settle()
		s.has("train", "Evicted=True Preempted", "QuotaReserved=True")
		if w := s.appWrapper("train"); !w.Spec.Suspend {
			t.Error("the victim runs on")
		}
		s.report("train", appwrapper.AppWrapperSuspended, nil)
		s.has("train", "QuotaReserved=False")
		s.has("urgent", "Admitted=True")
		if w := s.appWrapper("train"); len(w.Spec.Components[0].PodSetInfos) > 0 {
			t.Error("the victim keeps what was injected")
		}

		s.report("urgent", appwrapper.AppWrapperFailed, on)
		s.has("urgent", "Admitted=True") // until its components have gone
		s.report("urgent", appwrapper.AppWrapperFailed, nil)
		s.has("urgent", "Finished=True Failed")
		s.has("train", "Admitted=True")
		s.report("train", appwrapper.AppWrapperSucceeded, on)
		s.has("train", "Finished=True Succeeded")
	})
}

// TestWhatAnAppWrapperHoldsIsNotQueued: a job below an AppWrapper of a queue is admitted with it, whatever queue it names itself.
func TestWhatAnAppWrapperHoldsIsNotQueued(t *testing.T) {
	play(t, admission.Settings{}, append(aQueue("a", "f", "4"), aFlavor("f")), func(s *stage) {
		s.create(anAppWrapper("train", "a", 2))
		s.settle()
		job := aJob("learn", "a", 1)
		*job.Spec.Suspend = false
		job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s.appWrapper("train"), jobs.Wrapper{}.Kind())}
		s.create(job)
		s.settle()
		if w := s.workload("learn"); w != nil || *s.job("learn").Spec.Suspend {
			t.Errorf("the job is queued by itself: %+v", w)
		}
	})
}
