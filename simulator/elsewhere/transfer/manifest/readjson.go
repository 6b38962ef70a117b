package manifest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// json reads the JSON values of a document, and lists of any length item by item.
func (r *reader) json(at place, content *bufio.Reader, file *documents) error {
	text := &lineIndex{from: content, line: file.start, left: maxObject}
	j := &jsonReader{reader: r, at: at, text: text, decoder: json.NewDecoder(text)}
	for {
		text.left = maxObject
		token, err := j.decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = j.another()
		}
		if err == nil {
			err = j.value(token)
		}
		if err == nil {
			continue
		}
		if _, ends := errors.AsType[fatal](err); ends {
			return err
		}
		if whole, ok := text.whole(); ok && j.emitted == 0 {
			// A mapping in YAML's flow style begins as JSON does.
			if value, yamlErr := toValue(whole, file.start); yamlErr == nil {
				return r.top(value, at.String())
			}
		}
		return j.located(err)
	}
}

type jsonReader struct {
	*reader
	at      place
	text    *lineIndex
	decoder *json.Decoder
	emitted int
}

func (j *jsonReader) located(err error) error {
	offset := j.decoder.InputOffset()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = max(offset, syntax.Offset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends in the middle of a value")
	}
	if strings.Contains(err.Error(), tooDeep) {
		err = errDepth
	}
	if line := j.text.lineAt(offset); line > 0 {
		return fmt.Errorf("not JSON: line %d: %w", line, err)
	}
	return fmt.Errorf("not JSON: byte %d: %w", offset, err)
}

func (j *jsonReader) value(token json.Token) error {
	switch token {
	case json.Delim('{'):
		return j.object()
	case json.Delim('['):
		return j.items("items", schema.GroupVersionKind{})
	}
	return fmt.Errorf("want an object or a list of objects, got %v", token)
}

// object reads a value that is an object, or holds lists of objects.
func (j *jsonReader) object() error {
	fields := map[string]json.RawMessage{}
	lists, size := false, 0
	for j.decoder.More() {
		token, err := j.decoder.Token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return fmt.Errorf("want a field, got %v", token)
		}
		if kind, isItems := j.listOf(key, fields); isItems {
			lists = true
			if err := j.list(key, kind); err != nil {
				return err
			}
			continue
		}
		raw, err := j.raw()
		if err != nil {
			return err
		}
		if size += len(key) + len(raw); size > maxObject {
			return fmt.Errorf("a value is larger than %d MiB, the limit of an import", maxObject>>20)
		}
		fields[key] = raw
	}
	if _, err := j.decoder.Token(); err != nil {
		return err
	}
	return j.rest(fields, lists)
}

// listOf reports whether a field holds objects, and of which kind they are when they do not say so.
func (j *jsonReader) listOf(key string, fields map[string]json.RawMessage) (schema.GroupVersionKind, bool) {
	var apiVersion, kind string
	// rest reports values that are not strings.
	_ = json.Unmarshal(fields["apiVersion"], &apiVersion)
	_ = json.Unmarshal(fields["kind"], &kind)
	return listField(key, apiVersion, kind)
}

// raw reads a value without decoding it.
func (j *jsonReader) raw() (json.RawMessage, error) {
	j.text.left = maxObject
	var raw json.RawMessage
	err := j.decoder.Decode(&raw)
	return raw, err
}

func (j *jsonReader) list(key string, kind schema.GroupVersionKind) error {
	j.text.left = maxObject
	token, err := j.decoder.Token()
	if err != nil {
		return err
	}
	switch token {
	case nil:
		return nil // as in "items": null
	case json.Delim('['):
		if key == ResultsField {
			return j.skip()
		}
		return j.items(key, kind)
	}
	return fmt.Errorf("%s is not a list", key)
}

// skip reads to the end of the open list.
func (j *jsonReader) skip() error {
	j.content.Ignored(j.at.String(), ignoredResults)
	for j.decoder.More() {
		if _, err := j.raw(); err != nil {
			return err
		}
		if err := j.another(); err != nil {
			return err
		}
	}
	_, err := j.decoder.Token()
	return err
}

