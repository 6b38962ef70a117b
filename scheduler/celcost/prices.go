package celcost

import (
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"kube-scheduler-simulator/scheduler/patterncost"
)

// price charges a call before it is made. What it returns is charged afterwards: a price is about what it reads, and about a
// result that is larger than its arguments.
type price func(b *budget, args []ref.Val)

// logical are operators that CEL evaluates itself: they make nothing.
var logical = map[string]bool{
	operators.LogicalAnd: true, operators.LogicalOr: true, operators.Conditional: true, operators.NotStrictlyFalse: true,
	"__not_strictly_false__": true, // of expressions that an older CEL compiled
}

// prices are those of all functions of the languages here.
var prices = map[string]price{}

func init() {
	for names, p := range map[string]price{
		// What takes the same time whatever its arguments are.
		"_[_] _[?_] _?._ size type dyn optional.of optional.ofNonZeroValue optional.none hasValue value or orValue first last _+_ _-_ " +
			"_*_ _/_ _%_ -_ !_ @not_strictly_false __not_strictly_false__ int uint double bool duration timestamp getDate getDayOfMonth " +
			"getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds getMinutes getMonth getSeconds math.@max math.@min math.ceil " +
			"math.floor math.round math.trunc math.abs math.sign math.isInf math.isNaN math.isFinite math.bitOr math.bitAnd math.bitXor " +
			"math.bitNot math.bitShiftLeft math.bitShiftRight math.sqrt charAt slice cel.@mapInsert @mapInsert cel.@block " +
			"isGreaterThan isLessThan compareTo sign isInteger asInteger asApproximateFloat add sub major minor patch family " +
			"ip isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast isUnspecified ip.isCanonical cidr containsIP containsCIDR " +
			"prefixLength masked getScheme getHost getHostname getPort getEscapedPath getQuery isQuantity isSemver semver quantity isURL " +
			"isIP isCIDR url format.named format.dns1123Label format.dns1123Subdomain format.dns1035Label format.qualifiedName " +
			"format.dns1123LabelPrefix format.dns1123SubdomainPrefix format.dns1035LabelPrefix format.labelValue format.uri format.uuid " +
			"format.byte format.date format.datetime validate @last @objects_of @object_of": free,
		// What reads all of its arguments.
		"_==_ _!=_ _<_ _<=_ _>_ _>=_ _in_ in @in contains startsWith endsWith lowerAscii upperAscii trim substring reverse string bytes " +
			"strings.quote isSorted sum min max includes jsonpatch.escapeKey base64.encode base64.decode flatten sort " +
			"@sortByAssociatedKeys @spread optional.unwrap unwrapOpt cel.@unwrap": reads,
		// What takes the product of its arguments.
		"sets.contains sets.equivalent sets.intersects indexOf lastIndexOf": product,
		"distinct":    distinct,
		"replace":     replace,
		"join":        join,
		"split":       split,
		"format":      format,
		"lists.range": numbers,
		"matches":     pattern,
		"find":        pattern,
		"findAll":     pattern,
	} {
		for name := range strings.FieldsSeq(names) {
			prices[name] = p
		}
	}
}

func free(*budget, []ref.Val) {}

func reads(b *budget, args []ref.Val) { b.charge(1 + weigh(b, args...)/2) }

// weigh returns the weight of values.
func weigh(b *budget, values ...ref.Val) int {
	total := 0
	for _, v := range values {
		total += weight(v, b.left)
	}
	return total
}

// length returns the bytes of a text, or the items of a list.
func length(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case traits.Sizer:
		n, _ := v.Size().(types.Int)
		return int(n)
	}
	return 1
}

// times multiplies; what is far above every budget stays that.
func times(x, y int) int {
	const most = 1 << 50
	if x > 0 && y > most/x {
		return most
	}
	return x * y
}

func product(b *budget, args []ref.Val) {
	reads(b, args)
	if len(args) < 2 {
		return
	}
	_, isText := args[0].(types.String)
	steps := times(length(args[0]), length(args[1]))
	if isText {
		steps /= 8
	} else if heavy := weigh(b, args...); heavy > length(args[0])+length(args[1]) {
		steps = times(weigh(b, args[0]), weigh(b, args[1])) // of lists in lists
	}
	b.charge(steps)
}

func distinct(b *budget, args []ref.Val) {
	n := weigh(b, args[0])
	b.charge(times(n, n) / 16)
}

func replace(b *budget, args []ref.Val) {
	reads(b, args)
	text, isText := args[0].(types.String)
	old, isOld := args[1].(types.String)
	by, isBy := args[2].(types.String)
	if !isText || !isOld || !isBy {
		return
	}
	n := strings.Count(string(text), string(old))
	if len(args) > 3 {
		if limit, ok := args[3].(types.Int); ok && limit >= 0 {
			n = min(n, int(limit))
		}
	}
	b.text(len(text) + times(n, len(by)))
}

func join(b *budget, args []ref.Val) {
	reads(b, args)
	separator := 0
	if len(args) > 1 {
		separator = length(args[1])
	}
	b.text(textUnit*weigh(b, args[0]) + times(length(args[0]), separator))
}

func split(b *budget, args []ref.Val) {
	reads(b, args)
	text, _ := args[0].(types.String)
	separator, _ := args[1].(types.String)
	b.charge(3 * (1 + strings.Count(string(text), string(separator))))
}

// format charges what it prints, and refuses numbers with more digits than anybody reads.
func format(b *budget, args []ref.Val) {
	reads(b, args)
	text, isText := args[0].(types.String)
	if !isText || len(args) < 2 {
		return
	}
	digits := 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < '0' || c > '9' {
			digits = 0
		} else if digits = 10*digits + int(c-'0'); digits > maxPrecision && afterPercent(string(text[:i])) {
			b.fail("it prints a number with more than %d digits, the limit", maxPrecision)
		} else {
			digits = min(digits, maxPrecision+1)
		}
	}
	b.text(len(text) + textUnit*weigh(b, args[1]))
}

// afterPercent reports whether the digits at the end of a text belong to a verb such as %.3f.
func afterPercent(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, "0123456789."), "%")
}

func numbers(b *budget, args []ref.Val) {
	n, _ := args[0].(types.Int)
	if n > Budget {
		n = Budget
	}
	b.charge(1 + 2*max(0, int(n)))
}

func pattern(b *budget, args []ref.Val) {
	reads(b, args)
	if length(args[1]) > maxPattern {
		b.fail("a regular expression has more than %d bytes, the limit", maxPattern)
	}
	text, _ := args[1].(types.String)
	instructions := patterncost.Instructions(string(text))
	b.charge(100 + 2*instructions + times(length(args[0]), instructions)/8)
}
