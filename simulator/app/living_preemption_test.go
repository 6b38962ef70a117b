package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// preemption makes room for a pod whose class preempts, but not for a pod whose class never does. The
// victim gets its grace period.
func preemption(t *testing.T, k *kubectl) {
	const pod = `
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  nodeSelector: {pool: %s}
  priorityClassName: "%s-NAME"
  terminationGracePeriodSeconds: 2
  containers: [{name: main, image: example.com/main, resources: {requests: {cpu: "3"}}}]
`
	k.nodes(t, "a-1")
	k.apply(t, `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: "%s-low"}
value: 10
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: "%s-patient"}
value: 1000
preemptionPolicy: Never
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: "%s-high"}
value: 100
`)
	clustertest.EventuallyTrue(t, "admission sees the priority classes", func() bool {
		_, err := k.Run("run", "probe", "--image=example.com/main", "--dry-run=server",
			"--overrides="+`{"spec": {"priorityClassName": "`+k.namespace+`-high"}}`)
		return err == nil
	})
	k.apply(t, strings.ReplaceAll(pod, "NAME", "low"))
	k.prints(t, "Running", "{.status.phase}", "pod", "low")
	low := k.cycle(t, "low", result.Scheduled)

	k.apply(t, strings.ReplaceAll(pod, "NAME", "patient"))
	patient := k.cycle(t, "patient", result.Unschedulable)
	never := postFilterOf(patient, "DefaultPreemption")
	if p := patient.Preemption; p == nil || p.Ineligible != result.NeverPreempts || len(p.Candidates) > 0 || patient.NominatedNode != "" || never == nil || !strings.Contains(strings.Join(never.Reasons, " "), "preemptionPolicy=Never") {
		t.Errorf("preemption %+v, nominated %q, PostFilter %+v", patient.Preemption, patient.NominatedNode, never)
	}
	k.do(t, "delete", "pod", "patient")

	k.apply(t, strings.ReplaceAll(pod, "NAME", "high"))
	// The scheduler evicts in the background, and may begin after the end of the cycle.
	var high *result.Cycle
	clustertest.EventuallyTrue(t, "the cycle tells of its evictions", func() bool {
		high = k.cycle(t, "high", result.Unschedulable)
		return high.Preemption != nil && high.Preemption.Evictions != nil
	})
	node := k.namespace + "-a-1"
	want := &result.Preemption{Chosen: node, Candidates: []result.Candidate{{Node: node, Victims: []result.Victim{{Pod: low.Pod, Priority: 10}}}}}
	if e := high.Preemption.Evictions; e.Victims != 1 {
		t.Errorf("evictions %+v", e)
	}
	high.Preemption.Evictions = nil // a later version of the cycle has their outcome
	for i := range high.Preemption.Candidates {
		for j := range high.Preemption.Candidates[i].Victims {
			high.Preemption.Candidates[i].Victims[j].StartTime = nil
		}
	}
	if diff := cmp.Diff(want, high.Preemption); diff != "" || high.NominatedNode != node {
		t.Errorf("nominated %q\n%s", high.NominatedNode, diff)
	}
	// The victim stops as in a real cluster, and the pod takes its place.
	k.prints(t, "PreemptionByScheduler Running", `{.status.conditions[?(@.type=="DisruptionTarget")].reason} {.status.phase}`, "pod", "low")
	k.prints(t, node, "{.status.nominatedNodeName}", "pod", "high")
	k.shows(t, `
NAME READY STATUS RESTARTS AGE
high 1/1 Running 0 …s`, "pods")
	second := k.cycle(t, "high", result.Scheduled)
	k.selected(t, second, "a-1")
	if q := second.Queue; q == nil || q.RequeuedBy == nil || q.RequeuedBy.Name != "low" {
		t.Errorf("the victim's deletion did not requeue it: %+v", q)
	}
}

func postFilterOf(c *result.Cycle, plugin string) *result.PluginResult {
	for i := range c.PostFilter {
		if c.PostFilter[i].Plugin == plugin {
			return &c.PostFilter[i]
		}
	}
	return nil
}
