package fanout

import (
	"fmt"
	"strconv"
	"strings"
)

// writeRanges writes ascending numbers as Kubernetes writes the indexes of a Job, such as 0-3,7.
func writeRanges(numbers []int) string {
	var b strings.Builder
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, numbers[i])
		if last > i {
			fmt.Fprintf(&b, "-%d", numbers[last])
		}
		i = last + 1
	}
	return b.String()
}

// maxNumbers bounds what readRanges returns, in case the text is not ours.
const maxNumbers = 100_000_000

func readRanges(text string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(to)
		}
		if err != nil || last < first || len(out)+last-first >= maxNumbers {
			return nil, fmt.Errorf("%q is no range of numbers", part)
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out, nil
}
