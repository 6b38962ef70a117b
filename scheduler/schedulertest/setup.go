package schedulertest

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-base/featuregate"
)

// Prepare prepares the process for bubbles of testing/synctest. Call it once,
// before the first run:
//
//   - The goroutine that delivers signals starts when it is first needed. It
//     must not belong to a bubble, which it would outlive.
//   - The Kubernetes error handlers keep the time of the latest error, and sleep
//     by it. A bubble has a different clock. Errors that a scheduler reports
//     are in the transcript.
//   - The scheduler's retries come after a random time.
func Prepare() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	signal.Stop(signals)
	retry.DefaultBackoff.Jitter, retry.DefaultRetry.Jitter = 0, 0
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(context.Context, error, string, ...any) {},
	}
}

func popsFromBackoff() bool {
	return utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature("SchedulerPopFromBackoffQ"))
}
