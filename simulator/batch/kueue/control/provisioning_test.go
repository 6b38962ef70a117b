package control

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	autoscaling "k8s.io/autoscaler/cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/admission"
)

// aProvisionedQueue has a check that asks an autoscaler, by the given configuration.
func aProvisionedQueue(config kueue.ProvisioningRequestConfigSpec) []runtime.Object {
	version := kueue.GroupVersion.String()
	config.ProvisioningClassName = autoscaling.ProvisioningClassCheckCapacity
	return append(aQueue("q", "f", "4", func(s *kueue.ClusterQueueSpec) {
		s.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "room"}}}
	}), aFlavor("f"),
		&kueue.ProvisioningRequestConfig{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "ProvisioningRequestConfig"}, ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: config},
		&kueue.AdmissionCheck{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "AdmissionCheck"}, ObjectMeta: metav1.ObjectMeta{Name: "room"}, Spec: kueue.AdmissionCheckSpec{
			ControllerName: kueue.ProvisioningRequestControllerName, Parameters: &kueue.AdmissionCheckParametersReference{APIGroup: kueue.GroupVersion.Group, Kind: "ProvisioningRequestConfig", Name: "c"},
		}})
}

// requests returns the ProvisioningRequests, by name.
func (s *stage) requests() (all []autoscaling.ProvisioningRequest) {
	s.t.Helper()
	list, err := s.at("ProvisioningRequest").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, item := range list.Items {
		var request autoscaling.ProvisioningRequest
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &request); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, request)
	}
	slices.SortFunc(all, func(a, b autoscaling.ProvisioningRequest) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// answer plays the autoscaler: it makes a condition of the only request true.
func (s *stage) answer(condition, message string) {
	s.t.Helper()
	all := s.requests()
	if len(all) != 1 {
		s.t.Fatalf("there are %d requests", len(all))
	}
	s.patch("ProvisioningRequest", all[0].Name, fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":"True","reason":"Played","message":%q}],"provisioningClassDetails":{"Zone":"z1"}}}`, condition, message))
	s.settle()
}

// check is what the workload of a job says of its check.
func (s *stage) check(job string) kueue.AdmissionCheckState {
	s.t.Helper()
	w := s.workload(job)
	if w == nil || len(w.Status.AdmissionChecks) != 1 {
		s.t.Fatalf("the workload has no check: %+v", w)
	}
	return w.Status.AdmissionChecks[0]
}

// TestProvisioning: a workload with quota asks for the room of its pods, says that it waits for the answer, and starts with it.
func TestProvisioning(t *testing.T) {
	config := kueue.ProvisioningRequestConfigSpec{
		Parameters:    map[string]kueue.Parameter{"a": "1"},
		PodSetUpdates: &kueue.ProvisioningRequestPodSetUpdates{NodeSelector: []kueue.ProvisioningRequestPodSetUpdatesNodeSelector{{Key: "zone", ValueFromProvisioningClassDetail: "Zone"}}},
	}
	play(t, admission.Settings{}, aProvisionedQueue(config), func(s *stage) {
		job := aJob("train", "q", 3)
		job.Annotations = map[string]string{"provreq.kueue.x-k8s.io/ValidUntilSeconds": "60"}
		s.create(job)
		s.settle()
		s.has("train", "QuotaReserved=True", "Admitted=False UnsatisfiedAdmissionChecks")
		all := s.requests()
		if len(all) != 1 {
			t.Fatalf("there are %d requests", len(all))
		}
		name := s.workload("train").Name + "-room-1"
		want := autoscaling.ProvisioningRequestSpec{
			PodSets:               []autoscaling.PodSet{{PodTemplateRef: autoscaling.Reference{Name: "ppt-" + name + "-main"}, Count: 3}},
			ProvisioningClassName: autoscaling.ProvisioningClassCheckCapacity, Parameters: map[string]autoscaling.Parameter{"a": "1", "ValidUntilSeconds": "60"},
		}
		if diff := cmp.Diff(want, all[0].Spec); diff != "" || all[0].Name != name {
			t.Errorf("the request is %s: %s", all[0].Name, diff)
		}
		template, err := s.client.CoreV1().PodTemplates(namespace).Get(context.Background(), "ppt-"+name+"-main", metav1.GetOptions{})
		if err != nil || template.Template.Spec.NodeSelector["pool"] != "f" {
			t.Errorf("the template is %+v, %v", template, err)
		}
		if c := s.check("train"); c.State != kueue.CheckStatePending || c.Message != "waits for an autoscaler to answer ProvisioningRequest "+name {
			t.Errorf("the check says %+v", c)
		}
		s.answer(autoscaling.Provisioned, "there is room")
		s.has("train", "Admitted=True")
		annotations, selector := s.job("train").Spec.Template.Annotations, s.job("train").Spec.Template.Spec.NodeSelector
		if annotations[autoscaling.ProvisioningRequestPodAnnotationKey] != name || selector["zone"] != "z1" {
			t.Errorf("the pods of the job get %v and %v", annotations, selector)
		}
		s.answer(autoscaling.CapacityRevoked, "the nodes go")
		s.has("train", "Evicted=True")
		if w := s.workload("train"); ptr.Deref(w.Spec.Active, true) {
			t.Error("a workload whose nodes go stays active")
		}
	})
}

// TestProvisioningIsRetried: after a failure the workload leaves its quota for a while, and asks again, as often as the
// configuration says.
func TestProvisioningIsRetried(t *testing.T) {
	config := kueue.ProvisioningRequestConfigSpec{RetryStrategy: &kueue.ProvisioningRequestRetryStrategy{BackoffLimitCount: ptr.To[int32](1), BackoffBaseSeconds: ptr.To[int32](600), BackoffMaxSeconds: ptr.To[int32](1800)}}
	play(t, admission.Settings{}, aProvisionedQueue(config), func(s *stage) {
		s.create(aJob("train", "q", 3))
		s.settle()
		before := time.Now()
		s.answer(autoscaling.Failed, "no machines")
		s.has("train", "QuotaReserved=False")
		w := s.workload("train")
		if w.Status.RequeueState == nil || w.Status.RequeueState.RequeueAt.Sub(before) < 590*time.Second {
			t.Errorf("it does not back off: %+v", w.Status.RequeueState)
		}
		if c := s.check("train"); ptr.Deref(c.RetryCount, 0) != 1 || c.State != kueue.CheckStatePending {
			t.Errorf("the check says %+v", c)
		}
		time.Sleep(700 * time.Second) // of the bubble
		s.settle()
		s.has("train", "QuotaReserved=True")
		if all := s.requests(); len(all) != 1 || !strings.HasSuffix(all[0].Name, "-room-2") {
			t.Fatalf("the second attempt is missing: %+v", all)
		}
		s.answer(autoscaling.Failed, "still no machines")
		s.has("train", "Evicted=True", "QuotaReserved=False")
		if w := s.workload("train"); ptr.Deref(w.Spec.Active, true) {
			t.Error("the workload is not deactivated after its last attempt")
		}
	})
}

// TestProvisioningThatCannotBe: a check without a configuration is not active, one whose resources no pod asks for is ready, and the
// page's switch writes what an autoscaler would.
func TestProvisioningThatCannotBe(t *testing.T) {
	play(t, admission.Settings{}, aProvisionedQueue(kueue.ProvisioningRequestConfigSpec{ManagedResources: []corev1.ResourceName{"nvidia.com/gpu"}}), func(s *stage) {
		s.create(aJob("train", "q", 3))
		s.settle()
		s.has("train", "Admitted=True")
		if all := s.requests(); len(all) > 0 {
			t.Errorf("it asks for what it does not need: %+v", all)
		}
	})
	play(t, admission.Settings{}, aProvisionedQueue(kueue.ProvisioningRequestConfigSpec{}), func(s *stage) {
		s.create(aJob("train", "q", 3))
		s.settle()
		w := s.workload("train")
		if err := s.queues.Flip(context.Background(), types.NamespacedName{Namespace: namespace, Name: w.Name}, "room", kueue.CheckStateReady, "by hand"); err != nil {
			t.Fatal(err)
		}
		s.settle()
		s.has("train", "Admitted=True")
		if all := s.requests(); !meta.IsStatusConditionTrue(all[0].Status.Conditions, autoscaling.Provisioned) {
			t.Errorf("the request says %+v", all[0].Status)
		}
		s.patch("AdmissionCheck", "room", `{"metadata":{"generation":2},"spec":{"parameters":{"name":"none"}}}`)
		s.settle()
		u, err := s.at("AdmissionCheck").Get(context.Background(), "room", metav1.GetOptions{})
		if text := fmt.Sprint(u.Object["status"]); err != nil || !strings.Contains(text, `ProvisioningRequestConfig "none" does not exist`) {
			t.Errorf("the check says %s, %v", text, err)
		}
	})
}
