package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	config := clientcmdapi.NewConfig()
	for _, name := range []string{"a", "b"} {
		config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + name, CertificateAuthority: "ca.crt"}
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	}
	config.CurrentContext = "a"
	file := filepath.Join(dir, "good")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	for name, content := range map[string]string{empty: "", filepath.Join(dir, "ca.crt"): "x"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ name, file, context, host, used, wrong string }{
		{"the current context", file, "", "https://a", "a", ""},
		{"another context", file, "b", "https://b", "b", ""},
		{"no such context", file, "c", "", "", `it has no context "c"; it has a, b`},
		{"no contexts", empty, "", "", "", "it has no current context; say which to use of none"},
		{"no file", filepath.Join(dir, "none"), "", "", "", "no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, used, err := Load(test.file, test.context)
			if err != nil {
				if test.wrong == "" || !strings.Contains(err.Error(), test.wrong) {
					t.Error(err)
				}
				return
			}
			// Paths are relative to the file.
			if got.Host != test.host || used != test.used || got.CAFile != filepath.Join(dir, "ca.crt") || test.wrong != "" {
				t.Errorf("it is %s of context %q, with %s", got.Host, used, got.CAFile)
			}
		})
	}
}

func TestLoadWithNamespace(t *testing.T) {
	config := clientcmdapi.NewConfig()
	config.Clusters["a"] = &clientcmdapi.Cluster{Server: "https://a"}
	config.Contexts["plain"] = &clientcmdapi.Context{Cluster: "a"}
	config.Contexts["shop"] = &clientcmdapi.Context{Cluster: "a", Namespace: "shop"}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	for context, want := range map[string]string{"plain": "default", "shop": "shop"} {
		if got, namespace, err := LoadWithNamespace(file, context); err != nil || namespace != want || got.Host != "https://a" {
			t.Errorf("%s: %v, namespace %q", context, err, namespace)
		}
	}
}
