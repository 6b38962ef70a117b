package systemtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/jsonpath"

	"kube-scheduler-simulator/simulator/testing/clustertest"
	"kube-scheduler-simulator/simulator/testing/kubectltest"
)

// TestCases replays public reports of pods that nobody could explain. Each script of testdata/cases
// begins with the right answer and its source, builds the cluster, asks the program, and compares
// what it prints with what a reader has reviewed. The browser tests build the same clusters and look
// at the pages. Run with -update when you can explain every changed line.
func TestCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		// make test leaves those out that need a simulator of their own.
		files = slices.DeleteFunc(files, func(file string) bool {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(string(script), "\nsimulate --")
		})
	}
	// The first flags of a script are its simulator's. Scripts with the same flags share one.
	running := map[string]*program{}
	testscript.RunT(inTurn{t}, testscript.Params{
		Files:               files,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Values[called{}] = map[string]string{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"simulate": func(ts *testscript.TestScript, _ bool, flags []string) {
				// Files of the script are gone when another script uses the simulator.
				flags = append([]string{}, flags...)
				for i, flag := range flags {
					if strings.HasSuffix(flag, ".yaml") {
						flags[i] = ts.MkAbs(flag)
					}
				}
				key := strings.Join(flags, " ")
				p := running[key]
				if p == nil {
					p = start(t, passing(t), flags...)
					running[key] = p
				} else if err := p.reset(); err != nil {
					ts.Fatalf("reset: %v", err)
				}
				ts.Setenv("SERVER", p.url)
				ts.Setenv("KUBECONFIG", p.kubeconfig)
			},
			"kubectl":   runKubectl,
			"until":     runUntil,
			"call":      runCall,
			"http":      runHTTP,
			"simulator": runSimulator,
		},
	})
}

// inTurn runs the scripts one after the other, because they share simulators.
type inTurn struct{ *testing.T }

var _ testscript.T = inTurn{}

func (inTurn) Parallel()       {}
func (t inTurn) Verbose() bool { return testing.Verbose() }
func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}

// reset empties the cluster.
func (p *program) reset() error {
	a, err := p.request(http.MethodPut, "/api/v1/reset", nil, nil)
	if err == nil && a.status >= 300 {
		err = fmt.Errorf("%d: %s", a.status, a.body)
	}
	return err
}

// called is the key of the values that a script has named.
type called struct{}

// chance matches what differs from run to run: UIDs, times, and the ends of the names of a workload's pods.
var chance = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\d\d:\d\d:\d\d UTC|(\b[a-z0-9-]+-[0-9a-f]{8,10}-)[a-z0-9]{5}\b`)

// say prints what a command returned. It puts names in place of the values that the script has named, and
// an ellipsis in place of others that differ from run to run.
func say(ts *testscript.TestScript, out string) {
	for name, value := range ts.Value(called{}).(map[string]string) {
		out = strings.ReplaceAll(out, value, name)
	}
	fmt.Fprint(ts.Stdout(), chance.ReplaceAllString(out, "${1}…"))
}

// runCall is `call NAME kubectl|http ARGS…`: $NAME is what the command prints from now on, and stands for it in what
// commands print.
func runCall(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: call NAME kubectl|http ARGS…")
	}
	out, err := asking(ts, args[1])(ts, args[2:])
	ts.Check(err)
	value := strings.TrimSpace(out)
	if value == "" {
		ts.Fatalf("%s prints nothing", strings.Join(args[1:], " "))
	}
	ts.Setenv(args[0], value)
	ts.Value(called{}).(map[string]string)[args[0]] = value
}

// asking returns the command that until and call repeat.
func asking(ts *testscript.TestScript, name string) func(*testscript.TestScript, []string) (string, error) {
	switch name {
	case "kubectl":
		return kubectl
	case "http":
		return request
	}
	ts.Fatalf("want kubectl or http, not %s", name)
	return nil
}

// runSimulator is `simulator COMMAND ARGS…`, asked of the script's simulator. Its address is left out.
func runSimulator(ts *testscript.TestScript, neg bool, args []string) {
	server := ts.Getenv("SERVER")
	command := exec.Command(clustertest.Program(), append(args, "--server", server)...)
	command.Dir = ts.MkAbs(".")
	command.Stderr = ts.Stderr()
	out, err := command.Output()
	say(ts, strings.ReplaceAll(string(out), " at "+server, ""))
	if (err != nil) != neg {
		ts.Fatalf("simulator %s: %v", strings.Join(args, " "), err)
	}
}

// kubectl returns what `kubectl ARGS…` prints. The files that it names are the script's.
func kubectl(ts *testscript.TestScript, args []string) (string, error) {
	args = append([]string{}, args...)
	for i := range args {
		if i > 0 && args[i-1] == "-f" {
			args[i] = ts.MkAbs(args[i])
		}
	}
	return kubectltest.Kubectl{Kubeconfig: ts.Getenv("KUBECONFIG")}.Run(args...)
}

// runKubectl is `kubectl ARGS…`.
func runKubectl(ts *testscript.TestScript, neg bool, args []string) {
	out, err := kubectl(ts, args)
	if (err != nil) != neg {
		ts.Fatalf("%v", err)
	}
	if err != nil {
		out = err.Error()
	}
	say(ts, out)
}

// runUntil is `until VALUE COMMAND ARGS…`: it waits until the command, kubectl or http, prints the value.
func runUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: until VALUE kubectl|http ARGS…")
	}
	ask := asking(ts, args[1])
	var last error
	err := wait.PollUntilContextTimeout(context.Background(), 250*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		var out string
		if out, last = ask(ts, args[2:]); last == nil && strings.TrimSpace(out) != args[0] {
			last = fmt.Errorf("it prints %q", out)
		}
		return last == nil, nil
	})
	if err != nil {
		ts.Fatalf("waiting until %s prints %q: %v: %v", strings.Join(args[1:], " "), args[0], err, last)
	}
}

// runHTTP is `http METHOD PATH [FILE] [JSONPATH]`.
func runHTTP(ts *testscript.TestScript, neg bool, args []string) {
	out, err := request(ts, args)
	if (err != nil) != neg {
		ts.Fatalf("http %s: %v", strings.Join(args, " "), err)
	}
	if err != nil {
		out = err.Error()
	}
	say(ts, out)
}

// request sends a file, if one is named, and returns the answer, or what a JSONPath as kubectl's finds in it.
func request(ts *testscript.TestScript, args []string) (string, error) {
	method, path, args := args[0], args[1], args[2:]
	var body io.Reader
	if len(args) > 0 && !strings.HasPrefix(args[0], "{") {
		body, args = strings.NewReader(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), args[1:]
	}
	p := program{url: ts.Getenv("SERVER")}
	a, err := p.request(method, path, body, func(r *http.Request) {
		if body != nil {
			r.Header.Set("Content-Type", "application/yaml")
		}
	})
	switch {
	case err != nil:
		return "", err
	case a.status >= http.StatusMultipleChoices:
		return "", fmt.Errorf("%d: %s", a.status, a.body)
	case len(args) == 0:
		return string(a.body), nil
	}
	var document any
	if err := json.Unmarshal(a.body, &document); err != nil {
		return "", err
	}
	find := jsonpath.New(path).AllowMissingKeys(true)
	if err := find.Parse(args[0]); err != nil {
		return "", err
	}
	var out strings.Builder
	err = find.Execute(&out, document)
	return strings.TrimRight(out.String(), "\n") + "\n", err
}
