package command

import (
	"context"
	"io"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"kube-scheduler-simulator/simulator/app"
)

const branchFlag = "branch"

// Only simulator/past/branch uses this flag.
func (flags flagSet) branch(options *app.Options) {
	flags.StringVar(&options.Branch, branchFlag, "", "`name` of the branch that this program is; it stops when its standard input ends")
	_ = flags.MarkHidden(branchFlag) // it exists
}

// The context ends with the standard input, which the trunk holds open. The kernel closes it when
// the trunk is killed.
func untilInputEnds(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	// Nothing can interrupt the read, so the goroutine ends with the process at the latest.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx, cancel
}

// trunkFlags are those that concern the trunk's address, its directories, and the source of its
// cluster.
var trunkFlags = []string{
	"listen", "data-dir", "token-file", "kubeconfig", "context", "etcd-servers", "etcd-prefix", "etcd-cafile", "etcd-certfile", "etcd-keyfile",
	"import", "reschedule", "import-kubeconfig", "sync-kubeconfig", "source-context", "source-namespaces", "source-selector", "source-qps", "redact",
}

// ofBranches returns the given flags that hold for branches, too.
func (flags flagSet) ofBranches() []string {
	var ignored app.Options
	known := newFlags("", "")
	known.serve(&ignored)
	var args []string
	flags.Visit(func(f *pflag.Flag) {
		if known.Lookup(f.Name) == nil || slices.Contains(trunkFlags, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			args = append(args, "--"+f.Name+"="+value)
		}
	})
	return args
}
