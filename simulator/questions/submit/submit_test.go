package submit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/questions/answertest"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
	"kube-scheduler-simulator/simulator/questions/why"
)

// queues are two ClusterQueues of a cohort: a has 4 CPU and b lends 4, both on the flavor small, whose nodes have 8 CPU in
// all. a may also use the flavor spot, which is tainted.
const queues = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: small}
spec: {nodeLabels: {size: small}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: spot}
spec: {nodeLabels: {size: spot}, nodeTaints: [{key: spot, value: "true", effect: NoSchedule}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  cohortName: all
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: small
      resources: [{name: cpu, nominalQuota: 4}]
    - name: spot
      resources: [{name: cpu, nominalQuota: 16}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: b}
spec:
  cohortName: all
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: small
      resources: [{name: cpu, nominalQuota: 4}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a, namespace: default}
spec: {clusterQueue: a}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: b, namespace: default}
spec: {clusterQueue: b}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 1000
---
`

func node(name, size, cpu string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {size: %s, kubernetes.io/hostname: %s}}\nstatus: {allocatable: {cpu: %q, pods: 20}, conditions: [{type: Ready, status: \"True\"}]}\n---\n", name, size, name, cpu)
}

// holds is a workload that was admitted some minutes ago, in the flavor small.
func holds(name, queue, cpu string, minutes int) string {
	at := time.Now().UTC().Add(-time.Duration(minutes) * time.Minute).Format(time.RFC3339)
	return fmt.Sprintf(`apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: job-%[1]s, namespace: default, uid: %[1]s, creationTimestamp: %[4]s, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: %[1]s, uid: j-%[1]s}]}
spec:
  queueName: %[2]s
  priority: 0
  podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: c, resources: {requests: {cpu: %[3]q}}}]}}}]
status:
  admission: {clusterQueue: %[2]s, podSetAssignments: [{name: main, count: 1, flavors: {cpu: small}, resourceUsage: {cpu: %[3]q}}]}
  conditions:
  - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: "", lastTransitionTime: %[4]s}
  - {type: Admitted, status: "True", reason: Admitted, message: "", lastTransitionTime: %[4]s}
---
`, name, queue, cpu, at)
}

// ended is a workload that ran for some minutes.
func ended(name, queue string, minutes int) string {
	end := time.Now().UTC().Add(-time.Hour)
	return strings.Replace(holds(name, queue, "1", 60+minutes), "  conditions:\n", fmt.Sprintf("  conditions:\n  - {type: Finished, status: \"True\", reason: Succeeded, message: \"\", lastTransitionTime: %s}\n", end.Format(time.RFC3339)), 1)
}

// job wants pods of one container.
func job(name, queue string, pods int, cpu string, more ...string) string {
	labels := ""
	if queue != "" {
		labels = fmt.Sprintf("kueue.x-k8s.io/queue-name: %s", queue)
	}
	spec := ""
	for _, m := range more {
		if strings.HasPrefix(m, "kueue.") {
			labels += ", " + m
		} else {
			spec += "      " + m + "\n"
		}
	}
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: {name: %s, labels: {%s}}
spec:
  parallelism: %d
  completions: %d
  template:
    spec:
      restartPolicy: Never
%s      containers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]
---
`, name, labels, pods, pods, spec, cpu)
}

