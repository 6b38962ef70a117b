// Package definitions has the CustomResourceDefinitions of the objects that the simulator's own
// plugins read, and installs them into a cluster.
//
// A definition has one of two lives. One that a configuration needs comes with it, and leaves when
// no configuration needs it any more, unless objects of its kind exist or a user has edited it.
// One that a user has asked for stays, like any other object.
//
// Kueue's definitions are those of its module, but for the differences that modules_test.go lists. Karpenter's are its module's.
//
// To add a definition, put its manifest into this directory and add a line to the table, and
// another to the table in simulator/cluster/objects. The package may import simulator/cluster/objects and
// Kubernetes' client libraries.
package definitions

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kwok "sigs.k8s.io/karpenter/kwok/apis"
	"sigs.k8s.io/karpenter/pkg/apis"
	"sigs.k8s.io/yaml"
)

//go:embed *.yaml
var manifests embed.FS

// Definition is a CustomResourceDefinition that the simulator has.
type Definition struct {
	// Kind and Resource are what it defines; Resource is the plural name.
	Kind     schema.GroupVersionKind
	Resource string
	// Plugin is the plugin that reads the objects, or Kueue.
	Plugin string
	// file is the name of the manifest; by default that of the resource. manifest is the manifest of a module that has it.
	file     string
	manifest string
}

var table = []Definition{
	{Kind: schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"}, Resource: "podgroups", Plugin: "Coscheduling"},
	{Kind: schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "ElasticQuota"}, Resource: "elasticquotas", Plugin: "CapacityScheduling"},
	{Kind: schema.GroupVersionKind{Group: "topology.node.k8s.io", Version: "v1alpha2", Kind: "NodeResourceTopology"}, Resource: "noderesourcetopologies", Plugin: "NodeResourceTopologyMatch"},
	{Kind: schema.GroupVersionKind{Group: "scheduling.incubator.k8s.io", Version: "v1alpha1", Kind: "PodGroup"}, Resource: "podgroups", Plugin: SessionSchedulers, file: "kube-batch-incubator-podgroups"},
	{Kind: schema.GroupVersionKind{Group: "scheduling.incubator.k8s.io", Version: "v1alpha1", Kind: "Queue"}, Resource: "queues", Plugin: SessionSchedulers, file: "kube-batch-incubator-queues"},
	{Kind: schema.GroupVersionKind{Group: "scheduling.sigs.dev", Version: "v1alpha2", Kind: "PodGroup"}, Resource: "podgroups", Plugin: SessionSchedulers, file: "kube-batch-sigs-podgroups"},
	{Kind: schema.GroupVersionKind{Group: "scheduling.sigs.dev", Version: "v1alpha2", Kind: "Queue"}, Resource: "queues", Plugin: SessionSchedulers, file: "kube-batch-sigs-queues"},
	{Kind: schema.GroupVersionKind{Group: "scheduling.volcano.sh", Version: "v1beta1", Kind: "PodGroup"}, Resource: "podgroups", Plugin: SessionSchedulers, file: "volcano-podgroups"},
	{Kind: schema.GroupVersionKind{Group: "scheduling.volcano.sh", Version: "v1beta1", Kind: "Queue"}, Resource: "queues", Plugin: SessionSchedulers, file: "volcano-queues"},
	kueue("ClusterQueue", "clusterqueues"),
	kueue("LocalQueue", "localqueues"),
	kueue("Cohort", "cohorts"),
	kueue("Workload", "workloads"),
	kueue("ResourceFlavor", "resourceflavors"),
	kueue("Topology", "topologies"),
	kueue("WorkloadPriorityClass", "workloadpriorityclasses"),
	kueue("AdmissionCheck", "admissionchecks"),
	kueue("ProvisioningRequestConfig", "provisioningrequestconfigs"),
	{Kind: schema.GroupVersionKind{Group: "autoscaling.x-k8s.io", Version: "v1", Kind: "ProvisioningRequest"}, Resource: "provisioningrequests", Plugin: Kueue},
	{Kind: schema.GroupVersionKind{Group: "jobset.x-k8s.io", Version: "v1alpha2", Kind: "JobSet"}, Resource: "jobsets", Plugin: JobSet},
	{Kind: schema.GroupVersionKind{Group: "leaderworkerset.x-k8s.io", Version: "v1", Kind: "LeaderWorkerSet"}, Resource: "leaderworkersets", Plugin: LeaderWorkerSet},
	{Kind: schema.GroupVersionKind{Group: "workload.codeflare.dev", Version: "v1beta2", Kind: "AppWrapper"}, Resource: "appwrappers", Plugin: AppWrapper},
	karpenter("NodePool", "nodepools", apis.NodePoolCRD),
	karpenter("NodeClaim", "nodeclaims", apis.NodeClaimCRD),
	{Kind: schema.GroupVersionKind{Group: kwok.Group, Version: "v1alpha1", Kind: "KWOKNodeClass"}, Resource: "kwoknodeclasses", Plugin: Karpenter, manifest: string(kwok.KWOKNodeClassCRD)},
}

