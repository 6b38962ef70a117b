package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// mistake returns a mistake at the value of p.
func (d *document) mistake(p path, format string, args ...any) Mistake {
	line, column := d.locate(p, false)
	return Mistake{Field: p.String(), Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// keyMistake returns a mistake at the key of p.
func (d *document) keyMistake(p path, format string, args ...any) Mistake {
	line, column := d.locate(p, true)
	return Mistake{Field: p.String(), Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// locate returns the position of p or of the nearest field around it: that of a scalar, and
// otherwise that of the key or the list item.
func (d *document) locate(p path, key bool) (line, column int) {
	if d.root == nil {
		return 0, 0
	}
	_, place := d.walk(p, key)
	return place.Line, place.Column
}

// walk follows p as far as the document has it. It returns the value there, and the node with its
// position.
func (d *document) walk(p path, key bool) (node, place *yaml.Node) {
	node, place = d.root, d.root
	for i, s := range p {
		node = target(node)
		var child, at *yaml.Node
		switch {
		case s.key == "" && node.Kind == yaml.SequenceNode && s.index < len(node.Content):
			child = node.Content[s.index]
			at = child
		case s.key != "" && node.Kind == yaml.MappingNode:
			at, child = lookup(node, s.key)
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

// target follows an alias.
func target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// lookup returns the key and the value of a field, which may come from a merge key.
func lookup(mapping *yaml.Node, name string) (key, value *yaml.Node) {
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
		v = target(v)
		sources := []*yaml.Node{v}
		if v.Kind == yaml.SequenceNode {
			sources = v.Content
		}
		for _, source := range sources {
			if source = target(source); source.Kind != yaml.MappingNode {
				continue
			}
			if key, value = lookup(source, name); key != nil {
				return key, value
			}
		}
	}
	return nil, nil
}

// at returns the document's value at p; nil when there is none.
func (d *document) at(p path) any {
	var v any = d.value
	for _, s := range p {
		switch inside := v.(type) {
		case map[string]any:
			v = inside[s.key]
		case []any:
			if s.key != "" || s.index >= len(inside) {
				return nil
			}
			v = inside[s.index]
		default:
			return nil
		}
	}
	return v
}
