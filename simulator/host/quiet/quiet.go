// Package quiet silences the logs of Kubernetes' components, whose many errors are often part of
// normal starts, stops and retries.
//
// It does not affect the simulator's own log. It may import only klog and logr.
package quiet

import (
	"flag"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// Klog discards klog's messages in the whole process, except fatal ones. Call it before any
// component logs. A logger that discards costs components nothing: the scheduler names one for
// every node that it filters.
func Klog() error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	// With logs on stderr, a fatal message comes without a stack.
	if err := flags.Set("logtostderr", "false"); err != nil {
		return fmt.Errorf("silencing klog: %w", err)
	}
	fatal := func(line []byte) {
		if len(line) > 0 && line[0] == 'F' {
			_, _ = os.Stderr.Write(line)
		}
	}
	klog.SetLoggerWithOptions(logr.Discard(), klog.ContextualLogger(true), klog.WriteKlogBuffer(fatal))
	return nil
}
