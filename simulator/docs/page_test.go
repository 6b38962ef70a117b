package docs

import (
	"fmt"
	"regexp"
	"strings"
)

// block is a fenced block of a page.
type block struct {
	line     int    // number of its first line in the page, from 1
	language string // first word after the fence
	word     string // second word
	text     string
}

// elsewhere marks a block of commands that need something that the test does not
// have, such as another cluster.
const elsewhere = "elsewhere"

// blocks returns the fenced blocks of a page, in order. A block of commands with an
// unknown second word is an error, because the test would otherwise silently skip
// it.
func blocks(page string) ([]block, error) {
	var out []block
	var open *block
	fence := ""
	for i, line := range strings.Split(page, "\n") {
		// A block with a longer fence shows one with a shorter fence.
		info := strings.TrimLeft(line, "`")
		ticks := line[:len(line)-len(info)]
		found := len(ticks) >= 3 && (open == nil || ticks == fence && info == "")
		switch {
		case open == nil && found:
			fence = ticks
			language, word, _ := strings.Cut(strings.TrimSpace(info), " ")
			open = &block{line: i + 2, language: language, word: word}
			if language == "sh" && !open.isTyped() && word != elsewhere {
				return nil, fmt.Errorf("line %d: unknown word %q after sh", i+1, word)
			}
		case open != nil && found:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block has no end", open.line)
	}
	return out, nil
}

// isTyped reports whether the test types the commands of the block.
func (b block) isTyped() bool {
	return b.language == "sh" && (b.word == "" || b.word == "server" || strings.HasPrefix(b.word, "server="))
}

// file returns the name under which the test saves the block; empty if it does not.
func (b block) file() string {
	name, found := strings.CutPrefix(b.word, "file=")
	if !found {
		return ""
	}
	return name
}

// shows reports whether output matches the page's text, line by line. In the page, …
// stands for any text within a line; alone on a line it stands for any number of
// lines.
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
