package yamlsource

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Path leads from the root of a document to one of its values.
type Path []Step

// Step selects a field by its key or, if the key is empty, a list item by its index.
type Step struct {
	Key   string
	Index int
}

// Child returns the path of a field of p's value.
func (p Path) Child(key string) Path { return append(slices.Clip(p), Step{Key: key}) }

// At returns the path of a list item of p's value.
func (p Path) At(index int) Path { return append(slices.Clip(p), Step{Index: index}) }

func (p Path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.Key == "":
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case strings.ContainsAny(s.Key, ".[]"):
			b.WriteString("[" + s.Key + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.Key)
		}
	}
	return b.String()
}

// Within reports whether p equals outer or leads into it.
func (p Path) Within(outer Path) bool {
	return len(p) >= len(outer) && slices.Equal(p[:len(outer)], outer)
}

// ParsePath parses a path such as a.b[0][key].c.
func ParsePath(s string) Path {
	var p Path
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if n, err := strconv.Atoi(part); err == nil {
			p = append(p, Step{Index: n})
			continue
		}
		p = append(p, Step{Key: part})
	}
	return p
}

// Child returns the text of the path of a field.
func Child(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// Target follows an alias.
func Target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// Locate follows p as far as the document has it. It returns the value there, and the node with its position: a scalar,
// and otherwise the key or the list item. With key it is the key of the last step even if that has a scalar.
func Locate(root *yaml.Node, p Path, key bool) (node, place *yaml.Node) {
	node, place = root, root
	for i, s := range p {
		node = Target(node)
		var child, at *yaml.Node
		switch {
		case s.Key == "" && node.Kind == yaml.SequenceNode && s.Index < len(node.Content):
			child = node.Content[s.Index]
			at = child
		case s.Key != "" && node.Kind == yaml.MappingNode:
			at, child = Lookup(node, s.Key)
			if child != nil && child.Kind == yaml.ScalarNode && child.Value != "" && !(key && i == len(p)-1) {
				at = child
			}
		}
		if child == nil {
			break
		}
		node, place = child, at
	}
	return node, place
}

// Field returns the value of a field of a node, or nil if it has none.
func Field(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	if _, value := Lookup(n, name); value != nil {
		return Target(value)
	}
	return nil
}

// Text returns the scalar in a field of a node, such as its kind.
func Text(n *yaml.Node, name string) string {
	if value := Field(n, name); value != nil {
		return value.Value
	}
	return ""
}

// Lookup returns the key and the value of a field of a mapping, which may come from a merge key; nil if there is none.
func Lookup(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	var merged []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		k, v := mapping.Content[i], mapping.Content[i+1]
		if k.Value == name {
			key, value = k, v // the last of several counts
		}
		if k.Value == "<<" && k.ShortTag() == "!!merge" {
			merged = append(merged, v)
		}
	}
	if key != nil {
		return key, value
	}
	for _, v := range merged {
		v = Target(v)
		sources := []*yaml.Node{v}
		if v.Kind == yaml.SequenceNode {
			sources = v.Content
		}
		for _, source := range sources {
			if source = Target(source); source.Kind != yaml.MappingNode {
				continue
			}
			if key, value = Lookup(source, name); key != nil {
				return key, value
			}
		}
	}
	return nil, nil
}
