package watch

import "errors"

// scanner finds the members of a JSON object without decoding them. It trusts the API server to
// send valid JSON. Given anything else, it may not notice, but it never reads past the end.
type scanner struct {
	data []byte
	i    int
}

var errJSON = errors.New("the JSON is truncated or invalid")

// members reads an object and calls f with the name of each member, in quotes. f must read the
// value, with value or members.
func (s *scanner) members(f func(name []byte) error) error {
	if !s.take('{') {
		return errJSON
	}
	if s.take('}') {
		return nil
	}
	for {
		name, err := s.name()
		if err != nil {
			return err
		}
		if err := f(name); err != nil {
			return err
		}
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return errJSON
		}
	}
}

func (s *scanner) name() ([]byte, error) {
	s.space()
	start := s.i
	if s.i >= len(s.data) || s.data[s.i] != '"' || !s.skipString() {
		return nil, errJSON
	}
	name := s.data[start:s.i]
	if !s.take(':') {
		return nil, errJSON
	}
	s.space()
	return name, nil
}

func (s *scanner) value() ([]byte, error) {
	start := s.i
	if !s.skipValue() {
		return nil, errJSON
	}
	return s.data[start:s.i], nil
}

// text reads a value and returns the content of its quotes if it is a string. It does not unescape:
// names and versions contain no escapes, and different ones would stay different if they did.
func (s *scanner) text() (string, error) {
	v, err := s.value()
	if err != nil || len(v) < 2 || v[0] != '"' {
		return "", err
	}
	return string(v[1 : len(v)-1]), nil
}

// skipValue does not recurse, so depth costs no stack.
func (s *scanner) skipValue() bool {
	start, depth := s.i, 0
	for s.i < len(s.data) {
		switch s.data[s.i] {
		case '"':
			if !s.skipString() {
				return false
			}
			if depth == 0 {
				return true
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return s.i > start
			}
			depth--
			if depth == 0 {
				s.i++
				return true
			}
		case ',', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return s.i > start
			}
		}
		s.i++
	}
	return depth == 0 && s.i > start
}

// The scanner is at the string's opening quote.
func (s *scanner) skipString() bool {
	for s.i++; s.i < len(s.data); s.i++ {
		switch s.data[s.i] {
		case '\\':
			s.i++
		case '"':
			s.i++
			return true
		}
	}
	return false
}

// take goes past space and c, and reports whether c was there.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.i >= len(s.data) || s.data[s.i] != c {
		return false
	}
	s.i++
	return true
}

func (s *scanner) space() {
	for s.i < len(s.data) {
		switch s.data[s.i] {
		case ' ', '\n', '\r', '\t':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) atEnd() bool {
	s.space()
	return s.i == len(s.data)
}
