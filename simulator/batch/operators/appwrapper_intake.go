package operators

import (
	"fmt"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	"github.com/project-codeflare/appwrapper/pkg/utils"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// maxPodSets is the number of pod sets that an AppWrapper may have.
const maxPodSets = 8

// checkAppWrapper checks an AppWrapper as the webhook of its module does; before is nil for a new one. An old one keeps what was
// checked when it was new.
func checkAppWrapper(o, before *unstructured.Unstructured) (mistakes field.ErrorList) {
	spec := field.NewPath("spec")
	now, err := readWrapper(o)
	if err != nil {
		return field.ErrorList{field.Invalid(spec, field.OmitValueType{}, err.Error())}
	}
	components := spec.Child("components")
	if before != nil {
		was, err := readWrapper(before)
		if err != nil {
			return field.ErrorList{field.InternalError(spec, err)}
		}
		if !equality.Semantic.DeepEqual(fixed(now), fixed(was)) {
			mistakes = append(mistakes, field.Forbidden(components, "the templates and the pod sets of an AppWrapper cannot change"))
		}
		if !ptr.Equal(now.Spec.ManagedBy, was.Spec.ManagedBy) {
			mistakes = append(mistakes, field.Forbidden(spec.Child("managedBy"), "it cannot change"))
		}
		return mistakes
	}
	sets := 0
	for i := range now.Spec.Components {
		n, wrong := checkComponent(now, i, components.Index(i))
		sets += n
		mistakes = append(mistakes, wrong...)
	}
	switch {
	case len(mistakes) > 0:
	case sets == 0:
		mistakes = append(mistakes, field.Invalid(components, field.OmitValueType{}, "no component has a pod set: name some in podSets, or wrap a Pod, a Deployment, a StatefulSet, a Job or a JobSet"))
	case sets > maxPodSets:
		mistakes = append(mistakes, field.Invalid(components, field.OmitValueType{}, fmt.Sprintf("the components have %d pod sets; an AppWrapper may have %d", sets, maxPodSets)))
	}
	return mistakes
}

// checkComponent also returns the number of pod sets of a component.
func checkComponent(w *appwrapper.AppWrapper, at int, path *field.Path) (sets int, mistakes field.ErrorList) {
	declared := w.Spec.Components[at].DeclaredPodSets
	wrapped := &unstructured.Unstructured{}
	template := path.Child("template")
	if err := wrapped.UnmarshalJSON(w.Spec.Components[at].Template.Raw); err != nil {
		return 0, field.ErrorList{field.Invalid(template, field.OmitValueType{}, fmt.Sprintf("no object can be read from it: %v", err))}
	}
	if wrapped.GroupVersionKind().GroupKind() == appwrapper.GroupVersion.WithKind(appwrapper.AppWrapperKind).GroupKind() {
		mistakes = append(mistakes, field.Forbidden(template, "an AppWrapper cannot be wrapped"))
	}
	if namespace := wrapped.GetNamespace(); namespace != "" && namespace != w.Namespace {
		mistakes = append(mistakes, field.Forbidden(template.Child("metadata", "namespace"), fmt.Sprintf("an AppWrapper of namespace %s creates nothing in another, such as %s", w.Namespace, namespace)))
	}
	for i, set := range declared {
		if _, err := utils.GetPodTemplateSpec(wrapped, set.Path); err != nil {
			mistakes = append(mistakes, field.Invalid(path.Child("podSets").Index(i).Child("path"), set.Path, fmt.Sprintf("it does not lead to a template of pods: %v", err)))
		}
	}
	inferred, err := utils.InferPodSets(wrapped)
	if err != nil {
		return 0, append(mistakes, field.Invalid(template, field.OmitValueType{}, fmt.Sprintf("its pod sets cannot be read: %v", err)))
	}
	if err := utils.ValidatePodSets(declared, inferred); err != nil {
		mistakes = append(mistakes, field.Invalid(path.Child("podSets"), field.OmitValueType{}, err.Error()))
	}
	return max(len(declared), len(inferred)), mistakes
}

// readWrapper reads an AppWrapper, whose schema holds.
func readWrapper(o *unstructured.Unstructured) (*appwrapper.AppWrapper, error) {
	w := &appwrapper.AppWrapper{}
	return w, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, w)
}

// fixed is what of the components cannot change.
func fixed(w *appwrapper.AppWrapper) (out []any) {
	for _, component := range w.Spec.Components {
		wrapped := &unstructured.Unstructured{}
		_ = wrapped.UnmarshalJSON(component.Template.Raw) // an object when it was new
		out = append(out, wrapped.Object)
		for _, set := range component.DeclaredPodSets {
			out = append(out, set.Path, ptr.Deref(set.Replicas, 1))
		}
	}
	return out
}
