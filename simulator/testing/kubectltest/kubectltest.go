// Package kubectltest runs kubectl's own code inside a test, so that a test sees the same output as
// a person at a terminal. It needs no kubectl binary. Only tests import it, and it may import none
// of our packages.
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

// Kubectl is kubectl with a kubeconfig. Many goroutines may use it; they take turns, because
// kubectl exits through a process-wide function.
type Kubectl struct {
	// Kubeconfig is a path.
	Kubeconfig string
	// Namespace is for objects without one. Default: that of the kubeconfig.
	Namespace string
}

var turn sync.Mutex

// failure is the message and the exit code with which kubectl would have exited.
type failure struct {
	message string
	code    int
}

// Run returns the stdout of `kubectl args…`, which gets no stdin. If the command would exit with a
// code other than 0, Run returns an error with its stderr.
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
	// Before the arguments, which may contain "--".
	command.SetArgs(append([]string{"--kubeconfig=" + k.Kubeconfig, "--namespace=" + k.Namespace}, args...))
	command.SetOut(&out)
	command.SetErr(io.Discard)
	command.SilenceErrors, command.SilenceUsage = true, true
	if err := command.Execute(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %s%w", strings.Join(args, " "), said.String(), err)
	}
	return out.String(), nil
}

// Must is like Run, but fails the test if the command fails.
func (k Kubectl) Must(t testing.TB, args ...string) string {
	t.Helper()
	out, err := k.Run(args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// Apply applies manifests and fails the test unless all are accepted.
func (k Kubectl) Apply(t testing.TB, manifests string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifests.yaml")
	if err := os.WriteFile(file, []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	return k.Must(t, "apply", "-f", file)
}
