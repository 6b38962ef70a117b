package simulation

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// mostShared bounds the lists that sharing knows.
const mostShared = 4096

// sharing holds one of all equal lists of resources. A workload's pods request the same resources,
// and a list takes 640 bytes. Objects of a cluster never change, so pods can share their lists.
type sharing map[string]v1.ResourceList

func (s sharing) pod(pod *v1.Pod) {
	for _, containers := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			resources := &containers[i].Resources
			resources.Requests, resources.Limits = s.one(resources.Requests), s.one(resources.Limits)
		}
	}
}

// one returns the list itself, or the earlier one that equals it.
func (s sharing) one(list v1.ResourceList) v1.ResourceList {
	if len(list) == 0 {
		return list
	}
	var names []string
	for name, quantity := range list {
		names = append(names, string(name)+"="+quantity.String())
	}
	slices.Sort(names)
	key := strings.Join(names, ",")
	if known, ok := s[key]; ok {
		return known
	}
	if len(s) == mostShared {
		clear(s)
	}
	s[key] = list
	return list
}
