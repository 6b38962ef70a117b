package transfer

import (
	"bytes"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// listWriter writes a List item by item. Data is JSON on one line.
type listWriter interface {
	// begin opens the List and its items.
	begin() error
	// item adds to the list that was opened last.
	item(data []byte) error
	// field closes the open list and writes a field of the document.
	field(name string, data []byte) error
	// beginField is field for a list, whose items follow.
	beginField(name string) error
	end() error
}

func writerOf(f Format, w io.Writer) listWriter {
	if f == YAML {
		return &yamlWriter{w: w}
	}
	return &jsonWriter{w: w}
}

type jsonWriter struct {
	w      io.Writer
	inList bool
	items  int
}

var _ listWriter = (*jsonWriter)(nil)

func (j *jsonWriter) write(parts ...string) error {
	for _, p := range parts {
		if _, err := io.WriteString(j.w, p); err != nil {
			return fmt.Errorf("writing the export: %w", err)
		}
	}
	return nil
}

func (j *jsonWriter) begin() error {
	j.inList = true
	return j.write(`{"apiVersion":"v1","kind":"List","items":[`)
}

func (j *jsonWriter) item(data []byte) error {
	separator := ",\n"
	if j.items == 0 {
		separator = "\n"
	}
	j.items++
	return j.write(separator, string(data))
}

func (j *jsonWriter) endList() error {
	if !j.inList {
		return nil
	}
	j.inList, j.items = false, 0
	return j.write("\n]")
}

func (j *jsonWriter) field(name string, data []byte) error {
	if err := j.endList(); err != nil {
		return err
	}
	return j.write(",\n\"", name, "\":", string(data))
}

func (j *jsonWriter) beginField(name string) error {
	if err := j.endList(); err != nil {
		return err
	}
	j.inList = true
	return j.write(",\n\"", name, "\":[")
}

func (j *jsonWriter) end() error {
	if err := j.endList(); err != nil {
		return err
	}
	return j.write("}\n")
}

type yamlWriter struct {
	w     io.Writer
	name  string // of the open list
	items int
}

var _ listWriter = (*yamlWriter)(nil)

func (y *yamlWriter) write(data []byte) error {
	if _, err := y.w.Write(data); err != nil {
		return fmt.Errorf("writing the export: %w", err)
	}
	return nil
}

func (y *yamlWriter) begin() error {
	y.name = "items"
	return y.write([]byte("apiVersion: v1\nkind: List\n"))
}

func (y *yamlWriter) item(data []byte) error {
	var out bytes.Buffer
	if y.items == 0 {
		fmt.Fprintf(&out, "%s:\n", y.name)
	}
	y.items++
	if err := indented(&out, data, "- ", "  "); err != nil {
		return err
	}
	return y.write(out.Bytes())
}

// indented writes JSON as YAML. Blank lines stay blank: in a scalar of several lines white space
// would be content.
func indented(out *bytes.Buffer, data []byte, first, rest string) error {
	text, err := yaml.JSONToYAML(data)
	if err != nil {
		return fmt.Errorf("writing YAML: %w", err)
	}
	prefix := first
	for line := range bytes.Lines(text) {
		if len(bytes.TrimRight(line, "\n")) > 0 {
			out.WriteString(prefix)
		}
		out.Write(line)
		prefix = rest
	}
	return nil
}

func (y *yamlWriter) endList() error {
	empty := y.name != "" && y.items == 0
	name := y.name
	y.name, y.items = "", 0
	if !empty {
		return nil
	}
	return y.write([]byte(name + ": []\n"))
}

func (y *yamlWriter) field(name string, data []byte) error {
	if err := y.endList(); err != nil {
		return err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s:\n", name)
	if err := indented(&out, data, "  ", "  "); err != nil {
		return err
	}
	return y.write(out.Bytes())
}

func (y *yamlWriter) beginField(name string) error {
	if err := y.endList(); err != nil {
		return err
	}
	y.name = name
	return nil
}

func (y *yamlWriter) end() error { return y.endList() }
