package docs

import (
	"fmt"
	"regexp"
	"strings"
)

// block is a fenced block of a page.
type block struct {
	line     int    // of its first line in the page, from 1
	language string // the first word behind the fence
	word     string // the second one
	text     string
}

// blocks returns the fenced blocks of a page, in order.
func blocks(page string) ([]block, error) {
	var out []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		fence, found := strings.CutPrefix(line, "```")
		switch {
		case open == nil && found:
			language, word, _ := strings.Cut(strings.TrimSpace(fence), " ")
			open = &block{line: i + 2, language: language, word: word}
		case open != nil && found:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	if open != nil {
		return nil, fmt.Errorf("the block at line %d has no end", open.line)
	}
	return out, nil
}

// file is the name under which the block is saved, or nothing.
func (b block) file() string {
	name, found := strings.CutPrefix(b.word, "file=")
	if !found {
		return ""
	}
	return name
}

// shows reports whether output is what the page says: the same lines, where …
// stands for anything in a line, and for any lines where it is alone in one.
func shows(output, says string) bool {
	var pattern strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(says), "\n") {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		parts := strings.Split(strings.TrimRight(line, " "), "…")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		pattern.WriteString(strings.Join(parts, ".*") + ` *\n`)
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(strings.TrimSpace(output) + "\n")
}
