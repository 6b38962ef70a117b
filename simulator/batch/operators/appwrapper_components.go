package operators

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	"github.com/project-codeflare/appwrapper/pkg/utils"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	jobutil "k8s.io/kubernetes/pkg/controller/job/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// finalError is a failure that another attempt would meet again.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

func isFinal(err error) bool { return errors.As(err, &finalError{}) }

// raceError means that the AppWrapper itself has changed, or gone.
type raceError struct{ error }

func (e raceError) Unwrap() error { return e.error }

func isRace(err error) bool { return errors.As(err, &raceError{}) }

// component returns the object of a component: its template, with the label by which its pods are found and with what admission
// gives to each pod set.
func component(w *appwrapper.AppWrapper, at int) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(w.Spec.Components[at].Template.Raw); err != nil {
		return nil, err
	}
	if o.GetNamespace() == "" {
		o.SetNamespace(w.Namespace)
	}
	label := map[string]string{appwrapper.AppWrapperLabel: w.Name}
	if err := inject(o.Object, label, "metadata", "labels"); err != nil {
		return nil, err
	}
	infos := w.Spec.Components[at].PodSetInfos
	for i, set := range w.Status.ComponentStatus[at].PodSets {
		template, err := utils.GetRawTemplate(o.Object, set.Path)
		if err != nil {
			return nil, err
		}
		info := appwrapper.AppWrapperPodSetInfo{}
		if i < len(infos) {
			info = infos[i]
		}
		err = errors.Join(
			inject(template, label, "metadata", "labels"),
			inject(template, info.Labels, "metadata", "labels"),
			inject(template, info.Annotations, "metadata", "annotations"),
			inject(template, info.NodeSelector, "spec", "nodeSelector"),
			extend(template, v1.PodSpec{Tolerations: info.Tolerations, SchedulingGates: info.SchedulingGates}, "tolerations", "schedulingGates"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", set.Path, err)
		}
	}
	return o, nil
}

// inject adds to a map of strings. Another value that is there is an error.
func inject(object map[string]any, more map[string]string, path ...string) error {
	if len(more) == 0 {
		return nil
	}
	now, _, err := unstructured.NestedStringMap(object, path...)
	if err != nil {
		return err
	}
	if now == nil {
		now = map[string]string{}
	}
	for key, value := range more {
		if here, exists := now[key]; exists && here != value {
			return fmt.Errorf("%s has %s already, and not %s", key, here, value)
		}
		now[key] = value
	}
	return unstructured.SetNestedStringMap(object, now, path...)
}

// extend adds the items of lists in a spec that the lists of a template lack.
func extend(template map[string]any, spec v1.PodSpec, lists ...string) error {
	more, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return err
	}
	for _, list := range lists {
		added, _, _ := unstructured.NestedSlice(more, list)
		if len(added) == 0 {
			continue
		}
		items, _, err := unstructured.NestedSlice(template, "spec", list)
		if err != nil {
			return err
		}
		for _, item := range added {
			if !slices.ContainsFunc(items, func(here any) bool { return equality.Semantic.DeepEqual(here, item) }) {
				items = append(items, item)
			}
		}
		if err := unstructured.SetNestedSlice(template, items, "spec", list); err != nil {
			return err
		}
	}
	return nil
}

// createComponents creates those that are not there, one after the other, and writes the status before and after each. The error is
// a finalError, a raceError, or one that may pass.
func (r *appWrappers) createComponents(ctx context.Context, w *wrapper) error {
	for at := range w.Spec.Components {
		status := &w.Status.ComponentStatus[at]
		if meta.IsStatusConditionTrue(status.Conditions, string(appwrapper.ResourcesDeployed)) {
			continue
		}
		o, err := component(w.AppWrapper, at)
		if err == nil {
			err = controllerutil.SetControllerReference(w.AppWrapper, o, r.Scheme())
		}
		if err != nil {
			return finalError{err}
		}
		// A component is written down before it comes, so that none is forgotten.
		if !meta.IsStatusConditionPresentAndEqual(status.Conditions, string(appwrapper.ResourcesDeployed), metav1.ConditionUnknown) {
			status.Name, status.Kind, status.APIVersion = o.GetName(), o.GetKind(), o.GetAPIVersion()
			r.setIn(&status.Conditions, appwrapper.ResourcesDeployed, metav1.ConditionUnknown, "ComponentCreationInitiated", "")
			if err := r.save(ctx, w); err != nil {
				return raceError{err}
			}
			status = &w.Status.ComponentStatus[at] // which was read again
		}
		failure := r.createComponent(ctx, w, o)
		switch {
		case failure == nil:
			status.Name = o.GetName() // which may be generated
			r.setIn(&status.Conditions, appwrapper.ResourcesDeployed, metav1.ConditionTrue, "ComponentCreatedSuccessfully", "")
		case isFinal(failure): // another owner has the object of that name
			r.setIn(&status.Conditions, appwrapper.ResourcesDeployed, metav1.ConditionFalse, "ComponentCreationErrored", "")
		default:
			r.setIn(&status.Conditions, appwrapper.ResourcesDeployed, metav1.ConditionUnknown, "ComponentCreationErrored", "")
		}
		if err := r.save(ctx, w); err != nil {
			return raceError{err}
		}
		if failure != nil {
			return fmt.Errorf("component %d, %s %s: %w", at, o.GetKind(), o.GetName(), failure)
		}
	}
	return nil
}

