package shadow

import (
	"slices"
	"time"

	"kube-scheduler-simulator/scheduler/result"
)

// MaxItems is how many decisions a judgement keeps.
const MaxItems = 500

// Item is a live decision with the shadow's.
type Item struct {
	Pod     result.Pod    `json:"pod"`
	Owner   *result.Owner `json:"owner,omitempty"`
	Attempt int           `json:"attempt"`
	Time    time.Time     `json:"time"`
	Profile string        `json:"profile"`
	Comparison
}

func itemOf(live, shadow *result.Cycle) Item {
	return Item{
		Pod: live.Pod, Owner: live.Owner, Attempt: live.Attempt, Time: live.StartTime, Profile: live.Profile,
		Comparison: Compare(live, shadow),
	}
}

// Counts are numbers of decisions by verdict.
type Counts struct {
	Same      int `json:"same"`
	AsGood    int `json:"asGood"`
	Elsewhere int `json:"elsewhere"`
	Pending   int `json:"pending"`
	Placed    int `json:"placed"`
}

// Add counts a verdict.
func (c *Counts) Add(v Verdict) {
	switch v {
	case Same:
		c.Same++
	case AsGood:
		c.AsGood++
	case Elsewhere:
		c.Elsewhere++
	case Pending:
		c.Pending++
	case Placed:
		c.Placed++
	}
}

// Judgement sums up what a shadow says about decisions.
type Judgement struct {
	// Differ counts the decisions whose verdict differs.
	Judged   int    `json:"judged"`
	Differ   int    `json:"differ"`
	Verdicts Counts `json:"verdicts"`
	// Items are the latest of them, newest first, at most MaxItems.
	Items []Item `json:"items"`
}

func (j *Judgement) add(i Item) {
	j.Judged++
	if i.Differs {
		j.Differ++
	}
	j.Verdicts.Add(i.Verdict)
	j.Items = append(j.Items, i)
	if len(j.Items) >= 2*MaxItems {
		j.Items = slices.Clone(j.Items[len(j.Items)-MaxItems:])
	}
}

// newestFirst returns a copy for readers. j itself has the oldest first, and may have more than
// MaxItems.
func (j *Judgement) newestFirst() Judgement {
	out := *j
	out.Items = slices.Clone(j.Items[max(0, len(j.Items)-MaxItems):])
	slices.Reverse(out.Items)
	if out.Items == nil {
		out.Items = []Item{}
	}
	return out
}