func ask(t *testing.T, state, objects string) *submit.Answers {
	t.Helper()
	answers, err := answertest.Open(t, state).Submit(t.Context(), submit.Question{Objects: []hypothesis.Document{hypothesis.Document(objects)}, Runs: 20})
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// TestHalves: each of the halves says yes or no by itself.
func TestHalves(t *testing.T) {
	roomy := queues + node("n1", "small", "4") + node("n2", "small", "4")
	for _, tc := range []struct {
		name, state, job string
		verdict          submit.Verdict
		tier             string
		fit, pods        int
		says             []string
	}{
		{"both", roomy, job("w", "a", 2, "2"), submit.Admitted, "", 2, 2, []string{"would be admitted now, in flavor small", "its 2 pods fit"}},
		{"quota, but not all nodes", queues + node("n1", "small", "3"), job("w", "a", 4, "1"), submit.Admitted, "", 3, 4, []string{"would be admitted now", "1 of 4 pods would find no node", "Insufficient cpu"}},
		{"quota, and no node of the flavor", queues + node("n1", "large", "64"), job("w", "a", 1, "1"), submit.Admitted, "", 0, 1, []string{"its pod would find no node"}},
		{"nodes, but no quota", roomy + holds("v", "a", "4", 5) + holds("u", "b", "4", 5), job("w", "a", 1, "1"), submit.Waits, "WaitingForQuota", 1, 1, []string{"The nodes have room, the quota does not", "number 1 of 1 in a"}},
		{"nodes, but never quota", roomy, job("w", "b", 3, "3"), submit.Never, "ExceedsMaxQuota", 2, 3, []string{"never be admitted as it is written", "maximum capacity (8)"}},
		{"neither", queues + node("n1", "small", "1") + holds("v", "a", "4", 5) + holds("u", "b", "4", 5), job("w", "a", 1, "2"), submit.Waits, "WaitingForQuota", 0, 1, []string{"Once admitted, its pod would find no node"}},
		{"borrowed", roomy, job("w", "a", 3, "2"), submit.Admitted, "", 3, 3, []string{"borrowing 2 cpu from b"}},
		{"the other way to a flavor", roomy + holds("v", "b", "4", 5), job("w", "b", 1, "4", "nodeSelector: {size: huge}"), submit.Never, "NoMatchingFlavor", 0, 1, []string{"flavor small doesn't match node affinity"}},
		{"no queue", roomy, job("w", "", 2, "3"), submit.Admitted, "", 2, 2, []string{"no queue holds it back"}},
		{"no queue, and no node", roomy, job("w", "", 3, "3"), submit.Waits, "", 2, 3, []string{"would not start: 1 of 3 pods would find no node"}},
		{"no queue, and never a node", roomy, job("w", "", 1, "30"), submit.Never, "", 0, 1, []string{"Insufficient cpu"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			answers := ask(t, tc.state, tc.job)
			a := answers.Items[0]
			if a.Verdict != tc.verdict || a.Reason.Tier != tc.tier || a.Nodes.Fit != tc.fit || a.Nodes.Pods != tc.pods {
				t.Errorf("it is %s by %q, %d of %d pods; want %s by %q, %d of %d", a.Verdict, a.Reason.Tier, a.Nodes.Fit, a.Nodes.Pods, tc.verdict, tc.tier, tc.fit, tc.pods)
			}
			for _, say := range tc.says {
				if !strings.Contains(a.Sentence, say) {
					t.Errorf("it does not say %q: %s", say, a.Sentence)
				}
			}
			if t.Failed() {
				text, _ := json.MarshalIndent(answers, "", " ")
				t.Logf("%s", text)
			}
		})
	}
}

// Work of several pod sets. The JobSet says nothing of replicas, which means one.
const (
	aJobSet = `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: w, labels: {kueue.x-k8s.io/queue-name: a}}
spec:
  replicatedJobs:
  - name: driver
    template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]}}}}
  - name: workers
    replicas: 2
    template: {spec: {parallelism: 3, completions: 3, template: {spec: {restartPolicy: Never, containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]}}}}
`
	aLeaderWorkerSet = `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: w, labels: {kueue.x-k8s.io/queue-name: b}}
spec:
  replicas: 3
  leaderWorkerTemplate: {size: 3, workerTemplate: {spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]}}}
`
	anAppWrapper = `apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {name: w, labels: {kueue.x-k8s.io/queue-name: a}}
spec:
  components:
  - template: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {restartPolicy: Never, containers: [{name: c, image: c, resources: {requests: {cpu: 5}}}]}}
  - template: {apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 2, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]}}}}
`
)

// TestWorkOfSeveralPodSets: all pods of it are asked about.
func TestWorkOfSeveralPodSets(t *testing.T) {
	roomy := queues + node("n1", "small", "4") + node("n2", "small", "4")
	for _, tc := range []struct {
		name, objects string
		verdict       submit.Verdict
		fit, pods     int
		want          string
	}{
		{"JobSet", aJobSet, submit.Admitted, 7, 7, "JobSet default/w would be admitted now"},
		{"LeaderWorkerSet", aLeaderWorkerSet, submit.Waits, 8, 9, "LeaderWorkerSet default/w would wait"},
		{"AppWrapper", anAppWrapper, submit.Admitted, 2, 3, "1 of 3 pods would find no node"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answers := ask(t, roomy, tc.objects)
			a := answers.Items[0]
			if len(answers.Items) != 1 || a.Verdict != tc.verdict || a.Nodes.Fit != tc.fit || a.Nodes.Pods != tc.pods || !strings.Contains(a.Sentence, tc.want) {
				t.Errorf("%d items; it is %s, %d of %d pods find nodes: %s", len(answers.Items), a.Verdict, a.Nodes.Fit, a.Nodes.Pods, a.Sentence)
			}
		})
	}
}

