package web

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

func TestFSServesIndex(t *testing.T) {
	page, err := fs.ReadFile(FS(), "index.html")
	if err != nil {
		t.Fatalf("read index.html: %v", err)
	}
	text := string(page)
	if !strings.Contains(text, "<title>Scheduler simulator</title>") {
		t.Errorf("index.html has another title:\n%s", text)
	}
	if Built() == strings.Contains(text, "not built into this binary") {
		t.Errorf("Built() is %v, and the page says otherwise", Built())
	}
}

// What the page refers to is in the binary, and only what belongs to the page.
func TestFSIsComplete(t *testing.T) {
	if !Built() {
		t.Skip("the application is not built; `make build` builds it")
	}
	page, err := fs.ReadFile(FS(), "index.html")
	if err != nil {
		t.Fatal(err)
	}
	references := regexp.MustCompile(`(?:src|href)="/([^"]+)"`).FindAllSubmatch(page, -1)
	if len(references) == 0 {
		t.Error("index.html refers to nothing")
	}
	for _, r := range references {
		if _, err := fs.Stat(FS(), string(r[1])); err != nil {
			t.Errorf("index.html refers to %s: %v", r[1], err)
		}
	}
	if _, err := fs.Stat(FS(), ".gitkeep"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf(".gitkeep is served: %v", err)
	}
}
