package control

import (
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// problems are those that the ledger has heard of.
func (s *stage) problems() (out []admission.Problem) {
	for _, r := range s.records {
		if r.Problem != nil {
			out = append(out, *r.Problem)
		}
	}
	return out
}

// TestAnErrorReachesThePerson: in an event about the job, in the view with a count, and in the ledger once, until it is over.
func TestAnErrorReachesThePerson(t *testing.T) {
	play(t, admission.Settings{}, ground(), func(s *stage) {
		var refused atomic.Bool
		refused.Store(true)
		s.client.PrependReactor("patch", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
			return refused.Load(), nil, apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), "train", nil)
		})
		s.create(aJob("train", "q", 2))
		s.settle()
		if !s.heard("train", controllerError) {
			t.Error("there is no event about the job")
		}
		got := s.problems()
		if len(got) != 1 || got[0].Kind != "Job" || got[0].Name != "train" || got[0].Workload != s.workload("train").Name || got[0].Count != 1 {
			t.Fatalf("the ledger heard of %+v", got)
		}
		v, err := s.queues.View()
		if err != nil || len(v.Problems) != 1 || v.Problems[0].Count < 3 {
			t.Errorf("the view has %+v %v", v.Problems, err)
		}
		refused.Store(false)
		s.settle()
		if *s.job("train").Spec.Suspend {
			t.Error("the job does not run")
		}
		if got := s.problems(); len(got) != 2 || !got[1].Over || got[1].Count < 3 {
			t.Errorf("in the end the ledger heard of %+v", got)
		}
		if v, err := s.queues.View(); err != nil || len(v.Problems) > 0 {
			t.Errorf("in the end the view has %+v %v", v.Problems, err)
		}
	})
}

// TestTheLabelOfAPriorityClassCounts: whenever it changes, and only if there is such a class.
func TestTheLabelOfAPriorityClassCounts(t *testing.T) {
	priority := func(s *stage, name string) int32 { return *s.workload(name).Spec.Priority }
	play(t, admission.Settings{}, append(ground(), urgent), func(s *stage) {
		s.create(aJob("first", "q", 4))
		s.settle()
		s.create(aJob("second", "q", 3))
		s.settle()
		s.create(aJob("third", "q", 3))
		s.settle()
		if got := priority(s, "third"); got != 0 {
			t.Errorf("a job without a class has priority %d", got)
		}
		s.change("third", func(job *batchv1.Job) { job.Labels[controllerconstants.WorkloadPriorityClassLabel] = "urgent" })
		if got := priority(s, "third"); got != 100 {
			t.Errorf("with the class urgent: %d", got)
		}
		v, err := s.queues.View()
		if err != nil || len(v.Pending) != 2 || v.Pending[0].Workload.Name != s.workload("third").Name {
			t.Errorf("the order is %+v %v", v.Pending, err)
		}
		s.create(aJob("unknown", "q", 1, controllerconstants.WorkloadPriorityClassLabel, "missing"))
		s.settle()
		if w := s.workload("unknown"); w != nil || !s.heard("unknown", controllerError) {
			t.Errorf("a class that does not exist: %+v", w)
		}
		missing := urgent.DeepCopy()
		missing.Name, missing.Value = "missing", 7
		s.create(missing)
		s.settle()
		if w := s.workload("unknown"); w == nil || *w.Spec.Priority != 7 {
			t.Errorf("once it exists: %+v", w)
		}
	})
}
