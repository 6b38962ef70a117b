package explain

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// english renders an explanation from its headline and its remarks only.
func (e Explanation) english() string {
	said := []string{e.Headline.String()}
	for _, remark := range e.Remarks {
		said = append(said, remark.String())
	}
	return strings.Join(said, " ")
}

// sprintf is fmt.Sprintf, with thousands separators in whole numbers, as the web writes them.
func sprintf(format string, values ...any) string {
	for i, value := range values {
		switch n := value.(type) {
		case int:
			values[i] = count(n)
		case int32:
			values[i] = count(n)
		case int64:
			values[i] = count(n)
		}
	}
	return fmt.Sprintf(format, values...)
}

type count int64

// Format implements fmt.Formatter.
func (c count) Format(s fmt.State, _ rune) {
	_, _ = io.WriteString(s, grouped(strconv.FormatInt(int64(c), 10)))
}

// grouped adds thousands separators to a decimal number.
func grouped(number string) string {
	whole, _, _ := strings.Cut(number, ".")
	for at := len(whole) - 3; at > 0 && whole[at-1] != '-'; at -= 3 {
		number = number[:at] + "," + number[at:]
	}
	return number
}

// mostNamed bounds the names that a sentence lists.
const mostNamed = 4

// Names lists nodes, and counts those for which there is no room.
func Names(nodes []string) string { return names(nodes) }

func names(nodes []string) string {
	if len(nodes) <= mostNamed {
		return strings.Join(nodes, ", ")
	}
	return sprintf("%s, %d more", strings.Join(nodes[:mostNamed-1], ", "), len(nodes)-mostNamed+1)
}

// reason joins the reasons of a plugin, which may have given none.
func reason(reasons []string) string {
	if len(reasons) == 0 {
		return "it gave no reason"
	}
	return strings.Join(reasons, ", ")
}

// duration writes seconds with two digits, in a unit that every language writes the
// same.
func duration(seconds *float64) string {
	switch s := *seconds; {
	case s < 0.0095:
		return sprintf("%.1f ms", s*1000)
	case s < 0.9995:
		return sprintf("%.0f ms", s*1000)
	case s < 9.95:
		return strings.TrimSuffix(sprintf("%.1f", s), ".0") + " s"
	default:
		return sprintf("%.0f s", s)
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return sprintf("%d %ss", n, noun)
}

// amount formats an amount of a resource as the web does: cores, or bytes in the largest
// unit of which there is one, or a plain number.
func amount(l Lack) string {
	switch {
	case l.Resource == "cpu":
		return decimal(float64(l.Amount)/1000, 3)
	case l.Resource != "memory" && l.Resource != "ephemeral-storage" && !strings.HasPrefix(l.Resource, "hugepages-"):
		return sprintf("%d", l.Amount)
	}
	value, unit := float64(l.Amount), 0
	units := []string{"B", "Ki", "Mi", "Gi", "Ti", "Pi"}
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	return decimal(value, 1) + " " + units[unit]
}

// decimal rounds half up to a number of decimals, and drops trailing zeros.
func decimal(value float64, decimals int) string {
	scale := math.Pow10(decimals)
	return grouped(strconv.FormatFloat(math.Floor(value*scale+0.5)/scale, 'f', -1, 64))
}
