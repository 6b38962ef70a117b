package result

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

func TestQuotaAmountsAreReadBack(t *testing.T) {
	for _, want := range []QuotaAmounts{
		{},
		{Used: 6000, Nominated: 500, Requested: 2000, Min: 4000},
		{Used: math.MaxInt64, Min: -5, Max: ptr.To[int64](0)},
	} {
		got, ok := ParseQuotaAmounts(want.String())
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %s", want, diff)
		}
	}
	for _, wrong := range []string{"", "used 1", "used 1, nominated 2, requested 3, min 4, max many"} {
		if got, ok := ParseQuotaAmounts(wrong); ok {
			t.Errorf("%q is %s", wrong, got)
		}
	}
}

func TestAQuotaIsShort(t *testing.T) {
	for _, c := range []struct {
		amounts QuotaAmounts
		total   bool
		want    bool
	}{
		{QuotaAmounts{Used: 4, Requested: 2, Max: ptr.To[int64](6)}, false, false},
		{QuotaAmounts{Used: 4, Nominated: 1, Requested: 2, Max: ptr.To[int64](6)}, false, true},
		{QuotaAmounts{Used: 4, Requested: 2}, false, false},
		{QuotaAmounts{Used: 4, Requested: 2, Min: 6}, true, false},
		{QuotaAmounts{Used: 4, Requested: 2, Min: 5}, true, true},
	} {
		if got := c.amounts.Short(c.total); got != c.want {
			t.Errorf("%s: %v", c.amounts, got)
		}
	}
}
