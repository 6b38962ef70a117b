package jobs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	podconstants "sigs.k8s.io/kueue/pkg/controller/jobs/pod/constants"

	"kube-scheduler-simulator/simulator/batch/kueue/jobs"
)

func aJob(parallelism int32, completions *int32, annotations map[string]string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "train", Annotations: annotations},
		Spec:       batchv1.JobSpec{Parallelism: &parallelism, Completions: completions, Template: v1.PodTemplateSpec{Spec: v1.PodSpec{NodeSelector: map[string]string{"own": "x"}}}},
	}
}

func TestThePodSetOfAJob(t *testing.T) {
	for _, c := range []struct {
		name  string
		job   *batchv1.Job
		count int32
		min   *int32
	}{
		{"as many as run at once", aJob(3, nil, nil), 3, nil},
		{"no more than must complete", aJob(5, ptr.To[int32](2), nil), 2, nil},
		{"partial admission", aJob(5, nil, map[string]string{jobs.MinParallelism: "2"}), 5, ptr.To[int32](2)},
	} {
		set := jobs.Batch{Job: c.job}.PodSets()[0]
		if set.Name != "main" || set.Count != c.count || !ptr.Equal(set.MinCount, c.min) {
			t.Errorf("%s: %s × %d, at least %v", c.name, set.Name, set.Count, set.MinCount)
		}
	}
}

// TestARestoredJobIsAsBefore: what starting injects, stopping removes.
func TestARestoredJobIsAsBefore(t *testing.T) {
	before := aJob(5, nil, map[string]string{jobs.MinParallelism: "2"})
	set := (jobs.Batch{Job: before}).PodSets()[0]
	started := before.DeepCopy()
	info := jobs.Info{
		Name: "main", Count: 3, Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"}, NodeLabels: map[string]string{"pool": "spot"},
		Tolerations: []v1.Toleration{{Key: "spot"}}, Gates: []v1.PodSchedulingGate{{Name: kueue.TopologySchedulingGate}},
	}
	if err := (jobs.Batch{Job: started}).Start([]jobs.Info{info}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"own": "x", "pool": "spot"}
	if diff := cmp.Diff(want, started.Spec.Template.Spec.NodeSelector); diff != "" || *started.Spec.Parallelism != 3 || *started.Spec.Suspend {
		t.Errorf("started with parallelism %d: %s", *started.Spec.Parallelism, diff)
	}
	if !(jobs.Batch{Job: started}).Restore([]kueue.PodSet{set}) {
		t.Error("nothing changed")
	}
	if diff := cmp.Diff(before.Spec.Template, started.Spec.Template); diff != "" || *started.Spec.Parallelism != 5 {
		t.Errorf("restored with parallelism %d: %s", *started.Spec.Parallelism, diff)
	}
	if (jobs.Batch{Job: started}).Restore([]kueue.PodSet{set}) {
		t.Error("restored twice")
	}
}

func TestAConflictIsAnError(t *testing.T) {
	err := (jobs.Batch{Job: aJob(1, nil, nil)}).Start([]jobs.Info{{NodeLabels: map[string]string{"own": "y"}}})
	if !errors.Is(err, jobs.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

func TestReclaimablePods(t *testing.T) {
	for _, c := range []struct {
		parallelism, completions, succeeded, want int32
	}{
		{3, 3, 0, 0},
		{3, 3, 1, 1},
		{3, 10, 6, 0},
		{3, 10, 8, 1},
		{1, 3, 2, 0},
	} {
		job := aJob(c.parallelism, &c.completions, nil)
		job.Status.Succeeded = c.succeeded
		got := int32(0)
		for _, r := range (jobs.Batch{Job: job}).Reclaimable() {
			got += r.Count
		}
		if got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func member(name string, cpu string, annotations map[string]string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}}}}},
	}
}

func TestTheRolesOfAGroup(t *testing.T) {
	three := map[string]string{podconstants.GroupTotalCountAnnotation: "3"}
	fast := map[string]string{podconstants.GroupTotalCountAnnotation: "3", podconstants.GroupFastAdmissionAnnotationKey: "true"}
	failed := member("d", "1", three)
	failed.Status.Phase = v1.PodFailed
	for _, c := range []struct {
		name    string
		pods    []*v1.Pod
		counts  []int32
		refused string
	}{
		{"two roles", []*v1.Pod{member("a", "1", three), member("b", "2", three), member("c", "2", three)}, []int32{1, 2}, ""},
		{"a pod is missing", []*v1.Pod{member("a", "1", three), member("b", "1", three)}, nil, "fewer runnable pods"},
		{"a failed pod does not count", []*v1.Pod{member("a", "1", three), member("b", "1", three), failed}, nil, "fewer runnable pods"},
		{"fast admission does not wait", []*v1.Pod{member("a", "1", fast)}, []int32{3}, ""},
		{"no count", []*v1.Pod{member("a", "1", nil)}, nil, "failed to extract"},
	} {
		sets, err := jobs.GroupPodSets("g", c.pods)
		var got []int32
		for _, s := range sets {
			got = append(got, s.Count)
		}
		// The roles are sorted by hashes.
		if len(got) == 2 && got[0] > got[1] {
			got[0], got[1] = got[1], got[0]
		}
		if !cmp.Equal(got, c.counts) || (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v %v", c.name, got, err)
		}
	}
}

