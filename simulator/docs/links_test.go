package docs

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// root is the top of the repository, seen from this package.
var root = filepath.Join("..", "..")

// TestLinks checks that every relative link between the pages of the repository
// leads to a file, and its fragment to a heading.
func TestLinks(t *testing.T) {
	pages := everyPage(t)
	if len(pages) < 10 {
		t.Fatalf("found only %d pages below %s", len(pages), root)
	}
	for _, page := range pages {
		for _, link := range links(readPage(t, page)) {
			if why := broken(t, page, link); why != "" {
				t.Errorf("%s links to %q: %s", page, link, why)
			}
		}
	}
}

// ownPath matches a path of the repository in inline code, as the tables of README.md and CONTRIBUTING.md name them.
var ownPath = regexp.MustCompile("`((?:scheduler|simulator|web)/[\\w./-]+)`")

// TestPathsExist checks that every path of the repository that a page names is there.
func TestPathsExist(t *testing.T) {
	found := 0
	for _, page := range everyPage(t) {
		for _, match := range ownPath.FindAllStringSubmatch(readPage(t, page), -1) {
			found++
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(match[1]))); err != nil {
				t.Errorf("%s names %s, which is not there", page, match[1])
			}
		}
	}
	if found < 50 {
		t.Errorf("found only %d paths", found)
	}
}

// broken says why a link on a page is broken. It returns "" if the link works or
// leaves the repository.
func broken(t *testing.T, page, link string) string {
	t.Helper()
	target, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case target.IsAbs() || target.Host != "":
		return ""
	}
	path := page
	if target.Path != "" {
		path = filepath.Join(filepath.Dir(page), filepath.FromSlash(target.Path))
	}
	if _, err := os.Stat(path); err != nil {
		return "there is no such file"
	}
	if target.Fragment == "" || filepath.Ext(path) != ".md" {
		return ""
	}
	if !anchors(readPage(t, path))[target.Fragment] {
		return "the page has no such heading"
	}
	return ""
}

// everyPage returns the pages of the repository: README.md and those in the folders below. It does not
// look elsewhere, where git, builds and the browser tests write, so that Go can reuse a test's result.
func everyPage(t *testing.T) []string {
	t.Helper()
	pages := []string{filepath.Join(root, "README.md")}
	for _, dir := range []string{".github", "scheduler", "simulator", "web/src", "web/e2e"} {
		pages = append(pages, markdown(t, filepath.Join(root, dir))...)
	}
	return pages
}

// markdown returns the Markdown files below dir, sorted, without those of
// tests and tools.
func markdown(t *testing.T, dir string) []string {
	t.Helper()
	var pages []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != dir && skipped(d.Name()) {
			return filepath.SkipDir
		}
		if !d.IsDir() && filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func skipped(dir string) bool { return strings.HasPrefix(dir, ".") || dir == "testdata" }

func readPage(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

var (
	inlineLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	inlineCode = regexp.MustCompile("`[^`]*`")
	heading    = regexp.MustCompile(`^#{1,6} (.*)$`)
)

// prose returns the lines of a page outside its code blocks.
func prose(page string) []string {
	var lines []string
	fenced := false
	for _, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case !fenced && !strings.HasPrefix(line, "    "):
			lines = append(lines, line)
		}
	}
	return lines
}

// links returns the targets of the inline links of a page, pictures included.
func links(page string) []string {
	var out []string
	for _, match := range inlineLink.FindAllStringSubmatch(inlineCode.ReplaceAllString(strings.Join(prose(page), "\n"), "code"), -1) {
		out = append(out, match[1])
	}
	return out
}

// anchors returns the fragments of a page's headings in GitHub's form: lower case,
// hyphens for spaces, and no punctuation.
func anchors(page string) map[string]bool {
	out := map[string]bool{}
	for _, line := range prose(page) {
		match := heading.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		out[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, match[1])] = true
	}
	return out
}

func TestLinksOfAPage(t *testing.T) {
	page := "# Two words, `code`\n[a](b.md#c) and ![d](e.png)\n`[no](link)`\n\n    [no](link)\n```\n[no](link)\n# no heading\n```\n"
	if got := strings.Join(links(page), " "); got != "b.md#c e.png" {
		t.Errorf("links are %s", got)
	}
	if got := anchors(page); len(got) != 1 || !got["two-words-code"] {
		t.Errorf("anchors are %v", got)
	}
}
