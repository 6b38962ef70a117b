package redact

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// rule returns the part of a value that may be shown, nil if there is none. It does not change the
// value.
type rule func(r *Redactor, v any) any

// apply takes a value that may be missing.
func (f rule) apply(r *Redactor, v any) any {
	if v == nil {
		return nil
	}
	return f(r, v)
}

type fields map[string]rule

// object shows the listed fields.
func object(f fields) rule {
	return func(r *Redactor, v any) any {
		from, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		out := make(map[string]any, len(from))
		for name, value := range from {
			known, listed := f[name]
			if !listed {
				continue
			}
			if value = known.apply(r, value); value != nil {
				out[name] = value
			}
		}
		return out
	}
}

func (f fields) with(more fields) fields {
	out := fields{}
	for _, from := range []fields{f, more} {
		for name, rule := range from {
			out[name] = rule
		}
	}
	return out
}

// each drops items that may not be shown.
func each(item rule) rule {
	return func(r *Redactor, v any) any {
		from, ok := v.([]any)
		if !ok {
			return nil
		}
		out := make([]any, 0, len(from))
		for _, value := range from {
			if value = item.apply(r, value); value != nil {
				out = append(out, value)
			}
		}
		return out
	}
}

// notEmpty drops an object that has nothing left.
func notEmpty(f rule) rule {
	return func(r *Redactor, v any) any {
		if out, ok := f(r, v).(map[string]any); ok && len(out) > 0 {
			return out
		}
		return nil
	}
}

// text makes a rule from a replacement of strings; an empty replacement drops the string.
func text(replace func(r *Redactor, s string) string) rule {
	return func(r *Redactor, v any) any {
		s, ok := v.(string)
		if !ok {
			return nil
		}
		if s == "" {
			return s
		}
		if s = replace(r, s); s == "" {
			return nil
		}
		return s
	}
}

// words are names of one sort, such as nodes. Those in kept are Kubernetes' own.
func words(prefix string, kept ...string) rule {
	return text(func(r *Redactor, s string) string {
		if slices.Contains(kept, s) {
			return s
		}
		return r.word(prefix, s)
	})
}

// oneOf shows the values of an enumeration.
func oneOf(values ...string) rule {
	return text(func(_ *Redactor, s string) string {
		if slices.Contains(values, s) {
			return s
		}
		return ""
	})
}

func number(_ *Redactor, v any) any {
	switch v.(type) {
	case int64, float64:
		return v
	}
	return nil
}

func boolean(_ *Redactor, v any) any {
	if b, ok := v.(bool); ok {
		return b
	}
	return nil
}

var percentage = regexp.MustCompile(`^[0-9]{1,3}%$`)

// numberOrPercentage is for budgets and rollouts.
func numberOrPercentage(r *Redactor, v any) any {
	if s, ok := v.(string); ok && percentage.MatchString(s) {
		return s
	}
	return number(r, v)
}

// amount is a quantity, which may be a number in JSON.
func amount(r *Redactor, v any) any {
	if s, ok := v.(string); ok {
		if _, err := resource.ParseQuantity(s); err == nil {
			return s
		}
		return nil
	}
	return number(r, v)
}

func instant(_ *Redactor, v any) any {
	if s, ok := v.(string); ok {
		if _, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return s
		}
	}
	return nil
}

// nothing is for an object whose presence is all that it says.
func nothing(_ *Redactor, v any) any {
	if _, ok := v.(map[string]any); ok {
		return map[string]any{}
	}
	return nil
}

// amounts are for a ResourceList, or for amounts by another sort of name.
func amounts(name func(*Redactor, string) string) rule { return byName(name, amount) }

// byName shows an object whose keys are names.
func byName(name func(*Redactor, string) string, value rule) rule {
	return func(r *Redactor, v any) any {
		from, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		out := make(map[string]any, len(from))
		for key, v := range from {
			if v = value.apply(r, v); v != nil {
				out[name(r, key)] = v
			}
		}
		return out
	}
}

// widespread are the domains of resources that are products, and no secret.
var widespread = []string{
	"nvidia.com", "amd.com", "gpu.intel.com", "fpga.intel.com", "habana.ai", "google.com", "cloud-tpus.google.com",
	"aws.amazon.com", "vpc.amazonaws.com", "smarter-devices", "devices.kubevirt.io",
}

// resourceName keeps the names of well-known resources.
func resourceName(r *Redactor, name string) string {
	bare := strings.TrimPrefix(name, "requests.")
	prefix := name[:len(name)-len(bare)]
	domain, rest, qualified := strings.Cut(bare, "/")
	switch {
	case !qualified:
		if knownResource(bare) {
			return name
		}
		return prefix + "example.com/" + r.word("resource", bare)
	case domain == "deviceclass.resource.kubernetes.io":
		return prefix + domain + "/" + r.word("class", rest)
	case slices.Contains(widespread, domain) && knownProduct.MatchString(rest):
		return name
	}
	return prefix + "example.com/" + r.word("resource", bare)
}

// knownProduct matches names in the domain of a widespread resource. It does not match names that
// people make up themselves, as for parts of a shared device.
var knownProduct = regexp.MustCompile(`^(gpu|gpu\.shared|mig-[0-9]g\.[0-9]+gb|tpu|neuron|neuroncore|neurondevice|gaudi|i915|xe|pod-eni|efa|kvm)$`)

func knownResource(name string) bool {
	for _, prefix := range []string{"hugepages-", "attachable-volumes-"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if _, err := resource.ParseQuantity(rest); err == nil {
				return true
			}
			return slices.Contains([]string{"aws-ebs", "gce-pd", "azure-disk", "cinder"}, rest)
		}
	}
	switch name {
	case "cpu", "memory", "ephemeral-storage", "storage", "pods",
		"limits.cpu", "limits.memory", "limits.ephemeral-storage",
		"cpu.limits", "services", "configmaps", "secrets", "resourcequotas", "replicationcontrollers",
		"persistentvolumeclaims", "services.loadbalancers", "services.nodeports":
		return true
	}
	return false
}
