package watch

import "errors"

// scanner finds the members of a JSON object without decoding them. It takes
// the API server's word that the JSON is valid, and fails rather than read
// past the end where it is not.
type scanner struct {
	data []byte
	i    int
}

var errJSON = errors.New("JSON is cut short or not valid")

// members calls f for each member of the object that begins here, with the
// name in its quotes. f goes past the value, by value or by members.
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

// value goes past the value that begins here and returns it.
func (s *scanner) value() ([]byte, error) {
	start := s.i
	if !s.skipValue() {
		return nil, errJSON
	}
	return s.data[start:s.i], nil
}

// text goes past a value and returns what is between its quotes, if it is a
// string. It does not unescape: names and versions have nothing to unescape,
// and if they had, they would be told apart as well.
func (s *scanner) text() (string, error) {
	v, err := s.value()
	if err != nil || len(v) < 2 || v[0] != '"' {
		return "", err
	}
	return string(v[1 : len(v)-1]), nil
}

// skipValue goes to the end of the value that begins here, at any depth
// without recursion.
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

// skipString goes past the string whose opening quote is here.
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

// take goes past space and c, or says that something else is there.
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
