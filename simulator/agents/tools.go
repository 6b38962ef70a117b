package agents

import (
	"errors"
	"net/http"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/simulator/questions/ask"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

// addTools adds all that an agent can ask. There are ten at most: an agent reads every description
// before it asks anything.
func (s *Server) addTools() {
	add(s, explainPod)
	add(s, whyNotNode)
	add(s, whatIf)
	add(s, leastChange)
	add(s, capacity)
	add(s, compareConfigurations)
	add(s, previewDrain)
	add(s, previewDeschedule)
	add(s, askQueue)
	add(s, runScenario)
	add(s, searchDecisions)
}

// skips reports whether an error is about one pod of many, which is then left out: the pod has gone,
// or names a scheduler that is not in the configuration.
func skips(err error) bool {
	if _, gone := errors.AsType[*whatif.NotFoundError](err); gone {
		return true
	}
	var mistakes []config.Mistake
	if refused, ok := errors.AsType[*hypothesis.Refused](err); ok {
		mistakes = refused.Mistakes
	}
	if refused, ok := errors.AsType[*ask.Refusal](err); ok {
		if refused.Status == http.StatusNotFound {
			return true
		}
		mistakes = refused.Details
	}
	return len(mistakes) == 1 && mistakes[0].Field == "pod.spec.schedulerName"
}
