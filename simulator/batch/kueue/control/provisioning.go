package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	autoscaling "k8s.io/autoscaler/cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/constants"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// The resources by which admission checks ask an autoscaler for room.
var (
	requestResource       = autoscaling.SchemeGroupVersion.WithResource("provisioningrequests")
	requestConfigResource = kueue.GroupVersion.WithResource("provisioningrequestconfigs")
)

// requestChanged brings the workload of a ProvisioningRequest to its reconciler.
func (e *engaged) requestChanged(o *autoscaling.ProvisioningRequest) {
	if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "Workload" {
		e.provisionKeys.Add(types.NamespacedName{Namespace: o.Namespace, Name: owner.Name})
	}
}

// configOf returns the configuration of a check that asks an autoscaler. The error is for the user.
func (e *engaged) configOf(check *kueue.AdmissionCheck) (*kueue.ProvisioningRequestConfig, error) {
	const kind = "ProvisioningRequestConfig"
	switch ref := check.Spec.Parameters; {
	case ref == nil:
		return nil, errors.New("missing parameters reference")
	case ref.APIGroup != kueue.GroupVersion.Group || ref.Kind != kind:
		return nil, fmt.Errorf("bad parameters reference: it names a %s of %q, and not a %s of %s", ref.Kind, ref.APIGroup, kind, kueue.GroupVersion.Group)
	default:
		if config := cached[kueue.ProvisioningRequestConfig](e.requestConfigs, types.NamespacedName{Name: ref.Name}); config != nil {
			return config, nil
		}
		return nil, fmt.Errorf("%s %q does not exist", kind, ref.Name)
	}
}

// provisionsOf returns what the checks of a workload ask an autoscaler for, by the names of the checks. requests are those of the workload.
func (e *engaged) provisionsOf(w *kueue.Workload, requests []*autoscaling.ProvisioningRequest) map[kueue.AdmissionCheckReference]*provision {
	all := map[kueue.AdmissionCheckReference]*provision{}
	for _, state := range w.Status.AdmissionChecks {
		check := cached[kueue.AdmissionCheck](e.checks, types.NamespacedName{Name: string(state.Name)})
		if check == nil || check.Spec.ControllerName != kueue.ProvisioningRequestControllerName {
			continue
		}
		p := &provision{check: state.Name}
		all[state.Name] = p
		config, err := e.configOf(check)
		if err != nil {
			continue
		}
		p.config, p.needed = config, len(setsFor(w, config)) > 0
		for _, request := range requests {
			if n := attemptOf(request.Name, w.Name, state.Name); n > p.attempt && p.needed && p.asks(request) {
				p.request, p.attempt = request, n
			}
		}
	}
	return all
}

// requestsOf returns the ProvisioningRequests of a workload.
func (e *engaged) requestsOf(w *kueue.Workload) (requests []*autoscaling.ProvisioningRequest) {
	owned, _ := e.requests.GetIndexer().ByIndex(byOwner, string(w.UID))
	for _, o := range owned {
		requests = append(requests, o.(*autoscaling.ProvisioningRequest))
	}
	return requests
}

// reconcileProvisioning asks an autoscaler for the room of a workload that has quota, with a ProvisioningRequest for each check that
// wants it, and gives each check the state that the answer means.
func (e *engaged) reconcileProvisioning(ctx context.Context, key types.NamespacedName) error {
	w := cached[kueue.Workload](e.workloads, key)
	if w == nil || w.DeletionTimestamp != nil || w.Status.Admission == nil || !is(w, kueue.WorkloadQuotaReserved) || is(w, kueue.WorkloadFinished) || is(w, kueue.WorkloadEvicted) {
		return nil
	}
	requests := e.requestsOf(w) // once: one that comes later is not yet known to be the latest, and must not be deleted
	provisions := e.provisionsOf(w, requests)
	now := e.clock.Now()
	before, w, err := e.change(ctx, key, func(w *kueue.Workload) {
		for i := range w.Status.AdmissionChecks {
			if p := provisions[w.Status.AdmissionChecks[i].Name]; p != nil {
				p.answer(w, &w.Status.AdmissionChecks[i], now)
			}
		}
	}, "status")
	if err != nil {
		return err
	}
	for i, state := range w.Status.AdmissionChecks {
		if was := before.Status.AdmissionChecks[i]; was.State != state.State {
			message := fmt.Sprintf("Admission check %s updated state from %s to %s", state.Name, was.State, state.State)
			if state.Message != "" {
				message += " with message: " + state.Message
			}
			e.recorder.Event(w, corev1.EventTypeNormal, "AdmissionCheckUpdated", message)
		}
	}
	current := map[types.UID]bool{}
	for _, p := range provisions {
		if p.request != nil {
			current[p.request.UID] = true
		}
	}
	for _, request := range requests {
		if current[request.UID] {
			continue
		}
		err := e.custom.Resource(requestResource).Namespace(request.Namespace).Delete(ctx, request.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &request.UID}})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting ProvisioningRequest %s/%s: %w", request.Namespace, request.Name, err)
		}
	}
	for _, state := range w.Status.AdmissionChecks {
		if p := provisions[state.Name]; p != nil && p.wantsRequest(w, state.State) {
			if err := e.ask(ctx, w, p); err != nil {
				return e.cannotAsk(ctx, w, p, err)
			}
		}
	}
	return nil
}

