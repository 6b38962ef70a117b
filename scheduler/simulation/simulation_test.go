package simulation_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/simulation"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// objects reads YAML documents.
func objects(t testing.TB, documents string) []runtime.Object {
	t.Helper()
	var out []runtime.Object
	for document := range strings.SplitSeq(documents, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &u.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		out = append(out, u)
	}
	return out
}

func start(t testing.TB, options simulation.Options) *simulation.Simulation {
	t.Helper()
	if options.Configuration == nil {
		c, err := config.Default()
		if err != nil {
			t.Fatal(err)
		}
		options.Configuration = c.Internal
	}
	s, err := simulation.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func create(t testing.TB, s *simulation.Simulation, documents ...string) {
	t.Helper()
	for _, d := range documents {
		if err := s.Create(t.Context(), objects(t, d)...); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// placements says where the pods are, and how they are.
func placements(s *simulation.Simulation) []string {
	out := []string{}
	for _, p := range s.State().Pods {
		node := p.Spec.NodeName
		if node == "" {
			node = "-"
		}
		deleting := ""
		if p.DeletionTimestamp != nil {
			deleting = " terminating"
		}
		out = append(out, fmt.Sprintf("%s %s %s%s", p.Name, node, p.Status.Phase, deleting))
	}
	return out
}

func node(name, cpu string, more ...string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {%s}}, status: {allocatable: {cpu: "%s", memory: 16Gi, pods: "110"}}}`,
		name, strings.Join(more, ", "), cpu)
}

func pod(name, cpu string, more ...string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {%scontainers: [{name: c, image: i, resources: {requests: {cpu: "%s"}}}]}}`,
		name, strings.Join(append(more, ""), ", "), cpu)
}

const template = `{metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}`

