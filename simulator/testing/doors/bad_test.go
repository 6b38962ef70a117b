package doors

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kube-scheduler-simulator/simulator/kubectl"
)

// TestBadInputToKubectl: one clear error each, in time, and the exit code of what could not be told.
func TestBadInputToKubectl(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	state := write("state.yaml", node("a", "")+sized("2"))
	unreachable := write("kubeconfig", `{apiVersion: v1, kind: Config, current-context: gone, contexts: [{name: gone, context: {cluster: c, user: u}}],
  clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}], users: [{name: u, user: {token: t}}]}`)
	mistakes := write("mistakes.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {container: [], nodeNam: a, containers: [{name: c, imag: x}]}\n")
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"no question":               {[]string{"--state", state}, []string{"name"}},
		"both questions":            {[]string{"--state", state, "p", "-f", mistakes}, []string{"-f"}},
		"no such pod":               {[]string{"--state", state, "nobody"}, []string{"default/nobody"}},
		"no such workload":          {[]string{"--state", state, "deploy/nobody"}, []string{"Deployment", "nobody"}},
		"no such node":              {[]string{"--state", state, "-f", write("pod.yaml", pending("p", "1", "")), "--node", "z"}, []string{"Node", "z"}},
		"a kind without pods":       {[]string{"--state", state, "service/web"}, []string{"service", "deployment"}},
		"a CronJob":                 {[]string{"--state", state, "cronjob/web"}, []string{"job/NAME"}},
		"three mistakes":            {[]string{"--state", state, "-f", mistakes}, []string{"container", "nodeNam", "imag"}},
		"no file":                   {[]string{"--state", state, "-f", filepath.Join(dir, "none.yaml")}, []string{"none.yaml"}},
		"a file without pods":       {[]string{"--state", state, "-f", state}, []string{"no pod"}},
		"a format":                  {[]string{"--state", state, "p", "-o", "xml"}, []string{"xml", "markdown"}},
		"a flag":                    {[]string{"--stat", state, "p"}, []string{"--stat", "--help"}},
		"an unreachable cluster":    {[]string{"--kubeconfig", unreachable, "p"}, []string{"127.0.0.1:1", "refused"}},
		"no context":                {[]string{"--kubeconfig", unreachable, "--context", "none", "p"}, []string{"none"}},
		"no kubeconfig":             {[]string{"--kubeconfig", filepath.Join(dir, "none"), "p"}, []string{"none"}},
		"no configuration":          {[]string{"--state", state, "p", "--scheduler-config", filepath.Join(dir, "none")}, []string{"none"}},
		"a name with a slash":       {[]string{"--state", state, "pod/a/b"}, []string{"TYPE/NAME"}},
		"an unknown gate":           {[]string{"--state", state, "p", "--feature-gates", "Nothing=true"}, []string{"Nothing"}},
		"a number that is too high": {[]string{"--state", state, "-f", filepath.Join(dir, "pod.yaml"), "--limit", "1000", "--node", "a"}, []string{"limit"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			command := kubectl.New(strings.NewReader(""), &out, &errs)
			command.SetArgs(c.args)
			begun := time.Now()
			err := command.ExecuteContext(t.Context())
			if err == nil || out.Len() > 0 || errs.Len() > 0 || strings.Contains(err.Error(), "\n") {
				t.Fatalf("it printed %q and %q, and returned %v", &out, &errs, err)
			}
			if e, ok := errors.AsType[*kubectl.ExitError](err); ok {
				t.Errorf("it exited with %d", e.Code)
			}
			for _, text := range c.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the error lacks %q: %v", text, err)
				}
			}
			if took := time.Since(begun); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}
