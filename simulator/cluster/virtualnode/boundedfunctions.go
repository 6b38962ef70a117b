package virtualnode

import (
	"math"

	"kube-scheduler-simulator/scheduler/patterncost"
	"kube-scheduler-simulator/scheduler/templatecost"
)

// Templates of stages can call the functions of sprig, as in kwok. A file of stages often comes
// from elsewhere, so some of them are refused, and those that make more than they take have a
// price.

// slow is how many bytes the functions that take some hundred nanoseconds for each byte are charged for one.
const slow = 8

var refusedFunctions = []struct {
	reason string
	names  []string
}{
	{"reads from outside of the simulated cluster", []string{"env", "expandenv", "getHostByName"}},
	{"changes what other variables hold, so that nobody can bound what a text becomes", []string{
		"set", "unset", "merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite",
	}},
	{"computes for long", []string{
		"bcrypt", "htpasswd", "derivePassword", "buildCustomCert", "genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert",
		"genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
	}},
}

// prices are those of functions that make more than they take, or compare everything with
// everything.
var prices = func() templatecost.Prices {
	prices := templatecost.Prices{}
	for _, of := range []struct {
		price func(args []any) int
		names []string
	}{
		{func(args []any) int { return times(args[0].(int), 8+sizes(args[1:])) }, []string{
			"repeat", "until", "indent", "nindent", "wrap", "randAlphaNum", "randAlpha", "randAscii", "randNumeric", "randBytes",
		}},
		{func(args []any) int { return times(8, steps(args[0].(int), args[1].(int), args[2].(int))) }, []string{"untilStep"}},
		{func(args []any) int { return times(8, sequence(args)) }, []string{"seq"}},
		{func(args []any) int {
			if len(args) < 2 {
				return times(slow, sizes(args))
			}
			return times(slow+args[1].(int), 2*sizes(args[:1]))
		}, []string{"YAML"}},
		{func(args []any) int { return times(slow, sizes(args)) }, []string{"Quote", "deepCopy", "mustDeepCopy"}},
		// They look for the time zone on the disk.
		{func([]any) int { return 4 << 10 }, []string{"dateInZone", "date_in_zone", "htmlDateInZone"}},
		// One text as often as another is long.
		{func(args []any) int { return times(sizes(args[:len(args)-1]), sizes(args[len(args)-1:])) }, []string{
			"replace", "wrapWith", "join", "split", "splitList", "splitn", "without", "mustWithout", "has", "mustHas", "trimall", "trimAll",
		}},
		{func(args []any) int { return pattern(args) + times(sizes(args[:2]), sizes(args[2:])) }, []string{
			"regexReplaceAll", "mustRegexReplaceAll", "regexReplaceAllLiteral", "mustRegexReplaceAllLiteral",
		}},
		{pattern, []string{
			"regexMatch", "mustRegexMatch", "regexFind", "mustRegexFind", "regexFindAll", "mustRegexFindAll", "regexSplit", "mustRegexSplit",
		}},
		{func(args []any) int { return times(sizes(args), sizes(args)) }, []string{"uniq", "mustUniq"}},
	} {
		for _, name := range of.names {
			prices[name] = of.price
		}
	}
	return prices
}()

// pattern is the price of a pattern, the first argument, and of its match with a text, the second.
func pattern(args []any) int {
	instructions := patterncost.Instructions(args[0].(string))
	return times(60, instructions) + times(instructions, sizes(args[1:2]))
}

func sizes(values []any) (sum int) {
	for _, v := range values {
		sum += templatecost.Size(v)
	}
	return sum
}

func times(a, b int) int {
	product := math.Abs(float64(a)) * math.Abs(float64(b))
	if product > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(product)
}

func steps(start, stop, step int) int {
	if step == 0 {
		return 0
	}
	return int(min(math.Abs((float64(stop)-float64(start))/float64(step)), math.MaxInt32))
}

func sequence(params []any) int {
	n := func(i int) int { return params[i].(int) }
	switch len(params) {
	case 1:
		return n(0)
	case 2:
		return steps(n(0), n(1), 1)
	case 3:
		return steps(n(0), n(2), n(1))
	}
	return 0
}
