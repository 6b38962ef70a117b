// Package patterncost says what a regular expression becomes when it is compiled: a few characters, such as (a{30}){30}, may expand to
// thousands of instructions.
//
// It may import nothing of the simulator.
package patterncost

import "regexp/syntax"

// Instructions returns about how many instructions a pattern becomes: to compile it takes less than a microsecond for each, and to match
// a text at most some nanoseconds for each of them and each character. A malformed
// pattern becomes none, and is as much to read as it is long.
func Instructions(pattern string) int {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return len(pattern)
	}
	return instructions(parsed)
}

func instructions(r *syntax.Regexp) int {
	n := 1 + len(r.Rune)
	for _, sub := range r.Sub {
		n += instructions(sub)
	}
	if r.Op == syntax.OpRepeat {
		n *= max(1, r.Min, r.Max)
	}
	return n
}
