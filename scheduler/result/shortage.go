package result

// FarAway is the distance that something adds of which a node has none at all. It exceeds any sum
// of shortages.
const FarAway = 1 << 20

// Shortage adds up what a node lacks of a pod's requests. It is the only measure of how near a node
// is to fitting: by what the pod would have to give up there.
type Shortage struct {
	// Absent counts the resources of which the node has none at all.
	Absent int
	// Half: more than half of a request is missing.
	Half bool
	// Parts is the sum of the missing parts of requests.
	Parts float64
}

// Add counts the missing part of a request. absent: the node has none of the resource.
func (s *Shortage) Add(requested, missing int64, absent bool) {
	part := float64(missing) / float64(max(requested, 1))
	s.Parts += part
	s.Half = s.Half || part > 0.5
	if absent {
		s.Absent++
	}
}

// Distance orders nodes: by the resources that they have none of, then by whether more than half of
// a request is missing, then by the missing parts.
func (s Shortage) Distance() float64 {
	out := float64(s.Absent)*FarAway + s.Parts/(1+s.Parts)
	if s.Half {
		out++
	}
	return out
}