// TestTheLabelThatRanksPods checks that every pod set names the label, as in Kueue, even if its pods ask for no topology.
func TestTheLabelThatRanksPods(t *testing.T) {
	group := map[string]string{podconstants.GroupTotalCountAnnotation: "1"}
	serving := map[string]string{podconstants.GroupTotalCountAnnotation: "1", podconstants.GroupFastAdmissionAnnotationKey: "true", podconstants.GroupServingAnnotationKey: "true"}
	sets := func(pods []kueue.PodSet, err error) []kueue.PodSet {
		if err != nil {
			t.Fatal(err)
		}
		return pods
	}
	for _, c := range []struct {
		name string
		sets []kueue.PodSet
		want string
	}{
		{"a job", jobs.Batch{Job: aJob(3, nil, nil)}.PodSets(), batchv1.JobCompletionIndexAnnotation},
		{"a pod", jobs.PodPodSets(member("a", "1", nil)), kueue.PodGroupPodIndexLabel},
		{"a group", sets(jobs.GroupPodSets("g", []*v1.Pod{member("a", "1", group)})), kueue.PodGroupPodIndexLabel},
		{"a StatefulSet", sets(jobs.GroupPodSets("g", []*v1.Pod{member("a", "1", serving)})), appsv1.PodIndexLabel},
	} {
		if diff := cmp.Diff(&kueue.PodSetTopologyRequest{PodIndexLabel: &c.want}, c.sets[0].TopologyRequest); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestAGroupEnds(t *testing.T) {
	in := func(phase v1.PodPhase, annotations map[string]string) *v1.Pod {
		pod := member("p", "1", annotations)
		pod.Status.Phase = phase
		return pod
	}
	never := map[string]string{podconstants.RetriableInGroupAnnotationKey: "false"}
	for _, c := range []struct {
		name          string
		pods          []*v1.Pod
		success, over bool
	}{
		{"all succeeded", []*v1.Pod{in(v1.PodSucceeded, nil), in(v1.PodSucceeded, nil)}, true, true},
		{"one runs", []*v1.Pod{in(v1.PodSucceeded, nil), in(v1.PodRunning, nil)}, false, false},
		{"one failed and may be replaced", []*v1.Pod{in(v1.PodSucceeded, nil), in(v1.PodFailed, nil)}, false, false},
		{"one failed for good", []*v1.Pod{in(v1.PodSucceeded, nil), in(v1.PodFailed, never)}, false, true},
	} {
		if _, success, over := jobs.GroupFinished(c.pods, 2); success != c.success || over != c.over {
			t.Errorf("%s: success %v, over %v", c.name, success, over)
		}
	}
}

func TestAdjust(t *testing.T) {
	spec := v1.PodSpec{Containers: []v1.Container{{Resources: v1.ResourceRequirements{Limits: v1.ResourceList{v1.ResourceCPU: resource.MustParse("2")}}}}}
	jobs.Adjust(&spec, nil, []*v1.LimitRange{{Spec: v1.LimitRangeSpec{Limits: []v1.LimitRangeItem{{
		Type: v1.LimitTypeContainer, DefaultRequest: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse("1Gi")},
	}}}}})
	requests := spec.Containers[0].Resources.Requests
	if requests.Cpu().String() != "2" || requests.Memory().String() != "1Gi" {
		t.Errorf("requests %v: its own limit goes before the namespace's default", requests)
	}
}

// TestNames: a job has the workload that Kueue makes for it, so that either can go on with what the other began. The names are those of Kueue's
// own tests.
func TestNames(t *testing.T) {
	job := schema.GroupKind{Group: "batch", Kind: "Job"}
	if got, want := jobs.NameOf(job, "name", "uid"), "job-name-ef3a1"; got != want {
		t.Errorf("the name is %s, want %s", got, want)
	}
	if got := jobs.NameOf(job, strings.Repeat("n", 300), "uid"); len(got) != 253 || !strings.HasPrefix(got, "job-nnn") {
		t.Errorf("the name of a long job is %s", got)
	}
}
