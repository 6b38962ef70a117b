package config

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

const (
	// MaxSize bounds a document, both as written and with its aliases expanded.
	MaxSize = 1 << 20
	// maxDepth bounds the nesting; the configuration API needs about 15 levels.
	maxDepth = 100
	// maxItems bounds each list and mapping, because some of upstream's checks compare each
	// item with all others.
	maxItems = 10_000
	// maxProfiles bounds the profiles and the extenders, which take much more memory than
	// space in the document.
	maxProfiles = 500
)

// bounded refuses documents that exceed the bounds when their aliases are expanded, and scalars
// that JSON cannot represent.
func bounded(root *yaml.Node) *Mistake {
	_, m := measurer{}.measure(root, 1)
	return m
}

// extent is the size of a node with its aliases expanded.
type extent struct{ size, depth int }

// unfinished is the size of a node whose content is being measured.
const unfinished = -1

// measurer caches the extents of anchored nodes, so that each is measured only once.
type measurer map[*yaml.Node]extent

func (known measurer) measure(n *yaml.Node, depth int) (extent, *Mistake) {
	if depth > maxDepth {
		return extent{}, nodeMistake(n, "nested deeper than %d levels", maxDepth)
	}
	if n.Kind == yaml.ScalarNode {
		if m := sound(n); m != nil {
			return extent{}, m
		}
	}
	items := len(n.Content)
	if n.Kind == yaml.MappingNode {
		items /= 2
	}
	if items > maxItems {
		return extent{}, nodeMistake(n, "%d items, more than the %d that are read", items, maxItems)
	}
	children := n.Content
	if n.Kind == yaml.AliasNode {
		e, seen := known[n.Alias]
		if seen && e.size == unfinished {
			return extent{}, nodeMistake(n, "the anchor %q contains itself", n.Value)
		}
		if seen && depth+e.depth <= maxDepth {
			return e, nil
		}
		children = []*yaml.Node{n.Alias}
	}
	if n.Anchor != "" {
		known[n] = extent{size: unfinished}
	}
	e := extent{size: len(n.Value) + len(`"",`)}
	for _, child := range children {
		inner, m := known.measure(child, depth+1)
		if m != nil {
			return extent{}, m
		}
		e.size += inner.size
		e.depth = max(e.depth, inner.depth+1)
		if e.size > 2*MaxSize { // a document just within the bounds may have that many commas
			return extent{}, nodeMistake(n, "too large when its aliases are expanded")
		}
	}
	if n.Anchor != "" {
		known[n] = e
	}
	return e, nil
}

// sound refuses a scalar that JSON cannot hold.
func sound(n *yaml.Node) *Mistake {
	if n.ShortTag() == "!!float" && strings.ContainsAny(n.Value, "nN") {
		return nodeMistake(n, "%s is not a number that a configuration can hold", cut(n.Value, 40))
	}
	if strings.ContainsFunc(n.Value, unwritable) {
		return nodeMistake(n, "a control character in %q", cut(n.Value, 40))
	}
	return nil
}

func nodeMistake(n *yaml.Node, format string, args ...any) *Mistake {
	return &Mistake{Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)}
}

// unwritable reports characters that YAML does not allow. A value could contain one by an escape,
// but could not be written again.
func unwritable(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) || r == '\ufeff' || r == '\ufffe' || r == '\uffff'
}
