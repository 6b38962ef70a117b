package lesson

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
	"kube-scheduler-simulator/simulator/scenarios/inmemory"
	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// small is a lesson without mistakes. Its lines are counted from 1.
const small = `---
id: small
title: Small
goal: Nothing.
---

Intro.

` + "```yaml cluster" + `
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
` + "```" + `

` + "```yaml step" + `
id: first
page: /
label: Create
do: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: web, image: web}]}}
` + "```" + `

## First step

Prose.

` + "```yaml check" + `
id: where
kind: question
prompt: Where?
passes: answer == last("web").node
right: [a]
wrong: [b]
yes: Yes.
` + "```" + `

More prose.
`

const smallJa = `---
id: small
title: 小
goal: なし。
---

はじめに。

` + "```yaml step" + `
id: first
label: 作成
` + "```" + `

## 最初のステップ

本文。

` + "```yaml check" + `
id: where
prompt: どこ？
yes: はい。
` + "```" + `

続き。
`

func loadFiles(files map[string]string) ([]*Lesson, error) {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Load(fsys, Options{Parse: config.Parse, Dir: "dir"})
}

func TestALessonInTwoLanguages(t *testing.T) {
	all, err := loadFiles(map[string]string{"01-small.en.md": small, "01-small.ja.md": smallJa, "README.md": "Not a lesson."})
	if err != nil {
		t.Fatal(err)
	}
	got := all[0].View("ja")
	got.Cluster, got.Steps[0].Do.Text = "", ""
	want := View{
		Summary: Summary{ID: "small", Kind: KindLesson, Title: "小", Goal: "なし。", Steps: 1, Checks: 1, Languages: []string{"en", "ja"}},
		Intro:   "はじめに。",
		Steps: []StepView{{
			ID: "first", Title: "最初のステップ", Page: "/", Do: &DoView{Label: "作成", What: []string{"apply Pod web"}},
			Parts: []Part{{Text: "本文。"}, {Check: &CheckView{ID: "where", Kind: Question, Prompt: "どこ？"}}, {Text: "続き。"}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := all[0].View("fr").Title; got != "Small" {
		t.Errorf("a language that the lesson has not: %s", got)
	}
}

// Every mistake names its file and its line.
func TestMistakesNameTheirLine(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		// ja: the change is made to the translation.
		ja   bool
		want string
	}{
		{"no front matter", "---\nid", "id", false, "dir/01-small.en.md:1: want front matter"},
		{"front matter without an end", "goal: Nothing.\n---", "goal: Nothing.", false, "dir/01-small.en.md:1: the front matter has no end"},
		{"an unknown field of the front matter", "goal:", "gaol:", false, `dir/01-small.en.md:4: gaol: unknown field "gaol", did you mean goal?`},
		{"no id", "id: small\n", "id: Small One\n", false, "dir/01-small.en.md:2: id: want letters"},
		{"an unknown block", "yaml cluster", "yaml clutser", false, `dir/01-small.en.md:9: there is no block "clutser"`},
		{"a block without an end", "yes: Yes.\n```\n", "yes: Yes.\n", false, "dir/01-small.en.md:27: this block has no end"},
		{"no YAML", "id: first\n", "id: first\n\tpage: /\n", false, ": not YAML"},
		{"an object with an unknown field", "metadata: {name: a}", "metadata: {name: a}\nspecc: {}", false, `dir/01-small.en.md:13: …unknown field "specc"`},
		{"an object without a name", "metadata: {name: a}", "metadata: {}", false, "dir/01-small.en.md:12: …the Node has no metadata.name"},
		{"a page that is no path", "page: /", "page: cluster", false, "dir/01-small.en.md:17: page: want the path"},
		{"a step without a title", "## First step\n", "", false, "a step is followed by its title"},
		{"an unknown kind of check", "kind: question", "kind: riddle", false, `dir/01-small.en.md:28: kind: want question, state or predict, not "riddle"`},
		{"an expression that is wrong", `last("web").node`, `last("web").nod`, false, "dir/01-small.en.md:31: passes: undefined field 'nod'"},
		{"an expression that is not true or false", `answer == last("web").node`, `last("web").node`, false, "want true or false"},
		{"no right answer", "right: [a]\n", "", false, "right and wrong are required"},
		{"an unknown misconception", "yes: Yes.", "misconceptions: [{when: 'true', name: moon}]", false, `there is no misconception "moon"`},
		{"Kueue in memory", "goal: Nothing.", "goal: Nothing.\nkueue: true", false, `engine: Kueue, Karpenter and extenders do not run in memory; want "engine: server"`},
		{"a translation of another id", "id: small", "id: smal", true, "dir/01-small.ja.md:2: id: want small"},
		{"a translation with another step", "id: first", "id: second", true, "dir/01-small.ja.md:10: id: want the step first here"},
		{"a translation with a cluster", "```yaml step", "```yaml cluster\n```\n\n```yaml step", true, "dir/01-small.ja.md:9: the cluster stands in dir/01-small.en.md only"},
		{"a translation without a check", "```yaml check\nid: where\nprompt: どこ？\nyes: はい。\n```", "", true, "the block of where is missing"},
		{"a translation without a text", "yes: はい。\n", "", true, "both languages have yes, or none"},
		{"a translation with more than texts", "prompt: どこ？", "prompt: どこ？\npasses: 'true'", true, `dir/01-small.ja.md:21: passes: unknown field "passes"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"01-small.en.md": small, "01-small.ja.md": smallJa}
			name := "01-small.en.md"
			if c.ja {
				name = "01-small.ja.md"
			}
			changed := strings.Replace(files[name], c.from, c.to, 1)
			if changed == files[name] {
				t.Fatal("the text has no such part")
			}
			files[name] = changed
			_, err := loadFiles(files)
			if _, is := errors.AsType[*scenario.Error](err); !is {
				t.Fatalf("got %v", err)
			}
			for part := range strings.SplitSeq(c.want, "…") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %v\nwant %s", err, c.want)
				}
			}
		})
	}
}

func TestFilesThatAreNoLessons(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"01-small.md": small}, "dir/01-small.md:1: want a name that ends in the language"},
		{map[string]string{"01-small.fr.md": small}, `dir/01-small.fr.md:1: there is no language "fr"`},
		{map[string]string{"01-small.ja.md": smallJa}, "dir/01-small.ja.md:1: the lesson has no 01-small.en.md"},
		{map[string]string{"01-small.en.md": small, "challenges/01-big.en.md": small}, "dir/challenges/01-big.en.md:2: id: dir/01-small.en.md has the id small, too"},
		{map[string]string{"01-small.en.md": small + strings.Repeat("x", maxFile)}, "the limit"},
	} {
		_, err := loadFiles(c.files)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

// A file whose examples are not as it says would teach something wrong.
// TestAHostileDirectory: reading it ends, whatever its files are.
func TestAHostileDirectory(t *testing.T) {
	for what, make := range map[string]func(path string) error{
		"a pipe":                      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link to a file outside":    func(path string) error { return os.Symlink("/etc/hostname", path) },
		"a link to an endless device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link to itself":            func(path string) error { return os.Symlink(path, path) },
		"a large file": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40))
		},
	} {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, "01-small.en.md")); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadDir(dir, func(document []byte) (*config.Configuration, error) { return config.Parse(document) }); err == nil {
			t.Errorf("%s is a lesson", what)
		}
	}
	for name, text := range bombs.Texts(maxFile / 2) {
		for place, file := range map[string]string{
			"the head":  "---\nid: small\ntitle: a\nmore:\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n---\n",
			"a cluster": strings.Replace(small, "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n", text+"\n", 1),
		} {
			begin := time.Now()
			if _, err := loadFiles(map[string]string{"01-small.en.md": file}); err == nil {
				t.Errorf("%s in %s is a lesson", name, place)
			}
			if took := time.Since(begin); took > bombs.Slowdown*10*time.Second {
				t.Errorf("%s in %s took %s", name, place, took)
			}
		}
	}
}

func TestRehearsalFindsWrongExamples(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"right: [a]", "right: [c]", "dir/01-small.en.md:32: the check where does not pass, and the answer is among the right ones"},
		{"wrong: [b]", "wrong: [a]", "dir/01-small.en.md:33: the check where passes, and the answer is among the wrong ones"},
		{`last("web")`, `last("db")`, "the scheduler has not decided about a pod db yet"},
		{"wrong: [b]", "wrong: [{answer: b, misconceptions: [limits-count]}]", "names the misconceptions [], not limits-count"},
	} {
		all, err := loadFiles(map[string]string{"01-small.en.md": strings.Replace(small, c.from, c.to, 1)})
		if err != nil {
			t.Fatal(err)
		}
		err = Rehearse(t.Context(), all[0], InMemory(inmemory.Engine(nil)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}
