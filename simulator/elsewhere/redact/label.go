package redact

import (
	"regexp"
	"slices"
	"strings"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Rules for names of one sort. Workloads and their pods are one sort, because the pods of a
// StatefulSet bear its name; but only at the end of a pod's name is a number an ordinal.
var (
	nodeName  = words("node")
	namespace = text((*Redactor).namespaceName)
	appName   = words("app")
	podName   = text((*Redactor).pod)
	claimName = words("claim")
	volume    = words("volume")
	classes   = words("class")
	services  = words("service")
	accounts  = words("account", "default")
	schedules = words("scheduler", "default-scheduler", "kube-batch", "volcano", "poseidon")
	uids      = text((*Redactor).uid)
	images    = text((*Redactor).image)
	addresses = text((*Redactor).address)
	labelKeys = text((*Redactor).labelKey)
)

// priorityClass keeps the classes that every cluster has.
var priorityClass = words("priority", "system-node-critical", "system-cluster-critical")

func (r *Redactor) namespaceName(name string) string {
	if objects.IsSystemNamespace(name) {
		return name
	}
	return r.word("namespace", name)
}

var ordinal = regexp.MustCompile(`-[0-9]{1,5}$`)

// pod keeps the ordinal of a StatefulSet's pod.
func (r *Redactor) pod(name string) string {
	at := ordinal.FindStringIndex(name)
	if at == nil {
		return r.word("app", name)
	}
	return r.word("app", name[:at[0]]) + name[at[0]:]
}

// ownDomains are Kubernetes' own domains, in which known keys of labels and taints stay.
var ownDomains = []string{
	"kubernetes.io", "k8s.io", "app.kubernetes.io", "apps.kubernetes.io", "batch.kubernetes.io", "beta.kubernetes.io",
	"controller.kubernetes.io", "failure-domain.beta.kubernetes.io", "node.cloudprovider.kubernetes.io", "node.kubernetes.io",
	"resource.kubernetes.io", "scheduling.k8s.io", "statefulset.kubernetes.io", "storage.kubernetes.io", "topology.kubernetes.io",
	// Not Kubernetes' own, but of its plugins that many clusters run.
	"scheduling.x-k8s.io",
}

// ownKeys are Kubernetes' keys without a domain.
var ownKeys = []string{"pod-template-hash", "controller-revision-hash", "pod-template-generation", "controller-uid", "job-name"}

// knownNames are the known keys in ownDomains, without the domain.
var knownNames = []string{
	"hostname", "os", "arch", "metadata.name", "instance-type", "zone", "region", "windows-build",
	"name", "instance", "version", "component", "part-of", "managed-by", "pod-index", "pod-name",
	"controller-uid", "job-name", "job-completion-index", "exclude-balancing", "exclude-from-external-load-balancers", "exclude-disruption",
	"not-ready", "unreachable", "memory-pressure", "disk-pressure", "pid-pressure", "network-unavailable", "unschedulable",
	"out-of-service", "uninitialized", "shutdown", "pcieRoot", "numaNode", "cgroup-mode",
	"control-plane", "master", "worker",
	"pod-group",
}

// labelKey is also for the keys of taints and other qualified names.
func (r *Redactor) labelKey(key string) string {
	domain, name, qualified := strings.Cut(key, "/")
	switch {
	case !qualified && slices.Contains(ownKeys, key):
		return key
	case !qualified:
		return r.word("key", key)
	case domain == "node-role.kubernetes.io" && slices.Contains(knownNames, name):
		return key
	case domain == "node-role.kubernetes.io":
		return domain + "/" + r.word("role", name)
	case slices.Contains(ownDomains, domain) && slices.Contains(knownNames, name):
		return key
	}
	if _, known := kueueLabels[name]; known && domain == kueueGroup {
		return key
	}
	if domain == karpenterGroup && slices.Contains(karpenterLabels, name) {
		return key
	}
	// The domain alone would reveal its owner.
	return "example.com/" + r.word("key", key)
}

var shortInteger = regexp.MustCompile(`^-?[0-9]{1,11}$`)

// labelValue depends on the key: some values are names.
func (r *Redactor) labelValue(key, value string) string {
	if of, known := r.kueueLabel(key, value); known {
		return of
	}
	if of, known := r.karpenterLabel(key, value); known {
		return of
	}
	switch key {
	case "kubernetes.io/hostname":
		return r.word("node", value)
	case "kubernetes.io/metadata.name":
		return r.namespaceName(value)
	case "kubernetes.io/os", "beta.kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/arch":
		if slices.Contains(platforms, value) {
			return value
		}
	case "statefulset.kubernetes.io/pod-name":
		return r.pod(value)
	case "job-name", "batch.kubernetes.io/job-name", "scheduling.x-k8s.io/pod-group":
		return r.word("app", value)
	case "controller-uid", "batch.kubernetes.io/controller-uid":
		return r.uid(value)
	}
	return r.value(value)
}

var platforms = []string{"linux", "windows", "amd64", "arm64", "arm", "386", "ppc64le", "s390x", "riscv64"}

// value is for the value of a label, a taint or a device's attribute.
func (r *Redactor) value(value string) string {
	if value == "" || value == "true" || value == "false" || shortInteger.MatchString(value) {
		return value
	}
	return r.word("v", value)
}

// labels is for a map of labels, or one that selects by labels.
func labels(r *Redactor, v any) any {
	from, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	out := make(map[string]any, len(from))
	for key, value := range from {
		if s, ok := value.(string); ok {
			out[r.labelKey(key)] = r.labelValue(key, s)
		}
	}
	return out
}

// requirement is for a requirement of a selector; requirements on fields are on the name of a node.
func requirement(value func(r *Redactor, key, value string) string, key func(r *Redactor, key string) string) rule {
	return func(r *Redactor, v any) any {
		from, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		of, _ := from["key"].(string)
		operator, _ := from["operator"].(string)
		values := each(text(func(r *Redactor, s string) string {
			if (operator == "Gt" || operator == "Lt") && integer.MatchString(s) {
				return s
			}
			return value(r, of, s)
		}))
		return object(fields{
			"key":      text(key),
			"operator": oneOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
			"values":   values,
		})(r, v)
	}
}

var integer = regexp.MustCompile(`^-?[0-9]+$`)

var (
	onLabels = requirement((*Redactor).labelValue, (*Redactor).labelKey)
	onFields = requirement(
		func(r *Redactor, _, name string) string { return r.word("node", name) },
		func(_ *Redactor, key string) string {
			if key == "metadata.name" {
				return key
			}
			return ""
		})
	selector     = object(fields{"matchLabels": labels, "matchExpressions": each(onLabels)})
	nodeTerm     = object(fields{"matchExpressions": each(onLabels), "matchFields": each(onFields)})
	nodeSelector = object(fields{"nodeSelectorTerms": each(nodeTerm)})
	// topologyTerm is for a StorageClass.
	topologyTerm = object(fields{"matchLabelExpressions": each(func(r *Redactor, v any) any {
		from, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		key, _ := from["key"].(string)
		return object(fields{"key": labelKeys, "values": each(text(func(r *Redactor, s string) string { return r.labelValue(key, s) }))})(r, v)
	})})
)

var taint = object(fields{
	"key": labelKeys, "value": text((*Redactor).value), "timeAdded": instant,
	"effect": oneOf("NoSchedule", "PreferNoSchedule", "NoExecute", "None"),
})

var toleration = object(fields{
	"key": labelKeys, "value": text((*Redactor).value), "operator": oneOf("Exists", "Equal", "Gt", "Lt"),
	"effect": oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"), "tolerationSeconds": number,
})
