package intake

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

// values are labels or annotations of Kueue's, without their prefix.
type values map[string]string

func (v values) full() map[string]string {
	out := map[string]string{}
	for key, value := range v {
		out[kueue.GroupVersion.Group+"/"+key] = value
	}
	return out
}

func aMeta(labels, annotations values) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: "o", Namespace: "default", Labels: labels.full(), Annotations: annotations.full()}
}

func aJob(labels, annotations values, change ...func(*batch.Job)) *batch.Job {
	job := &batch.Job{ObjectMeta: aMeta(labels, annotations), Spec: batch.JobSpec{Parallelism: ptr.To[int32](10), Completions: ptr.To[int32](10), Suspend: ptr.To(true)}}
	for _, do := range change {
		do(job)
	}
	return job
}

func runs(job *batch.Job)    { job.Spec.Suspend = ptr.To(false) }
func indexed(job *batch.Job) { job.Spec.CompletionMode = ptr.To(batch.IndexedCompletion) }
func pods(n int32) func(*batch.Job) {
	return func(job *batch.Job) { job.Spec.Parallelism = &n }
}
func asks(annotations values) func(*batch.Job) {
	return func(job *batch.Job) { job.Spec.Template.Annotations = annotations.full() }
}

func aPod(labels, annotations values, gates ...string) *core.Pod {
	pod := &core.Pod{ObjectMeta: aMeta(labels, annotations)}
	for _, gate := range gates {
		pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, core.PodSchedulingGate{Name: gate})
	}
	return pod
}

func aSet(replicas, ready int32, image string, labels values) *apps.StatefulSet {
	s := &apps.StatefulSet{ObjectMeta: aMeta(labels, nil), Spec: apps.StatefulSetSpec{Replicas: replicas}, Status: apps.StatefulSetStatus{ReadyReplicas: ready}}
	s.Spec.Template.Spec.NodeSelector = map[string]string{"image": image}
	return s
}

