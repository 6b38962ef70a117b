package admission

import (
	"cmp"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// SetClaimTemplate follows a ResourceClaimTemplate, from which the claims of a namespace's pods are made.
func (s *State) SetClaimTemplate(template *resourcev1.ResourceClaimTemplate) {
	s.templates[types.NamespacedName{Namespace: template.Namespace, Name: template.Name}] = template
	s.recountDevices(template.Namespace)
}

func (s *State) DeleteClaimTemplate(key types.NamespacedName) {
	delete(s.templates, key)
	s.recountDevices(key.Namespace)
}

// SetDeviceClass follows a DeviceClass, which may stand behind an extended resource.
func (s *State) SetDeviceClass(class *resourcev1.DeviceClass) {
	s.classes[class.Name] = class
	s.recountExtended()
}

func (s *State) DeleteDeviceClass(name string) {
	delete(s.classes, name)
	s.recountExtended()
}

func (s *State) recountDevices(namespace string) {
	if s.settings.Devices != nil {
		s.recount(namespace)
	}
}

func (s *State) recountExtended() {
	if s.settings.Devices != nil && s.settings.Devices.Extended {
		s.recount(metav1.NamespaceAll)
	}
}

// countDevices adds to the requests of a workload's pod set number i the resources that stand for its devices, and says why it
// cannot.
func (s *State) countDevices(namespace string, i int, p podSet) Reason {
	if s.settings.Devices == nil {
		return Reason{}
	}
	path := field.NewPath("spec", "podSets").Index(i).Child("template", "spec")
	if slices.ContainsFunc(p.spec.ResourceClaims, func(c v1.PodResourceClaim) bool { return c.ResourceClaimName != nil }) {
		return Reason{ClaimsUnsupported{}}
	}
	for j, claim := range p.spec.ResourceClaims {
		if claim.ResourceClaimTemplateName == nil {
			continue
		}
		name, at := *claim.ResourceClaimTemplateName, path.Child("resourceClaims").Index(j)
		template := s.templates[types.NamespacedName{Namespace: namespace, Name: name}]
		if template == nil {
			return uncounted(field.InternalError(at, fmt.Errorf("failed to get claim spec for ResourceClaimTemplate %s in podset %s: resourceclaimtemplates.resource.k8s.io %q not found", name, p.name, name)))
		}
		count, wrong := devicesOf(&template.Spec.Spec, at.Child("devices"))
		if wrong != nil {
			wrong.Detail = fmt.Sprintf("ResourceClaimTemplate %s: %s", name, wrong.Detail)
			return uncounted(wrong)
		}
		for _, class := range sortedKeys(count, cmp.Compare[string]) {
			resource, mapped := s.settings.Devices.Classes[class]
			if !mapped {
				return uncounted(field.NotFound(at.Child("resourceClaimTemplateName"), fmt.Sprintf("DeviceClass %s is not mapped in DRA configuration for podset %s", class, p.name)))
			}
			p.each[resource] += amountOf(resource, count[class])
		}
	}
	if s.settings.Devices.Extended {
		s.countExtended(namespace, p)
	}
	return Reason{}
}

func uncounted(wrong *field.Error) Reason { return Reason{DevicesUncounted{wrong.Error()}} }

// devicesOf counts the devices of a claim by their class. The rest of what a claim can ask for, Kueue cannot count.
func devicesOf(claim *resourcev1.ResourceClaimSpec, path *field.Path) (map[string]int64, *field.Error) {
	if len(claim.Devices.Constraints) > 0 {
		return nil, field.Invalid(path.Child("constraints"), nil, "device constraints (MatchAttribute) are not supported")
	}
	if len(claim.Devices.Config) > 0 {
		return nil, field.Invalid(path.Child("config"), nil, "device config is not supported")
	}
	count := make(map[string]int64)
	for i, request := range claim.Devices.Requests {
		at := path.Child("requests").Index(i)
		exactly := request.Exactly
		if exactly == nil {
			return nil, field.Invalid(at, nil, "FirstAvailable device selection is not supported")
		}
		at = at.Child("exactly")
		switch {
		case len(exactly.Selectors) > 0:
			return nil, field.Invalid(at.Child("selectors"), nil, "CEL selectors are not supported")
		case ptr.Deref(exactly.AdminAccess, false):
			return nil, field.Invalid(at.Child("adminAccess"), nil, "AdminAccess is not supported")
		case exactly.AllocationMode == resourcev1.DeviceAllocationModeAll:
			return nil, field.Invalid(at.Child("allocationMode"), exactly.AllocationMode, "AllocationMode 'All' is not supported")
		case exactly.AllocationMode != resourcev1.DeviceAllocationModeExactCount:
			return nil, field.Invalid(at.Child("allocationMode"), exactly.AllocationMode, fmt.Sprintf("unsupported allocation mode: %s", exactly.AllocationMode))
		}
		count[exactly.DeviceClassName] += exactly.Count
	}
	return count, nil
}

// countExtended counts requests of extended resources that DeviceClasses stand behind as devices of those. Init containers run
// before the others, so the larger of the two counts.
func (s *State) countExtended(namespace string, p podSet) {
	before, beside := s.fillRequests(namespace, p.spec.InitContainers), s.fillRequests(namespace, p.spec.Containers)
	devices := func(containers []v1.Container, merge func(a, b int64) int64) map[v1.ResourceName]int64 {
		out := make(map[v1.ResourceName]int64)
		for _, c := range containers {
			of := make(map[v1.ResourceName]int64)
			for name, q := range c.Resources.Requests {
				if resource := s.resourceBehind(name); resource != "" {
					of[resource] += q.Value()
				}
			}
			for resource, n := range of {
				out[resource] = merge(out[resource], n)
			}
		}
		return out
	}
	most := devices(before, func(a, b int64) int64 { return max(a, b) })
	for resource, n := range devices(beside, func(a, b int64) int64 { return a + b }) {
		most[resource] = max(most[resource], n)
	}
	for _, containers := range [][]v1.Container{before, beside} {
		for _, c := range containers {
			for name := range c.Resources.Requests {
				if s.resourceBehind(name) != "" {
					delete(p.each, name)
				}
			}
		}
	}
	for resource, n := range most {
		p.each[resource] += amountOf(resource, n)
	}
}

func amountOf(name v1.ResourceName, devices int64) int64 {
	return valueOf(name, *resource.NewQuantity(devices, resource.DecimalSI))
}

// resourceBehind returns the resource that counts in place of an extended one: that of a DeviceClass with its name, if the
// class has one, and the extended one itself if not; "" if there is no such class.
func (s *State) resourceBehind(name v1.ResourceName) v1.ResourceName {
	behind := v1.ResourceName("")
	for _, class := range sortedKeys(s.classes, cmp.Compare[string]) {
		if ptr.Deref(s.classes[class].Spec.ExtendedResourceName, "") != string(name) {
			continue
		}
		if resource, mapped := s.settings.Devices.Classes[class]; mapped {
			return resource
		}
		behind = name
	}
	return behind
}