func TestWorkloads(t *testing.T) {
	nodeKind, podKind := v1.SchemeGroupVersion.WithKind("Node"), v1.SchemeGroupVersion.WithKind("Pod")
	apps := func(kind string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: kind}
	}
	settle := func(t *testing.T, s *simulation.Simulation) { must(t, s.Settle(t.Context())) }
	advance := func(d time.Duration) func(*testing.T, *simulation.Simulation) {
		return func(t *testing.T, s *simulation.Simulation) { must(t, s.Advance(t.Context(), d)) }
	}
	tests := []struct {
		name    string
		objects []string
		then    []func(*testing.T, *simulation.Simulation)
		want    []string
	}{
		{
			name:    "a pod runs on the node with room",
			objects: []string{node("small", "1"), node("large", "4"), pod("p", "2")},
			want:    []string{"p large Running"},
		},
		{
			name:    "a pod that does not fit waits until a node is added",
			objects: []string{node("a", "1"), pod("p", "2"), node("b", "4")},
			then:    []func(*testing.T, *simulation.Simulation){settle},
			want:    []string{"p b Running"},
		},
		{
			name: "a preemptor takes the place of its victim",
			objects: []string{
				node("a", "2"), pod("low", "2"),
				`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 10}`,
				pod("urgent", "2", "priorityClassName: high"),
			},
			then: []func(*testing.T, *simulation.Simulation){settle},
			want: []string{"urgent a Running"},
		},
		{
			name:    "a Deployment replaces a deleted pod",
			objects: []string{node("a", "4"), `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: ` + template + `}}`},
			then: []func(*testing.T, *simulation.Simulation){
				func(t *testing.T, s *simulation.Simulation) {
					must(t, s.Delete(t.Context(), podKind, "default", s.State().Pods[0].Name))
				},
				settle,
			},
			want: []string{"web-66585b8d58-n5hq4 a Running", "web-66585b8d58-tj5gh a Running"},
		},
		{
			name: "workloads adopt the objects that came before them, and replace what is deleted",
			objects: []string{
				node("a", "9"),
				`{apiVersion: v1, kind: Pod, metadata: {name: web-1-x, labels: {app: web, pod-template-hash: "1"}}, spec: {nodeName: a, containers: [{name: c, image: i}]}}`,
				`{apiVersion: v1, kind: Pod, metadata: {name: other, labels: {app: other}}, spec: {nodeName: a, containers: [{name: c, image: i}]}}`,
				`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, labels: {app: web, pod-template-hash: "1"}}, spec: {replicas: 1, selector: {matchLabels: {app: web, pod-template-hash: "1"}}, template: {metadata: {labels: {app: web, pod-template-hash: "1"}}, spec: {containers: [{name: c, image: i}]}}}}`,
				`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}}`,
			},
			then: []func(*testing.T, *simulation.Simulation){
				settle,
				func(t *testing.T, s *simulation.Simulation) {
					must(t, s.Delete(t.Context(), podKind, "default", "web-1-x"))
				},
				settle,
			},
			want: []string{"other a Running", "web-1-hpvzn a Running", "web-1-n5hq4 a Running"},
		},
		{
			name:    "a Deployment is scaled down",
			objects: []string{node("a", "4"), `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: ` + template + `}}`},
			then: []func(*testing.T, *simulation.Simulation){
				func(t *testing.T, s *simulation.Simulation) {
					must(t, s.Scale(t.Context(), apps("Deployment"), "default", "web", 0))
				},
				settle,
			},
			want: []string{},
		},
		{
			name:    "a StatefulSet starts one pod after the other",
			objects: []string{node("a", "2"), `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 4, selector: {matchLabels: {app: web}}, template: ` + template + `}}`},
			want:    []string{"db-0 a Running", "db-1 a Running", "db-2 - Pending"},
		},
		{
			name:    "a DaemonSet runs on each node",
			objects: []string{node("a", "2"), node("b", "2"), `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: log}, spec: {selector: {matchLabels: {app: web}}, template: ` + template + `}}`, node("c", "2")},
			then:    []func(*testing.T, *simulation.Simulation){settle},
			want:    []string{"log-hpvzn a Running", "log-n5hq4 b Running", "log-tj5gh c Running"},
		},
		{
			name:    "a Job ends",
			objects: []string{node("a", "4"), `{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {completions: 3, parallelism: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}`},
			then:    []func(*testing.T, *simulation.Simulation){advance(25 * time.Second)},
			want:    []string{"j-hpvzn a Succeeded", "j-n5hq4 a Succeeded", "j-tj5gh a Succeeded"},
		},
		{
			name:    "a CronJob starts Jobs",
			objects: []string{node("a", "4"), `{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {schedule: "*/5 * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}`},
			then:    []func(*testing.T, *simulation.Simulation){advance(11 * time.Minute)},
			want:    []string{"c-29453765-hpvzn a Succeeded", "c-29453770-hpvzn a Succeeded"},
		},
		{
			name:    "the pods of a failed node are evicted after five minutes, and replaced",
			objects: []string{node("a", "4"), node("b", "1"), node("c", "1"), `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: ` + template + `}}`},
			then: []func(*testing.T, *simulation.Simulation){
				func(t *testing.T, s *simulation.Simulation) { must(t, s.Fail(t.Context(), "a")) },
				advance(6 * time.Minute),
			},
			want: []string{"web-hpvzn a Running terminating", "web-n5hq4 c Running"},
		},
		{
			name:    "a node that recovers keeps its pods",
			objects: []string{node("a", "4"), node("b", "1"), node("c", "1"), `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: ` + template + `}}`},
			then: []func(*testing.T, *simulation.Simulation){
				func(t *testing.T, s *simulation.Simulation) { must(t, s.Fail(t.Context(), "a")) },
				advance(2 * time.Minute),
				func(t *testing.T, s *simulation.Simulation) { must(t, s.Recover(t.Context(), "a")) },
				advance(10 * time.Minute),
			},
			want: []string{"web-hpvzn a Running"},
		},
		{
			name:    "the pods of a deleted node are collected",
			objects: []string{node("a", "4"), pod("p", "1")},
			then: []func(*testing.T, *simulation.Simulation){
				func(t *testing.T, s *simulation.Simulation) { must(t, s.Delete(t.Context(), nodeKind, "", "a")) },
				advance(2 * time.Minute),
			},
			want: []string{},
		},
		{
			name: "a claim waits for its first consumer",
			objects: []string{
				node("a", "1"), node("b", "4"),
				`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
				pod("p", "2", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"),
			},
			then: []func(*testing.T, *simulation.Simulation){settle},
			want: []string{"p b Running"},
		},
		{
			name: "a claim gets the volume that exists",
			objects: []string{
				node("a", "4"), node("b", "4", "disk: ssd"),
				`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}`,
				`{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk}, spec: {storageClassName: local, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, local: {path: /x}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]}}}}`,
				`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
				pod("p", "2", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"),
			},
			then: []func(*testing.T, *simulation.Simulation){settle},
			want: []string{"p b Running"},
		},
		{
			name: "a pod gets its device",
			objects: []string{
				node("a", "4"), node("b", "4"),
				`{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}`,
				`{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: b}, spec: {driver: gpu.example.com, nodeName: b, pool: {name: b, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}`,
				`{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpu}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}`,
				pod("p", "1", "resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]"),
				pod("q", "1", "resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]"),
			},
			then: []func(*testing.T, *simulation.Simulation){
				settle,
				func(t *testing.T, s *simulation.Simulation) { must(t, s.Delete(t.Context(), podKind, "default", "p")) },
				settle,
			},
			want: []string{"q b Running"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, simulation.Options{})
			create(t, s, test.objects...)
			for _, then := range test.then {
				then(t, s)
			}
			if diff := cmp.Diff(test.want, placements(s)); diff != "" {
				for _, summary := range s.Results().Summaries() {
					t.Log(summary.StartTime, summary.Pod.Name, summary.Outcome, summary.SelectedNode, summary.Message)
				}
				t.Errorf("placements (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPodsTakeTimeToStart: a pod is ready as long after it has a node as its annotation says, and a run that settles waits for it.
func TestPodsTakeTimeToStart(t *testing.T) {
	s := start(t, simulation.Options{})
	create(t, s, node("a", "4"), strings.Replace(pod("slow", "1"), "name: slow", "name: slow, annotations: {kube-scheduler-simulator.sigs.k8s.io/startup-duration: 10s}", 1), pod("quick", "1"))
	begun := s.Now()
	must(t, s.Advance(t.Context(), 9*time.Second))
	if diff := cmp.Diff([]string{"quick a Running", "slow a Pending"}, placements(s)); diff != "" {
		t.Error(diff)
	}
	must(t, s.Settle(t.Context()))
	if diff := cmp.Diff([]string{"quick a Running", "slow a Running"}, placements(s)); diff != "" || s.Now().Sub(begun).Round(time.Millisecond) != 10*time.Second {
		t.Errorf("after %s: %s", s.Now().Sub(begun), diff)
	}
}