// TestWritesThatKueueRefuses: about the objects from which workloads are made. Each was tried with Kueue itself.
func TestWritesThatKueueRefuses(t *testing.T) {
	member := values{"pod-group-name": "g"}
	two := values{"pod-group-total-count": "2"}
	queue := values{"queue-name": "q"}
	for _, c := range []struct {
		name        string
		before, now metav1.Object
		want        string // the field that is refused; empty for none
	}{
		{"a queue name that names nothing", nil, aJob(values{"queue-name": "a_queue"}, nil), "metadata.labels[kueue.x-k8s.io/queue-name]"},
		{"completions that follow perhaps", nil, aJob(queue, values{"job-completions-equal-parallelism": "perhaps"}), "metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]"},
		{"completions of a job without indexes", nil, aJob(queue, values{"job-completions-equal-parallelism": "true"}), "metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]"},
		{"completions that follow", nil, aJob(queue, values{"job-completions-equal-parallelism": "true"}, indexed), ""},
		{"completions that do not", nil, aJob(queue, values{"job-completions-equal-parallelism": "true"}, indexed, pods(4)), "spec.completions"},
		{"no time to run", nil, aJob(values{"max-exec-time-seconds": "0"}, nil), "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]"},
		{"a time that is no number", nil, aJob(values{"max-exec-time-seconds": "long"}, nil), "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]"},
		{"two topologies", nil, aJob(queue, nil, asks(values{"podset-required-topology": "rack", "podset-preferred-topology": "rack"})), "spec.template.metadata.annotations"},
		{"a bad topology", nil, aJob(queue, nil, asks(values{"podset-required-topology": "a rack"})), "spec.template.metadata.annotations[kueue.x-k8s.io/podset-required-topology]"},
		{"a good topology", nil, aJob(queue, nil, asks(values{"podset-required-topology": "example.com/rack"})), ""},
		{"a slice without a size", nil, aJob(queue, nil, asks(values{"podset-slice-required-topology": "rack"})), "spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]"},
		{"a slice of more than there are", nil, aJob(queue, nil, asks(values{"podset-slice-required-topology": "rack", "podset-slice-size": "11"})), "spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]"},
		{"a minimum of nothing", nil, aJob(queue, values{"job-min-parallelism": "0"}), "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]"},
		{"a minimum of all", nil, aJob(queue, values{"job-min-parallelism": "10"}), "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]"},
		{"a minimum that is no number", nil, aJob(queue, values{"job-min-parallelism": "few"}), "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]"},
		{"a minimum", nil, aJob(queue, values{"job-min-parallelism": "9"}), ""},
		{"it starts with its minimum", aJob(queue, values{"job-min-parallelism": "9"}), aJob(queue, values{"job-min-parallelism": "9"}, runs, pods(9)), ""},
		{"it starts with less than a slice", aJob(queue, nil, asks(values{"podset-slice-required-topology": "rack", "podset-slice-size": "10"})),
			aJob(queue, nil, asks(values{"podset-slice-required-topology": "rack", "podset-slice-size": "10"}), runs, pods(5)), ""},
		{"another minimum", aJob(queue, values{"job-min-parallelism": "9"}), aJob(queue, values{"job-min-parallelism": "9x"}), "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]"},
		{"other pods while it runs", aJob(queue, values{"job-min-parallelism": "5"}, runs, pods(9)), aJob(queue, values{"job-min-parallelism": "5"}, runs, pods(8)), "spec.parallelism"},
		{"another queue while it runs", aJob(queue, nil, runs), aJob(values{"queue-name": "other"}, nil, runs), "metadata.labels[kueue.x-k8s.io/queue-name]"},
		{"another queue while it waits", aJob(queue, nil), aJob(values{"queue-name": "other"}, nil), ""},
		{"no class any more", aJob(values{"priority-class": "high"}, nil), aJob(nil, nil), "metadata.labels[kueue.x-k8s.io/priority-class]"},
		{"another class while it runs", aJob(values{"priority-class": "high"}, nil, runs), aJob(values{"priority-class": "low"}, nil, runs), ""},
		{"a first class while it runs", aJob(nil, nil, runs), aJob(values{"priority-class": "high"}, nil, runs), "metadata.labels[kueue.x-k8s.io/priority-class]"},
		{"what was wrong before", aJob(values{"queue-name": "a_queue", "max-exec-time-seconds": "0"}, values{"job-min-parallelism": "x"}),
			aJob(values{"queue-name": "a_queue", "max-exec-time-seconds": "0"}, values{"job-min-parallelism": "x"}, runs), ""},

		{"a group without a count", nil, aPod(member, nil), "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]"},
		{"a count without a group", nil, aPod(queue, two), "metadata.labels[kueue.x-k8s.io/pod-group-name]"},
		{"a group of none", nil, aPod(member, values{"pod-group-total-count": "0"}), "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]"},
		{"a group of some", nil, aPod(member, values{"pod-group-total-count": "some"}), "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]"},
		{"a group that names nothing", nil, aPod(values{"pod-group-name": "A_Group"}, two), "metadata.labels[kueue.x-k8s.io/pod-group-name]"},
		{"a group", nil, aPod(member, two), ""},
		{"another group later", aPod(member, two), aPod(values{"pod-group-name": "h"}, two), "metadata.labels[kueue.x-k8s.io/pod-group-name]"},
		{"no group later", aPod(member, two), aPod(nil, nil), "metadata.labels[kueue.x-k8s.io/pod-group-name]"},
		{"another queue behind the gate", aPod(queue, nil, podconstants.SchedulingGateName), aPod(values{"queue-name": "other"}, nil, podconstants.SchedulingGateName), ""},
		{"another queue beyond the gate", aPod(queue, nil), aPod(values{"queue-name": "other"}, nil), "metadata.labels[kueue.x-k8s.io/queue-name]"},
		{"not managed", nil, aPod(values{"managed": "no"}, nil), "metadata.labels[kueue.x-k8s.io/managed]"},
		{"retriable after all", aPod(member, values{"pod-group-total-count": "2", "retriable-in-group": "false"}), aPod(member, two), "metadata.annotations[kueue.x-k8s.io/retriable-in-group]"},

		{"a Deployment's queue that names nothing", nil, &apps.Deployment{ObjectMeta: aMeta(values{"queue-name": "A"}, nil)}, "metadata.labels[kueue.x-k8s.io/queue-name]"},
		{"a Deployment leaves its queue", &apps.Deployment{ObjectMeta: aMeta(queue, nil)}, &apps.Deployment{ObjectMeta: aMeta(nil, nil)}, "metadata.labels[kueue.x-k8s.io/queue-name]"},
		{"a StatefulSet's queue that names nothing", nil, aSet(2, 0, "a", values{"queue-name": "A"}), "metadata.labels[kueue.x-k8s.io/queue-name]"},
		{"a StatefulSet of another size", aSet(2, 0, "a", queue), aSet(3, 0, "a", queue), "spec.replicas"},
		{"a StatefulSet of nothing", aSet(2, 0, "a", queue), aSet(0, 0, "a", queue), ""},
		{"a StatefulSet of another shape", aSet(2, 0, "a", queue), aSet(2, 0, "b", queue), "spec.template.spec.nodeSelector"},
		{"a StatefulSet of no queue", aSet(2, 0, "a", nil), aSet(3, 0, "b", nil), ""},
		{"a StatefulSet that runs changes its queue", aSet(2, 1, "a", queue), aSet(2, 1, "a", values{"queue-name": "other"}), "metadata.labels[kueue.x-k8s.io/queue-name]"},
	} {
		got := checkOwner(c.now, c.before)
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: %v", c.name, got.ToAggregate())
		case c.want != "" && (len(got) != 1 || got[0].Field != c.want):
			t.Errorf("%s: %v, want a mistake in %s", c.name, got.ToAggregate(), c.want)
		}
	}
}

