package controlplane

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/host/datadir"
)

func TestCertificatesAreKeptOrRenewed(t *testing.T) {
	now := time.Now()
	tests := []struct {
		name    string
		spoil   func(t *testing.T, dir string)
		later   time.Duration
		changed []string
	}{
		{name: "kept", later: 24 * time.Hour},
		{
			name:    "near their expiry",
			later:   leafLifetime - renewBefore + time.Hour,
			changed: []string{"admin.crt", "admin.key", "apiserver.crt", "apiserver.key"},
		},
		{
			name:  "authority near its expiry",
			later: caLifetime - renewBefore + time.Hour,
			changed: []string{
				"admin.crt", "admin.key", "apiserver.crt", "apiserver.key", "ca.crt", "ca.key",
			},
		},
		{
			name:    "broken file",
			spoil:   func(t *testing.T, dir string) { write(t, filepath.Join(dir, "admin.crt"), "nothing") },
			changed: []string{"admin.crt", "admin.key"},
		},
		{
			name:    "key of another certificate",
			spoil:   func(t *testing.T, dir string) { write(t, filepath.Join(dir, "admin.key"), read(t, dir)["ca.key"]) },
			changed: []string{"admin.crt", "admin.key"},
		},
		{
			name:    "no service account key",
			spoil:   func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "service-account.key")) },
			changed: []string{"service-account.key"},
		},
		{
			name:    "an authority whose creation was interrupted",
			spoil:   func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "ca.crt")) },
			changed: []string{"admin.crt", "admin.key", "apiserver.crt", "apiserver.key", "ca.crt", "ca.key"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "pki")
			first, err := ensureCertificates(dir, now)
			if err != nil {
				t.Fatal(err)
			}
			before := read(t, dir)
			if test.spoil != nil {
				test.spoil(t, dir)
			}

			second, err := ensureCertificates(dir, now.Add(test.later))
			if err != nil {
				t.Fatal(err)
			}

			var changed []string
			for _, name := range []string{
				"admin.crt", "admin.key", "apiserver.crt", "apiserver.key", "ca.crt", "ca.key", "service-account.key",
			} {
				if before[name] != read(t, dir)[name] {
					changed = append(changed, name)
				}
			}
			if diff := cmp.Diff(test.changed, changed); diff != "" {
				t.Errorf("changed files (-want +got):\n%s", diff)
			}
			if got := read(t, dir)["admin.crt"]; got != string(second.adminCertPEM) {
				t.Error("the certificate returned is not the one in the file")
			}
			if len(test.changed) == 0 && !bytes.Equal(first.adminKeyPEM, second.adminKeyPEM) {
				t.Error("the key changed")
			}
		})
	}
}

// Nothing can issue these again.
func TestADamagedAuthorityIsAnError(t *testing.T) {
	for _, name := range []string{"ca.crt", "ca.key", "service-account.key"} {
		for content, kind := range map[string]string{"nothing": "noise", "": "empty"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "pki")
				if _, err := ensureCertificates(dir, time.Now()); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, name)
				write(t, path, content)
				before := read(t, dir)
				_, err := ensureCertificates(dir, time.Now())
				damage, ok := errors.AsType[*datadir.Damage](err)
				if !ok || damage.Path != path || !strings.Contains(err.Error(), "or delete "+dir) {
					t.Errorf("it said %v", err)
				}
				if diff := cmp.Diff(before, read(t, dir)); diff != "" {
					t.Errorf("files have changed: %s", diff)
				}
			})
		}
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyTheOwnerCanReadKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	if _, err := ensureCertificates(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, path := range dirNames(t, filepath.Join(dir, "*")) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode(); mode != 0o600 {
			t.Errorf("%s has mode %v", path, mode)
		}
	}
}

// read returns the content of every file in dir, by name.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, path := range dirNames(t, filepath.Join(dir, "*")) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(content)
	}
	return files
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
