package docs

import (
	"regexp"
	"strings"
	"testing"
)

func TestShows(t *testing.T) {
	tests := []struct {
		name, output, says string
		want               bool
	}{
		{"the same", "a\nb\n", "a\nb\n", true},
		{"more lines", "a\nb\n", "a\n", false},
		{"part of a line", "pod/web-x7 created\n", "pod/… created\n", true},
		{"lines between", "a\nb\nc\nd\n", "a\n…\nd\n", true},
		{"no lines between", "a\nd\n", "a\n…\nd\n", true},
		{"another line", "a\nc\n", "a\nb\n", false},
		{"no pattern", "a.c\n", "abc\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := shows(tt.output, tt.says); got != tt.want {
				t.Errorf("shows(%q, %q) = %v", tt.output, tt.says, got)
			}
		})
	}
}

// flowStream is the start of a stream of objects that begins with a brace.
var flowStream = regexp.MustCompile(`<<-?'?END'?\n\s*\{|(?m)(?:do|\()\s+echo ["']\{`)

// TestStreamsAreYAML: a stream for kubectl does not begin with a brace, because older versions of kubectl, 1.32 among them, read it as JSON.
func TestStreamsAreYAML(t *testing.T) {
	for _, page := range everyPage(t) {
		found, err := blocks(readPage(t, page))
		if err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		for _, b := range found {
			if strings.Contains(b.text, "kubectl") && flowStream.MatchString(b.text) {
				t.Errorf("%s:%d: a stream begins with a brace: %s", page, b.line, flowStream.FindString(b.text))
			}
		}
	}
}
