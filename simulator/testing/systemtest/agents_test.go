package systemtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

func agent(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// toolAnswer is the text of an answer.
func toolAnswer(t *testing.T, session *mcp.ClientSession, tool, arguments string) (string, error) {
	t.Helper()
	a, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return "", err
	}
	text := a.Content[0].(*mcp.TextContent).Text
	if a.IsError {
		return "", errors.New(text)
	}
	return text, nil
}

// TestAgents: nonsense, a message of 10 MB and a crowd of questions get one error each, over HTTP and over stdio, and
// the simulator goes on.
func TestAgents(t *testing.T) {
	t.Parallel()
	p := start(t, passing(t))
	const node = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}}`
	if a, err := p.request(http.MethodPost, "/kubernetes/api/v1/nodes", strings.NewReader(node), nil); err != nil || a.status != http.StatusCreated {
		t.Fatal(a.status, string(a.body), err)
	}
	const question = `{"manifest":"{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 9}}}]}}"}`
	post := func(body string) answer {
		a, err := p.request(http.MethodPost, "/mcp", strings.NewReader(body), func(r *http.Request) {
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
		})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for body, status := range map[string]int{
		"nonsense":                  http.StatusBadRequest,
		"{}":                        http.StatusBadRequest,
		strings.Repeat("x", 10<<20): http.StatusRequestEntityTooLarge,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}`: http.StatusOK,
	} {
		if a := post(body); a.status != status {
			t.Errorf("%.40s: %d %s", body, a.status, a.body)
		}
	}
	doors := map[string]mcp.Transport{
		"HTTP":  &mcp.StreamableClientTransport{Endpoint: p.url + "/mcp", DisableStandaloneSSE: true},
		"stdio": &mcp.CommandTransport{Command: exec.Command(clustertest.Program(), "mcp", "--server", p.url)},
	}
	for name, door := range doors {
		session := agent(t, door)
		const crowd = 200
		var all sync.WaitGroup
		for range crowd {
			all.Go(func() {
				said, err := toolAnswer(t, session, "explain_pod", question)
				switch {
				case err != nil && !strings.Contains(err.Error(), "ask again"):
					t.Errorf("%s: %v", name, err)
				case err == nil && !strings.Contains(said, "Insufficient cpu"):
					t.Errorf("%s: %s", name, said)
				}
			})
		}
		p.alive(t)
		all.Wait()
		if said, err := toolAnswer(t, session, "explain_pod", question); err != nil || !strings.HasPrefix(said, "verdict: doesNotFit\n") {
			t.Errorf("%s after the crowd: %s %v", name, said, err)
		}
	}
	p.stop(t)
}

// TestAgentsOnStdio: the program answers each line, ends with its input, and with a signal.
func TestAgentsOnStdio(t *testing.T) {
	t.Parallel()
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	const question = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"explain_pod","arguments":{"pod":"web"}}}` + "\n"
	command := exec.Command(clustertest.Program(), "mcp", "--server", "http://127.0.0.1:1")
	command.Stdin = strings.NewReader(hello + "nonsense\n" + strings.Repeat("x", 10<<20) + "\n" + question)
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"code":-32700`, "larger than 1048576 bytes", "cannot be reached"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("the answers have no %s:\n%.4000s", want, out)
		}
	}
	waiting := exec.Command(clustertest.Program(), "mcp", "--server", "http://127.0.0.1:1")
	in, err := waiting.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := waiting.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, hello); err != nil {
		t.Fatal(err)
	}
	if _, err := answers.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := waiting.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, answers); err != nil {
		t.Fatal(err)
	}
	if err := waiting.Wait(); err != nil {
		t.Errorf("after a signal: %v", err)
	}
}

// TestAgentsOfAFile: one clear line for a file that is not there.
func TestAgentsOfAFile(t *testing.T) {
	t.Parallel()
	a := ask(t, t.TempDir(), "mcp", "--state", "missing.yaml")
	if a.code != 1 || strings.Count(a.errors, "\n") != 1 || !strings.Contains(a.errors, "missing.yaml") {
		t.Error(a)
	}
}
