package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestSkill calls the tools as the examples of the agents' instructions do, over stdio and over HTTP.
func TestSkill(t *testing.T) {
	t.Parallel()
	dir, ports := workplace(t)
	skill := filepath.Join(root, "simulator", "agents", "skill")
	page := readPage(t, filepath.Join(skill, "SKILL.md"))
	// The format of Agent Skills bounds both.
	head := regexp.MustCompile(`\A---\nname: ([a-z-]+)\ndescription: (.+)\n---\n`).FindStringSubmatch(page)
	if head == nil || len(head[1]) > 64 || len(head[2]) > 1024 {
		t.Errorf("SKILL.md does not begin with a name and a description: %q", head)
	}
	cluster, err := filepath.Abs(filepath.Join(skill, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, dir, os.Environ(), "bin/simulator --kueue --import "+cluster)
	url := ports.Replace("http://127.0.0.1:1212")
	doors := map[string]mcp.Transport{
		"stdio": &mcp.CommandTransport{Command: exec.Command(clustertest.Program(), "mcp", "--server", url)},
		"HTTP":  &mcp.StreamableClientTransport{Endpoint: url + "/mcp", DisableStandaloneSSE: true},
	}
	for name, door := range doors {
		t.Run(name, func(t *testing.T) {
			called := callExamples(t, page, door)
			for _, tool := range called.tools {
				if !called.seen[tool] {
					t.Errorf("SKILL.md has no example of %s", tool)
				}
			}
		})
	}
}

type examplesCalled struct {
	tools []string
	seen  map[string]bool
}

// callExamples calls the tools and compares the answers with the page.
func callExamples(t *testing.T, page string, door mcp.Transport) examplesCalled {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), door, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	called := examplesCalled{seen: map[string]bool{}}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		called.tools = append(called.tools, tool.Name)
	}
	all, err := blocks(page)
	if err != nil {
		t.Fatal(err)
	}
	var said string
	for _, b := range all {
		switch b.language {
		case "json":
			called.seen[b.word] = true
			if said, err = callTool(t.Context(), session, b.word, b.text); err != nil {
				t.Errorf("SKILL.md:%d: %v", b.line, err)
			}
		case "text":
			if !shows(said, b.text) {
				t.Errorf("SKILL.md:%d: the page says\n%s\nthe tool answers\n%s", b.line, b.text, said)
			}
		}
	}
	return called
}

func callTool(ctx context.Context, session *mcp.ClientSession, tool, arguments string) (string, error) {
	a, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return "", err
	}
	text := a.Content[0].(*mcp.TextContent).Text
	if a.IsError {
		return "", fmt.Errorf("%s answers %s", tool, strings.TrimSpace(text))
	}
	return text, nil
}
