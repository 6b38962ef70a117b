// Package quiet silences the logs of Kubernetes' components. Many of the errors that they log
// are part of normal starts, stops and retries.
//
// It does not affect the simulator's own log. It may import only klog.
package quiet

import (
	"flag"
	"fmt"
	"io"

	"k8s.io/klog/v2"
)

// Klog discards klog's messages in the whole process, except fatal ones. Call it before
// any component logs.
func Klog() error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("silencing klog: %w", err)
		}
	}
	klog.SetOutput(io.Discard)
	return nil
}
