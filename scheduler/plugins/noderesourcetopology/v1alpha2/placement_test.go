package v1alpha2

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNumbers: the characters are those of other agents: one for each number below 64, two
// below 1664, three below 41664.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		want    string
	}{
		{nil, ""},
		{[]int{0}, "!"},
		{[]int{63}, "e"},
		{[]int{64}, "f!"},
		{[]int{64 + 25*64 - 1}, "~e"},
		{[]int{64 + 25*64}, "gf!"},
		{[]int{0, 1, 65}, `!#f!`},
	} {
		got := encodeNumbers(c.numbers)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: %s", c.numbers, diff)
		}
		back, ok := decodeNumbers(got)
		if diff := cmp.Diff(c.numbers, back); diff != "" || !ok {
			t.Errorf("%q: %s", got, diff)
		}
	}
	for _, wrong := range []string{"~", "\"", "é", "f", "!~~~~~~~~~~~~!"} {
		if numbers, ok := decodeNumbers(wrong); ok {
			t.Errorf("%q is %v", wrong, numbers)
		}
	}
}

func FuzzPlacementIsReadWithoutPanic(f *testing.F) {
	f.Add("npv0v001::ve=leb89::cc=2::nn=2::bn=0", "!")
	f.Fuzz(func(t *testing.T, metadata, vector string) {
		topology := with(AttributePlacement, metadata)
		topology.Zones[1].Attributes = []Attribute{{AttributeVector, vector}}
		topology.Placement([]ContainerID{{"a", "b", "c"}, {"d", "e", "f"}})
	})
}

// TestPlacement: what an agent writes is read back.
func TestPlacement(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		want := map[ContainerID]int{}
		for i := range r.IntN(200) {
			want[ContainerID{"ns", fmt.Sprint("pod-", i), "c"}] = r.IntN(2)
		}
		topology := two()
		topology.SetPlacement(want)
		containers := slices.Collect(maps.Keys(want))
		if diff := cmp.Diff(want, topology.Placement(containers)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		if got := topology.Placement(append(containers, ContainerID{"ns", "another", "c"})); got != nil {
			t.Fatalf("seed %d: other containers are placed: %v", seed, got)
		}
	}
	if got := two().Placement(nil); got != nil {
		t.Errorf("without the attribute: %v", got)
	}
	for _, wrong := range []string{"npv0v002::ve=leb89::cc=1::nn=2::bn=0", "npv0v001::ve=leb89::cc=1::nn=2::bn=2", "npv0v001"} {
		if got := with(AttributePlacement, wrong).Placement([]ContainerID{{"a", "b", "c"}}); got != nil {
			t.Errorf("%s: %v", wrong, got)
		}
	}
}

// two returns a node with two zones.
func two() *NodeResourceTopology {
	return &NodeResourceTopology{Zones: []Zone{{Name: "node-0", Type: ZoneType}, {Name: "node-1", Type: ZoneType}}}
}

func with(name, value string) *NodeResourceTopology {
	t := two()
	t.Attributes = []Attribute{{name, value}}
	return t
}
