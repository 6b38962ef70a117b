package manifest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// yaml reads a YAML document. It splits a list of objects at its items by their indentation, so
// that it need not parse a list of any length as a whole. If it cannot parse the items, it parses
// the document instead, unless that is too large: an item may use an anchor of another one.
func (r *reader) yaml(at place, content *bufio.Reader, line int) error {
	y := &yamlReader{reader: r, at: at, line: line, content: content, buffered: true}
	for {
		text, err := content.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			text, err = y.longLine(text)
		}
		if len(text) > 0 {
			if err := y.take(text); err != nil {
				return err
			}
			y.line++
		}
		if errors.Is(err, io.EOF) {
			return y.end()
		}
		if err != nil {
			return err
		}
	}
}

// yamlReader reads one document, line by line.
type yamlReader struct {
	*reader
	at      place
	content *bufio.Reader
	line    int // of what comes next

	// whole is the document so far, while it is small enough to be parsed as one.
	whole    []byte
	buffered bool

	// rest is the document without its lists of objects.
	rest     []byte
	restLine int
	begun    bool // it has more than comments

	list    string // the field whose items come; empty outside of lists
	indent  int    // of the list's items
	index   int    // of the next item
	skipped bool   // the list is of results
	// results: there was such a list.
	results bool

	item     []byte
	itemLine int
	// failed are the items from the first one that does not parse. The document as a whole may
	// explain them.
	failed []yamlItem
	done   int // items handed over before the first that failed
}

type yamlItem struct {
	text []byte
	// indent is that of its hyphen.
	indent int
	line   int
	source string
	field  string
}

var errLine = errors.New("a line is too long")

