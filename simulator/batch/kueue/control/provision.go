package control

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	autoscaling "k8s.io/autoscaler/cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// provision is what one admission check of a workload asks an autoscaler for.
type provision struct {
	check kueue.AdmissionCheckReference
	// config is nil while the check names none that exists.
	config *kueue.ProvisioningRequestConfig
	// needed says whether any pod asks for what the autoscaler manages.
	needed bool
	// request is the last that asks for what config says, and attempt its number; nil and 0 before the first.
	request *autoscaling.ProvisioningRequest
	attempt int32
}

// asks reports whether a request is still what the configuration says.
func (p *provision) asks(request *autoscaling.ProvisioningRequest) bool {
	for name, value := range p.config.Spec.Parameters {
		if given, has := request.Spec.Parameters[name]; !has || string(given) != string(value) {
			return false
		}
	}
	return request.Spec.ProvisioningClassName == p.config.Spec.ProvisioningClassName
}

// says returns the message of a condition of the request; false if it is not true.
func (p *provision) says(condition string) (message string, holds bool) {
	if p.request == nil {
		return "", false
	}
	c := meta.FindStatusCondition(p.request.Status.Conditions, condition)
	if c == nil || c.Status != metav1.ConditionTrue {
		return "", false
	}
	return c.Message, true
}

// answer gives a check of the workload the state that the autoscaler's answer means, as Kueue's controller of these checks does. The
// message about waiting is ours.
func (p *provision) answer(w *kueue.Workload, check *kueue.AdmissionCheckState, now time.Time) {
	before := check.State
	defer func() {
		if check.State != before {
			check.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		}
	}()
	switch {
	case p.config == nil:
		check.State, check.Message = kueue.CheckStatePending, "the check is not active"
		return
	case !p.needed:
		if check.State != kueue.CheckStateReady {
			check.State, check.Message, check.PodSetUpdates = kueue.CheckStateReady, "the provisioning request is not needed", nil
		}
		return
	case p.request == nil:
		return
	}
	if message, failed := p.says(autoscaling.Failed); failed {
		p.retry(check, "Retrying after failure: ", message)
	} else if message, revoked := p.says(autoscaling.CapacityRevoked); revoked {
		if ptr.Deref(w.Spec.Active, true) {
			check.State, check.Message = kueue.CheckStateRejected, cmp.Or(message, check.Message)
		}
	} else if message, expired := p.says(autoscaling.BookingExpired); expired {
		if !is(w, kueue.WorkloadAdmitted) {
			p.retry(check, "Retrying after booking expired: ", message)
		}
	} else if message, provisioned := p.says(autoscaling.Provisioned); provisioned {
		if check.State != kueue.CheckStateReady {
			check.State, check.PodSetUpdates, check.Message = kueue.CheckStateReady, p.updates(w), cmp.Or(message, check.Message)
		}
	} else {
		check.State, check.Message = kueue.CheckStatePending, fmt.Sprintf("waits for an autoscaler to answer ProvisioningRequest %s", p.request.Name)
		if c := meta.FindStatusCondition(p.request.Status.Conditions, autoscaling.Provisioned); c != nil && c.Message != "" {
			check.Message = c.Message // when it will be, after it was accepted
		}
	}
}

// The defaults of a configuration's retry strategy, which its definition has, too.
const (
	defaultAttempts   = 3
	defaultBackoff    = 60
	defaultMaxBackoff = 1800
)

// strategy returns how often a request is repeated, and the first and the longest pause in seconds.
func (p *provision) strategy() (limit, base, longest int32) {
	s := ptr.Deref(p.config.Spec.RetryStrategy, kueue.ProvisioningRequestRetryStrategy{})
	return ptr.Deref(s.BackoffLimitCount, defaultAttempts), ptr.Deref(s.BackoffBaseSeconds, defaultBackoff), ptr.Deref(s.BackoffMaxSeconds, defaultMaxBackoff)
}

// retry asks for another attempt, or rejects the workload after the last. An attempt that the check has counted is over: the next
// request takes its place.
func (p *provision) retry(check *kueue.AdmissionCheckState, prefix, message string) {
	limit, base, longest := p.strategy()
	if p.attempt > limit {
		check.State, check.Message = kueue.CheckStateRejected, message
		return
	}
	check.Message = prefix + message
	if counted := ptr.Deref(check.RetryCount, 0); p.attempt > counted {
		wait := longest
		if counted < 31 {
			wait = int32(min(int64(longest), int64(base)<<counted))
		}
		check.State, check.RequeueAfterSeconds = kueue.CheckStateRetry, &wait
	}
}

// wantsRequest reports whether another request is to be created.
func (p *provision) wantsRequest(w *kueue.Workload, state kueue.CheckState) bool {
	if p.config == nil || !p.needed || state == kueue.CheckStateReady {
		return false
	}
	if p.request == nil {
		return true
	}
	_, failed := p.says(autoscaling.Failed)
	_, expired := p.says(autoscaling.BookingExpired)
	return state == kueue.CheckStatePending && (failed || expired && !is(w, kueue.WorkloadAdmitted))
}

