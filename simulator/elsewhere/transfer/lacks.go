package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

// Lack is a kind of which the input lacks objects that scheduling depends on.
type Lack struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// By is the kind of the input's objects that need it, and Count how many they are. It is empty
	// if none refers to it: then the input has no object of the kind, and the other cluster may
	// have none either.
	By    string `json:"by,omitempty"`
	Count int    `json:"count,omitempty"`
	// Total counts the missing objects that they name, and Names has the first of them, as
	// namespace/name. They are empty if any object of the kind matters to them.
	Total int      `json:"total,omitempty"`
	Names []string `json:"names,omitempty"`
	// Resource is what kubectl calls the kind; empty for what no API has.
	Resource string `json:"resource,omitempty"`
	// Command prints what is missing.
	Command string `json:"command"`
}

// maxLackingNames bounds the names of a Lack.
const maxLackingNames = 20

// schedulerConfiguration is the kind of a Lack of the scheduler's configuration, which no API has.
const schedulerConfiguration = "KubeSchedulerConfiguration"

// lacking collects what objects of the input refer to.
type lacking struct {
	has   func(key) bool
	kinds map[schema.GroupKind]bool
	// refs has, for each kind that is referred to and the kind that refers to it, the missing
	// objects, and the objects that name one.
	refs map[[2]schema.GroupKind]*references
}

type references struct {
	names map[string]bool
	by    map[key]bool
}

func (l *lacking) refer(from key, to schema.GroupKind, namespace, name string) {
	k := key{to, namespace, name}
	if name == "" || l.has(k) {
		return
	}
	l.need(from, to).names[strings.TrimPrefix(namespace+"/"+name, "/")] = true
}

// need notes that an object needs others of a kind, whatever their names.
func (l *lacking) need(from key, to schema.GroupKind) *references {
	at := [2]schema.GroupKind{to, from.GroupKind}
	if l.refs[at] == nil {
		l.refs[at] = &references{map[string]bool{}, map[key]bool{}}
	}
	l.refs[at].by[from] = true
	return l.refs[at]
}

var (
	csiNode       = schema.GroupKind{Group: "storage.k8s.io", Kind: "CSINode"}
	runtimeClass  = schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}
	deviceClass   = schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceClass"}
	resourceSlice = schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceSlice"}
	service       = schema.GroupKind{Kind: "Service"}
)

// unnamed are kinds that the scheduler reads and that no pod refers to.
var unnamed = []schema.GroupKind{objects.PodDisruptionBudget, service}

// lacks returns what the input has not and is not already there: first what objects of the input need, in the
// order of creation. Call it before anything is made in place of what is missing.
func (i *importer) lacks(there func(key) bool) []Lack {
	l := &lacking{
		has:   func(k key) bool { return i.index[k] != nil || there(k) },
		kinds: map[schema.GroupKind]bool{}, refs: map[[2]schema.GroupKind]*references{},
	}
	for _, o := range i.objects {
		l.kinds[o.GVK.GroupKind()] = true
	}
	for _, o := range i.objects {
		l.refer(keyOf(o), objects.Namespace, "", o.Namespace)
		switch o.GVK.GroupKind() {
		case objects.Pod:
			if head := i.pods.heads[o]; head != nil && !isFinishedPod(head.Status.Phase) {
				l.pod(keyOf(o), o.JSON, head)
			}
		case objects.PersistentVolumeClaim:
			l.claim(keyOf(o), o.JSON)
		case objects.PersistentVolume:
			l.volume(keyOf(o), o.JSON)
		case objects.ResourceClaim:
			l.devices(keyOf(o), o.JSON)
		}
	}
	out := []Lack{}
	for at, r := range l.refs {
		lack := lackOf(at[0], at[1].Kind)
		lack.Count, lack.Total = len(r.by), len(r.names)
		lack.Names = slices.Sorted(maps.Keys(r.names))
		lack.Names = lack.Names[:min(len(lack.Names), maxLackingNames)]
		out = append(out, lack)
	}
	slices.SortFunc(out, func(a, b Lack) int {
		return cmp.Or(cmp.Compare(rankOfLack(a), rankOfLack(b)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.By, b.By))
	})
	if len(i.pods.heads) == 0 {
		return out
	}
	for _, gk := range unnamed {
		if !l.kinds[gk] {
			out = append(out, lackOf(gk, ""))
		}
	}
	if len(i.configurations) == 0 {
		out = append(out, Lack{
			APIVersion: "kubescheduler.config.k8s.io/v1", Kind: schedulerConfiguration,
			Command: "kubectl get pods --namespace kube-system --selector component=kube-scheduler -o yaml",
		})
	}
	return out
}