// longLine reads the rest of a line that does not fit the buffer.
func (y *yamlReader) longLine(begin []byte) ([]byte, error) {
	line := bytes.Clone(begin)
	for {
		more, err := y.content.ReadSlice('\n')
		line = append(line, more...)
		if len(line) > maxObject {
			return nil, fmt.Errorf("line %d: %w", y.line, errLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

var listBegin = regexp.MustCompile(`^([A-Za-z]+):[ \t]*(#.*)?\r?\n?$`)

func (y *yamlReader) take(line []byte) error {
	if y.buffered {
		if len(y.whole)+len(line) > maxWhole {
			y.whole, y.buffered = nil, false
			if err := y.giveUpWhole(); err != nil {
				return err
			}
		} else {
			y.whole = append(y.whole, line...)
		}
	}
	if y.list != "" {
		inList, err := y.inList(line)
		if inList || err != nil {
			return err
		}
	}
	if found := listBegin.FindSubmatch(line); found != nil {
		if field := string(found[1]); y.holdsObjects(field) {
			y.list, y.indent, y.index, y.skipped = field, -1, 0, field == ResultsField
			y.results = y.results || y.skipped
			return nil
		}
	}
	if y.rest == nil {
		y.restLine = y.line
	}
	if !y.begun {
		content := bytes.TrimLeft(line, " \t\r\n")
		if y.begun = len(content) > 0 && content[0] != '#'; bytes.HasPrefix(content, []byte("- ")) {
			return fmt.Errorf("line %d: want an object, got a list; a List has objects as its items", y.line)
		}
	}
	if len(y.rest)+len(line) > maxWhole {
		return fmt.Errorf("it is larger than %d MiB and not a list of objects", maxWhole>>20)
	}
	y.rest = append(y.rest, line...)
	return nil
}

var kindField = regexp.MustCompile(`(?m)^kind:[ \t]*["']?([A-Za-z0-9]+)`)
var apiVersionField = regexp.MustCompile(`(?m)^apiVersion:[ \t]*["']?([A-Za-z0-9./-]+)`)

func (y *yamlReader) header() (apiVersion, kind string) {
	if found := apiVersionField.FindSubmatch(y.rest); found != nil {
		apiVersion = string(found[1])
	}
	if found := kindField.FindSubmatch(y.rest); found != nil {
		kind = string(found[1])
	}
	return apiVersion, kind
}

func (y *yamlReader) holdsObjects(field string) bool {
	apiVersion, kind := y.header()
	_, ok := listField(field, apiVersion, kind)
	return ok
}

// inList reads a line of a list, and reports whether it belongs to the list.
func (y *yamlReader) inList(line []byte) (bool, error) {
	content := bytes.TrimLeft(line, " ")
	indent := len(line) - len(content)
	blank := len(bytes.TrimSpace(content)) == 0
	begins := bytes.HasPrefix(content, []byte("- ")) || len(bytes.TrimRight(content, "\r\n")) == 1 && content[0] == '-'
	switch {
	case blank || content[0] == '#' && (y.indent < 0 || indent <= y.indent):
	case begins && (y.indent < 0 || indent == y.indent):
		y.indent = indent
		if err := y.endItem(); err != nil {
			return true, err
		}
		y.itemLine = y.line
	case y.indent >= 0 && (indent > y.indent || content[0] == '\t'): // the parser says that of a tab
	default:
		err := y.endItem()
		y.list = ""
		return false, err
	}
	if y.skipped || y.itemLine == 0 {
		return true, nil
	}
	if len(y.item)+len(line) > maxObject {
		return true, fmt.Errorf("line %d: an object is larger than %d MiB", y.itemLine, maxObject>>20)
	}
	y.item = append(y.item, line...)
	return true, nil
}

// endItem parses the item that is complete.
func (y *yamlReader) endItem() error {
	if y.itemLine == 0 || y.skipped {
		y.itemLine = 0
		return nil
	}
	if err := y.another(); err != nil {
		return err
	}
	i := yamlItem{text: y.item, indent: y.indent, line: y.itemLine, field: y.list, source: fmt.Sprintf("%s, %s[%d]", y.at, y.list, y.index)}
	y.item, y.itemLine = y.item[:0], 0
	y.index++
	if len(y.failed) > 0 {
		i.text = bytes.Clone(i.text)
		y.failed = append(y.failed, i)
		return nil
	}
	value, err := i.value()
	if err == nil {
		y.done++
		return y.emit(i, value)
	}
	if !y.buffered {
		return y.report(i.source, err)
	}
	i.text = bytes.Clone(i.text)
	y.failed = append(y.failed, i)
	return nil
}

func (i yamlItem) value() (map[string]any, error) {
	i.text[i.indent] = ' '
	value, err := toValue(i.text, i.line)
	i.text[i.indent] = '-'
	return value, err
}

func (y *yamlReader) emit(i yamlItem, value map[string]any) error {
	apiVersion, kind := y.header()
	gvk, _ := listField(i.field, apiVersion, kind)
	if err := y.listed(value, gvk, i.source); err != nil {
		return fatal{err}
	}
	return nil
}

// end parses what is left when the document is complete.
func (y *yamlReader) end() error {
	if err := y.endItem(); err != nil {
		return err
	}
	if len(y.failed) > 0 {
		return y.asWhole()
	}
	return y.endRest()
}

func (y *yamlReader) endRest() error {
	if y.index > 0 || y.results || y.list != "" {
		return y.restOfList()
	}
	if len(bytes.TrimSpace(y.rest)) == 0 {
		return nil
	}
	value, err := toValue(y.rest, y.restLine)
	if err != nil || value == nil {
		return err
	}
	if err := y.top(value, y.at.String()); err != nil {
		return fatal{err}
	}
	return nil
}

// restOfList reads the other fields of a document with a list.
func (y *yamlReader) restOfList() error {
	if y.results {
		y.reader.content.Ignored(y.at.String(), ignoredResults)
	}
	value, err := toValue(y.rest, y.restLine)
	if err != nil {
		return err
	}
	for _, field := range configurationFields {
		if inner, isMap := value[field].(map[string]any); isMap {
			if err := y.configuration(inner, y.at.String()); err != nil {
				return fatal{err}
			}
		}
	}
	return nil
}

// asWhole parses the document as one, and hands over the items that the split has not. If that
// fails too, it reports the items one by one.
func (y *yamlReader) asWhole() error {
	value, err := toValue(y.whole, y.line-bytes.Count(y.whole, []byte("\n")))
	if err != nil {
		return y.giveUpWhole()
	}
	for field, inner := range value {
		items, isItems := inner.([]any)
		if y.holdsObjects(field) && isItems && field != ResultsField {
			value[field] = items[min(y.done, len(items)):]
		}
	}
	if err := y.top(value, y.at.String()); err != nil {
		return fatal{err}
	}
	return nil
}

// giveUpWhole parses the delayed items one by one.
func (y *yamlReader) giveUpWhole() error {
	failed := y.failed
	y.failed = nil
	for _, i := range failed {
		value, err := i.value()
		if err == nil {
			err = y.emit(i, value)
		}
		if f, ends := errors.AsType[fatal](err); ends {
			return f
		}
		if err := y.report(i.source, err); err != nil {
			return fatal{err}
		}
	}
	return nil
}

// toValue parses YAML whose first line has that number. It returns nil for a text of nothing but
// comments.
func toValue(text []byte, line int) (map[string]any, error) {
	// The source's reader ends with its context; one object is soon read.
	data, wrong := yamlsource.ToJSONFrom(context.Background(), text, line, bounds)
	if wrong != nil {
		return nil, wrong
	}
	if bytes.Equal(data, []byte("null")) {
		return nil, nil
	}
	value, err := valueOf(data)
	if err != nil {
		blank := text[:len(text)-len(bytes.TrimLeft(text, " \r\n"))]
		return nil, fmt.Errorf("line %d: %w", line+bytes.Count(blank, []byte("\n")), err)
	}
	return value, nil
}