// TestBadInput: each is one clear sentence.
func TestBadInput(t *testing.T) {
	roomy := queues + node("n1", "small", "4")
	for _, tc := range []struct{ name, state, objects, want string }{
		{"an empty file", roomy, "", "there is nothing to ask about: want a Job"},
		{"no workload", roomy, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", "ConfigMap x is no workload: want a Job"},
		{"no YAML", roomy, "][", "not YAML"},
		{"another kind of job", roomy, "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x}\n", "CronJob x: want a Job"},
		{"no containers", roomy, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\n", "Job x: it has no containers"},
		{"a wrong field", roomy, strings.Replace(job("w", "a", 1, "1"), "parallelism", "paralelism", 1), "unknown field"},
		{"a priority class that does not exist", roomy, job("w", "a", 1, "1", "kueue.x-k8s.io/priority-class: none"), "names the WorkloadPriorityClass none, which does not exist"},
		{"a gang without its PodGroup", roomy, job("w", "", 1, "1", "schedulingGroup: {podGroupName: none}"), "its PodGroup default/none of scheduling.k8s.io is neither in the cluster nor among the objects"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := answertest.Open(t, tc.state).Submit(t.Context(), submit.Question{Objects: []hypothesis.Document{hypothesis.Document(tc.objects)}})
			refused, ok := errors.AsType[*hypothesis.Refused](err)
			if !ok || !strings.Contains(refused.Message, tc.want) {
				t.Errorf("it says %v, want %q", err, tc.want)
			}
		})
	}
}

// TestSetupMistakes: the queues are wrong, not the file.
func TestSetupMistakes(t *testing.T) {
	roomy := queues + node("n1", "small", "4")
	loop := strings.Replace(roomy, "cohortName: all", "cohortName: x", 1) + `
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: x}
spec: {parentName: up}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: up}
spec: {parentName: x}
`
	for _, tc := range []struct {
		name, state, job string
		verdict          submit.Verdict
		tier, want       string
	}{
		{"a queue that does not exist", roomy, job("w", "none", 1, "1"), submit.Never, "Misconfigured", "LocalQueue none doesn't exist; the namespace default has a, b"},
		{"a queue without its ClusterQueue", roomy + "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: c}\nspec: {clusterQueue: none}\n", job("w", "c", 1, "1"), submit.Never, "Misconfigured", "ClusterQueue none doesn't exist; LocalQueue c leads to it"},
		{"a cohort cycle", loop, job("w", "a", 1, "1"), submit.Waits, "Suspended", "ClusterQueue a: Can't admit new workloads: belongs to a cohort with a cycle"},
		{"a resource without quota", roomy, strings.Replace(job("w", "a", 1, "1"), "{requests: {", "{limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 1, ", 1), submit.Never, "NoMatchingFlavor", "resource nvidia.com/gpu unavailable in ClusterQueue"},
		{"a stopped queue", strings.Replace(roomy, "metadata: {name: a}\nspec:", "metadata: {name: a}\nspec:\n  stopPolicy: Hold", 1), job("w", "a", 1, "1"), submit.Waits, "Suspended", "ClusterQueue a: Can't admit new workloads: is stopped"},
		{"no Kueue", node("n1", "small", "4"), job("w", "a", 1, "1"), submit.Admitted, "", "No queue holds it back"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			answers := ask(t, tc.state, tc.job)
			a := answers.Items[0]
			if a.Verdict != tc.verdict || a.Reason.Tier != tc.tier || !strings.Contains(a.Reason.Text, tc.want) {
				t.Errorf("it is %s by %q: %s; want %s by %q: %s", a.Verdict, a.Reason.Tier, a.Reason.Text, tc.verdict, tc.tier, tc.want)
			}
			if tc.name == "no Kueue" && (len(answers.NotJudged) == 0 || !strings.Contains(answers.NotJudged[0].Text, "The cluster has no Kueue")) {
				t.Errorf("it does not say that the label has no effect: %+v", answers.NotJudged)
			}
		})
	}
}

