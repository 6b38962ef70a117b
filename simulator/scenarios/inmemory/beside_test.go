package inmemory

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// play runs the steps of a scenario on two nodes of 4 CPUs, and fails the test for each expectation that does not hold.
func play(t *testing.T, head, steps string) *scenario.Result {
	t.Helper()
	s, err := scenario.Load(t.Context(), []byte(`apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: test}
`+head+`steps:
- create:
    count: 2
    template: {apiVersion: v1, kind: Node, metadata: {name: 'node-${i+1}'}, status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}}
`+steps), scenario.Options{File: "test.yaml", Parse: config.Parse})
	if err != nil {
		t.Fatal(err)
	}
	r := scenario.Run(t.Context(), s, s.Matrix.Combinations()[0], scenario.RunOptions{Engine: Engine(nil), KeepPods: true})
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	for _, step := range r.Steps {
		for _, e := range step.Expectations {
			if !e.Passed {
				t.Errorf("%s: %+v", e.That, e)
			}
		}
	}
	return r
}

// gang is a group with its pods, of 2 CPUs each.
func gang(apiVersion, scheduler, name, least, pods string) string {
	return strings.NewReplacer("VERSION", apiVersion, "SCHEDULER", scheduler, "NAME", name, "LEAST", least, "PODS", pods).Replace(`
- create:
    objects:
    - {apiVersion: VERSION, kind: PodGroup, metadata: {name: NAME, namespace: default}, spec: {minMember: LEAST}}
- create:
    count: PODS
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: 'NAME-${i}', labels: {job: NAME}, annotations: {scheduling.k8s.io/group-name: NAME}}
      spec:
        schedulerName: SCHEDULER
        containers: [{name: main, image: main, resources: {requests: {cpu: "2", memory: 1Gi}}}]
`)
}

const (
	ofVolcano   = "scheduling.volcano.sh/v1beta1"
	ofKubeBatch = "scheduling.incubator.k8s.io/v1alpha1"
)

// A scenario's pods go to the scheduler that they name. Each pod has decisions, with its scheduler as the profile.
func TestPodsChooseTheirScheduler(t *testing.T) {
	loose := func(scheduler, name string) string {
		return `
- create:
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: ` + name + `, labels: {job: ` + name + `}}
      spec:
        schedulerName: ` + scheduler + `
        containers: [{name: main, image: main, resources: {requests: {cpu: "1", memory: 1Gi}}}]
`
	}
	play(t, "", gang(ofVolcano, "volcano", "v", "2", "2")+loose("kube-batch", "k")+loose("poseidon", "f")+loose("default-scheduler", "d")+`
- wait: settled
- expect:
  - that: pods.size() == 5 && pods.all(p, p.node != "" && p.phase == "Running")
  - that: last("v-0").profile == "volcano" && last("v-0").outcome == "scheduled" && last("v-0").attempt == 1
  - that: last("k").profile == "kube-batch" && last("f").profile == "poseidon" && last("d").profile == "default-scheduler"
  - that: nodes.all(n, n.requested.cpu <= 4.0)
  - that: object("PodGroup.scheduling.volcano.sh", "v").status.phase == "Running"
`)
}

// Session schedulers bind a gang as a whole or not at all, and once room has come, the gang starts.
func TestGangsWaitForRoom(t *testing.T) {
	for scheduler, version := range map[string]string{"kube-batch": ofKubeBatch, "volcano": ofVolcano} {
		play(t, "", gang(version, scheduler, "big", "5", "5")+`
- wait: settled
- expect:
  - that: pods.all(p, p.node == "")
  - that: last("big-0").outcome == "unschedulable"
  - that: object("PodGroup.`+strings.Split(version, "/")[0]+`", "big").status.conditions[0].reason == "NotEnoughResources"
- create:
    template: {apiVersion: v1, kind: Node, metadata: {name: node-3}, status: {allocatable: {cpu: "4", memory: 16Gi, pods: "110"}}}
- wait: settled
- expect:
  - that: pods.all(p, p.node != "")
`)
	}
}

// Volcano's controller makes the group of pods that name none, with the minimum that their controller's annotation says.
func TestVolcanoMakesGroups(t *testing.T) {
	play(t, "", `
- create:
    objects:
    - apiVersion: apps/v1
      kind: ReplicaSet
      metadata: {name: web, namespace: default, annotations: {scheduling.volcano.sh/group-min-member: "3"}}
      spec:
        replicas: 3
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            schedulerName: volcano
            containers: [{name: main, image: main, resources: {requests: {cpu: "1", memory: 1Gi}}}]
- wait: settled
- expect:
  - that: pods.size() == 3 && pods.all(p, p.node != "")
  - that: objects("PodGroup.scheduling.volcano.sh").size() == 1
  - that: objects("PodGroup.scheduling.volcano.sh")[0].spec.minMember == 3
  - that: objects("PodGroup.scheduling.volcano.sh")[0].spec.minResources.cpu == "3"
  - that: objects("PodGroup.scheduling.volcano.sh")[0].status.phase == "Running"
- delete: {kind: ReplicaSet, name: web}
- wait: settled
- expect:
  - that: objects("PodGroup.scheduling.volcano.sh").size() == 0
`)
}

// kube-scheduler gets the pods that name one of its profiles, even if another scheduler serves that name.
func TestAProfileComesFirst(t *testing.T) {
	play(t, `matrix:
  configuration:
  - {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{schedulerName: volcano}]}
`, gang(ofVolcano, "volcano", "v", "9", "2")+`
- wait: settled
- expect:
  - that: pods.all(p, p.node != "")
  - that: last("v-0").profile == "volcano" && "NodeResourcesFit/node-1" in last("v-0").scores
- configure: default
- wait: settled
`)
}

// The three further schedulers and kube-scheduler share one cluster for a while: nothing is overcommitted, no pod is bound twice, and
// the same seed gives the same run.
func TestRunsBesideAreDeterministic(t *testing.T) {
	arrivals := ""
	for _, scheduler := range []string{"default-scheduler", "kube-batch", "poseidon"} {
		arrivals += `
- arrive:
    rate: 1/s
    random: true
    for: 20s
    lifetime: 8s
    template:
      apiVersion: v1
      kind: Pod
      metadata: {name: '` + scheduler + `-${i}'}
      spec:
        schedulerName: ` + scheduler + `
        containers: [{name: main, image: main, resources: {requests: {cpu: '${1 + i % 2}', memory: 1Gi}}}]
`
	}
	run := func() []byte {
		r := play(t, "", gang(ofVolcano, "volcano", "v", "2", "4")+arrivals+`
- advance: 5s
- expect:
  - that: nodes.all(n, n.requested.cpu <= 4.0)
- wait: settled
- expect:
  - that: nodes.all(n, n.requested.cpu <= 4.0)
  - that: pods.all(p, decisions.filter(d, d.pod == p.name && d.outcome == "scheduled").size() <= 1)
`)
		r.DurationSeconds = 0
		for i := range r.Steps {
			r.Steps[i].DurationSeconds = 0
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if diff := cmp.Diff(string(run()), string(run())); diff != "" {
		t.Error(diff)
	}
}
