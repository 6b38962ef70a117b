package result

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// encoding/json checks and compacts what MarshalJSON returns, which takes longer than writing it.
// WithoutTables and AppendTables spare an answer with many nodes that, by writing the tables last.

// WithoutTables returns a shallow copy of the cycle without Filter and Score.
func (c *Cycle) WithoutTables() *Cycle {
	out := *c
	out.Filter, out.Score = nil, nil
	return &out
}

// AppendTables adds Filter and Score, unless they are nil, to document, the JSON of an object that
// embeds WithoutTables.
func (c *Cycle) AppendTables(document []byte) ([]byte, error) {
	if len(document) < 2 || document[len(document)-1] != '}' {
		return nil, fmt.Errorf("adding tables to %.20q, which is no object", document)
	}
	out, err := document[:len(document)-1], error(nil)
	if c.Filter != nil {
		if out, err = c.Filter.appendJSON(appendMember(out, "filter")); err != nil {
			return nil, err
		}
	}
	if c.Score != nil {
		if out, err = c.Score.appendJSON(appendMember(out, "score")); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendMembers(out []byte, of any) ([]byte, error) {
	data, err := json.Marshal(of)
	if err != nil || len(data) == len("{}") {
		return out, err
	}
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	return append(out, data[1:len(data)-1]...), nil
}

// appendMember begins a member of an object.
func appendMember(out []byte, name string) []byte {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	return append(append(append(out, '"'), name...), '"', ':')
}

func appendList(out []byte, n int, value func(out []byte, i int) []byte) []byte {
	out = append(out, '[')
	for i := range n {
		if i > 0 {
			out = append(out, ',')
		}
		out = value(out, i)
	}
	return append(out, ']')
}

// appendRow adds node i's values as a list.
func appendRow(out []byte, columns []Column, i int) []byte {
	return appendList(out, len(columns), func(out []byte, p int) []byte { return strconv.AppendInt(out, columns[p].At(i), 10) })
}

// appendString adds a string as encoding/json does.
func appendString(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(s) // a string has no error
			return append(out, quoted...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}

func appendStrings(out []byte, list []string) []byte {
	return appendList(out, len(list), func(out []byte, i int) []byte { return appendString(out, list[i]) })
}