// updates are what the pods of the request's pod sets get, so that the autoscaler and the scheduler know them.
func (p *provision) updates(w *kueue.Workload) (updates []kueue.PodSetUpdate) {
	for _, set := range w.Spec.PodSets {
		if !slices.ContainsFunc(p.request.Spec.PodSets, func(s autoscaling.PodSet) bool {
			return s.PodTemplateRef.Name == templateName(p.request.Name, set.Name)
		}) {
			continue
		}
		update := kueue.PodSetUpdate{Name: set.Name, Annotations: map[string]string{
			autoscaling.ProvisioningRequestPodAnnotationKey: p.request.Name, autoscaling.ProvisioningClassPodAnnotationKey: p.request.Spec.ProvisioningClassName,
		}}
		if from := p.config.Spec.PodSetUpdates; from != nil {
			update.NodeSelector = map[string]string{}
			for _, selector := range from.NodeSelector {
				if value, has := p.request.Status.ProvisioningClassDetails[selector.ValueFromProvisioningClassDetail]; has {
					update.NodeSelector[selector.Key] = string(value)
				}
			}
		}
		updates = append(updates, update)
	}
	return updates
}

// setsFor returns the pod sets that a request names, with the counts that were admitted: those that ask for what the autoscaler
// manages, each merged with those before it that are alike, if the configuration says so.
func setsFor(w *kueue.Workload, config *kueue.ProvisioningRequestConfig) (sets []kueue.PodSet) {
	for _, set := range w.Spec.PodSets {
		if resources := config.Spec.ManagedResources; len(resources) > 0 && !asksFor(&set.Template.Spec, resources) {
			continue
		}
		if w.Status.Admission != nil {
			for _, assignment := range w.Status.Admission.PodSetAssignments {
				if assignment.Name == set.Name {
					set.Count = ptr.Deref(assignment.Count, set.Count)
				}
			}
		}
		at := slices.IndexFunc(sets, func(other kueue.PodSet) bool {
			return alike(config.Spec.PodSetMergePolicy, &other.Template, &set.Template)
		})
		if at >= 0 {
			sets[at].Count += set.Count
			continue
		}
		sets = append(sets, set)
	}
	return sets
}

func asksFor(spec *corev1.PodSpec, resources []corev1.ResourceName) bool {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for _, c := range list {
			for _, name := range resources {
				_, requested := c.Resources.Requests[name]
				if _, limited := c.Resources.Limits[name]; requested || limited {
					return true
				}
			}
		}
	}
	return false
}

// alike reports whether one template stands for another.
func alike(policy *kueue.ProvisioningRequestConfigPodSetMergePolicy, a, b *corev1.PodTemplateSpec) bool {
	switch ptr.Deref(policy, "") {
	case kueue.IdenticalPodTemplates:
		return equality.Semantic.DeepEqual(a, b)
	case kueue.IdenticalWorkloadSchedulingRequirements:
		same := func(a, b corev1.Container) bool {
			return equality.Semantic.DeepEqual(a.Resources.Requests, b.Resources.Requests)
		}
		a, b := &a.Spec, &b.Spec
		return slices.EqualFunc(a.Containers, b.Containers, same) && slices.EqualFunc(a.InitContainers, b.InitContainers, same) &&
			equality.Semantic.DeepEqual(a.Resources, b.Resources) && equality.Semantic.DeepEqual(a.NodeSelector, b.NodeSelector) && equality.Semantic.DeepEqual(a.Tolerations, b.Tolerations) &&
			equality.Semantic.DeepEqual(a.Affinity, b.Affinity) && equality.Semantic.DeepEqual(a.ResourceClaims, b.ResourceClaims)
	}
	return false
}

// requestName is that of one attempt of a check.
func requestName(workload string, check kueue.AdmissionCheckReference, attempt int32) string {
	return shortened(fmt.Sprintf("%s-%s-%d", workload, check, attempt))
}

// attemptOf is the number in the name of a request; 0 for the request of another check.
func attemptOf(request, workload string, check kueue.AdmissionCheckReference) int32 {
	if n, err := strconv.ParseInt(request[strings.LastIndex(request, "-")+1:], 10, 32); err == nil && requestName(workload, check, int32(n)) == request {
		return int32(n)
	}
	for n := range int32(longNames) {
		if requestName(workload, check, n+1) == request {
			return n + 1
		}
	}
	return 0
}

// longNames is the number of attempts that are found by names that were shortened.
const longNames = 20

// templateName is that of the template of a request's pod set.
func templateName(request string, set kueue.PodSetReference) string {
	return shortened(fmt.Sprintf("ppt-%s-%s", request, set))
}

// shortened cuts a name to what an object may have, with a hash of the whole.
func shortened(name string) string {
	const longest, digits = 253, 5
	if len(name) <= longest-1-digits {
		return name
	}
	sum := sha1.Sum([]byte(name))
	return name[:longest-1-digits] + "-" + hex.EncodeToString(sum[:])[:digits]
}
