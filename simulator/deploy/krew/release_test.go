package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// programs writes a small program for each platform, and returns a release of them.
func programs(t *testing.T) release {
	t.Helper()
	dir := t.TempDir()
	for _, p := range platforms {
		write(t, filepath.Join(dir, p.String(), p.program()), "#!/bin/sh\necho why on "+p.String()+" \"$@\"\n")
	}
	return release{dir: dir, license: filepath.Join("..", "..", "..", "LICENSE"), version: "v1.2.3", from: "https://example.com/releases/v1.2.3/"}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (r release) read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// entries returns the files of an archive: their modes and contents, by name.
func entries(t *testing.T, name string, archive []byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(name string, mode os.FileMode, r io.Reader) {
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = mode.String() + " " + string(content)
	}
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Name, f.Mode(), r)
		}
		return out
	}
	g, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(g); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		add(header.Name, header.FileInfo().Mode(), r)
	}
}

func TestARelease(t *testing.T) {
	r := programs(t)
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	license, err := os.ReadFile(r.license)
	if err != nil {
		t.Fatal(err)
	}
	var manifest plugin
	if err := yaml.UnmarshalStrict(r.read(t, "why.yaml"), &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Spec.Platforms) != 6 {
		t.Fatalf("the manifest has %d platforms", len(manifest.Spec.Platforms))
	}
	for i, p := range platforms {
		archive := r.read(t, p.archive())
		sum := sha256.Sum256(archive)
		got := manifest.Spec.Platforms[i]
		if got.SHA256 != hex.EncodeToString(sum[:]) || got.URI != "https://example.com/releases/v1.2.3/"+p.archive() || got.Bin != p.program() ||
			got.Selector.MatchLabels["os"] != p.os || got.Selector.MatchLabels["arch"] != p.arch {
			t.Errorf("%s is %+v", p, got)
		}
		want := map[string]string{
			p.program(): "-rwxr-xr-x #!/bin/sh\necho why on " + p.String() + " \"$@\"\n", "LICENSE": "-rw-r--r-- " + string(license),
		}
		if diff := cmp.Diff(want, entries(t, p.archive(), archive)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.archive(), diff)
		}
	}
}

// TestReleasesAreReproducible: the same programs, written again, give the same bytes.
func TestReleasesAreReproducible(t *testing.T) {
	a, b := programs(t), programs(t)
	for _, r := range []release{a, b} {
		if err := r.write(); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"why.yaml"}
	for _, p := range platforms {
		names = append(names, p.archive())
	}
	for _, name := range names {
		if !bytes.Equal(a.read(t, name), b.read(t, name)) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestAWrongRelease(t *testing.T) {
	for what, change := range map[string]func(*release){
		"want a version such as v1.2.3": func(r *release) { r.version = "1.2" },
		"want the address":              func(r *release) { r.from = "" },
		"no such file":                  func(r *release) { r.dir = filepath.Join(r.dir, "none") },
	} {
		r := programs(t)
		change(&r)
		if err := r.write(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
}

// build builds a program for the tests.
func build(t *testing.T, dir, what string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(what))
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", dir, "-ldflags=-s -w", "-o", program, what).CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", what, err, out)
	}
	return program
}

// krew is Krew itself, in a directory of its own.
type krew struct{ program, root string }

func (k krew) install(t *testing.T, r release, p platform, archive string) ([]byte, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), k.program, "install", "--manifest="+filepath.Join(r.dir, "why.yaml"), "--archive="+archive)
	command.Env = append(os.Environ(), "KREW_ROOT="+k.root, "KREW_OS="+p.os, "KREW_ARCH="+p.arch, "KREW_NO_UPGRADE_CHECK=1")
	return command.CombinedOutput()
}

// TestKrewInstalls lets Krew itself install the plugin of each platform from the manifest.
func TestKrewInstalls(t *testing.T) {
	clustertest.Slow(t)
	program := build(t, filepath.Join("..", "tools"), "sigs.k8s.io/krew/cmd/krew")
	r := programs(t)
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	for _, p := range platforms {
		t.Run(p.String(), func(t *testing.T) {
			k := krew{program, t.TempDir()}
			// An archive that is not the one of the manifest.
			other := filepath.Join(t.TempDir(), filepath.Base(p.archive()))
			write(t, other, string(r.read(t, p.archive()))+"x")
			if out, err := k.install(t, r, p, other); err == nil || !strings.Contains(string(out), "checksum") {
				t.Errorf("krew takes another archive: %v\n%s", err, out)
			}
			if out, err := k.install(t, r, p, filepath.Join(r.dir, p.archive())); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			installed, err := os.ReadFile(filepath.Join(k.root, "store", "why", r.version, p.program()))
			if err != nil || !strings.Contains(string(installed), p.String()) {
				t.Errorf("krew has installed %q (%v)", installed, err)
			}
		})
	}
	t.Run("the program itself", func(t *testing.T) {
		here := platform{runtime.GOOS, runtime.GOARCH}
		why := os.Getenv("KUBECTL_WHY_BIN")
		if why == "" {
			why = build(t, ".", "kube-scheduler-simulator/simulator/cmd/kubectl-why")
		}
		content, err := os.ReadFile(why)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(r.dir, here.String(), here.program()), string(content))
		if err := r.write(); err != nil {
			t.Fatal(err)
		}
		k := krew{program, t.TempDir()}
		if out, err := k.install(t, r, here, filepath.Join(r.dir, here.archive())); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		cluster, pod := filepath.Join(t.TempDir(), "cluster.yaml"), filepath.Join(t.TempDir(), "pod.yaml")
		write(t, cluster, "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nstatus: {allocatable: {cpu: 1, memory: 1Gi, pods: 9}}\n")
		write(t, pod, "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: web}]}\n")
		out, err := exec.CommandContext(t.Context(), filepath.Join(k.root, "bin", "kubectl-why"), "-f", pod, "--state", cluster, "-o", "json").Output()
		if err != nil || !strings.Contains(string(out), `"selectedNode": "node-1"`) {
			t.Errorf("the plugin prints (%v)\n%s", err, out)
		}
	})
}
