package patterncost

import (
	"regexp/syntax"
	"testing"
)

func TestInstructions(t *testing.T) {
	for _, pattern := range []string{"", "abc", "a{1000}", "(a{30}){30}", "(a|b){2,500}", "[a-z]+", "(a?){100}a{100}", "x{3,}y{0,9}"} {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if said, are := Instructions(pattern), len(compiled.Inst); said+10 < are/2 || said > 10*are {
			t.Errorf("%q becomes %d instructions, said %d", pattern, are, said)
		}
	}
	if n := Instructions("a("); n != 2 {
		t.Errorf("a malformed pattern becomes %d instructions", n)
	}
}
