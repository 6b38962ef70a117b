package yamlsource

// AtMost reports whether a text in YAML or JSON has at most limit values. It errs on the side of
// counting too many: it counts every character that may separate two values, also within strings, so
// that it need not parse. Only in a flow mapping, a key without a value counts as one. A parser makes an object of some hundred bytes of each value, so a text of
// commas takes a hundred times its size.
func AtMost(limit int, text []byte) bool {
	values := 1
	for i, c := range text {
		switch c {
		case '[', '{', ',', ':', '\n':
			values++
		case '-', '?':
			// In block collections these are followed by white space.
			if i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t' || text[i+1] == '\n' || text[i+1] == '\r' {
				values++
			}
		}
		if values > limit {
			return false
		}
	}
	return values <= limit
}
