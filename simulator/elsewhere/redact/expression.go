package redact

import (
	"strings"
	"unicode"
)

// celWords have a meaning in expressions on devices. An attribute with such a name keeps it.
var celWords = map[string]bool{
	"true": true, "false": true, "null": true, "in": true,
	"device": true, "driver": true, "attributes": true, "capacity": true, "allowMultipleAllocations": true,
	"cel": true, "optional": true, "sets": true, "value": true,
}

// expression redacts a CEL expression word by word: it replaces string literals and identifiers as
// it does in devices' attributes, and keeps functions and Kubernetes' own words. It replaces an
// expression with an unterminated literal or an escape by one that selects nothing.
func (r *Redactor) expression(source string) string {
	var out strings.Builder
	for rest := source; rest != ""; {
		c := rest[0]
		switch {
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, "'''"):
			return "false"
		case c == '"' || c == '\'':
			end := strings.IndexByte(rest[1:], c)
			if end < 0 || strings.ContainsRune(rest[1:1+end], '\\') {
				return "false"
			}
			out.WriteString(`"` + r.literal(rest[1:1+end]) + `"`)
			rest = rest[end+2:]
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			rest = rest[end:]
		case isLetter(rune(c)):
			end := 0
			for end < len(rest) && (isLetter(rune(rest[end])) || unicode.IsDigit(rune(rest[end]))) {
				end++
			}
			word := rest[:end]
			rest = rest[end:]
			called, quoted := strings.HasPrefix(rest, "("), strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'")
			switch {
			case quoted && word != "in", called && !celFunctions[word] && word != "in":
				return "false"
			case !called:
				word = r.identifier(word)
			}
			out.WriteString(word)
		case c < 0x80 && !isNumber(rest):
			out.WriteByte(c)
			rest = rest[1:]
		case c < 0x80:
			end := 0
			for end < len(rest) && (unicode.IsDigit(rune(rest[end])) || rest[end] == '.') {
				end++
			}
			if end > 12 {
				return "false"
			}
			out.WriteString(rest[:end])
			rest = rest[end:]
		default:
			return "false"
		}
	}
	return out.String()
}

func isLetter(c rune) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isNumber(s string) bool { return unicode.IsDigit(rune(s[0])) }

// Kubernetes offers these functions in expressions on devices.
var celFunctions = func() map[string]bool {
	known := map[string]bool{}
	for _, name := range strings.Fields(`has all exists exists_one map filter bind size contains startsWith endsWith matches
		quantity isQuantity semver isSemver major minor patch compareTo isGreaterThan isLessThan isInteger asInteger asApproximateFloat sign add sub
		lowerAscii upperAscii replace split join substring trim charAt indexOf lastIndexOf format int uint double string bool type
		includes isSorted sum min max find findAll sets equivalent intersects domain optional orValue or hasValue optMap optFlatMap none of`) {
		known[name] = true
	}
	return known
}()
