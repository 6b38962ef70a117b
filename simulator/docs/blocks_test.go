package docs

import "testing"

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
