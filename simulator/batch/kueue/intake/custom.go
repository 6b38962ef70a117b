package intake

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"kube-scheduler-simulator/simulator/batch/kueue/conversion"
)

// The most that Kueue accepts, over all resource groups.
const (
	maxFlavors   = 256
	maxResources = 256
	maxPairs     = 512 // of a flavor and a resource, in one group
)

var spec = field.NewPath("spec")

// checkCustom checks an object of Kueue's; before is nil for a new one. An update is refused for the mistakes that it makes,
// not for those that the object had: controllers go on to write what was stored before a check was there. Objects of the
// older version are checked as what they are stored as.
func checkCustom(o, before *unstructured.Unstructured, elastic bool) field.ErrorList {
	mistakes := mistakesOf(o)
	if before == nil {
		return mistakes
	}
	if len(mistakes) > 0 {
		old := mistakesOf(before)
		mistakes = slices.DeleteFunc(mistakes, func(m *field.Error) bool {
			return slices.ContainsFunc(old, func(o *field.Error) bool { return equality.Semantic.DeepEqual(m, o) })
		})
	}
	if o.GetKind() != "Workload" {
		return mistakes
	}
	workload, err := read[kueue.Workload](o)
	was, errWas := read[kueue.Workload](before)
	if err != nil || errWas != nil {
		return mistakes // said above, or beyond repair
	}
	return append(mistakes, checkChange(workload, was, elastic)...)
}

// mistakesOf checks an object by itself.
func mistakesOf(o *unstructured.Unstructured) field.ErrorList {
	switch o.GetKind() {
	case "ClusterQueue":
		return check(o, checkClusterQueue)
	case "Cohort":
		return check(o, func(cohort *kueue.Cohort) field.ErrorList {
			return append(checkWeight(cohort.Spec.FairSharing), checkGroups(cohort.Spec.ResourceGroups, false)...)
		})
	case "ResourceFlavor":
		return check(o, checkFlavor)
	case "Workload":
		return check(o, checkWorkload)
	}
	return nil
}

func check[T any](o *unstructured.Unstructured, do func(*T) field.ErrorList) field.ErrorList {
	typed, err := read[T](o)
	if err != nil {
		return field.ErrorList{field.Invalid(spec, field.OmitValueType{}, err.Error())}
	}
	return do(typed)
}

// read returns an object in the stored version.
func read[T any](o *unstructured.Unstructured) (*T, error) {
	if o.GetAPIVersion() == v1beta1.GroupVersion.String() {
		switch o.GetKind() {
		case "ClusterQueue", "Cohort", "Workload":
			converted, err := conversion.Convert(o, kueue.GroupVersion.String())
			if err != nil {
				return nil, err
			}
			o = converted
		}
	}
	out := new(T)
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, out)
}

func checkClusterQueue(queue *kueue.ClusterQueue) field.ErrorList {
	mistakes := checkGroups(queue.Spec.ResourceGroups, true)
	mistakes = append(mistakes, metav1validation.ValidateLabelSelector(queue.Spec.NamespaceSelector, metav1validation.LabelSelectorValidationOptions{}, spec.Child("namespaceSelector"))...)
	mistakes = append(mistakes, checkWeight(queue.Spec.FairSharing)...)
	if queue.Spec.AdmissionChecksStrategy == nil {
		return mistakes
	}
	for i, check := range queue.Spec.AdmissionChecksStrategy.AdmissionChecks {
		for j, flavor := range check.OnFlavors {
			if !slices.ContainsFunc(queue.Spec.ResourceGroups, func(g kueue.ResourceGroup) bool {
				return slices.ContainsFunc(g.Flavors, func(f kueue.FlavorQuotas) bool { return string(f.Name) == string(flavor) })
			}) {
				mistakes = append(mistakes, field.Invalid(spec.Child("admissionChecksStrategy", "admissionChecks").Index(i).Child("onFlavors").Index(j), flavor, "must be a flavor of the cluster queue"))
			}
		}
	}
	return mistakes
}

// least is the greatest weight that would count as 0.
var least = resource.MustParse("1n")

func checkWeight(sharing *kueue.FairSharing) field.ErrorList {
	if sharing == nil || sharing.Weight == nil {
		return nil
	}
	path := spec.Child("fairSharing")
	switch weight := sharing.Weight; {
	case weight.Sign() < 0:
		return field.ErrorList{field.Invalid(path, weight.String(), apivalidation.IsNegativeErrorMsg)}
	case weight.Sign() > 0 && weight.Cmp(least) <= 0:
		return field.ErrorList{field.Invalid(path, weight.String(), "When not 0, weight must be > 10e-9")}
	}
	return nil
}