// TestTiersStopAtTheFirst: what comes after is not said to pass.
func TestTiersStopAtTheFirst(t *testing.T) {
	a := ask(t, queues+node("n1", "small", "8")+holds("v", "a", "4", 5)+holds("u", "b", "3", 5), job("w", "a", 2, "1")).Items[0]
	var got []string
	for _, tier := range a.Tiers {
		got = append(got, fmt.Sprintf("%s %s: %s", tier.Name, tier.State, tier.Text))
	}
	want := []string{
		"Misconfigured passes: a leads to a", "Suspended passes: the queue is active", "NoMatchingFlavor passes: small matches", "ExceedsMaxQuota passes: 2 of 8 cpu",
		"WaitingForQuota stops: 1 cpu short", "WaitingForPreemptedWorkloads later: ", "TopologyPlacementFailed later: ", "WaitingForPodsReady later: ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]submit.Room{{Resource: "cpu", Flavor: "small", Asks: "2", Unused: "0", MayBorrow: "1", Short: "1", Capacity: "8"}}, a.Quota.Resources); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWithoutNodes: a cluster without nodes is said to be one.
func TestWithoutNodes(t *testing.T) {
	a := ask(t, queues, job("w", "a", 1, "1")).Items[0]
	if want := "its pod would find no node, because there is no node"; !strings.Contains(a.Sentence, want) {
		t.Errorf("%s, want %q", a.Sentence, want)
	}
}

func TestPreemption(t *testing.T) {
	// One pod of v has ended, which the scheduler does not know.
	pods := ""
	for _, phase := range []string{"Running", "Succeeded"} {
		pods += fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: v-%s, uid: v-%s, namespace: default, annotations: {kueue.x-k8s.io/workload: job-v}}\nspec: {nodeName: n1, containers: [{name: c, image: c, resources: {requests: {cpu: 4}}}]}\nstatus: {phase: %s}\n---\n", strings.ToLower(phase), phase, phase)
	}
	a := ask(t, queues+node("n1", "small", "4")+holds("v", "a", "4", 5)+holds("u", "b", "4", 5)+pods, job("w", "a", 1, "4", "kueue.x-k8s.io/priority-class: high")).Items[0]
	if a.Nodes.Fit != 1 {
		t.Errorf("the victim's pods have left, and it finds no node: %s", a.Nodes.Sentence)
	}
	if a.Verdict != submit.Waits || a.Reason.Tier != "WaitingForPreemptedWorkloads" || a.Reason.Number != 6 {
		t.Errorf("it is %s by %q", a.Verdict, a.Reason.Tier)
	}
	want := []submit.Victim{{Namespace: "default", Name: "job-v", ClusterQueue: "a", Reason: "InClusterQueue", Now: true, Runs: 20}}
	if diff := cmp.Diff(want, a.Preempts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// Whatever v takes to stop, up to its grace period.
	if s := a.Start; s.Started != s.Runs || s.Earliest == nil || time.Until(s.Latest.Time) > 31*time.Second {
		t.Errorf("it starts %+v", s)
	}
}

// TestStartRestsOnDurations: v has run 50 minutes of the 60 to 80 that its like took.
func TestStartRestsOnDurations(t *testing.T) {
	state := queues + node("n1", "small", "8") + holds("train-4", "a", "4", 50) + holds("u", "b", "4", 5) + ended("train-1", "a", 40) + ended("train-2", "a", 60) + ended("train-3", "a", 80) + ended("u-1", "b", 1000)
	a := ask(t, state, job("w", "a", 1, "4")).Items[0]
	s := a.Start
	if s.Started != 20 || s.Runs != 20 {
		t.Fatalf("it starts in %d of %d runs: %s", s.Started, s.Runs, s.Text)
	}
	for _, at := range []struct {
		what string
		got  time.Time
		want time.Duration
	}{{"earliest", s.Earliest.Time, 10 * time.Minute}, {"latest", s.Latest.Time, 30 * time.Minute}} {
		if off := time.Until(at.got) - at.want; off > 2*time.Second || off < -30*time.Second {
			t.Errorf("the %s start is off by %s", at.what, off)
		}
	}
	if !slices.Contains(s.RestsOn, submit.Durations{Of: "train in the queue default/a", Alike: "train", Queue: "default/a", Count: 3, Shortest: 2400, Longest: 4800}) {
		t.Errorf("it rests on %+v", s.RestsOn)
	}
	unseen := ask(t, queues+node("n1", "small", "8")+holds("v", "a", "4", 50)+holds("u", "b", "4", 5), job("w", "a", 1, "4"))
	if s := unseen.Items[0].Start; s.Earliest != nil || !strings.HasPrefix(s.Text, "Nobody can tell when it would start") {
		t.Errorf("nothing has finished, and it says %+v", s)
	}
	if notes := unseen.NotJudged; !slices.ContainsFunc(notes, func(n why.NotJudged) bool { return strings.Contains(n.Text, "default/job-v") }) {
		t.Errorf("it does not say whose end is unknown: %+v", notes)
	}
}

// TestEachCountsForTheNext: the first takes what the second would have had.
func TestEachCountsForTheNext(t *testing.T) {
	answers := ask(t, queues+node("n1", "small", "4")+node("n2", "small", "4"), job("w1", "a", 2, "3")+job("w2", "b", 1, "2")+job("w3", "b", 1, "1")+job("w4", "none", 1, "1"))
	var got []string
	for _, a := range answers.Items {
		got = append(got, fmt.Sprintf("%s %s %d/%d", a.Subject.Name, a.Verdict, a.Nodes.Fit, a.Nodes.Pods))
	}
	want := []string{"w1 admitted 2/2", "w2 admitted 0/1", "w3 waits 1/1", "w4 never 1/1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if want := "Of 4 jobs, 1 would start at once, 1 would be admitted and find no nodes for all of its pods, 1 would wait and 1 would never start as written."; answers.Sentence != want {
		t.Errorf("it says %q", answers.Sentence)
	}
	if got := answers.Summary.Asks["cpu"]; got != "10" {
		t.Errorf("all ask for %s CPU", got)
	}
}

// TestALocalQueueThatHasUsedMore: the older or more urgent job of one goes after that of another, and the answer says why.
func TestALocalQueueThatHasUsedMore(t *testing.T) {
	state := strings.Replace(queues, "metadata: {name: b}\nspec:\n", "metadata: {name: b}\nspec:\n  admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}\n", 1) + `
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: heavy, namespace: default}
spec: {clusterQueue: b}
status: {fairSharing: {weightedShare: 0, admissionFairSharingStatus: {consumedResources: {cpu: 2500m}, lastUpdate: 2026-01-01T00:00:00Z}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data: {controller_manager_config.yaml: "admissionFairSharing: {usageHalfLifeTime: 1h}"}
---
` + node("n1", "small", "16") + holds("big", "b", "8", 5)
	older := ask(t, state, job("older", "heavy", 1, "3")+job("younger", "b", 1, "2")).Items
	if first, second := older[0].Order, older[1].Order; first == nil || second == nil || first.Position != 1 || second.Position != 1 {
		t.Errorf("in order are %+v and %+v", first, second)
	}
	answers := ask(t, state, job("younger", "b", 1, "2")+job("urgent", "heavy", 1, "3", "kueue.x-k8s.io/priority-class: high"))
	const want = "LocalQueue default/heavy has used 2.5, and default/b, whose workload default/"
	if urgent := answers.Items[1]; urgent.Order == nil || urgent.Order.Position != 2 || !strings.Contains(urgent.Reason.Text, want) {
		t.Errorf("the urgent job is %+v, because %q", urgent.Order, urgent.Reason.Text)
	}
}

func TestChanges(t *testing.T) {
	state := queues + node("n1", "small", "8") + node("n2", "spot", "16") + holds("v", "a", "3", 5) + holds("u", "b", "2", 5)
	a := ask(t, state, job("w", "a", 2, "3")).Items[0]
	var got []string
	for _, c := range a.Changes {
		got = append(got, fmt.Sprintf("%s: %s (%d/%d)", c.Kind, c.Text, c.Fit, c.Pods))
	}
	want := []string{
		"pods: want 1 pod, as parallelism: 1 (1/1)", "request: request 1 cpu in each pod (2/2)", "flavor: tolerate spot=true:NoSchedule, for the flavor spot (2/2)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestGangs: the members are counted one by one, and the gang needs its minimum.
func TestGangs(t *testing.T) {
	native := func(least int) string {
		return fmt.Sprintf("apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: {schedulingPolicy: {gang: {minCount: %d}}}\n---\n", least)
	}
	cos := func(least int) string {
		return fmt.Sprintf("apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: g}\nspec: {minMember: %d}\n---\n", least)
	}
	member := func(i int) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: p%d, labels: {scheduling.x-k8s.io/pod-group: g}}\nspec: {containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]}\n---\n", i)
	}
	five := node("n1", "small", "3") + node("n2", "small", "2")
	for _, tc := range []struct {
		name, objects string
		verdict       submit.Verdict
		fit, needs    int
		want          string
	}{
		{"native, too few", native(6) + job("w", "", 8, "1", "schedulingGroup: {podGroupName: g}"), submit.Waits, 5, 6, "5 of 8 members would find a node, the gang needs 6"},
		{"native, enough", native(4) + job("w", "", 5, "1", "schedulingGroup: {podGroupName: g}"), submit.Admitted, 5, 4, "its 5 pods fit"},
		{"Coscheduling, too few", cos(6) + member(1) + member(2) + member(3) + member(4) + member(5) + member(6), submit.Waits, 5, 6, "5 of 6 members would find a node, the gang needs 6"},
		{"Coscheduling, enough", cos(3) + member(1) + member(2) + member(3), submit.Admitted, 3, 3, "its 3 pods fit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answers := ask(t, five, tc.objects)
			a := answers.Items[0]
			if len(answers.Items) != 1 || a.Verdict != tc.verdict || a.Nodes.Fit != tc.fit || a.Nodes.Needs != tc.needs || !strings.Contains(a.Sentence, tc.want) {
				t.Errorf("%d items; it is %s, %d find nodes and %d must: %s", len(answers.Items), a.Verdict, a.Nodes.Fit, a.Nodes.Needs, a.Sentence)
			}
		})
	}
}

