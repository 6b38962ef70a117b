package intake

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kube-scheduler-simulator/simulator/kueue/api"
	"kube-scheduler-simulator/simulator/kueue/conversion"
)

// The most that Kueue accepts, over all resource groups.
const (
	maxFlavors   = 256
	maxResources = 256
	maxPairs     = 512 // of a flavor and a resource, in one group
)

var spec = field.NewPath("spec")

// checkCustom checks an object of Kueue's; before is nil for a new one. Objects of the older version are
// checked as what they are stored as.
func checkCustom(o, before *unstructured.Unstructured) field.ErrorList {
	switch o.GetKind() {
	case api.ClusterQueueKind.Kind:
		queue, err := read[api.ClusterQueue](o)
		if err != nil {
			return refused(err)
		}
		return checkClusterQueue(queue)
	case api.CohortKind.Kind:
		cohort, err := read[api.Cohort](o)
		if err != nil {
			return refused(err)
		}
		return checkGroups(cohort.Spec.ResourceGroups, false)
	case api.ResourceFlavorKind.Kind:
		flavor, err := read[api.ResourceFlavor](o)
		if err != nil {
			return refused(err)
		}
		return checkFlavor(flavor)
	case api.WorkloadKind.Kind:
		workload, err := read[api.Workload](o)
		if err != nil {
			return refused(err)
		}
		var was *api.Workload
		if before != nil {
			if was, err = read[api.Workload](before); err != nil {
				return refused(err)
			}
		}
		return checkWorkload(workload, was)
	}
	return nil
}

// read returns an object in the stored version.
func read[T any](o *unstructured.Unstructured) (*T, error) {
	if o.GetAPIVersion() == conversion.V1beta1 {
		switch o.GetKind() {
		case api.ClusterQueueKind.Kind, api.CohortKind.Kind, api.WorkloadKind.Kind:
			converted, err := conversion.Convert(o, conversion.V1beta2)
			if err != nil {
				return nil, err
			}
			o = converted
		}
	}
	out := new(T)
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, out)
}

func refused(err error) field.ErrorList {
	return field.ErrorList{field.Invalid(spec, field.OmitValueType{}, err.Error())}
}

func checkClusterQueue(queue *api.ClusterQueue) field.ErrorList {
	mistakes := checkGroups(queue.Spec.ResourceGroups, true)
	if queue.Spec.AdmissionChecksStrategy == nil {
		return mistakes
	}
	for i, check := range queue.Spec.AdmissionChecksStrategy.AdmissionChecks {
		for j, flavor := range check.OnFlavors {
			if !slices.ContainsFunc(queue.Spec.ResourceGroups, func(g api.ResourceGroup) bool {
				return slices.ContainsFunc(g.Flavors, func(f api.FlavorQuotas) bool { return string(f.Name) == string(flavor) })
			}) {
				mistakes = append(mistakes, field.Invalid(spec.Child("admissionChecksStrategy", "admissionChecks").Index(i).Child("onFlavors").Index(j), flavor, "must be a flavor of the cluster queue"))
			}
		}
	}
	return mistakes
}

// checkGroups checks quotas. lendsOwn: a lending limit is at most the nominal quota.
func checkGroups(groups []api.ResourceGroup, lendsOwn bool) (mistakes field.ErrorList) {
	path := spec.Child("resourceGroups")
	flavors, resources := map[string]bool{}, map[v1.ResourceName]bool{}
	for i, group := range groups {
		at := path.Index(i)
		for j, name := range group.CoveredResources {
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

func checkQuotas(path *field.Path, flavor api.FlavorQuotas, covered []v1.ResourceName, lendsOwn bool) (mistakes field.ErrorList) {
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

func checkFlavor(flavor *api.ResourceFlavor) (mistakes field.ErrorList) {
	seen := map[string]bool{}
	for i, taint := range flavor.Spec.NodeTaints {
		key := taint.Key + ":" + string(taint.Effect)
		if seen[key] {
			mistakes = append(mistakes, field.Duplicate(spec.Child("nodeTaints").Index(i), key))
		}
		seen[key] = true
	}
	return mistakes
}

func checkWorkload(workload, before *api.Workload) (mistakes field.ErrorList) {
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
	if before == nil || !reserved(workload) || !reserved(before) {
		return mistakes
	}
	if !equality.Semantic.DeepEqual(workload.Spec.PodSets, before.Spec.PodSets) {
		mistakes = append(mistakes, field.Invalid(spec.Child("podSets"), field.OmitValueType{}, "field is immutable"))
	}
	status := field.NewPath("status")
	if a, b := workload.Status.Admission, before.Status.Admission; a != nil && b != nil && a.ClusterQueue != b.ClusterQueue {
		mistakes = append(mistakes, field.Invalid(status.Child("admission"), a.ClusterQueue, "field is immutable"))
	}
	for i, was := range before.Status.ReclaimablePods {
		at := slices.IndexFunc(workload.Status.ReclaimablePods, func(r api.ReclaimablePod) bool { return r.Name == was.Name })
		if at < 0 || workload.Status.ReclaimablePods[at].Count < was.Count {
			mistakes = append(mistakes, field.Invalid(status.Child("reclaimablePods").Index(i).Child("count"), was.Name, fmt.Sprintf("cannot be less than %d", was.Count)))
		}
	}
	return mistakes
}

func reserved(workload *api.Workload) bool {
	return meta.IsStatusConditionTrue(workload.Status.Conditions, api.WorkloadQuotaReserved)
}