func (r *appWrappers) createComponent(ctx context.Context, w *wrapper, o *unstructured.Unstructured) error {
	err := r.Create(ctx, o)
	switch {
	case apierrors.IsAlreadyExists(err):
		if err := r.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if by := metav1.GetControllerOf(o); by == nil || by.UID != w.UID {
			return finalError{errors.New("it exists, and does not belong to the AppWrapper")}
		}
		return nil // created before the status could be written
	case meta.IsNoMatchError(err), apierrors.IsInvalid(err):
		return finalError{err}
	}
	return err
}

// componentCounts are how many components are there, how many of them have failed for good, and how many run on to an end.
type componentCounts struct{ deployed, failed, unfinished int }

func (r *appWrappers) countComponents(ctx context.Context, w *wrapper) (counts componentCounts, err error) {
	for i := range w.Status.ComponentStatus {
		o := objectOf(w, i)
		switch err := r.Get(ctx, client.ObjectKeyFromObject(o), o); {
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
			continue
		case err != nil:
			return counts, err
		case o.GetDeletionTimestamp() != nil:
			continue
		}
		counts.deployed++
		if o.GroupVersionKind() != batchv1.SchemeGroupVersion.WithKind("Job") {
			continue
		}
		job := &batchv1.Job{}
		unreadable := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, job)
		switch ended, how := jobutil.FinishedCondition(job); {
		case unreadable != nil, how == batchv1.JobFailed:
			counts.failed++
		case !ended:
			counts.unfinished++
		}
	}
	return counts, nil
}

// objectOf names the object of a component.
func objectOf(w *wrapper, at int) *unstructured.Unstructured {
	status := &w.Status.ComponentStatus[at]
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(status.APIVersion)
	o.SetKind(status.Kind)
	o.SetNamespace(w.Namespace)
	o.SetName(status.Name)
	return o
}

// undeploy deletes the components and their pods, if any are there, and reports whether all have gone. Then the condition
// ResourcesDeployed gets the reason and the message. What does not go is deleted by force after a while, pods first.
func (r *appWrappers) undeploy(ctx context.Context, w *wrapper, reason, message string) (gone bool, err error) {
	if !is(w, appwrapper.ResourcesDeployed) {
		return true, nil
	}
	r.set(w, appwrapper.DeletingResources, metav1.ConditionTrue, "DeletionInitiated", "")
	left, err := r.deleteComponents(ctx, w, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil {
		return false, err
	}
	force := r.left(w, appwrapper.DeletingResources, period(w, appwrapper.ForcefulDeletionGracePeriodAnnotation)) == 0
	if left && !force {
		return false, nil
	}
	var pods v1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(w.Namespace), client.MatchingLabels{appwrapper.AppWrapperLabel: w.Name}); err != nil {
		return false, err
	}
	switch {
	case !left && len(pods.Items) == 0:
		r.clear(w, appwrapper.DeletingResources, "DeletionComplete", "")
		r.set(w, appwrapper.ResourcesDeployed, metav1.ConditionFalse, reason, message)
		return true, nil
	case force && len(pods.Items) > 0:
		for i := range pods.Items {
			if err := r.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
				return false, err
			}
		}
	case force:
		_, err = r.deleteComponents(ctx, w, client.GracePeriodSeconds(0))
	}
	return false, err
}

// deleteComponents reports whether any of them was still there.
func (r *appWrappers) deleteComponents(ctx context.Context, w *wrapper, options ...client.DeleteOption) (left bool, err error) {
	for i := range w.Status.ComponentStatus {
		status := &w.Status.ComponentStatus[i]
		c := meta.FindStatusCondition(status.Conditions, string(appwrapper.ResourcesDeployed))
		if c == nil || c.Status == metav1.ConditionFalse || c.Status == metav1.ConditionUnknown && status.Name == "" {
			continue
		}
		switch err := r.Delete(ctx, objectOf(w, i), options...); {
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
			r.setIn(&status.Conditions, appwrapper.ResourcesDeployed, metav1.ConditionFalse, "ComponentDeleted", "")
		case err != nil:
			return true, err
		default:
			left = true
		}
	}
	return left, nil
}
