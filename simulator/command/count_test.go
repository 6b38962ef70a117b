package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEachCountFromEachFlag: a count is the number of new objects, of whatever flag and command. Without one, --add-node adds one node, and
// --change makes the object itself.
func TestEachCountFromEachFlag(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const node = "apiVersion: v1\nkind: Node\nmetadata: {name: %, labels: {kubernetes.io/hostname: %}}\nstatus: {allocatable: {cpu: '2', memory: 4Gi, pods: '10'}}\n"
	state := write("state.yaml", strings.ReplaceAll(node, "%", "a"))
	added := write("new.yaml", strings.ReplaceAll(node, "%", "b"))
	pod := write("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: pause, resources: {requests: {cpu: '1'}}}]}\n")
	placed := write("placed.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: there}\nspec: {nodeName: a, containers: [{name: c, image: pause, resources: {requests: {cpu: '1'}}}]}\n")
	const wanted = "want a number from 1 to 5000"
	for _, test := range []struct {
		flag, value string
		// fits is how many pods fit with the two of node a; refused is a part of the error.
		fits, refused string
	}{
		{"add-node", "a", "4 more", ""},
		{"add-node", "a=1", "4 more", ""},
		{"add-node", "a=2", "6 more", ""},
		{"add-node", "a=0", "", wanted},
		{"add-node", "a=-1", "", wanted},
		{"add-node", "a=+1", "4 more", ""},
		{"add-node", "a=5001", "", wanted},
		{"add-node", "a=99999999999999999999", "", wanted},
		{"add-node", "a=x", "", wanted},
		{"add-node", "a=", "", wanted},
		{"add-node", "a=1.5", "", wanted},
		{"add-node", "missing", "", "missing"},
		{"change", added, "4 more", ""},
		{"change", added + "=1", "4 more", ""},
		{"change", added + "=2", "6 more", ""},
		{"change", added + "=0", "", wanted},
		{"change", added + "=-1", "", wanted},
		{"change", added + "=5001", "", wanted},
		{"change", added + "=x", "", "no such file"},
		// The file has node a, so it changes nothing without a count.
		{"change", state, "2 more", ""},
		{"change", state + "=1", "4 more", ""},
		{"change", placed + "=1", "1 more", ""},
		{"change", placed + "=2", "0 more", ""},
	} {
		t.Run(test.flag+"="+strings.TrimPrefix(test.value, dir), func(t *testing.T) {
			said, err := printed(t, func() error {
				return execute(t.Context(), "capacity", "-f", pod, "--state", state, "--"+test.flag, test.value)
			})
			switch {
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("%v, want %q", err, test.refused)
			case test.refused == "" && (err != nil || !strings.Contains(said, test.fits+" of default/web fit")):
				t.Errorf("%v, want %s:\n%s", err, test.fits, said)
			}
			_, err = printed(t, func() error {
				return execute(t.Context(), "whatif", "-f", pod, "--state", state, "--"+test.flag, test.value)
			})
			if (err == nil) != (test.refused == "") {
				t.Errorf("whatif: %v", err)
			}
		})
	}
}

// printed returns what a command prints.
func printed(t *testing.T, do func() error) (string, error) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdout := os.Stdout
	os.Stdout = file
	err = do()
	os.Stdout = stdout
	data, wrong := os.ReadFile(file.Name())
	if wrong != nil {
		t.Fatal(wrong)
	}
	return string(data), err
}
