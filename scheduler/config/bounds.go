package config

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

const (
	// MaxSize bounds a document, both as written and with its aliases expanded.
	MaxSize = 1 << 20
	// maxValues bounds the values of a document before it is parsed: the parser needs some hundred
	// bytes for each.
	maxValues = 100_000
	// maxDepth bounds the nesting; the configuration API needs about 15 levels.
	maxDepth = 100
	// maxItems bounds each list and mapping, because some of upstream's checks compare each
	// item with all others.
	maxItems = 10_000
	// maxProfiles bounds the profiles and the extenders, which take much more memory than
	// space in the document.
	maxProfiles = 500
	// maxPath bounds the path of a field.
	maxPath = 4 << 10
)

// Bounds are those of a document. One just within them may have as many commas as text.
var Bounds = yamlsource.Bounds{Written: MaxSize, Values: maxValues, Size: 2 * MaxSize, Depth: maxDepth, Items: maxItems, Path: maxPath}

// soundScalars returns the mistake in the first scalar that sound refuses, or nil.
func soundScalars(n *yaml.Node) *Mistake {
	if n.Kind == yaml.ScalarNode {
		return sound(n)
	}
	for _, child := range n.Content {
		if m := soundScalars(child); m != nil {
			return m
		}
	}
	return nil
}

// sound refuses a scalar that JSON cannot hold or YAML cannot write.
func sound(n *yaml.Node) *Mistake {
	if n.ShortTag() == "!!float" && strings.ContainsAny(n.Value, "nN") {
		return nodeMistake(n, "%s is not a number that a configuration can hold", yamlsource.Cut(n.Value, 40))
	}
	if strings.ContainsFunc(n.Value, unwritable) {
		return nodeMistake(n, "a control character in %q", yamlsource.Cut(n.Value, 40))
	}
	return nil
}

func nodeMistake(n *yaml.Node, format string, args ...any) *Mistake {
	return &Mistake{Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)}
}

// unwritable reports characters that YAML does not allow. A value can contain one through an
// escape, but could not be written back.
func unwritable(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) || r == '\ufeff' || r == '\ufffe' || r == '\uffff'
}
