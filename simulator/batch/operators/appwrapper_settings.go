package operators

import (
	"slices"
	"strconv"
	"strings"
	"time"

	appwrapper "github.com/project-codeflare/appwrapper/api/v1beta2"
	v1 "k8s.io/api/core/v1"
)

// periods are the defaults of the annotations that change them.
var periods = map[string]time.Duration{
	appwrapper.AdmissionGracePeriodDurationAnnotation: time.Minute,
	appwrapper.WarmupGracePeriodDurationAnnotation:    5 * time.Minute,
	appwrapper.FailureGracePeriodDurationAnnotation:   time.Minute,
	appwrapper.RetryPausePeriodDurationAnnotation:     90 * time.Second,
	appwrapper.ForcefulDeletionGracePeriodAnnotation:  10 * time.Minute,
	appwrapper.DeletionOnFailureGracePeriodAnnotation: 0,
}

const (
	longestPeriod     = 24 * time.Hour
	defaultRetries    = 3
	longestTimeToLive = 7 * 24 * time.Hour // after success
)

// period is that of an annotation. One that cannot be read counts as absent.
func period(w *wrapper, annotation string) time.Duration {
	if given, err := time.ParseDuration(w.Annotations[annotation]); err == nil {
		return min(max(given, 0), longestPeriod)
	}
	return periods[annotation]
}

// timeToLive is how long components stay after success.
func timeToLive(w *wrapper) time.Duration {
	if given, err := time.ParseDuration(w.Annotations[appwrapper.SuccessTTLAnnotation]); err == nil && given > 0 && given < longestTimeToLive {
		return given
	}
	return longestTimeToLive
}

func retryLimit(w *wrapper) int32 {
	if limit, err := strconv.ParseInt(w.Annotations[appwrapper.RetryLimitAnnotation], 10, 32); err == nil {
		return int32(limit)
	}
	return defaultRetries
}

// failsForGood reports whether the exit code of a failed pod forbids another attempt.
func failsForGood(w *wrapper, pod *v1.Pod) bool {
	terminal, retryable := exitCodes(w, appwrapper.TerminalExitCodesAnnotation), exitCodes(w, appwrapper.RetryableExitCodesAnnotation)
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c v1.ContainerStatus) bool {
		if c.State.Terminated == nil || c.State.Terminated.ExitCode == 0 {
			return false
		}
		code := int(c.State.Terminated.ExitCode)
		return slices.Contains(terminal, code) || len(retryable) > 0 && !slices.Contains(retryable, code)
	})
}

func exitCodes(w *wrapper, annotation string) (codes []int) {
	for text := range strings.SplitSeq(w.Annotations[annotation], ",") {
		if code, err := strconv.Atoi(text); err == nil {
			codes = append(codes, code)
		}
	}
	return codes
}
