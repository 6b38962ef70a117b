package systemtest

import (
	"encoding/base64"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestSecrets: secrets appear neither in verbose logs, nor in responses to other requests, nor in
// files that other users can read.
func TestSecrets(t *testing.T) {
	const token = "open-sesame-77aa03"
	const content = "the-content-of-a-secret-51"
	h := newHome(t)
	file := filepath.Join(h.tmp, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, h, "-v", "6", "--token-file", file)
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	p.visit(t, token)
	p.createNodes(t, "node", 1)

	secret := &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "direct"}, StringData: map[string]string{"key": content}}
	if _, err := p.client.CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	proxied := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"proxied"},"stringData":{"key":"` + content + `"}}`
	a, err := p.request(http.MethodPost, "/kubernetes/api/v1/namespaces/"+namespace+"/secrets", strings.NewReader(proxied), func(r *http.Request) {
		bearer(r)
		r.Header.Set("Content-Type", "application/json")
	})
	if err != nil || a.status != http.StatusCreated {
		t.Fatalf("%v, %d: %s", err, a.status, a.body)
	}
	accounts := p.client.CoreV1().ServiceAccounts(namespace)
	if _, err := accounts.Create(t.Context(), &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	request, err := accounts.CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	account := request.Status.Token
	p.schedules(t, "reader")

	secrets := map[string]string{
		"the token": token, "a Secret": content, "a Secret in base64": base64.StdEncoding.EncodeToString([]byte(content)),
		"a service account's token": account, "the administrator's key": string(p.config.KeyData),
		"the administrator's key in base64": base64.StdEncoding.EncodeToString(p.config.KeyData),
	}
	for _, path := range []string{
		"/metrics", "/api/v1/status", "/api/v1/export", "/api/v1/export?results=true&format=yaml", "/api/v1/results", "/api/v1/schedulerconfiguration/effective",
		"/api/v1/featuregates", "/kubernetes/metrics", "/kubernetes/configz", "/kubernetes/statusz", "/kubernetes/flagz", "/kubernetes/debug/flags/v", "/debug/vars",
	} {
		a, err := p.request(http.MethodGet, path, nil, bearer)
		if err != nil {
			t.Fatal(err)
		}
		for what, secret := range secrets {
			if strings.Contains(string(a.body), secret) {
				t.Errorf("GET %s has %s", path, what)
			}
		}
		if strings.HasPrefix(path, "/api/v1/export") && a.status == http.StatusOK && strings.Contains(string(a.body), `"Secret"`) {
			t.Errorf("GET %s exports Secrets", path)
		}
	}
	p.stop(t)
	log := p.stderr.String()
	if len(log) < 10_000 {
		t.Errorf("at -v 6 the log has only %d bytes", len(log))
	}
	for what, secret := range secrets {
		if i := strings.Index(log, secret); i >= 0 {
			t.Errorf("the log has %s: %q", what, log[max(0, i-200):i+20])
		}
	}
	if i := strings.Index(log, "PRIVATE KEY"); i >= 0 {
		t.Errorf("the log has a private key: %q", log[max(0, i-200):i])
	}
	checkModes(t, h.data)
}

// checkModes checks that only the owner can read the files that the program wrote.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	var seen []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		seen = append(seen, filepath.Base(path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kubeconfig", "admin.key", "apiserver.key", "ca.key", "service-account.key"} {
		if !slices.Contains(seen, name) {
			t.Errorf("there is no %s", name)
		}
	}
}
