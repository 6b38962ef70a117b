// Package quiet silences what Kubernetes' components log: much of what they log as
// errors is everyday business of starting, stopping and retrying. It imports klog
// only.
package quiet

import (
	"flag"
	"fmt"
	"io"

	"k8s.io/klog/v2"
)

// Klog discards what is logged by klog, in the whole process, but for what ends it.
// It is called before anything logs.
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
