package lesson

import (
	"regexp"
	"slices"
	"strings"

	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// The kinds of blocks, which follow yaml in the info string of a fence.
const (
	blockCluster = "cluster"
	blockStep    = "step"
	blockCheck   = "check"
	blockPredict = "predict"
)

var blockKinds = []string{blockCluster, blockStep, blockCheck, blockPredict}

// block is a fenced block of ours, with the prose that follows it. The first block of a file has no
// kind: it is the beginning.
type block struct {
	kind string
	text []byte
	// line is that of the first line of text, proseLine that of prose.
	line      int
	prose     string
	proseLine int
}

// source is a file taken apart.
type source struct {
	front     []byte
	frontLine int
	blocks    []block
}

var (
	opening = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$")
	word    = regexp.MustCompile(`^[a-z]+$`)
)

// takeApart finds the front matter and our blocks. All other Markdown, with other fenced blocks, is
// prose.
func takeApart(text string, p *scenario.Parts) source {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	out := source{frontLine: 2}
	at := 0
	if strings.TrimRight(lines[0], " ") != "---" {
		p.Fail(1, "", "want front matter: a line with ---, then the fields id, title and goal, then another ---")
		return out
	}
	end := slices.IndexFunc(lines[1:], func(l string) bool { return strings.TrimRight(l, " ") == "---" })
	if end < 0 {
		p.Fail(1, "", "the front matter has no end: a line with ---")
		return out
	}
	out.front = []byte(strings.Join(lines[1:end+1], "\n"))
	at = end + 2
	now := block{proseLine: at + 1}
	var prose []string
	finish := func() {
		now.prose = strings.TrimSpace(strings.Join(prose, "\n"))
		out.blocks, prose = append(out.blocks, now), nil
	}
	for at < len(lines) {
		fence := opening.FindStringSubmatch(lines[at])
		if fence == nil {
			prose = append(prose, lines[at])
			at++
			continue
		}
		closing := closingOf(lines, at, fence[1])
		if closing < 0 {
			p.Fail(at+1, "", "this block has no end: a line with %s", fence[1])
			return out
		}
		kind, ours := kindOf(fence[2], at+1, p)
		if !ours {
			prose = append(prose, lines[at:closing+1]...)
			at = closing + 1
			continue
		}
		finish()
		now = block{kind: kind, text: []byte(strings.Join(lines[at+1:closing], "\n")), line: at + 2, proseLine: closing + 2}
		at = closing + 1
	}
	finish()
	return out
}

// closingOf returns the line that closes the fence of line at, or -1.
func closingOf(lines []string, at int, fence string) int {
	for i := at + 1; i < len(lines); i++ {
		l := strings.TrimSpace(lines[i])
		if len(l) >= len(fence) && strings.Trim(l, fence[:1]) == "" {
			return i
		}
	}
	return -1
}

// kindOf reads an info string, and reports whether the block is ours.
func kindOf(info string, line int, p *scenario.Parts) (string, bool) {
	words := strings.Fields(info)
	if len(words) != 2 || words[0] != "yaml" || !word.MatchString(words[1]) {
		return "", false
	}
	if !slices.Contains(blockKinds, words[1]) {
		p.Fail(line, "", "there is no block %q; the blocks are %s", words[1], strings.Join(blockKinds, ", "))
	}
	return words[1], true
}

var heading = regexp.MustCompile(`(?m)\A#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$`)

// titled takes the heading off the beginning of prose.
func titled(prose string) (title, rest string) {
	found := heading.FindStringSubmatchIndex(prose)
	if found == nil {
		return "", prose
	}
	return prose[found[2]:found[3]], strings.TrimSpace(prose[found[1]:])
}