// checkGroups checks quotas. lendsOwn: a lending limit is at most the nominal quota.
func checkGroups(groups []kueue.ResourceGroup, lendsOwn bool) (mistakes field.ErrorList) {
	path := spec.Child("resourceGroups")
	flavors, resources := map[string]bool{}, map[v1.ResourceName]bool{}
	for i, group := range groups {
		at := path.Index(i)
		for j, name := range group.CoveredResources {
			for _, wrong := range validation.IsQualifiedName(string(name)) {
				mistakes = append(mistakes, field.Invalid(at.Child("coveredResources").Index(j), name, wrong))
			}
			if resources[name] {
				mistakes = append(mistakes, field.Duplicate(at.Child("coveredResources").Index(j), name))
			}
			resources[name] = true
		}
		if pairs := len(group.Flavors) * len(group.CoveredResources); pairs > maxPairs {
			mistakes = append(mistakes, field.TooMany(at, pairs, maxPairs))
		}
		for j, flavor := range group.Flavors {
			here := at.Child("flavors").Index(j)
			if flavors[string(flavor.Name)] {
				mistakes = append(mistakes, field.Duplicate(here.Child("name"), flavor.Name))
			}
			flavors[string(flavor.Name)] = true
			mistakes = append(mistakes, checkQuotas(here.Child("resources"), flavor, group.CoveredResources, lendsOwn)...)
		}
	}
	if len(flavors) > maxFlavors {
		mistakes = append(mistakes, field.TooMany(path, len(flavors), maxFlavors))
	}
	if len(resources) > maxResources {
		mistakes = append(mistakes, field.TooMany(path, len(resources), maxResources))
	}
	return mistakes
}

func checkQuotas(path *field.Path, flavor kueue.FlavorQuotas, covered []v1.ResourceName, lendsOwn bool) (mistakes field.ErrorList) {
	negative := func(at *field.Path, q resource.Quantity) {
		if q.Sign() < 0 {
			mistakes = append(mistakes, field.Invalid(at, q.String(), "must be greater than or equal to 0"))
		}
	}
	for k, quota := range flavor.Resources {
		here := path.Index(k)
		if k < len(covered) && quota.Name != covered[k] {
			mistakes = append(mistakes, field.Invalid(here.Child("name"), quota.Name, "must match the name in coveredResources"))
		}
		negative(here.Child("nominalQuota"), quota.NominalQuota)
		if quota.BorrowingLimit != nil {
			negative(here.Child("borrowingLimit"), *quota.BorrowingLimit)
		}
		if quota.LendingLimit == nil {
			continue
		}
		negative(here.Child("lendingLimit"), *quota.LendingLimit)
		if lendsOwn && quota.LendingLimit.Cmp(quota.NominalQuota) > 0 {
			mistakes = append(mistakes, field.Invalid(here.Child("lendingLimit"), quota.LendingLimit.String(), "must be less than or equal to the nominalQuota"))
		}
	}
	return mistakes
}

func checkFlavor(flavor *kueue.ResourceFlavor) (mistakes field.ErrorList) {
	mistakes = append(mistakes, metav1validation.ValidateLabels(flavor.Spec.NodeLabels, spec.Child("nodeLabels"))...)
	mistakes = append(mistakes, checkTolerations(flavor.Spec.Tolerations, spec.Child("tolerations"))...)
	seen := map[string]bool{}
	for i, taint := range flavor.Spec.NodeTaints {
		at := spec.Child("nodeTaints").Index(i)
		mistakes = append(mistakes, metav1validation.ValidateLabelName(taint.Key, at.Child("key"))...)
		if wrong := validation.IsValidLabelValue(taint.Value); len(wrong) > 0 {
			mistakes = append(mistakes, field.Invalid(at.Child("value"), taint.Value, strings.Join(wrong, ";")))
		}
		key := taint.Key + ":" + string(taint.Effect)
		if seen[key] {
			mistakes = append(mistakes, field.Duplicate(at, key))
		}
		seen[key] = true
	}
	return mistakes
}

func checkTolerations(tolerations []v1.Toleration, path *field.Path) (mistakes field.ErrorList) {
	for i, t := range tolerations {
		if t.Key != "" {
			mistakes = append(mistakes, metav1validation.ValidateLabelName(t.Key, path.Index(i).Child("key"))...)
		}
	}
	return mistakes
}

