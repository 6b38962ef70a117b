package coscheduling

import (
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/pluginfact"
	"kube-scheduler-simulator/scheduler/result"
)

type facts struct {
	plugin *Plugin
	state  fwk.CycleState
}

func (p *Plugin) newFacts(state fwk.CycleState) facts { return facts{p, state} }

func (f facts) set(key, value string) { pluginfact.Record(f.state, Name, key, value) }

func (f facts) number(key string, n int) { f.set(key, strconv.Itoa(n)) }

func (f facts) at(key string, t time.Time) { f.set(key, t.UTC().Format(time.RFC3339Nano)) }

func (f facts) queue(pod *v1.Pod) {
	if at, failed, grouped := f.plugin.groupSince(pod); grouped {
		f.at(result.GroupSince, at)
		f.set(result.GroupSinceFailure, strconv.FormatBool(failed))
	}
}

func (f facts) group(pod *v1.Pod, least int) {
	f.set(result.GroupKey, keyOf(pod))
	f.number(result.GroupMinMember, least)
}

func (f facts) members(pod *v1.Pod, least int, siblings []*v1.Pod) {
	if !pluginfact.Recorded(f.state) {
		return
	}
	f.group(pod, least)
	f.number(result.GroupMembers, len(siblings))
	if gated := countGated(siblings); gated > 0 {
		f.number(result.GroupGated, gated)
	}
	bound := 0
	for _, sibling := range siblings {
		if sibling.Spec.NodeName != "" {
			bound++
		}
	}
	f.number(result.GroupBound, bound)
	f.plugin.mu.Lock()
	assigned := len(f.plugin.memory(keyOf(pod)).assigned)
	waiting := 0
	for _, sibling := range siblings {
		if _, waits := f.plugin.waiting[sibling.UID]; waits {
			waiting++
		}
	}
	f.plugin.mu.Unlock()
	f.number(result.GroupAssigned, assigned)
	f.number(result.GroupWaiting, waiting)
}

// maxNames bounds the pods that a fact names.
const maxNames = 10

// sentBack records the members that the plugin rejected because of this pod.
func (f facts) sentBack(names []string) {
	f.number(result.GroupSentBackCount, len(names))
	if len(names) > 0 {
		slices.Sort(names)
		f.set(result.GroupSentBack, strings.Join(names[:min(len(names), maxNames)], ", "))
	}
}
