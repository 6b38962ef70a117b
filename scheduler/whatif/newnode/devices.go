package newnode

import (
	"cmp"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	nodeaffinity "k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"kube-scheduler-simulator/scheduler/explain"
)

// pool is the newest generation of a pool of devices.
type pool struct {
	driver, name string
	slices       []*resourcev1.ResourceSlice
	// shared: the pool is not the one node's alone.
	shared bool
}

func (p *pool) complete() bool {
	return int64(len(p.slices)) == p.slices[0].Spec.Pool.ResourceSliceCount
}

// findPools returns the pools of each node: those with a slice, or a device, that only the node reaches.
func (s *Survey) findPools() map[string][]*pool {
	type key struct{ driver, name string }
	all := map[key]*pool{}
	owners := map[key][]string{}
	for _, slice := range list[*resourcev1.ResourceSlice](s, sliceKind) {
		k := key{slice.Spec.Driver, slice.Spec.Pool.Name}
		p := all[k]
		if p == nil || p.slices[0].Spec.Pool.Generation < slice.Spec.Pool.Generation {
			p = &pool{driver: k.driver, name: k.name}
			all[k], owners[k] = p, nil
		} else if p.slices[0].Spec.Pool.Generation > slice.Spec.Pool.Generation {
			continue
		}
		p.slices = append(p.slices, slice)
		switch {
		case slice.Spec.NodeName != nil:
			owners[k] = append(owners[k], *slice.Spec.NodeName)
		case slice.Spec.PerDeviceNodeSelection != nil && *slice.Spec.PerDeviceNodeSelection:
			p.shared = true
			for i := range slice.Spec.Devices {
				if node := slice.Spec.Devices[i].NodeName; node != nil {
					owners[k] = append(owners[k], *node)
				}
			}
		default:
			p.shared = true
		}
	}
	out := map[string][]*pool{}
	for k, p := range all {
		slices.SortFunc(p.slices, func(a, b *resourcev1.ResourceSlice) int { return cmp.Compare(a.Name, b.Name) })
		slices.Sort(owners[k])
		nodes := slices.Compact(owners[k])
		p.shared = p.shared || len(nodes) > 1
		for _, node := range nodes {
			out[node] = append(out[node], p)
		}
	}
	for _, pools := range out {
		slices.SortFunc(pools, func(a, b *pool) int { return cmp.Or(cmp.Compare(a.driver, b.driver), cmp.Compare(a.name, b.name)) })
	}
	return out
}

// brought reports whether a new node comes with a pool like this one.
func (p *pool) brought() bool { return !p.shared && p.complete() }

func (s *Sample) slices(name string) []runtime.Object {
	var out []runtime.Object
	for _, p := range s.survey.pools()[s.like.Name] {
		if !p.brought() {
			continue
		}
		for _, from := range p.slices {
			spec := *from.Spec.DeepCopy()
			spec.NodeName = &name
			spec.Pool.Name = rename(p.name, s.like.Name, name)
			for i := range spec.Devices {
				spec.Devices[i].Taints = nil // They are about the health of one device.
			}
			out = append(out, &resourcev1.ResourceSlice{
				TypeMeta:   metav1.TypeMeta{APIVersion: sliceKind.GroupVersion().String(), Kind: sliceKind.Kind},
				ObjectMeta: metav1.ObjectMeta{Name: rename(from.Name, s.like.Name, name), Labels: from.DeepCopy().Labels},
				Spec:       spec,
			})
		}
	}
	return out
}

// unknownDevices returns the pools of the node of which new nodes may bring something.
func (s *Sample) unknownDevices() []Unknown {
	var out []Unknown
	for _, p := range s.survey.pools()[s.like.Name] {
		switch {
		case p.shared:
			out = append(out, Unknown{names.DynamicResources, explain.DevicesShared{Like: s.like.Name, Driver: p.driver, Pool: p.name}})
		case !p.complete():
			out = append(out, Unknown{names.DynamicResources, explain.DevicesIncomplete{Like: s.like.Name, Driver: p.driver, Pool: p.name}})
		}
	}
	probed := Like(s.like, probe)
	for _, slice := range list[*resourcev1.ResourceSlice](s.survey, sliceKind) {
		if slice.Spec.NodeSelector == nil {
			continue
		}
		selector, err := nodeaffinity.NewNodeSelector(slice.Spec.NodeSelector)
		if err == nil && selector.Match(s.like) && !selector.Match(probed) {
			out = append(out, Unknown{names.DynamicResources, explain.DevicesShared{Like: s.like.Name, Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name}})
		}
	}
	return out
}
