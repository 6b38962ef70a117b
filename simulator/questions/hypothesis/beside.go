package hypothesis

import (
	"context"
	"errors"

	"kube-scheduler-simulator/scheduler/others/flow"
	"kube-scheduler-simulator/scheduler/others/session"
	"kube-scheduler-simulator/scheduler/whatif"
)

// Beside answers for schedulers that decide about all of their pods at once. Methods are safe for
// concurrent use.
type Beside interface {
	Enabled() bool
	// WhatIf runs the next session or round of a scheduler on a copy of the state. The errors are
	// those of whatif.Engine.Ask.
	WhatIf(ctx context.Context, scheduler string, q whatif.Question) (*whatif.Answer, *session.Turn, error)
}

// besides returns the scheduler beside kube-scheduler that the question is for, if err says that
// the engine lacks the profile; empty for none.
func besides(err error) string {
	if bad, ok := errors.AsType[*whatif.ProfileError](err); ok && (bad.Profile == flow.SchedulerName || session.Serves(bad.Profile)) {
		return bad.Profile
	}
	return ""
}

// whole is what a scheduler decides about in one turn.
func whole(scheduler string) string {
	if scheduler == flow.SchedulerName {
		return "all of its waiting pods in rounds"
	}
	return "whole jobs in sessions"
}

// profileField is where a question names its scheduler.
func (q *admitted) profileField() string {
	if q.profile == "" {
		return "pod.spec.schedulerName"
	}
	return "profile"
}

func (d *Desk) askBeside(ctx context.Context, q *admitted, scheduler string, asked whatif.Question) (*WhatIfAnswer, error) {
	switch {
	case q.document != nil:
		return nil, refuse("configuration", "%s does not read a KubeSchedulerConfiguration", scheduler)
	case asked.AskExtenders:
		return nil, refuse("extenders", "%s asks no extenders of kube-scheduler", scheduler)
	case d.options.Beside == nil:
		return nil, refuse(q.profileField(), "%s decides about %s, which only a running simulator can try; name a profile of kube-scheduler to see what that would do", scheduler, whole(scheduler))
	case !d.options.Beside.Enabled():
		return nil, refuse(q.profileField(), "%s does not run; turn on the session schedulers, or name a profile of kube-scheduler", scheduler)
	}
	answer, turn, err := d.options.Beside.WhatIf(ctx, scheduler, asked)
	if err != nil {
		return nil, q.refused(err)
	}
	return explained(answer, turn), nil
}