func checkWorkload(workload *kueue.Workload) (mistakes field.ErrorList) {
	for i, set := range workload.Spec.PodSets {
		for _, list := range [][]v1.Container{set.Template.Spec.InitContainers, set.Template.Spec.Containers} {
			for j := range list {
				for name, amount := range list[j].Resources.Requests {
					at := spec.Child("podSets").Index(i).Child("template", "spec", "containers").Index(j).Child("resources", "requests").Key(string(name))
					if name == v1.ResourcePods {
						mistakes = append(mistakes, field.Invalid(at, name, "the key is reserved for internal kueue use"))
					}
					if amount.Sign() < 0 {
						mistakes = append(mistakes, field.Invalid(at, amount.String(), "must be greater than or equal to 0"))
					}
				}
			}
		}
	}
	return append(mistakes, checkStatus(workload)...)
}

func checkStatus(workload *kueue.Workload) (mistakes field.ErrorList) {
	status := field.NewPath("status")
	sets := map[kueue.PodSetReference]int32{}
	var names []kueue.PodSetReference
	for _, set := range workload.Spec.PodSets {
		sets[set.Name] = set.Count
		names = append(names, set.Name)
	}
	known := func(name kueue.PodSetReference) bool { _, ok := sets[name]; return ok }
	if workload.Status.Admission != nil && reserved(workload) {
		for i, a := range workload.Status.Admission.PodSetAssignments {
			if !known(a.Name) {
				mistakes = append(mistakes, field.NotFound(status.Child("admission", "podSetAssignments").Index(i).Child("name"), a.Name))
			}
		}
	}
	for i, pods := range workload.Status.ReclaimablePods {
		at := status.Child("reclaimablePods").Index(i)
		if !known(pods.Name) {
			mistakes = append(mistakes, field.NotSupported(at.Child("name"), pods.Name, names))
		} else if pods.Count > sets[pods.Name] {
			mistakes = append(mistakes, field.Invalid(at.Child("count"), pods.Count, fmt.Sprintf("should be less or equal to %d", sets[pods.Name])))
		}
	}
	for i, c := range workload.Status.AdmissionChecks {
		for j, u := range c.PodSetUpdates {
			at := status.Child("admissionChecks").Index(i).Child("podSetUpdates").Index(j)
			if !known(u.Name) {
				mistakes = append(mistakes, field.NotSupported(at.Child("name"), u.Name, names))
			}
			mistakes = append(mistakes, checkTolerations(u.Tolerations, at.Child("tolerations"))...)
			mistakes = append(mistakes, apivalidation.ValidateAnnotations(u.Annotations, at.Child("annotations"))...)
			mistakes = append(mistakes, metav1validation.ValidateLabels(u.NodeSelector, at.Child("nodeSelector"))...)
			mistakes = append(mistakes, metav1validation.ValidateLabels(u.Labels, at.Child("labels"))...)
		}
	}
	return mistakes
}

// checkChange checks what may not change while quota is reserved. Where jobs are elastic, a pod set may become smaller.
func checkChange(workload, before *kueue.Workload, elastic bool) (mistakes field.ErrorList) {
	if !reserved(workload) || !reserved(before) {
		return nil
	}
	sets := slices.Clone(workload.Spec.PodSets)
	for i := range sets {
		if elastic && i < len(before.Spec.PodSets) && sets[i].Count < before.Spec.PodSets[i].Count {
			sets[i].Count = before.Spec.PodSets[i].Count
		}
	}
	if !equality.Semantic.DeepEqual(sets, before.Spec.PodSets) {
		mistakes = append(mistakes, field.Invalid(spec.Child("podSets"), field.OmitValueType{}, "field is immutable"))
	}
	status := field.NewPath("status")
	if a, b := workload.Status.Admission, before.Status.Admission; a != nil && b != nil && a.ClusterQueue != b.ClusterQueue {
		mistakes = append(mistakes, field.Invalid(status.Child("admission"), a.ClusterQueue, "field is immutable"))
	}
	for i, was := range before.Status.ReclaimablePods {
		at := slices.IndexFunc(workload.Status.ReclaimablePods, func(r kueue.ReclaimablePod) bool { return r.Name == was.Name })
		if at < 0 || workload.Status.ReclaimablePods[at].Count < was.Count {
			mistakes = append(mistakes, field.Invalid(status.Child("reclaimablePods").Index(i).Child("count"), was.Name, fmt.Sprintf("cannot be less than %d", was.Count)))
		}
	}
	return mistakes
}

func reserved(workload *kueue.Workload) bool {
	return meta.IsStatusConditionTrue(workload.Status.Conditions, kueue.WorkloadQuotaReserved)
}
