// Package kubectltest runs kubectl's own code inside a test, so that what a test
// says about kubectl is what a person at a terminal sees. No binary is needed. It
// is imported by tests only, and imports none of our packages.
package kubectltest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// Kubectl is kubectl with a kubeconfig. It may be used by many goroutines, which
// take turns: kubectl ends through a process-wide function.
type Kubectl struct {
	// Kubeconfig is the path of the file.
	Kubeconfig string
}

// turn is held while kubectl runs.
var turn sync.Mutex

// failure is what kubectl would have ended the process with.
type failure struct {
	message string
	code    int
}

// Run returns what `kubectl args…` with stdin writes to stdout and stderr, in one.
// The error has kubectl's message when the command would have ended with another
// exit code than 0.
func (k Kubectl) Run(stdin string, args ...string) (output string, err error) {
	turn.Lock()
	defer turn.Unlock()
	var out bytes.Buffer
	cmdutil.BehaviorOnFatal(func(message string, code int) { panic(failure{message, code}) })
	defer cmdutil.DefaultBehaviorOnFatal()
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			output, err = out.String(), fmt.Errorf("kubectl %s: exit code %d: %s", strings.Join(args, " "), f.code, f.message)
		}
	}()
	streams := genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &out}
	command := cmd.NewKubectlCommand(cmd.KubectlOptions{
		IOStreams:   streams,
		ConfigFlags: genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50),
	})
	command.SetArgs(append([]string{"--kubeconfig", k.Kubeconfig}, args...))
	command.SetOut(&out)
	command.SetErr(io.Discard)
	command.SilenceErrors, command.SilenceUsage = true, true
	if err := command.Execute(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	return out.String(), nil
}

// Must is Run for a command that has to succeed; otherwise the test ends.
func (k Kubectl) Must(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	out, err := k.Run(stdin, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}