// cannotAsk says in the check why there is no ProvisioningRequest.
func (e *engaged) cannotAsk(ctx context.Context, w *kueue.Workload, p *provision, cause error) error {
	message := fmt.Sprintf("Error creating ProvisioningRequest %q: %v", requestName(w.Name, p.check, p.attempt+1), cause)
	e.recorder.Event(w, corev1.EventTypeWarning, "FailedCreate", message)
	_, _, err := e.change(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, func(w *kueue.Workload) {
		for i := range w.Status.AdmissionChecks {
			if c := &w.Status.AdmissionChecks[i]; c.Name == p.check {
				c.Message = message
			}
		}
	}, "status")
	return errors.Join(cause, err)
}

// ask creates the next ProvisioningRequest of a check, with the templates of its pods.
func (e *engaged) ask(ctx context.Context, w *kueue.Workload, p *provision) error {
	infos, err := jobs.Infos(w, e.flavor)
	if err != nil {
		return err
	}
	labels := map[string]string{constants.ManagedByKueueLabelKey: constants.ManagedByKueueLabelValue}
	byWorkload := []metav1.OwnerReference{*metav1.NewControllerRef(w, kueue.GroupVersion.WithKind("Workload"))}
	request := &autoscaling.ProvisioningRequest{
		TypeMeta:   metav1.TypeMeta{APIVersion: autoscaling.SchemeGroupVersion.String(), Kind: "ProvisioningRequest"},
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: requestName(w.Name, p.check, p.attempt+1), Labels: labels, OwnerReferences: byWorkload},
		Spec:       autoscaling.ProvisioningRequestSpec{ProvisioningClassName: p.config.Spec.ProvisioningClassName, Parameters: p.parameters(w)},
	}
	templates := e.client.CoreV1().PodTemplates(w.Namespace)
	for _, set := range setsFor(w, p.config) {
		template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: templateName(request.Name, set.Name), Labels: labels, OwnerReferences: byWorkload}, Template: *set.Template.DeepCopy()}
		at := slices.IndexFunc(infos, func(info jobs.Info) bool { return info.Name == set.Name })
		if err := infos[at].Inject(&template.Template.ObjectMeta, &template.Template.Spec); err != nil {
			return err
		}
		if _, err := templates.Create(ctx, template, metav1.CreateOptions{FieldManager: agent}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating PodTemplate %s: %w", template.Name, err)
		}
		request.Spec.PodSets = append(request.Spec.PodSets, autoscaling.PodSet{PodTemplateRef: autoscaling.Reference{Name: template.Name}, Count: set.Count})
	}
	if err := e.create(ctx, requestResource, request); err != nil {
		return err
	}
	e.recorder.Eventf(w, corev1.EventTypeNormal, "ProvisioningRequestCreated", "Created ProvisioningRequest: %q", request.Name)
	return nil
}

// parameters are those of the configuration, and those that annotations of the workload add.
func (p *provision) parameters(w *kueue.Workload) map[string]autoscaling.Parameter {
	out := map[string]autoscaling.Parameter{}
	for name, value := range p.config.Spec.Parameters {
		out[name] = autoscaling.Parameter(value)
	}
	for annotation, value := range w.Annotations {
		if name, ours := strings.CutPrefix(annotation, controllerconstants.ProvReqAnnotationPrefix); ours {
			out[name] = autoscaling.Parameter(value)
		}
	}
	return out
}

// answerFor plays the autoscaler of a check: it writes the condition that gives the check this state into its ProvisioningRequest.
// It reports false for a check that asks none.
func (e *engaged) answerFor(ctx context.Context, key types.NamespacedName, check string, state kueue.CheckState, message string) (asked bool, err error) {
	w := cached[kueue.Workload](e.workloads, key)
	if w == nil {
		return false, nil
	}
	p := e.provisionsOf(w, e.requestsOf(w))[kueue.AdmissionCheckReference(check)]
	if p == nil || p.request == nil {
		return false, nil
	}
	answered := p.request.DeepCopy()
	for _, c := range []string{autoscaling.Failed, autoscaling.CapacityRevoked, autoscaling.BookingExpired, autoscaling.Provisioned} {
		meta.RemoveStatusCondition(&answered.Status.Conditions, c)
	}
	condition := map[kueue.CheckState]string{kueue.CheckStateReady: autoscaling.Provisioned, kueue.CheckStateRetry: autoscaling.Failed, kueue.CheckStateRejected: autoscaling.CapacityRevoked}[state]
	if condition != "" {
		meta.SetStatusCondition(&answered.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: "SetByUser", Message: message, LastTransitionTime: metav1.NewTime(e.clock.Now())})
	}
	return true, e.patch(ctx, requestResource, p.request, answered, "status")
}
