package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// k9sPlugins is the file as k9s reads it.
type k9sPlugins struct {
	Plugins map[string]struct {
		ShortCut    string   `json:"shortCut"`
		Description string   `json:"description"`
		Scopes      []string `json:"scopes"`
		Command     string   `json:"command"`
		Background  bool     `json:"background"`
		Args        []string `json:"args"`
	} `json:"plugins"`
}

// TestThePluginOfK9s runs the plugin as k9s does: it replaces the names in the arguments, and starts the command.
func TestThePluginOfK9s(t *testing.T) {
	text, err := os.ReadFile("k9s/plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file k9sPlugins
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	plugin := file.Plugins["why"]
	if plugin.ShortCut == "" || plugin.Description == "" || plugin.Background || !slices.Contains(plugin.Scopes, "pods") || !slices.Contains(plugin.Scopes, "deployments") {
		t.Errorf("the plugin is %+v", plugin)
	}
	dir := t.TempDir()
	for name, script := range map[string]string{"kubectl": `for arg; do echo "$arg"; done; exit 1`, "less": "cat"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const hostile = `$(touch x) "; touch x`
	values := strings.NewReplacer("$RESOURCE_NAME", "deployments", "$NAMESPACE", "shop", "$NAME", "web", "$CONTEXT", hostile, "$KUBECONFIG", "/my config")
	var args []string
	for _, arg := range plugin.Args {
		args = append(args, values.Replace(arg))
	}
	run := exec.CommandContext(t.Context(), plugin.Command, args...)
	run.Dir, run.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := []string{"why", "deployments/web", "--namespace=shop", "--context=" + hostile, "--kubeconfig=/my config", ""}
	if diff := cmp.Diff(want, strings.Split(string(out), "\n")); diff != "" {
		t.Errorf("the arguments of kubectl (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a name became a command")
	}
}
