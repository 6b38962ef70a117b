package config

import (
	"slices"
	"strconv"
	"strings"
)

// path leads from the root of a document to one of its values.
type path []step

// step selects a field by its key or, if the key is empty, a list item by its index.
type step struct {
	key   string
	index int
}

func (p path) child(key string) path { return append(slices.Clip(p), step{key: key}) }

func (p path) at(index int) path { return append(slices.Clip(p), step{index: index}) }

func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.key == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case strings.ContainsAny(s.key, ".[]"):
			b.WriteString("[" + s.key + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		}
	}
	return b.String()
}

// within reports whether p equals outer or leads into it.
func (p path) within(outer path) bool {
	return len(p) >= len(outer) && slices.Equal(p[:len(outer)], outer)
}

// parsePath parses a path of upstream's messages, such as a.b[0][key].c.
func parsePath(s string) path {
	var p path
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if n, err := strconv.Atoi(part); err == nil {
			p = append(p, step{index: n})
			continue
		}
		// Some of upstream's paths name the Go field.
		if part == "Enabled" {
			part = "enabled"
		}
		p = append(p, step{key: part})
	}
	return p
}
