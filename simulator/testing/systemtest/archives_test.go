package systemtest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestArchivesStayInside: an import writes no files under the names in an archive, and follows no
// links in it.
func TestArchivesStayInside(t *testing.T) {
	clustertest.Slow(t)
	h := newHome(t)
	secret := filepath.Join(h.tmp, "secret.yaml")
	const content = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stolen}\n"
	if err := os.WriteFile(secret, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, h)
	names := []string{"../escaped.yaml", "../../../../../../../../" + h.tmp + "/escaped.yaml", h.tmp + "/escaped.yaml", `..\escaped.yaml`, "a/../../escaped.yaml"}
	for kind, archive := range map[string][]byte{"tar": tarOf(t, names, secret), "zip": zipOf(t, names)} {
		a, err := p.request(http.MethodPost, "/api/v1/import", bytes.NewReader(archive), nil)
		if err != nil || a.status >= 500 {
			t.Errorf("%s: %v, %d: %.300s", kind, err, a.status, a.body)
		}
		t.Logf("%s: %d %.300s", kind, a.status, a.body)
	}
	for _, dir := range []string{h.tmp, h.data, filepath.Dir(h.data), "."} {
		if _, err := os.Lstat(filepath.Join(dir, "escaped.yaml")); err == nil {
			t.Errorf("a file was written to %s", dir)
		}
	}
	if a := p.raw(t, "/kubernetes/api/v1/namespaces/"+namespace+"/configmaps/stolen"); a.status != http.StatusNotFound {
		t.Errorf("a link was followed: %d %s", a.status, a.body)
	}
	p.stop(t)
}

const harmless = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: harmless}\n"

// tarOf returns a tar with files of these names, and links to the file link.
func tarOf(t *testing.T, names []string, link string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, kind := range []byte{tar.TypeSymlink, tar.TypeLink} {
		if err := w.WriteHeader(&tar.Header{Name: "link.yaml", Linkname: link, Typeflag: kind, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(harmless)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(harmless)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipOf(t *testing.T, names []string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range names {
		file, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte(harmless)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
