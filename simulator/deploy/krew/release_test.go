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

// TestKrewInstalls lets Krew itself install the plugin of each platform from the manifest.
func TestKrewInstalls(t *testing.T) {
	clustertest.Slow(t)
	krew := filepath.Join(t.TempDir(), "krew")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", filepath.Join("..", "tools"), "-o", krew, "sigs.k8s.io/krew/cmd/krew")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building krew: %v\n%s", err, out)
	}
	r := programs(t)
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	for _, p := range platforms {
		t.Run(p.String(), func(t *testing.T) {
			root := t.TempDir()
			install := func(archive string) ([]byte, error) {
				command := exec.CommandContext(t.Context(), krew, "install", "--manifest="+filepath.Join(r.dir, "why.yaml"), "--archive="+archive)
				command.Env = append(os.Environ(), "KREW_ROOT="+root, "KREW_OS="+p.os, "KREW_ARCH="+p.arch, "KREW_NO_UPGRADE_CHECK=1")
				return command.CombinedOutput()
			}
			// An archive that is not the one of the manifest.
			other := filepath.Join(t.TempDir(), filepath.Base(p.archive()))
			write(t, other, string(r.read(t, p.archive()))+"x")
			if out, err := install(other); err == nil || !strings.Contains(string(out), "checksum") {
				t.Errorf("krew takes another archive: %v\n%s", err, out)
			}
			if out, err := install(filepath.Join(r.dir, p.archive())); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if p.os != runtime.GOOS { // the link has the name for this system
				if _, err := os.Stat(filepath.Join(root, "store", "why", r.version, p.program())); err != nil {
					t.Error(err)
				}
				return
			}
			out, err := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kubectl-why"), "pod").Output()
			if want := "why on " + p.String() + " pod\n"; err != nil || string(out) != want {
				t.Errorf("the plugin prints %q (%v), not %q", out, err, want)
			}
		})
	}
}
