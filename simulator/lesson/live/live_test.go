package live

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/scenarios/oncluster"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// decisions are the attempts of pods, oldest first.
type decisions []*result.Cycle

func (d *decisions) List(result.Query) (result.Page, error) {
	var page result.Page
	for i := len(*d) - 1; i >= 0; i-- {
		page.Items = append(page.Items, (*d)[i].Summary)
	}
	return page, nil
}

func (d *decisions) Get(uid types.UID, attempt int) (*result.Cycle, error) {
	for _, c := range *d {
		if c.Pod.UID == uid && c.Attempt == attempt {
			return c, nil
		}
	}
	return nil, nil
}

// A step that waits for a decision sees those that were made since it began.
func TestAStageLearnsOfLaterDecisions(t *testing.T) {
	made := &decisions{}
	decide := func(attempt int, message string) {
		*made = append(*made, &result.Cycle{Summary: result.Summary{
			Pod: result.Pod{Namespace: "default", Name: "web", UID: "u"}, Attempt: attempt, Outcome: result.Unschedulable, Message: message,
		}})
	}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "u"}}
	behind, err := oncluster.New(oncluster.Options{ClientConfig: &rest.Config{}, Client: fake.NewClientset(pod)})
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{behind, Options{Results: made}}
	stage, err := c.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parts, err := scenario.NewParts(t.Context(), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for attempt, message := range []string{"", "no room", "no room yet"} {
		if attempt > 0 {
			decide(attempt, message)
		}
		that := scenario.Expression{Text: `pods.exists(p, p.name == "web" && p.attempts == ` + string(rune('0'+attempt)) + ` && p.message == "` + message + `")`}
		if got, err := stage.Judge(t.Context(), parts.Condition(that), nil); err != nil || !got.Passed {
			t.Errorf("%s: %+v, %v", that.Text, got, err)
		}
	}
	if err := parts.Err(); err != nil {
		t.Error(err)
	}
}
