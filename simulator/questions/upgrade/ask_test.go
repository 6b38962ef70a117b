package upgrade

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/feed"
	"kube-scheduler-simulator/scheduler/versions"
)

// loaded is a cluster that has been read.
type loaded Load

func (l loaded) Load(context.Context) (*Load, error) { return (*Load)(&l), nil }

func TestQuestionErrors(t *testing.T) {
	for name, c := range map[string]struct {
		q    Question
		load Load
		want string
	}{
		"too old":         {Question{From: "1.33"}, Load{}, `no scheduler of Kubernetes "1.33": there are those of 1.34, 1.35, 1.36 and 1.37`},
		"patch release":   {Question{From: "1.35.4"}, Load{}, `"1.35.4": name the minor version, 1.35; its scheduler is of one patch release, which the answer names`},
		"no word":         {Question{To: "next"}, Load{}, `no scheduler of Kubernetes "next": there are those of 1.34, 1.35, 1.36 and 1.37`},
		"same":            {Question{From: "1.37"}, Load{}, "from 1.37 to 1.37 with the same feature gates, no decision can change"},
		"unknown cluster": {Question{}, Load{Cluster: "a.yaml"}, "a.yaml does not tell its version: say from which of 1.34, 1.35, 1.36, 1.37"},
		"old cluster":     {Question{}, Load{Cluster: "a.ksr", Version: "v1.31.2"}, "a.ksr is of Kubernetes v1.31.2, whose scheduler is not here: say from which of 1.34, 1.35, 1.36, 1.37"},
		"newer recording": {Question{From: "1.35"}, Load{Cluster: "a.ksr", Version: "v1.38.0"},
			"a.ksr is of Kubernetes v1.38.0: its decisions cannot be made again, because the newest version here is 1.37"},
	} {
		c.load.Source = steps()
		_, err := Ask(t.Context(), loaded(c.load), c.q, nil)
		if bad := (*QuestionError)(nil); !errors.As(err, &bad) || bad.Message != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCompleteQuestion: a question that names all that the cluster does not tell has nothing wrong.
func TestCompleteQuestion(t *testing.T) {
	for _, q := range []Question{{From: "1.35"}, {From: "1.35", Configuration: only("ImageLocality")}} {
		want := q
		want.To = versions.Own
		if err := q.complete(&Load{}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, q); diff != "" {
			t.Error(diff)
		}
	}
}

// TestDefaultConfiguration: the default that this program writes out is each version's own default. Written out, older versions would lack
// its plugins.
func TestDefaultConfiguration(t *testing.T) {
	standard, err := config.Default()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := own(standard.YAML); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := own([]byte(only("ImageLocality"))); got != only("ImageLocality") || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := own([]byte("no configuration")); got != "no configuration" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func typedPod(name, node string, priority int32, more ...func(*v1.Pod)) feed.Operation {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name), ResourceVersion: "1"},
		Spec: v1.PodSpec{NodeName: node, SchedulerName: v1.DefaultSchedulerName, Priority: &priority, Containers: []v1.Container{{
			Name: "main", Image: "app", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("2")}},
		}}},
	}
	for _, change := range more {
		change(pod)
	}
	return feed.Operation{Set: pod}
}

func typedNode(name string) feed.Operation {
	amounts := v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourcePods: resource.MustParse("10")}
	return feed.Operation{Set: &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: amounts, Capacity: amounts}}}
}

// TestMoment: every pod is decided about, in the state as it is; what the kubelet runs by itself and what is going is not.
func TestMoment(t *testing.T) {
	going := metav1.Now()
	ops := []feed.Operation{
		typedNode("a"), typedNode("b"),
		typedPod("runs", "a", 0), typedPod("late", "", 5), typedPod("first", "", 10), typedPod("same", "", 5, func(p *v1.Pod) { p.CreationTimestamp = metav1.Unix(1, 0) }),
		typedPod("static", "a", 0, func(p *v1.Pod) { p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x"} }),
		typedPod("going", "b", 0, func(p *v1.Pod) { p.DeletionTimestamp = &going }),
		typedPod("foreign", "", 0, func(p *v1.Pod) { p.Spec.SchedulerName = "other" }),
	}
	var told []Progress
	answer, err := ask(t.Context(), loaded{Source: Moment(ops), Cluster: "a test"}, Question{From: "1.36"}, Options{start: emulating(t)}, func(p Progress) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	// Both nodes have 2 CPUs taken: runs and static on a, going on b. So runs would find room on either, one of the pending pods finds b, and the
	// others find none.
	if answer.Pods != 4 || answer.Same != 4 || answer.OtherSchedulers != 1 {
		t.Errorf("%d pods, %+v, %d of other schedulers", answer.Pods, answer.Counts, answer.OtherSchedulers)
	}
	if diff := cmp.Diff([]string{"1 decision: the configuration has no profile of the name that they ask for."}, answer.NotJudged); diff != "" {
		t.Error(diff)
	}
	if want := "From 1.37 to 1.37, none of 4 decisions changes."; answer.Sentence != want {
		t.Errorf("%q, not %q", answer.Sentence, want)
	}
	if last := told[len(told)-1]; last != (Progress{Decided: 4, Decisions: 5}) {
		t.Errorf("progress ended at %+v", last)
	}
	var order []string
	_ = Moment(ops)(t.Context(), func(s Step) error {
		if s.Decide != nil {
			name, _, _ := strings.Cut(string(s.Decide[bytes.Index(s.Decide, []byte(`"name":"`))+8:]), `"`)
			order = append(order, name)
		}
		return nil
	})
	if diff := cmp.Diff([]string{"runs", "first", "late", "same", "foreign"}, order); diff != "" {
		t.Error(diff)
	}
}

var spaces = regexp.MustCompile(" +")

// TestPrint: a report names the cause, shows the example's scores side by side, and escapes what Markdown would read.
func TestPrint(t *testing.T) {
	source := steps(append(storage(), withClaim(t, "db"))...)
	answer, err := ask(t.Context(), loaded{Source: source, Cluster: "prod|eu"}, Question{From: "1.36", To: versions.Own}, Options{start: emulating(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var text, markdown bytes.Buffer
	if err := Print(&text, answer); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&markdown, answer); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		// The test's schedulers are all of one version, which emulates.
		"From 1.37 to 1.37, of 1 decision 1 has other best nodes beside a common one.",
		"\nother node of an equal total 1 100.0 %\n",
		"VolumeBinding scores otherwise: StorageCapacityScoring", "StorageCapacityScoring", "arguments of VolumeBinding",
		"SCORE × WEIGHT", "OTHER NODE OF AN EQUAL TOTAL: DEFAULT/DB",
	} {
		if !strings.Contains(spaces.ReplaceAllString(text.String(), " "), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	for _, want := range []string{"## Upgrade from 1.37 to 1.37\n", `prod\|eu`, "| Class | Decisions | Share |", "### Causes"} {
		if !strings.Contains(markdown.String(), want) {
			t.Errorf("no %q in\n%s", want, &markdown)
		}
	}
}