func TestTopology(t *testing.T) {
	rack := func(name, rack, cpu string) string {
		return strings.Replace(node(name, "small", cpu), "{size: small,", "{size: small, rack: "+rack+",", 1)
	}
	state := strings.Replace(queues, "spec: {nodeLabels: {size: small}}", "spec: {nodeLabels: {size: small}, topologyName: racks}", 1) +
		"apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: racks}\nspec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}\n---\n" +
		rack("n1", "r1", "3") + rack("n2", "r2", "2") + rack("n3", "r2", "2")
	j := strings.Replace(job("w", "a", 2, "2"), "    spec:\n      restartPolicy", "    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}\n    spec:\n      restartPolicy", 1)
	a := ask(t, state, j).Items[0]
	if a.Verdict != submit.Admitted || a.Nodes.Fit != 2 {
		t.Fatalf("it is %s, with %d pods on %q: %s", a.Verdict, a.Nodes.Fit, a.Nodes.On, a.Sentence)
	}
	want := &submit.Topology{Level: "rack", PodSet: "main", Wants: 2, Domains: []submit.Domain{
		{Name: "r2", Nodes: 2, Fit: 2, Given: 2, Free: map[string]string{"cpu": "4"}, Needs: map[string]string{"cpu": "4"}},
		{Name: "r1", Nodes: 1, Fit: 1, Free: map[string]string{"cpu": "3"}, Needs: map[string]string{"cpu": "4"}},
	}}
	if diff := cmp.Diff(want, a.Topology); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// One that it preempts is in a rack, and leaves it.
	busy := strings.NewReplacer("flavors: {cpu: small}", "flavors: {cpu: small}, topologyAssignment: {levels: [kubernetes.io/hostname], slices: [{domainCount: 1, valuesPerLevel: [{universal: n2}], podCounts: {universal: 1}}]}",
		"count: 1, template", "count: 1, topologyRequest: {required: rack}, template").Replace(holds("v", "a", "2", 5))
	preempts := ask(t, state+busy, strings.Replace(j, "queue-name: a", "queue-name: a, kueue.x-k8s.io/priority-class: high", 1)).Items[0]
	want.Domains[0].Fit, want.Domains[0].FitThen, want.Domains[0].Free["cpu"] = 1, new(2), "2"
	want.Domains[1].FitThen = new(1)
	if diff := cmp.Diff(want, preempts.Topology); len(preempts.Preempts) != 1 || diff != "" {
		t.Errorf("it preempts %+v; -want +got:\n%s", preempts.Preempts, diff)
	}
	// One that only waits has no place yet.
	waits := ask(t, state+busy, j).Items[0]
	if waits.Verdict != submit.Waits || waits.Topology == nil || slices.ContainsFunc(waits.Topology.Domains, func(d submit.Domain) bool { return d.Given > 0 || d.FitThen != nil }) {
		t.Errorf("it is %s (%+v), and the domains are %+v", waits.Verdict, waits.Reason, waits.Topology)
	}
	never := ask(t, state, strings.Replace(strings.Replace(j, `cpu: "2"`, `cpu: "2.5"`, 1), "queue-name: a", "queue-name: b", 1)).Items[0]
	if never.Verdict != submit.Never || never.Reason.Tier != "TopologyPlacementFailed" || never.Reason.Number != 7 {
		t.Errorf("two pods of 2.5 CPU fit in no rack, and it is %s by %s", never.Verdict, never.Reason.Tier)
	}
}

