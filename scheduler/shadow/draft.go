package shadow

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Draft is a judgement of a configuration that runs nowhere.
type Draft struct {
	// State is the newest pod's.
	State whatif.State `json:"state"`
	Judgement
	// Complete is false when time ran out.
	Complete bool `json:"complete"`
}

// JudgeDraft asks where pods would go under a draft and under the running configuration, the items'
// live side. It judges each pod on the present state, as if that pod alone were not placed. So the
// answer says what the draft would change now; it does not repeat past decisions.
//
// summaries are those of earlier decisions, newest first. JudgeDraft judges a pod once, for its
// newest decision, leaves out pods that no longer exist, and begins no pod when the time is over.
// The errors are those of whatif.Engine.Ask about configurations, and ctx's.
func JudgeDraft(ctx context.Context, engine *whatif.Engine, draft *config.KubeSchedulerConfiguration, summaries []result.Summary, within time.Duration) (*Draft, error) {
	out := &Draft{Complete: true, Judgement: Judgement{Items: []Item{}}}
	over, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	seen := map[types.UID]bool{}
	for i := range summaries {
		live := &summaries[i]
		if seen[live.Pod.UID] {
			continue
		}
		seen[live.Pod.UID] = true
		if over.Err() != nil {
			out.Complete = false
			break
		}
		running, err := decide(ctx, engine, live.Pod, nil)
		var drafted *whatif.Answer
		if err == nil {
			drafted, err = decide(ctx, engine, live.Pod, draft)
		}
		if _, missing := errors.AsType[*whatif.NotFoundError](err); missing {
			continue
		}
		if err != nil {
			return nil, err
		}
		if running.Decisions[0].Pod.UID != live.Pod.UID {
			continue // another pod of the same name
		}
		if out.Judged == 0 {
			out.State = drafted.State
		}
		item := itemOf(running.Decisions[0], drafted.Decisions[0])
		item.Owner, item.Attempt, item.Time = live.Owner, live.Attempt, live.StartTime
		out.add(item)
	}
	return out, nil
}

// decide asks about a configuration; nil means the running one.
func decide(ctx context.Context, engine *whatif.Engine, pod result.Pod, c *config.KubeSchedulerConfiguration) (*whatif.Answer, error) {
	return engine.Ask(ctx, whatif.Question{PodRef: &types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, Configuration: c})
}
