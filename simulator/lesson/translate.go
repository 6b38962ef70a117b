package lesson

import (
	"strings"
)

// translate reads a file that has only the texts of a lesson.
func (r *reader) translate(l *Lesson, language string) {
	var head struct {
		ID    string `yaml:"id"`
		Title string `yaml:"title"`
		Goal  string `yaml:"goal"`
	}
	if n := r.one(r.front, r.frontLine); n != nil {
		r.Decode(n, &head, "")
		if head.ID != l.ID {
			r.Fail(r.frontLine, "id", "want %s, as in %s", l.ID, l.File)
		}
		if head.Title == "" || head.Goal == "" {
			r.Fail(r.frontLine, "", "title and goal are required")
		}
	}
	original := l.texts[Languages[0]]
	t := newTexts(len(original.prose))
	t.title, t.goal = head.Title, head.Goal
	want := l.sequence()
	at := 0 // counts the blocks with an id
	for i, b := range r.blocks {
		switch b.kind {
		case "":
			t.prose[0] = b.prose
			continue
		case blockCluster:
			r.Fail(b.line-1, "", "the cluster stands in %s only", l.File)
			continue
		}
		if at >= len(want) {
			r.Fail(b.line-1, "", "%s has no more blocks than %d", l.File, len(want))
			return
		}
		w := want[at]
		at++
		r.translateBlock(b, w, original, &t)
		t.prose[w.at] = r.blocks[i].prose
		if w.check == nil {
			if t.titles[w.at], t.prose[w.at] = titled(b.prose); t.titles[w.at] == "" {
				r.Fail(b.proseLine, "", "a step is followed by its title")
			}
		}
	}
	if at < len(want) && r.Err() == nil {
		r.Fail(1, "", "the block of %s is missing, which %s has", want[at].id, l.File)
	}
	l.texts[language] = t
}

type wanted struct {
	id    string
	at    int
	check *Check
}

// sequence returns the steps and checks in the order of the file.
func (l *Lesson) sequence() []wanted {
	var out []wanted
	for _, s := range l.Steps {
		out = append(out, wanted{id: s.ID, at: s.at})
		for _, c := range s.Checks {
			out = append(out, wanted{c.ID, c.at, c})
		}
	}
	return out
}

func (r *reader) translateBlock(b block, w wanted, original texts, t *texts) {
	n := r.one(b.text, b.line)
	if n == nil {
		return
	}
	var in struct {
		ID      string   `yaml:"id"`
		Label   string   `yaml:"label"`
		Prompt  string   `yaml:"prompt"`
		Options []string `yaml:"options"`
		Hint    string   `yaml:"hint"`
		Yes     string   `yaml:"yes"`
		No      string   `yaml:"no"`
	}
	r.Decode(n, &in, "")
	if isCheck := b.kind != blockStep; isCheck != (w.check != nil) || in.ID != w.id {
		kind := blockStep
		if w.check != nil {
			kind = blockCheck
		}
		r.Fail(n.Line, "id", "want the %s %s here, as in the other language", kind, w.id)
		return
	}
	if w.check == nil {
		if (in.Label == "") != (original.labels[w.id] == "") {
			r.Fail(n.Line, "label", "both languages have it, or none")
		}
		t.labels[w.id] = in.Label
		return
	}
	of := original.checks[w.id]
	same := []struct {
		field         string
		here, english bool
	}{
		{"prompt", in.Prompt != "", of.Prompt != ""}, {"hint", in.Hint != "", of.Hint != ""},
		{"yes", in.Yes != "", of.Yes != ""}, {"no", in.No != "", of.No != ""},
	}
	var missing []string
	for _, s := range same {
		if s.here != s.english {
			missing = append(missing, s.field)
		}
	}
	if len(missing) > 0 {
		r.Fail(n.Line, "", "both languages have %s, or none", strings.Join(missing, ", "))
	}
	if in.Options == nil {
		in.Options = of.Options // names need no translation
	}
	if len(in.Options) != len(of.Options) {
		r.Fail(n.Line, "options", "want %d, one for each in the other language", len(of.Options))
		return
	}
	t.checks[w.id] = checkTexts{in.Prompt, in.Options, in.Hint, in.Yes, in.No}
}
