package result

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNodeList(t *testing.T) {
	table := []string{"a", "b", "c", "d"}
	many := make([]string, 70_000)
	all := make([]int64, len(many))
	for i := range many {
		many[i], all[i] = fmt.Sprint("n", i), int64(i)
	}
	for name, tc := range map[string]struct {
		list NodeList
		want []string
	}{
		"empty":           {NodeList{}, nil},
		"of no indexes":   {NodeListIn(table, nil), nil},
		"own table":       {NewNodeList("b", "a"), []string{"b", "a"}},
		"in a table":      {NodeListIn(table, []int64{3, 0, 2}), []string{"d", "a", "c"}},
		"one":             {NodeListIn(table, []int64{2}), []string{"c"}},
		"of a long table": {NodeListIn(many, all), many},
		"head":            {NodeListIn(table, []int64{3, 0, 2}).Head(2), []string{"d", "a"}},
		"no head":         {NodeListIn(table, []int64{3, 0, 2}).Head(0), nil},
		"own table, head": {NewNodeList("b", "a").Head(1), []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if !slices.Equal(tc.list.Names(), tc.want) || tc.list.Len() != len(tc.want) {
				t.Errorf("%d nodes, %.20q", tc.list.Len(), tc.list.Names())
			}
			var names []string
			for i, node := range tc.list.All() {
				if node != tc.list.At(i) || i != len(names) {
					t.Errorf("node %d is %s and %s", i, tc.list.At(i), node)
				}
				names = append(names, node)
			}
			if !slices.Equal(names, tc.want) || !tc.list.Equal(NewNodeList(tc.want...)) || tc.list.Equal(NewNodeList("other")) {
				t.Errorf("the nodes are %.20q", names)
			}
			for i := range min(len(tc.want), 5) {
				if at := tc.list.Index(tc.want[i]); at != i {
					t.Errorf("node %d is found at %d", i, at)
				}
			}
			if at := tc.list.Index("other"); at != -1 {
				t.Errorf("a node that is not there is found at %d", at)
			}
		})
	}
}

// Lists in a table take a byte or two for each of thousands of nodes.
func TestANodeListIsSmall(t *testing.T) {
	table := make([]string, 5000)
	at := make([]int64, len(table))
	for i := range at {
		at[i] = int64(i)
	}
	if got := NodeListIn(table, at).size(); got != 2*len(table) {
		t.Errorf("%d nodes take %d bytes", len(table), got)
	}
}

func TestTied(t *testing.T) {
	for name, tc := range map[string]struct {
		totals []int64
		want   []string
	}{
		"the best":  {[]int64{1, 5, 5, -2}, []string{"a", "c"}},
		"all":       {[]int64{-1, -1, -1, -1}, []string{"a", "b", "c", "d"}},
		"one alone": {[]int64{1, 2, 5, 2}, nil},
	} {
		s := &Score{Nodes: NewNodeList("b", "c", "a", "d"), Totals: NewColumn(tc.totals)}
		if diff := cmp.Diff(tc.want, s.Tied()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := (&Score{}).Tied(); got != nil {
		t.Errorf("without nodes: %q", got)
	}
}