// alreadyThere says which objects the cluster has. An emptied one has what every cluster has.
func (i *importer) alreadyThere(ctx context.Context) func(key) bool {
	known := map[schema.GroupKind]map[key]bool{}
	return func(k key) bool {
		if known[k.GroupKind] == nil {
			known[k.GroupKind] = map[key]bool{}
			if r, ok := i.client.preferredFor(k.GroupKind); ok && r.listable && ctx.Err() == nil {
				list, err := i.client.getMetadataList(ctx, r)
				if err != nil {
					i.cluster.opts.Logger.Error(err, "Listing what an import may refer to", "kind", k.Kind)
				}
				for _, o := range list {
					known[k.GroupKind][key{k.GroupKind, o.Namespace, o.Name}] = true
				}
			}
		}
		return known[k.GroupKind][k]
	}
}

func rankOfLack(l Lack) objects.Rank {
	return objects.RankOf(schema.FromAPIVersionAndKind(l.APIVersion, l.Kind).GroupKind())
}

func lackOf(gk schema.GroupKind, by string) Lack {
	kind := objects.KindOf(gk)
	version := cmp.Or(kind.Version, "v1")
	resource := kind.Resource
	if resource == "" {
		plural, _ := meta.UnsafeGuessKindToResource(gk.WithVersion(version))
		resource = plural.Resource
	}
	// kubectl takes the first of several resources of a name.
	if strings.Contains(gk.Group, ".") && !strings.HasSuffix(gk.Group, ".k8s.io") || kind.Uses&objects.Custom != 0 {
		resource += "." + gk.Group
	}
	command := "kubectl get " + resource
	if kind.Namespaced || kind.Rank == objects.RankOther {
		command += " --all-namespaces"
	}
	return Lack{APIVersion: gk.WithVersion(version).GroupVersion().String(), Kind: gk.Kind, By: by, Resource: resource, Command: command + " -o yaml"}
}

func (l *lacking) pod(from key, document []byte, head *podHead) {
	var pod struct {
		Spec   v1.PodSpec
		Status v1.PodStatus
	}
	if json.Unmarshal(document, &pod) != nil {
		return // the API server says what is wrong with it
	}
	l.refer(from, objects.Node, "", head.Spec.NodeName)
	if name := head.Spec.PriorityClassName; !strings.HasPrefix(name, "system-") { // every cluster has those
		l.refer(from, objects.PriorityClass, "", name)
	}
	l.refer(from, runtimeClass, "", head.Spec.RuntimeClassName)
	if own := head.owner(); own != nil && own.Kind != objects.Node.Kind {
		k := own.key(from.namespace)
		if !l.has(key{k.GroupKind, "", k.name}) {
			l.refer(from, k.GroupKind, k.namespace, k.name)
		}
	}
	for _, volume := range pod.Spec.Volumes {
		switch {
		case volume.PersistentVolumeClaim != nil:
			l.refer(from, objects.PersistentVolumeClaim, from.namespace, volume.PersistentVolumeClaim.ClaimName)
		case volume.Ephemeral != nil:
			l.refer(from, objects.PersistentVolumeClaim, from.namespace, fmt.Sprintf("%s-%s", from.name, volume.Name))
		}
	}
	made := map[string]string{}
	for _, status := range pod.Status.ResourceClaimStatuses {
		if status.ResourceClaimName != nil {
			made[status.Name] = *status.ResourceClaimName
		}
	}
	for _, claim := range pod.Spec.ResourceClaims {
		switch name := made[claim.Name]; {
		case claim.ResourceClaimName != nil:
			l.refer(from, objects.ResourceClaim, from.namespace, *claim.ResourceClaimName)
		case name != "":
			l.refer(from, objects.ResourceClaim, from.namespace, name)
		case claim.ResourceClaimTemplateName != nil:
			l.refer(from, objects.ResourceClaimTemplate, from.namespace, *claim.ResourceClaimTemplateName)
		}
	}
}

func (l *lacking) claim(from key, document []byte) {
	var claim struct{ Spec v1.PersistentVolumeClaimSpec }
	if json.Unmarshal(document, &claim) != nil {
		return
	}
	l.refer(from, objects.PersistentVolume, "", claim.Spec.VolumeName)
	if name := claim.Spec.StorageClassName; name != nil && claim.Spec.VolumeName == "" {
		l.refer(from, objects.StorageClass, "", *name)
	}
}

// volume: without its CSINode, a node takes any number of a driver's volumes.
func (l *lacking) volume(from key, document []byte) {
	var volume struct{ Spec v1.PersistentVolumeSpec }
	if json.Unmarshal(document, &volume) == nil && volume.Spec.CSI != nil && !l.kinds[csiNode] {
		l.need(from, csiNode)
	}
}

// devices: without ResourceSlices, no node has the devices of a claim.
func (l *lacking) devices(from key, document []byte) {
	var claim struct{ Spec resourceapi.ResourceClaimSpec }
	if json.Unmarshal(document, &claim) != nil {
		return
	}
	for _, request := range claim.Spec.Devices.Requests {
		if request.Exactly != nil {
			l.refer(from, deviceClass, "", request.Exactly.DeviceClassName)
		}
		for _, alternative := range request.FirstAvailable {
			l.refer(from, deviceClass, "", alternative.DeviceClassName)
		}
	}
	if !l.kinds[resourceSlice] {
		l.need(from, resourceSlice)
	}
}