// Kueue is what stands in place of a plugin in the definitions of Kueue's kinds. The controllers that
// read them run while a cluster has them.
const Kueue = "Kueue"

const kueueGroup = "kueue.x-k8s.io"

func kueue(kind, resource string) Definition {
	return Definition{Kind: schema.GroupVersionKind{Group: kueueGroup, Version: "v1beta2", Kind: kind}, Resource: resource, Plugin: Kueue}
}

// JobSet, LeaderWorkerSet and AppWrapper stand in place of a plugin in the definitions of these kinds. Their controllers run while
// a cluster has them.
const (
	JobSet          = "JobSet"
	LeaderWorkerSet = "LeaderWorkerSet"
	AppWrapper      = "AppWrapper"
)

// Karpenter stands in place of a plugin in the definitions of Karpenter's kinds. Questions about the autoscaler read them.
const Karpenter = "Karpenter"

func karpenter(kind, resource string, manifest []byte) Definition {
	return Definition{Kind: schema.GroupVersionKind{Group: apis.Group, Version: "v1", Kind: kind}, Resource: resource, Plugin: Karpenter, manifest: string(manifest)}
}

// SessionSchedulers stands in for the plugin of the kinds that the session schedulers read.
const SessionSchedulers = "SessionSchedulers"

// Name is the name of the CustomResourceDefinition.
func (d Definition) Name() string { return d.Resource + "." + d.Kind.Group }

// Manifest returns the CustomResourceDefinition as it is installed.
func (d Definition) Manifest() (*apiextensionsv1.CustomResourceDefinition, error) {
	data := []byte(d.manifest)
	if d.manifest == "" {
		var err error
		if data, err = manifests.ReadFile(cmp.Or(d.file, d.Resource) + ".yaml"); err != nil {
			return nil, err
		}
	}
	object := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, object); err != nil {
		return nil, fmt.Errorf("reading the definition of %s: %w", d.Name(), err)
	}
	return object, nil
}

// All returns the definitions, in a new list.
func All() []Definition { return slices.Clone(table) }

// Of returns the definitions of the objects that any of the plugins reads.
func Of(plugins []string) []Definition {
	return slices.DeleteFunc(All(), func(d Definition) bool { return !slices.Contains(plugins, d.Plugin) })
}

// ForKinds returns the definitions of those kinds that the simulator has a definition of. Kueue's kinds come
// together, because its controllers need all of them, and with the one by which they ask an autoscaler.
func ForKinds(kinds []schema.GroupKind) []Definition {
	ofKueue := func(d Definition) bool { return d.Plugin == Kueue }
	named := func(d Definition) bool { return slices.Contains(kinds, d.Kind.GroupKind()) }
	all := slices.ContainsFunc(table, func(d Definition) bool { return d.Kind.Group == kueueGroup && named(d) })
	return slices.DeleteFunc(All(), func(d Definition) bool { return !named(d) && !(all && ofKueue(d)) })
}

// Named returns the definition of that name.
func Named(name string) (Definition, bool) {
	at := slices.IndexFunc(table, func(d Definition) bool { return d.Name() == name })
	if at < 0 {
		return Definition{}, false
	}
	return table[at], true
}

// everything is the word that stands for all definitions.
const everything = "all"

// Choose reads a list of plugins, or of the word all, and returns the definitions that they need.
func Choose(list []string) ([]Definition, error) {
	var plugins []string
	for _, d := range table {
		if !slices.Contains(plugins, d.Plugin) {
			plugins = append(plugins, d.Plugin)
		}
	}
	for _, word := range list {
		switch {
		case word == everything:
			return All(), nil
		case !slices.Contains(plugins, word):
			return nil, fmt.Errorf("no plugin with custom resources is named %q; say %s, or %s for all of them", word, strings.Join(plugins, ", "), everything)
		}
	}
	return Of(list), nil
}