// TestTheDefaultQueue: all work of a namespace that has one goes there, as in Kueue, and not only jobs.
func TestTheDefaultQueue(t *testing.T) {
	i := &intake{defaults: utilcache.NewExpiring()}
	i.defaults.Set("default", true, time.Minute)
	i.defaults.Set("plain", false, time.Minute)
	for _, c := range []struct {
		name   string
		object metav1.ObjectMeta
		create bool
		want   string
	}{
		{"without a queue", metav1.ObjectMeta{Namespace: "default"}, true, "default"},
		{"with a queue", metav1.ObjectMeta{Namespace: "default", Labels: values{"queue-name": "q"}.full()}, true, "q"},
		{"later", metav1.ObjectMeta{Namespace: "default"}, false, ""},
		{"where there is none", metav1.ObjectMeta{Namespace: "plain"}, true, ""},
		{"of the system", metav1.ObjectMeta{Namespace: "kube-system"}, true, ""},
	} {
		queue := i.queueOf(t.Context(), &c.object, c.create)
		if got := c.object.Labels[controllerconstants.QueueLabel]; got != c.want || queue != c.want {
			t.Errorf("an object %s: the queue %q and the label %q, want %q", c.name, queue, got, c.want)
		}
	}
}

// TestAStoppedDefaultQueue takes no work that names no queue: Kueue forgets a local queue while it is stopped.
func TestAStoppedDefaultQueue(t *testing.T) {
	var queue string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if queue == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"default"},"spec":%s}`, queue)
	}))
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	i := &intake{client: client}
	for spec, want := range map[string]bool{
		"": false, `{"clusterQueue":"q"}`: true, `{"clusterQueue":"q","stopPolicy":"None"}`: true, `{"clusterQueue":"q","stopPolicy":"Hold"}`: false, `{"clusterQueue":"q","stopPolicy":"HoldAndDrain"}`: false,
	} {
		if queue = spec; i.hasDefault(t.Context(), "default") != want {
			t.Errorf("a local queue with the spec %s: want %v", spec, want)
		}
	}
}

// TestTheRoleOfAPod is that which Kueue 0.17 and later give it, after the API server's own plugins: a pod set is named for it.
func TestTheRoleOfAPod(t *testing.T) {
	pod := core.PodSpec{
		Containers: []core.Container{{Name: "c", Image: "registry.example.com/work:1", Resources: core.ResourceRequirements{
			Requests: core.ResourceList{core.ResourceCPU: resource.MustParse("1")}, Limits: core.ResourceList{},
		}}},
		Priority: ptr.To[int32](0),
	}
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		pod.Tolerations = append(pod.Tolerations, core.Toleration{Key: key, Operator: core.TolerationOpExists, Effect: core.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300)})
	}
	role := func(change func(*core.PodSpec)) string {
		other := pod.DeepCopy()
		change(other)
		spec, err := specOf(other)
		if err != nil {
			t.Fatal(err)
		}
		return jobs.RoleOfSpec(*spec)
	}
	if got := role(func(*core.PodSpec) {}); got != "4b0469f7" {
		t.Errorf("the role is %s, Kueue's is 4b0469f7", got)
	}
	for name, change := range map[string]func(*core.PodSpec){
		"limits": func(s *core.PodSpec) {
			s.Containers[0].Resources.Limits = core.ResourceList{core.ResourceCPU: resource.MustParse("2")}
		},
		"an image":      func(s *core.PodSpec) { s.Containers[0].Image = "other" },
		"an empty list": func(s *core.PodSpec) { s.ResourceClaims = []core.PodResourceClaim{} },
		"a gate":        func(s *core.PodSpec) { s.SchedulingGates = []core.PodSchedulingGate{{Name: "g"}} },
		"another spelling": func(s *core.PodSpec) {
			s.Containers[0].Resources.Requests = core.ResourceList{core.ResourceCPU: resource.MustParse("1000m")}
		},
	} {
		if got := role(change); got != "4b0469f7" {
			t.Errorf("%s makes another role", name)
		}
	}
	for name, change := range map[string]func(*core.PodSpec){
		"requests": func(s *core.PodSpec) {
			s.Containers[0].Resources.Requests = core.ResourceList{core.ResourceCPU: resource.MustParse("2")}
		},
		"a selector": func(s *core.PodSpec) { s.NodeSelector = map[string]string{"a": "b"} },
		"a priority": func(s *core.PodSpec) { s.Priority = ptr.To[int32](1) },
		"a port":     func(s *core.PodSpec) { s.Containers[0].Ports = []core.ContainerPort{{ContainerPort: 80}} },
	} {
		if got := role(change); got == "4b0469f7" {
			t.Errorf("%s makes no other role", name)
		}
	}
}

// TestAStoredMistakeStopsNoWrite: those who wrote it before there was a check, and the controllers, go on.
func TestAStoredMistakeStopsNoWrite(t *testing.T) {
	wrong := object(t, `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, spec: {fairSharing: {weight: "-1"}, namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}}`)
	if got := checkCustom(wrong, nil, false); len(got) != 2 {
		t.Errorf("a new one: %v", got.ToAggregate())
	}
	held := wrong.DeepCopy()
	held.SetFinalizers([]string{kueue.ResourceInUseFinalizerName})
	if got := checkCustom(held, wrong, false); len(got) != 0 {
		t.Errorf("another finalizer: %v", got.ToAggregate())
	}
	worse := object(t, `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, spec: {fairSharing: {weight: "-2"}, namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}}`)
	if got := checkCustom(worse, wrong, false); len(got) != 1 || got[0].Field != "spec.fairSharing" {
		t.Errorf("another weight: %v", got.ToAggregate())
	}
}

func TestElasticJobsAreChecked(t *testing.T) {
	elastic := values{"elastic-job": "true"}
	for name, c := range map[string]struct {
		job, before *batch.Job
		want        int
	}{
		"new":                            {aJob(nil, elastic), nil, 0},
		"with more pods":                 {aJob(nil, elastic, pods(12), runs), aJob(nil, elastic, runs), 0},
		"becoming one":                   {aJob(nil, elastic), aJob(nil, nil), 1},
		"being one no longer":            {aJob(nil, nil), aJob(nil, elastic), 1},
		"with a required topology":       {aJob(nil, elastic, asks(values{"podset-required-topology": "rack"})), nil, 1},
		"with a preferred topology":      {aJob(nil, elastic, asks(values{"podset-preferred-topology": "rack"})), nil, 1},
		"wherever there is room":         {aJob(nil, elastic, asks(values{"podset-unconstrained-topology": "true"})), nil, 0},
		"another job with a topology":    {aJob(nil, nil, asks(values{"podset-required-topology": "rack"})), nil, 0},
		"what has started with topology": {aJob(nil, elastic, runs, asks(values{"podset-required-topology": "rack"})), aJob(nil, elastic), 0},
	} {
		if got := checkElastic(c.job, c.before); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
