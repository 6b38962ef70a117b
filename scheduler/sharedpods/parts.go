package sharedpods

import (
	"reflect"
	"slices"
)

// mostParts bounds what Parts remembers: a cluster of thousands of pods has few templates at a time.
const mostParts = 32

// Parts lets different objects use one copy of a part in which they are equal, such as the containers of pods of one template.
// It remembers the parts that were shared last. The zero value is ready to use, by one goroutine at a time.
type Parts[T any] struct{ known []T }

// Share replaces *part by an equal one that Parts remembers, or else remembers *part. The caller must
// not change it any more.
func (p *Parts[T]) Share(part *T, equal func(a, b T) bool) {
	i := slices.IndexFunc(p.known, func(known T) bool { return equal(known, *part) })
	if i >= 0 {
		*part = p.known[i]
		p.known = slices.Delete(p.known, i, i+1)
	}
	p.known = slices.Insert(p.known[:min(len(p.known), mostParts-1)], 0, *part)
}

// DeepEqual is for parts that have no faster way to be compared.
func DeepEqual[T any](a, b T) bool { return reflect.DeepEqual(a, b) }