func TestAsksOfOneAreAnsweredAlone(t *testing.T) {
	answers := ask(t, queues+node("n1", "small", "8"), job("w", "a", 1, "1"))
	var out strings.Builder
	if err := submit.Encode(&out, answers, false); err != nil {
		t.Fatal(err)
	}
	var one struct {
		APIVersion, Kind, Verdict string
		Nodes                     struct{ Fit, Pods int }
	}
	if err := json.Unmarshal([]byte(out.String()), &one); err != nil || one.APIVersion != submit.APIVersion || one.Kind != submit.Kind || one.Verdict != "admitted" || one.Nodes.Fit != 1 {
		t.Errorf("%v in %s", err, out.String())
	}
}

// full are queues without room: train-4, of whose like three took 40 to 80 minutes, ends in 10 to 30 minutes, and u does not.
func full() string {
	return queues + node("n1", "small", "8") + holds("train-4", "a", "4", 50) + holds("u-2", "b", "4", 5) +
		ended("train-1", "a", 40) + ended("train-2", "a", 60) + ended("train-3", "a", 80) + ended("u-1", "b", 1000)
}

// TestOutlook: the lanes and the reach are those of the runs.
func TestOutlook(t *testing.T) {
	a := ask(t, full(), job("w", "a", 1, "4")).Items[0]
	out := a.Outlook
	if out == nil || len(out.Lanes) != 2 {
		t.Fatalf("it shows %+v", out)
	}
	runs, waits := out.Lanes[0], out.Lanes[1]
	if runs.Job != "train-4" || runs.Position != 0 || runs.Asks != "4" || !waits.Self || waits.Position != 1 {
		t.Errorf("the lanes are %+v", out.Lanes)
	}
	// The job gets its quota the moment that train-4 ends.
	if diff := cmp.Diff([]any{a.Start.Earliest, a.Start.Latest}, []any{runs.Earliest, runs.Latest}); diff != "" {
		t.Errorf("train-4 ends, and w starts: -want +got:\n%s", diff)
	}
	r := out.Reach
	if r.ClusterQueue != "a" || r.Resource != "cpu" || r.Needs != "4" || len(r.Points) == 0 {
		t.Fatalf("in reach is %+v", r)
	}
	if first := r.Points[0]; first.Low != "0" || first.High != "0" {
		t.Errorf("nothing is in reach, and it shows %+v", first)
	}
	if !slices.ContainsFunc(r.Points, func(p submit.ReachPoint) bool {
		return p.High == "4" && p.At.After(a.Start.Earliest.Add(-2*time.Minute))
	}) {
		t.Errorf("4 CPU come into reach, and it shows %+v", r.Points)
	}
	// From its start on, the job has what it needs.
	if late := r.Points[len(r.Points)-1]; late.At.After(out.Until.Time) || late.Low != "4" || late.Median != "4" {
		t.Errorf("the job has all that it needs in the end, and it shows %+v", late)
	}
}

