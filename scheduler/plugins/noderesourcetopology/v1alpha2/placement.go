package v1alpha2

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Agents report which containers have resources of a zone to themselves in two attributes,
// so that the scheduler can tell what a zone gains when a pod goes. The containers are
// numbered in the order of their hashes. AttributePlacement, of the node, has the counts and
// the zone with the most containers; AttributeVector, of every other zone that has any, has
// the numbers of its containers.
const (
	AttributePlacement = "topology.node.k8s.io/numaplacement-metadata"
	AttributeVector    = "topology.node.k8s.io/numaplacement-vector"
)

// placementFormat is AttributePlacement's: the number of containers and of zones, and the
// number of the zone with the most containers.
const placementFormat = "npv0v001::ve=leb89::cc=%d::nn=%d::bn=%d"

type ContainerID struct{ Namespace, Pod, Container string }

func (c ContainerID) hash() uint64 {
	return xxhash.Sum64String(c.Namespace + "\x00" + c.Pod + "\x00" + c.Container)
}

// byHash returns the containers in the order in which they are numbered.
func byHash(containers []ContainerID) []ContainerID {
	hashes := make(map[uint64]ContainerID, len(containers))
	for _, c := range containers {
		hashes[c.hash()] = c
	}
	out := make([]ContainerID, 0, len(hashes))
	for _, h := range slices.Sorted(maps.Keys(hashes)) {
		out = append(out, hashes[h])
	}
	return out
}

// SetPlacement writes the attributes into a topology whose zones are ZonePrefix and their
// index. zones has the index for each container.
func (t *NodeResourceTopology) SetPlacement(zones map[ContainerID]int) {
	numbers := make([][]int, len(t.Zones))
	for n, c := range byHash(slices.Collect(maps.Keys(zones))) {
		numbers[zones[c]] = append(numbers[zones[c]], n)
	}
	busiest := 0
	for zone := range numbers {
		if len(numbers[zone]) > len(numbers[busiest]) {
			busiest = zone
		}
	}
	t.Attributes = append(t.Attributes, Attribute{AttributePlacement, fmt.Sprintf(placementFormat, len(zones), len(t.Zones), busiest)})
	for zone := range numbers {
		if zone != busiest && len(numbers[zone]) > 0 {
			t.Zones[zone].Attributes = append(t.Zones[zone].Attributes, Attribute{AttributeVector, encodeNumbers(numbers[zone])})
		}
	}
}

// Placement reads the attributes: the zone of each of the containers, which are those that
// the agent knows, in any order. It is nil if the agent says nothing, or knows others.
func (t *NodeResourceTopology) Placement(containers []ContainerID) map[ContainerID]int {
	var count, zones, busiest int
	if n, err := fmt.Sscanf(t.Attribute(AttributePlacement), placementFormat, &count, &zones, &busiest); err != nil || n != 3 {
		return nil
	}
	ordered := byHash(containers)
	if count != len(ordered) || busiest < 0 || busiest >= zones {
		return nil
	}
	out := make(map[ContainerID]int, count)
	for _, z := range t.Zones {
		id, ok := z.ID()
		if !ok {
			continue
		}
		for _, a := range z.Attributes {
			if a.Name != AttributeVector {
				continue
			}
			numbers, ok := decodeNumbers(a.Value)
			if !ok {
				return nil
			}
			for _, n := range numbers {
				if n >= count {
					return nil
				}
				if _, twice := out[ordered[n]]; twice {
					return nil
				}
				out[ordered[n]] = id
			}
		}
	}
	for _, c := range ordered {
		if _, placed := out[c]; !placed {
			out[c] = busiest
		}
	}
	return out
}

// A list of rising numbers is written as the first and the differences between the others.
// Each is written in characters that need no escape in JSON: any number of leading ones, to
// the base of 25, and a last one, to the base of 64. Numbers of several characters begin at
// 64.
const (
	lastBase    = 64
	leadingBase = 25
)

// digits are the characters of the last digit, and then those of the leading ones.
var digits = func() string {
	var b strings.Builder
	for c := byte('!'); c <= '~'; c++ {
		if !strings.ContainsRune(`"&<>\`, rune(c)) {
			b.WriteByte(c)
		}
	}
	return b.String()
}()

func encodeNumbers(numbers []int) string {
	var out []byte
	before := 0
	for _, n := range numbers {
		out = appendNumber(out, n-before)
		before = n
	}
	return string(out)
}

func appendNumber(out []byte, n int) []byte {
	if n < lastBase {
		return append(out, digits[n])
	}
	n -= lastBase
	last := digits[n%lastBase]
	for _, d := range strconv.FormatInt(int64(n/lastBase), leadingBase) {
		value, _ := strconv.ParseInt(string(d), leadingBase, 8) // it is such a digit
		out = append(out, digits[lastBase+value])
	}
	return append(out, last)
}

// mostContainers bounds the numbers that are read.
const mostContainers = 1 << 20

func decodeNumbers(text string) (out []int, ok bool) {
	before, leading, long := 0, 0, false
	for i := range len(text) {
		d := strings.IndexByte(digits, text[i])
		switch {
		case d < 0 || leading > mostContainers || before > mostContainers:
			return nil, false
		case d >= lastBase:
			leading, long = leading*leadingBase+d-lastBase, true
			continue
		case long:
			d += lastBase + leading*lastBase
		}
		before += d
		out = append(out, before)
		leading, long = 0, false
	}
	return out, !long
}
