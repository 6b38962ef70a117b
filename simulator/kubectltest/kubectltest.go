// Package kubectltest runs kubectl's own code inside a test, so that what a test
// says about kubectl is what a person at a terminal sees. No binary is needed. It
// is imported by tests only, and imports none of our packages.
package kubectltest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	// Namespace is where objects are whose namespace is not given. Default: what
	// the kubeconfig says.
	Namespace string
}

// turn is held while kubectl runs.
var turn sync.Mutex

// failure is what kubectl would have ended the process with.
type failure struct {
	message string
	code    int
}

// Run returns what `kubectl args…` writes to stdout. It has no stdin. The error has what
// it says on stderr, and is there when the command would have ended with another
// exit code than 0.
func (k Kubectl) Run(args ...string) (output string, err error) {
	turn.Lock()
	defer turn.Unlock()
	var out, said bytes.Buffer
	cmdutil.BehaviorOnFatal(func(message string, code int) { panic(failure{message, code}) })
	defer cmdutil.DefaultBehaviorOnFatal()
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			output, err = out.String(), fmt.Errorf("kubectl %s: exit code %d: %s%s", strings.Join(args, " "), f.code, said.String(), f.message)
		}
	}()
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &said}
	command := cmd.NewKubectlCommand(cmd.KubectlOptions{
		IOStreams:   streams,
		ConfigFlags: genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50),
	})
	command.SetArgs(append(args, "--kubeconfig="+k.Kubeconfig, "--namespace="+k.Namespace))
	command.SetOut(&out)
	command.SetErr(io.Discard)
	command.SilenceErrors, command.SilenceUsage = true, true
	if err := command.Execute(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %s%w", strings.Join(args, " "), said.String(), err)
	}
	return out.String(), nil
}

// Must is Run for a command that has to succeed; otherwise the test ends.
func (k Kubectl) Must(t testing.TB, args ...string) string {
	t.Helper()
	out, err := k.Run(args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// Apply applies manifests, all of which have to be accepted.
func (k Kubectl) Apply(t testing.TB, manifests string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifests.yaml")
	if err := os.WriteFile(file, []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	return k.Must(t, "apply", "-f", file)
}