// items reads to the end of the open list of objects.
func (j *jsonReader) items(key string, kind schema.GroupVersionKind) error {
	for i := 0; j.decoder.More(); i++ {
		raw, err := j.raw()
		if err != nil {
			return err
		}
		if err := j.another(); err != nil {
			return err
		}
		j.emitted++
		source := fmt.Sprintf("%s, %s[%d]", j.at, key, i)
		value, err := valueOf(raw)
		if err != nil {
			if err := j.report(source, err); err != nil {
				return err
			}
			continue
		}
		if err := j.listed(value, kind, source); err != nil {
			return fatal{err}
		}
	}
	_, err := j.decoder.Token()
	return err
}

// rest reads the fields of a document that are not lists of objects.
func (j *jsonReader) rest(fields map[string]json.RawMessage, lists bool) error {
	for _, field := range configurationFields {
		raw, ok := fields[field]
		if !ok || !lists && len(fields) > 1 && fields["kind"] != nil {
			continue
		}
		delete(fields, field)
		if bytes.Equal(raw, []byte("null")) {
			continue
		}
		lists = true
		value, err := valueOf(raw)
		if err == nil {
			err = j.configuration(value, j.at.String())
		}
		if err != nil {
			return err
		}
	}
	if lists || len(fields) == 0 {
		return nil
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	value, err := valueOf(data)
	if err != nil {
		return err
	}
	j.emitted++
	if err := j.reader.object(value, j.at.String()); err != nil {
		return fatal{err}
	}
	return nil
}

func valueOf(raw []byte) (map[string]any, error) {
	if _, wrong := yamlsource.ToJSON(context.Background(), raw, bounds); wrong != nil {
		return nil, errors.New(wrong.Message)
	}
	var value any
	if err := utiljson.Unmarshal(raw, &value); err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("want an object, got %s", shorten(string(raw)))
	}
	return object, nil
}

var errDepth = fmt.Errorf("nested deeper than %d levels", maxDepth)

// The JSON decoder's errors about nesting that exceeds its own bounds contain tooDeep.
const tooDeep = "exceeded max depth"

func shorten(s string) string {
	const enough = 60
	if len(s) > enough {
		return s[:enough] + "…"
	}
	return s
}

// lineIndex remembers where the lines of a text start, and the first part of the text.
type lineIndex struct {
	from io.Reader
	line int
	// left bounds the bytes to read until it is set again.
	left   int64
	offset int64
	breaks []int64
	head   []byte
	cut    bool // head is not the whole text
}

const (
	// Errors name at most maxBreaks lines; after them they name the byte.
	maxBreaks = 2 << 20
	// maxFlow bounds a text that is tried as YAML when it is not JSON.
	maxFlow = 1 << 20
)

func (l *lineIndex) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, fmt.Errorf("a value is larger than %d MiB, the limit of an import", maxObject>>20)
	}
	n, err := l.from.Read(p)
	l.left -= int64(n)
	if len(l.head)+n <= maxFlow {
		l.head = append(l.head, p[:n]...)
	} else {
		l.cut = true
	}
	for i, c := range p[:n] {
		if c == '\n' && len(l.breaks) < maxBreaks {
			l.breaks = append(l.breaks, l.offset+int64(i))
		}
	}
	l.offset += int64(n)
	return n, err
}

// lineAt returns the line of a byte, 0 when it is unknown.
func (l *lineIndex) lineAt(offset int64) int {
	before := sort.Search(len(l.breaks), func(i int) bool { return l.breaks[i] >= offset })
	if before == maxBreaks {
		return 0
	}
	return l.line + before
}

// whole returns the text if it is short.
func (l *lineIndex) whole() ([]byte, bool) {
	rest, err := io.ReadAll(io.LimitReader(l.from, maxFlow))
	if err != nil || l.cut || len(l.head)+len(rest) > maxFlow {
		return nil, false
	}
	return append(l.head, rest...), true
}
