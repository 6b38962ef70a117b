package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kube-scheduler-simulator/simulator/server"
)

func TestTokenFiles(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"empty":  {"\n", "is empty"},
		"short":  {"a\n", "a token of 1 characters is easy to guess"},
		"weak":   {"password", "a token of 8 characters"},
		"strong": {"0123456789abcdef\n", ""},
	} {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		token, err := ReadToken(file)
		switch {
		case test.want == "" && (err != nil || token != strings.TrimSpace(test.content)):
			t.Errorf("%s: %q, %v", name, token, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAKeptTokenIsTheSameNextTime: a bookmark works after a restart, and no other user can read
// the token.
func TestAKeptTokenIsTheSameNextTime(t *testing.T) {
	dir := t.TempDir()
	first, err := keptToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.CheckToken(first); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, "token"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("the token has mode %v", info.Mode())
	}
	if second, err := keptToken(dir); err != nil || second != first {
		t.Errorf("first %q, then %q, %v", first, second, err)
	}
	if other, err := keptToken(t.TempDir()); err != nil || other == first {
		t.Errorf("another directory has %q, %v", other, err)
	}
}
