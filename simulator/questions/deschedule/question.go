package deschedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/cluster/descheduler"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/why"
)

const (
	// DefaultStart and DefaultStop are Question.StartSeconds and Question.StopSeconds.
	DefaultStart = 10
	DefaultStop  = 1
	// DefaultInterval is Question.IntervalSeconds: the --descheduling-interval of the descheduler's own manifests.
	DefaultInterval = 5 * 60
	// MaxRounds bounds Question.Rounds.
	MaxRounds = 20
	// mostSeconds bounds all times of a question.
	mostSeconds = 24 * 60 * 60
)

// Question asks what the descheduler would do.
type Question struct {
	// Policy is a DeschedulerPolicy of descheduler/v1alpha2, in YAML or JSON.
	Policy string `json:"policy"`
	// Rounds is how often the descheduler runs, IntervalSeconds apart; 0 means once, and DefaultInterval.
	Rounds          int `json:"rounds,omitempty"`
	IntervalSeconds int `json:"intervalSeconds,omitempty"`
	// StartSeconds is how long a pod takes from its node to being ready, and StopSeconds how long an evicted one takes to go; 0 means
	// DefaultStart and DefaultStop. A pod whose annotations tell a virtual node something else takes that long.
	StartSeconds int `json:"startSeconds,omitempty"`
	StopSeconds  int `json:"stopSeconds,omitempty"`
}

// Cluster is a cluster that is asked. Nothing that it does changes the cluster. Methods are safe for concurrent use.
type Cluster interface {
	why.Cluster
	Try(ctx context.Context, do func(context.Context, *whatif.Trial) error) error
}

// Finisher is a Cluster whose List leaves out the pods that no longer run.
type Finisher interface {
	// Finished returns them.
	Finished() []*v1.Pod
}

// complete checks a question and returns its policy.
func (q *Question) complete(ctx context.Context) (*descheduler.Policy, error) {
	q.Rounds, q.IntervalSeconds = cmp.Or(q.Rounds, 1), cmp.Or(q.IntervalSeconds, DefaultInterval)
	q.StartSeconds, q.StopSeconds = cmp.Or(q.StartSeconds, DefaultStart), cmp.Or(q.StopSeconds, DefaultStop)
	for _, of := range []struct {
		name        string
		value, most int
	}{{"rounds", q.Rounds, MaxRounds}, {"intervalSeconds", q.IntervalSeconds, mostSeconds}, {"startSeconds", q.StartSeconds, mostSeconds}, {"stopSeconds", q.StopSeconds, mostSeconds}} {
		if of.value < 0 || of.value > of.most {
			message := fmt.Sprintf("want a number from 0 to %d", of.most)
			return nil, &hypothesis.Refused{Message: of.name + ": " + message, Mistakes: []config.Mistake{{Field: of.name, Message: message}}}
		}
	}
	policy, err := descheduler.Read(ctx, []byte(q.Policy))
	return policy, refusedPolicy(err)
}

// refusedPolicy puts the mistakes of a policy into the question. Lines are those of the policy.
func refusedPolicy(err error) error {
	wrong, is := errors.AsType[yamlsource.Errors](err)
	if !is {
		return err
	}
	refused := &hypothesis.Refused{Message: "the policy is refused: " + wrong.Error()}
	for _, m := range wrong {
		m.Field = "policy" + map[bool]string{true: "", false: "."}[m.Field == ""] + m.Field
		refused.Mistakes = append(refused.Mistakes, m)
	}
	return refused
}
