package app

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"

	"kube-scheduler-simulator/simulator/testing/kubectltest"
)

// kubectl is kubectl in a namespace of a simulator.
type kubectl struct {
	kubectltest.Kubectl
	simulator *running
	namespace string
}

// newKubectl returns a kubectl in a new namespace.
func newKubectl(t *testing.T, s *running) *kubectl {
	t.Helper()
	in := namespace(t, s)
	return &kubectl{Kubectl: kubectltest.Kubectl{Kubeconfig: s.kubeconfig, Namespace: in}, simulator: s, namespace: in}
}

// do runs a command line that must succeed.
func (k *kubectl) do(t *testing.T, args ...string) {
	t.Helper()
	k.Must(t, args...)
}

// apply applies manifests. %s is the namespace's name.
func (k *kubectl) apply(t *testing.T, manifests string) {
	t.Helper()
	k.Apply(t, strings.ReplaceAll(manifests, "%s", k.namespace))
}

// volatile are the parts of kubectl's output that differ between runs: generated names, addresses and
// times.
var volatile = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`pvc-[0-9a-f]{8}-[0-9a-f-]{27}`), "pvc-…"},
	{regexp.MustCompile(`\b\d+(ms|s|m|m\d+s)\b`), "…s"},
	{regexp.MustCompile(`<invalid>`), "…s"},
	{regexp.MustCompile(`[ \t]+`), " "},
	{regexp.MustCompile(` *\n`), "\n"},
}

// livingTimeout is long enough for Kubernetes' slow processes, even on a busy machine.
const livingTimeout = time.Minute

// shows waits until kubectl get prints want, ignoring volatile parts.
func (k *kubectl) shows(t *testing.T, want string, args ...string) {
	t.Helper()
	want = strings.TrimSpace(strings.ReplaceAll(want, "%s", k.namespace))
	var got string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, livingTimeout, true, func(context.Context) (bool, error) {
		out, err := k.Run(append([]string{"get"}, args...)...)
		if err != nil {
			out = err.Error()
		}
		for _, v := range volatile {
			out = v.pattern.ReplaceAllString(out, v.as)
		}
		got = strings.TrimSpace(out)
		return got == want, nil
	})
	if err != nil {
		t.Fatalf("kubectl get %s:\n%s", strings.Join(args, " "), cmp.Diff(want, got))
	}
}

// prints waits until a kubectl get with a JSONPath prints want.
func (k *kubectl) prints(t *testing.T, want, path string, args ...string) {
	t.Helper()
	k.shows(t, want, append(args, "-o", "jsonpath="+path)...)
}