// TestReachOfAPreemptor: those that it preempts stop at different moments of the runs, and yet the picture shows that it starts.
func TestReachOfAPreemptor(t *testing.T) {
	full := queues + node("n1", "small", "8") + holds("v", "a", "4", 5) + holds("u", "b", "4", 5)
	a := ask(t, full, job("w", "a", 2, "2", "kueue.x-k8s.io/priority-class: high")).Items[0]
	points := a.Outlook.Reach.Points
	if first, last := points[0], points[len(points)-1]; first.Median != "0" || last.Median != a.Outlook.Reach.Needs || last.Low != a.Outlook.Reach.Needs {
		t.Errorf("it needs %s and starts by %s; in reach are %+v at first and %+v at last", a.Outlook.Reach.Needs, a.Start.Latest, first, last)
	}
}

func TestInReach(t *testing.T) {
	state := queues + node("n1", "small", "5") + holds("v", "a", "2", 5) + holds("u", "b", "3", 5)
	for _, tc := range []struct {
		job          string
		quota, nodes int
	}{{job("w", "a", 4, "1"), 3, 4}, {job("w", "a", 3, "2"), 1, 2}, {job("w", "a", 2, "1"), 2, 2}, {job("w", "none", 2, "1"), 0, 2}} {
		got := ask(t, state, tc.job).Items[0].InReach
		if got.Quota != tc.quota || got.Nodes != tc.nodes || got.Topology != nil {
			t.Errorf("there is room for %+v; want %d by quota and %d by nodes\n%s", got, tc.quota, tc.nodes, tc.job)
		}
	}
	// What a job would preempt is not room now.
	full := queues + node("n1", "small", "8") + holds("v", "a", "4", 5) + holds("u", "b", "4", 5)
	a := ask(t, full, job("w", "a", 2, "2", "kueue.x-k8s.io/priority-class: high")).Items[0]
	if len(a.Preempts) != 1 || a.InReach.Quota != 0 {
		t.Errorf("it preempts %+v, and there is room for %+v; want one workload, and none by quota", a.Preempts, a.InReach)
	}
}

// TestElsewhere: the same job in the other queue, without one, and an hour later.
func TestElsewhere(t *testing.T) {
	says := func(a submit.Answer) (out []string) {
		for _, e := range a.Elsewhere {
			out = append(out, fmt.Sprintf("%s %s: %s %s %v, %d of %d on nodes", e.Kind, e.Queue, e.Verdict, e.Tier, e.Flavors, e.Fit, e.Pods))
		}
		return out
	}
	a := ask(t, full(), job("w", "a", 1, "4")).Items[0]
	want := []string{"queue b: waits WaitingForQuota [], 1 of 1 on nodes", "noQueue : admitted  [], 1 of 1 on nodes", "later a: waits  [], 1 of 1 on nodes"}
	if diff := cmp.Diff(want, says(a)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if e := a.Elsewhere[2]; e.Earliest == nil || e.Earliest.Before(e.At) {
		t.Errorf("an hour later it starts %v, and is submitted %v", e.Earliest, e.At)
	}
	// The first job counts for the second, elsewhere too.
	roomy := strings.Replace(queues, "cohortName: all\n  namespaceSelector: {}\n  preemption", "namespaceSelector: {}\n  preemption", 1) + node("n1", "small", "8")
	both := ask(t, roomy, job("w1", "b", 1, "3")+job("w2", "a", 2, "3")).Items
	want = []string{"queue b: never ExceedsMaxQuota [], 1 of 2 on nodes", "noQueue : waits  [], 1 of 2 on nodes"}
	if diff := cmp.Diff(want, says(both[1])); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestInfluences: what others could do, and none of it is a change of the job.
func TestInfluences(t *testing.T) {
	ahead := strings.Replace(holds("first", "a", "4", 1), "priority: 0", "priority: 7", 1)
	ahead = ahead[:strings.Index(ahead, "status:")] + "---\n"
	a := ask(t, full()+ahead, job("w", "a", 1, "4")).Items[0]
	got := map[string]string{}
	for _, c := range a.Influences {
		got[c.Kind] += c.Text + ";"
	}
	if a.Order.Position != 2 || !strings.Contains(got["finish"], "job-train-4") {
		t.Errorf("it is number %d, and is influenced by %q", a.Order.Position, got)
	}
	if got["rival"] != "if one more job like it came with the priority 1;" {
		t.Errorf("a rival: %q", got["rival"])
	}
	for _, c := range a.Changes {
		if c.Kind == "finish" || c.Kind == "quota" {
			t.Errorf("its submitter cannot: %s", c.Text)
		}
	}
	// The head of a strict queue is in the way of what would fit.
	free := strings.Replace(strings.Replace(full(), "nominalQuota: 4", "nominalQuota: 8", 1), "preemption:", "queueingStrategy: StrictFIFO\n  preemption:", 1)
	behind := ask(t, free+strings.ReplaceAll(ahead, `cpu: "4"`, `cpu: "6"`), job("w", "a", 1, "4")).Items[0]
	if behind.Quota.Admitted || !slices.ContainsFunc(behind.Influences, func(c submit.Change) bool { return c.Kind == "withdraw" && c.Workload == "default/job-first" }) {
		t.Errorf("it is %s, influenced by %+v", behind.Verdict, behind.Influences)
	}
}

// TestConfiguration: an import is judged by its own Configuration.
func TestConfiguration(t *testing.T) {
	configMap := func(document string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kueue-manager-config, namespace: kueue-system}\ndata: {controller_manager_config.yaml: %q}\n---\n", document)
	}
	roomy := queues + node("n1", "small", "8")
	for _, tc := range []struct {
		name, state string
		from        submit.ConfiguredFrom
		fair        bool
		asks, note  string
	}{
		{"none", roomy, submit.FromDefault, false, "1", ""},
		{"fair sharing", roomy + configMap("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {}\n"), submit.FromConfigMap, true, "1", ""},
		{"what does not count", roomy + configMap("resources: {excludeResourcePrefixes: [cpu]}"), submit.FromConfigMap, false, "9", ""},
		{"a part that has no effect", roomy + configMap("manageJobsWithoutQueueName: true"), submit.FromConfigMap, false, "1", "manageJobsWithoutQueueName has no effect"},
		{"a wrong one", roomy + configMap("resources: 7"), submit.FromDefault, false, "1", "one that Kueue would refuse"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answers := ask(t, tc.state, job("w", "a", 1, tc.asks))
			c := answers.Judged.Configuration
			if c == nil || c.From != tc.from || c.FairSharing != tc.fair {
				t.Errorf("it is judged by %+v", c)
			}
			if !answers.Items[0].Quota.Admitted {
				t.Errorf("%s CPU are not admitted: %s", tc.asks, answers.Items[0].Sentence)
			}
			says := slices.ContainsFunc(answers.NotJudged, func(n why.NotJudged) bool { return strings.Contains(n.Text, tc.note) })
			if tc.note != "" && !says {
				t.Errorf("it does not say %q: %+v", tc.note, answers.NotJudged)
			}
		})
	}
}
